"""Requests and responses of the service, documented by OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

MAX_TOPICS = 2**31 - 1
MAX_LETTERS = 1000

TopicNumber = Annotated[int, Path(ge=0, le=MAX_TOPICS, description="Number of the topic.", examples=[0])]
DocumentId = Annotated[str, Path(max_length=MAX_LETTERS, description="Identifier of the document.", examples=["json.dump"])]
SomeTopic = Annotated[int | None, Query(ge=0, le=MAX_TOPICS, description="Only documents of this topic, by decreasing share.")]
Relevance = Annotated[float, Query(ge=0, le=1, description="λ: 1 ranks words by frequency, 0 by distinctiveness.")]
NumberOfWords = Annotated[int, Query(ge=1, le=200, description="Number of words.")]
Language = Annotated[str | None, Query(max_length=35, description="Language code, for a multilingual model.")]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1, description="Number of documents to skip.")]
Limit = Annotated[int, Query(ge=1, le=100, description="Maximum number of documents.")]
Question = Annotated[str, Query(max_length=MAX_LETTERS, description="Query text.", examples=["a file"])]
Like = Annotated[str | None, Query(max_length=MAX_LETTERS, description="Id of a document to find similar documents to.")]
Label = Annotated[str | None, Query(max_length=MAX_LETTERS, description="Only documents with this label.")]
SomeHits = Annotated[int, Query(ge=1, le=100, description="Maximum number of documents.")]


class NewName(BaseModel):
    """New name of a topic."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "mail"}]})

    name: str | None = Field(max_length=200, description="Null removes the name.")


class GivenText(BaseModel):
    """Text to infer the topics of."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"text": "Open a socket and wait for a response.", "language": None}]}
    )

    text: str = Field(max_length=200_000)
    language: str | None = Field(default=None, max_length=35, description="Language code, for a multilingual model.")


class LabeledText(BaseModel):
    """Document to learn."""

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
    """Return the error responses of a route."""
    descriptions = {
        400: "Bad request.",
        401: "Unauthorized: a token is required.",
        403: "Forbidden.",
        404: "Not found.",
        409: "Not supported by this model.",
        413: "Request too large.",
        422: "Invalid parameters.",
        503: "Service unavailable; try again later.",
    }
    return {
        status: {"model": Error, "description": descriptions[status]} for status in sorted({400, 401, 403, 422, 503, *more})
    }


def example(**values: Any) -> ConfigDict:
    """Build a model config with an example."""
    return ConfigDict(json_schema_extra={"examples": [values]})


Way = Literal["hybrid", "bm25", "cosine", "lsa", "kl", "lda", "fisher"]
"""Similarities to search by."""
Status = Literal["ok", "loading", "missing"]
Kind = Literal["topics", "labels"]
SearchState = Literal["ready", "preparing", "no"]
READY: SearchState = "ready"
PREPARING: SearchState = "preparing"
NO: SearchState = "no"
WAYS = list(get_args(Way))


class Error(BaseModel):
    """Error response."""

    model_config = example(error="no topic 200; topics are numbered from 0 to 99.")

    error: str = Field(description="Error message, one sentence.")


class Health(BaseModel):
    """Status of the service."""

    model_config = example(status="ok", model="LDA", documents=3310, version="0.1.0")

    status: Status
    model: str | None
    documents: int | None
    version: str


class About(BaseModel):
    """Summary of the model and its documents."""

    model_config = example(
        model="LDA", kind="topics", title="lda", topics=32, documents=3310, words=4021, languages=[], has_texts=True,
        has_dates=False, has_corpus=True, can_search="ready", ways=["hybrid", "bm25", "cosine", "lsa"], learns=False,
        can_rename=True, problem=None,
    )  # fmt: skip

    model: str
    kind: Kind
    title: str = Field(description="Name of the model directory.")
    topics: int
    documents: int
    words: int
    languages: list[str]
    has_texts: bool
    has_dates: bool
    has_corpus: bool
    can_search: SearchState
    ways: list[str] = Field(description="Supported values of `by` in /api/search.")
    learns: bool = Field(description="Whether POST /api/stream is enabled.")
    can_rename: bool
    problem: str | None = Field(description="What is unavailable, and the remedy.")


class TopicName(BaseModel):
    """Topic by number and name."""

    topic: int
    name: str


class TopicShare(TopicName):
    """Topic with its share."""

    share: float


class TopicEntry(TopicShare):
    """Topic on the map."""

    named: bool = Field(description="Whether a user named it.")
    documents: int = Field(description="Documents of which it is the largest topic, or that have the label.")
    x: float = Field(description="Position on the map, from 0 to 1; similar topics are near each other.")
    y: float
    words: list[str]


class Topics(BaseModel):
    """All topics, largest first."""

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
    """Word of a topic."""

    word: str
    probability: float = Field(description="P(word | topic)")
    lift: float = Field(description="P(word | topic) / P(word)")
    relevance: float = Field(description="λ log P(word | topic) + (1 − λ) log lift")


class Mark(BaseModel):
    """Character span of a text."""

    start: int
    end: int


class Passage(BaseModel):
    """Passage with marked words."""

    text: str
    marks: list[Mark]


class TypicalDocument(BaseModel):
    """Typical document of a topic."""

    id: str
    title: str
    share: float
    passage: Passage


class Period(BaseModel):
    """Share of a topic in a period."""

    period: str
    share: float
    documents: int


class Related(TopicName):
    """Topic related to another."""

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
    """Topic of a document, by number."""

    topic: int
    share: float


class DocumentEntry(BaseModel):
    """Document in a list."""

    id: str
    title: str
    share: float | None = Field(description="Share of the requested topic.")
    topics: list[TopicOf]


class Documents(BaseModel):
    """Page of a list of documents."""

    model_config = example(
        total=3310, documents=[{"id": "json.dump", "title": "json.dump", "share": 0.8, "topics": [{"topic": 3, "share": 0.8}]}]
    )

    total: int
    documents: list[DocumentEntry]


class DueWord(Mark):
    """Word of a text with its topic."""

    topic: int
    weight: float = Field(description="P(topic | word, text)")


class Text(BaseModel):
    """Text with every word of the vocabulary."""

    language: str
    text: str
    words: list[DueWord]


class SimilarDocument(BaseModel):
    """Document similar to another."""

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
    """Marked word: in the query ("match") or related in meaning ("related")."""

    kind: Literal["match", "related"]


class Snippet(BaseModel):
    """Passage that best explains a hit."""

    text: str
    marks: list[KindOfMark]


class Why(BaseModel):
    """Explanation of a hit."""

    words: list[str] = Field(description="Words in common with the query.")
    topics: list[TopicShare] = Field(description="Topics in common with the query, with their common share.")


class Hit(BaseModel):
    """Hit of a search."""

    id: str
    title: str
    score: float
    snippet: Snippet
    why: Why


class Found(BaseModel):
    """Hits of a search, best first."""

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
    """Word of the input text with its topic."""

    word: str


class LikelyLabel(BaseModel):
    """Label that the text may have."""

    label: str
    probability: float
    predicted: bool


class Inferred(BaseModel):
    """Topics or labels of a text."""

    model_config = example(
        topics=[{"topic": 7, "name": "network", "share": 0.9}],
        words=[{"start": 7, "end": 13, "word": "socket", "topic": 7, "weight": 0.99}], known_words=4, labels=[],
    )  # fmt: skip

    topics: list[TopicShare]
    words: list[InferredWord]
    known_words: int
    labels: list[LikelyLabel]


class StreamPoint(BaseModel):
    """Perplexity of the documents before learning them, at a point of a stream."""

    documents: int
    perplexity: float


class HeavyLabel(BaseModel):
    """Label with many words."""

    label: str
    share: float
    words: list[str]


class Stream(BaseModel):
    """Progress of learning."""

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
    """Number of documents learned durably."""

    model_config = example(learned=1)

    learned: int
