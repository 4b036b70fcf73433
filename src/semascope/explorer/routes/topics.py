"""Routes for topics: the map of all topics, and single topics."""

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
"""Number of typical documents of a topic."""
RELATED = 6


def topic_routes(service: Service) -> APIRouter:
    """Return the routes of /api/topics."""
    router = APIRouter(prefix="/api/topics", tags=["topics"])

    @router.get("", responses=errors())
    async def topics() -> answers.Topics:
        """Return all topics or labels with their map positions, largest first."""
        listed = await service.pool.run(_list_topics, await service.overview())
        service.keeper.resume_loading()
        return listed

    @router.get("/{topic}", responses=errors(404))
    async def topic(
        topic: TopicNumber, relevance: Relevance = 0.6, n: NumberOfWords = 30, language: Language = None
    ) -> answers.Topic:
        """Return a topic with its words, typical documents, share over time and related topics."""
        return await service.answer(_describe_topic, topic, relevance, n, language or None)

    @router.put("/{topic}/name", responses=errors(404, 409, 413))
    async def rename(topic: TopicNumber, new: NewName) -> answers.Topic:
        """Rename a topic and save the model."""
        (await service.explored()).check_topic(topic)
        return await service.pool.run(_rename_topic, service, topic, new.name)

    return router


def _list_topics(overview: Overview) -> answers.Topics:
    themes = overview.themes
    order = sorted(range(len(themes)), key=lambda topic: -themes.shares[topic])
    entries = [
        answers.TopicEntry(
            topic=topic,
            name=themes.names[topic],
            named=themes.named[topic],
            share=float(themes.shares[topic]),
            documents=int(overview.documents[topic]),
            x=float(overview.places[topic, 0]),
            y=float(overview.places[topic, 1]),
            words=themes.top_words(topic, FIRST_WORDS, themes.main_language),
        )
        for topic in order
    ]
    return answers.Topics(topics=entries)


def _describe_topic(explored: Any, topic: int, relevance: float, n: int, language: str | None) -> answers.Topic:
    from semascope.explorer.queries.views import over_time, related_topics

    themes = explored.themes
    explored.check_topic(topic)
    if language is not None and language not in themes.languages:
        available = f"it has {', '.join(themes.languages)}" if themes.languages else "it is monolingual"
        msg = f"the model has no language {language!r}; {available}."
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
    """Return the typical documents of a topic, with passages."""
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


def _rename_topic(service: Service, topic: int, name: str | None) -> answers.Topic:
    now = service.worker.known()
    if now is not None and now.is_of_labels:
        msg = "labels cannot be renamed; only topics can."
        raise ConflictError(msg)
    try:
        explored = service.keeper.change(lambda model: model.rename_topics({topic: name}))
    except InputError as error:
        raise ConflictError(str(error)) from None
    return _describe_topic(explored, topic, 0.6, 30, None)
