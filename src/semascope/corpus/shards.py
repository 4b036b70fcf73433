"""Shards: the units of work of a corpus. Their boundaries depend on the data alone, never on the machine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from semascope.corpus.csr import CSR
from semascope.kernels.csr import by_word, in_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

FULL_SHARD = 1 << 20
"""Maximum number of entries in a shard, the tile in which kernels walk documents × words: large enough that a row of the word
tables, which do not fit into the caches, is fetched once for many documents; small enough that its document topics do fit."""

SMALL_SHARD = 1 << 12
"""Minimum number of entries that justify a shard."""

FAIR_SHARE = 8
"""With enough data, the number of shards is a multiple of this, so that 2, 4 or 8 workers get equal parts."""


class ByWord(NamedTuple):
    """Entries of a shard, sorted by word.

    words       int32[u]       the distinct words, ascending
    ends        int64[u + 1]   entries of word i are [ends[i]:ends[i + 1]] of the other two
    documents   int32[nnz]     document of each entry, relative to the shard
    places      int32[nnz]     position of each entry in document order
    """

    words: NDArray[np.int32]
    ends: NDArray[np.int64]
    documents: NDArray[np.int32]
    places: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Shard:
    """Consecutive documents, ready for the kernels: read-only arrays of fixed types."""

    number: int
    first_document: int
    n_words: int
    rows: CSR

    @property
    def n_documents(self) -> int:
        return len(self.rows.ends) - 1

    @cached_property
    def by_word(self) -> ByWord:
        """The entries sorted by word."""
        return ByWord(*by_word(self.rows.ends, self.rows.words, self.n_words))

    @cached_property
    def counts_by_word(self) -> NDArray[np.float32]:
        """Counts in the order of `by_word`."""
        return as_read_only(in_places(self.rows.counts, self.by_word.places), np.float32)

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """Number of tokens of each document."""
        firsts, lasts = self.rows.ends[:-1], self.rows.ends[1:]
        sums = np.add.reduceat(np.append(self.rows.counts, 0).astype(np.float64), firsts)
        return np.where(firsts < lasts, sums, 0.0)

    def open(self) -> Shard:
        """Return itself: a shard in memory is open."""
        return self


class ShardRef(Protocol):
    """Reference to a shard, which a worker opens."""

    @property
    def number(self) -> int: ...
    @property
    def first_document(self) -> int: ...
    @property
    def n_documents(self) -> int: ...
    def open(self) -> Shard: ...


def cut_shards(ends: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Split documents into shards of about equal work; return the first and last document + 1 of each.

    An empty document has a cost too, so documents count as well as their entries.
    """
    n_documents = len(ends) - 1
    work = ends + np.arange(n_documents + 1)
    n_shards = -(-int(work[-1]) // SMALL_SHARD)
    if n_shards > FAIR_SHARE:
        n_shards = FAIR_SHARE * -(-int(work[-1]) // (FAIR_SHARE * FULL_SHARD))
    targets = np.arange(1, n_shards) * int(work[-1]) // max(n_shards, 1)
    inner = np.searchsorted(work, targets)
    bounds = np.unique(np.concatenate([[0], inner, [n_documents]]))
    return [(int(first), int(last)) for first, last in pairwise(bounds)]


def shard_of(rows: CSR, number: int, first: int, last: int, n_words: int) -> Shard:
    """Create the shard of documents `first` to `last`, without copying its entries."""
    start, stop = int(rows.ends[first]), int(rows.ends[last])
    part = CSR(rows.ends[first : last + 1] - start, rows.words[start:stop], rows.counts[start:stop])
    return Shard(number, first, n_words, read_only(part))


def read_only(rows: CSR) -> CSR:
    """Convert rows to the read-only arrays that the kernels take."""
    return CSR(as_read_only(rows.ends, np.int64), as_read_only(rows.words, np.int32), as_read_only(rows.counts, np.float32))


def writable_copy(array: NDArray[Any]) -> NDArray[Any]:
    """Return a writable array of the same content, reusing the memory of one that is no longer needed.

    Memory that cannot be written to, such as a memory-map, is copied.
    """
    owner = array if array.base is None else array.base
    in_hand = isinstance(owner, np.ndarray) and owner.flags.writeable and owner.shape == array.shape
    return owner if in_hand else np.array(array)


def as_read_only(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return a read-only, contiguous view of a type, so that all calls of a kernel share one signature.

    Copies only arrays of another type or order.
    """
    view = np.ascontiguousarray(array, dtype=dtype).view(np.ndarray)
    view.flags.writeable = False
    return view
