"""How well an index finds documents that somebody has called relevant, and what was found elsewhere."""

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
"""The measure whose differences are tested."""


@dataclass(frozen=True)
class RunResult:
    """What was found, by a similarity or elsewhere, and how fast."""

    name: str
    run: pl.DataFrame
    queries_per_second: float | None = None

    @classmethod
    def elsewhere(cls, path: Path) -> RunResult:
        """Read a TREC run."""
        return cls(str(path), read_run(path))


def run_queries(index: Index, texts: Mapping[str, str], names: Iterable[str], k: int) -> Iterator[RunResult]:
    """Search for all queries that are not empty, by one similarity after the other.

    Parameters
    ----------
    texts : mapping of str to str
        The text of each query, by its id; one at least says something.
    names : iterable of str
        Similarities.
    k : int
        Most documents to find for each query.
    """
    asked = [query for query, text in texts.items() if text.strip()]
    queries, one = index.read([texts[query] for query in asked]), index.read([texts[asked[0]]])
    for name in names:
        index.rank(one, k, by=name)  # what is made once is not timed
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
    """What was found, judged.

    values  the measures of each query
    means   their means
    p       of a difference in AP from the baseline as large as this by chance; None of the baseline itself
    """

    found: RunResult
    values: pl.DataFrame
    means: dict[str, float]
    baseline: str
    p: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        speed = self.found.queries_per_second
        which = {"run" if speed is None else "by": self.found.name, "queries": len(self.values)}
        return {**which, **self.means, "baseline": self.baseline, "p": self.p, "queries_per_second": speed}


def evaluate_run(
    found: Sequence[RunResult], qrels: pl.DataFrame, measures: Sequence[str], baseline: str | None
) -> list[Result]:
    """Judge what was found, and test each against the baseline: by default bm25 if that is there, else the first.

    Raises
    ------
    InputError
        When the baseline is none of them.
    """
    names = [one.name for one in found]
    base = baseline or (BASELINE if BASELINE in names else names[0])
    if base not in names:
        msg = f"--baseline {base} is none of the runs: choose one of {', '.join(names)}."
        raise InputError(msg)
    tables = [rank_measures(one.run, qrels, measures) for one in found]
    of_base = tables[names.index(base)][TESTED]
    results = []
    for one, table in zip(found, tables, strict=True):
        p = None if one.name == base else randomization_test(table[TESTED], of_base)
        results.append(Result(one, table, mean_measures(table), base, p))
    return results
