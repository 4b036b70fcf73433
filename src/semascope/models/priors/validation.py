"""Validation of informed priors, and lookup of their words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from semascope.corpus.text.analyzer import Analyzer
from semascope.models.priors.word_lists import is_word
from semascope.models.topic_names import name_problem
from semascope.models.validation import is_positive

if TYPE_CHECKING:
    from numpy.typing import NDArray


AFTER_ALL_LETTERS = "\U0010ffff"


class WordFinder:
    """Lookup of the indices of a word, or of all words that match a prefix such as ``nasa*``.

    Examples
    --------
    >>> find = WordFinder(["nasas", "orbit", "nasa"], Analyzer())
    >>> find("NASA*").tolist(), find("Orbit").tolist(), find("moon").tolist()
    ([2, 0], [1], [])
    """

    def __init__(
        self, vocabulary: pl.Series | Sequence[str], analyzer: Analyzer | None, numbers: NDArray[Any] | None = None
    ) -> None:
        words = vocabulary if isinstance(vocabulary, pl.Series) else pl.Series("word", vocabulary, dtype=pl.String)
        order = words.arg_sort().to_numpy()
        self._numbers = order if numbers is None else numbers[order]
        self._sorted = words.sort().to_list()
        self._analyzer = analyzer

    def __call__(self, word: str) -> NDArray[Any]:
        if word.endswith("*"):
            start = self._as_counted(word[:-1])
            first, last = bisect_left(self._sorted, start), bisect_left(self._sorted, start + AFTER_ALL_LETTERS)
        else:
            whole = self._as_counted(word)
            first = bisect_left(self._sorted, whole)
            last = first + (self._sorted[first : first + 1] == [whole])
        return self._numbers[first:last]

    def _as_counted(self, word: str) -> str:
        """Return a word, or a phrase, as the analyzer normalizes it."""
        if self._analyzer is None:
            return word
        words = (word.lower() if self._analyzer.lowercase else word).split()
        return " ".join(self._analyzer.stems(words))


class Contradiction(NamedTuple):
    """Problem of a prior, and the category concerned, if any."""

    category: str | None
    sentence: str


def find_contradiction(categories: Any, strength: Any, base: Any, strengths: Mapping[str, Any]) -> Contradiction | None:
    """Return what is wrong with the parameters of a prior, or None."""
    if problem := _problem_of_all(categories, strength, base, strengths):
        return Contradiction(None, problem)
    seen: dict[frozenset[str], str] = {}
    for name, words in categories.items():
        problem = name_problem(name) or _words_problem(name, words)
        if not problem and name in strengths:
            problem = _strength_problem(strengths[name], base)
        if not problem and (twin := seen.setdefault(frozenset(words), name)) != name:
            problem = f"categories {twin!r} and {name!r} have the same words"
        if problem:
            return Contradiction(name, problem)
    return None


def _problem_of_all(categories: Any, strength: Any, base: Any, strengths: Mapping[str, Any]) -> str | None:
    if not isinstance(categories, Mapping) or not categories:
        return f"categories must map at least one name to a list of words, but was {categories!r}"
    if not is_positive(base):
        return f"base must be a number above 0, but was {base!r}"
    if unknown := set(strengths) - set(categories):
        return f"strengths has an unknown category {min(unknown, key=str)!r}"
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
            return f"in category {name!r}, {word!r} must have letters before a single * at its end"
        try:
            word.encode()
        except UnicodeEncodeError:
            return f"in category {name!r}, {word!r} is not valid Unicode"
    return None
