"""HTTP server of the explorer: socket, token and lifetime."""

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
    """Settings of the server.

    model, corpus, index   directories
    host, port             address; port 0 selects a free port
    token                  access token; generated if the address is not local and none is set
    learn                  whether to learn from posted documents
    """

    model: Path
    corpus: Path | None = None
    index: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    learn: bool = False


def serve(settings: Settings, announce: Callable[[str], None]) -> None:
    """Run the server until it is stopped; `announce` is called with its address once the port is open."""
    import uvicorn

    from semascope.explorer.app import make_app
    from semascope.explorer.service.context import Service
    from semascope.explorer.service.reloader import Keeper

    _check_servable(settings)
    token = settings.token or (None if is_loopback(settings.host) else secrets.token_urlsafe(24))
    listener = _open_port(settings.host, settings.port)
    problems: list[Exception] = []

    def stop(error: Exception) -> None:
        problems.append(error)
        server.should_exit = True

    learner = None
    if settings.learn:
        from semascope.explorer.service.learner import Learner

        learner = Learner(settings.model, settings.corpus, settings.index, stop)
    service = Service(Keeper(settings.model, settings.corpus, settings.index), learner)
    application: Any = make_app(service, settings.host, token)
    server = uvicorn.Server(
        uvicorn.Config(
            application, log_level="warning", access_log=False, server_header=False, ws="none", lifespan="on",
            timeout_keep_alive=IDLE_SECONDS, timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )  # fmt: skip
    try:
        with listener:
            announce(address_of(settings.host, listener.getsockname()[1], token))
            server.run(sockets=[listener])
    finally:
        if learner is not None:  # a second Ctrl-C must not lose learned documents
            learner.close()
    if problems:
        raise problems[0]


def address_of(host: str, port: int, token: str | None) -> str:
    """Return the URL of the server."""
    name = socket.gethostname() if host in ("0.0.0.0", "::") else host
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{port}/" + (f"?token={token}" if token else "")


def _check_servable(settings: Settings) -> None:
    """Check that the model can be served."""
    kind = check_explorable(settings.model)
    if settings.learn and kind not in (learning := names_where(streams=True)):
        msg = (
            f"{settings.model}: contains {kind}, which does not learn from a stream; --learn requires {' or '.join(learning)}."
        )
        raise InputError(msg)
    if settings.token is not None and not re.fullmatch(r"[A-Za-z0-9_-]+", settings.token):
        msg = "--token must consist of letters, digits, dashes and underscores, as it is part of the address."
        raise InputError(msg)


def _open_port(host: str, port: int) -> socket.socket:
    """Open the port, or raise an error that names the remedy."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError):
        msg = f"--host: no address {host!r} on this machine."
        raise InputError(msg) from None
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(BACKLOG)  # early clients wait until the server is ready
    except OSError as error:
        listener.close()
        reasons = {
            errno.EADDRINUSE: f"port {port} is already in use; choose another one with --port.",
            errno.EACCES: f"no permission to bind port {port}; choose one above 1023 with --port.",
            errno.EADDRNOTAVAIL: f"--host: no address {host!r} on this machine.",
        }
        raise InputError(reasons.get(error.errno or 0, f"{host}:{port}: {error.strerror}.")) from None
    return listener
