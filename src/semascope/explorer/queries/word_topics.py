"""The topic or label that each word of a text most probably comes from, in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.text.analyzer import Analyzer, Analyzers, analyzer_of
from semascope.corpus.text.token_spans import Token, tokens_of
from semascope.explorer.service.snapshot import Snapshot
from semascope.inference.attribution import labels_of_words, topics_of_words

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Assigned(NamedTuple):
    """Word of a text with its character span, and the topic it is assigned to."""

    start: int
    end: int
    word: str
    topic: int
    weight: float


class Located(NamedTuple):
    """Words of a text that are in the vocabulary, and their numbers."""

    tokens: list[Token]
    numbers: NDArray[np.int32]


def locate_words(explored: Snapshot, text: str, language: str, analyzers: Analyzers | None) -> Located:
    """Find the words of a text that are in the vocabulary; n-grams are ignored."""
    themes = explored.themes
    if themes.languages and language not in themes.languages:
        return Located([], np.zeros(0, np.int32))
    tokens = tokens_of(text, analyzer_of(analyzers or Analyzer(), language))
    numbers = themes.numbers_of(tokens.words, language)
    known = [token for token, number in zip(tokens, numbers.tolist(), strict=True) if number >= 0]
    return Located(known, numbers[numbers >= 0].astype(np.int32))


def assign_topics(explored: Snapshot, found: Located, text: str, shares: NDArray[Any]) -> list[Assigned]:
    """Assign each word to its most probable topic, given the shares of the topics in the document."""
    model, numbers = explored.model, found.numbers
    if explored.is_of_labels:
        labels = np.flatnonzero(shares).astype(np.int32)
        topics, weights = labels_of_words(numbers, labels, shares[labels], model.label_words_)
    else:
        topics, weights = topics_of_words(numbers, model.components_.T, shares)
    return [
        Assigned(token.start, token.end, text[token.start : token.end], topic, weight)
        for token, topic, weight in zip(found.tokens, topics.tolist(), weights.tolist(), strict=True)
        if topic >= 0
    ]
