"""Held-out perplexity by document completion.

Each document's words are divided at random into halves. Its topics are estimated on one half, by 30 passes of
θ_k ∝ θ_k Σ_w n φ_wk / (φ_w·θ) + 0.1 from even topics, and the other half is predicted. Nothing is taken from a model but its
topics, so that all models, ours and others', are judged alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.rows import Rows
from semascope.corpus.shards import Shard, ShardRef, frozen, read_only
from semascope.engines.base import Engine, Locals, Placed
from semascope.engines.exact import Scalars, ScalarTotal
from semascope.errors import InputError
from semascope.kernels.em import fold_in, log_likelihoods
from semascope.kernels.heldout import halve

if TYPE_CHECKING:
    from numpy.typing import NDArray

PASSES = 30
SMOOTHING = 0.1
NEVER = -1.0


class Score(NamedTuple):
    """Log-likelihood and number of the predicted words."""

    sums: Scalars | ScalarTotal


def perplexity(
    topics: NDArray[Any],
    shards: Sequence[ShardRef],
    engine: Engine,
    *,
    known: NDArray[np.bool_] | None = None,
    seed: int = 0,
) -> float:
    """Give exp(−mean log P(word | document)) over the predicted halves.

    Parameters
    ----------
    topics : ndarray of shape (n_words, n_topics)
        Column z is P(word | topic z).
    shards : sequence of shards
        The held-out documents.
    known : ndarray of bool, optional
        Words the model has seen in training; all others are left out. By default those that some topic can produce.
    seed : int, default=0
        Decides the halves.
    """
    with engine.place(shards) as placed:
        return perplexity_of_placed(topics, placed, known=known, seed=seed)


def perplexity_of_placed(
    topics: NDArray[Any], placed: Placed, *, known: NDArray[np.bool_] | None = None, seed: int = 0
) -> float:
    """Give the perplexity of documents that are placed on an engine already."""
    topics = frozen(topics, np.float32)
    if known is None:
        known = np.asarray(topics.any(axis=1))
    score = placed.begin(partial(_score_shard, topics=topics, known=known, seed=seed))
    return perplexity_by(score)


def perplexity_by(score: Any) -> float:
    """Make a perplexity of what was added up over all shards: log-likelihoods, and words."""
    log_likelihood, n_tokens = score.sums.sums() if score else (0.0, 0.0)  # no documents, no score
    if n_tokens == 0:
        msg = "perplexity needs a document with at least two words that the model knows, but there is none."
        raise InputError(msg)
    return math.exp(-log_likelihood / n_tokens)


def _score_shard(shard: Shard, topics: NDArray[Any], known: NDArray[np.bool_], seed: int) -> tuple[Locals, Score]:
    seen, predicted = (read_only(Rows(*half)) for half in halve(*shard.rows, known, shard.first_document, seed))
    theta = np.full((shard.n_documents, topics.shape[1]), 1 / topics.shape[1], dtype=np.float32)
    prior = np.full(topics.shape[1], SMOOTHING, dtype=np.float32)
    fold_in(*seen, topics, theta, np.float32(1), prior, prior, PASSES, NEVER)
    totals, tokens = np.empty(shard.n_documents), np.empty(shard.n_documents)
    log_likelihoods(*predicted, topics, theta, totals, tokens)
    return {}, Score(Scalars((math.fsum(totals), math.fsum(tokens))))
