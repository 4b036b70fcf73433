"""What can be wrong with word lists that are to be a prior."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from semascope.models.given import is_positive
from semascope.models.names import name_problem
from semascope.models.wordlists import is_word


class Contradiction(NamedTuple):
    """What is wrong, and with which category; None when it is none of them."""

    category: str | None
    sentence: str


def contradiction(categories: Any, strength: Any, base: Any, strengths: Mapping[str, Any]) -> Contradiction | None:
    """Say what is wrong with the settings of a prior, if anything is."""
    if problem := _problem_of_all(categories, strength, base, strengths):
        return Contradiction(None, problem)
    seen: dict[frozenset[str], str] = {}
    for name, words in categories.items():
        problem = name_problem(name) or _words_problem(name, words)
        if not problem and name in strengths:
            problem = _strength_problem(strengths[name], base)
        if not problem and (twin := seen.setdefault(frozenset(words), name)) != name:
            problem = f"categories {twin!r} and {name!r} have the very same words"
        if problem:
            return Contradiction(name, problem)
    return None


def _problem_of_all(categories: Any, strength: Any, base: Any, strengths: Mapping[str, Any]) -> str | None:
    if not isinstance(categories, Mapping) or not categories:
        return f"categories must map at least one name to a list of words, but was {categories!r}"
    if not is_positive(base):
        return f"base must be a number above 0, but was {base!r}"
    if unknown := set(strengths) - set(categories):
        return f"there is a strength, but no category {min(unknown, key=str)!r}"
    return _strength_problem(strength, base)


def _strength_problem(strength: Any, base: float) -> str | None:
    if not is_positive(strength):
        return f"strength must be a number above 0, but was {strength!r}"
    return f"strength must be above the base of {base}, but was {strength}" if strength <= base else None


def _words_problem(name: str, words: Any) -> str | None:
    if isinstance(words, str | Mapping) or not isinstance(words, Collection):
        return f"category {name!r} must be a list of words, but was {words!r}"
    if len(words) == 0:
        return f"category {name!r} has no words"
    for word in words:
        if not isinstance(word, str) or not word.strip():
            return f"category {name!r} must be a list of words, but has {word!r} in it"
        if not is_word(word.strip()):
            return f"in category {name!r}, {word!r} must have letters before the *, and the * at its end"
        try:
            word.encode()
        except UnicodeEncodeError:
            return f"in category {name!r}, {word!r} is not valid Unicode"
    return None
