"""Queries on a model and its documents, shared by the report and the server.

The functions accept a model or `TopicView.of(model)`, and a corpus or `DocumentShares.of(model, corpus)`. Keep the latter
for repeated queries: they cache expensive results.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.corpus.text.analyzer import analyzer_of
from semascope.corpus.text.token_spans import best_window, passage, tokens_of
from semascope.errors import InputError
from semascope.explorer.queries.document_topics import DocumentShares
from semascope.model_selection import own_corpus
from semascope.models.display.topic_map import map_radii, topic_map
from semascope.models.display.topic_view import RelevantWord, TopicView
from semascope.models.registry import LABELS
from semascope.retrieval.highlighting import Mark, Snippet, tidy

__all__ = [
    "DocumentShares", "Moment", "Related", "TopicView", "Typical", "document_title", "find_corpus", "map_radii", "over_time",
    "passage_for", "related_topics", "relevant_words", "topic_map", "typical_documents",
]  # fmt: skip

FIRST_WORDS = 9
"""Number of words of a text used as its title."""
PASSAGE = 30
"""Length of a passage in words."""
TELLING = np.log(2)
"""Words at least twice as probable in a topic as overall are marked."""
PSEUDO_COUNT = 30.0
"""Pseudo-counts added to each document, distributed like the whole corpus, so that short documents rank lower."""


class Typical(NamedTuple):
    """Typical document of a topic: its number in the corpus, and the share of the topic in it."""

    document: int
    share: float


class Moment(NamedTuple):
    """Mean share of a topic in the documents of a period, and their number.

    Documents have equal weight here; `topic_shares_` and `label_shares_` weight them by length.
    """

    period: str
    share: float
    documents: int


class Related(NamedTuple):
    """Topic related to another, with the similarity of their words, at most 1."""

    topic: int
    similarity: float


def find_corpus(model: Any, path: Path | None = None) -> tuple[Corpus | None, str | None]:
    """Open the corpus of a model, or the one at a path; otherwise return the reason in a sentence."""
    if path is not None:
        return Corpus.open(path), None
    if model.learns_from_streams:
        return None, "the model learned from a stream and has no corpus; set one with --corpus."
    try:
        return own_corpus(model), None
    except InputError as error:
        return None, str(error)


def relevant_words(
    model: Any, topic: int, relevance: float = 0.6, n: int = 30, language: str | None = None
) -> list[RelevantWord]:
    """Return the words of a topic by λ log P(word | topic) + (1 − λ) log P(word | topic) / P(word)."""
    return TopicView.of(model).relevant_words(topic, relevance, n, language)


def related_topics(model: Any, topic: int, n: int = 6) -> list[Related]:
    """Return the topics with the most similar words."""
    likeness = TopicView.of(model).likeness(np.array([topic]))[0]
    likeness[topic] = -1.0
    order = np.argsort(-likeness, kind="stable")[: max(min(n, len(likeness) - 1), 0)]
    return [Related(int(other), float(likeness[other])) for other in order if likeness[other] > 0]


def typical_documents(model: Any, corpus: Corpus | DocumentShares, topic: int, n: int = 10) -> list[Typical]:
    """Return the most typical documents of a topic: with a large share of it, and long enough to be reliable.

    Many documents have a single label, so for labels the documents are ranked by log P(word | label) / P(word) of their words.
    """
    shares = DocumentShares.of(model, corpus)
    of_topic = shares.column(topic)
    score = of_topic * shares.lengths + PSEUDO_COUNT * shares.themes.shares[topic]
    if shares.themes.kind == LABELS:
        score = of_topic * shares.telling(topic)
    score = np.where(of_topic > 0, score / (shares.lengths + PSEUDO_COUNT), -np.inf)
    order = np.argsort(-score, kind="stable")[:n]
    return [Typical(int(shares.numbers[i]), float(of_topic[i])) for i in order if of_topic[i] > 0]


def over_time(model: Any, corpus: Corpus | DocumentShares, topic: int) -> list[Moment]:
    """Return the mean share of a topic in the documents of each period; empty if they have no dates.

    Periods without documents are omitted.
    """
    shares = DocumentShares.of(model, corpus)
    if shares.periods is None:
        return []
    dated = shares.periods.is_not_null().to_numpy()
    names, place = np.unique(shares.periods.drop_nulls().to_numpy().astype(str), return_inverse=True)
    n = np.bincount(place, minlength=len(names))
    sums = np.bincount(place, shares.column(topic)[dated], len(names))
    return [Moment(str(name), float(total / count), int(count)) for name, total, count in zip(names, sums, n, strict=True)]


def document_title(corpus: Corpus, number: int) -> str:
    """Return the title of a document, or else the first words of its text, or else its id."""
    documents = corpus.documents
    title = documents["title"][number] if "title" in documents.columns else None
    if title and str(title).strip():
        return re.sub(r"\s+", " ", str(title)).strip()
    words = (find_text(corpus, number)[1] or "").split(maxsplit=FIRST_WORDS)
    if words:
        return " ".join(words[:FIRST_WORDS]) + (" …" if len(words) > FIRST_WORDS else "")
    return str(documents["id"][number])


def find_text(corpus: Corpus, number: int, language: str | None = None) -> tuple[str, str | None]:
    """Return the language and text of a document, in the requested language if present, otherwise the first."""
    text = None if corpus.texts is None else corpus.texts[number]
    if not isinstance(text, dict):
        return corpus.languages[0], text
    there = {code: part for code, part in text.items() if part}
    code = language if language is not None and language in there else next(iter(there), corpus.languages[0])
    return code, there.get(code)


def passage_for(
    model: Any, corpus: Corpus, number: int, topic: int, n_words: int = PASSAGE, language: str | None = None
) -> Snippet | None:
    """Return the most characteristic passage of a document for a topic, with its characteristic words marked.

    The passage maximizes the sum of log P(word | topic) / P(word). Return None if the document has no text.
    """
    themes, (code, text) = TopicView.of(model), find_text(corpus, number, language)
    if not text or not text.strip():
        return None
    text = text.strip()
    tokens = tokens_of(text, analyzer_of(themes.analyzer, code))
    if not tokens:
        return Snippet(" ".join(text.split()[:n_words]))
    numbers = themes.numbers_of(tokens.words, code)
    telling = np.where(numbers >= 0, themes.telling(topic)[numbers], 0.0)
    first, n = best_window(telling, n_words)
    marks = [Mark(tokens[i].start, tokens[i].end, "match") for i in range(first, first + n) if telling[i] >= TELLING]
    return tidy(text, *passage(text, tokens, first, n), marks)
