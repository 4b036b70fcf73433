"""Words and meaning together: one score of several, with no setting to be found for each collection.

Scores of different kinds are made comparable by where they lie between their mean over all documents and their largest: 0 is
what any document has, 1 the best. BM25 and the cosine in the space of the index are added up so. Where the index has topics,
the best of that are given the likelihood of the query in addition, which is scaled in the same way among them.

The weights are one setting for all collections: see benchmarks/hybrid.py for how they were chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semascope.corpus.csr import CSR
from semascope.corpus.shards import as_read_only
from semascope.kernels.postings import fuse, mean_and_largest
from semascope.retrieval.lexical import BM25
from semascope.retrieval.lsa_space import InSpace
from semascope.retrieval.ranking import best_of
from semascope.retrieval.topic_scorers import Likelihood

if TYPE_CHECKING:
    from numpy.typing import NDArray

CANDIDATES = 200
"""Documents that are given the likelihood."""


class Weights(NamedTuple):
    """What the cosine and the likelihood weigh, where BM25 weighs 1."""

    space: float
    topics: float


WITH_TOPICS, WITHOUT = Weights(1.0, 0.7), Weights(0.7, 0.0)
"""Without topics, which go by words too, BM25 must weigh more."""


class Hybrid:
    """Words, place in the space, and topics."""

    together = 64
    least = -np.inf

    def __init__(
        self, words: BM25, space: InSpace, topics: Likelihood | None, sizes: Sequence[int], weights: Weights | None = None
    ) -> None:
        self._words, self._space, self._topics = words, space, topics
        self._weights = weights or (WITHOUT if topics is None else WITH_TOPICS)
        self._borders = np.cumsum([0, *sizes], dtype=np.int32)

    def fill(self, queries: CSR, scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> None:
        places = self._space.place(queries)
        self._space.fill_near(places, scores)
        lexical = np.empty((1, scores.shape[1]), np.float32)
        asked = None if self._topics is None else self._topics.tables.to_model_vocabulary(queries)
        for query, row in enumerate(scores):
            one = _only(queries, query)
            self._words.fill(one, lexical, allowed)  # one at a time: it is still at hand when it is added
            if not places[query].any() and not lexical[0, allowed].any():
                self._by_topics_alone(one, row[None], allowed)
                continue
            add_scaled(row, self._weights.space, lexical[0], 1.0, allowed)
            if not places[query].any():
                row[lexical[0] == 0] = -np.inf  # nothing is known of the query but its words
            if asked is not None and self._topics is not None and asked.ends[query] < asked.ends[query + 1]:
                self._add_likelihoods(self._topics, asked, query, row, allowed)

    def _by_topics_alone(self, query: CSR, scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> None:
        """Score a query of which only the topic model knows words: it may be in a language that no document is in."""
        if self._topics is None:
            scores[:] = -np.inf
        else:
            self._topics.fill(query, scores, allowed)

    def _add_likelihoods(
        self, topics: Likelihood, asked: CSR, query: int, scores: NDArray[np.float32], allowed: NDArray[np.bool_]
    ) -> None:
        """Add to the best scores how likely their documents make the query, above the least likely of them."""
        chosen = np.sort(best_of(scores, allowed, min(CANDIDATES, len(scores)), -np.inf).numbers)
        likelihoods, places = np.empty(len(chosen), np.float32), np.searchsorted(chosen, self._borders)
        for segment, (first, last) in enumerate(pairwise(places)):
            if first < last:
                mine = chosen[first:last] - self._borders[segment]
                topics.score_few(asked, query, segment, mine, likelihoods[first:last])
        if len(likelihoods) and (largest := likelihoods.max()) > (mean := likelihoods.mean()):
            scores[chosen] += self._weights.topics / (largest - mean) * (likelihoods - likelihoods.min())


def add_scaled(
    one: NDArray[np.float32], of_one: float, other: NDArray[np.float32], of_other: float, allowed: NDArray[np.bool_]
) -> None:
    """Make of one score the sum of two, each scaled to 0 for its mean and to its weight for the largest.

    A score that is the same for all documents tells nothing, and is left out.
    """
    factors, less, all_are = [], 0.0, allowed.all()
    for scores, weight in ((one, of_one), (other, of_other)):
        mean, largest = mean_and_largest(scores if all_are else scores[allowed])
        factors.append(weight / (largest - mean) if largest > mean else 0.0)
        less += factors[-1] * mean
    fuse(one, np.float32(factors[0]), other, np.float32(factors[1]), np.float32(less))


def _only(queries: CSR, number: int) -> CSR:
    first, last = queries.ends[number : number + 2]
    ends = as_read_only(queries.ends[number : number + 2] - first, np.int64)
    return CSR(ends, queries.words[first:last], queries.counts[first:last])
