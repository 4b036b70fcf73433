"""Routes for search and for inference on new texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from fastapi import APIRouter

from semascope.corpus.lexicon import describe_languages
from semascope.explorer import schemas as answers
from semascope.explorer import schemas as results
from semascope.explorer.errors import ConflictError, NotFoundError, RefusedError
from semascope.explorer.schemas import GivenText, Label, Language, Like, Question, SomeHits, errors
from semascope.explorer.service.context import Service

if TYPE_CHECKING:
    from semascope.retrieval.index import Index
    from semascope.retrieval.results import Hits


MAX_IN_COMMON = 3
"""Maximum number of topics in an explanation."""
MIN_IN_COMMON = 0.03
MAX_WORDS = 12


def search_routes(service: Service) -> APIRouter:
    """Return the route of /api/search."""
    router = APIRouter(tags=["search"])

    @router.get("/api/search", responses=errors(404, 409))
    async def search(
        q: Question = "", by: answers.Way = "hybrid", k: SomeHits = 10, label: Label = None, language: Language = None,
        like: Like = None,
    ) -> results.Found:  # fmt: skip
        """Search for the documents that best match a query, or are most similar to a document."""
        return await service.answer(_search, q, by, k, label or None, language or None, like or None)

    return router


def _search(
    explored: Any, query: str, by: str, k: int, label: str | None, language: str | None, like: str | None
) -> results.Found:
    search = explored.search
    index, state = search.index, search.state
    if index is None or (not query.strip() and like is None):
        return results.Found(query=query, by=by, hits=[], state=state)
    if by not in search.ways:
        msg = f"by={by} requires an index with topics; this one supports {', '.join(search.ways)}."
        raise ConflictError(msg)
    where = None if label is None else {"label": label}
    if like is not None:
        return _like(explored, query, by, k, where, like)
    if language is not None and language not in index.languages:
        msg = f"the index has no language {language!r}; {describe_languages(index.languages)}."
        raise NotFoundError(msg)
    hits = index.search(query, k, by=by, where=where, language=language)
    topics = _topics_of_text(explored, query, language) if hits else {}
    return results.Found(query=query, by=by, hits=Explainer(explored, index, topics).of(hits), state=state)


def _like(explored: Any, query: str, by: str, k: int, where: Any, like: str) -> results.Found:
    index = explored.search.index
    if not index.has(like):
        msg = f"no document {like!r}."
        raise NotFoundError(msg)
    hits = index.similar(like, k, by=by, where=where)
    mixture = explored.shares.mixture(explored.number_of(like)) if explored.shares is not None and explored.has(like) else []
    return results.Found(
        query=query, by=by, hits=Explainer(explored, index, dict(mixture)).of(hits), state=explored.search.state
    )


class Explainer:
    """Explanations of hits: words and topics in common with the query."""

    def __init__(self, explored: Any, index: Index, topics: dict[int, float]) -> None:
        self._explored, self._index, self._topics = explored, index, topics

    def of(self, hits: Hits) -> list[results.Hit]:
        """Return the hits with their explanations."""
        words = self._index.explain(hits, MAX_WORDS)
        return [self._describe(hit, common) for hit, common in zip(hits, words, strict=True)]

    def _describe(self, hit: Any, words: list[str]) -> results.Hit:
        snippet, marks = hit.snippet, hit.snippet.marks if hit.snippet else ()
        return results.Hit(
            id=hit.id,
            title=hit.title or self._title_of(hit.id) or hit.id,
            score=float(np.nan_to_num(hit.score)),
            snippet=results.Snippet(
                text=snippet.text if snippet else "",
                marks=[results.KindOfMark(start=mark.start, end=mark.end, kind=mark.kind) for mark in marks],
            ),
            why=results.Why(words=words, topics=self._topics_of(hit.id)),
        )

    def _title_of(self, id: str) -> str | None:
        """Return the title of a document in the corpus."""
        from semascope.explorer.queries.views import document_title

        explored = self._explored
        has = explored.shares is not None and explored.has(id)
        return document_title(explored.shares.corpus, explored.number_of(id)) if has else None

    def _topics_of(self, id: str) -> list[answers.TopicShare]:
        explored = self._explored
        if explored.shares is None or not explored.has(id) or not self._topics:
            return []
        number = explored.number_of(id)
        if explored.is_of_labels:  # present or absent
            labels = explored.shares.corpus.labels[number]
            theirs = [(explored.label_numbers[label], 1.0) for label in labels if label in explored.label_numbers]
        else:
            theirs = explored.shares.mixture(number)
        common = [(topic, min(share, self._topics.get(topic, 0.0))) for topic, share in theirs]
        best = sorted(common, key=lambda pair: -pair[1])[:MAX_IN_COMMON]
        names = explored.themes.names
        return [
            answers.TopicShare(topic=topic, name=names[topic], share=share) for topic, share in best if share >= MIN_IN_COMMON
        ]


def _topics_of_text(explored: Any, text: str, language: str | None) -> dict[int, float]:
    """Infer the topics of a query; empty if no word is in the vocabulary."""
    from semascope.explorer.queries.text_topics import infer_mixture

    try:
        return dict(infer_mixture(explored, text, language).topics)
    except RefusedError:
        return {}


def infer_routes(service: Service) -> APIRouter:
    """Return the route of /api/infer."""
    router = APIRouter(tags=["infer"])

    @router.post("/api/infer", responses=errors(413))
    async def infer(given: GivenText) -> results.Inferred:
        """Infer the topics or labels of a text and of each of its words."""
        await service.explored()  # loading the model imports what the next line needs
        from semascope.explorer.queries.text_topics import infer_text

        return await service.answer(infer_text, given.text, given.language or None)

    return router
