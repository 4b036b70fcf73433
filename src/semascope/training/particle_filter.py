"""Online Labeled LDA: a Rao-Blackwellised particle filter, document by document.

Each particle is a guess which label every word so far is due to. A new word is weighed by how probable it was under each
particle, and given a label by each. When few particles carry all the weight, they take the place of the others. Documents on
which all agree are remembered, and shared out anew among their labels now and then; the first ones before the stream begins in
earnest.
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
"""Times in a half-life that everything is made to count for less."""

PASSES = 20
"""How often to look at the documents of the first phase."""

BURST = 5
"""How often to look again at a document when it is settled."""

MAX_OPEN = 1 << 14
"""Words of open documents to remember. It takes long streams of words that tell little for so many to come together."""

NEVER = 1 << 62


class LabeledBatch(NamedTuple):
    """Documents to learn, and their labels."""

    rows: CSR
    labels: LabelRows
    n_labels: int


@dataclass(frozen=True)
class ParticleFilter:
    """Settings of the filter.

    threshold      resample when particles are worth no more than this many
    rejuvenation   how often to look at remembered documents when they are rejuvenated
    memory         words to remember
    n_initial      documents of the first phase
    half_life      documents after which what was learned counts for half; None for ever
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
        """Learn documents, in their order; the particles are written over."""
        state.have_labels(batch.n_labels)
        first, last, scores = 0, len(batch.rows.ends) - 1, np.zeros(2)
        while first < last:
            first = self._learn_some(state, batch, first, last, scores)
        state.scores = (float(scores[0]), float(scores[1]))
        return state

    def _learn_some(self, particles: Particles, batch: LabeledBatch, first: int, last: int, scores: NDArray[np.float64]) -> int:
        """Learn up to where something else is to be done first, and do that; give the next document."""
        before = int(particles.tables.numbers[N_DOCUMENTS])
        stop, begins = min(last, first + self._until_stop(before)), self.memory > 0 and before < self.n_initial
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

    def _until_stop(self, n_documents: int) -> int:
        """Documents after which something is to be done in any case."""
        initial = self.n_initial - n_documents if n_documents < self.n_initial else NEVER
        return min(initial, NEVER if self.half_life is None else self._tick - n_documents % self._tick)

    def _make_room(self, particles: Particles, batch: LabeledBatch, document: int) -> None:
        own = slice(batch.rows.ends[document], batch.rows.ends[document + 1])
        n_entries, n_labels = int(own.stop - own.start), int(batch.labels.ends[document + 1] - batch.labels.ends[document])
        particles.have_pairs(n_entries * n_labels)
        particles.have_memory(int(batch.rows.counts[own].sum(dtype=np.float64)), n_entries, n_labels)

    @cached_property
    def _seeds(self) -> NDArray[np.uint64]:
        """Of learning, and of particles taking others' places."""
        return np.random.SeedSequence([self.seed, 9]).generate_state(2, np.uint64).astype(np.uint64)

    @cached_property
    def _tick(self) -> int:
        """Documents after which everything is made to count for less."""
        return 1 if self.half_life is None else max(round(self.half_life / TICKS), 1)

    @cached_property
    def keeping(self) -> float:
        """What a word counts for after that."""
        return 1.0 if self.half_life is None else float(2 ** (-self._tick / self.half_life))
