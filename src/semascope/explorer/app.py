"""ASGI application: the static files of the page and the HTTP service."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from semascope import __version__
from semascope.errors import FormatError, SemascopeError
from semascope.explorer import schemas as answers
from semascope.explorer.errors import RefusedError
from semascope.explorer.queries.periods import FIELDS
from semascope.explorer.routes.documents import document_routes
from semascope.explorer.routes.search import infer_routes, search_routes
from semascope.explorer.routes.streams import stream_routes
from semascope.explorer.routes.topics import topic_routes
from semascope.explorer.schemas import NO, PREPARING, WAYS, errors
from semascope.explorer.security import Guard
from semascope.explorer.service.context import Service
from semascope.explorer.service.overview import Overview
from semascope.models.registry import LABELS

log = logging.getLogger("semascope")

DESCRIPTION = "Topics or labels of a model, its documents, search, and inference for new texts."


def make_app(service: Service, host: str = "127.0.0.1", token: str | None = None) -> Guard:
    """Create the application of a service, guarded according to the address it listens on."""

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        service.worker.start()
        yield
        service.worker.close()
        service.pool.close()

    app = FastAPI(
        title="semascope", description=DESCRIPTION, version=__version__, lifespan=running,
        openapi_url="/api/openapi.json", docs_url=None, redoc_url=None,  # their pages load assets from other sites
    )  # fmt: skip
    _add_facts(app, service)
    for routes in (topic_routes, document_routes, search_routes, infer_routes, stream_routes):
        app.include_router(routes(service))
    app.include_router(page_routes())
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)
    return Guard(app, host, token)


def _add_facts(app: FastAPI, service: Service) -> None:
    @app.get("/health", tags=["facts"], responses=errors())
    async def health() -> answers.Health:
        """Return the status of the service and of its model."""
        status, known = service.worker.status, service.worker.known()
        name = None if known is None else type(known.model).__name__
        n_documents = None if known is None else known.n_documents
        return answers.Health(status=status, model=name, documents=n_documents, version=__version__)

    @app.get("/api/about", tags=["facts"], responses=errors())
    async def about() -> answers.About:
        """Describe the model and the supported requests."""
        return _about(service, await service.overview())


def _about(service: Service, overview: Overview) -> answers.About:
    known = service.worker.known()
    fields = overview.fields or frozenset()
    state, ways = (PREPARING, WAYS) if known is None else (known.search.state, known.search.ways)
    if overview.fields is None and known is None:
        state, ways = NO, []
    return answers.About(
        model=overview.model,
        kind="labels" if overview.themes.kind == LABELS else "topics",
        title=service.keeper.path.resolve().name,
        topics=len(overview.themes),
        documents=overview.n,
        words=len(overview.themes.words),
        languages=list(overview.themes.languages),
        has_texts="text" in fields,
        has_dates=any(name in fields for name in FIELDS),
        has_corpus=overview.fields is not None,
        can_search=state,
        ways=ways,
        learns=service.learner is not None,
        can_rename=overview.themes.kind != LABELS,
        problem=overview.problem,
    )


# --- errors --------------------------------------------------------------------------------------------------------------


def _error(status: int, sentence: str, headers: Any = None) -> JSONResponse:
    more = {"Retry-After": "1"} if status == 503 else {}
    return JSONResponse({"error": sentence}, status, headers={**more, **(headers or {})})


async def _handle_refused(request: Request, error: Exception) -> JSONResponse:
    status = error.status if isinstance(error, RefusedError) else 503 if isinstance(error, FormatError) else 400
    return _error(status, str(error))


async def _handle_validation(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:]) or "the body"
    return _error(422, f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}.")


async def _handle_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    sentences = {400: "the body is not valid JSON.", 404: "no such address.", 405: "method not allowed."}
    return _error(error.status_code, sentences.get(error.status_code, str(error.detail)), error.headers)


async def _handle_unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("a request failed", exc_info=error)
    return _error(500, "internal server error; see the server log.")


async def _handle_os_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, OSError)
    return _error(503, f"{error.filename or 'the disk'}: {error.strerror or error}.")


HANDLERS: dict[Any, Any] = {
    SemascopeError: _handle_refused,
    RequestValidationError: _handle_validation,
    HTTPException: _handle_http,
    OSError: _handle_os_error,
    Exception: _handle_unexpected,
}


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
    """Return routes for the static files present when the server starts."""
    router = APIRouter(include_in_schema=False)
    for path in sorted(HERE.rglob("*")):
        if path.suffix in KINDS:
            name = path.relative_to(HERE).as_posix()
            address = "/" if name == FIRST else f"/static/{name}"
            router.add_api_route(address, _file_handler(path))
    return router


def _file_handler(path: Path) -> Callable[[Request], Awaitable[Response]]:
    async def send(request: Request) -> Response:
        content = path.read_bytes()
        tag = f'"{hashlib.blake2b(content, digest_size=8).hexdigest()}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=KINDS[path.suffix], headers=headers)

    return send
