"""Hybrid similarity: fusion of lexical, LSA and topic scores without tuning per collection.

Scores become comparable by scaling their mean over all documents to 0 and their maximum to 1. BM25 and the cosine in LSA
space are added in this way. If the index has topics, the query likelihood is added for the best candidates, scaled likewise
among them.

The same weights serve all collections: see benchmarks/hybrid.py for how they were chosen.
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
from semascope.retrieval.lsa_space import LSACosine
from semascope.retrieval.ranking import best_of
from semascope.retrieval.topic_scorers import Likelihood

if TYPE_CHECKING:
    from numpy.typing import NDArray

CANDIDATES = 200
"""Number of candidates rescored by likelihood."""


class Weights(NamedTuple):
    """Weights of the cosine and the likelihood relative to BM25."""

    space: float
    topics: float


WITH_TOPICS, WITHOUT_TOPICS = Weights(1.0, 0.7), Weights(0.7, 0.0)
"""Topic scores also count words, so without them BM25 needs more weight."""


class Hybrid:
    """Weighted sum of BM25, cosine in LSA space and query likelihood."""

    batch_size = 64
    min_score = -np.inf

    def __init__(
        self, words: BM25, space: LSACosine, topics: Likelihood | None, sizes: Sequence[int], weights: Weights | None = None
    ) -> None:
        self._words, self._space, self._topics = words, space, topics
        self._weights = weights or (WITHOUT_TOPICS if topics is None else WITH_TOPICS)
        self._borders = np.cumsum([0, *sizes], dtype=np.int32)

    def fill(self, queries: CSR, scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> None:
        vectors = self._space.vectors(queries)
        self._space.fill_cosines(vectors, scores)
        lexical = np.empty((1, scores.shape[1]), np.float32)
        model_queries = None if self._topics is None else self._topics.tables.to_model_vocabulary(queries)
        for query, row in enumerate(scores):
            one = _only(queries, query)
            self._words.fill(one, lexical, allowed)  # one at a time, so that it is still in cache when it is added
            if not vectors[query].any() and not lexical[0, allowed].any():
                self._by_topics_alone(one, row[None], allowed)
                continue
            add_scaled(row, self._weights.space, lexical[0], 1.0, allowed)
            if not vectors[query].any():
                row[lexical[0] == 0] = -np.inf  # the space knows no word of the query
            if (
                model_queries is not None
                and self._topics is not None
                and model_queries.ends[query] < model_queries.ends[query + 1]
            ):
                self._add_likelihoods(self._topics, model_queries, query, row, allowed)

    def _by_topics_alone(self, query: CSR, scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> None:
        """Score a query whose words only the topic model knows; it may be in a language that no document has."""
        if self._topics is None:
            scores[:] = -np.inf
        else:
            self._topics.fill(query, scores, allowed)

    def _add_likelihoods(
        self, topics: Likelihood, model_queries: CSR, query: int, scores: NDArray[np.float32], allowed: NDArray[np.bool_]
    ) -> None:
        """Add the query likelihood of the best documents to their scores, relative to the smallest of them."""
        candidates = np.sort(best_of(scores, allowed, min(CANDIDATES, len(scores)), -np.inf).numbers)
        likelihoods, bounds = np.empty(len(candidates), np.float32), np.searchsorted(candidates, self._borders)
        for segment, (first, last) in enumerate(pairwise(bounds)):
            if first < last:
                numbers = candidates[first:last] - self._borders[segment]
                topics.score_few(model_queries, query, segment, numbers, likelihoods[first:last])
        if len(likelihoods) and (largest := likelihoods.max()) > (mean := likelihoods.mean()):
            scores[candidates] += self._weights.topics / (largest - mean) * (likelihoods - likelihoods.min())


def add_scaled(
    one: NDArray[np.float32], of_one: float, other: NDArray[np.float32], of_other: float, allowed: NDArray[np.bool_]
) -> None:
    """Add two scores in place, each scaled to 0 at its mean and to its weight at its maximum.

    Constant scores are skipped.
    """
    factors, offset, all_are = [], 0.0, allowed.all()
    for scores, weight in ((one, of_one), (other, of_other)):
        mean, largest = mean_and_largest(scores if all_are else scores[allowed])
        factors.append(weight / (largest - mean) if largest > mean else 0.0)
        offset += factors[-1] * mean
    fuse(one, np.float32(factors[0]), other, np.float32(factors[1]), np.float32(offset))


def _only(queries: CSR, number: int) -> CSR:
    first, last = queries.ends[number : number + 2]
    ends = as_read_only(queries.ends[number : number + 2] - first, np.int64)
    return CSR(ends, queries.words[first:last], queries.counts[first:last])
