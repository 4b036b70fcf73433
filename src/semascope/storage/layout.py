"""What the files of a directory may hold: each format declares its arrays and tables, and nothing else can be opened.

A checksum tells that a file is the one that was written, not that whoever wrote it meant well. So types, shapes and every entry
are validated against these declarations before anything indexes with them: see `semascope.storage.arrays`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Protocol

from semascope.errors import FormatError
from semascope.storage.facts import Record

FLOATS = ("float32", "float64")
ANY = "*"
"""Stands for an axis of any length."""

TINY = 1e-45
"""The smallest number above zero in single precision."""

HUGE = 1e30
"""More than any sum of counts, and squares and products of numbers up to it stay finite in double precision."""

MAX_COUNT = 1e15
"""No count, and no sum of counts, comes near it."""

SLACK = 1e-3
"""What probabilities and entries of unit vectors may exceed one by, from rounding."""

_EXPRESSION = re.compile(r"([A-Za-z_]\w*)([+-]\d+)?")


class Source(Protocol):
    """Says where the size of a dimension stands."""

    def size(self, directory: Any) -> int:
        """Return it."""


@dataclass(frozen=True)
class Fixed:
    """A size that whoever opens the directory knows."""

    n: int

    def size(self, directory: Any) -> int:
        return self.n


@dataclass(frozen=True)
class InFacts:
    """A number in the facts, by the keys that lead to it; of a list, how long it is."""

    keys: tuple[str, ...]

    def size(self, directory: Any) -> int:
        value = directory.facts
        for key in self.keys:
            value = value[key]
        return len(value) if isinstance(value, list) else int(value)


@dataclass(frozen=True)
class AxisOf:
    """The length of an axis of an array, and what it must be at least."""

    array: str
    axis: int = 0
    least: int = 0

    def size(self, directory: Any) -> int:
        shape = directory.shape(self.array)
        size = int(shape[self.axis]) if self.axis < len(shape) else -1  # which no axis has
        if size < self.least:
            msg = f"{directory.path}: the array {self.array!r} is empty, or has another shape than expected."
            raise FormatError(msg)
        return size


@dataclass(frozen=True)
class Array:
    """Declares an array. Numbers are always finite.

    dtypes       names of types that it may have
    shape        for each axis its length, a dimension of the layout ("n_words", "n_words+1"), or `ANY`; None for any shape
    low, high    smallest and largest entry, as numbers or dimensions
    pointers     entries ascend from 0 to `high`: those of row i are [array[i]:array[i + 1]] of another
    rows         name of such pointers, in whose rows entries ascend, and none stands twice
    total        name of a fact that their sum must be
    may_be_empty the first axis may have length zero instead
    """

    dtypes: tuple[str, ...]
    shape: tuple[str | int, ...] | None
    low: float | str | None = None
    high: float | str | None = None
    pointers: bool = False
    rows: str | None = None
    total: str | None = None
    may_be_empty: bool = False


def pointers(n_rows: str, into: str) -> Array:
    """Declare where the rows of another array begin and end."""
    return Array(("int64",), (f"{n_rows}+1",), low=0, high=into, pointers=True)


def indices(length: str, below: str, *, rows: str | None = None) -> Array:
    """Declare numbers of things, of which there are so many."""
    return Array(("int32",), (length,), low=0, high=f"{below}-1", rows=rows)


def numbers(
    *shape: str | int,
    low: float | None = None,
    high: float | None = None,
    dtypes: tuple[str, ...] = FLOATS,
    may_be_empty: bool = False,
) -> Array:
    """Declare finite numbers between two limits."""
    return Array(dtypes, shape, low, high, may_be_empty=may_be_empty)


def probabilities(*shape: str | int, may_be_empty: bool = False) -> Array:
    """Declare numbers from 0 to 1, but for rounding."""
    return numbers(*shape, low=0.0, high=1 + SLACK, may_be_empty=may_be_empty)


def flags(*shape: str | int) -> Array:
    """Declare true and false."""
    return Array(("bool",), shape, low=0, high=1)


@dataclass(frozen=True)
class Column:
    """Declares a column of a table.

    kinds     "string", "strings" (a list of them), "by_language" (a struct of them), or "plain" for these, numbers and dates
    nullable  whether entries may be missing
    required  whether the column must be there
    """

    kinds: tuple[str, ...] = ("string",)
    nullable: bool = False
    required: bool = True


@dataclass(frozen=True)
class Table:
    """Declares a table.

    rows      how many it has, as a dimension
    columns   columns by name
    others    what other columns are; without it there are none
    """

    rows: str
    columns: Mapping[str, Column]
    others: Column | None = None


@dataclass(frozen=True)
class Layout:
    """Declares a format: what a directory of this kind may hold.

    kind, version   name of the format, and its newest version
    facts           the facts in its manifest
    dimensions      sizes that arrays and tables share, by name, and where they stand
    arrays, tables  by name; a name may end in ``*``
    """

    kind: str
    version: int
    facts: Record = field(default_factory=Record)
    dimensions: Mapping[str, Source] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)

    def array(self, name: str) -> Array | None:
        """Return the declaration of an array, by its name or by a pattern that this fits."""
        if name in self.arrays:
            return self.arrays[name]
        return next((array for pattern, array in self.arrays.items() if fnmatchcase(name, pattern)), None)

    def also(
        self,
        *,
        facts: Mapping[str, Any] | None = None,
        dimensions: Mapping[str, Source] | None = None,
        arrays: Mapping[str, Array] | None = None,
        tables: Mapping[str, Table] | None = None,
    ) -> Layout:
        """Return the same with more in it."""
        return Layout(
            self.kind,
            self.version,
            self.facts.also(facts),
            {**self.dimensions, **(dimensions or {})},
            {**self.arrays, **(arrays or {})},
            {**self.tables, **(tables or {})},
        )


def split_expression(expression: str) -> tuple[str, int]:
    """Return the dimension that an expression names, and what is added to it.

    Examples
    --------
    >>> split_expression("n_words+1"), split_expression("n_topics-1"), split_expression("n_topics")
    (('n_words', 1), ('n_topics', -1), ('n_topics', 0))
    """
    found = _EXPRESSION.fullmatch(expression)
    if found is None:
        msg = f"{expression!r} is no dimension."
        raise ValueError(msg)
    return found[1], int(found[2] or 0)
