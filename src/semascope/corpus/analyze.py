"""What counts as a word: settings, and the tables that the tokeniser reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.stopwords import stop_word_languages, stop_words_of
from semascope.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

LAST_LETTER = 0x40000
"""No code point from here on is a letter or a digit in any version of Unicode (tested)."""

LARGEST = 2**53
"""No count that a setting states is larger."""

LONGEST_NGRAM = 100
"""Words that a run may have: for each length up to the longest, all texts are gone through."""


@dataclass(frozen=True, kw_only=True)
class Analyzer:
    """How texts become words. Settings only: it holds no vocabulary.

    Parameters
    ----------
    lowercase : bool, default=True
        Fold upper case to lower case, as ``str.lower`` does.
    token_pattern : str, optional
        A regular expression for ``re.findall``. By default a word is a run of letters, digits and underscores, which is
        what scikit-learn's ``CountVectorizer`` takes, and much faster than any expression.
    min_length : int, default=2
        Shortest word, in characters.
    stop_words : str or sequence of str, optional
        Words to leave out, or the language whose stop words to leave out: "english" (the words of scikit-learn), "german" and
        others that have a Snowball stemmer.
    stemmer : str, optional
        A language of the Snowball stemmers, "english" for example.
    ngrams : pair of int, default=(1, 1)
        Shortest and longest run of words to count as one: (1, 2) counts words and pairs. Stop words are left out and stems
        taken before words are put together, with a blank between them.
    min_df, max_df : int or float, default=1 and 1.0
        Leave out words that are in fewer or in more documents than this; a float is a share of the documents.
    max_features : int, optional
        Keep only the most frequent words.

    Examples
    --------
    >>> Analyzer(stop_words=["the"]).words("The cat sat on THE mat.")
    ['cat', 'sat', 'on', 'mat']
    """

    lowercase: bool = True
    token_pattern: str | None = None
    min_length: int = 2
    stop_words: str | Sequence[str] | None = None
    stemmer: str | None = None
    ngrams: tuple[int, int] = (1, 1)
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_features: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.stop_words, Iterable) and not isinstance(self.stop_words, str):
            object.__setattr__(self, "stop_words", tuple(self.stop_words))
        for setting in fields(self):
            value = getattr(self, setting.name)
            if isinstance(value, np.generic):  # which JSON does not take
                object.__setattr__(self, setting.name, value.item())
        if isinstance(self.ngrams, list):  # as JSON has it
            object.__setattr__(self, "ngrams", tuple(self.ngrams))
        _check(self)

    def to_dict(self) -> dict[str, Any]:
        """Give the settings as plain values, for a manifest."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> Analyzer:
        """Make an analyzer from what `to_dict` gave."""
        known = {field.name for field in fields(cls)}
        return cls(**{k: v for k, v in settings.items() if k in known})

    def words(self, text: str) -> list[str]:
        """Give the words of one text, in order, stop words left out and stems taken; then longer n-grams, if any."""
        text = text.lower() if self.lowercase else text
        found = re.findall(self.token_pattern or r"\w+", text)
        stops = self.stop_set()
        kept = [word for word in found if len(word) >= self.min_length and word not in stops]
        stems = self.stems(kept)
        shortest, longest = self.ngrams
        return [" ".join(stems[i : i + n]) for n in range(shortest, longest + 1) for i in range(len(stems) - n + 1)]

    def stop_set(self) -> frozenset[str]:
        """Give the words to leave out."""
        if isinstance(self.stop_words, str):
            return stop_words_of(self.stop_words)
        return frozenset(self.stop_words or ())

    def stems(self, words: list[str]) -> list[str]:
        """Give the stem of each word, or the word itself without a stemmer."""
        if self.stemmer is None:
            return words
        import Stemmer

        return list(Stemmer.Stemmer(self.stemmer).stemWords(words))

    def limits_documents(self) -> bool:
        """Tell whether a word must be in so many documents, or no more than so many."""
        fewest = 1 if isinstance(self.min_df, int) else 0.0
        return self.min_df > fewest or isinstance(self.max_df, int) or self.max_df < 1.0

    def letters(self) -> NDArray[np.uint32]:
        """Give the tokeniser's table: code point -> code point to write, 0 for what is not part of a word."""
        return _letters(lowercase=self.lowercase)


@cache
def _letters(*, lowercase: bool) -> NDArray[np.uint32]:
    table = np.zeros(LAST_LETTER, dtype=np.uint32)
    for point in range(LAST_LETTER):
        letter = chr(point).lower() if lowercase else chr(point)
        if len(letter) == 1 and (letter.isalnum() or letter == "_"):  # what \w means to Python's re
            table[point] = ord(letter)
    table.flags.writeable = False
    return table


def _check(analyzer: Analyzer) -> None:
    """Say at once what is wrong with the settings."""
    problem = None
    if not isinstance(analyzer.lowercase, bool):
        problem = f"lowercase must be True or False, but was {analyzer.lowercase!r}"
    elif not _is_some(analyzer.min_length):
        problem = f"min_length must be a whole number of at least 1, but was {analyzer.min_length!r}"
    elif not isinstance(analyzer.stop_words, str) and not _are_words(analyzer.stop_words or ()):
        problem = f"stop_words must be a language or a list of words, but was {analyzer.stop_words!r}"
    elif isinstance(analyzer.stop_words, str) and analyzer.stop_words not in (languages := stop_word_languages()):
        problem = f"there are no stop words for {analyzer.stop_words!r}; give a list of words, or one of {', '.join(languages)}"
    elif not _is_range(analyzer.ngrams):
        problem = (
            f"ngrams must be the shortest and the longest run, such as (1, 2), of at most {LONGEST_NGRAM} words, "
            f"but was {analyzer.ngrams!r}"
        )
    elif not _is_bound(analyzer.min_df) or not _is_bound(analyzer.max_df):
        problem = (
            "min_df and max_df must be whole numbers of documents or shares from 0.0 to 1.0, "
            f"but were {analyzer.min_df!r} and {analyzer.max_df!r}"
        )
    elif analyzer.max_features is not None and not _is_some(analyzer.max_features):
        problem = f"max_features must be a whole number of at least 1, but was {analyzer.max_features!r}"
    elif analyzer.stemmer is not None and analyzer.stemmer not in (known := _stemmers()):
        problem = f"there is no stemmer {analyzer.stemmer!r}; choose one of {', '.join(known)}"
    elif analyzer.token_pattern is not None:
        problem = _pattern_problem(analyzer.token_pattern)
    if problem:
        msg = f"Analyzer: {problem}."
        raise InputError(msg)


def _pattern_problem(pattern: Any) -> str | None:
    if not isinstance(pattern, str):
        return f"token_pattern must be a regular expression, but was {pattern!r}"
    try:
        groups = re.compile(pattern).groups
    except (re.error, RecursionError, OverflowError) as error:
        return f"token_pattern {pattern!r} is not a regular expression ({error})"
    return f"token_pattern {pattern!r} has {groups} groups, but may have one at most" if groups > 1 else None


def _is_range(value: Any) -> bool:
    whole = isinstance(value, tuple) and len(value) == 2 and all(isinstance(n, int) for n in value)
    return whole and 1 <= value[0] <= value[1] <= LONGEST_NGRAM


def _are_words(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(word, str) for word in value)


def _is_some(value: Any) -> bool:
    return isinstance(value, int) and 1 <= value <= LARGEST


def _is_bound(value: Any) -> bool:
    return 0 <= value <= LARGEST if isinstance(value, int) else isinstance(value, float) and 0.0 <= value <= 1.0


def _stemmers() -> list[str]:
    import Stemmer

    return sorted(Stemmer.algorithms())
