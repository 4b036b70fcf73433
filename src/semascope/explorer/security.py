"""Access control: host names, origins, tokens, request limits and security headers."""

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
"""Maximum size of a request body."""
MAX_ADDRESS_LENGTH = 50_000
"""Maximum number of bytes of a path with its query."""
BODY_SECONDS = 20.0
"""Timeout for receiving a request body."""
COOKIE = "semascope-token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS: Headers = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
]


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from this machine only."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Guard:
    """Middleware that rejects unauthorized and oversized requests.

    Without a token, only requests to the local host names are accepted, because any site can point its name here
    (DNS rebinding).

    app     ASGI application
    host    address the server listens on
    token   access token that requests must send; None for local use
    """

    app: Any
    host: str
    token: str | None = None

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        response = Response(send)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if len(scope["raw_path"] or b"") + len(scope["query_string"]) > MAX_ADDRESS_LENGTH:
            await response.refuse(400, "address too long.")
        elif sentence := self._check_host(headers) or _check_origin(headers):
            await response.refuse(403, sentence)
        elif (login := self._login(scope)) is not None:
            await response.redirect(*login)
        elif not self._is_known(headers):
            sentence = "a token is required: open the address printed when the server started."
            await response.refuse(401, sentence, [(b"www-authenticate", b"Bearer")])
        else:
            await self._with_body(scope, receive, response, headers)

    async def _with_body(self, scope: Scope, receive: Any, response: Response, headers: Mapping[str, str]) -> None:
        """Read the whole body first, to check its size."""
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BYTES:
            await response.refuse(413, f"request body too large: the limit is {MAX_BYTES:,} bytes.")
            return
        try:
            body = await asyncio.wait_for(_read_body(receive), BODY_SECONDS)
        except TimeoutError:
            await response.refuse(408, f"request timed out after {BODY_SECONDS:.0f} seconds.")
            return
        if body is None:
            await response.refuse(413, f"request body too large: the limit is {MAX_BYTES:,} bytes.")
            return
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def once() -> Any:
            return next(messages, None) or await receive()

        await _run_until_disconnect(self.app(scope, once, response), receive, response)

    def _check_host(self, headers: Mapping[str, str]) -> str | None:
        name = _parse_host(headers.get("host", ""))
        if self.token is not None or name == self.host or is_loopback(name):
            return None
        return "Forbidden: this server only accepts requests to localhost."

    def _is_known(self, headers: Mapping[str, str]) -> bool:
        if self.token is None:
            return True
        kind, _, value = headers.get("authorization", "").partition(" ")
        return (kind.lower() == "bearer" and self._is_token(value.strip())) or self._is_token(_cookie(headers))

    def _is_token(self, value: str) -> bool:
        return self.token is not None and hmac.compare_digest(value.encode(), self.token.encode())

    def _login(self, scope: Scope) -> tuple[str, str] | None:
        """Return the address without its token, and a cookie with the token; None if the address has no token."""
        if self.token is None or scope["method"] != "GET":
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not any(name == "token" and self._is_token(value) for name, value in query):
            return None
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + (scope["raw_path"] or b"/").decode("latin-1").lstrip("/\\")  # never redirect to another site
        return path + (f"?{rest}" if rest else ""), f"{COOKIE}={self.token}; Path=/; HttpOnly; SameSite=Strict"


class Response:
    """ASGI sender that adds the security headers to each response."""

    def __init__(self, send: Any) -> None:
        self._send = send

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            present = {name for name, _ in message["headers"]}
            more = [] if b"cache-control" in present else [(b"cache-control", b"no-store")]
            message = {**message, "headers": [*message["headers"], *SECURITY_HEADERS, *more]}
        await self._send(message)

    async def refuse(self, status: int, sentence: str, headers: Headers | None = None) -> None:
        """Send an error response."""
        body = json.dumps({"error": sentence}).encode()
        close = [(b"connection", b"close")] if status in (408, 413) else []  # the rest of the body is not read
        kinds = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await self({"type": "http.response.start", "status": status, "headers": [*kinds, *close, *(headers or [])]})
        await self({"type": "http.response.body", "body": body})

    async def redirect(self, target: str, cookie: str) -> None:
        """Redirect the browser and set a cookie."""
        headers = [(b"location", target.encode("latin-1")), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await self({"type": "http.response.start", "status": 303, "headers": headers})
        await self({"type": "http.response.body", "body": b""})


async def _run_until_disconnect(work: Any, receive: Any, response: Response) -> None:
    """Run a request until it is done; cancel it if the client disconnects or the server stops."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(receive())
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
    except asyncio.CancelledError:
        await response.refuse(503, "the server is shutting down.")
    finally:
        gone.cancel()
        if not task.done():
            task.cancel()


async def _read_body(receive: Any) -> bytes | None:
    """Read a whole body; return None if it is too large."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b""  # the client has disconnected
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BYTES:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)


def _check_origin(headers: Mapping[str, str]) -> str | None:
    """Return an error for a cross-origin request; browsers send the origin of every request that changes something."""
    origin = headers.get("origin")
    if origin is None:
        return None
    parts = _split(origin)
    if parts is not None and parts.scheme in ("http", "https") and parts.netloc == headers.get("host"):
        return None
    return "Forbidden: cross-origin requests are not allowed."


def _parse_host(host: str) -> str:
    """Return the host name of a Host header, without the port."""
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
