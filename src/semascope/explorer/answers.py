"""What the service answers, as its OpenAPI description tells it."""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field


def example(**values: Any) -> ConfigDict:
    """Give a description an example."""
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
