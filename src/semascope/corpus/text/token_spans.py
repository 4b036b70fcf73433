"""Tokens with their positions in a text, and passages around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from semascope.corpus.text.analyzer import Analyzer

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Token(NamedTuple):
    """A word in a text, with its character range; the word is as in the vocabulary, "" if it is left out.

    `first` and `last` delimit the match of the token pattern, which may be longer than the word.
    """

    word: str
    start: int
    end: int
    first: int
    last: int


class Tokens(Sequence[Token]):
    """Sequence of the words of a text; each `Token` is created on access, since passage search reads only a few.

    words   the words of all tokens, as in the vocabulary
    """

    def __init__(self, words: list[str], matches: list[re.Match[str]]) -> None:
        self.words, self._matches = words, matches

    def __len__(self) -> int:
        return len(self.words)

    @overload
    def __getitem__(self, place: int) -> Token: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Token]: ...
    def __getitem__(self, place: int | slice) -> Token | Sequence[Token]:
        if isinstance(place, slice):
            return Tokens(self.words[place], self._matches[place])
        match = self._matches[place]
        return Token(self.words[place], *match.span(match.re.groups), *match.span())


def tokens_of(text: str, analyzer: Analyzer) -> Tokens:
    """Find the words of a text, in reading order; n-grams longer than one word are not searched for.

    Examples
    --------
    >>> [token[:3] for token in tokens_of("The CATS sat", Analyzer(stop_words=["the"], stemmer="english"))]
    [('', 0, 3), ('cat', 4, 8), ('sat', 9, 12)]
    """
    lowered = text.lower() if analyzer.lowercase else text
    found = list(re.finditer(analyzer.token_pattern or r"\w+", lowered if len(lowered) == len(text) else text))
    return Tokens(_to_vocabulary([match.group(match.re.groups) for match in found], analyzer), found)


def best_window(values: NDArray[np.float64], n: int) -> tuple[int, int]:
    """Return the start and length of the `n` consecutive words with the largest sum (all words if there are fewer)."""
    n = min(n, len(values))
    sums = np.concatenate([[0.0], np.cumsum(values)])
    return int(np.argmax(sums[n:] - sums[:-n])), n


def passage(text: str, tokens: Sequence[Token], first: int, n: int) -> tuple[int, int]:
    """Return the character range of a passage of `n` words; at the ends of the text it includes what surrounds the words."""
    last = min(first + n, len(tokens)) - 1
    start = 0 if first == 0 else tokens[first].first
    end = len(text) if tokens[last].last == tokens[-1].last else tokens[last].last
    return start, end


def _to_vocabulary(tokens: list[str], analyzer: Analyzer) -> list[str]:
    """Return each token as in the vocabulary; stop words become empty."""
    lowered = [token.lower() if analyzer.lowercase else token for token in tokens]
    stops = analyzer.stop_set()
    return analyzer.stems(["" if word in stops or len(word) < analyzer.min_length else word for word in lowered])
