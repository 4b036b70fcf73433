"""What search, new texts and learning are answered with, as the OpenAPI description tells it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from semascope.explorer.answers import DueWord, Mark, SearchState, TopicShare, example


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
