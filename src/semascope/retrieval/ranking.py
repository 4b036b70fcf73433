"""Ranking: the best documents of each query by score, on all cores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from semascope.corpus.csr import CSR
from semascope.kernels.postings import best_scores
from semascope.resources import usable_cores
from semascope.retrieval.queries import Queries

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Scorer(Protocol):
    """Similarity that scores documents against queries."""

    @property
    def batch_size(self) -> int:
        """Number of queries to score at once."""

    @property
    def min_score(self) -> float:
        """Documents must score above this to be ranked."""

    def fill(self, queries: CSR, scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> None:
        """Write the score of every document of the index, segment after segment, for each query.

        Scores of documents that are not allowed are ignored.
        """


class Ranking(NamedTuple):
    """Best documents of a query, best first.

    numbers  int32[m]     document numbers over all segments
    scores   float32[m]
    """

    numbers: NDArray[np.int32]
    scores: NDArray[np.float32]


MAX_SCORES = 1 << 24
"""Maximum number of scores in memory per thread."""


def rank_documents(scorer: Scorer, queries: Queries, n_documents: int, allowed: NDArray[np.bool_], k: int) -> list[Ranking]:
    """Return the k best allowed documents of each query; none for a query without known words."""
    k = min(k, n_documents)
    batch_size = max(1, min(scorer.batch_size, MAX_SCORES // max(n_documents, 1)))
    firsts, buffers = range(0, len(queries), batch_size), local()

    def work(first: int) -> list[Ranking]:
        part = queries.part(first, min(first + batch_size, len(queries)))
        if not hasattr(buffers, "scores"):  # allocating fresh memory is slow
            buffers.scores = np.empty((min(batch_size, len(queries)), n_documents), np.float32)
        scores = buffers.scores[: len(part.ends) - 1]
        scorer.fill(part, scores, allowed)
        known = np.diff(part.ends) > 0
        return [best_of(row, allowed, k if has else 0, scorer.min_score) for row, has in zip(scores, known, strict=True)]

    if len(firsts) <= 1:
        return [found for first in firsts for found in work(first)]
    with ThreadPoolExecutor(usable_cores()) as pool:
        return [found for part in pool.map(work, firsts) for found in part]


STRIDE = 61
"""Stride of the sample of scores that estimates the threshold; a prime, so that no periodic order is in step with it."""


def best_of(scores: NDArray[np.float32], allowed: NDArray[np.bool_], k: int, min_score: float) -> Ranking:
    """Return the k best documents with scores above `min_score`."""
    numbers, best = np.empty(k, np.int32), np.empty(k, np.float32)
    if STRIDE <= k < len(scores) // 10:
        sample = np.where(allowed[::STRIDE], scores[::STRIDE], -np.inf)
        threshold = np.partition(sample, -(3 * k // STRIDE))[-(3 * k // STRIDE)]  # about 3 k are better than that
        if best_scores(scores, allowed, float(max(threshold, min_score)), numbers, best) == k:
            return Ranking(numbers, best)
    found = best_scores(scores, allowed, min_score, numbers, best) if k else 0
    return Ranking(numbers[:found], best[:found])
