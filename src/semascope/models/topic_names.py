"""Topic names: validation, and defaults for unnamed topics."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

_NUMBERED = re.compile(r"topic \d+")
_UNSEEN = ("Cc", "Cs", "Zl", "Zp")
"""Unicode categories that names must not contain: controls, lone surrogates, line separators."""


def shown_names(given: Sequence[str | None], n_topics: int) -> list[str]:
    """Return a name for every topic: its own, or "topic" and its index.

    Examples
    --------
    >>> shown_names(["space", None], 3)
    ['space', 'topic 1', 'topic 2']
    """
    padded = [*given, *[None] * (n_topics - len(given))]
    return [f"topic {number}" if name is None else name for number, name in enumerate(padded)]


def name_problem(name: Any) -> str | None:
    """Return why a value is not a valid topic name, or None."""
    if not isinstance(name, str):
        return f"a topic's name must be a string, but was {name!r}"
    if not name.strip() or name != name.strip():
        return f"a topic's name must not be empty or have surrounding whitespace, but was {name!r}"
    if any(unicodedata.category(letter) in _UNSEEN for letter in name):
        return f"a topic's name must be a single line of printable characters, but was {name!r}"
    if _NUMBERED.fullmatch(name):
        return f"{name!r} is the default name of an unnamed topic; choose another name"
    return None
