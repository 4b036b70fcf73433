"""Held-out perplexity by document completion, with and without labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.csr import CSR
from semascope.corpus.labels import LabeledRef, LabeledShard
from semascope.corpus.shards import Shard, ShardRef, as_read_only, read_only
from semascope.engines.base import Engine, Locals, Session
from semascope.engines.exact_sums import Scalars, ScalarTotal
from semascope.errors import InputError
from semascope.inference.labels import fold_in_labels
from semascope.inference.tolerances import COMPLETION
from semascope.inference.topics import fold_in_documents
from semascope.kernels.heldout import halve
from semascope.kernels.label_inference import log_likelihood_of_labels
from semascope.kernels.plsa import log_likelihoods
from semascope.training.particle_state import LabelCounts
from semascope.training.plsa_tempered import BACKGROUND_MIX, power, shares_factor

if TYPE_CHECKING:
    from numpy.typing import NDArray


OWN, COMMON = "own", "common"

COMMON_ALPHA = 0.1
"""Pseudo-count of each topic under the common prior."""

FLOOR = BACKGROUND_MIX
"""Weight of P(word) in predictions of a model without a document prior. Maximum likelihood estimates zero for topics that the
first half does not use, so their words would be impossible. Tempered EM selects β with the same weight."""

LOG_SMALLEST = math.log(np.finfo(np.float32).tiny)
"""Log-probability of words whose probability underflows."""


class Completion(NamedTuple):
    """Settings for estimating θ of a held-out document from its first half, as arguments of `semascope.kernels.plsa.fold_in`.

    start    float[k]  initial θ
    prior    float[k]  pseudo-counts of the topics, added in each pass; zeros for maximum likelihood
    beta     exponent of tempered EM, 1 for plain EM
    factors  float[k]  P(topic)^(1−β)
    floor    weight of `start` in the θ that predicts words
    """

    start: NDArray[np.float32]
    prior: NDArray[np.float32]
    beta: float
    factors: NDArray[np.float32]
    floor: float

    @classmethod
    def dirichlet(cls, alpha: float | NDArray[Any], n_topics: int) -> Completion:
        """Create a completion with a symmetric or asymmetric Dirichlet prior α."""
        prior = np.full(n_topics, alpha, dtype=np.float64)
        mean = prior / prior.sum() if np.ndim(alpha) else np.full(n_topics, 1 / n_topics)
        return cls(mean.astype(np.float32), prior.astype(np.float32), 1.0, np.ones(n_topics, np.float32), 0.0)

    @classmethod
    def maximum_likelihood(cls, topic_shares: NDArray[Any], beta: float = 1.0) -> Completion:
        """Create a completion without a document prior, tempered by β.

        P(word | document) is (1 − ε) Σ_z θ_z P(word | z) + ε P(word), with ε = `FLOOR` and P(word) = Σ_z P(z) P(word | z).
        """
        start, none = topic_shares.astype(np.float32), np.zeros(len(topic_shares), np.float32)
        return cls(start, none, beta, shares_factor(topic_shares, beta, np.float32), FLOOR)


def check_prior(prior: Any) -> None:
    """Validate the `prior` argument of a perplexity method."""
    if not isinstance(prior, str) or prior not in (OWN, COMMON):
        msg = f'prior must be "{OWN}" or "{COMMON}", but was {prior!r}.'
        raise InputError(msg)


class Score(NamedTuple):
    """Log-likelihood and number of the predicted tokens."""

    sums: Scalars | ScalarTotal


def perplexity(
    topics: NDArray[Any],
    shards: Sequence[ShardRef],
    engine: Engine,
    *,
    prior: float | NDArray[Any] | Completion = COMMON_ALPHA,
    known: NDArray[np.bool_] | None = None,
    seed: int = 0,
) -> float:
    """Return exp(−mean log P(word | document)) over the predicted halves.

    Parameters
    ----------
    topics : ndarray of shape (n_words, n_topics)
        P(word | topic) in columns.
    shards : sequence of shards
        The held-out documents.
    prior : float, ndarray of shape (n_topics,) or Completion, default=0.1
        Dirichlet prior α of the topics of a document, or the settings of another estimate. The default is the common prior.
    known : ndarray of bool, optional
        Mask of the words seen in training; all others are ignored. By default, words with nonzero probability in some topic.
    seed : int, default=0
        Seed of the split into halves.
    """
    with engine.open(shards) as placed:
        return perplexity_of_placed(topics, placed, prior=prior, known=known, seed=seed)


def perplexity_of_placed(
    topics: NDArray[Any],
    placed: Session,
    *,
    prior: float | NDArray[Any] | Completion = COMMON_ALPHA,
    known: NDArray[np.bool_] | None = None,
    seed: int = 0,
) -> float:
    """Return the perplexity of documents that an engine has already opened."""
    topics = as_read_only(topics, np.float32)
    completion = prior if isinstance(prior, Completion) else Completion.dirichlet(prior, topics.shape[1])
    powered = as_read_only(power(topics, completion.beta), np.float32)
    if known is None:
        known = np.asarray(topics.any(axis=1))
    task = partial(_score_shard, topics=topics, powered=powered, completion=completion, known=known, seed=seed)
    return perplexity_by(placed.begin(task))


def perplexity_by(score: Any) -> float:
    """Return the perplexity for the log-likelihood and number of predicted tokens summed over all shards."""
    log_likelihood, n_tokens = score.sums.sums() if score else (0.0, 0.0)  # no documents, no score
    if n_tokens == 0:
        msg = "perplexity needs a document with at least two words that the model knows, but there is none."
        raise InputError(msg)
    return math.exp(-log_likelihood / n_tokens)


def _score_shard(
    shard: Shard,
    topics: NDArray[Any],
    powered: NDArray[Any],
    completion: Completion,
    known: NDArray[np.bool_],
    seed: int,
) -> tuple[Locals, Score]:
    seen, predicted = (read_only(CSR(*half)) for half in halve(*shard.rows, known, shard.first_document, seed))
    factors, prior = np.array(completion.factors), np.array(completion.prior)  # writable everywhere: one signature
    theta = fold_in_documents(seen, powered, completion.start, np.float32(completion.beta), factors, prior, COMPLETION)
    if completion.floor:
        theta = (1 - completion.floor) * theta + completion.floor * completion.start
    totals, tokens = np.empty(shard.n_documents), np.empty(shard.n_documents)
    log_likelihoods(*predicted, topics, theta, totals, tokens)
    log_likelihood, n_tokens = math.fsum(totals), math.fsum(tokens)
    underflowed = float(predicted.counts.sum(dtype=np.float64)) - n_tokens
    if underflowed > 1e-9 * n_tokens:  # the kernel skips these, but a model must not gain by them
        log_likelihood, n_tokens = log_likelihood + underflowed * LOG_SMALLEST, n_tokens + underflowed
    return {}, Score(Scalars((log_likelihood, n_tokens)))


def perplexity_with_labels(
    known: LabelCounts, shards: Sequence[LabeledRef], engine: Engine, *, alpha: float, seed: int = 0
) -> float:
    """Return exp(−mean log P(word | document)) over the predicted halves.

    Parameters
    ----------
    known : LabelCounts
        Word counts of the labels. Words without any count are ignored.
    shards : sequence of labeled shards
        The held-out documents.
    alpha : float
        Dirichlet prior of the labels of a document.
    seed : int, default=0
        Seed of the split into halves.
    """
    with engine.open(shards) as placed:
        score = placed.begin(partial(_score_labeled_shard, known=known, alpha=alpha, seed=seed))
    return perplexity_by(score)


def _score_labeled_shard(shard: LabeledShard, known: LabelCounts, alpha: float, seed: int) -> tuple[Locals, Score]:
    halves = halve(*shard.rows, as_read_only(np.diff(known.ends) > 0, np.bool_), shard.first_document, seed)
    seen, predicted = (read_only(CSR(*half)) for half in halves)
    labels = shard.labels.opened(known.n_labels)
    theta = fold_in_labels(seen, labels, alpha, known)
    totals, tokens = np.empty(shard.n_documents), np.empty(shard.n_documents)
    log_likelihood_of_labels(*predicted, *labels, theta, *known.for_kernels(), totals, tokens)
    return {}, Score(Scalars((math.fsum(totals), math.fsum(tokens))))
