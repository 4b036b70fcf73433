"""Routes for documents: paginated lists, and single documents with the topic of each word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from fastapi import APIRouter

from semascope.explorer import schemas as answers
from semascope.explorer.errors import NotFoundError
from semascope.explorer.schemas import DocumentId, Limit, Offset, SomeTopic, errors
from semascope.explorer.service.context import Service

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAIN_TOPICS = 5
"""Maximum number of topics of a document in a list."""
SIMILAR = 6
MIN_SHARE = 0.015
MAX_TOPICS = 12
"""Maximum number of topics of a mixture to return."""
OWN_FIELDS = ("id", "labels", "text", "title")


def document_routes(service: Service) -> APIRouter:
    """Return the routes of /api/documents."""
    router = APIRouter(prefix="/api/documents", tags=["documents"])

    @router.get("", responses=errors(404))
    async def documents(topic: SomeTopic = None, offset: Offset = 0, limit: Limit = 20) -> answers.Documents:
        """Return a page of the documents: all, or those of a topic."""
        return await service.answer(_list_documents, topic, offset, limit)

    @router.get("/{id:path}", responses=errors(404))
    async def document(id: DocumentId) -> answers.Document:
        """Return a document with its topics, the topic of each word, and similar documents."""
        return await service.answer(_describe_document, id)

    return router


def _list_documents(explored: Any, topic: int | None, offset: int, limit: int) -> answers.Documents:
    from semascope.explorer.queries.views import document_title

    if topic is not None:
        explored.check_topic(topic)
    if explored.shares is None:
        return answers.Documents(total=0, documents=[])
    shares, corpus = explored.shares, explored.shares.corpus
    column: Any = None
    if topic is None:
        total, numbers = corpus.n_documents, range(offset, min(offset + limit, corpus.n_documents))
    else:
        order = explored.by_share(topic)
        page, column = order[offset : offset + limit], shares.column(topic)
        total, numbers = len(order), shares.numbers[page].tolist()
        column = column[page].tolist()
    listed = []
    for place, number in enumerate(numbers):
        mixture = main_topics(shares.mixture(number))[:MAIN_TOPICS]
        entry = answers.DocumentEntry(
            id=corpus.ids[number],
            title=document_title(corpus, number),
            share=None if column is None else column[place],
            topics=[answers.TopicOf(topic=topic, share=share) for topic, share in mixture],
        )
        listed.append(entry)
    return answers.Documents(total=total, documents=listed)


def _describe_document(explored: Any, id: str) -> answers.Document:
    from semascope.explorer.queries.views import document_title

    if explored.shares is None:
        msg = f"no documents: {explored.problem}"
        raise NotFoundError(msg)
    number, corpus = explored.number_of(id), explored.shares.corpus
    row = corpus.documents.row(number, named=True)
    mixture = explored.shares.mixture(number)
    names = explored.themes.names
    return answers.Document(
        id=id,
        title=document_title(corpus, number),
        labels=list(row["labels"] or []),
        fields={name: _plain(value) for name, value in row.items() if name not in OWN_FIELDS and value is not None},
        topics=[answers.TopicShare(topic=topic, name=names[topic], share=share) for topic, share in main_topics(mixture)],
        texts=_texts(explored, row.get("text"), explored.shares.row(number)),
        similar=_similar(explored, id, number),
    )


def main_topics(mixture: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return the main topics of a mixture; priors give every document a small share of all topics."""
    return [pair for place, pair in enumerate(mixture) if place == 0 or pair[1] >= MIN_SHARE][:MAX_TOPICS]


def _texts(explored: Any, text: Any, shares: NDArray[Any]) -> list[answers.Text]:
    from semascope.explorer.queries.word_topics import assign_topics, locate_words

    corpus = explored.shares.corpus
    by_language = text if isinstance(text, dict) else {corpus.languages[0]: text}
    texts = []
    for language, part in by_language.items():
        if part:
            found = locate_words(explored, part, language, corpus.analyzer)
            words = [
                answers.DueWord(start=word.start, end=word.end, topic=word.topic, weight=word.weight)
                for word in assign_topics(explored, found, part, shares)
            ]
            texts.append(answers.Text(language=language, text=part, words=words))
    return texts


def _similar(explored: Any, id: str, number: int) -> list[answers.SimilarDocument]:
    """Return similar documents: by the LSA space of the index, or by topics if there is no index."""
    from semascope.explorer.queries.views import document_title

    index, corpus = explored.search.index, explored.shares.corpus
    if index is not None and index.has(id):
        near = [(explored.number_of(hit.id), hit.score) for hit in index.similar(id, SIMILAR, by="lsa") if explored.has(hit.id)]
    elif explored.is_of_labels:
        near = []
    else:
        near = _by_topics(explored, number)
    return [
        answers.SimilarDocument(id=corpus.ids[other], title=document_title(corpus, other), similarity=max(float(score), 0.0))
        for other, score in near
    ]


def _by_topics(explored: Any, number: int) -> list[tuple[int, float]]:
    """Return the documents with the most similar topics, by Σ √(p q)."""
    shares = explored.shares
    row = np.zeros(len(explored.themes))
    for topic, share in shares.mixture(number):
        row[topic] = share
    mine = np.flatnonzero(row)
    likeness = np.sqrt(shares.table[:, mine]) @ np.sqrt(row[mine]).astype(np.float32)
    likeness[shares.numbers == number] = -1.0
    best = np.argsort(-likeness, kind="stable")[:SIMILAR]
    return [(int(shares.numbers[place]), min(float(likeness[place]), 1.0)) for place in best if likeness[place] > 0]


def _plain(value: Any) -> Any:
    """Convert a field to a JSON value."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    return str(value)
