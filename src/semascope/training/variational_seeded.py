"""Variational EM initialized by CVB0.

The bound has many local maxima, and mean-field updates from rough topics end in poor ones: exp(E[log θ]) is nearly one-hot
where γ is below one, so that documents commit to topics too early. Restarting documents from the uniform in every iteration
helps; starting from topics found by CVB0 helps far more, in less time (``python -m benchmarks vb_optima``). So a fit has three
phases in one run:

1. passes of CVB0 with the given priors, until the log-likelihood converges;
2. one iteration of variational EM in which every document starts from the uniform;
3. iterations with warm-started documents. The bound of each is at least that of the one before, from phase 2 on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from semascope.corpus.shards import Shard, ShardRef
from semascope.engines.base import Locals
from semascope.storage.facts import Fact, Whole
from semascope.storage.layout import Array, numbers
from semascope.training.cvb0 import CVB0, CVB0State
from semascope.training.lda_base import LDASettings
from semascope.training.variational import VB, VBState, VBStats, first_theta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semascope.training.plsa import StartStats

COLLAPSED, RESTART, WARM = range(3)
"""The phases."""

MAX_COLLAPSED_PASSES = 100
COLLAPSED_TOLERANCE = 1e-4
"""The first phase ends after this many passes, or when one changes the log-likelihood by less than this fraction of itself: the
default tolerance of an LDA fitted by CVB0 alone."""


class SeededState(NamedTuple):
    """State broadcast to all shards: the fields of `VBState` and of `CVB0State`, and the phase.

    Fields that a phase does not use are empty. `passes` counts those of CVB0.
    """

    topics: NDArray[Any]
    sizes: NDArray[np.float64]
    table: NDArray[Any]
    topic_shares: NDArray[np.float64]
    alpha: NDArray[np.float64]
    document_alpha: NDArray[np.float64]
    eta: float
    topic_eta: float
    counts: NDArray[Any]
    scale: NDArray[np.float64]
    prior_part: NDArray[Any]
    momentum: float
    objective: float
    passes: int
    phase: int

    @classmethod
    def of_collapsed(cls, state: CVB0State) -> SeededState:
        """Return a state of the first phase."""
        none = np.empty((0, len(state.alpha)), state.topics.dtype)
        unused: dict[str, Any] = {"sizes": none.astype(np.float64), "table": none, "topic_eta": state.eta}
        return cls(**state._asdict(), **unused, phase=COLLAPSED)

    def collapsed(self) -> CVB0State:
        """Return the fields of `CVB0State`."""
        return CVB0State(*(getattr(self, name) for name in CVB0State._fields))

    def variational(self) -> VBState:
        """Return the fields of `VBState`."""
        return VBState(*(getattr(self, name) for name in VBState._fields))


@dataclass(frozen=True, eq=False)
class SeededVB(VB):
    """Variational EM initialized by CVB0, as pure functions of their arguments.

    collapsed_passes   maximum number of passes of CVB0
    """

    collapsed_passes: int = MAX_COLLAPSED_PASSES

    state_type: ClassVar[type] = SeededState
    state_arrays: ClassVar[Mapping[str, Array]] = {
        **CVB0.state_arrays,
        "counts": numbers("n_words", "n_topics", may_be_empty=True),
        "scale": numbers("n_languages", "n_topics", low=0.0, may_be_empty=True),
        "sizes": numbers("n_languages", "n_topics", low=0.0, may_be_empty=True),
        "table": numbers("n_words", "n_topics", low=0.0, may_be_empty=True),
    }
    state_numbers: ClassVar[Mapping[str, Fact]] = {
        **CVB0.state_numbers, **VB.state_numbers, "phase": Whole(COLLAPSED, WARM),
    }  # fmt: skip
    local_arrays: ClassVar[Mapping[str, Array]] = CVB0.local_arrays

    @cached_property
    def cvb0(self) -> CVB0:
        """Algorithm of the first phase, which learns no priors."""
        settings = {part.name: getattr(self, part.name) for part in fields(LDASettings)}
        return CVB0(**{**settings, "learn_alpha": False, "learn_eta": False})

    def init_shard(self, shard: Shard) -> tuple[Locals, StartStats]:
        """Initialize as CVB0 does."""
        return self.cvb0.init_shard(shard)

    def init_state(self, stats: StartStats) -> SeededState:  # type: ignore[override]
        """Initialize as CVB0 does."""
        return SeededState.of_collapsed(self.cvb0.init_state(stats))

    def step(self, shard: Shard, local: Locals, state: SeededState) -> tuple[Locals, Any]:  # type: ignore[override]
        """Run a pass of CVB0, or an E-step."""
        if state.phase == COLLAPSED:
            return self.cvb0.step(shard, local, state.collapsed())
        if state.phase == RESTART:
            theta = first_theta(shard, state.document_alpha, self.dtype)
        else:
            theta = self.cvb0.theta_of(local, state.document_alpha)
        return super().step(shard, {"theta": theta}, state.variational())

    def objective(self, state: SeededState, stats: Any) -> float:  # type: ignore[override]
        """Return the log-likelihood before a pass of CVB0, or the bound after an iteration of variational EM."""
        if state.phase == COLLAPSED:
            return self.cvb0.objective(state.collapsed(), stats)
        return super().objective(state.variational(), stats)

    def update(self, state: SeededState, stats: Any) -> SeededState:  # type: ignore[override]
        """Run the update of the phase, or switch to the next phase."""
        if state.phase != COLLAPSED:
            return self._with_bound(state, stats)
        new = self.cvb0.update(state.collapsed(), stats)
        if new.passes >= self.collapsed_passes or _has_converged(state.objective, new.objective):
            return self._first_variational(new)
        return SeededState.of_collapsed(new)

    def _with_bound(self, state: SeededState, stats: VBStats) -> SeededState:
        """Run the M-step of variational EM."""
        return state._replace(**super().update(state.variational(), stats)._asdict(), phase=WARM)

    def _first_variational(self, state: CVB0State) -> SeededState:
        """Return the first state of variational EM: λ = η + N."""
        new = SeededState.of_collapsed(state)
        none = new.counts[:0]
        learned = self._posterior_of(state)._asdict()
        return new._replace(**learned, counts=none, scale=none.astype(np.float64), prior_part=none[:, 0], phase=RESTART)

    def _posterior_of(self, state: CVB0State) -> VBState:
        """Return q(β) = Dir(η + N), with the counts found by CVB0."""
        kept = self.cvb0.final_state(state)
        sizes = np.divide(1.0, kept.scale, out=np.zeros_like(kept.scale), where=kept.scale > 0)
        table, _ = self.table(kept.topics, sizes)
        alpha = kept.document_alpha
        return VBState(kept.topics, sizes, table, kept.topic_shares, alpha, alpha, kept.eta, kept.eta)

    def convergence_history(self, state: SeededState, history: Sequence[float]) -> Sequence[float]:
        """Return the bounds."""
        return [] if state.phase == COLLAPSED else history[state.passes :]

    def broadcast_view(self, state: SeededState) -> SeededState:
        """Return the fields that `step` needs in this phase."""
        if state.phase == COLLAPSED:
            return state._replace(counts=state.counts[:0])
        return state._replace(topics=state.topics[:0])

    def final_state(self, state: SeededState) -> SeededState:
        """Return the posterior, also if the first phase was interrupted."""
        return state._replace(**self._posterior_of(state.collapsed())._asdict()) if state.phase == COLLAPSED else state

    def document_rows(self, kept: SeededState, local: Locals) -> NDArray[Any]:  # type: ignore[override]
        """Return P(topic | document)."""
        return self.cvb0.theta_of(local, kept.document_alpha)

    def status(self, state: SeededState) -> str:
        """Return the phase, and the priors being learned."""
        if state.phase == COLLAPSED:
            return f"collapsed pass {state.passes}"
        learned = [f"Σα = {state.alpha.sum():.3g}"] * self.learn_alpha + [f"η = {state.eta:.2g}"] * self.learn_eta
        return ", ".join(learned)

    def state_problem(self, state: SeededState, history: Sequence[float]) -> str | None:
        if state.passes > len(history) or (state.phase == COLLAPSED and state.passes != len(history)):
            return f"the history has {len(history):,} iterations, but the state has {state.passes:,} passes of CVB0"
        needed = ("counts", "scale") if state.phase == COLLAPSED else ("sizes", "table")
        if empty := [name for name in needed if not len(getattr(state, name))]:
            return f"the array {empty[0]!r} is missing"
        return None if state.phase != COLLAPSED else self.cvb0.state_problem(state.collapsed(), history)

    def local_problem(self, shard: ShardRef, local: Locals) -> str | None:
        return self.cvb0.local_problem(shard, {"before": local.get("theta", np.empty(0)), **local})


def _has_converged(before: float, now: float) -> bool:
    """Return whether the log-likelihood of CVB0 has converged; before the first pass it is -inf."""
    return math.isfinite(before) and abs(now - before) < COLLAPSED_TOLERANCE * abs(before)
