"""Topics or labels of a text that people give."""

from __future__ import annotations

from fastapi import APIRouter

from semascope.explorer import results
from semascope.explorer.asking import GivenText, errors
from semascope.explorer.service import Service


def infer_routes(service: Service) -> APIRouter:
    """The route of /api/infer."""
    router = APIRouter(tags=["infer"])

    @router.post("/api/infer", responses=errors(413))
    async def infer(given: GivenText) -> results.Inferred:
        """The topics or labels of a text, and which of them each word is due to."""
        await service.explored()  # what is imported next takes long the first time, but not after this
        from semascope.explorer.texts import inferred

        return await service.answer(inferred, given.text, given.language or None)

    return router
