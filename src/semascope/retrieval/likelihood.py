"""Query likelihood and KL divergence under a topic model. Queries need not be folded in.

P(word | document) is a product of two tables; only the words of the queries are computed, in blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from semascope.corpus.csr import CSR
from semascope.corpus.shards import as_read_only
from semascope.kernels.fisher import add_entries
from semascope.retrieval.topic_documents import SMALLEST, TopicDocuments, lengths_of, numbers_of, shares_of
from semascope.training.linalg import each_block

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORDS = 512
"""Words in a block."""

MU, SHARE = 1000.0, 0.85
"""Dirichlet pseudo-counts from the background, and weight of the smoothed document (0.7 in Wei & Croft, 2006)."""


def kl_scores(
    documents: TopicDocuments,
    topics: NDArray[np.floating],
    queries: CSR,
    background: NDArray[np.float64],
    smoothing: float = 0.5,
    *,
    published: bool = False,
) -> NDArray[np.float64]:
    """Score documents by negative KL divergence from the query: S_KL(d,q) = Σ_w p̂(w|q) log(P(w|d) / p̂(w|q)).

    Words with neither background nor topic are skipped.

    Parameters
    ----------
    documents : TopicDocuments
        The documents to score.
    topics : ndarray of shape (n_words, n_topics)
        P(word | topic).
    queries : CSR
        Word counts of the queries.
    background : ndarray of shape (n_words,)
        P(word) in all documents.
    smoothing : float, default=0.5
        Weight of the background in P(w|d). With zero, P(w|d) is only bounded below by 1e-100.
    published : bool, default=False
        Use P(w|d) unsmoothed and skip words where it is zero, as in Chappelier & Eckard (2009). This rewards documents that
        lack the words, so it depends on when numbers underflow.

    Returns
    -------
    ndarray of shape (n_queries, n_documents)
    """
    terms, shares = _QueryTerms(queries, topics, background), shares_of(queries)
    weights, entropies = terms.table(shares), terms.table(xlogy(shares, shares))
    mix, least = (0.0, 0.0) if published else (smoothing, SMALLEST)

    def of_block(words: slice, rows: slice) -> Any:
        p = ((1 - mix) * terms.topics[words]) @ documents.theta[rows].T
        p += mix * terms.background[words, None]
        np.maximum(p, least, out=p)
        positive = p > 0
        return weights[:, words] @ np.log(p, out=np.zeros_like(p), where=positive) - entropies[:, words] @ positive

    return terms.sums(of_block, len(documents.theta))


def likelihood_scores(
    documents: TopicDocuments,
    topics: NDArray[np.floating],
    queries: CSR,
    background: NDArray[np.float64],
    mu: float = MU,
    share: float = SHARE,
) -> NDArray[np.float64]:
    """Score documents by the likelihood of a query: Σ_w n(q,w) log(share (n(d,w) + mu P(w)) / (|d| + mu) + (1 - share) P(w|d)).

    The document's own words, smoothed by the background, are mixed with those of its topics (Wei & Croft, LDA-based document
    models for ad-hoc retrieval, 2006). Words with neither background nor topic are skipped.

    Parameters
    ----------
    documents, topics, queries, background
        As in `kl_scores`.
    mu : float, default=1000
        Dirichlet pseudo-counts from the background.
    share : float, default=0.85
        Weight of the smoothed document; the rest is that of the topic model.

    Returns
    -------
    ndarray of shape (n_queries, n_documents)
    """
    documents, terms = documents.ready(), _QueryTerms(queries, topics, background)
    by_word, weights = documents.by_word, terms.table(queries.counts)
    of_one = share / np.maximum(lengths_of(documents.rows) + mu, SMALLEST)  # weight of one word in each document
    own = as_read_only(documents.rows.counts[by_word.places] * of_one[by_word.documents], np.float64)
    numbers = numbers_of(terms.words, by_word)

    def of_block(words: slice, rows: slice) -> Any:
        p = ((1 - share) * terms.topics[words]) @ documents.theta[rows].T
        p += np.outer(mu * terms.background[words], of_one[rows])
        add_entries(numbers[words], by_word.ends, by_word.documents, own, rows.start, p)
        return weights[:, words] @ np.log(np.maximum(p, SMALLEST))

    return terms.sums(of_block, len(documents.theta))


class _QueryTerms:
    """Distinct words of some queries, with their probabilities.

    words       int32[u]        ascending
    topics      float64[u, k]   P(word | topic)
    background  float64[u]      P(word)
    """

    def __init__(self, queries: CSR, topics: NDArray[np.floating], background: NDArray[np.float64]) -> None:
        self.words, self._columns = np.unique(queries.words, return_inverse=True)
        self.topics = topics[self.words].astype(np.float64)
        self.background = background[self.words].astype(np.float64)
        self._ends = queries.ends
        self._known = (self.background > 0) | self.topics.any(axis=1)

    def table(self, values: NDArray[Any]) -> Any:
        """Return values of query entries as a sparse matrix of queries × words, without unknown words."""
        known = np.where(self._known[self._columns], values, 0.0)
        shape = (len(self._ends) - 1, len(self.words))
        return sparse.csr_array((known, self._columns, self._ends), shape=shape).tocsc()

    def sums(self, of_block: Callable[[slice, slice], Any], n_documents: int) -> NDArray[np.float64]:
        """Return the sum over blocks of words of `of_block`, a function of slices of words and of documents."""
        scores = np.zeros((len(self._ends) - 1, n_documents))

        def of_rows(rows: slice) -> None:
            for first in range(0, len(self.words), WORDS):
                scores[:, rows] += of_block(slice(first, first + WORDS), rows)

        for _ in each_block(of_rows, n_documents):
            pass
        return scores
