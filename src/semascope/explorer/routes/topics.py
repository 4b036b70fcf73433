"""Topics: all of them on a map, and each by itself."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from semascope.errors import InputError
from semascope.explorer import schemas as answers
from semascope.explorer.errors import ConflictError, NotFoundError
from semascope.explorer.schemas import Language, NewName, NumberOfWords, Relevance, TopicNumber, errors
from semascope.explorer.service.context import Service
from semascope.explorer.service.overview import FIRST_WORDS, Overview

TYPICAL = 8
"""Documents of a topic that are shown with it."""
RELATED = 6


def topic_routes(service: Service) -> APIRouter:
    """Routes of /api/topics."""
    router = APIRouter(prefix="/api/topics", tags=["topics"])

    @router.get("", responses=errors())
    async def topics() -> answers.Topics:
        """All topics or labels with their places on a map, the largest first."""
        listed = await service.pool.run(_listed, await service.overview())
        service.keeper.go_on()
        return listed

    @router.get("/{topic}", responses=errors(404))
    async def topic(
        topic: TopicNumber, relevance: Relevance = 0.6, n: NumberOfWords = 30, language: Language = None
    ) -> answers.Topic:
        """One topic: its words, typical documents, share over time, and topics like it."""
        return await service.answer(_told, topic, relevance, n, language or None)

    @router.put("/{topic}/name", responses=errors(404, 409, 413))
    async def rename(topic: TopicNumber, new: NewName) -> answers.Topic:
        """Return a topic another name, and keep it with the model."""
        (await service.explored()).checked(topic)
        return await service.pool.run(_renamed, service, topic, new.name)

    return router


def _listed(seen: Overview) -> answers.Topics:
    themes = seen.themes
    order = sorted(range(len(themes)), key=lambda topic: -themes.shares[topic])
    entries = [
        answers.TopicEntry(
            topic=topic,
            name=themes.names[topic],
            named=themes.named[topic],
            share=float(themes.shares[topic]),
            documents=int(seen.documents[topic]),
            x=float(seen.places[topic, 0]),
            y=float(seen.places[topic, 1]),
            words=themes.top_words(topic, FIRST_WORDS, themes.main_language),
        )
        for topic in order
    ]
    return answers.Topics(topics=entries)


def _told(explored: Any, topic: int, relevance: float, n: int, language: str | None) -> answers.Topic:
    from semascope.explorer.queries.views import over_time, related_topics

    themes = explored.themes
    explored.checked(topic)
    if language is not None and language not in themes.languages:
        there = f"there are {', '.join(themes.languages)}" if themes.languages else "its words have no languages"
        msg = f"the model has no language {language!r}; {there}."
        raise NotFoundError(msg)
    words = themes.relevant_words(topic, relevance, n, language or themes.main_language)
    moments = over_time(explored.model, explored.shares, topic) if explored.shares is not None else []
    return answers.Topic(
        topic=topic,
        name=themes.names[topic],
        named=themes.named[topic],
        share=float(themes.shares[topic]),
        words=[answers.Word(**word._asdict()) for word in words],
        documents=_typical(explored, topic, language),
        over_time=[answers.Period(**moment._asdict()) for moment in moments],
        related=[
            answers.Related(topic=other.topic, name=themes.names[other.topic], similarity=other.similarity)
            for other in related_topics(themes, topic, RELATED)
        ],
        languages={code: themes.top_words(topic, n, code) for code in themes.languages},
    )


def _typical(explored: Any, topic: int, language: str | None) -> list[answers.TypicalDocument]:
    """Documents that show a topic best, with the passages that do."""
    from semascope.explorer.queries.views import document_title, passage_for, typical_documents

    if explored.shares is None:
        return []
    found = []
    for document, share in typical_documents(explored.model, explored.shares, topic, TYPICAL):
        corpus = explored.shares.corpus
        shown = passage_for(explored.themes, corpus, document, topic, language=language)
        marks = [answers.Mark(start=mark.start, end=mark.end) for mark in shown.marks] if shown else []
        passage = answers.Passage(text=shown.text if shown else "", marks=marks)
        title = document_title(corpus, document)
        found.append(answers.TypicalDocument(id=corpus.ids[document], title=title, share=share, passage=passage))
    return found


def _renamed(service: Service, topic: int, name: str | None) -> answers.Topic:
    now = service.worker.known()
    if now is not None and now.is_of_labels:
        msg = "labels are named by the documents that have them; only topics can be renamed."
        raise ConflictError(msg)
    try:
        explored = service.keeper.change(lambda model: model.rename_topics({topic: name}))
    except InputError as error:
        raise ConflictError(str(error)) from None
    return _told(explored, topic, 0.6, 30, None)
