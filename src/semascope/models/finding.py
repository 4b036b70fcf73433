"""Finding words of a prior in a vocabulary."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from semascope.corpus.analyze import Analyzer

if TYPE_CHECKING:
    from numpy.typing import NDArray

AFTER_ALL_LETTERS = "\U0010ffff"


class WordFinder:
    """Gives the numbers of a word, or of all words that begin like ``nasa*``; by default, numbers are places.

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
        """Give a word, or several with blanks between them, as the analyzer would write it into the vocabulary."""
        if self._analyzer is None:
            return word
        words = (word.lower() if self._analyzer.lowercase else word).split()
        return " ".join(self._analyzer.stems(words))
