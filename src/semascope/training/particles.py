"""What the particles of a stream know, in arrays that grow as it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.kernels.particles import N_PAIRS, N_ROWS, N_WORDS, Tables, fill_buckets
from semascope.kernels.remembering import FIRST, LAST, OPEN, Memory
from semascope.training.labelwords import LabelWords

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOM = 1 << 12
"""Places that new arrays have."""

SAVED = {
    "pair_words": "word", "pair_labels": "label", "pair_counts": "base", "pair_rows": "row", "row_differences": "differ",
    "row_pairs": "pair", "label_sizes": "sizes", "label_differences": "beside", "particle_logs": "logs",
    "particle_numbers": "numbers",
}  # fmt: skip
"""Arrays of the tables by the names of their files; the buckets are filled again."""


@dataclass
class Particles:
    """Particles, and the documents they remember: written over while they learn."""

    tables: Tables
    memory: Memory
    scores: tuple[float, float] = (0.0, 0.0)
    """Of what was learned last: Σ log P(word | all before it), and the number of words."""

    @classmethod
    def none(cls, n_particles: int, n_words: int = 0) -> Particles:
        """Know nothing yet, but perhaps how many words there are."""
        numbers, more = np.zeros(5, np.int64), (0, n_particles)
        numbers[N_WORDS] = n_words
        empty = {name: np.empty(0, np.int32) for name in ("word", "label", "row", "pair")}
        tables = Tables(
            **empty, buckets=np.empty((0, 2), np.int64), base=np.empty(0), differ=np.empty(more, np.float32), sizes=np.zeros(0),
            beside=np.zeros(more), uneven=np.zeros(0, np.bool_), logs=np.zeros(n_particles), numbers=numbers,
        )  # fmt: skip
        memory = Memory(
            np.zeros((1, 4), np.int64), np.empty(0, np.float32), np.empty(0, np.int32), np.empty(0, np.float32),
            np.empty(0, np.int32), np.empty(0, np.int64), np.empty(more, np.int16), np.empty(more, np.int16),
            np.zeros(5, np.int64),
        )  # fmt: skip
        return cls(tables, memory)

    @property
    def weights(self) -> NDArray[np.float64]:
        """How much each particle counts for."""
        weights = np.exp(self.tables.logs - self.tables.logs.max())
        return np.asarray(weights / weights.sum())

    def label_words(self, n_words: int, eta: float) -> LabelWords:
        """The mean of what all particles know."""
        tables, n_pairs, n_rows = self.tables, self.tables.numbers[N_PAIRS], self.tables.numbers[N_ROWS]
        counts = tables.base[:n_pairs].copy()
        counts[tables.pair[:n_rows]] += tables.differ[:n_rows] @ self.weights
        order = np.lexsort((tables.label[:n_pairs], tables.word[:n_pairs]))
        ends = np.searchsorted(tables.word[:n_pairs][order], np.arange(n_words + 1))
        counts = np.maximum(counts[order], 0)  # they are rounded
        return LabelWords.of(ends, tables.label[:n_pairs][order], counts, len(tables.sizes), eta)

    # --- room ----------------------------------------------------------------------------------------------------------------

    def have_labels(self, n_labels: int) -> None:
        """Know of so many labels."""
        n_new = n_labels - len(self.tables.sizes)
        if n_new > 0:
            beside = np.concatenate([self.tables.beside, np.zeros((n_new, len(self.tables.logs)))])
            sizes, uneven = np.concatenate([self.tables.sizes, np.zeros(n_new)]), np.asarray(beside.any(axis=1))
            self.tables = self.tables._replace(sizes=sizes, beside=beside, uneven=uneven)

    def have_pairs(self, n_more: int) -> None:
        """Have room for more pairs of words and labels, and for differences in as many."""
        tables = self.tables
        n_pairs, n_rows = int(tables.numbers[N_PAIRS]), int(tables.numbers[N_ROWS])
        if n_rows + n_more > len(tables.pair):
            tables = tables._replace(differ=_longer(tables.differ, n_rows, n_more), pair=_longer(tables.pair, n_rows, n_more))
        if n_pairs + n_more > len(tables.base):
            grown = {name: _longer(getattr(tables, name), n_pairs, n_more) for name in ("word", "label", "base", "row")}
            tables = tables._replace(**grown)
        self.tables = tables
        if 2 * (n_pairs + n_more) > len(tables.buckets):
            self._fill_buckets(n_pairs + n_more)

    def _fill_buckets(self, n_pairs: int) -> None:
        """Have buckets for so many pairs, half of them free."""
        n_buckets = 1 << (4 * n_pairs + ROOM).bit_length()
        self.tables = self.tables._replace(buckets=np.full((n_buckets, 2), -1, np.int64))
        fill_buckets(self.tables)

    def have_memory(self, n_tokens: int, n_entries: int, n_labels: int) -> None:
        """Have room for one more document, at the end of those that are remembered now."""
        memory = self._remembered()
        last, n_open = int(memory.numbers[LAST]), int(memory.numbers[LAST] - memory.numbers[OPEN])
        _, entries, slots, labels = memory.firsts[-1].tolist()
        self.memory = Memory(
            _longer(memory.firsts, last + 1, 2), _longer(memory.counts, entries, n_entries),
            _longer(memory.slots, slots, n_entries * n_labels), _longer(memory.shares, slots, n_entries * n_labels),
            _longer(memory.labels, labels, n_labels), _longer(memory.ticks, last, 2),
            _longer(memory.open, len(memory.open), n_tokens), _longer(memory.ancestors, n_open, 2), memory.numbers,
        )  # fmt: skip

    def _remembered(self) -> Memory:
        """The memory without what is no longer remembered, and without free room."""
        memory, numbers = self.memory, self.memory.numbers.copy()
        first, opened, last = (int(numbers[place]) for place in (FIRST, OPEN, LAST))
        firsts = memory.firsts[first : last + 1] - memory.firsts[first]
        own = [slice(start, stop) for start, stop in zip(memory.firsts[first], memory.firsts[last], strict=True)]
        numbers[[FIRST, OPEN, LAST]] = 0, opened - first, last - first
        n_open = int(memory.firsts[last, 0] - memory.firsts[opened, 0])
        return Memory(
            firsts, memory.counts[own[1]], memory.slots[own[2]], memory.shares[own[2]], memory.labels[own[3]],
            memory.ticks[first:last], memory.open[:n_open], memory.ancestors[: last - opened], numbers,
        )  # fmt: skip

    # --- on disk -------------------------------------------------------------------------------------------------------------

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Give all that is needed to go on."""
        n_pairs, n_rows = self.tables.numbers[N_PAIRS], self.tables.numbers[N_ROWS]
        used = dict.fromkeys(("word", "label", "base", "row"), n_pairs) | dict.fromkeys(("differ", "pair"), n_rows)
        known = {name: getattr(self.tables, field)[: used.get(field)] for name, field in SAVED.items()}
        return known | {f"memory_{name}": array for name, array in self._remembered()._asdict().items()}

    @classmethod
    def from_arrays(cls, array: Callable[[str], NDArray[Any]]) -> Particles:
        """Take up what `to_arrays` gave, by name."""
        fields: dict[str, Any] = {field: np.array(array(name)) for name, field in SAVED.items()}
        uneven = fields["beside"].any(axis=1)
        tables = Tables(buckets=np.empty((0, 2), np.int64), uneven=uneven, **fields)
        memory = Memory(*(np.array(array(f"memory_{name}")) for name in Memory._fields))
        particles = cls(tables, memory)
        particles._fill_buckets(int(tables.numbers[N_PAIRS]))
        return particles


def _longer(array: NDArray[Any], n_used: int, n_more: int) -> NDArray[Any]:
    """The same with room for more at its end, so much that this is not needed often."""
    longer = np.empty((2 * (n_used + n_more) + ROOM, *array.shape[1:]), array.dtype)
    longer[:n_used] = array[:n_used]
    return longer
