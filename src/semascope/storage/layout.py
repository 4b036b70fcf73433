"""Layouts: declarations of the arrays and tables of each format. Nothing else can be opened.

A checksum proves that a file is the one that was written, not that its writer is trustworthy. So types, shapes and every entry
are validated against these declarations before they are used as indices: see `semascope.storage.arrays`.
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
"""Axis of any length."""

TINY = 1e-45
"""Smallest positive number in single precision."""

HUGE = 1e30
"""Bound above any sum of counts; squares and products of numbers up to it stay finite in double precision."""

MAX_COUNT = 1e15
"""Bound far above any count or sum of counts."""

SLACK = 1e-3
"""Tolerance by which probabilities and entries of unit vectors may exceed one, from rounding."""

_EXPRESSION = re.compile(r"([A-Za-z_]\w*)([+-]\d+)?")


class Source(Protocol):
    """Source of the size of a dimension."""

    def size(self, directory: Any) -> int:
        """Return the size."""


@dataclass(frozen=True)
class Fixed:
    """A size known when the directory is opened."""

    n: int

    def size(self, directory: Any) -> int:
        return self.n


@dataclass(frozen=True)
class InFacts:
    """A number in the facts, or the length of a list, given its path of keys."""

    keys: tuple[str, ...]

    def size(self, directory: Any) -> int:
        value = directory.facts
        for key in self.keys:
            value = value[key]
        return len(value) if isinstance(value, list) else int(value)


@dataclass(frozen=True)
class AxisOf:
    """The length of an axis of an array, with a minimum."""

    array: str
    axis: int = 0
    least: int = 0

    def size(self, directory: Any) -> int:
        shape = directory.shape(self.array)
        size = int(shape[self.axis]) if self.axis < len(shape) else -1  # no axis has this length
        if size < self.least:
            msg = f"{directory.path}: the array {self.array!r} is empty, or has another shape than expected."
            raise FormatError(msg)
        return size


@dataclass(frozen=True)
class Array:
    """Declaration of an array. Numbers are always finite.

    dtypes       names of allowed types
    shape        per axis a length, a dimension of the layout ("n_words", "n_words+1"), or `ANY`; None for any shape
    low, high    smallest and largest entry, as numbers or dimensions
    pointers     entries ascend from 0 to `high`: those of row i are [array[i]:array[i + 1]] of another
    rows         name of such pointers, in whose rows entries are strictly ascending
    total        name of the fact that states their sum
    may_be_empty whether an axis may have length zero instead
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
    """Declare row pointers into another array."""
    return Array(("int64",), (f"{n_rows}+1",), low=0, high=into, pointers=True)


def indices(length: str, below: str, *, rows: str | None = None) -> Array:
    """Declare indices below a dimension."""
    return Array(("int32",), (length,), low=0, high=f"{below}-1", rows=rows)


def numbers(
    *shape: str | int,
    low: float | None = None,
    high: float | None = None,
    dtypes: tuple[str, ...] = FLOATS,
    may_be_empty: bool = False,
) -> Array:
    """Declare finite numbers within limits."""
    return Array(dtypes, shape, low, high, may_be_empty=may_be_empty)


def probabilities(*shape: str | int, may_be_empty: bool = False) -> Array:
    """Declare numbers from 0 to 1, up to rounding."""
    return numbers(*shape, low=0.0, high=1 + SLACK, may_be_empty=may_be_empty)


def flags(*shape: str | int) -> Array:
    """Declare booleans."""
    return Array(("bool",), shape, low=0, high=1)


@dataclass(frozen=True)
class Column:
    """Declaration of a column of a table.

    kinds     "string", "strings" (a list of them), "by_language" (a struct of them), or "plain" for these, numbers and dates
    nullable  whether entries may be missing
    required  whether the column must be there
    """

    kinds: tuple[str, ...] = ("string",)
    nullable: bool = False
    required: bool = True


@dataclass(frozen=True)
class Table:
    """Declaration of a table.

    rows      number of rows, as a dimension
    columns   columns by name
    others    declaration of any other column; None if there are none
    """

    rows: str
    columns: Mapping[str, Column]
    others: Column | None = None


@dataclass(frozen=True)
class Layout:
    """Declaration of a format: the contents of a kind of directory.

    kind, version   name of the format, and its newest version
    facts           the facts in its manifest
    dimensions      sizes shared by arrays and tables, by name
    arrays, tables  by name; a name may end in ``*``
    """

    kind: str
    version: int
    facts: Record = field(default_factory=Record)
    dimensions: Mapping[str, Source] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)

    def array(self, name: str) -> Array | None:
        """Return the declaration of an array, by its name or a matching pattern."""
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
        """Return an extended layout."""
        return Layout(
            self.kind,
            self.version,
            self.facts.also(facts),
            {**self.dimensions, **(dimensions or {})},
            {**self.arrays, **(arrays or {})},
            {**self.tables, **(tables or {})},
        )


def split_expression(expression: str) -> tuple[str, int]:
    """Split an expression into its dimension and offset.

    Examples
    --------
    >>> split_expression("n_words+1"), split_expression("n_topics-1"), split_expression("n_topics")
    (('n_words', 1), ('n_topics', -1), ('n_topics', 0))
    """
    found = _EXPRESSION.fullmatch(expression)
    if found is None:
        msg = f"{expression!r} is not a dimension."
        raise ValueError(msg)
    return found[1], int(found[2] or 0)
