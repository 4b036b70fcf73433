"""Documents: lists of them, and each with every word in the color of its topic."""

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
"""Topics that are listed with a document."""
SIMILAR = 6
WORTH_TELLING = 0.015
MAX_TOPICS = 12
"""Of a mixture, to tell."""
OWN_FIELDS = ("id", "labels", "text", "title")


def document_routes(service: Service) -> APIRouter:
    """Routes of /api/documents."""
    router = APIRouter(prefix="/api/documents", tags=["documents"])

    @router.get("", responses=errors(404))
    async def documents(topic: SomeTopic = None, offset: Offset = 0, limit: Limit = 20) -> answers.Documents:
        """A page of the list of documents: all, or those of a topic."""
        return await service.answer(_listed, topic, offset, limit)

    @router.get("/{id:path}", responses=errors(404))
    async def document(id: DocumentId) -> answers.Document:
        """One document: its topics, the topic of each word, and documents like it."""
        return await service.answer(_told, id)

    return router


def _listed(explored: Any, topic: int | None, offset: int, limit: int) -> answers.Documents:
    from semascope.explorer.queries.views import document_title

    if topic is not None:
        explored.checked(topic)
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
        mixture = shown(shares.mixture(number))[:MAIN_TOPICS]
        entry = answers.DocumentEntry(
            id=corpus.ids[number],
            title=document_title(corpus, number),
            share=None if column is None else column[place],
            topics=[answers.TopicOf(topic=topic, share=share) for topic, share in mixture],
        )
        listed.append(entry)
    return answers.Documents(total=total, documents=listed)


def _told(explored: Any, id: str) -> answers.Document:
    from semascope.explorer.queries.views import document_title

    if explored.shares is None:
        msg = f"there are no documents: {explored.problem}"
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
        topics=[answers.TopicShare(topic=topic, name=names[topic], share=share) for topic, share in shown(mixture)],
        texts=_texts(explored, row.get("text"), explored.shares.row(number)),
        similar=_similar(explored, id, number),
    )


def shown(mixture: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """The topics of a mixture that are worth telling: priors give a little of all to every document."""
    return [pair for place, pair in enumerate(mixture) if place == 0 or pair[1] >= WORTH_TELLING][:MAX_TOPICS]


def _texts(explored: Any, text: Any, shares: NDArray[Any]) -> list[answers.Text]:
    from semascope.explorer.queries.text_topics import due_words, located

    corpus = explored.shares.corpus
    by_language = text if isinstance(text, dict) else {corpus.languages[0]: text}
    told = []
    for language, part in by_language.items():
        if part:
            found = located(explored, part, language, corpus.analyzer)
            words = [
                answers.DueWord(start=due.start, end=due.end, topic=due.topic, weight=due.weight)
                for due in due_words(explored, found, part, shares)
            ]
            told.append(answers.Text(language=language, text=part, words=words))
    return told


def _similar(explored: Any, id: str, number: int) -> list[answers.SimilarDocument]:
    """Documents like one: by the space of the index, or as long as there is none by their topics."""
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
    """Documents whose topics are most like those of one: Σ √(p q)."""
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
    """A field as JSON has it."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    return str(value)
