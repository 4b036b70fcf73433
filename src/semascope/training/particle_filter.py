"""Online Labeled LDA: a Rao-Blackwellized particle filter, document by document.

Each particle is one assignment of every token so far to a label. A new token weights the particles by its probability under
each, and each draws a label for it. When few particles carry all the weight, they are resampled. Documents on which all
particles agree are kept in a replay buffer and reassigned from time to time; the first documents of a stream before it
continues.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semascope.corpus.csr import CSR
from semascope.corpus.labels import LabelRows
from semascope.kernels.particle_filter import N_DOCUMENTS
from semascope.kernels.rejuvenation import TICK, learn_documents, rejuvenate, resample
from semascope.kernels.resampling import reset_weights
from semascope.training.particle_state import Particles

if TYPE_CHECKING:
    from numpy.typing import NDArray

TICKS = 16
"""Times per half-life that all counts are scaled down."""

PASSES = 20
"""Refinement passes over the documents of the first phase."""

BURST = 5
"""Refinement passes over a document when it is closed."""

MAX_OPEN = 1 << 14
"""Maximum number of tokens of open documents. Only long streams of uninformative tokens accumulate this many."""

NEVER = 1 << 62


class LabeledBatch(NamedTuple):
    """Documents to learn, and their labels."""

    rows: CSR
    labels: LabelRows
    n_labels: int


@dataclass(frozen=True)
class ParticleFilter:
    """Settings of the filter.

    threshold      resample when the effective sample size is at most this
    rejuvenation   passes over the documents of the replay buffer when they are rejuvenated
    memory         maximum number of tokens in the replay buffer
    n_initial      documents of the first phase
    half_life      documents after which learned counts are halved; None for never
    """

    alpha: float
    eta: float
    published: bool
    threshold: float
    rejuvenation: int
    memory: int
    n_initial: int
    half_life: float | None
    seed: int

    def learn(self, state: Particles, batch: LabeledBatch) -> Particles:
        """Learn documents, in order; the particles are overwritten."""
        state.reserve_labels(batch.n_labels)
        first, last, scores = 0, len(batch.rows.ends) - 1, np.zeros(2)
        while first < last:
            first = self._learn_part(state, batch, first, last, scores)
        state.scores = (float(scores[0]), float(scores[1]))
        return state

    def _learn_part(self, particles: Particles, batch: LabeledBatch, first: int, last: int, scores: NDArray[np.float64]) -> int:
        """Learn documents until the next scheduled action, and run it; return the next document."""
        before = int(particles.tables.numbers[N_DOCUMENTS])
        stop, begins = min(last, first + self._documents_until_stop(before)), self.memory > 0 and before < self.n_initial
        again = (0.0, self.memory, NEVER, 0, 0)
        if not begins:
            again = (self.threshold, self.memory, MAX_OPEN, BURST if self.memory else 0, self.rejuvenation)
        reached = learn_documents(
            particles.tables, particles.memory, *batch.rows, *batch.labels, first, stop, self.alpha, self.eta, self.published,
            *again, self.keeping, self._seeds, scores,
        )  # fmt: skip
        now = int(particles.tables.numbers[N_DOCUMENTS])
        if reached < stop:
            self._make_room(particles, batch, reached)
        if begins and now == self.n_initial:
            prior = (self.alpha, self.eta, self.keeping)
            resample(particles.tables, particles.memory, 1, self.memory, 0, *prior, self._seeds)
            rejuvenate(particles.tables, particles.memory, PASSES, *prior)
        if self.half_life is not None and before < now and now % self._tick == 0:
            reset_weights(particles.tables, self.keeping)
            particles.memory.numbers[TICK] += 1
        return int(reached)

    def _documents_until_stop(self, n_documents: int) -> int:
        """Return the number of documents until the next scheduled action."""
        initial = self.n_initial - n_documents if n_documents < self.n_initial else NEVER
        return min(initial, NEVER if self.half_life is None else self._tick - n_documents % self._tick)

    def _make_room(self, particles: Particles, batch: LabeledBatch, document: int) -> None:
        own = slice(batch.rows.ends[document], batch.rows.ends[document + 1])
        n_entries, n_labels = int(own.stop - own.start), int(batch.labels.ends[document + 1] - batch.labels.ends[document])
        particles.reserve_pairs(n_entries * n_labels)
        particles.reserve_memory(int(batch.rows.counts[own].sum(dtype=np.float64)), n_entries, n_labels)

    @cached_property
    def _seeds(self) -> NDArray[np.uint64]:
        """Seeds of learning and of resampling."""
        return np.random.SeedSequence([self.seed, 9]).generate_state(2, np.uint64).astype(np.uint64)

    @cached_property
    def _tick(self) -> int:
        """Number of documents between two scalings of the counts."""
        return 1 if self.half_life is None else max(round(self.half_life / TICKS), 1)

    @cached_property
    def keeping(self) -> float:
        """Weight of a token after one tick."""
        return 1.0 if self.half_life is None else float(2 ** (-self._tick / self.half_life))
