"""CVB0 for LDA (Asuncion et al. 2009), with momentum, and with priors that can be learned.

A pass computes counts N_dk of topics in documents and N_wk of words in topics. The next one starts from an extrapolation of
them: N + 0.95 (N − N before). Passes move slowly along one valley for long, and this saves many of them. If the
log-likelihood falls nevertheless, the next pass starts from the counts themselves.

With many topics, the first passes visit all of them and the later ones only the active topics of each document: see
kernels/cvb0_sparse.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from semascope.corpus.shards import Shard, ShardRef, as_read_only, writable_copy
from semascope.engines.base import Locals
from semascope.engines.exact_sums import CountTotal, LazyCounts, Scalars, ScalarTotal
from semascope.kernels.cvb0 import counts_of, extrapolate, normalize, prior_parts
from semascope.kernels.cvb0_sparse import counts_of_few
from semascope.kernels.simd import WIDTH
from semascope.storage.facts import Fact, Number, Whole
from semascope.storage.layout import ANY, Array, numbers, probabilities
from semascope.training.cvb0_passes import (
    Documents,
    Groups,
    PassResult,
    SparseTopics,
    Tables,
    in_all_topics,
    in_groups,
    run_pass,
    sparse_pass,
    sparse_problem,
    sparse_topics_of,
    starts_of_groups,
)
from semascope.training.hyperpriors import next_alpha, next_eta, statistics_of_alpha
from semascope.training.lda_base import LDASettings
from semascope.training.plsa import StartStats

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOMENTUM = 0.95
"""Extrapolation factor in the direction of the last pass."""

GUIDED = 10
"""Passes in which words of an informed prior are held back from topics other than their own."""

LEARN_ALPHA_EVERY = 5
"""Passes between two updates of α, whose statistics take a digamma of every topic of every document."""

LEARN_ETA_EVERY = 10
"""Passes between two updates of η."""


FEW_FROM = 256
"""Minimum number of topics for sparse passes, and"""

FEW_FROM_PER_TOKEN = 16
"""minimum number per token of the mean document: a long one has tokens from many topics."""

PASSES_OVER_ALL = 4
"""Passes over all topics that come first: at the start, documents have some mass in every topic."""


class CVB0State(NamedTuple):
    """State broadcast to all shards.

    topics          P(word | topic) that the next pass starts from, extrapolated from the counts
    counts          N_wk after the last pass
    scale           1 / (N_k + Σ_w η), a row for each language, of `topics`
    topic_shares    P(topic)
    prior_part      Σ_k α_k P(word | topic) of each word; empty without sparse passes
    alpha           prior of the documents' topics in the next pass
    document_alpha  the α included in the documents' current topics
    eta             prior of the words in a topic; higher where the prior is informed
    momentum        extrapolation factor of the next pass
    objective       log-likelihood before the last pass
    passes          passes so far
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


class CVB0Stats(NamedTuple):
    """Statistics of a pass: expected counts, Σ n log P(word | document) before the pass, and those for learning α."""

    word_topic: LazyCounts | CountTotal
    log_likelihood: Scalars | ScalarTotal
    for_alpha: Scalars | ScalarTotal


@dataclass(frozen=True, eq=False)
class CVB0(LDASettings):
    """CVB0, as pure functions of their arguments.

    few_from  minimum number of topics for sparse passes; by default where they are faster
    """

    few_from: int | None = None

    state_type: ClassVar[type] = CVB0State
    state_arrays: ClassVar[Mapping[str, Array]] = {
        "topics": numbers("n_words", "n_topics"),  # extrapolated, they need not be probabilities
        "counts": numbers("n_words", "n_topics"),
        "scale": numbers("n_languages", "n_topics", low=0.0),
        "topic_shares": probabilities("n_topics"),
        "prior_part": numbers("n_words", may_be_empty=True),
        "alpha": numbers("n_topics", low=0.0),
        "document_alpha": numbers("n_topics", low=0.0),
    }
    state_numbers: ClassVar[Mapping[str, Fact]] = {
        "eta": Number(0), "momentum": Number(), "objective": Number(finite=False), "passes": Whole(),
    }  # fmt: skip
    local_arrays: ClassVar[Mapping[str, Array]] = {
        **LDASettings.local_arrays, "before": numbers(ANY, ANY), "group_ends": numbers("shard_documents+1", dtypes=("int64",)),
        "groups": Array(("int32",), (ANY,), low=0), "now": numbers(ANY, WIDTH), "others": numbers("shard_documents"),
    }  # fmt: skip

    def init_shard(self, shard: Shard) -> tuple[Locals, StartStats]:
        """Initialize as EM does; the documents' previous topics equal the current ones."""
        local, stats = super().init_shard(shard)
        return {**local, "before": local["theta"]}, stats

    def init_state(self, stats: StartStats) -> CVB0State:  # type: ignore[override]
        """Compute the first topics from seed documents or an informed prior, as if each had an equal share of all tokens."""
        counts, alpha = self.first_counts(stats), self.first_alpha
        even = np.full(self.n_topics, 1 / self.n_topics)
        nothing = np.zeros((len(self.language_sizes), self.n_topics))
        no_part = np.empty(0, self.dtype)
        state = CVB0State(counts, counts, nothing, even, no_part, alpha, alpha, self.prior.base, 0.0, -math.inf, 0)
        ahead = np.array(counts)
        self._hold_back(ahead, 0)
        return self._with_topics(state, ahead, self._sums_of(ahead))

    def step(self, shard: Shard, local: Locals, state: CVB0State) -> tuple[Locals, CVB0Stats]:  # type: ignore[override]
        """Run a pass over a shard."""
        done = (self._sparse_pass if self._is_sparse(state.passes) else self._dense_pass)(shard, local, state)
        for_alpha = (0.0,) * (self.n_topics + 1)
        if self._learns_alpha_after(state):
            for_alpha = statistics_of_alpha(self.theta_of(done.local, state.alpha), shard.lengths, state.alpha)
        return done.local, CVB0Stats(done.expected, Scalars((done.log_likelihood,)), Scalars(for_alpha))

    def update(self, state: CVB0State, stats: CVB0Stats) -> CVB0State:  # type: ignore[override]
        """Compute the next topics from the expected counts, and update the priors that are learned."""
        assert isinstance(stats.word_topic, CountTotal)
        assert isinstance(stats.for_alpha, ScalarTotal)
        objective = self.objective(state, stats)
        fell = objective < state.objective and state.passes != self._first_sparse_pass
        momentum = 0.0 if state.passes == 0 or fell else MOMENTUM
        counts, ahead = self._counts_of(state, stats.word_topic), writable_copy(state.counts)
        shares, sums = np.zeros(self.n_topics), np.zeros_like(state.scale)
        extrapolate(counts, ahead, counts.dtype.type(momentum), self.word_languages, shares, sums)
        sums -= self._hold_back(ahead, state.passes + 1)
        alpha, eta = state.alpha, state.eta
        if self._learns_alpha_after(state):
            alpha = next_alpha(alpha, stats.for_alpha.sums())
        if self._learns_eta_after(state):
            eta = next_eta(eta, counts, self.word_languages)
        shares = shares / shares.sum() if shares.sum() > 0 else np.full(self.n_topics, 1 / self.n_topics)
        new = CVB0State(
            ahead, counts, state.scale, shares, state.prior_part, alpha, state.alpha, eta, momentum, objective,
            state.passes + 1,
        )  # fmt: skip
        return self._with_topics(new, ahead, sums)

    def objective(self, state: CVB0State, stats: CVB0Stats) -> float:  # type: ignore[override]
        """Return Σ n log P(word | document) before the pass that yielded these statistics."""
        assert isinstance(stats.log_likelihood, ScalarTotal)
        (log_likelihood,) = stats.log_likelihood.sums()
        return log_likelihood

    def broadcast_view(self, state: CVB0State) -> CVB0State:
        """Return all but the counts, which only `update` needs."""
        return state._replace(counts=state.counts[:0])

    def final_state(self, state: CVB0State) -> CVB0State:
        """Return the state of the last counts themselves, not extrapolated."""
        return self._with_topics(state, np.array(state.counts), self._sums_of(state.counts))

    def document_rows(self, kept: CVB0State, local: Locals) -> NDArray[Any]:  # type: ignore[override]
        """Return P(topic | document)."""
        return self.theta_of(local, kept.document_alpha)

    def state_problem(self, state: CVB0State, history: Sequence[float]) -> str | None:
        if state.passes != len(history):
            return f"the history has {len(history):,} passes, but the state has {state.passes:,}"
        if self._is_sparse(state.passes) and len(state.prior_part) != self.n_words:
            return "the array 'prior_part' is missing"
        return None

    def local_problem(self, shard: ShardRef, local: Locals) -> str | None:
        if "group_ends" in local:
            return sparse_problem(local, len(starts_of_groups(self.n_topics)))
        fits = {"theta", "before"} <= set(local) and local["before"].shape == local["theta"].shape
        return None if fits else "the arrays 'theta' and 'before' are missing or differ in shape"

    def theta_of(self, local: Locals, alpha: NDArray[np.float64]) -> NDArray[Any]:
        """Return P(topic | document) of a shard, given the α included in its counts."""
        return local["theta"] if "theta" in local else in_all_topics(SparseTopics.of(local), alpha.astype(self.dtype))

    @property
    def _first_sparse_pass(self) -> int | None:
        """Index of the first sparse pass, or None."""
        few_from = self.few_from
        if few_from is None:
            few_from = max(FEW_FROM, math.ceil(FEW_FROM_PER_TOKEN * self.n_tokens / max(self.n_documents, 1)))
        return PASSES_OVER_ALL if self.n_topics >= max(few_from, WIDTH) else None

    def _is_sparse(self, number: int) -> bool:
        """Return whether the pass with this index, from 0 on, is sparse."""
        return self._first_sparse_pass is not None and number >= self._first_sparse_pass

    def _sparse_pass(self, shard: Shard, local: Locals, state: CVB0State) -> PassResult:
        _, alpha, scale, floor = self._small_tables(state)
        starts, few, momentum = starts_of_groups(self.n_topics), SparseTopics.of(local), self._momentum(state)
        shared = Groups(in_groups(alpha), starts, state.topics, in_groups(scale), in_groups(floor), state.prior_part)
        return sparse_pass(shard, few, momentum, shared, self.word_languages, state.passes, self.n_tokens)

    def _dense_pass(self, shard: Shard, local: Locals, state: CVB0State) -> PassResult:
        held, alpha, scale, floor = self._small_tables(state)
        theta, before = (as_read_only(local[name], self.dtype) for name in ("theta", "before"))
        documents, tables = Documents(theta, before, self._momentum(state), held), Tables(alpha, state.topics, scale, floor)
        done = run_pass(shard, documents, tables, self.word_languages, self.n_tokens)
        if not self._is_sparse(state.passes + 1):
            return done
        sizes, priors = shard.lengths[:, None].astype(self.dtype), {"theta": alpha, "before": held}
        now, then = (np.maximum(done.local[name] * (sizes + prior.sum()) - prior, 0) for name, prior in priors.items())
        return done._replace(local=sparse_topics_of(now, then)._asdict())

    def _small_tables(self, state: CVB0State) -> tuple[NDArray[Any], ...]:
        """Return the α included in documents, the one to use, 1 / (N_k + Σ_w η) and η / (N_k + Σ_w η), for the kernels."""
        exact = (state.document_alpha, state.alpha, state.scale, state.eta * state.scale)
        return tuple(part.astype(self.dtype) for part in exact)

    def _momentum(self, state: CVB0State) -> Any:
        return np.dtype(self.dtype).type(state.momentum)

    def _counts_of(self, state: CVB0State, total: CountTotal) -> NDArray[Any]:
        """Return N_wk after the pass that yielded this total."""
        counts, unit = writable_copy(state.topics), np.dtype(self.dtype).type(math.ldexp(1.0, -total.exponent))
        if self._is_sparse(state.passes):
            counts_of_few(total.table, unit, state.alpha.astype(self.dtype), state.prior_part, counts)
        else:
            counts_of(total.table, unit, counts)
        return counts

    def _hold_back(self, counts: NDArray[Any], passes: int) -> NDArray[np.float64]:
        """Remove words of the prior from topics other than their own, in the first passes and with decreasing strength.

        Otherwise a topic that happens to start with more of a theme attracts its words before their own can. Counts are reduced
        in place; returns by how much, for each language and topic.
        """
        gone = np.zeros((len(self.language_sizes), self.n_topics))
        if not self.prior.guides or passes >= GUIDED:
            return gone
        words, rows = np.unique(self.prior.words, return_inverse=True)
        elsewhere = np.ones((len(words), self.n_topics), dtype=bool)
        elsewhere[rows, self.prior.topics] = False
        taken = counts[words] * elsewhere * counts.dtype.type(1 - passes / GUIDED)
        counts[words] -= taken
        np.add.at(gone, self.word_languages[words], taken)
        return gone

    def _sums_of(self, counts: NDArray[Any]) -> NDArray[np.float64]:
        """Return the counts of each topic in each language."""
        of_languages = [counts[self.word_languages == number] for number in range(len(self.language_sizes))]
        return np.array([part.sum(axis=0, dtype=np.float64) for part in of_languages])

    def _learns_alpha_after(self, state: CVB0State) -> bool:
        return self.learn_alpha and state.passes % LEARN_ALPHA_EVERY == LEARN_ALPHA_EVERY - 1

    def _learns_eta_after(self, state: CVB0State) -> bool:
        return self.learn_eta and self.prior.is_flat and state.passes % LEARN_ETA_EVERY == LEARN_ETA_EVERY - 1

    def _with_topics(self, state: CVB0State, counts: NDArray[Any], sums: NDArray[np.float64]) -> CVB0State:
        """Compute topics from counts, in place, with the sums of each language."""
        prior, totals = self.prior, sums + self.prior_sizes(state.eta)
        scale = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)  # a language may have no words
        normalize(counts, counts.dtype.type(state.eta), scale.astype(self.dtype), self.word_languages)
        if not prior.is_flat:
            of_language = scale[self.word_languages[prior.words], prior.topics]
            counts[prior.words, prior.topics] += (prior.extra * of_language).astype(self.dtype)
        parts = np.empty(self.n_words if self._is_sparse(state.passes) else 0, self.dtype)
        prior_parts(counts[: len(parts)], state.alpha.astype(self.dtype), parts)
        return state._replace(topics=as_read_only(counts, self.dtype), scale=scale, prior_part=parts)
