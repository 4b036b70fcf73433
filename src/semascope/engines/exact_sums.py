"""Sufficient statistics whose sums have the same bits in any order.

A shard contributes tables of expected counts (`Counts`) and numbers (`Scalars`). Counts become integers: bounded by the
total N of the corpus, they are multiplied by a power of two such that the sum just fits into 64 bits, rounded up and added,
which is exact. Scalars are collected and added with ``math.fsum``, which rounds once in any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from semascope.kernels.exact_sums import add_scaled, column_totals, divide_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

BITS = 61
"""Bits of the largest sum: one is for the sign, and single precision may round slightly over the bound."""

MAX_STRIPES = 32
"""Maximum number of separately locked parts of a table, to which threads add concurrently."""

MIN_STRIPE = 1 << 20
"""Minimum size of a stripe in bytes."""


class CountPart(Protocol):
    """Expected counts of a shard that can be added to some rows of a table."""

    @property
    def rows(self) -> NDArray[np.int32]:
        """Rows of the table, ascending."""

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the whole table."""

    @property
    def bound(self) -> float:
        """Upper bound of every entry of the total."""

    def add_to(self, table: NDArray[np.int64], scale: float, first: int, last: int) -> None:
        """Add rows `first` to `last` of `rows`, scaled and rounded up."""


class Counts(NamedTuple):
    """Expected counts stored as an array, a row for each of `rows`."""

    rows: NDArray[np.int32]
    values: NDArray[Any]
    shape: tuple[int, int]
    bound: float

    def add_to(self, table: NDArray[np.int64], scale: float, first: int, last: int) -> None:
        add_scaled(table, self.rows, self.values, scale, first, last)

    def empty_total(self) -> CountTotal:
        return CountTotal.for_part(self)


class LazyCounts(NamedTuple):
    """Expected counts computed while they are added, and never stored.

    rows, shape, bound  as in `CountPart`
    work                adds rows `first` to `last`: called with the table, the scale, `first` and `last`
    """

    rows: NDArray[np.int32]
    shape: tuple[int, int]
    bound: float
    work: Callable[[NDArray[np.int64], float, int, int], None]

    def add_to(self, table: NDArray[np.int64], scale: float, first: int, last: int) -> None:
        self.work(table, scale, first, last)

    def empty_total(self) -> CountTotal:
        return CountTotal.for_part(self)


class Scalars(NamedTuple):
    """Numbers of a shard to be summed over shards."""

    values: tuple[float, ...]

    def empty_total(self) -> ScalarTotal:
        return ScalarTotal([])


@dataclass
class CountTotal:
    """Exact sum of counts: `table` times 2^-`exponent`."""

    table: NDArray[np.int64]
    exponent: int
    _locks: list[Lock] = field(init=False, repr=False, compare=False)
    _in_use: list[bool] = field(init=False, repr=False, compare=False)
    _turns: Iterator[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        n_stripes = min(max(self.table.nbytes // MIN_STRIPE, 1), MAX_STRIPES)
        self._locks = [Lock() for _ in range(n_stripes)]
        self._in_use = [True] * n_stripes
        self._turns = count(step=n_stripes // 8 + 1)  # threads start at different stripes

    @classmethod
    def for_part(cls, part: CountPart) -> CountTotal:
        """Create an empty total for parts like this one."""
        return cls(np.zeros(part.shape, dtype=np.int64), _exponent(part.bound))

    def emptied_for(self, part: CountPart) -> CountTotal:
        """Return an empty total for parts like this one, reusing this total if it fits."""
        if (self.table.shape, self.exponent) != (part.shape, _exponent(part.bound)):
            return CountTotal.for_part(part)
        self._in_use = [False] * len(self._in_use)  # cleared on first use, when the stripe is in cache anyway
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return CountTotal, (self.table, self.exponent)

    def add(self, part: CountPart) -> None:
        """Add the counts of a shard; thread-safe."""
        scale = math.ldexp(1.0, self.exponent)
        n_stripes, turn = len(self._locks), next(self._turns)
        row_bounds = [len(self.table) * stripe // n_stripes for stripe in range(n_stripes + 1)]
        part_bounds = np.searchsorted(part.rows, row_bounds).tolist()
        busy = []
        for stripe in ((turn + i) % n_stripes for i in range(n_stripes)):
            if self._locks[stripe].acquire(blocking=False):
                self._add_to_stripe(stripe, part, scale, row_bounds, part_bounds)
            else:
                busy.append(stripe)  # locked by another thread: retry later rather than follow it through the rest
        for stripe in busy:
            self._locks[stripe].acquire()
            self._add_to_stripe(stripe, part, scale, row_bounds, part_bounds)

    def _add_to_stripe(self, stripe: int, part: CountPart, scale: float, row_bounds: list[int], part_bounds: list[int]) -> None:
        """Add the rows of a locked stripe, and unlock it."""
        try:
            if not self._in_use[stripe]:
                self.table[row_bounds[stripe] : row_bounds[stripe + 1]] = 0
                self._in_use[stripe] = True
            part.add_to(self.table, scale, part_bounds[stripe], part_bounds[stripe + 1])
        finally:
            self._locks[stripe].release()

    def empty_like(self) -> CountTotal:
        """Return an empty total of the same kind."""
        return CountTotal(np.zeros_like(self.table), self.exponent)

    def merge(self, other: CountTotal) -> None:
        """Add another total of the same counts."""
        self.table += other.table

    def column_sums(self) -> NDArray[np.float64]:
        """Return the sum of each column."""
        sums: NDArray[np.float64] = np.ldexp(column_totals(self.table).astype(np.float64), -self.exponent)
        return sums

    def values(self, dtype: Any) -> NDArray[Any]:
        """Return the counts as floats."""
        values = np.empty(self.table.shape, dtype=dtype)
        self.fill(values, slice(None))
        return values

    def fill(self, values: NDArray[Any], rows: slice) -> None:
        """Write some rows of the counts to a table of floats."""
        divide_columns(self.table[rows], np.full(self.table.shape[1], math.ldexp(1.0, -self.exponent)), values[rows])

    def columns_normalized(self, dtype: Any) -> NDArray[Any]:
        """Return the counts with columns normalized to sum one; zero columns stay zero."""
        sums = column_totals(self.table)
        divisors = np.divide(1.0, sums, out=np.zeros(len(sums)), where=sums > 0)
        normalized = np.empty(self.table.shape, dtype=dtype)
        divide_columns(self.table, divisors, normalized)
        return normalized


@dataclass
class ScalarTotal:
    """Scalars of all shards, summed on request."""

    parts: list[tuple[float, ...]]

    def emptied_for(self, part: Scalars) -> ScalarTotal:
        """Return an empty total for parts like this one."""
        return part.empty_total()

    def add(self, part: Scalars) -> None:
        """Add the scalars of a shard."""
        self.parts.append(part.values)

    def empty_like(self) -> ScalarTotal:
        """Return an empty total of the same kind."""
        return ScalarTotal([])

    def merge(self, other: ScalarTotal) -> None:
        """Add another total of the same scalars."""
        self.parts.extend(other.parts)

    def sums(self) -> list[float]:
        """Return each sum, rounded once."""
        return [math.fsum(column) for column in zip(*self.parts, strict=True)]


def _exponent(bound: float) -> int:
    """Return the exponent of two with which the largest sum just fits."""
    return min(BITS - math.ceil(math.log2(bound)), 1000) if bound > 0 else 0


class Accumulator:
    """Thread-safe sum of the statistics of shards, the same in any order.

    Parameters
    ----------
    spare : named tuple of totals, optional
        Totals that are no longer needed; their memory is reused for the same statistics.
    """

    def __init__(self, spare: Any = None) -> None:
        self._first = Lock()
        self._spare = spare
        self.total: Any = None

    def add(self, stats: Any) -> None:
        """Add a named tuple of counts and scalars; `total` is the same named tuple of their totals."""
        with self._first:
            if self.total is None and type(self._spare) is type(stats):
                self.total = type(stats)(*(total.emptied_for(part) for total, part in zip(self._spare, stats, strict=True)))
            elif self.total is None:
                self.total = type(stats)(*(part.empty_total() for part in stats))
        for total, part in zip(self.total, stats, strict=True):
            total.add(part)
