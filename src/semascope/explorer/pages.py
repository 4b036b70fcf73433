"""The files of the page, from a fixed list: no name from the network is looked for on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response

HERE = Path(__file__).parent / "static"
FIRST = "index.html"
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}


def page_routes() -> APIRouter:
    """Routes for the files that are there when the server starts."""
    router = APIRouter(include_in_schema=False)
    for path in sorted(HERE.rglob("*")):
        if path.suffix in KINDS:
            name = path.relative_to(HERE).as_posix()
            address = "/" if name == FIRST else f"/static/{name}"
            router.add_api_route(address, _sender(path))
    return router


def _sender(path: Path) -> Callable[[Request], Awaitable[Response]]:
    async def send(request: Request) -> Response:
        content = path.read_bytes()
        tag = f'"{hashlib.blake2b(content, digest_size=8).hexdigest()}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=KINDS[path.suffix], headers=headers)

    return send
