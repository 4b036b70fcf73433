"""Names of topics: which are allowed, and how topics without one are shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

_NUMBERED = re.compile(r"topic \d+")
_UNSEEN = ("Cc", "Cs", "Zl", "Zp")
"""Kinds of characters that no name has: controls, lone surrogates, ends of lines."""


def shown_names(given: Sequence[str | None], n_topics: int) -> list[str]:
    """Return a name to every topic: its own, or "topic" and its number.

    Examples
    --------
    >>> shown_names(["space", None], 3)
    ['space', 'topic 1', 'topic 2']
    """
    padded = [*given, *[None] * (n_topics - len(given))]
    return [f"topic {number}" if name is None else name for number, name in enumerate(padded)]


def name_problem(name: Any) -> str | None:
    """Say why this cannot be the name of a topic; None when it can."""
    if not isinstance(name, str):
        return f"a topic's name must be a string, but was {name!r}"
    if not name.strip() or name != name.strip():
        return f"a topic's name must have letters and no blanks around it, but was {name!r}"
    if any(unicodedata.category(letter) in _UNSEEN for letter in name):
        return f"a topic's name must be one line of letters that can be printed, but was {name!r}"
    if _NUMBERED.fullmatch(name):
        return f"{name!r} is how a topic without a name is shown; choose another name"
    return None
