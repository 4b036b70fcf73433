"""Which topic or label each word of a text is due to, in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.analyze import Analyzer
from semascope.corpus.analyzers import Analyzers, analyzer_of
from semascope.corpus.passages import Token, tokens_of
from semascope.explorer.state import Explored
from semascope.inference.attribution import labels_of_words, topics_of_words

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Due(NamedTuple):
    """A word of a text, from one character up to another, and the topic that it is due to."""

    start: int
    end: int
    word: str
    topic: int
    weight: float


class Located(NamedTuple):
    """The words of a text that a model knows, and their numbers."""

    tokens: list[Token]
    numbers: NDArray[np.int32]


def located(explored: Explored, text: str, language: str, analyzers: Analyzers | None) -> Located:
    """Find the words of a text that the model knows; runs of several words are not looked for."""
    themes = explored.themes
    if themes.languages and language not in themes.languages:
        return Located([], np.zeros(0, np.int32))
    tokens = tokens_of(text, analyzer_of(analyzers or Analyzer(), language))
    numbers = themes.numbers_of(tokens.words, language)
    known = [token for token, number in zip(tokens, numbers.tolist(), strict=True) if number >= 0]
    return Located(known, numbers[numbers >= 0].astype(np.int32))


def due_words(explored: Explored, found: Located, text: str, shares: NDArray[Any]) -> list[Due]:
    """Compute the topic that each word most probably comes from, given the shares of all topics in its document."""
    model, numbers = explored.model, found.numbers
    if explored.is_of_labels:
        labels = np.flatnonzero(shares).astype(np.int32)
        topics, weights = labels_of_words(numbers, labels, shares[labels], model.label_words_)
    else:
        topics, weights = topics_of_words(numbers, model.components_.T, shares)
    return [
        Due(token.start, token.end, text[token.start : token.end], topic, weight)
        for token, topic, weight in zip(found.tokens, topics.tolist(), weights.tolist(), strict=True)
        if topic >= 0
    ]
