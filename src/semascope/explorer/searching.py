"""Search: documents that fit a query, or are like another, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from fastapi import APIRouter

from semascope.corpus.lexicon import said
from semascope.explorer import answers, results
from semascope.explorer.asking import Label, Language, Like, Question, SomeHits, errors
from semascope.explorer.errors import CannotBeError, NotThereError, RefusedError
from semascope.explorer.service import Service

if TYPE_CHECKING:
    from numpy.typing import NDArray

READY: answers.SearchState = "ready"
PREPARING: answers.SearchState = "preparing"
NO: answers.SearchState = "no"
WAYS = list(get_args(answers.Way))
MOST_IN_COMMON = 3
"""Topics that tell why."""
LEAST_IN_COMMON = 0.03
MOST_WORDS = 12


def search_routes(service: Service) -> APIRouter:
    """The route of /api/search."""
    router = APIRouter(tags=["search"])

    @router.get("/api/search", responses=errors(404, 409))
    async def search(
        q: Question = "", by: answers.Way = "hybrid", k: SomeHits = 10, label: Label = None, language: Language = None,
        like: Like = None,
    ) -> results.Found:  # fmt: skip
        """Documents that fit a query best, or that are most like one of them."""
        return await service.answer(_found, q, by, k, label or None, language or None, like or None)

    return router


def _found(
    explored: Any, query: str, by: str, k: int, label: str | None, language: str | None, like: str | None
) -> results.Found:
    search = explored.search
    index, state = search.index, search.state
    if index is None or (not query.strip() and like is None):
        return results.Found(query=query, by=by, hits=[], state=state)
    if by not in search.ways:
        msg = f"the index has no topics to search by, so by={by} cannot be; there are {', '.join(search.ways)}."
        raise CannotBeError(msg)
    where = None if label is None else {"label": label}
    if like is not None:
        return _like(explored, query, by, k, where, like)
    known = index._words.lexicon
    if language is not None and language not in known.languages:
        msg = f"the index has no language {language!r}; {said(known.languages)}."
        raise NotThereError(msg)
    queries = index.read([query], language)
    if not len(queries.rows.words):
        return results.Found(query=query, by=by, hits=[], state=state)
    (ranking,) = index.rank(queries, k, by=by, where=where)
    hits = index._hits(ranking, queries.part(0, 1))
    why = Why(explored, queries.rows.words, _topics_of_text(explored, query, language))
    return results.Found(query=query, by=by, hits=[_told(hit, why) for hit in hits], state=state)


def _like(explored: Any, query: str, by: str, k: int, where: Any, like: str) -> results.Found:
    index = explored.search.index
    if like not in index._numbers:
        msg = f"there is no document {like!r}."
        raise NotThereError(msg)
    hits = index.similar(like, k, by=by, where=where)
    number = index.number_of(like)
    mixture = explored.shares.mixture(explored.number_of(like)) if explored.shares is not None and explored.has(like) else []
    why = Why(explored, index._telling_words(number).words, dict(mixture))
    return results.Found(query=query, by=by, hits=[_told(hit, why) for hit in hits], state=explored.search.state)


class Why:
    """Tells what documents have in common with a query: its words, by their numbers in the index, and its topics."""

    def __init__(self, explored: Any, words: NDArray[np.int32], topics: dict[int, float]) -> None:
        self._explored, self._words, self._topics = explored, words, topics
        self._asked: dict[int, dict[int, str]] = {}

    def of(self, id: str) -> results.Why:
        """What a document has in common with the query."""
        return results.Why(words=self._words_in(id), topics=self._topics_of(id))

    def title_of(self, id: str) -> str | None:
        """What the document is called in the corpus."""
        from semascope.explorer.views import document_title

        explored = self._explored
        has = explored.shares is not None and explored.has(id)
        return document_title(explored.shares.corpus, explored.number_of(id)) if has else None

    def _words_in(self, id: str) -> list[str]:
        index = self._explored.search.index
        segment, place = index._place(index.number_of(id))
        corpus = index._segments[segment].corpus
        asked = self._asked_in(segment)
        entries = slice(*corpus.rows.ends[place : place + 2])
        counts = zip(corpus.rows.words[entries].tolist(), corpus.rows.counts[entries].tolist(), strict=True)
        common = {asked[number]: count for number, count in counts if number in asked}
        return sorted(common, key=lambda word: (-common[word], word))[:MOST_WORDS]

    def _asked_in(self, segment: int) -> dict[int, str]:
        """The words of the query by their numbers in a part of the index."""
        if segment not in self._asked:
            known = self._explored.search.index._words
            numbers = known.local[segment][self._words].tolist()
            self._asked[segment] = dict(zip(numbers, known.lexicon.words[self._words].to_list(), strict=True))
        return self._asked[segment]

    def _topics_of(self, id: str) -> list[answers.TopicShare]:
        explored = self._explored
        if explored.shares is None or not explored.has(id) or not self._topics:
            return []
        number = explored.number_of(id)
        if explored.is_of_labels:  # which a document has, or not
            labels = explored.shares.corpus.labels[number]
            theirs = [(explored.label_numbers[label], 1.0) for label in labels if label in explored.label_numbers]
        else:
            theirs = explored.shares.mixture(number)
        common = [(topic, min(share, self._topics.get(topic, 0.0))) for topic, share in theirs]
        best = sorted(common, key=lambda pair: -pair[1])[:MOST_IN_COMMON]
        names = explored.themes.names
        return [
            answers.TopicShare(topic=topic, name=names[topic], share=share) for topic, share in best if share >= LEAST_IN_COMMON
        ]


def _topics_of_text(explored: Any, text: str, language: str | None) -> dict[int, float]:
    """The topics of a query; none where the model knows no word of it."""
    from semascope.explorer.texts import mixture_of

    try:
        return dict(mixture_of(explored, text, language).topics)
    except RefusedError:
        return {}


def _told(hit: Any, why: Why) -> results.Hit:
    snippet = hit.snippet
    marks = [results.KindOfMark(start=mark.start, end=mark.end, kind=mark.kind) for mark in snippet.marks] if snippet else []
    return results.Hit(
        id=hit.id,
        title=hit.title or why.title_of(hit.id) or hit.id,
        score=float(np.nan_to_num(hit.score)),
        snippet=results.Snippet(text=snippet.text if snippet else "", marks=marks),
        why=why.of(hit.id),
    )
