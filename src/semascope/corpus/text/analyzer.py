"""Analyzers, which turn texts into words: one for all texts, or one per language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.lexicon import NAMELESS, describe_languages
from semascope.corpus.text.languages import stop_word_languages, stop_words_of
from semascope.errors import FormatError, InputError
from semascope.storage import MANIFEST
from semascope.storage.facts import Maybe, Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semascope.storage import Directory


LAST_LETTER = 0x40000
"""First code point after all letters and digits, in any version of Unicode (tested)."""

LARGEST = 2**53
"""Upper bound of integer settings."""

MAX_NGRAM = 100
"""Maximum n-gram length: each length takes a pass over all texts."""


@dataclass(frozen=True, kw_only=True)
class Analyzer:
    """Settings that define how texts become words. An analyzer holds no vocabulary.

    Parameters
    ----------
    lowercase : bool, default=True
        Convert to lower case, as ``str.lower`` does.
    token_pattern : str, optional
        A regular expression for ``re.findall``. By default a word is a run of letters, digits and underscores, as in
        scikit-learn's ``CountVectorizer``; this is much faster than any expression.
    min_length : int, default=2
        Minimum word length, in characters.
    stop_words : str or sequence of str, optional
        Words to leave out, or the language of a built-in list: "english" (scikit-learn's list), "german" and other languages
        with a Snowball stemmer.
    stemmer : str, optional
        Language of the Snowball stemmer, for example "english".
    ngrams : pair of int, default=(1, 1)
        Minimum and maximum n-gram length: (1, 2) counts words and pairs. Stop words are removed and words stemmed before
        they are joined, with a space between them.
    min_df, max_df : int or float, default=1 and 1.0
        Leave out words that are in fewer or in more documents than this; a float is a fraction of the documents.
    max_features : int, optional
        Keep only this many of the most frequent words.

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
            if isinstance(value, np.generic):  # which JSON cannot represent
                object.__setattr__(self, setting.name, value.item())
        if isinstance(self.ngrams, list):  # as read from JSON
            object.__setattr__(self, "ngrams", tuple(self.ngrams))
        _validate_settings(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, for a manifest."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> Analyzer:
        """Create an analyzer from the result of `to_dict`."""
        known = {field.name for field in fields(cls)}
        return cls(**{k: v for k, v in settings.items() if k in known})

    def words(self, text: str) -> list[str]:
        """Return the words of a text in order, stemmed and without stop words, followed by longer n-grams if any."""
        text = text.lower() if self.lowercase else text
        found = re.findall(self.token_pattern or r"\w+", text)
        stops = self.stop_set()
        kept = [word for word in found if len(word) >= self.min_length and word not in stops]
        stems = self.stems(kept)
        shortest, longest = self.ngrams
        return [" ".join(stems[i : i + n]) for n in range(shortest, longest + 1) for i in range(len(stems) - n + 1)]

    def stop_set(self) -> frozenset[str]:
        """Return the words to leave out."""
        if isinstance(self.stop_words, str):
            return stop_words_of(self.stop_words)
        return frozenset(self.stop_words or ())

    def stems(self, words: list[str]) -> list[str]:
        """Return the stem of each word, or the word itself without a stemmer."""
        if self.stemmer is None:
            return words
        import Stemmer

        return list(Stemmer.Stemmer(self.stemmer).stemWords(words))

    def limits_documents(self) -> bool:
        """Return whether `min_df` or `max_df` restricts the vocabulary."""
        fewest = 1 if isinstance(self.min_df, int) else 0.0
        return self.min_df > fewest or isinstance(self.max_df, int) or self.max_df < 1.0

    def letters(self) -> NDArray[np.uint32]:
        """Return the tokenizer's table: code point -> code point to write, 0 for characters that are not part of a word."""
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


def _validate_settings(analyzer: Analyzer) -> None:
    """Validate the settings."""
    problem = None
    if not isinstance(analyzer.lowercase, bool):
        problem = f"lowercase must be True or False, but was {analyzer.lowercase!r}"
    elif not _is_positive(analyzer.min_length):
        problem = f"min_length must be a whole number of at least 1, but was {analyzer.min_length!r}"
    elif not isinstance(analyzer.stop_words, str) and not _are_words(analyzer.stop_words or ()):
        problem = f"stop_words must be a language or a list of words, but was {analyzer.stop_words!r}"
    elif isinstance(analyzer.stop_words, str) and analyzer.stop_words not in (languages := stop_word_languages()):
        problem = f"there are no stop words for {analyzer.stop_words!r}; give a list of words, or one of {', '.join(languages)}"
    elif not _is_range(analyzer.ngrams):
        problem = (
            f"ngrams must be a pair of lengths from 1 to {MAX_NGRAM}, the shortest first, such as (1, 2), "
            f"but was {analyzer.ngrams!r}"
        )
    elif not _is_bound(analyzer.min_df) or not _is_bound(analyzer.max_df):
        problem = (
            "min_df and max_df must be whole numbers of documents or fractions from 0.0 to 1.0, "
            f"but were {analyzer.min_df!r} and {analyzer.max_df!r}"
        )
    elif analyzer.max_features is not None and not _is_positive(analyzer.max_features):
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
    return f"token_pattern {pattern!r} has {groups} groups, but may have at most one" if groups > 1 else None


def _is_range(value: Any) -> bool:
    whole = isinstance(value, tuple) and len(value) == 2 and all(isinstance(n, int) for n in value)
    return whole and 1 <= value[0] <= value[1] <= MAX_NGRAM


def _are_words(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(word, str) for word in value)


def _is_positive(value: Any) -> bool:
    return isinstance(value, int) and 1 <= value <= LARGEST


def _is_bound(value: Any) -> bool:
    return 0 <= value <= LARGEST if isinstance(value, int) else isinstance(value, float) and 0.0 <= value <= 1.0


def _stemmers() -> list[str]:
    import Stemmer

    return sorted(Stemmer.algorithms())


Analyzers = Analyzer | Mapping[str, Analyzer]

_BY_LANGUAGE = "by_language"
_ANALYZERS = Maybe(Record(optional={_BY_LANGUAGE: Record(others=Record())}))


def analyzer_of(analyzers: Analyzers, language: str) -> Analyzer:
    """Return the analyzer of a language; raise InputError if there is none."""
    if isinstance(analyzers, Analyzer):
        return analyzers
    if language in analyzers:
        return analyzers[language]
    if language in NAMELESS:
        msg = f"the analyzers are for {', '.join(analyzers)}, but the language of the texts is not given."
    else:
        msg = f"there is no analyzer for the language {language!r}; {describe_languages(tuple(analyzers))}."
    raise InputError(msg)


def analyzers_of(analyzers: Analyzers | None, languages: Sequence[str]) -> Analyzers | None:
    """Return the analyzers of some languages; for a single language, its analyzer."""
    if analyzers is None or isinstance(analyzers, Analyzer):
        return analyzers
    if len(languages) == 1:
        return analyzers.get(languages[0])
    return {language: analyzers[language] for language in languages if language in analyzers}


def for_vocabulary(analyzers: Analyzers | None) -> Analyzers:
    """Return analyzers without limits, for counting over a given vocabulary."""
    if isinstance(analyzers, Mapping):
        return {language: _without_limits(analyzer) for language, analyzer in analyzers.items()}
    return _without_limits(analyzers or Analyzer())


def _without_limits(analyzer: Analyzer) -> Analyzer:
    return replace(analyzer, min_df=1, max_df=1.0, max_features=None)


def read_analyzers(directory: Directory) -> Analyzers | None:
    """Read the analyzers from the manifest of a corpus or a model."""
    settings = directory.facts["analyzer"]
    problem = _ANALYZERS.problem(settings, "facts.analyzer")
    if problem is None:
        try:
            return from_settings(settings)
        except InputError as error:
            problem = f"facts.analyzer: {str(error).rstrip('.')}"
    msg = f"{directory.path / MANIFEST}: {problem}."
    raise FormatError(msg)


def to_settings(analyzers: Analyzers | None) -> dict[str, Any] | None:
    """Return analyzers as plain values, for a manifest."""
    if isinstance(analyzers, Mapping):
        return {_BY_LANGUAGE: {language: analyzer.to_dict() for language, analyzer in analyzers.items()}}
    return None if analyzers is None else analyzers.to_dict()


def from_settings(settings: dict[str, Any] | None) -> Analyzers | None:
    """Create analyzers from the result of `to_settings`.

    Examples
    --------
    >>> analyzers = {"en": Analyzer(stop_words="english"), "de": Analyzer(stop_words="german")}
    >>> from_settings(to_settings(analyzers)) == analyzers
    True
    """
    if settings is None:
        return None
    if _BY_LANGUAGE in settings:
        return {language: Analyzer.from_dict(own) for language, own in settings[_BY_LANGUAGE].items()}
    return Analyzer.from_dict(settings)
