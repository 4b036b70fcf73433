"""Corpus statistics: lengths, frequencies, labels, languages, years."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from semascope.corpus.corpus import Corpus
from semascope.corpus.text.analyzer import to_settings
from semascope.corpus.text.languages import language_shares

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_BINS = 14
TOP = 10
"""Number of words and labels listed."""
SKEWED = 5
"""Ratio of the longest to the median document above which the bins of lengths grow."""
STEPS = ((1, 1.5, 2, 3, 5, 7), (1, 2, 3, 5), (1, 2, 5), (1, 3), (1,))
"""Limits of growing bins in each decade, finest first."""
RANKS = 60
"""Number of ranks at which word frequency is reported."""
PIECE = 1 << 22
"""Entries counted at a time, so that a corpus may exceed the memory."""


class Bin(NamedTuple):
    """Histogram bin: the number of values from `first` to below `end`."""

    first: float
    end: float
    n: int


class Size(NamedTuple):
    """Size of one language in a corpus."""

    documents: int
    words: int
    tokens: float


@dataclass(frozen=True)
class Summary:
    """Result of `summary`. Lists are ready to plot.

    density               fraction of non-zero entries in the documents × words table
    lengths               non-empty documents by number of tokens
    ranks                 pairs of a rank and the count of the word at it
    words_by_documents    words by document frequency; `hapaxes` is the number of words that occur once
    top_labels            pairs of a label and its number of documents
    languages             inferred fraction of each language in a sample of texts; empty without texts or if languages are named
    by_language           size of each named language
    years                 documents per year, from the first to the last; empty without dates
    """

    documents: int
    words: int
    tokens: float
    empty_documents: int
    density: float
    shards: int
    fields: list[str]
    analyzer: dict[str, Any] | None
    path: str | None
    fingerprint: str
    tokens_per_document: float
    median_length: float
    longest: float
    longest_document: str | None
    lengths: list[Bin]
    most_frequent_words: list[tuple[str, float, int]]
    ranks: list[tuple[int, float]]
    hapaxes: int
    words_by_documents: list[Bin]
    labels: int
    top_labels: list[tuple[str, int]]
    unlabeled_documents: int
    languages: dict[str, float]
    by_language: dict[str, Size]
    years: dict[int, int]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            **asdict(self),
            "lengths": [one._asdict() for one in self.lengths],
            "words_by_documents": [one._asdict() for one in self.words_by_documents],
            "by_language": {language: size._asdict() for language, size in self.by_language.items()},
        }


def summary(corpus: Corpus) -> Summary:
    """Compute statistics of a corpus.

    Examples
    --------
    >>> about = summary(Corpus.from_texts(["a cat and a dog", "a dog"], labels=["x", "y"]))
    >>> about.median_length, about.most_frequent_words[0], about.hapaxes
    (2.0, ('dog', 2.0, 2), 2)
    """
    lengths = document_lengths(corpus)
    filled, median = lengths[lengths > 0], float(np.median(lengths)) if len(lengths) else 0.0
    totals, in_documents = word_totals(corpus)
    order = np.argsort(-totals, kind="stable")
    used = totals[order[: np.count_nonzero(totals)]]
    labels = corpus.labels.list.explode().drop_nulls().value_counts(sort=True)
    return Summary(
        documents=corpus.n_documents,
        words=corpus.n_words,
        tokens=corpus.n_tokens,
        empty_documents=int((lengths == 0).sum()),
        density=len(corpus.rows.words) / max(1, corpus.n_documents * corpus.n_words),
        shards=len(corpus.shards()),
        fields=corpus.documents.columns,
        analyzer=to_settings(corpus.analyzer),
        path=str(corpus.path) if corpus.path else None,
        fingerprint=corpus.fingerprint,
        tokens_per_document=round(corpus.n_tokens / max(1, corpus.n_documents), 1),
        median_length=median,
        longest=float(lengths.max(initial=0)),
        longest_document=corpus.ids[int(np.argmax(lengths))] if len(lengths) else None,
        lengths=_binned(filled, growing=lengths.max(initial=0) > SKEWED * median),
        most_frequent_words=[(corpus.words[int(j)], float(totals[j]), int(in_documents[j])) for j in order[:TOP] if totals[j]],
        ranks=[(int(r) + 1, float(used[r])) for r in _geometric_ranks(len(used))],
        hapaxes=int((totals == 1).sum()),
        words_by_documents=_binned(in_documents[in_documents > 0], growing=True),
        labels=len(labels),
        top_labels=list(labels.head(TOP).iter_rows()),
        unlabeled_documents=int((corpus.labels.list.len() == 0).sum()),
        languages={} if corpus.texts is None or corpus.lexicon.is_named else language_shares(corpus.texts),
        by_language=sizes_by_language(corpus, totals) if corpus.lexicon.is_named else {},
        years=documents_by_year(corpus.documents),
    )


def document_lengths(corpus: Corpus) -> NDArray[np.float64]:
    """Return the number of tokens of each document."""
    ends, counts = corpus.rows.ends, corpus.rows.counts
    lengths = np.zeros(corpus.n_documents)
    filled = np.flatnonzero(ends[1:] > ends[:-1])
    if len(filled):
        lengths[filled] = np.add.reduceat(counts, ends[filled], dtype=np.float64)
    return lengths


def word_totals(corpus: Corpus) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the total count and the document frequency of each word."""
    totals, in_documents = np.zeros(corpus.n_words), np.zeros(corpus.n_words, dtype=np.int64)
    _, words, counts = corpus.rows
    for first in range(0, len(words), PIECE):
        piece = slice(first, first + PIECE)
        totals += np.bincount(words[piece], weights=counts[piece], minlength=corpus.n_words)
        in_documents += np.bincount(words[piece], minlength=corpus.n_words)
    return totals, in_documents


def sizes_by_language(corpus: Corpus, totals: NDArray[np.float64]) -> dict[str, Size]:
    """Return the size of each language, given the total count of each word."""
    words = np.bincount(corpus.word_languages, minlength=len(corpus.languages))
    tokens = np.bincount(corpus.word_languages, weights=totals, minlength=len(corpus.languages))
    return {
        language: Size(int(corpus.has_language(language).sum()), int(words[number]), float(tokens[number]))
        for number, language in enumerate(corpus.languages)
    }


def documents_by_year(documents: pl.DataFrame) -> dict[int, int]:
    """Count the documents of each year, gaps included; empty if most dates cannot be parsed."""
    name = next((name for name in ("date", "year") if name in documents.columns), None)
    if name is None:
        return {}
    dates = documents[name].drop_nulls().cast(pl.String)
    years = dates.str.extract(r"(?:^|\D)(1\d{3}|20\d{2})(?:\D|$|[01]\d[0-3]\d)").drop_nulls().cast(pl.Int64)
    if len(years) == 0 or len(years) < len(dates) / 2:
        return {}
    found = dict(years.value_counts().iter_rows())
    return {year: found.get(year, 0) for year in range(min(found), max(found) + 1)}


def _geometric_ranks(n: int) -> NDArray[np.int64]:
    """Return about geometrically spaced integers below n."""
    return np.unique(np.geomspace(1, n, RANKS).round().astype(np.int64)) - 1 if n else np.empty(0, np.int64)


def _binned(values: NDArray[Any], *, growing: bool) -> list[Bin]:
    """Count positive values in at most MAX_BINS bins with round limits, growing or of equal width."""
    if len(values) == 0:
        return []
    low, high, whole = float(values.min()), float(values.max()), bool((values == np.floor(values)).all())
    limits = (_growing_limits if growing else _even_limits)(low, high, whole=whole)
    limits[0] = max(limits[0], 1.0) if whole else limits[0]
    n = np.histogram(values, [*limits[:-1], np.inf])[0]
    return [Bin(float(limits[i]), float(limits[i + 1]), int(n[i])) for i in range(len(n))]


def _even_limits(low: float, high: float, *, whole: bool) -> NDArray[np.float64]:
    scale = 10.0 ** np.floor(np.log10(max((high - low) / MAX_BINS, high * 1e-6)))
    steps = [max(float(scale * step), float(whole)) for step in (1, 2, 5, 10, 20)]
    step = next(step for step in steps if high // step - low // step < MAX_BINS)
    return np.arange(low // step, high // step + 2) * step


def _growing_limits(low: float, high: float, *, whole: bool) -> NDArray[np.float64]:
    decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.floor(np.log10(high)) + 2)
    for steps in STEPS:
        limits: NDArray[np.float64] = np.outer(decades, steps).ravel()
        limits = limits[limits == np.floor(limits)] if whole else limits  # no bin begins at 1.5 words
        limits = limits[np.searchsorted(limits, low, "right") - 1 : np.searchsorted(limits, high, "right") + 1]
        if len(limits) <= MAX_BINS + 1:
            break
    return limits
