"""Requests and responses of the service, as its OpenAPI description states them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

MAX_TOPICS = 2**31 - 1
MAX_LETTERS = 1000

TopicNumber = Annotated[int, Path(ge=0, le=MAX_TOPICS, description="Number of the topic.", examples=[0])]
DocumentId = Annotated[str, Path(max_length=MAX_LETTERS, description="Identifier of the document.", examples=["json.dump"])]
SomeTopic = Annotated[int | None, Query(ge=0, le=MAX_TOPICS, description="Only documents of this topic, most of it first.")]
Relevance = Annotated[float, Query(ge=0, le=1, description="λ: 1 ranks words by frequency, 0 by distinctiveness.")]
NumberOfWords = Annotated[int, Query(ge=1, le=200, description="How many words.")]
Language = Annotated[str | None, Query(max_length=35, description="Code of a language, where the model has several.")]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1, description="Documents to pass over.")]
Limit = Annotated[int, Query(ge=1, le=100, description="Most documents to give.")]
Question = Annotated[str, Query(max_length=MAX_LETTERS, description="What to look for, in any words.", examples=["a file"])]
Like = Annotated[str | None, Query(max_length=MAX_LETTERS, description="Look for documents like this one, by its id.")]
Label = Annotated[str | None, Query(max_length=MAX_LETTERS, description="Only documents with this label.")]
SomeHits = Annotated[int, Query(ge=1, le=100, description="Most documents to find.")]


class NewName(BaseModel):
    """What to call a topic."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "mail"}]})

    name: str | None = Field(max_length=200, description="Null takes the name away.")


class GivenText(BaseModel):
    """A text to find the topics of."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"text": "Open a socket and wait for a response.", "language": None}]}
    )

    text: str = Field(max_length=200_000)
    language: str | None = Field(default=None, max_length=35, description="Where the model has several.")


class LabeledText(BaseModel):
    """A document to learn."""

    model_config = ConfigDict(extra="forbid")

    text: str
    labels: list[str] = Field(default_factory=list, max_length=1000)


class NewDocuments(BaseModel):
    """Documents to learn."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"documents": [{"text": "a cheap train to Rome", "labels": ["travel"]}]}]},
    )

    documents: list[LabeledText] = Field(min_length=1, max_length=1000)


def errors(*more: int) -> dict[int | str, dict[str, Any]]:
    """Statuses that a route may answer with in place of what is asked for."""
    told = {
        400: "What was asked for does not make sense.",
        401: "A token is needed.",
        403: "Whoever asks may not.",
        404: "There is no such thing.",
        409: "It does not go with this model.",
        413: "Too much was sent.",
        422: "What was asked for is not as described.",
        503: "There is no answer now; try again later.",
    }
    return {status: {"model": Error, "description": told[status]} for status in sorted({400, 401, 403, 422, 503, *more})}


def example(**values: Any) -> ConfigDict:
    """Return a description an example."""
    return ConfigDict(json_schema_extra={"examples": [values]})


Way = Literal["hybrid", "bm25", "cosine", "lsa", "kl", "lda", "fisher"]
"""Ways to search."""
Status = Literal["ok", "loading", "missing"]
Kind = Literal["topics", "labels"]
SearchState = Literal["ready", "preparing", "no"]
READY: SearchState = "ready"
PREPARING: SearchState = "preparing"
NO: SearchState = "no"
WAYS = list(get_args(Way))


class Error(BaseModel):
    """Why there is no other answer."""

    model_config = example(error="there is no topic 200; they are numbered from 0 to 99.")

    error: str = Field(description="One sentence.")


class Health(BaseModel):
    """Whether the service is up."""

    model_config = example(status="ok", model="LDA", documents=3310, version="0.1.0")

    status: Status
    model: str | None
    documents: int | None
    version: str


class About(BaseModel):
    """What is served."""

    model_config = example(
        model="LDA", kind="topics", title="lda", topics=32, documents=3310, words=4021, languages=[], has_texts=True,
        has_dates=False, has_corpus=True, can_search="ready", ways=["hybrid", "bm25", "cosine", "lsa"], learns=False,
        can_rename=True, problem=None,
    )  # fmt: skip

    model: str
    kind: Kind
    title: str = Field(description="Name of the model's directory.")
    topics: int
    documents: int
    words: int
    languages: list[str]
    has_texts: bool
    has_dates: bool
    has_corpus: bool
    can_search: SearchState
    ways: list[str] = Field(description="What `by` of /api/search may be.")
    learns: bool = Field(description="Whether POST /api/stream is open.")
    can_rename: bool
    problem: str | None = Field(description="What cannot be shown, and what to do about it.")


class TopicName(BaseModel):
    """A topic by number and name."""

    topic: int
    name: str


class TopicShare(TopicName):
    """How much of something is due to a topic."""

    share: float


class TopicEntry(TopicShare):
    """A topic on the map."""

    named: bool = Field(description="Whether people gave it its name.")
    documents: int = Field(description="Documents of which it is the largest topic, or that have the label.")
    x: float = Field(description="Place on the map, from 0 to 1: topics that are alike are near each other.")
    y: float
    words: list[str]


class Topics(BaseModel):
    """All topics, the largest first."""

    model_config = example(
        topics=[
            {
                "topic": 3, "name": "mail", "named": True, "share": 0.08, "documents": 210, "x": 0.2, "y": 0.7,
                "words": ["message", "header", "email"],
            }
        ],
        sorted_by="share",
    )  # fmt: skip

    topics: list[TopicEntry]
    sorted_by: Literal["share"] = "share"


class Word(BaseModel):
    """A word of a topic."""

    word: str
    probability: float = Field(description="P(word | topic)")
    lift: float = Field(description="P(word | topic) / P(word)")
    relevance: float = Field(description="λ log P(word | topic) + (1 − λ) log lift")


class Mark(BaseModel):
    """Characters of a text, from one up to another."""

    start: int
    end: int


class Passage(BaseModel):
    """A passage with marked words."""

    text: str
    marks: list[Mark]


class TypicalDocument(BaseModel):
    """A document of a topic."""

    id: str
    title: str
    share: float
    passage: Passage


class Period(BaseModel):
    """A topic in a month or year."""

    period: str
    share: float
    documents: int


class Related(TopicName):
    """A topic that is like another."""

    similarity: float


class Topic(TopicShare):
    """One topic."""

    model_config = example(
        topic=3, name="mail", named=True, share=0.08,
        words=[{"word": "message", "probability": 0.06, "lift": 9.1, "relevance": -0.8}],
        documents=[
            {
                "id": "email.message", "title": "email.message", "share": 0.97,
                "passage": {"text": "Basic message object.", "marks": [{"start": 6, "end": 13}]},
            }
        ],
        over_time=[{"period": "1987-03", "share": 0.07, "documents": 120}],
        related=[{"topic": 9, "name": "topic 9", "similarity": 0.4}],
        languages={},
    )  # fmt: skip

    named: bool
    words: list[Word]
    documents: list[TypicalDocument]
    over_time: list[Period]
    related: list[Related]
    languages: dict[str, list[str]] = Field(description="Most probable words in each language.")


class TopicOf(BaseModel):
    """A topic of a document, by number."""

    topic: int
    share: float


class DocumentEntry(BaseModel):
    """A document in a list."""

    id: str
    title: str
    share: float | None = Field(description="Of the topic that was asked for.")
    topics: list[TopicOf]


class Documents(BaseModel):
    """A page of a list of documents."""

    model_config = example(
        total=3310, documents=[{"id": "json.dump", "title": "json.dump", "share": 0.8, "topics": [{"topic": 3, "share": 0.8}]}]
    )

    total: int
    documents: list[DocumentEntry]


class DueWord(Mark):
    """A word of a text, and the topic that it is due to."""

    topic: int
    weight: float = Field(description="P(topic | word, text)")


class Text(BaseModel):
    """A text with every word that the model knows."""

    language: str
    text: str
    words: list[DueWord]


class SimilarDocument(BaseModel):
    """A document like another."""

    id: str
    title: str
    similarity: float


class Document(BaseModel):
    """One document."""

    model_config = example(
        id="json.dump", title="json.dump", labels=["json"], fields={"module": "json"},
        topics=[{"topic": 3, "name": "files", "share": 0.8}],
        texts=[{"language": "", "text": "Write a file.", "words": [{"start": 8, "end": 12, "topic": 3, "weight": 0.9}]}],
        similar=[{"id": "json.load", "title": "json.load", "similarity": 0.99}],
    )  # fmt: skip

    id: str
    title: str
    labels: list[str]
    fields: dict[str, Any]
    topics: list[TopicShare]
    texts: list[Text]
    similar: list[SimilarDocument]


class KindOfMark(Mark):
    """A marked word: in the query ("match") or near it in meaning ("related")."""

    kind: Literal["match", "related"]


class Snippet(BaseModel):
    """The passage that shows best why a document was found."""

    text: str
    marks: list[KindOfMark]


class Why(BaseModel):
    """Why a document was found."""

    words: list[str] = Field(description="Words that it has in common with the query.")
    topics: list[TopicShare] = Field(description="Topics that it has in common with the query; the share is the common one.")


class Hit(BaseModel):
    """A document that was found."""

    id: str
    title: str
    score: float
    snippet: Snippet
    why: Why


class Found(BaseModel):
    """What a search found, the best first."""

    model_config = example(
        query="open a file", by="hybrid", state="ready",
        hits=[
            {
                "id": "io.open", "title": "io.open", "score": 0.9,
                "snippet": {"text": "Open file and return a stream.", "marks": [{"start": 0, "end": 4, "kind": "match"}]},
                "why": {"words": ["open", "file"], "topics": [{"topic": 3, "name": "files", "share": 0.4}]},
            }
        ],
    )  # fmt: skip

    query: str
    by: str
    hits: list[Hit]
    state: SearchState


class InferredWord(DueWord):
    """A word of the text that was given."""

    word: str


class LikelyLabel(BaseModel):
    """A label that the text may have."""

    label: str
    probability: float
    predicted: bool


class Inferred(BaseModel):
    """The topics of a text, or its labels."""

    model_config = example(
        topics=[{"topic": 7, "name": "network", "share": 0.9}],
        words=[{"start": 7, "end": 13, "word": "socket", "topic": 7, "weight": 0.99}], known_words=4, labels=[],
    )  # fmt: skip

    topics: list[TopicShare]
    words: list[InferredWord]
    known_words: int
    labels: list[LikelyLabel]


class StreamPoint(BaseModel):
    """How well documents were predicted before they were learned, at some time of a stream."""

    documents: int
    perplexity: float


class HeavyLabel(BaseModel):
    """A label that many words are due to."""

    label: str
    share: float
    words: list[str]


class Stream(BaseModel):
    """How learning goes."""

    model_config = example(
        learns=True, documents=1200, labels=34, perplexity=910.5, documents_per_second=250.0,
        recent=[{"documents": 1000, "perplexity": 930.1}], new_labels=["opera"],
        heaviest=[{"label": "music", "share": 0.2, "words": ["song", "band"]}],
    )  # fmt: skip

    learns: bool
    documents: int
    labels: int
    perplexity: float | None
    documents_per_second: float
    recent: list[StreamPoint]
    new_labels: list[str]
    heaviest: list[HeavyLabel]


class Learned(BaseModel):
    """How many documents were learned for good."""

    model_config = example(learned=1)

    learned: int
