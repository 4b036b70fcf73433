"""What there is to see of a model and its documents: functions that the report and the server share.

A model may be given as it is, or as `Themes.of(model)`; a corpus, as it is or as `DocumentShares.of(model, corpus)`. Whoever
asks more than once should keep these, for they remember what takes a while.
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
"""Words of a text that stand for a title."""
PASSAGE = 30
"""Words of a passage."""
TELLING = np.log(2)
"""Words are marked that a topic makes twice as probable as they are everywhere, or more."""
DOUBT = 30.0
"""A document is taken for as typical as if it had this many more words, shared out as those of the whole corpus are."""


class Typical(NamedTuple):
    """A document that shows a topic well: its number in the corpus, and how much of it is due to the topic."""

    document: int
    share: float


class Moment(NamedTuple):
    """The mean of a topic's share in the documents of a period, each counting alike, and how many these are.

    A topic's share in a model, `topic_shares_` or `label_shares_`, is of all words instead: long documents count more there.
    """

    period: str
    share: float
    documents: int


class Related(NamedTuple):
    """A topic with words like another's; 1 is the likeness of equal ones."""

    topic: int
    similarity: float


def find_corpus(model: Any, path: Path | None = None) -> tuple[Corpus | None, str | None]:
    """Open the documents of a model, or those at a path; or say in a sentence why there are none."""
    if path is not None:
        return Corpus.open(path), None
    if model.learns_from_streams:
        return None, "the model learned from a stream, so its documents are not at hand; name a corpus with --corpus."
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
    """Return the topics whose words are most like another's."""
    likeness = TopicView.of(model).likeness(np.array([topic]))[0]
    likeness[topic] = -1.0
    order = np.argsort(-likeness, kind="stable")[: max(min(n, len(likeness) - 1), 0)]
    return [Related(int(other), float(likeness[other])) for other in order if likeness[other] > 0]


def typical_documents(model: Any, corpus: Corpus | DocumentShares, topic: int, n: int = 10) -> list[Typical]:
    """Return the documents that show a topic best: with much of it, and long enough that this is no chance.

    Of those that have a label, many have no other: the words of documents decide, by how much more probable the label makes
    them than they are everywhere.
    """
    shares = DocumentShares.of(model, corpus)
    of_topic = shares.column(topic)
    worth = of_topic * shares.lengths + DOUBT * shares.themes.shares[topic]
    if shares.themes.kind == LABELS:
        worth = of_topic * shares.telling(topic)
    worth = np.where(of_topic > 0, worth / (shares.lengths + DOUBT), -np.inf)
    order = np.argsort(-worth, kind="stable")[:n]
    return [Typical(int(shares.numbers[i]), float(of_topic[i])) for i in order if of_topic[i] > 0]


def over_time(model: Any, corpus: Corpus | DocumentShares, topic: int) -> list[Moment]:
    """Return the mean share of a topic in the documents of each year, month or day; nothing where they have no dates.

    Periods without documents are left out.
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
    """What to call a document: its title, else the first words of its text, else its id."""
    documents = corpus.documents
    title = documents["title"][number] if "title" in documents.columns else None
    if title and str(title).strip():
        return re.sub(r"\s+", " ", str(title)).strip()
    words = (text_in(corpus, number)[1] or "").split(maxsplit=FIRST_WORDS)
    if words:
        return " ".join(words[:FIRST_WORDS]) + (" …" if len(words) > FIRST_WORDS else "")
    return str(documents["id"][number])


def text_in(corpus: Corpus, number: int, language: str | None = None) -> tuple[str, str | None]:
    """The text of a document and its language: the one asked for, or the first that it has."""
    text = None if corpus.texts is None else corpus.texts[number]
    if not isinstance(text, dict):
        return corpus.languages[0], text
    there = {code: part for code, part in text.items() if part}
    code = language if language is not None and language in there else next(iter(there), corpus.languages[0])
    return code, there.get(code)


def passage_for(
    model: Any, corpus: Corpus, number: int, topic: int, n_words: int = PASSAGE, language: str | None = None
) -> Snippet | None:
    """Return the passage of a document that shows a topic best, with the words marked that tell of it; None without a text.

    It is the one with the highest sum of log P(word | topic) / P(word).
    """
    themes, (code, text) = TopicView.of(model), text_in(corpus, number, language)
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
