"""CVB0 with priors learned from sampled assignments.

Expected counts are smoother than counts, so that their Dirichlet-multinomial likelihood has its maximum at too large an α.
So α and η are learned from sampled assignments, in three phases of one run:

1. passes of CVB0, until topics hardly change;
2. Gibbs sweeps from there, in which the topics are sampled too (φ_k ~ Dir(N_·k + η)); after each, α and η maximize the
   likelihood of the sampled counts. Once they have converged, their mean over the last third of the sweeps is kept;
3. passes of CVB0 with these priors, from the last sampled assignments. With priors that fit, the sweeps often find
   topics that the first phase has missed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import psi

from semascope.corpus.shards import Shard, ShardRef, as_read_only
from semascope.engines.base import Locals
from semascope.engines.exact_sums import Counts, CountTotal
from semascope.kernels.draws import SINGLE, bin_edges, count_assignments, draw_topics, sweep_documents
from semascope.kernels.simd import WIDTH
from semascope.resources import usable_cores
from semascope.storage.facts import Fact, Whole
from semascope.storage.layout import ANY, Array, numbers
from semascope.training.cvb0 import CVB0, CVB0State, CVB0Stats
from semascope.training.cvb0_passes import sparse_topics_of
from semascope.training.hyperpriors import SMALLEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST, SWEEPS, LAST = range(3)
"""The phases."""

FIRST_PASSES = 50
FIRST_TOLERANCE = 5e-4
"""The first phase ends after this many passes, or when one changes the log-likelihood by less than this fraction of itself."""

FIXED_SWEEPS = 3
"""Sweeps before the topics and the priors change: there are no assignments at first."""

MIN_SWEEPS, MAX_SWEEPS = 60, 200
SWEEP_TOLERANCE = 0.01
"""Sweeps continue until the means of the third and the last quarter differ by at most this fraction, in Σα and in η."""

STEPS = 20
"""Fixed-point steps for a prior after each sweep, each continuing from the last."""

RATE = 1.0
"""Rate of the exponential hyperprior on each prior: negligible with hundreds of documents, but it bounds the priors of a
handful, whose likelihood may increase without limit."""

EDGES = bin_edges(1 << 24)
MIDDLES = (EDGES[:-1] + EDGES[1:] - 1) / 2
"""Bins of counts: 1/α + 1/(α + 1) + … is summed over them."""


NOT_KEPT = np.empty(0, np.int64), np.empty((0, 0), np.int32)
"""Sweeps whose assignments are stored: only those of the last one are needed."""


class SampledState(NamedTuple):
    """State broadcast to all shards: the fields of `CVB0State`, and

    phase     index of the phase
    sampled   φ of the next sweep, padded with zeros to whole groups of lanes; empty in other phases
    trace     α and η after each sweep
    first     passes of the first phase
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
    phase: int
    sampled: NDArray[np.float32]
    trace: NDArray[np.float64]
    first: int

    def plain(self) -> CVB0State:
        """Return the fields of `CVB0State`."""
        return CVB0State(*self[: len(CVB0State._fields)])  # type: ignore[arg-type]


class SweepStats(NamedTuple):
    """Statistics of a sweep: counts of words in topics, and how many N_dk, and in the last column |d|, exceed each bin."""

    word_topic: Counts | CountTotal
    exceeding: Counts | CountTotal


@dataclass(frozen=True, eq=False)
class SampledCVB0(CVB0):
    """CVB0 with sampled priors, as pure functions of their arguments; counts must be whole numbers.

    first_passes   maximum number of passes in the first phase
    min_sweeps     minimum number of sweeps
    max_sweeps     maximum number of sweeps
    """

    first_passes: int = FIRST_PASSES
    min_sweeps: int = MIN_SWEEPS
    max_sweeps: int = MAX_SWEEPS

    state_type: ClassVar[type] = SampledState
    state_arrays: ClassVar[Mapping[str, Array]] = {
        **CVB0.state_arrays,
        "sampled": numbers("n_words", "n_padded", low=0.0, may_be_empty=True),
        "trace": numbers(ANY, "n_priors", low=0.0),
    }
    state_numbers: ClassVar[Mapping[str, Fact]] = {**CVB0.state_numbers, "phase": Whole(FIRST, LAST), "first": Whole()}
    local_arrays: ClassVar[Mapping[str, Array]] = {
        **CVB0.local_arrays, "chosen": Array(("int32",), (ANY,), low=0, high="n_topics-1"),
    }  # fmt: skip

    def sizes(self) -> dict[str, int]:
        return {**super().sizes(), "n_padded": padded(self.n_topics), "n_priors": self.n_topics + 1}

    def init_state(self, stats: Any) -> SampledState:  # type: ignore[override]
        """Initialize as CVB0 does."""
        none = np.empty((0, padded(self.n_topics)), np.float32)
        return SampledState(*super().init_state(stats), FIRST, none, np.empty((0, self.n_topics + 1)), 0)

    def step(self, shard: Shard, local: Locals, state: SampledState) -> tuple[Locals, Any]:  # type: ignore[override]
        """Run a pass or a sweep over a shard."""
        if state.phase == SWEEPS:
            return self._sweep(shard, local, state)
        return super().step(shard, self._sampled_start(shard, local, state) if "chosen" in local else local, state.plain())

    def objective(self, state: SampledState, stats: Any) -> float:  # type: ignore[override]
        """Return the log-likelihood before a pass; sweeps do not change it."""
        return state.objective if isinstance(stats, SweepStats) else super().objective(state, stats)  # type: ignore[arg-type]

    def update(self, state: SampledState, stats: CVB0Stats | SweepStats) -> SampledState:  # type: ignore[override]
        """Run the update of the phase, or switch to the next phase."""
        if isinstance(stats, SweepStats):
            return self._after_sweep(state, stats)
        new = state._replace(**super().update(state.plain(), stats)._asdict())
        if state.phase == LAST:
            return new
        change = abs(new.objective - state.objective) if math.isfinite(state.objective) else math.inf
        if new.passes < self.first_passes and change > FIRST_TOLERANCE * abs(new.objective):
            return new
        topics = np.zeros((self.n_words, padded(self.n_topics)), np.float32)
        topics[:, : self.n_topics] = super().final_state(new.plain()).topics
        return new._replace(phase=SWEEPS, sampled=as_read_only(topics, np.float32), first=new.passes)

    def convergence_history(self, state: SampledState, history: Sequence[float]) -> Sequence[float]:
        """Return the objectives of the last phase."""
        return history[state.first + len(state.trace) :] if state.phase == LAST else []

    def broadcast_view(self, state: SampledState) -> SampledState:  # type: ignore[override]
        """Return the fields that `step` needs in this phase."""
        if state.phase == SWEEPS:
            return state._replace(counts=state.counts[:0], topics=state.topics[:0], prior_part=state.prior_part[:0])
        return state._replace(counts=state.counts[:0])

    def final_state(self, state: SampledState) -> SampledState:  # type: ignore[override]
        """Return the topics of CVB0's counts, and the priors learned so far."""
        alpha, eta = state.alpha, state.eta
        if state.phase == SWEEPS and len(state.trace):
            alpha, eta = self._mean_of(state.trace)
        plain = state.plain()._replace(alpha=alpha, eta=eta)
        return state._replace(**super().final_state(plain)._asdict())

    def document_rows(self, kept: SampledState, local: Locals) -> NDArray[Any]:  # type: ignore[override]
        """Return P(topic | document)."""
        return super().document_rows(kept.plain(), local)

    def status(self, state: SampledState) -> str:
        """Return the phase, and the priors being learned."""
        learned = f"Σα = {state.alpha.sum():.3g}, η = {state.eta:.2g}"
        return f"sweep {len(state.trace)}, {learned}" if state.phase == SWEEPS else learned if state.phase == LAST else ""

    def state_problem(self, state: SampledState, history: Sequence[float]) -> str | None:  # type: ignore[override]
        if state.passes + len(state.trace) != len(history) or state.first > state.passes or len(state.trace) > self.max_sweeps:
            n_sweeps = len(state.trace)
            return f"the history has {len(history):,} iterations, but the state {state.passes:,} passes and {n_sweeps:,} sweeps"
        if state.phase == SWEEPS and not len(state.sampled):
            return "the topics of the next sweep are missing"
        if state.phase == FIRST and len(state.trace):
            return "the state has sweeps before the sweep phase"
        return super().state_problem(state.plain()._replace(passes=len(history)), history)

    def local_problem(self, shard: ShardRef, local: Locals) -> str | None:
        if "chosen" in local and len(local["chosen"]) != int(shard.open().lengths.sum()):
            return "the number of assignments is not the number of tokens in the corpus"
        return super().local_problem(shard, {name: local[name] for name in local if name != "chosen"})

    def _learns_alpha_after(self, state: CVB0State) -> bool:
        return False

    def _learns_eta_after(self, state: CVB0State) -> bool:
        return False

    # --- sweeps --------------------------------------------------------------------------------------------------------------

    def _sweep(self, shard: Shard, local: Locals, state: SampledState) -> tuple[Locals, SweepStats]:
        """Resample the topics of all tokens of a shard."""
        chosen = np.array(local["chosen"]) if "chosen" in local else np.full(int(shard.lengths.sum()), -1, np.int32)
        stats = sweep_shard(shard, state.sampled, state.alpha, self._keys(len(state.trace), 1), chosen, self.n_tokens)
        return {**local, "chosen": chosen}, stats

    def _keys(self, first: int, n: int) -> NDArray[np.uint64]:
        """Return the random keys of some sweeps."""
        seeds = [np.random.SeedSequence([self.seed, SWEEPS, number]) for number in range(first, first + n)]
        return np.array([seed.generate_state(1, np.uint64)[0] for seed in seeds])

    def _after_sweep(self, state: SampledState, stats: SweepStats) -> SampledState:
        """Learn the priors from the sampled counts, and draw the topics of the next sweep."""
        assert isinstance(stats.word_topic, CountTotal)
        assert isinstance(stats.exceeding, CountTotal)
        alpha, eta, number = state.alpha, state.eta, len(state.trace)
        counts, sampled = stats.word_topic.values(np.float32), state.sampled
        if number >= FIXED_SWEEPS:
            if self.learn_alpha:
                alpha = sampled_alpha(alpha, stats.exceeding.values(np.float64))
            if self.learn_eta and self.prior.is_flat:
                eta = sampled_eta(eta, counts, self.word_languages)
            sampled = self._draw(counts, eta, number)
        trace = np.concatenate([state.trace, [[*alpha, eta]]])
        if not self._has_converged(trace):
            return state._replace(alpha=alpha, eta=eta, trace=trace, sampled=sampled)
        alpha, eta = self._mean_of(trace)
        counts = counts.astype(self.dtype)
        learned: dict[str, Any] = {"alpha": alpha, "document_alpha": alpha, "eta": eta, "counts": counts}
        plain = state.plain()._replace(**learned, momentum=0.0, objective=-math.inf)
        plain = self._with_topics(plain, np.array(counts), self._sums_of(counts))
        return state._replace(**plain._asdict(), phase=LAST, trace=trace, sampled=sampled[:0])

    def _sampled_start(self, shard: Shard, local: Locals, state: SampledState) -> Locals:
        """Return the locals of the first pass after the sweeps: documents have the topics sampled last."""
        lengths = shard.lengths.astype(np.int64)
        places = np.repeat(np.arange(shard.n_documents), lengths) * self.n_topics + local["chosen"]
        counts = np.bincount(places, minlength=shard.n_documents * self.n_topics).reshape(-1, self.n_topics)
        if self._is_sparse(state.passes):
            return sparse_topics_of(counts.astype(self.dtype), counts.astype(self.dtype))._asdict()
        theta = (counts + state.alpha) / (lengths + state.alpha.sum())[:, None]
        return {"theta": theta.astype(self.dtype), "before": theta.astype(self.dtype)}

    def _draw(self, counts: NDArray[np.float32], eta: float, number: int) -> NDArray[np.float32]:
        """Draw φ_k ~ Dir(N_·k + η) in each language, on all cores."""
        prior, topics = self.prior_with(eta), np.zeros((self.n_words, padded(self.n_topics)), np.float32)
        n_languages = len(self.language_sizes)
        seed = np.random.SeedSequence([self.seed, LAST, number])
        keys = seed.generate_state(n_languages * self.n_topics, np.uint64).reshape(n_languages, self.n_topics)
        borders = np.linspace(0, self.n_words, usable_cores() + 1).astype(int).tolist()
        draw = partial(draw_topics, counts, prior.ends, prior.topics, prior.extra, prior.base, keys, self.word_languages)
        with ThreadPoolExecutor(usable_cores()) as threads:
            for done in [threads.submit(draw, *pair, topics) for pair in pairwise(borders)]:
                done.result()
        for language in range(n_languages):
            mine = self.word_languages == language if n_languages > 1 else slice(None)
            sums = topics[mine].sum(axis=0, dtype=np.float64)
            topics[mine] *= np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0).astype(np.float32)
        return as_read_only(topics, np.float32)

    def _has_converged(self, trace: NDArray[np.float64]) -> bool:
        """Return whether the later half of the sweeps has converged."""
        n = len(trace)
        if n < self.min_sweeps or n >= self.max_sweeps:
            return n >= self.max_sweeps
        sums = np.stack([trace[:, :-1].sum(axis=1), trace[:, -1]])
        third, fourth = sums[:, n // 2 : 3 * n // 4].mean(axis=1), sums[:, 3 * n // 4 :].mean(axis=1)
        return bool(np.abs(np.log(third / fourth)).max() <= SWEEP_TOLERANCE)

    def _mean_of(self, trace: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Return the mean α and η of the last third: before convergence, earlier sweeps still reflect the start.

        A prior that is not learned keeps its value, to the last bit.
        """
        mean = trace[2 * len(trace) // 3 :].mean(axis=0)
        learn_eta = self.learn_eta and self.prior.is_flat
        return mean[:-1] if self.learn_alpha else self.first_alpha, float(mean[-1]) if learn_eta else self.prior.base


def padded(n_topics: int) -> int:
    """Return the number of topics, padded to whole groups of lanes."""
    return -(-n_topics // WIDTH) * WIDTH


def sweep_shard(
    shard: Shard,
    topics: NDArray[np.float32],
    alpha: NDArray[np.float64],
    keys: NDArray[np.uint64],
    chosen: NDArray[np.int32],
    bound: float,
) -> SweepStats:
    """Run sweeps over a shard, and count the assignments; `topics` are padded, `chosen` is overwritten."""
    n_topics = alpha.shape[-1]
    priors = np.zeros((1, topics.shape[1]) if alpha.ndim == 1 else (len(alpha), topics.shape[1]), np.float32)
    priors[:, :n_topics] = alpha
    exceeding = np.zeros((len(MIDDLES), n_topics + 1), np.int64)
    sweep_documents(
        *shard.rows, topics, as_read_only(priors, np.float32), keys, shard.first_document, chosen, exceeding, *NOT_KEPT
    )
    places = np.zeros(shard.n_words, np.int32)
    places[shard.by_word.words] = np.arange(len(shard.by_word.words), dtype=np.int32)
    whole = np.zeros((len(shard.by_word.words), n_topics), np.int32)  # single precision cannot count beyond 2^24
    count_assignments(*shard.rows, chosen, places, whole)
    table = whole.astype(np.float32)
    used = int(np.flatnonzero(exceeding.any(axis=1))[-1]) + 1 if exceeding.any() else 0
    bins = Counts(np.arange(used, dtype=np.int32), exceeding[:used].astype(np.float64), exceeding.shape, max(bound, 1.0))
    return SweepStats(Counts(shard.by_word.words, table, (shard.n_words, n_topics), max(bound, 1.0)), bins)


def sampled_alpha(alpha: NDArray[np.float64], exceeding: NDArray[np.float64]) -> NDArray[np.float64]:
    """Estimate the posterior mode of α from sampled N_dk by the fixed point of the Dirichlet-multinomial (Minka 2000)."""
    used = exceeding[:, -1] > 0  # no document is longer
    middles, of_topics, of_documents = MIDDLES[used], exceeding[used, :-1], exceeding[used, -1]
    for _ in range(STEPS if len(middles) else 0):
        rise = (of_topics / (alpha + middles[:, None])).sum(axis=0)
        alpha = np.maximum(alpha * rise / (RATE + (of_documents / (alpha.sum() + middles)).sum()), SMALLEST)
    return np.asarray(alpha)


def sampled_eta(eta: float, counts: NDArray[Any], languages: NDArray[np.int32]) -> float:
    """Estimate one η for all words and topics from sampled N_wk, by the same fixed point."""
    small = np.bincount(np.minimum(counts, SINGLE).astype(np.int64).ravel(), minlength=SINGLE + 1)
    exceeding, large = small[::-1].cumsum()[::-1][1:], counts[counts > SINGLE].astype(np.float64)
    sizes = np.bincount(languages)
    totals = np.zeros((len(sizes), counts.shape[1]))
    for language in range(len(sizes)):
        totals[language] = counts[languages == language].sum(axis=0, dtype=np.float64)
    sizes = sizes[:, None].astype(np.float64)
    for _ in range(STEPS if totals.any() else 0):
        rise = (exceeding / (eta + np.arange(SINGLE))).sum() + (psi(large + eta) - psi(SINGLE + eta)).sum()
        eta = max(eta * rise / (RATE + (sizes * (psi(totals + sizes * eta) - psi(sizes * eta))).sum()), SMALLEST)
    return float(eta)
