"""Which topic or label each word of a text is due to, in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semascope.corpus.analyze import Analyzer
from semascope.corpus.analyzers import Analyzers, analyzer_of
from semascope.corpus.passages import Token, tokens_of
from semascope.corpus.shards import frozen
from semascope.explorer.state import Explored
from semascope.kernels.label_folding import look_up

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


def due_words(explored: Explored, found: Located, text: str, mixture: Sequence[tuple[int, float]]) -> list[Due]:
    """Tell which of the topics in a mixture each word is most probably due to: by share · P(word | topic)."""
    if not len(found.numbers) or not mixture:
        return []
    topics = np.array([topic for topic, _ in mixture], np.int32)
    distinct, places = np.unique(found.numbers, return_inverse=True)
    joint = _likely(explored, distinct, topics) * np.array([share for _, share in mixture])
    sums, best = joint.sum(axis=1), joint.argmax(axis=1)
    weights = joint.max(axis=1) / np.where(sums > 0, sums, 1.0)
    return [
        Due(token.start, token.end, text[token.start : token.end], int(topics[best[place]]), float(weights[place]))
        for token, place in zip(found.tokens, places.tolist(), strict=True)
        if weights[place] > 0
    ]


def _likely(explored: Explored, words: NDArray[np.int32], topics: NDArray[np.int32]) -> NDArray[np.float64]:
    """P(word | topic), a row for each word."""
    if not explored.is_of_labels:
        return np.asarray(explored.model.components_.T[np.ix_(words, topics)], np.float64)
    order = np.argsort(topics)
    table = np.empty(len(words) * len(topics))
    known = explored.model.label_words_.for_kernels()
    look_up(frozen(words, np.int32), frozen(topics[order], np.int32), *known, table)
    likely = np.empty((len(words), len(topics)))
    likely[:, order] = table.reshape(len(words), len(topics))
    return likely
