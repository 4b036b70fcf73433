"""Informed priors: lists of words that seed topics."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl

from semascope.corpus.lexicon import Lexicon, describe_languages
from semascope.corpus.text.analyzer import Analyzer, Analyzers, analyzer_of
from semascope.errors import InputError, MissingWordsWarning
from semascope.models.priors.validation import WordFinder, find_contradiction
from semascope.models.priors.word_lists import read_word_lists
from semascope.models.validation import is_positive
from semascope.training.hyperpriors import ETA, WordPrior

if TYPE_CHECKING:
    from numpy.typing import NDArray

NONE = np.empty(0, np.int64)

NAMED_AT_MOST = 10
"""Maximum number of missing words listed in a warning."""


@dataclass(frozen=True)
class Resolved:
    """Word prior resolved for a vocabulary.

    prior     η of every word in every topic
    names     names of the first topics; the rest are free
    missing   words missing from the vocabulary
    """

    prior: WordPrior
    names: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class InformedPrior:
    """Word prior with seed words: category i informs topic i, and the remaining topics are free.

    Parameters
    ----------
    categories : mapping of str to list of str
        Words of each category. ``"nasa*"`` matches all words with this prefix. A word may belong to several categories.
    strength : float, default=10.0
        η of the words of a category in its topic, in pseudo-counts.
    base : float, default=0.03
        η of all other words.
    strengths : mapping of str to float, optional
        Strengths of individual categories, overriding `strength`.

    Examples
    --------
    >>> prior = InformedPrior({"space": ["orbit", "nasa*"], "faith": ["god"]}, strength=5)
    >>> prior
    InformedPrior({'space': ['orbit', 'nasa*'], 'faith': ['god']}, strength=5.0, base=0.03)
    >>> resolved = prior.resolve(["god", "nasas", "orbit", "the"], n_topics=3)
    >>> resolved.names, resolved.prior.topics.tolist(), resolved.prior.words.tolist()
    (('space', 'faith'), [1, 0, 0], [0, 1, 2])
    """

    categories: Mapping[str, Sequence[str]]
    strength: float = 10.0
    base: float = ETA
    strengths: Mapping[str, float] = field(default_factory=dict)
    _source: str = field(default="InformedPrior", init=False)
    """Source named in errors: the file, if any."""

    def __post_init__(self) -> None:
        if found := find_contradiction(self.categories, self.strength, self.base, self.strengths):
            msg = f"InformedPrior: {found.sentence}."
            raise InputError(msg)
        put = object.__setattr__
        put(self, "categories", {name: _distinct(words) for name, words in self.categories.items()})
        put(self, "strength", float(self.strength))
        put(self, "base", float(self.base))
        put(self, "strengths", {name: float(strength) for name, strength in self.strengths.items()})

    @classmethod
    def from_file(cls, path: str | Path, *, strength: float = 10.0, base: float = ETA, encoding: str | None = None) -> Self:
        """Read categories from a file.

        Parameters
        ----------
        path : path
            JSON (``{"space": ["orbit", "nasa*"]}`` or ``{"space": {"words": [...], "strength": 5}}``), a LIWC dictionary
            (``.dic``), or plain text with one category per line: ``name: word word``, or words only, the first of which is
            also the name. Conditional entries of a dictionary are skipped with a `MissingWordsWarning`.
        strength, base : float
            As in the constructor.
        encoding : str, optional
            Encoding of the file, UTF-8 by default.
        """
        path = Path(path)
        found = read_word_lists(path, encoding)
        words = {name: listed.words for name, listed in found.by_name.items()}
        own = {name: listed.strength for name, listed in found.by_name.items() if listed.strength is not None}
        wrong = find_contradiction(words, strength, base, own)
        if wrong and wrong.category is not None:
            msg = f"{found.by_name[wrong.category].place}: {wrong.sentence}."
            raise InputError(msg)
        if n := len(found.skipped):
            entries = "1 entry" if n == 1 else f"{n:,} entries"
            sentence = f"prior: skipped {entries} with conditions or unknown categories, the first in {found.skipped[0]}"
            warnings.warn(sentence, MissingWordsWarning, stacklevel=2)
        prior = cls(words, strength, base, own)
        object.__setattr__(prior, "_source", str(path))
        return prior

    def resolve(self, vocabulary: pl.Series | Sequence[str], n_topics: int, analyzer: Analyzer | None = None) -> Resolved:
        """Resolve the prior for a vocabulary.

        Parameters
        ----------
        vocabulary : polars.Series or sequence of str
            Vocabulary of a corpus.
        n_topics : int
            Number of topics, at least the number of categories.
        analyzer : Analyzer, optional
            Analyzer of the vocabulary, applied to the words of the prior (lowercasing and stemming).

        Warns
        -----
        MissingWordsWarning
            If words are missing from the vocabulary. A category without any words left raises `InputError`.
        """
        return _resolved([self], [WordFinder(vocabulary, analyzer)], n_topics, len(vocabulary))

    def words(self) -> list[str]:
        """Return the distinct words of all categories."""
        return list(dict.fromkeys(word for words in self.categories.values() for word in words))

    def to_dict(self) -> dict[str, Any]:
        """Return the prior as a dict of plain values."""
        return {"categories": self.categories, "strength": self.strength, "base": self.base, "strengths": self.strengths}

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> Self:
        """Create a prior from a result of `to_dict`."""
        return cls(**settings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InformedPrior) and self._as_tuple() == other._as_tuple()

    def __hash__(self) -> int:
        return hash(self._as_tuple())

    def _as_tuple(self) -> tuple[Any, ...]:
        # The order of the categories counts, which two dictionaries would not compare; that of their words does not.
        categories = tuple((name, frozenset(words)) for name, words in self.categories.items())
        return categories, self.strength, self.base, frozenset(self.strengths.items())

    def __repr__(self) -> str:
        n_words = sum(len(words) for words in self.categories.values())
        listed = f"<{len(self.categories)} categories, {n_words:,} words>" if n_words > NAMED_AT_MOST else repr(self.categories)
        own = f", strengths={self.strengths}" if self.strengths else ""
        return f"InformedPrior({listed}, strength={self.strength}, base={self.base}{own})"


def word_prior(eta: Any, lexicon: Lexicon | None, analyzers: Analyzers | None, n_words: int, n_topics: int) -> Resolved:
    """Resolve η, which may be a number, an array or an `InformedPrior`.

    Parameters
    ----------
    eta : float, array of shape (n_words,) or (n_topics, n_words), InformedPrior, or dict of language to InformedPrior
        Word prior. A single `InformedPrior` applies to all languages.
    lexicon : Lexicon, optional
        Vocabulary, required for an `InformedPrior`.
    """
    if isinstance(eta, InformedPrior | Mapping):
        if lexicon is None:
            msg = "an InformedPrior needs the names of the words: fit a corpus, texts, or a frame with named columns."
            raise InputError(msg)
        priors = eta if isinstance(eta, Mapping) else dict.fromkeys(lexicon.languages, eta)
        if unknown := [code for code in priors if code not in lexicon.languages]:
            msg = f"eta has a prior for {', '.join(map(repr, unknown))}, but {describe_languages(lexicon.languages)}."
            raise InputError(msg)
        finders = [_finder(lexicon, analyzers, code) for code in priors]
        return _resolved(list(priors.values()), finders, n_topics, n_words)
    if is_positive(eta):
        return Resolved(WordPrior.flat(float(eta), n_words))
    table = _as_table(eta)
    if table is None:
        msg = f"eta must be a number above 0, an array of these or an InformedPrior, but was {eta!r}."
        raise InputError(msg)
    if table.shape not in ((n_words,), (n_topics, n_words)):
        msg = (
            f"eta must have a number for each of the {n_words:,} words, or a row of them for each of the {n_topics:,} topics, "
            f"but its shape is {table.shape}."
        )
        raise InputError(msg)
    if (wrong := np.argwhere(~((table > 0) & np.isfinite(table)))).size:
        at = tuple(wrong[0].tolist())
        msg = f"eta must be above 0 and finite everywhere, but at {list(at)} it is {table[at]}."
        raise InputError(msg)
    return Resolved(WordPrior.of_table(np.broadcast_to(table, (n_topics, n_words)).T))


def _as_table(eta: Any) -> NDArray[np.float64] | None:
    """Convert η to an array, if possible."""
    try:
        table = np.asarray(eta)
        return table.astype(np.float64) if table.dtype.kind in "fiu" and table.ndim else None
    except ValueError:  # rows of different lengths
        return None


def _resolved(priors: Sequence[InformedPrior], finders: Sequence[WordFinder], n_topics: int, n_words: int) -> Resolved:
    """Resolve priors with one finder each; categories of the same name are one topic."""
    names = list(dict.fromkeys(name for prior in priors for name in prior.categories))
    if len(names) > n_topics:
        msg = f"{_sources(priors)}: {len(names)} categories need as many topics, but n_components is {n_topics}."
        raise InputError(msg)
    if len({prior.base for prior in priors}) > 1:
        bases = ", ".join(str(prior.base) for prior in priors)
        msg = f"{_sources(priors)}: all languages share one base, but there are {bases}."
        raise InputError(msg)
    found = [{word: find(word) for word in prior.words()} for prior, find in zip(priors, finders, strict=True)]
    topics: list[list[tuple[NDArray[Any], float]]] = []
    for name in names:
        parts = [
            (numbers, prior.strengths.get(name, prior.strength) - prior.base)
            for prior, of_words in zip(priors, found, strict=True)
            if len(numbers := np.unique(np.concatenate([of_words[word] for word in prior.categories.get(name, ())] or [NONE])))
        ]
        if not parts:
            having = [prior for prior in priors if name in prior.categories]
            words = dict.fromkeys(word for prior in having for word in prior.categories[name])
            msg = f"{_sources(having)}: no word of category {name!r} is in the vocabulary: {_join_words(list(words))}."
            raise InputError(msg)
        topics.append(parts)
    _warn_missing(found)
    return Resolved(_word_prior(priors[0].base, topics, n_words), tuple(names), _missing(found))


def _sources(priors: Sequence[InformedPrior]) -> str:
    """List the distinct sources of priors."""
    return ", ".join(dict.fromkeys(prior._source for prior in priors))


def _missing(found: Sequence[Mapping[str, NDArray[Any]]]) -> tuple[str, ...]:
    """Return the words missing from all vocabularies."""
    words = dict.fromkeys(word for of_words in found for word in of_words)
    return tuple(word for word in words if not any(len(of_words.get(word, ())) for of_words in found))


def _warn_missing(found: Sequence[Mapping[str, NDArray[Any]]]) -> None:
    if missing := _missing(found):
        n_words, verb = len({word for of_words in found for word in of_words}), "is" if len(missing) == 1 else "are"
        sentence = f"prior: {len(missing):,} of {n_words:,} words {verb} not in the vocabulary: {_join_words(missing)}"
        warnings.warn(sentence, MissingWordsWarning, stacklevel=2)


def _finder(lexicon: Lexicon, analyzers: Analyzers | None, language: str) -> WordFinder:
    """Create the word finder of one language."""
    places = np.flatnonzero(lexicon.of_word == lexicon.number_of(language))
    analyzer = None if analyzers is None else analyzer_of(analyzers, language)
    return WordFinder(lexicon.words.gather(places), analyzer, places)


def _word_prior(base: float, topics: Sequence[Sequence[tuple[NDArray[Any], float]]], n_words: int) -> WordPrior:
    """Build the sparse prior of the increments over the base, by word."""
    parts = [(numbers, topic, above) for topic, of_topic in enumerate(topics) for numbers, above in of_topic]
    sizes = [len(numbers) for numbers, _, _ in parts]
    words = np.concatenate([numbers for numbers, _, _ in parts]).astype(np.int64)
    of_topic = np.repeat(np.array([topic for _, topic, _ in parts], dtype=np.int32), sizes)
    extra = np.repeat(np.array([above for _, _, above in parts]), sizes)
    order = np.lexsort((of_topic, words))
    ends = np.concatenate([[0], np.cumsum(np.bincount(words, minlength=n_words))]).astype(np.int64)
    return WordPrior(base, ends, of_topic[order], extra[order], guides=True)


def _join_words(words: Sequence[str]) -> str:
    more = len(words) - NAMED_AT_MOST
    return ", ".join(words[:NAMED_AT_MOST]) + (f" and {more:,} more" if more > 0 else "")


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word.strip() for word in words))
