"""Declarations of the facts in a manifest, validated before use."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

MAX_WHOLE = 2**53
"""Upper bound of counts in a manifest: beyond it, JSON numbers lose digits in many programs."""


class Fact(Protocol):
    """Declaration of a JSON value."""

    def problem(self, value: Any, name: str) -> str | None:
        """Return the problem of a value, given its name; None if it is valid."""


@dataclass(frozen=True)
class Whole:
    """A whole number."""

    low: int = 0
    high: int = MAX_WHOLE

    def problem(self, value: Any, name: str) -> str | None:
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if is_whole and self.low <= value <= self.high:
            return None
        return _expected(f"a whole number from {self.low:,} to {self.high:,}", value, name)


@dataclass(frozen=True)
class Number:
    """A number, finite unless declared otherwise."""

    low: float = -math.inf
    high: float = math.inf
    finite: bool = True

    def problem(self, value: Any, name: str) -> str | None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and isinstance(value, int):
            is_number = abs(value) <= MAX_WHOLE  # larger ones are not exact as floats
        if is_number and not self.finite:
            return None
        if is_number and math.isfinite(value) and self.low <= value <= self.high:
            return None
        limits = "" if self.low == -math.inf and self.high == math.inf else f" from {self.low:g} to {self.high:g}"
        return _expected(f"a number{limits}", value, name)


@dataclass(frozen=True)
class Text:
    """A string, or one of a few choices."""

    choices: tuple[str, ...] = ()

    def problem(self, value: Any, name: str) -> str | None:
        if isinstance(value, str) and (not self.choices or value in self.choices):
            return None
        return _expected(" or ".join(map(repr, self.choices)) or "a string", value, name)


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def problem(self, value: Any, name: str) -> str | None:
        return None if isinstance(value, bool) else _expected("true or false", value, name)


@dataclass(frozen=True)
class Plain:
    """Any JSON value, validated by its user."""

    def problem(self, value: Any, name: str) -> str | None:
        return None


@dataclass(frozen=True)
class Never:
    """A value that must not be present."""

    def problem(self, value: Any, name: str) -> str | None:
        return f"{name}: is not known"


@dataclass(frozen=True)
class Maybe:
    """Null, or the declared value."""

    fact: Fact

    def problem(self, value: Any, name: str) -> str | None:
        return None if value is None else self.fact.problem(value, name)


@dataclass(frozen=True)
class MaybeEmpty:
    """An empty object, or the declared value."""

    fact: Fact

    def problem(self, value: Any, name: str) -> str | None:
        return None if value == {} else self.fact.problem(value, name)


@dataclass(frozen=True)
class ListOf:
    """A list whose entries share one declaration.

    low, high  smallest and largest number of entries
    distinct   whether entries must be distinct
    """

    fact: Fact
    low: int = 0
    high: int = MAX_WHOLE
    distinct: bool = False

    def problem(self, value: Any, name: str) -> str | None:
        if not isinstance(value, list):
            return _expected("a list", value, name)
        if not self.low <= len(value) <= self.high:
            wanted = f"{self.low:,}" if self.low == self.high else f"at least {self.low:,}"
            return f"{name}: expected a list of {wanted} entries, found {len(value):,}"
        wrong = None
        if not isinstance(self.fact, Plain):
            wrong = next((found for entry in value if (found := self.fact.problem(entry, name))), None)
        if wrong is None and self.distinct and len(set(value)) < len(value):
            return f"{name}: has a duplicate entry"
        return wrong


class Items:
    """A list with a declaration per entry."""

    def __init__(self, *facts: Fact) -> None:
        self._facts = facts

    def problem(self, value: Any, name: str) -> str | None:
        if not isinstance(value, list) or len(value) != len(self._facts):
            return _expected(f"a list of {len(self._facts)} entries", value, name)
        pairs = zip(self._facts, value, strict=True)
        return next((found for fact, entry in pairs if (found := fact.problem(entry, name))), None)


@dataclass(frozen=True)
class Record:
    """An object.

    required   required keys and their values
    optional   optional keys and their values
    others     value of any other key; without it, others are ignored
    """

    required: Mapping[str, Fact] = field(default_factory=dict)
    optional: Mapping[str, Fact] = field(default_factory=dict)
    others: Fact | None = None

    def problem(self, value: Any, name: str) -> str | None:
        if not isinstance(value, dict):
            return _expected("an object", value, name)
        for key, fact in self.required.items():
            if key not in value:
                return f"{name}: has no {key!r}"
            if found := fact.problem(value[key], f"{name}.{key}"):
                return found
        for key, entry in value.items():
            optional = None if key in self.required else self.optional.get(key, self.others)
            if optional is not None and (found := optional.problem(entry, f"{name}.{key}")):
                return found
        return None

    def also(self, required: Mapping[str, Fact] | None = None, optional: Mapping[str, Fact] | None = None) -> Record:
        """Return an extended record."""
        return Record({**self.required, **(required or {})}, {**self.optional, **(optional or {})}, self.others)


NUMBERS = ListOf(Number())
"""A list of numbers."""
HISTORY = ListOf(Number(finite=False))
"""A list of numbers that may be infinite or NaN."""
ROWS_OF_NUMBERS = ListOf(NUMBERS)
"""A list of lists of numbers."""


def _expected(what: str, value: Any, name: str) -> str:
    return f"{name}: expected {what}, found {reprlib.repr(value)}"
