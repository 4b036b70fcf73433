"""The words of a corpus or a model, each with its language."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import polars as pl

from semascope.errors import FormatError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semascope.storage import Directory

NAMELESS = ("",)
"""The languages of content in a single, unnamed language."""


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Words, each of one language. The same spelling in two languages is two words.

    Words may be in any order; in a corpus built from texts, each language is a contiguous range, most frequent word first.

    Parameters
    ----------
    words : polars.Series
        The words; word j is column j of the counts.
    languages : tuple of str
        Codes of the languages; ``("",)`` is a single unnamed language.
    of_word : ndarray of int32
        Number of the language of each word.

    Examples
    --------
    >>> lexicon = Lexicon.of({"en": ["die", "war"], "de": ["war", "die", "haus"]})
    >>> lexicon.languages, lexicon.of_word.tolist()
    (('en', 'de'), [0, 0, 1, 1, 1])
    >>> lexicon.only("de").words.to_list()
    ['war', 'die', 'haus']
    """

    words: pl.Series
    languages: tuple[str, ...]
    of_word: NDArray[np.int32]

    @classmethod
    def of(cls, words: Lexicon | Mapping[str, Sequence[str] | pl.Series] | Sequence[str] | pl.Series) -> Lexicon:
        """Create a lexicon from the words of each language, or of a single unnamed language."""
        if isinstance(words, Lexicon):
            return words
        by_language = words if isinstance(words, Mapping) else {NAMELESS[0]: words}
        series = [pl.Series("word", part, dtype=pl.String) for part in by_language.values()]
        of_word = np.repeat(np.arange(len(series), dtype=np.int32), [len(part) for part in series])
        return cls(pl.concat(series, rechunk=True), tuple(by_language), _unwritable(of_word))

    def __len__(self) -> int:
        return len(self.words)

    @property
    def is_named(self) -> bool:
        """True if the languages have names."""
        return self.languages != NAMELESS

    def number_of(self, language: str) -> int:
        """Return the number of a language; raise InputError if it is unknown."""
        if language not in self.languages:
            known = (
                describe_languages(self.languages)
                if self.is_named
                else "no languages were named when it was built (build --languages)"
            )
            msg = f"there is no language {language!r}; {known}."
            raise InputError(msg)
        return self.languages.index(language)

    def only(self, *languages: str) -> Lexicon:
        """Return the words of one or more languages."""
        numbers = {language: self.number_of(language) for language in languages}
        return Lexicon.of({one: self.words.filter(pl.Series(self.of_word == number)) for one, number in numbers.items()})

    def equals(self, other: Lexicon) -> bool:
        """Return whether the other has the same words and languages in the same order."""
        alike = self.languages == other.languages and self.words.equals(other.words)
        return alike and np.array_equal(self.of_word, other.of_word)

    def numbers_in(self, other: Lexicon) -> NDArray[np.int32]:
        """Map each word to its number in another lexicon, -1 if it is missing; language and spelling must match."""
        languages = _numbers_of_languages(self.languages, other.languages)
        mine = pl.DataFrame({"word": self.words, "language": languages[self.of_word]})
        numbers = np.arange(len(other), dtype=np.int32)
        theirs = pl.DataFrame({"word": other.words, "language": other.of_word, "number": numbers})
        found = mine.join(theirs, on=["word", "language"], how="left", maintain_order="left")
        if len(found) > len(mine):
            twice = theirs.filter(theirs.select("word", "language").is_duplicated())["word"][0]
            msg = f"the word {twice!r} appears twice in the vocabulary; each column needs its own word."
            raise InputError(msg)
        return found["number"].fill_null(-1).to_numpy()

    def extended(self, other: Lexicon) -> Lexicon:
        """Return these words, followed by the new words of another lexicon in the same languages.

        Examples
        --------
        >>> Lexicon.of({"en": ["cat"]}).extended(Lexicon.of({"en": ["dog", "cat"], "de": ["hund"]})).words.to_list()
        ['cat', 'dog']
        """
        language = _numbers_of_languages(other.languages, self.languages)[other.of_word]
        new = (other.numbers_in(self) < 0) & (language >= 0)
        if not new.any():
            return self
        words = pl.concat([self.words.rename("word"), other.words.rename("word").filter(pl.Series(new))], rechunk=True)
        return Lexicon(words, self.languages, _unwritable(np.concatenate([self.of_word, language[new]])))

    def digest(self) -> bytes:
        """Return a hash of words and languages."""
        content = "\n".join(self.words).encode()
        if self.is_named:
            content += b"\0" + json.dumps(self.languages).encode() + self.of_word.astype("<i4").tobytes()
        return hashlib.blake2b(content, digest_size=16).digest()

    def to_frame(self) -> pl.DataFrame:
        """Return a table of the words, with their languages if named."""
        table = self.words.rename("word").to_frame()
        if not self.is_named:
            return table
        return table.with_columns(language=pl.Series(self.languages).gather(self.of_word))

    @classmethod
    def from_frame(cls, table: pl.DataFrame, languages: Sequence[str] = NAMELESS) -> Self:
        """Create a lexicon from the result of `to_frame`."""
        numbers = {language: number for number, language in enumerate(languages)}
        if "language" not in table.columns:
            return cls(table["word"], NAMELESS, _unwritable(np.zeros(len(table), np.int32)))
        of_word = table["language"].replace_strict(numbers, return_dtype=pl.Int32).to_numpy()
        return cls(table["word"], tuple(languages), _unwritable(of_word))


def read_lexicon(directory: Directory) -> Lexicon:
    """Read the words of a stored corpus or model."""
    table, languages = directory.table("vocabulary"), tuple(directory.facts.get("languages", NAMELESS))
    named = set(table["language"].unique()) if "language" in table.columns else set(NAMELESS)
    if not named <= set(languages) or (languages != NAMELESS) != ("language" in table.columns):
        msg = f"{directory.path}: the words of the vocabulary are not in the languages of the manifest."
        raise FormatError(msg)
    return Lexicon.from_frame(table, languages)


def describe_languages(languages: Sequence[str]) -> str:
    """Describe the languages, for a message."""
    named = ", ".join(languages) if any(languages) else "one without a name"
    return f"the language is {named}" if len(languages) == 1 else f"the languages are {named}"


def _numbers_of_languages(mine: tuple[str, ...], theirs: tuple[str, ...]) -> NDArray[np.int32]:
    """Map each language of `mine` to its number in `theirs`, or -1; a single unnamed language matches any single language."""
    if len(mine) == len(theirs) == 1 and NAMELESS in (mine, theirs):
        return np.zeros(1, np.int32)
    found = np.array([theirs.index(language) if language in theirs else -1 for language in mine], dtype=np.int32)
    if (found >= 0).any():
        return found
    problem = f"the vocabulary and the texts have no language in common: in the vocabulary {describe_languages(theirs)}"
    if mine == NAMELESS:
        there = describe_languages(theirs)
        problem = f"the language of the texts is not given; in the vocabulary {there}; name one with language="
    elif theirs == NAMELESS:
        problem = "the vocabulary has a single unnamed language; select one language of the corpus with in_language"
    raise InputError(problem + ".")


def _unwritable(array: NDArray[np.int32]) -> NDArray[np.int32]:
    array = array.view()
    array.flags.writeable = False
    return array
