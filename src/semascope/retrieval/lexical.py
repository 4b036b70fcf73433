"""Scores by words in common: BM25, and the cosine of weighted counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.rows import Rows
from semascope.corpus.shards import frozen
from semascope.kernels.postings import add_postings, bm25_weights
from semascope.retrieval.segments import Segment
from semascope.retrieval.words import Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

SATURATION, NORMALISATION = 1.5, 0.75
"""What BM25 calls k1 and b."""


class ByPostings(ABC):
    """Sums of weights of words that a query and a document have in common."""

    together = 8
    least = 0.0

    def __init__(self, segments: Sequence[Segment], words: Words) -> None:
        self._segments = segments
        self._words = words
        self._weights = [self._of_segment(segment, local) for segment, local in zip(segments, words.local, strict=True)]

    def fill(self, queries: Rows, scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> None:
        scores[:] = 0
        factors, first = frozen(self._factors(queries), np.float32), 0
        for segment, weights, local in zip(self._segments, self._weights, self._words.local, strict=True):
            numbers = frozen(local[queries.words], np.int32)
            add_postings(*segment.postings[:2], weights, queries.ends, numbers, factors, first, scores)
            first += segment.corpus.n_documents

    @abstractmethod
    def _of_segment(self, segment: Segment, local: NDArray[np.int32]) -> NDArray[np.float32]:
        """The weight of each posting."""

    @abstractmethod
    def _factors(self, queries: Rows) -> NDArray[Any]:
        """What the postings of each word of a query are multiplied by."""


class BM25(ByPostings):
    """BM25 as Lucene has it: Σ_w n_qw log(1 + (D − d_w + ½)/(d_w + ½)) n_dw / (n_dw + k1 (1 − b + b |d| / mean |d|))."""

    def _of_segment(self, segment: Segment, local: NDArray[np.int32]) -> NDArray[np.float32]:
        met = self._words.documents
        rarity = np.log1p((self._words.n_documents - met + 0.5) / (met + 0.5))
        weights = np.empty(len(segment.postings.documents), np.float32)
        mean_length = max(self._words.mean_length, 1e-9)
        of_word = frozen(_in_segment(rarity, segment, local), np.float32)
        bm25_weights(*segment.postings, segment.lengths, of_word, mean_length, SATURATION, NORMALISATION, weights)
        return weights

    def _factors(self, queries: Rows) -> NDArray[Any]:
        return queries.counts


class Cosine(ByPostings):
    """The cosine of counts that are weighted by log(D / d_w) + 1: the vector space model."""

    def __init__(self, segments: Sequence[Segment], words: Words) -> None:
        rarity = np.log(max(words.n_documents, 1) / np.maximum(words.documents, 1)) + 1
        self._rarity = np.where(words.documents > 0, rarity, 0.0)  # words that no document has are as none
        super().__init__(segments, words)

    def _of_segment(self, segment: Segment, local: NDArray[np.int32]) -> NDArray[np.float32]:
        of_word = np.repeat(_in_segment(self._rarity, segment, local), np.diff(segment.postings.ends))
        weights = of_word * segment.postings.counts
        documents = segment.postings.documents
        sizes = np.sqrt(np.bincount(documents, weights**2, segment.corpus.n_documents))
        return (weights / np.where(sizes > 0, sizes, 1)[documents]).astype(np.float32)

    def _factors(self, queries: Rows) -> NDArray[Any]:
        factors, lengths = self._rarity[queries.words] * queries.counts, np.diff(queries.ends)
        sizes = np.sqrt(np.bincount(np.repeat(np.arange(len(lengths)), lengths), factors**2, len(lengths)))
        return np.asarray(factors / np.repeat(np.where(sizes > 0, sizes, 1), lengths))


def _in_segment(of_word: NDArray[np.float64], segment: Segment, local: NDArray[np.int32]) -> NDArray[Any]:
    """What is known of all words, in the order of a segment."""
    mine = np.zeros(segment.corpus.n_words)
    has = local >= 0
    mine[local[has]] = of_word[has]
    return mine
