"""Variational EM for correlated topic models (Blei and Lafferty 2007): a document's topics are softmax(η), and η is normal.

Topics of a document under a Dirichlet prior are nearly independent; here topics that often occur together have a positive
covariance. Each iteration infers mean and variances of every document's η, and computes topics, mean μ and covariance Σ from
the expected counts and moments. The bound never decreases: see `semascope.kernels.logistic_normal`.

Σ has an inverse-Wishart prior, worth as many documents as there are topics, so that it stays definite; topics have a Dirichlet
prior. As with LDA, the bound has poor local maxima near rough topics, so passes of CVB0 come first: see
`training.variational_seeded`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from semascope.corpus.shards import Shard, ShardRef, as_read_only
from semascope.engines.base import Locals
from semascope.engines.exact_sums import Counts, CountTotal, LazyCounts, Scalars, ScalarTotal
from semascope.kernels.logistic_normal import LARGEST, infer_logistic_normal, inverse
from semascope.storage.facts import Fact, Whole
from semascope.storage.layout import TINY, Array, numbers
from semascope.training.algorithm import AlgorithmConfig
from semascope.training.cvb0 import CVB0, CVB0State
from semascope.training.plsa import StartStats, expected_counts
from semascope.training.variational_seeded import COLLAPSED_TOLERANCE, MAX_COLLAPSED_PASSES

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_PASSES = 5
"""Passes over a document in each iteration, which continues from the result of the last one."""

DOCUMENT_TOLERANCE = 1e-3
"""Convergence tolerance of a document: the sum of the changes of its topic shares."""

FIRST_VARIANCE = 1.0
"""Initial variance of Σ, and variance of its prior."""

MIN_SHARE = 1e-6
"""Lower bound on the topic shares found by CVB0 before their logarithms are taken."""

MAX_VARIANCE = 2 * LARGEST**2
"""Upper bound on the entries of Σ_d (λ − μ)(λ − μ)ᵀ + diag ν² of a document."""


class CTMState(NamedTuple):
    """State broadcast to all shards: the fields of `CVB0State`, and those of the normal distribution of η.

    Fields that a phase does not use are empty.

    mean        μ
    covariance  Σ
    collapsed   1 during the initial passes of CVB0, then 0
    """

    topics: NDArray[Any]
    counts: NDArray[Any]
    scale: NDArray[np.float64]
    topic_shares: NDArray[np.float64]
    prior_part: NDArray[Any]
    alpha: NDArray[np.float64]
    document_alpha: NDArray[np.float64]
    eta: float
    momentum: float
    objective: float
    passes: int
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    collapsed: int

    @classmethod
    def of_collapsed(cls, state: CVB0State) -> CTMState:
        """Return a state of the first phase."""
        return cls(**state._asdict(), mean=np.empty(0), covariance=np.empty((0, len(state.alpha))), collapsed=1)

    def of_cvb0(self) -> CVB0State:
        """Return the fields of `CVB0State`."""
        return CVB0State(*(getattr(self, name) for name in CVB0State._fields))


class CTMStats(NamedTuple):
    """Statistics of an iteration: expected counts, moments of η about μ, the bound, and the number of nonempty documents.

    The first row of the moments is Σ_d (λ − μ), those below it are Σ_d (λ − μ)(λ − μ)ᵀ + diag ν².
    """

    word_topic: LazyCounts | CountTotal
    moments: Counts | CountTotal
    sums: Scalars | ScalarTotal


@dataclass(frozen=True)
class CTM(AlgorithmConfig):
    """Correlated topic model, as pure functions of their arguments.

    eta  Dirichlet prior of the words in a topic, as a pseudocount
    """

    eta: float = 0.03

    state_type: ClassVar[type] = CTMState
    state_arrays: ClassVar[Mapping[str, Array]] = {
        **CVB0.state_arrays,
        "counts": numbers("n_words", "n_topics", may_be_empty=True),
        "scale": numbers("n_languages", "n_topics", low=0.0, may_be_empty=True),
        "mean": numbers("n_topics", may_be_empty=True),
        "covariance": numbers("n_topics", "n_topics", may_be_empty=True),
    }
    state_numbers: ClassVar[Mapping[str, Fact]] = {**CVB0.state_numbers, "collapsed": Whole(0, 1)}
    local_arrays: ClassVar[Mapping[str, Array]] = {
        **CVB0.local_arrays,
        "means": numbers("shard_documents", "n_topics", dtypes=("float64",)),
        "variances": numbers("shard_documents", "n_topics", low=TINY, dtypes=("float64",)),
    }
    objective_name: ClassVar[str] = "bound"

    @cached_property
    def cvb0(self) -> CVB0:
        """Algorithm of the first phase."""
        facts = {part.name: getattr(self, part.name) for part in fields(AlgorithmConfig)}
        return CVB0(**facts, eta=self.eta)

    def sizes(self) -> dict[str, int]:
        """Return the dimensions of the arrays in checkpoints."""
        return self.cvb0.sizes()

    def init_shard(self, shard: Shard) -> tuple[Locals, StartStats]:
        """Initialize as CVB0 does."""
        return self.cvb0.init_shard(shard)

    def init_state(self, stats: StartStats) -> CTMState:
        """Initialize as CVB0 does."""
        return CTMState.of_collapsed(self.cvb0.init_state(stats))

    def step(self, shard: Shard, local: Locals, state: CTMState) -> tuple[Locals, Any]:
        """Run a pass of CVB0, or infer η of the documents of a shard."""
        if state.collapsed:
            return self.cvb0.step(shard, local, state.of_cvb0())
        if "means" in local:
            means, variances = np.array(local["means"]), np.array(local["variances"])
        else:
            theta = np.asarray(self.cvb0.theta_of(local, state.document_alpha), np.float64)
            means = np.log(np.maximum(theta, MIN_SHARE))
            means -= means.mean(axis=1, keepdims=True)
            variances = np.ones_like(means)
        inferred = infer_documents(shard, Normal(*state[-3:-1]), state.topics, means, variances, MAX_PASSES, DOCUMENT_TOLERANCE)
        expected = expected_counts(shard.by_word, inferred.weights, inferred.theta, state.topics, self.n_tokens)
        rows = np.arange(self.n_topics + 1, dtype=np.int32)
        shape, bound = (self.n_topics + 1, self.n_topics), self.n_documents * MAX_VARIANCE
        sums = Scalars((inferred.bound, float(np.count_nonzero(shard.lengths))))
        new = {"means": means, "variances": variances, "theta": inferred.theta}
        return new, CTMStats(expected, Counts(rows, inferred.moments, shape, bound), sums)

    def update(self, state: CTMState, stats: Any) -> CTMState:
        """Update the topics, μ and Σ; or run the update of CVB0, and switch to the second phase when it has converged."""
        if not state.collapsed:
            return self._with_moments(state, stats)
        new = self.cvb0.update(state.of_cvb0(), stats)
        change = abs(new.objective - state.objective) if math.isfinite(state.objective) else math.inf
        if new.passes < MAX_COLLAPSED_PASSES and change >= COLLAPSED_TOLERANCE * abs(state.objective):
            return CTMState.of_collapsed(new)
        return self._first_normal(new)

    def _first_normal(self, state: CVB0State) -> CTMState:
        """Return the initial state of the second phase, with the topics found by CVB0."""
        kept = self.cvb0.final_state(state)
        topics = self._smoothed(kept.counts.astype(np.float64))
        none = kept.counts[:0]
        first = CTMState.of_collapsed(kept)._replace(topics=topics, counts=none, scale=none.astype(np.float64))
        mean, covariance = np.zeros(self.n_topics), FIRST_VARIANCE * np.eye(self.n_topics)
        return first._replace(prior_part=none[:, 0], mean=mean, covariance=covariance, collapsed=0)

    def _with_moments(self, state: CTMState, stats: CTMStats) -> CTMState:
        """Run the M-step."""
        assert isinstance(stats.word_topic, CountTotal)
        assert isinstance(stats.moments, CountTotal)
        assert isinstance(stats.sums, ScalarTotal)
        counts, moments = stats.word_topic.values(np.float64), stats.moments.values(np.float64)
        sizes, (_, n_documents) = counts.sum(axis=0), stats.sums.sums()
        if n_documents == 0:
            return state
        shift = moments[0] / n_documents
        squares = (moments[1:] + moments[1:].T) / 2 - n_documents * np.outer(shift, shift)
        prior = self.n_topics * FIRST_VARIANCE * np.eye(self.n_topics)
        covariance = (squares + prior) / (n_documents + self.n_topics)
        return state._replace(
            topics=self._smoothed(counts), topic_shares=sizes / sizes.sum(), mean=state.mean + shift, covariance=covariance
        )

    def objective(self, state: CTMState, stats: Any) -> float:
        """Return the log-likelihood before a pass of CVB0; or the bound, with the log priors up to constants."""
        if state.collapsed:
            return self.cvb0.objective(state.of_cvb0(), stats)
        precision = np.empty_like(state.covariance)
        log_determinant = float(inverse(state.covariance, precision))
        of_covariance = -0.5 * self.n_topics * (log_determinant + FIRST_VARIANCE * float(np.trace(precision)))
        of_topics = self.eta * float(np.log(state.topics, dtype=np.float64).sum())
        return float(stats.sums.sums()[0]) + of_covariance + of_topics

    def convergence_history(self, state: CTMState, history: Sequence[float]) -> Sequence[float]:
        """Return the bounds."""
        return [] if state.collapsed else history[state.passes :]

    def broadcast_view(self, state: CTMState) -> CTMState:
        """Return the fields that `step` needs in this phase."""
        return state._replace(counts=state.counts[:0])

    def final_state(self, state: CTMState) -> CTMState:
        """Return the last state, converted to the second phase if the first was interrupted."""
        return self._first_normal(state.of_cvb0()) if state.collapsed else state

    def document_rows(self, kept: CTMState, local: Locals) -> NDArray[Any]:
        """Return P(topic | document)."""
        return local["theta"] if "means" in local else self.cvb0.theta_of(local, kept.document_alpha)

    def status(self, state: CTMState) -> str:
        """Return the phase."""
        return f"collapsed pass {state.passes}" if state.collapsed else ""

    def state_problem(self, state: CTMState, history: Sequence[float]) -> str | None:
        """Return how the arrays of a loaded state are inconsistent, or None."""
        if state.passes > len(history) or (state.collapsed and state.passes != len(history)):
            return f"the history has {len(history):,} iterations, but the state has {state.passes:,} passes of CVB0"
        if state.collapsed:
            empty = [name for name in ("counts", "scale") if not len(getattr(state, name))]
            return f"the array {empty[0]!r} is missing" if empty else self.cvb0.state_problem(state.of_cvb0(), history)
        return normal_problem(state.mean, state.covariance)

    def local_problem(self, shard: ShardRef, local: Locals) -> str | None:
        """Return how the loaded arrays of a shard are inconsistent with each other or the shard, or None."""
        if "means" in local:
            return None if {"variances", "theta"} <= local.keys() else "the array 'variances' or 'theta' is missing"
        return self.cvb0.local_problem(shard, local)

    def _smoothed(self, counts: NDArray[np.float64]) -> NDArray[Any]:
        """Return P(word | topic), smoothed by the prior."""
        topics = counts + self.eta
        return np.asarray(topics / topics.sum(axis=0), self.dtype)


class Inferred(NamedTuple):
    """Posterior of the documents of a shard: see `infer_logistic_normal`."""

    theta: NDArray[Any]
    weights: NDArray[Any]
    moments: NDArray[np.float64]
    bound: float


class Normal(NamedTuple):
    """Normal prior of η."""

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]


def infer_documents(
    shard: Shard,
    prior: Normal,
    topics: NDArray[Any],
    means: NDArray[np.float64],
    variances: NDArray[np.float64],
    max_passes: int,
    tolerance: float,
) -> Inferred:
    """Infer mean and variances of η, in place, from their current values."""
    n_topics, dtype = topics.shape[1], topics.dtype
    precision = np.empty((n_topics, n_topics))
    log_determinant = -inverse(np.array(prior.covariance, np.float64), precision)
    theta, weights = np.empty((shard.n_documents, n_topics), dtype), np.empty(len(shard.rows.words), dtype)
    moments, mean = np.zeros((n_topics + 1, n_topics)), np.array(prior.mean, np.float64)
    bound = infer_logistic_normal(
        *shard.rows, as_read_only(topics, dtype), mean, precision, log_determinant, max_passes, tolerance,
        means, variances, theta, weights, moments,
    )  # fmt: skip
    return Inferred(theta, weights, moments, bound)


def normal_problem(mean: NDArray[Any], covariance: NDArray[Any]) -> str | None:
    """Return why arrays are not a valid mean and covariance, or None."""
    matrix = np.array(covariance, np.float64)
    if len(matrix) != len(mean) or not len(mean):
        return "the mean or the covariance is missing"
    if not np.array_equal(matrix, matrix.T) or math.isnan(inverse(matrix, np.empty_like(matrix))):
        return "the covariance is not symmetric and positive definite"
    return None
