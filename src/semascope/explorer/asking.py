"""What may be asked for, with its limits, and the errors that every route may answer with."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from semascope.explorer.answers import Error

MOST_TOPICS = 2**31 - 1
MOST_LETTERS = 1000

TopicNumber = Annotated[int, Path(ge=0, le=MOST_TOPICS, description="Number of the topic.", examples=[0])]
DocumentId = Annotated[str, Path(max_length=MOST_LETTERS, description="Identifier of the document.", examples=["json.dump"])]
SomeTopic = Annotated[int | None, Query(ge=0, le=MOST_TOPICS, description="Only documents of this topic, most of it first.")]
Relevance = Annotated[float, Query(ge=0, le=1, description="λ: 1 ranks words by frequency, 0 by distinctiveness.")]
NumberOfWords = Annotated[int, Query(ge=1, le=200, description="How many words.")]
Language = Annotated[str | None, Query(max_length=35, description="Code of a language, where the model has several.")]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1, description="Documents to pass over.")]
Limit = Annotated[int, Query(ge=1, le=100, description="Most documents to give.")]
Question = Annotated[str, Query(max_length=MOST_LETTERS, description="What to look for, in any words.", examples=["a file"])]
Like = Annotated[str | None, Query(max_length=MOST_LETTERS, description="Look for documents like this one, by its id.")]
Label = Annotated[str | None, Query(max_length=MOST_LETTERS, description="Only documents with this label.")]
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


class LabelledText(BaseModel):
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

    documents: list[LabelledText] = Field(min_length=1, max_length=1000)


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
