"""From scores to the best documents of each query, on all cores."""

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
    """A way to score documents."""

    @property
    def together(self) -> int:
        """Queries that are best scored at once."""

    @property
    def least(self) -> float:
        """Documents with a score of at most this are no answer at all."""

    def fill(self, queries: CSR, scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> None:
        """Write the score of every document of the index, segment after segment, for each of some queries.

        Documents that are not allowed will not be asked for; what stands for them does not matter.
        """


class Ranking(NamedTuple):
    """The best documents of a query, best first.

    numbers  int32[m]     counted over all segments
    scores   float32[m]
    """

    numbers: NDArray[np.int32]
    scores: NDArray[np.float32]


ROOM = 1 << 24
"""Most scores that a thread holds at once."""


def rank_documents(scorer: Scorer, queries: Queries, n_documents: int, allowed: NDArray[np.bool_], k: int) -> list[Ranking]:
    """Return the k best documents of each query among those that are allowed. A query without known words has none."""
    k = min(k, n_documents)
    together = max(1, min(scorer.together, ROOM // max(n_documents, 1)))
    firsts, kept = range(0, len(queries), together), local()

    def work(first: int) -> list[Ranking]:
        part = queries.part(first, min(first + together, len(queries)))
        if not hasattr(kept, "scores"):  # fresh memory is dear
            kept.scores = np.empty((min(together, len(queries)), n_documents), np.float32)
        scores = kept.scores[: len(part.ends) - 1]
        scorer.fill(part, scores, allowed)
        known = np.diff(part.ends) > 0
        return [best_of(row, allowed, k if has else 0, scorer.least) for row, has in zip(scores, known, strict=True)]

    if len(firsts) <= 1:
        return [found for first in firsts for found in work(first)]
    with ThreadPoolExecutor(usable_cores()) as pool:
        return [found for part in pool.map(work, firsts) for found in part]


STEP = 61
"""One score in so many is looked at to know what is good enough; a prime, so that no order of documents is in step with it."""


def best_of(scores: NDArray[np.float32], allowed: NDArray[np.bool_], k: int, least: float) -> Ranking:
    """Return the k best scores above the least."""
    numbers, best = np.empty(k, np.int32), np.empty(k, np.float32)
    if STEP <= k < len(scores) // 10:
        some = np.where(allowed[::STEP], scores[::STEP], -np.inf)
        good_enough = np.partition(some, -(3 * k // STEP))[-(3 * k // STEP)]  # about 3 k are better than that
        if best_scores(scores, allowed, float(max(good_enough, least)), numbers, best) == k:
            return Ranking(numbers, best)
    found = best_scores(scores, allowed, least, numbers, best) if k else 0
    return Ranking(numbers[:found], best[:found])
