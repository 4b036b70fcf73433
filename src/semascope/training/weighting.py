"""Term weighting for LSA."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.csr import CSR
from semascope.corpus.shards import Shard

if TYPE_CHECKING:
    from numpy.typing import NDArray


class WordFacts(NamedTuple):
    """Statistics of each word in the whole corpus.

    n_documents  documents of the corpus
    counts       Σ_d n_dw
    documents    documents that contain the word
    logs         Σ_d n_dw log n_dw
    """

    n_documents: int
    counts: NDArray[np.float64]
    documents: NDArray[np.float64]
    logs: NDArray[np.float64]


class Weighting(NamedTuple):
    """Conversion of counts to matrix entries.

    of_count  converts counts to entries, in place, given the sum of all in the corpus
    square    upper bound of Σ a² of a document, given its counts
    of_word   factor of each word, if it has one
    unit      whether rows are then normalized to unit length
    """

    of_count: Callable[[NDArray[Any], float], None]
    square: Callable[[NDArray[np.float64], float], float]
    of_word: Callable[[WordFacts], NDArray[np.float64]] | None = None
    unit: bool = False

    def values(self, rows: CSR, n_tokens: float, of_word: NDArray[np.float64], dtype: Any) -> NDArray[Any]:
        """Compute the entries of some documents, in the order of their counts."""
        values = self._unnormalized(rows.counts, rows.words, n_tokens, of_word.astype(dtype))
        if self.unit and len(values):
            values /= np.repeat(_sizes(values, rows.ends), np.diff(rows.ends))
        return values

    def both_orders(
        self, shard: Shard, n_tokens: float, of_word: NDArray[np.float64], dtype: Any
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Compute the entries of a shard by document and by word: computing them twice is faster than sorting."""
        rows, (words, ends, documents, _) = shard.rows, shard.by_word
        word_of_entry = np.repeat(words, np.diff(ends)) if self.of_word else words
        of_word = of_word.astype(dtype)
        by_document = self._unnormalized(rows.counts, rows.words, n_tokens, of_word)
        by_word = self._unnormalized(shard.counts_by_word, word_of_entry, n_tokens, of_word)
        if self.unit and len(by_document):
            sizes = _sizes(by_document, rows.ends)
            by_document /= np.repeat(sizes, np.diff(rows.ends))
            by_word /= sizes[documents]
        return by_document, by_word

    def _unnormalized(
        self, counts: NDArray[np.float32], words: NDArray[np.int32], n_tokens: float, of_word: NDArray[Any]
    ) -> NDArray[Any]:
        """Compute the entries before rows are normalized, in the precision of the words' factors."""
        values = counts.astype(of_word.dtype)
        self.of_count(values, n_tokens)
        if self.of_word is not None:
            values *= of_word[words]
        return values


def _rarity(facts: WordFacts) -> NDArray[np.float64]:
    """Compute log((1 + D) / (1 + df)): zero for a word in all documents."""
    return np.log((1 + facts.n_documents) / (1 + facts.documents))


def _inverse_document_frequency(facts: WordFacts) -> NDArray[np.float64]:
    """Compute log((1 + D) / (1 + df)) + 1, as in scikit-learn."""
    return _rarity(facts) + 1


def _evenness(facts: WordFacts) -> NDArray[np.float64]:
    """Compute 1 + Σ_d p log p / log D, with p = n_dw / n_w: near 0 for an evenly spread word, 1 for one in one document."""
    known = np.where(facts.counts > 0, facts.counts, 1)
    entropy = facts.logs / known - np.log(known)
    return np.where(facts.counts > 0, 1 + entropy / np.log(max(facts.n_documents, 2)), 0)


def _sizes(values: NDArray[Any], ends: NDArray[np.int64]) -> NDArray[Any]:
    """Compute the lengths of rows; one for an empty row."""
    squares = np.add.reduceat(np.append(values.astype(np.float64) ** 2, 0), ends[:-1])
    sizes = np.sqrt(np.where((np.diff(ends) > 0) & (squares > 0), squares, 1))
    return sizes.astype(values.dtype)


def _keep_counts(counts: NDArray[Any], total: float) -> None:
    """Keep the counts."""


def _root_frequency(counts: NDArray[Any], total: float) -> None:
    counts /= counts.dtype.type(total)
    np.sqrt(counts, out=counts)


def _log(counts: NDArray[Any], total: float) -> None:
    np.log1p(counts, out=counts)


def _sum_of_squares(values: NDArray[np.float64]) -> float:
    return float(np.sum(values * values))


WEIGHTINGS = {
    "hellinger": Weighting(_root_frequency, lambda n, total: float(np.sum(n)) / total),
    "counts": Weighting(_keep_counts, lambda n, total: _sum_of_squares(n)),
    "tfidf": Weighting(_keep_counts, lambda n, total: float(len(n)), _inverse_document_frequency, unit=True),
    "logtfidf": Weighting(_log, lambda n, total: float(len(n)), _rarity, unit=True),
    "logentropy": Weighting(_log, lambda n, total: _sum_of_squares(np.log1p(n)), _evenness),
}
