"""Who may ask, and how much: names and origins, tokens, limits, and what browsers are told."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

Scope = dict[str, Any]
Headers = list[tuple[bytes, bytes]]

MAX_BYTES = 1 << 20
"""Of a body."""
MAX_ADDRESS_LENGTH = 50_000
"""Bytes of a path and its query."""
BODY_SECONDS = 20.0
"""For a body to come in."""
COOKIE = "semascope-token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FOR_BROWSERS: Headers = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
]


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Guard:
    """Stands before the application: refuses what it should not see.

    Without a token only requests to this machine's own names are answered, for a page of any site may have its name lead here
    (DNS rebinding). A token proves more than a name does.

    app     what is guarded, an ASGI application
    host    address that the server listens on
    token   what requests must show; None on this machine alone
    """

    app: Any
    host: str
    token: str | None = None

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = Answer(send)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if len(scope["raw_path"] or b"") + len(scope["query_string"]) > MAX_ADDRESS_LENGTH:
            await answer.refuse(400, "the address is too long.")
        elif sentence := self._wrong_name(headers) or _wrong_origin(headers):
            await answer.refuse(403, sentence)
        elif (way_in := self._way_in(scope)) is not None:
            await answer.redirect(*way_in)
        elif not self._is_known(headers):
            sentence = "a token is needed: open the address that was printed when the server was started."
            await answer.refuse(401, sentence, [(b"www-authenticate", b"Bearer")])
        else:
            await self._with_body(scope, receive, answer, headers)

    async def _with_body(self, scope: Scope, receive: Any, answer: Answer, headers: Mapping[str, str]) -> None:
        """Take the body in before anything is done with it, so that it is known to be short enough."""
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BYTES:
            await answer.refuse(413, f"at most {MAX_BYTES:,} bytes can be sent at once.")
            return
        try:
            body = await asyncio.wait_for(_body(receive), BODY_SECONDS)
        except TimeoutError:
            await answer.refuse(408, f"the request did not come in whole within {BODY_SECONDS:.0f} seconds.")
            return
        if body is None:
            await answer.refuse(413, f"at most {MAX_BYTES:,} bytes can be sent at once.")
            return
        given = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def once() -> Any:
            return next(given, None) or await receive()

        await _while_wanted(self.app(scope, once, answer), receive, answer)

    def _wrong_name(self, headers: Mapping[str, str]) -> str | None:
        name = _name_in(headers.get("host", ""))
        if self.token is not None or name == self.host or is_loopback(name):
            return None
        return "this server answers only to localhost and its numbers, not to other names that lead here."

    def _is_known(self, headers: Mapping[str, str]) -> bool:
        if self.token is None:
            return True
        kind, _, shown = headers.get("authorization", "").partition(" ")
        return (kind.lower() == "bearer" and self._is_token(shown.strip())) or self._is_token(_cookie(headers))

    def _is_token(self, shown: str) -> bool:
        return self.token is not None and hmac.compare_digest(shown.encode(), self.token.encode())

    def _way_in(self, scope: Scope) -> tuple[str, str] | None:
        """Where to go on without the token in the address, and the cookie that takes its place; None if it is not there."""
        if self.token is None or scope["method"] != "GET":
            return None
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not any(name == "token" and self._is_token(value) for name, value in asked):
            return None
        rest = urlencode([(name, value) for name, value in asked if name != "token"])
        path = "/" + (scope["raw_path"] or b"/").decode("latin-1").lstrip("/\\")  # never another site's address
        return path + (f"?{rest}" if rest else ""), f"{COOKIE}={self.token}; Path=/; HttpOnly; SameSite=Strict"


class Answer:
    """Sends an answer, with what every answer tells a browser."""

    def __init__(self, send: Any) -> None:
        self._send = send

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            there = {name for name, _ in message["headers"]}
            more = [] if b"cache-control" in there else [(b"cache-control", b"no-store")]
            message = {**message, "headers": [*message["headers"], *FOR_BROWSERS, *more]}
        await self._send(message)

    async def refuse(self, status: int, sentence: str, headers: Headers | None = None) -> None:
        """Say why not."""
        body = json.dumps({"error": sentence}).encode()
        close = [(b"connection", b"close")] if status in (408, 413) else []  # the rest of the body is not read
        kinds = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await self({"type": "http.response.start", "status": status, "headers": [*kinds, *close, *(headers or [])]})
        await self({"type": "http.response.body", "body": body})

    async def redirect(self, target: str, cookie: str) -> None:
        """Send the browser on, with a cookie."""
        headers = [(b"location", target.encode("latin-1")), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await self({"type": "http.response.start", "status": 303, "headers": headers})
        await self({"type": "http.response.body", "body": b""})


async def _while_wanted(work: Any, receive: Any, answer: Answer) -> None:
    """Answer a request, unless whoever asked goes away or the server is stopped: then there is no use in working on."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(receive())
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
    except asyncio.CancelledError:
        await answer.refuse(503, "the server is being stopped.")
    finally:
        gone.cancel()
        if not task.done():
            task.cancel()


async def _body(receive: Any) -> bytes | None:
    """All of a body; None when it is too long."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b""  # whoever asked has gone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BYTES:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)


def _wrong_origin(headers: Mapping[str, str]) -> str | None:
    """Say that a page of another site asks, if one does. Browsers name the site of whatever asks to change something."""
    origin = headers.get("origin")
    if origin is None:
        return None
    parts = _split(origin)
    if parts is not None and parts.scheme in ("http", "https") and parts.netloc == headers.get("host"):
        return None
    return "pages of other sites may not ask this server."


def _name_in(host: str) -> str:
    """The name in a Host header, without the port."""
    parts = _split(f"//{host}")
    return "" if parts is None or parts.username is not None else (parts.hostname or "")


def _split(address: str) -> Any:
    try:
        return urlsplit(address)
    except ValueError:
        return None


def _cookie(headers: Mapping[str, str]) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""
