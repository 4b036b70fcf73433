"""Evaluation of an index, and of TREC runs, by relevance judgments."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from semascope.errors import InputError
from semascope.evaluation.ranking import SCHEMA, mean_measures, randomization_test, rank_measures, read_run
from semascope.retrieval.index import Index
from semascope.retrieval.ranking import Ranking

BASELINE = "bm25"
TESTED = "AP"
"""Measure of the significance test."""


@dataclass(frozen=True)
class RunResult:
    """Run of a similarity, or one read from a file."""

    name: str
    run: pl.DataFrame
    queries_per_second: float | None = None

    @classmethod
    def elsewhere(cls, path: Path) -> RunResult:
        """Read a TREC run."""
        return cls(str(path), read_run(path))


def run_queries(index: Index, texts: Mapping[str, str], names: Iterable[str], k: int) -> Iterator[RunResult]:
    """Run all non-empty queries with each similarity.

    Parameters
    ----------
    texts : mapping of str to str
        Texts of the queries by id; at least one is not empty.
    names : iterable of str
        Similarities.
    k : int
        Maximum number of documents per query.
    """
    asked = [query for query, text in texts.items() if text.strip()]
    queries, one = index.read([texts[query] for query in asked]), index.read([texts[asked[0]]])
    for name in names:
        index.rank(one, k, by=name)  # warm up: one-time setup is not timed
        began = time.monotonic()
        rankings = index.rank(queries, k, by=name)
        seconds = time.monotonic() - began
        yield RunResult(name, _as_run(index.ids, asked, rankings), len(asked) / max(seconds, 1e-9))


def _as_run(ids: pl.Series, asked: Sequence[str], rankings: Sequence[Ranking]) -> pl.DataFrame:
    frames = [
        pl.DataFrame({"document": ids.gather(ranking.numbers), "score": ranking.scores})
        .with_row_index("rank", offset=1)
        .select(pl.lit(query).alias("query"), "document", "rank", "score")
        for query, ranking in zip(asked, rankings, strict=True)
    ]
    return pl.concat(frames).cast(SCHEMA)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Result:
    """Evaluated run.

    values  measures of each query
    means   means of the measures
    p       p-value of the difference in AP from the baseline; None for the baseline itself
    """

    found: RunResult
    values: pl.DataFrame
    means: dict[str, float]
    baseline: str
    p: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        speed = self.found.queries_per_second
        which = {"run" if speed is None else "by": self.found.name, "queries": len(self.values)}
        return {**which, **self.means, "baseline": self.baseline, "p": self.p, "queries_per_second": speed}


def evaluate_run(
    found: Sequence[RunResult], qrels: pl.DataFrame, measures: Sequence[str], baseline: str | None
) -> list[Result]:
    """Evaluate runs, and test each against the baseline: by default bm25 if present, else the first.

    Raises
    ------
    InputError
        If the baseline is not one of the runs.
    """
    names = [one.name for one in found]
    base = baseline or (BASELINE if BASELINE in names else names[0])
    if base not in names:
        msg = f"--baseline {base} is not one of the runs: choose one of {', '.join(names)}."
        raise InputError(msg)
    tables = [rank_measures(one.run, qrels, measures) for one in found]
    of_base = tables[names.index(base)][TESTED]
    results = []
    for one, table in zip(found, tables, strict=True):
        p = None if one.name == base else randomization_test(table[TESTED], of_base)
        results.append(Result(one, table, mean_measures(table), base, p))
    return results
