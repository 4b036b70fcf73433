"""Informed priors: words that are known to belong together get topics of their own."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl

from semascope.corpus.analyze import Analyzer
from semascope.errors import InputError, MissingWordsWarning
from semascope.models.contradictions import contradiction, is_positive
from semascope.models.finding import WordFinder
from semascope.models.wordlists import read_word_lists
from semascope.training.priors import WordPrior

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAMED_AT_MOST = 10
"""Missing words that a warning names; it counts the rest."""


@dataclass(frozen=True)
class Resolved:
    """A prior over the words of a vocabulary.

    prior     η of every word in every topic
    names     names of the first topics; those after them are free
    missing   words of the prior that the vocabulary does not have
    """

    prior: WordPrior
    names: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class InformedPrior:
    """Categories of words that are to be topics: the first category is topic 0, and so on; topics beyond them stay free.

    Parameters
    ----------
    categories : mapping of str to list of str
        The words of each category. ``"nasa*"`` stands for all words that begin so. A word may be in several categories.
    strength : float, default=10.0
        η of a category's words in its topic: how often each was seen there, as it were, before any document was read.
    base : float, default=0.01
        η of all other words.
    strengths : mapping of str to float, optional
        Strengths of single categories.

    Examples
    --------
    >>> prior = InformedPrior({"space": ["orbit", "nasa*"], "faith": ["god"]}, strength=5)
    >>> prior
    InformedPrior({'space': ['orbit', 'nasa*'], 'faith': ['god']}, strength=5.0, base=0.01)
    >>> resolved = prior.resolve(["god", "nasas", "orbit", "the"], n_topics=3)
    >>> resolved.names, resolved.prior.topics.tolist(), resolved.prior.words.tolist()
    (('space', 'faith'), [1, 0, 0], [0, 1, 2])
    """

    categories: Mapping[str, Sequence[str]]
    strength: float = 10.0
    base: float = 0.01
    strengths: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if found := contradiction(self.categories, self.strength, self.base, self.strengths):
            msg = f"InformedPrior: {found.sentence}."
            raise InputError(msg)
        put = object.__setattr__
        put(self, "categories", {name: _distinct(words) for name, words in self.categories.items()})
        put(self, "strength", float(self.strength))
        put(self, "base", float(self.base))
        put(self, "strengths", {name: float(strength) for name, strength in self.strengths.items()})

    @classmethod
    def from_file(cls, path: str | Path, *, strength: float = 10.0, base: float = 0.01, encoding: str | None = None) -> Self:
        """Read the categories of a file.

        Parameters
        ----------
        path : path
            JSON (``{"space": ["orbit", "nasa*"]}``, or ``{"space": {"words": [...], "strength": 5}}``), a dictionary as LIWC
            has them (``.dic``), or plain text: words on a line, after ``name:`` or else named by the first. Entries of a
            dictionary that depend on other words are passed over with a `MissingWordsWarning`.
        strength, base : float
            As for the prior itself.
        encoding : str, optional
            Of the file, if it is not UTF-8.
        """
        path = Path(path)
        found = read_word_lists(path, encoding)
        words = {name: listed.words for name, listed in found.by_name.items()}
        own = {name: listed.strength for name, listed in found.by_name.items() if listed.strength is not None}
        wrong = contradiction(words, strength, base, own)
        if wrong and wrong.category is not None:
            msg = f"{found.by_name[wrong.category].place}: {wrong.sentence}."
            raise InputError(msg)
        if n := len(found.passed_over):
            entries = "1 entry" if n == 1 else f"{n:,} entries"
            said = f"prior: {entries} with conditions or unknown categories left out, the first in {found.passed_over[0]}"
            warnings.warn(said, MissingWordsWarning, stacklevel=2)
        return cls(words, strength, base, own)

    def resolve(self, vocabulary: pl.Series | Sequence[str], n_topics: int, analyzer: Analyzer | None = None) -> Resolved:
        """Find the words in a vocabulary.

        Parameters
        ----------
        vocabulary : polars.Series or sequence of str
            The words of a corpus.
        n_topics : int
            Number of topics, at least one for each category.
        analyzer : Analyzer, optional
            What made the vocabulary: the prior's words are put into lower case and stemmed as it does.

        Warns
        -----
        MissingWordsWarning
            When the vocabulary does not have all words. A category that has none left is an `InputError`.
        """
        if len(self.categories) > n_topics:
            msg = f"InformedPrior: {len(self.categories)} categories need as many topics, but n_components is {n_topics}."
            raise InputError(msg)
        find = WordFinder(vocabulary, analyzer)
        found = {word: find(word) for word in dict.fromkeys(self._all_words())}
        missing = tuple(word for word, numbers in found.items() if not len(numbers))
        topics = []
        for name, words in self.categories.items():
            numbers = np.unique(np.concatenate([found[word] for word in words]))
            if not len(numbers):
                msg = f"InformedPrior: no word of category {name!r} is in the vocabulary: {_some(words)}."
                raise InputError(msg)
            topics.append((numbers, self.strengths.get(name, self.strength) - self.base))
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            said = f"prior: {len(missing):,} of {len(found):,} words {verb} not in the vocabulary: {_some(missing)}"
            warnings.warn(said, MissingWordsWarning, stacklevel=2)
        return Resolved(_word_prior(self.base, topics, len(vocabulary)), tuple(self.categories), missing)

    def _all_words(self) -> Iterator[str]:
        for words in self.categories.values():
            yield from words

    def to_dict(self) -> dict[str, Any]:
        """Give the prior as plain values, for a manifest."""
        return {"categories": self.categories, "strength": self.strength, "base": self.base, "strengths": self.strengths}

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> Self:
        """Make a prior from what `to_dict` gave."""
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


def word_prior(
    eta: Any, words: pl.Series | Sequence[str] | None, analyzer: Analyzer | None, n_words: int, n_topics: int
) -> Resolved:
    """Make what a model needs of any η that it takes: a number, an array or an `InformedPrior`.

    Parameters
    ----------
    eta : float, InformedPrior, or array of shape (n_words,) or (n_topics, n_words)
        Prior of the words in topics.
    words : polars.Series or sequence of str, optional
        The vocabulary, where there is one: only an `InformedPrior` needs it.
    """
    if isinstance(eta, InformedPrior):
        if words is None:
            msg = "an InformedPrior needs the names of the words: fit a corpus, texts, or a frame with named columns."
            raise InputError(msg)
        return eta.resolve(words, n_topics, analyzer)
    if is_positive(eta):
        return Resolved(WordPrior.flat(float(eta), n_words))
    table = _as_table(eta)
    if table is None:
        msg = f"eta must be a number above 0, an array of such, or an InformedPrior, but was {eta!r}."
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
    """Give η as an array of numbers, if it is one."""
    try:
        table = np.asarray(eta)
        return table.astype(np.float64) if table.dtype.kind in "fiu" and table.ndim else None
    except ValueError:  # rows of different lengths
        return None


def _word_prior(base: float, topics: list[tuple[NDArray[Any], float]], n_words: int) -> WordPrior:
    """Put together what each topic has above the base, by word."""
    words = np.concatenate([numbers for numbers, _ in topics]).astype(np.int64)
    of_topic = np.repeat(np.arange(len(topics), dtype=np.int32), [len(numbers) for numbers, _ in topics])
    extra = np.array([above for _, above in topics])[of_topic]
    order = np.lexsort((of_topic, words))
    ends = np.concatenate([[0], np.cumsum(np.bincount(words, minlength=n_words))]).astype(np.int64)
    return WordPrior(base, ends, of_topic[order], extra[order])


def _some(words: Sequence[str]) -> str:
    more = len(words) - NAMED_AT_MOST
    return ", ".join(words[:NAMED_AT_MOST]) + (f" and {more:,} more" if more > 0 else "")


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word.strip() for word in words))
