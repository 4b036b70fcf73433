"""Summary of a corpus: facts and charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Group, RenderableType

from semascope.cli.app import pluralize
from semascope.cli.render.charts import MAX_BAR_WIDTH, Curve, Gallery, bars, chart
from semascope.cli.render.screen import Parts
from semascope.cli.render.terminal import MAX_LINE_LENGTH, MAX_NAME_LENGTH, sanitize
from semascope.corpus.summary import TOP, Bin, Size, Summary
from semascope.corpus.text.analyzer import Analyzer

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_YEARS = 10
"""Maximum number of years shown as bars; more become a curve."""


def summary_header(path: Path, about: Summary) -> RenderableType:
    """Return the size of a corpus on a line, and its properties below."""
    sizes = ", ".join(
        [pluralize(about.documents, "document"), pluralize(about.words, "word"), f"{number(about.tokens)} tokens"]
    )
    spread = [f"density {100 * about.density:.2g}%", pluralize(about.shards, "shard")]
    spread += [pluralize(about.empty_documents, "empty document") if about.empty_documents else "no empty documents"]
    details: dict[str, str | Parts] = {
        "spread": ", ".join(spread),
        **{f"language {language}": _size(size) for language, size in about.by_language.items()},
        "fields": Parts(*about.fields, separator=", "),
        "analyzer": _settings(about.analyzer),
        "path": about.path or "in memory",
        "fingerprint": about.fingerprint,
    }
    width = max(12, *(len(sanitize(name, MAX_NAME_LENGTH)) + 1 for name in details))
    lines = [
        Parts((sanitize(name, MAX_NAME_LENGTH).ljust(width), "cyan"), value, limit=MAX_LINE_LENGTH)
        for name, value in details.items()
    ]
    return Group(Parts((str(path), "bold"), f": {sizes}", limit=MAX_LINE_LENGTH), *lines, "")


def summary_charts(about: Summary) -> Gallery:
    """Return all charts that apply to a corpus."""
    return Gallery(list(_charts(about)))


def topic_shares(shares: NDArray[np.float64], names: Sequence[str]) -> RenderableType:
    """Return a chart of the largest topics of a model."""
    largest = np.argsort(-shares, kind="stable")[:TOP]
    more = len(shares) - len(largest)
    rows = _shares({names[topic]: float(shares[topic]) for topic in largest})
    return chart("Largest topics", f"{more:,} more" if more else "", bars(rows))


def _charts(about: Summary) -> Iterator[RenderableType]:
    if about.lengths:
        yield _lengths(about)
        words = [(word, n, number(n)) for word, n, _ in about.most_frequent_words]
        yield chart("Most frequent words", "", bars(words))
        yield _by_rank(about)
        yield _by_documents(about)
    if about.top_labels:
        yield _labels(about)
    if about.languages:
        yield chart("Languages", "guessed from stop words", bars(_shares(about.languages)))
    if about.years:
        yield _years(about.years)


def _lengths(about: Summary) -> RenderableType:
    subtitle = (
        f"median {number(about.median_length)}, mean {number(about.tokens_per_document)}, longest {number(about.longest)}"
    )
    empty = [("0", about.empty_documents, number(about.empty_documents))] if about.empty_documents else []
    return chart("Documents by length", subtitle, bars([*empty, *_of_bins(about.lengths)]))


def _by_rank(about: Summary) -> RenderableType:
    ranks, counts = np.array(about.ranks).T
    heights = np.interp(np.linspace(0, np.log(ranks[-1]), MAX_BAR_WIDTH), np.log(ranks), np.log(counts))
    heights += 0.1 - min(0.0, heights.min())  # keep the rarest words visible
    subtitle = f"from {number(counts[0])} times to {number(counts[-1])}, logarithmic"
    return chart("Words by rank", subtitle, Curve(list(heights), "rank 1", number(ranks[-1])))


def _by_documents(about: Summary) -> RenderableType:
    share = about.hapaxes / about.words
    subtitle = f"occurring once: {pluralize(about.hapaxes, 'word')} ({share:.0%})"
    return chart("Words by number of documents", subtitle, bars(_of_bins(about.words_by_documents)))


def _labels(about: Summary) -> RenderableType:
    more, without = about.labels - len(about.top_labels), about.unlabeled_documents
    parts = [f"{more:,} more"] if more else []
    parts += [f"{pluralize(without, 'document')} without"] if without else []
    return chart("Labels", ", ".join(parts), bars((label, n, number(n)) for label, n in about.top_labels))


def _years(years: dict[int, int]) -> RenderableType:
    if len(years) <= MAX_YEARS:
        return chart("Years", "", bars((str(year), n, number(n)) for year, n in years.items()))
    busiest = max(years, key=lambda year: years[year])
    subtitle = f"most in {busiest}: {pluralize(years[busiest], 'document')}"
    return chart("Years", subtitle, Curve(list(years.values()), str(min(years)), str(max(years))))


def _shares(shares: dict[str, float]) -> list[tuple[str, float, str]]:
    return [(name, share, f"{share:.1%}") for name, share in shares.items()]


def _of_bins(bins: Sequence[Bin]) -> list[tuple[str, float, str]]:
    return [(_range(one), one.n, number(one.n)) for one in bins]


def _range(one: Bin) -> str:
    first, last = one.first, one.end - 1
    if first != int(first) or one.end != int(one.end):
        return f"from {number(first)}"
    return number(first) if last <= first else f"{number(first)}–{number(last)}"


def _size(size: Size) -> str:
    return f"{pluralize(size.documents, 'document')}, {pluralize(size.words, 'word')}, {number(size.tokens)} tokens"


def _settings(analyzer: dict[str, Any] | None) -> str:
    if analyzer is None:
        return "none"
    if "by_language" in analyzer:
        return "; ".join(f"{language}: {_settings(own)}" for language, own in analyzer["by_language"].items())
    default = Analyzer().to_dict()
    other = {name: value for name, value in analyzer.items() if value != default[name]}
    if isinstance(words := other.get("stop_words"), list):
        other["stop_words"] = pluralize(len(words), "word")
    listed = [f"{name}={value}" for name, value in other.items()]
    return ", ".join(listed) or "default"


def number(value: float) -> str:
    """Format a number."""
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:.3g}"
