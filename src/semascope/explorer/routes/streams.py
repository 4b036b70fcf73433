"""Routes for streams: progress, and documents to learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from fastapi import APIRouter

from semascope.explorer import schemas as results
from semascope.explorer.errors import ForbiddenError
from semascope.explorer.schemas import NewDocuments, errors
from semascope.explorer.service.context import Service
from semascope.streaming.metrics import heaviest

HEAVIEST = 10
TOP_WORDS = 8
NEWEST = 20


def stream_routes(service: Service) -> APIRouter:
    """Return the routes of /api/stream."""
    router = APIRouter(prefix="/api/stream", tags=["stream"])

    @router.get("", responses=errors())
    async def stream() -> results.Stream:
        """Return the progress of learning: here with --learn, or in another process that writes the model."""
        return await service.answer(_progress, service)

    @router.post("", responses=errors(413))
    async def learn(new: NewDocuments) -> results.Learned:
        """Learn documents with their labels. They are durable once the response arrives."""
        if service.learner is None:
            msg = "learning is disabled; start the server with --learn and an online model."
            raise ForbiddenError(msg)
        return results.Learned(learned=await service.learner.learn([document.model_dump() for document in new.documents]))

    return router


def _progress(explored: Any, service: Service) -> results.Stream:
    progress = service.worker.progress
    return results.Stream(
        learns=service.learner is not None,
        documents=max(progress.documents, explored.n_documents),
        labels=sum(explored.themes.named) if explored.is_of_labels else 0,
        perplexity=progress.perplexity,
        documents_per_second=progress.speed,
        recent=[results.StreamPoint(documents=documents, perplexity=value) for documents, value in progress.path],
        new_labels=progress.new_labels[:NEWEST],
        heaviest=_heaviest(explored) if explored.is_of_labels else [],
    )


def _heaviest(explored: Any) -> list[results.HeavyLabel]:
    themes = explored.themes
    labels = np.flatnonzero(themes.named)
    best = labels[heaviest(themes.shares[labels], HEAVIEST)]
    return [
        results.HeavyLabel(label=themes.names[k], share=float(themes.shares[k]), words=themes.top_words(int(k), TOP_WORDS))
        for k in best
    ]
