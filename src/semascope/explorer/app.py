"""The application: the page with its files from a fixed list, and the service behind it."""

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

DESCRIPTION = "What a model has found in a collection of texts: its topics or labels, documents, search, and new texts."


def make_app(service: Service, host: str = "127.0.0.1", token: str | None = None) -> Guard:
    """Make the application of a service, guarded as the address that it will listen on demands."""

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        service.worker.start()
        yield
        service.worker.close()
        service.pool.close()

    app = FastAPI(
        title="semascope", description=DESCRIPTION, version=__version__, lifespan=running,
        openapi_url="/api/openapi.json", docs_url=None, redoc_url=None,  # their pages would need other sites
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
        """Whether the service is up, and has a model to answer from."""
        status, known = service.worker.status, service.worker.known()
        name = None if known is None else type(known.model).__name__
        n_documents = None if known is None else known.n_documents
        return answers.Health(status=status, model=name, documents=n_documents, version=__version__)

    @app.get("/api/about", tags=["facts"], responses=errors())
    async def about() -> answers.About:
        """What is served, and what can be asked for."""
        return _about(service, await service.overview())


def _about(service: Service, seen: Overview) -> answers.About:
    known = service.worker.known()
    fields = seen.fields or frozenset()
    state, ways = (PREPARING, WAYS) if known is None else (known.search.state, known.search.ways)
    if seen.fields is None and known is None:
        state, ways = NO, []
    return answers.About(
        model=seen.model,
        kind="labels" if seen.themes.kind == LABELS else "topics",
        title=service.keeper.path.resolve().name,
        topics=len(seen.themes),
        documents=seen.n,
        words=len(seen.themes.words),
        languages=list(seen.themes.languages),
        has_texts="text" in fields,
        has_dates=any(name in fields for name in FIELDS),
        has_corpus=seen.fields is not None,
        can_search=state,
        ways=ways,
        learns=service.learner is not None,
        can_rename=seen.themes.kind != LABELS,
        problem=seen.problem,
    )


# --- what goes wrong -----------------------------------------------------------------------------------------------------


def _answer(status: int, sentence: str, headers: Any = None) -> JSONResponse:
    more = {"Retry-After": "1"} if status == 503 else {}
    return JSONResponse({"error": sentence}, status, headers={**more, **(headers or {})})


async def _refused(request: Request, error: Exception) -> JSONResponse:
    status = error.status if isinstance(error, RefusedError) else 503 if isinstance(error, FormatError) else 400
    return _answer(status, str(error))


async def _not_as_described(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:]) or "the body"
    return _answer(422, f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}.")


async def _of_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    told = {400: "the body cannot be read as JSON.", 404: "there is nothing at this address.", 405: "this cannot be done here."}
    return _answer(error.status_code, told.get(error.status_code, str(error.detail)), error.headers)


async def _failed(request: Request, error: Exception) -> JSONResponse:
    log.error("a request failed", exc_info=error)
    return _answer(500, "something went wrong inside the server; its output says what.")


async def _disk(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, OSError)
    return _answer(503, f"{error.filename or 'the disk'}: {error.strerror or error}.")


HANDLERS: dict[Any, Any] = {
    SemascopeError: _refused,
    RequestValidationError: _not_as_described,
    HTTPException: _of_http,
    OSError: _disk,
    Exception: _failed,
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
