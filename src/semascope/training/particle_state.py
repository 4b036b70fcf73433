"""State of the particle filter, in arrays that grow with the stream; and the label counts derived from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.shards import as_read_only
from semascope.errors import FormatError
from semascope.kernels.particle_filter import N_PAIRS, N_ROWS, N_WORDS, Tables, fill_buckets
from semascope.kernels.rejuvenation import ENTRIES, FIRST, LABELS, LAST, OPEN, SLOTS, TOKENS, ReplayBuffer
from semascope.storage import Directory
from semascope.storage.facts import MAX_WHOLE
from semascope.storage.layout import ANY, MAX_COUNT, SLACK, Array, AxisOf, indices, numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LabelCounts(NamedTuple):
    """Counts of words and labels.

    ends     int64[v + 1]   pairs of word w are [ends[w]:ends[w + 1]] of the two others
    labels   int32[p]       ascending for each word
    counts   float64[p]     tokens of the word assigned to the label; means of several samples need not be whole
    sizes    float64[k]     tokens of each label
    eta      prior of the words in a label
    """

    ends: NDArray[np.int64]
    labels: NDArray[np.int32]
    counts: NDArray[np.float64]
    sizes: NDArray[np.float64]
    eta: float

    @classmethod
    def of(
        cls, ends: NDArray[np.int64], labels: NDArray[np.int32], counts: NDArray[np.float64], n: int, eta: float
    ) -> LabelCounts:
        """Create label counts, computing the sizes of `n` labels."""
        sizes = np.bincount(labels, counts, n) if len(labels) else np.zeros(n)
        return cls(
            as_read_only(ends, np.int64),
            as_read_only(labels, np.int32),
            as_read_only(counts, np.float64),
            as_read_only(sizes, np.float64),
            eta,
        )

    @property
    def n_words(self) -> int:
        return len(self.ends) - 1

    @property
    def n_labels(self) -> int:
        return len(self.sizes)

    @property
    def scale(self) -> NDArray[np.float64]:
        """1 / (N + V η) of each label."""
        return as_read_only(1 / np.maximum(self.sizes + self.n_words * self.eta, 1e-300), np.float64)

    def words(self) -> NDArray[np.int32]:
        """Return the word of each pair."""
        return np.repeat(np.arange(self.n_words, dtype=np.int32), np.diff(self.ends))

    def dense(self) -> NDArray[np.float32]:
        """Return P(word | label), one row a label: large if there are many labels."""
        table = np.full((self.n_labels, self.n_words), self.eta, np.float32)
        table[self.labels, self.words()] += self.counts.astype(np.float32)
        return table * self.scale[:, None].astype(np.float32)

    def for_kernels(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64], float]:
        """Return ends, labels, counts, scale and η, as arguments of the kernels."""
        arrays = as_read_only(self.ends, np.int64), as_read_only(self.labels, np.int32), as_read_only(self.counts, np.float64)
        return *arrays, self.scale, float(self.eta)

    def with_unknown(self, n: int) -> LabelCounts:
        """Return the counts with more labels, which have none."""
        return self._replace(sizes=as_read_only(np.concatenate([self.sizes, np.zeros(n)]), np.float64)) if n else self


ROOM = 1 << 12
"""Initial capacity of arrays."""

SAVED = {
    "pair_words": "word", "pair_labels": "label", "pair_counts": "base", "pair_rows": "row", "row_differences": "differ",
    "row_pairs": "pair", "label_sizes": "sizes", "label_differences": "beside", "particle_logs": "logs",
    "particle_numbers": "numbers",
}  # fmt: skip
"""Arrays of the tables by their file names; the buckets are rebuilt."""

DIMENSIONS = {
    "n_pairs": AxisOf("pair_labels"), "n_rows": AxisOf("row_pairs"), "n_topics": AxisOf("label_sizes"),
    "n_particles": AxisOf("particle_logs", least=1), "n_kept": AxisOf("memory_ticks"),
    "n_kept_entries": AxisOf("memory_counts"), "n_kept_slots": AxisOf("memory_slots"), "n_kept_labels": AxisOf("memory_labels"),
}  # fmt: skip
"""Dimensions shared by the arrays; n_words is the model's."""

_ROUNDING = 0.5
"""Rounding error that counts may accumulate below zero."""


def _counts(*shape: str, dtype: str = "float64") -> Array:
    """Declare counts of words; as differences, and after rounding, they may be negative."""
    return numbers(*shape, low=-MAX_COUNT, high=MAX_COUNT, dtypes=(dtype,))


ARRAYS = {
    "pair_words": indices("n_pairs", "n_words"),
    "pair_labels": indices("n_pairs", "n_topics"),
    "pair_counts": _counts("n_pairs"),
    "pair_rows": Array(("int32",), ("n_pairs",), low=-1, high="n_rows-1"),
    "row_differences": _counts("n_rows", "n_particles", dtype="float32"),
    "row_pairs": indices("n_rows", "n_pairs"),
    "label_sizes": _counts("n_topics"),
    "label_differences": _counts("n_topics", "n_particles"),
    "particle_logs": _counts("n_particles"),
    "particle_numbers": Array(("int64",), (5,), low=0, high=MAX_WHOLE),
    "memory_firsts": Array(("int64",), ("n_kept+1", 4), low=0, high=MAX_WHOLE),
    "memory_counts": numbers("n_kept_entries", low=1, high=2**24, dtypes=("float32",)),
    "memory_slots": indices("n_kept_slots", "n_pairs"),
    "memory_shares": numbers("n_kept_slots", low=-SLACK, high=1 + SLACK, dtypes=("float32",)),
    "memory_labels": indices("n_kept_labels", "n_topics"),
    "memory_ticks": Array(("int64",), ("n_kept",), low=0, high=MAX_WHOLE),
    "memory_open": Array(("int16",), (ANY, "n_particles"), low=0),
    "memory_ancestors": Array(("int16",), (ANY, "n_particles"), low=0, high="n_particles-1"),
    "memory_numbers": Array(("int64",), (5,), low=0, high=MAX_WHOLE),
}
"""Arrays in files, checked one by one; `Particles.from_directory` checks their consistency."""


@dataclass
class Particles:
    """Particles and their replay buffer: overwritten while they learn."""

    tables: Tables
    memory: ReplayBuffer
    scores: tuple[float, float] = (0.0, 0.0)
    """Scores of what was learned last: Σ log P(word | all before), and the number of tokens."""

    @classmethod
    def none(cls, n_particles: int, n_words: int = 0) -> Particles:
        """Create particles without counts, for a vocabulary of this size."""
        numbers, more = np.zeros(5, np.int64), (0, n_particles)
        numbers[N_WORDS] = n_words
        empty = {name: np.empty(0, np.int32) for name in ("word", "label", "row", "pair")}
        tables = Tables(
            **empty, buckets=np.empty((0, 2), np.int64), base=np.empty(0), differ=np.empty(more, np.float32), sizes=np.zeros(0),
            beside=np.zeros(more), uneven=np.zeros(0, np.bool_), logs=np.zeros(n_particles), numbers=numbers,
        )  # fmt: skip
        memory = ReplayBuffer(
            np.zeros((1, 4), np.int64), np.empty(0, np.float32), np.empty(0, np.int32), np.empty(0, np.float32),
            np.empty(0, np.int32), np.empty(0, np.int64), np.empty(more, np.int16), np.empty(more, np.int16),
            np.zeros(5, np.int64),
        )  # fmt: skip
        return cls(tables, memory)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Normalized weights of the particles."""
        weights = np.exp(self.tables.logs - self.tables.logs.max())
        return np.asarray(weights / weights.sum())

    def label_words(self, n_words: int, eta: float) -> LabelCounts:
        """Return the weighted mean of the particles' counts."""
        tables, n_pairs, n_rows = self.tables, self.tables.numbers[N_PAIRS], self.tables.numbers[N_ROWS]
        counts = tables.base[:n_pairs].copy()
        counts[tables.pair[:n_rows]] += tables.differ[:n_rows] @ self.weights
        order = np.lexsort((tables.label[:n_pairs], tables.word[:n_pairs]))
        ends = np.searchsorted(tables.word[:n_pairs][order], np.arange(n_words + 1))
        counts = np.maximum(counts[order], 0)  # rounding may leave them below zero
        return LabelCounts.of(ends, tables.label[:n_pairs][order], counts, len(tables.sizes), eta)

    # --- room ----------------------------------------------------------------------------------------------------------------

    def reserve_labels(self, n_labels: int) -> None:
        """Add labels up to this number."""
        n_new = n_labels - len(self.tables.sizes)
        if n_new > 0:
            beside = np.concatenate([self.tables.beside, np.zeros((n_new, len(self.tables.logs)))])
            sizes, uneven = np.concatenate([self.tables.sizes, np.zeros(n_new)]), np.asarray(beside.any(axis=1))
            self.tables = self.tables._replace(sizes=sizes, beside=beside, uneven=uneven)

    def reserve_pairs(self, n_more: int) -> None:
        """Reserve room for more pairs of words and labels, and for as many rows of differences."""
        tables = self.tables
        n_pairs, n_rows = int(tables.numbers[N_PAIRS]), int(tables.numbers[N_ROWS])
        if n_rows + n_more > len(tables.pair):
            tables = tables._replace(differ=_longer(tables.differ, n_rows, n_more), pair=_longer(tables.pair, n_rows, n_more))
        if n_pairs + n_more > len(tables.base):
            expand_vocabulary = {
                name: _longer(getattr(tables, name), n_pairs, n_more) for name in ("word", "label", "base", "row")
            }
            tables = tables._replace(**expand_vocabulary)
        self.tables = tables
        if 2 * (n_pairs + n_more) > len(tables.buckets):
            self._fill_buckets(n_pairs + n_more)

    def _fill_buckets(self, n_pairs: int) -> None:
        """Rebuild the buckets for this many pairs, half of them free."""
        n_buckets = 1 << (4 * n_pairs + ROOM).bit_length()
        self.tables = self.tables._replace(buckets=np.full((n_buckets, 2), -1, np.int64))
        fill_buckets(self.tables)

    def reserve_memory(self, n_tokens: int, n_entries: int, n_labels: int) -> None:
        """Reserve room for one more document at the end of the replay buffer."""
        memory = self._compact_buffer()
        last, n_open = int(memory.numbers[LAST]), int(memory.numbers[LAST] - memory.numbers[OPEN])
        _, entries, slots, labels = memory.firsts[-1].tolist()
        self.memory = ReplayBuffer(
            _longer(memory.firsts, last + 1, 2), _longer(memory.counts, entries, n_entries),
            _longer(memory.slots, slots, n_entries * n_labels), _longer(memory.shares, slots, n_entries * n_labels),
            _longer(memory.labels, labels, n_labels), _longer(memory.ticks, last, 2),
            _longer(memory.open, len(memory.open), n_tokens), _longer(memory.ancestors, n_open, 2), memory.numbers,
        )  # fmt: skip

    def _compact_buffer(self) -> ReplayBuffer:
        """Return the replay buffer without dropped documents and free room."""
        memory, numbers = self.memory, self.memory.numbers.copy()
        first, opened, last = (int(numbers[place]) for place in (FIRST, OPEN, LAST))
        firsts = memory.firsts[first : last + 1] - memory.firsts[first]
        own = [slice(start, stop) for start, stop in zip(memory.firsts[first], memory.firsts[last], strict=True)]
        numbers[[FIRST, OPEN, LAST]] = 0, opened - first, last - first
        n_open = int(memory.firsts[last, 0] - memory.firsts[opened, 0])
        return ReplayBuffer(
            firsts, memory.counts[own[1]], memory.slots[own[2]], memory.shares[own[2]], memory.labels[own[3]],
            memory.ticks[first:last], memory.open[:n_open], memory.ancestors[: last - opened], numbers,
        )  # fmt: skip

    # --- on disk -------------------------------------------------------------------------------------------------------------

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays needed to continue."""
        n_pairs, n_rows = self.tables.numbers[N_PAIRS], self.tables.numbers[N_ROWS]
        used = dict.fromkeys(("word", "label", "base", "row"), n_pairs) | dict.fromkeys(("differ", "pair"), n_rows)
        known = {name: getattr(self.tables, field)[: used.get(field)] for name, field in SAVED.items()}
        return known | {f"memory_{name}": array for name, array in self._compact_buffer()._asdict().items()}

    @classmethod
    def from_directory(cls, directory: Directory) -> Particles:
        """Read the arrays of `to_arrays`, by name."""
        array = directory.array
        fields: dict[str, Any] = {field: np.array(array(name)) for name, field in SAVED.items()}
        uneven = fields["beside"].any(axis=1)
        tables = Tables(buckets=np.empty((0, 2), np.int64), uneven=uneven, **fields)
        memory = ReplayBuffer(*(np.array(array(f"memory_{name}")) for name in ReplayBuffer._fields))
        particles = cls(tables, memory)
        problem = _problem_of_tables(tables) or _problem_of_memory(memory) or _problem_of_slots(tables, memory)
        if problem is None:
            particles._fill_buckets(int(tables.numbers[N_PAIRS]))
            if np.count_nonzero(particles.tables.buckets[:, 0] >= 0) < tables.numbers[N_PAIRS]:
                problem = "a pair of word and label occurs twice"
        if problem:
            msg = f"{directory.path}: the arrays of particles are inconsistent: {problem}."
            raise FormatError(msg)
        return particles


def _problem_of_tables(tables: Tables) -> str | None:
    """Return how the loaded tables are inconsistent, or None."""
    n_pairs, n_rows, n_words = len(tables.word), len(tables.pair), int(tables.numbers[N_WORDS])
    if (tables.numbers[N_PAIRS], tables.numbers[N_ROWS]) != (n_pairs, n_rows):
        return f"the numbers of pairs ({n_pairs:,}) and rows of differences ({n_rows:,}) are not those in 'numbers'"
    if n_pairs and tables.word.max() >= n_words:
        return f"a pair has word {tables.word.max():,}, but the vocabulary has {n_words:,} words"
    differs = np.flatnonzero(tables.row >= 0)
    if len(differs) != n_rows or not np.array_equal(tables.pair[tables.row[differs]], differs):
        return "pairs and rows of differences do not refer to each other"
    if len(tables.logs) > np.iinfo(np.int16).max:
        return f"{len(tables.logs):,} particles are too many"
    own = tables.base[tables.pair][:, None] + tables.differ
    sums = np.bincount(tables.label, tables.base, len(tables.sizes))[:, None] + np.zeros(len(tables.logs))
    np.add.at(sums, tables.label[tables.pair], tables.differ)
    sizes = tables.sizes[:, None] + tables.beside
    off = np.abs(sums - sizes) > 1 + 1e-3 * np.abs(sizes)
    if (tables.base < -_ROUNDING).any() or (own < -_ROUNDING).any() or (sizes < -_ROUNDING).any() or off.any():
        return "the sizes of labels are not the sums of their counts, or are negative"
    return None


def _problem_of_memory(memory: ReplayBuffer) -> str | None:
    """Return how the loaded replay buffer is inconsistent, or None."""
    first, opened, last, tick, _ = memory.numbers.tolist()
    sizes = np.diff(memory.firsts, axis=0)
    ends = (len(memory.counts), len(memory.slots), len(memory.labels))
    if not (first == 0 <= opened <= last == len(memory.ticks)) or memory.firsts[0].any() or (sizes < 0).any():
        return "the boundaries of remembered documents are not valid"
    if tuple(memory.firsts[-1, ENTRIES:].tolist()) != ends or (sizes[:, SLOTS] != sizes[:, ENTRIES] * sizes[:, LABELS]).any():
        return "the boundaries of remembered documents do not match their words and labels"
    tokens = np.concatenate([[0], np.cumsum(memory.counts, dtype=np.float64)])[memory.firsts[:, ENTRIES]]
    if (memory.counts != np.floor(memory.counts)).any() or (tokens != memory.firsts[:, TOKENS]).any():
        return "the counts of remembered documents are not whole, or do not sum to their numbers of tokens"
    if last and (memory.ticks.max() > tick or (sizes[:, LABELS] < 1).any()):
        return "remembered documents have no labels, or were learned after the current tick"
    per_entry = np.repeat(sizes[:, LABELS], sizes[:, ENTRIES])
    firsts = np.cumsum(per_entry) - per_entry
    shared = np.add.reduceat(memory.shares, firsts) if len(firsts) else np.empty(0, np.float32)
    if (np.abs(shared[: memory.firsts[opened, ENTRIES]] - 1) > 1e-2).any():
        return "the label shares of words in remembered documents do not sum to one"
    of_open = np.repeat(sizes[opened:, LABELS], sizes[opened:, TOKENS])
    if len(memory.open) != len(of_open) or len(memory.ancestors) != last - opened or (memory.open >= of_open[:, None]).any():
        return "tokens of remembered documents are assigned to labels that these do not have"
    return None


def _problem_of_slots(tables: Tables, memory: ReplayBuffer) -> str | None:
    """Return how the pairs in the replay buffer are inconsistent with its documents' labels, or None."""
    sizes = np.diff(memory.firsts, axis=0)
    of_entry = np.repeat(np.arange(len(sizes)), sizes[:, ENTRIES])
    of_slot = np.repeat(np.arange(len(of_entry)), sizes[of_entry, LABELS])
    firsts = np.cumsum(sizes[of_entry, LABELS]) - sizes[of_entry, LABELS]
    places = np.arange(len(memory.slots)) - firsts[of_slot] + memory.firsts[of_entry[of_slot], LABELS]
    words = tables.word[memory.slots]
    if (tables.label[memory.slots] != memory.labels[places]).any() or (words != words[firsts[of_slot]]).any():
        return "pairs of remembered documents have labels that these do not have"
    return None


def _longer(array: NDArray[Any], n_used: int, n_more: int) -> NDArray[Any]:
    """Return the array with room for more at its end, growing geometrically."""
    longer = np.empty((2 * (n_used + n_more) + ROOM, *array.shape[1:]), array.dtype)
    longer[:n_used] = array[:n_used]
    return longer
