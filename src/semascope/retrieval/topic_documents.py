"""Documents under a topic model, as used by topic scorers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.csr import CSR
from semascope.corpus.shards import ByWord, as_read_only, read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST = 1e-100
"""Smallest probability that counts as positive; dividing by less, or its logarithm, would not be finite."""


class TopicDocuments(NamedTuple):
    """Documents of a segment under a topic model.

    rows      counts by document, over the vocabulary of the model
    by_word   the same entries by word
    theta     float64[n, k], P(topic | document)
    """

    rows: CSR
    by_word: ByWord
    theta: NDArray[np.float64]

    def ready(self) -> TopicDocuments:
        """Return the documents with arrays of the types that kernels take."""
        words, ends, documents, places = self.by_word
        by_word = ByWord(
            as_read_only(words, np.int32), as_read_only(ends, np.int64),
            as_read_only(documents, np.int32), as_read_only(places, np.int32),
        )  # fmt: skip
        return TopicDocuments(read_only(self.rows), by_word, as_read_only(self.theta, np.float64))


def lengths_of(rows: CSR) -> NDArray[np.float64]:
    """Return the length of each document."""
    sums = np.concatenate([[0.0], np.cumsum(rows.counts, dtype=np.float64)])
    return np.diff(sums[rows.ends])


def shares_of(rows: CSR) -> NDArray[np.float64]:
    """Return p̂(word | document) of each entry."""
    return np.repeat(inverse(lengths_of(rows)), np.diff(rows.ends)) * rows.counts


def numbers_of(words: NDArray[np.int32], by_word: ByWord) -> NDArray[np.int64]:
    """Return the position of each word among the distinct words of `by_word`, or -1."""
    numbers = np.searchsorted(by_word.words, words)
    found = np.append(by_word.words, -1)[numbers] == words
    return np.where(found, numbers, -1)


def inverse(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return 1 / x, or zero where x is practically zero."""
    inverted = np.zeros(values.shape)
    np.divide(1.0, values, out=inverted, where=values > SMALLEST)
    return inverted
