"""Listening: at which address, with which token, until somebody stops it."""

from __future__ import annotations

import errno
import re
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semascope.errors import InputError
from semascope.explorer.security import is_loopback
from semascope.explorer.service.overview import check_explorable
from semascope.models.registry import names_where

GRACE_SECONDS = 5
IDLE_SECONDS = 30
BACKLOG = 2048


@dataclass(frozen=True)
class Settings:
    """What to serve, and where.

    model, corpus, index   directories
    host, port             address; port 0 is any that is free
    token                  what requests must show; made if others can reach the address and there is none
    learn                  whether to learn from what is posted
    """

    model: Path
    corpus: Path | None = None
    index: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    learn: bool = False


def serve(settings: Settings, say: Callable[[str], None]) -> None:
    """Serve until somebody stops it; `say` is told the address once it is open."""
    import uvicorn

    from semascope.explorer.app import make_app
    from semascope.explorer.service.context import Service
    from semascope.explorer.service.reloader import Keeper

    _check_servable(settings)
    token = settings.token or (None if is_loopback(settings.host) else secrets.token_urlsafe(24))
    listening = _listening(settings.host, settings.port)
    problems: list[Exception] = []

    def failed(error: Exception) -> None:
        problems.append(error)
        server.should_exit = True

    learner = None
    if settings.learn:
        from semascope.explorer.service.learner import Learner

        learner = Learner(settings.model, settings.corpus, settings.index, failed)
    service = Service(Keeper(settings.model, settings.corpus, settings.index), learner)
    application: Any = make_app(service, settings.host, token)
    server = uvicorn.Server(
        uvicorn.Config(
            application, log_level="warning", access_log=False, server_header=False, ws="none", lifespan="on",
            timeout_keep_alive=IDLE_SECONDS, timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )  # fmt: skip
    try:
        with listening:
            say(address_of(settings.host, listening.getsockname()[1], token))
            server.run(sockets=[listening])
    finally:
        if learner is not None:  # whoever presses Ctrl-C twice shall not lose what was learned
            learner.close()
    if problems:
        raise problems[0]


def address_of(host: str, port: int, token: str | None) -> str:
    """What to type into a browser."""
    name = socket.gethostname() if host in ("0.0.0.0", "::") else host
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{port}/" + (f"?token={token}" if token else "")


def _check_servable(settings: Settings) -> None:
    """Refuse at once what could not be shown."""
    kind = check_explorable(settings.model)
    if settings.learn and kind not in (learning := names_where(streams=True)):
        msg = f"{settings.model}: holds {kind}, which does not learn from a stream; --learn is for {' or '.join(learning)}."
        raise InputError(msg)
    if settings.token is not None and not re.fullmatch(r"[A-Za-z0-9_-]+", settings.token):
        msg = "--token: must be letters, numbers, dashes and underlines, so that it can stand in an address."
        raise InputError(msg)


def _listening(host: str, port: int) -> socket.socket:
    """Take the port, or say why it cannot be had."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError):
        msg = f"--host: there is no address {host!r} on this machine."
        raise InputError(msg) from None
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen(BACKLOG)  # whoever comes before the server is ready waits
    except OSError as error:
        listening.close()
        reasons = {
            errno.EADDRINUSE: f"port {port} is in use by another program; choose another one with --port.",
            errno.EACCES: f"port {port} may not be used by you; choose one above 1023 with --port.",
            errno.EADDRNOTAVAIL: f"--host: there is no address {host!r} on this machine.",
        }
        raise InputError(reasons.get(error.errno or 0, f"{host}:{port}: {error.strerror}.")) from None
    return listening
