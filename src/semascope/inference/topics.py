"""Topic inference for new documents with the topics held fixed: folding in by EM, and variational inference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from semascope.corpus.csr import CSR
from semascope.corpus.shards import Shard
from semascope.engines.base import Locals
from semascope.engines.exact_sums import Scalars, ScalarTotal
from semascope.inference.tolerances import TOPICS, Convergence
from semascope.kernels.plsa import fold_in
from semascope.kernels.variational import vb_documents
from semascope.training.variational import SMALLEST, ExpectedTopics, first_theta

if TYPE_CHECKING:
    from numpy.typing import NDArray

PASSES, TOLERANCE = TOPICS


class Nothing(NamedTuple):
    """Empty sufficient statistics of folding in."""


def fold_in_documents(
    rows: CSR,
    topics: NDArray[Any],
    start: NDArray[Any],
    beta: Any,
    factors: NDArray[Any],
    prior: NDArray[Any],
    convergence: Convergence = TOPICS,
) -> NDArray[Any]:
    """Infer P(topic | document) by EM from a common start; arguments as in `semascope.kernels.plsa.fold_in`."""
    theta = np.tile(start, (len(rows.ends) - 1, 1))
    fold_in(*rows, topics, theta, beta, factors, prior, *convergence)
    return theta


def fold_in_shard(
    shard: Shard, topics: NDArray[Any], start: NDArray[Any], beta: Any, factors: NDArray[Any], prior: NDArray[Any]
) -> tuple[Locals, Nothing]:
    """Fold in the documents of a shard; arguments as in `semascope.kernels.plsa.fold_in`."""
    return {"theta": fold_in_documents(shard.rows, topics, start, beta, factors, prior)}, Nothing()


def topic_shares(theta: Sequence[NDArray[Any]], lengths: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Compute the share of each topic among all tokens of some documents, like `topic_shares_` for the training documents.

    Parameters
    ----------
    theta : sequence of ndarray of shape (n_documents, n_topics)
        P(topic | document), in blocks of documents.
    lengths : sequence of ndarray of shape (n_documents,)
        Number of tokens of each document, in the same blocks. The unweighted mean over documents is a different quantity,
        which `over_time` computes.
    """
    sums = [np.einsum("d,dz->z", words, shares) for words, shares in zip(lengths, theta, strict=True)]
    total = np.sum([np.sum(words) for words in lengths])
    return np.asarray(np.sum(sums, axis=0) * (1.0 / total if total > 0 else 0.0))


class BoundStats(NamedTuple):
    """Bound on the log-likelihood of documents."""

    bound: Scalars | ScalarTotal


def infer_shard(shard: Shard, topics: ExpectedTopics, alpha: NDArray[np.float64]) -> tuple[Locals, BoundStats]:
    """Run variational inference for the documents of a shard, from uniform topics to convergence."""
    dtype = topics.table.dtype
    gamma = first_theta(shard, alpha, np.float64) * (shard.lengths + alpha.sum())[:, None]
    gamma = gamma.astype(dtype)
    shares, weights = np.empty_like(gamma), np.empty(len(shard.rows.words), dtype=dtype)
    smallest = SMALLEST[dtype.name]
    bound = vb_documents(*shard.rows, alpha, topics.table, smallest, PASSES, TOLERANCE, gamma, shares, weights)
    of_words = float(shard.rows.counts.astype(np.float64) @ topics.peaks[shard.rows.words])
    of_prior = shard.n_documents * float(gammaln(alpha.sum()) - gammaln(alpha).sum())
    return {"theta": gamma / gamma.sum(axis=1, keepdims=True)}, BoundStats(Scalars((bound + of_words + of_prior,)))
