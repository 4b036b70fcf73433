"""What a matrix for LSA has in place of counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.rows import Rows
from semascope.corpus.shards import Shard

if TYPE_CHECKING:
    from numpy.typing import NDArray


class WordFacts(NamedTuple):
    """What is known of each word in the whole corpus.

    n_documents  documents of the corpus
    counts       Σ_d n_dw
    documents    documents that have the word
    logs         Σ_d n_dw log n_dw, where the weighting asks for it
    """

    n_documents: int
    counts: NDArray[np.float64]
    documents: NDArray[np.float64]
    logs: NDArray[np.float64]


class Weighting(NamedTuple):
    """How entries are made of counts.

    of_count  what becomes of counts, given the sum of all in the corpus
    square    what Σ a² of a document is at most, given its counts
    of_word   the factor of each word, if it has one
    unit      whether rows are then divided by their lengths
    """

    of_count: Callable[[NDArray[Any], float], NDArray[Any]]
    square: Callable[[NDArray[np.float64], float], float]
    of_word: Callable[[WordFacts], NDArray[np.float64]] | None = None
    unit: bool = False

    def values(self, rows: Rows, n_tokens: float, of_word: NDArray[np.float64], dtype: Any) -> NDArray[Any]:
        """Entries of some documents, in the order of their counts."""
        values = self.of_count(rows.counts.astype(dtype), n_tokens)
        if self.of_word is not None:
            values *= of_word.astype(dtype)[rows.words]
        if self.unit and len(values):
            lengths = np.diff(rows.ends)
            squares = np.add.reduceat(np.append(values.astype(np.float64) ** 2, 0), rows.ends[:-1])
            sizes = np.sqrt(np.where((lengths > 0) & (squares > 0), squares, 1))
            values /= np.repeat(sizes, lengths).astype(dtype)
        return values

    def facts_of(self, shard: Shard) -> NDArray[np.float64]:
        """A shard's part of what is known of words, a row for each of its distinct ones: Σ n, documents, Σ n log n."""
        of_entry = shard.rows.counts.astype(np.float64)[shard.by_word.places]
        if len(of_entry) == 0:
            return np.empty((0, 3))
        firsts = shard.by_word.ends[:-1]
        sums, met = np.add.reduceat(of_entry, firsts), np.add.reduceat((of_entry > 0).astype(np.float64), firsts)
        logs = np.zeros_like(sums)
        if self.of_word is _evenness:
            logs = np.add.reduceat(of_entry * np.log(np.where(of_entry > 0, of_entry, 1)), firsts)
        return np.stack([sums, met, logs], axis=1)


def _rarity(facts: WordFacts) -> NDArray[np.float64]:
    """log((1 + D) / (1 + df)): nothing for a word that all documents have."""
    return np.log((1 + facts.n_documents) / (1 + facts.documents))


def _inverse_document_frequency(facts: WordFacts) -> NDArray[np.float64]:
    """log((1 + D) / (1 + df)) + 1, as scikit-learn has it."""
    return _rarity(facts) + 1


def _evenness(facts: WordFacts) -> NDArray[np.float64]:
    """1 + Σ_d p log p / log D, with p = n_dw / n_w: near 0 for a word that is everywhere alike, 1 for one of one document."""
    known = np.where(facts.counts > 0, facts.counts, 1)
    entropy = facts.logs / known - np.log(known)
    return np.where(facts.counts > 0, 1 + entropy / np.log(max(facts.n_documents, 2)), 0)


def _sum_of_squares(values: NDArray[np.float64]) -> float:
    return float(np.sum(values * values))


WEIGHTINGS = {
    "hellinger": Weighting(lambda n, total: np.sqrt(n / n.dtype.type(total)), lambda n, total: float(np.sum(n)) / total),
    "counts": Weighting(lambda n, total: n, lambda n, total: _sum_of_squares(n)),
    "tfidf": Weighting(lambda n, total: n, lambda n, total: float(len(n)), _inverse_document_frequency, unit=True),
    "logtfidf": Weighting(lambda n, total: np.log1p(n), lambda n, total: float(len(n)), _rarity, unit=True),
    "logentropy": Weighting(lambda n, total: np.log1p(n), lambda n, total: _sum_of_squares(np.log1p(n)), _evenness),
}
