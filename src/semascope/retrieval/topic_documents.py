"""Documents under a topic model: what scores by topics are made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.csr import CSR
from semascope.corpus.shards import ByWord, as_read_only, read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST = 1e-100
"""Probabilities below this are none: what is divided by them, or their logarithm, would be of no meaning, and not finite."""


class TopicDocuments(NamedTuple):
    """Documents of a segment under a topic model.

    rows      their counts, by document, over the words of the model
    by_word   the same entries, by word
    theta     float64[n, k], P(topic | document)
    """

    rows: CSR
    by_word: ByWord
    theta: NDArray[np.float64]

    def ready(self) -> TopicDocuments:
        """Return them with arrays as the kernels take them."""
        words, ends, documents, places = self.by_word
        by_word = ByWord(
            as_read_only(words, np.int32), as_read_only(ends, np.int64), as_read_only(documents, np.int32), as_read_only(places, np.int32)
        )  # fmt: skip
        return TopicDocuments(read_only(self.rows), by_word, as_read_only(self.theta, np.float64))


def lengths_of(rows: CSR) -> NDArray[np.float64]:
    """Words of each document."""
    sums = np.concatenate([[0.0], np.cumsum(rows.counts, dtype=np.float64)])
    return np.diff(sums[rows.ends])


def shares_of(rows: CSR) -> NDArray[np.float64]:
    """The share of each entry in its document: p̂(word | document)."""
    return np.repeat(inverse(lengths_of(rows)), np.diff(rows.ends)) * rows.counts


def numbers_of(words: NDArray[np.int32], by_word: ByWord) -> NDArray[np.int64]:
    """Which of the distinct words of some documents each word is; -1 for none of them."""
    numbers = np.searchsorted(by_word.words, words)
    found = np.append(by_word.words, -1)[numbers] == words
    return np.where(found, numbers, -1)


def inverse(values: NDArray[Any]) -> NDArray[np.float64]:
    """1 / x, and zero for what is as good as zero."""
    inverted = np.zeros(values.shape)
    np.divide(1.0, values, out=inverted, where=values > SMALLEST)
    return inverted
