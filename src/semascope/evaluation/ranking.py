"""Ranking measures, significance tests and run files in the format of trec_eval."""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from semascope.corpus.readers.files import lines_of, undecodable
from semascope.errors import InputError, MissingExtraError, SourceError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


FORMS = ("AP", "AP@k", "Bpref", "nDCG", "nDCG@k", "P@k", "R@k", "RR", "RR@k", "Rprec", "Success@k")
"""Supported measures; k is the cutoff rank."""
BLOCK_SIGNS = 1 << 20
ROUNDING = 1e-12
"""Relative difference up to which sums count as equal."""

# --- measures --------------------------------------------------------------------------------------------------------------


def rank_measures(
    run: pl.DataFrame, qrels: pl.DataFrame, measures: Sequence[str] = ("AP", "P@5", "Rprec", "nDCG@10")
) -> pl.DataFrame:
    """Compute measures of the ranking of each query.

    Parameters
    ----------
    run : polars.DataFrame
        Results: columns ``query``, ``document`` and ``score``, as returned by `read_run`.
    qrels : polars.DataFrame
        Judgments: columns ``query``, ``document`` and ``relevance``, as returned by `read_qrels`.
    measures : sequence of str, optional
        Any of AP, AP@k, Bpref, nDCG, nDCG@k, P@k, R@k, RR, RR@k, Rprec and Success@k, with a number for k.

    Returns
    -------
    polars.DataFrame
        Column ``query`` and one column per measure; one row per query with a relevant document, in the order of the
        judgments. Queries without results score 0; queries without judgments are ignored.

    Examples
    --------
    >>> qrels = pl.DataFrame({"query": ["1", "1", "2"], "document": ["a", "b", "a"], "relevance": [1, 1, 1]})
    >>> run = pl.DataFrame({"query": ["1", "1", "1"], "document": ["a", "c", "b"], "score": [0.9, 0.5, 0.1]})
    >>> rank_measures(run, qrels, ["AP", "P@2"]).rows()
    [('1', 0.8333333333333333, 0.5), ('2', 0.0, 0.0)]
    """
    named = {name: _measure(name) for name in measures}
    judged = qrels.filter(pl.col("relevance").max().over("query") > 0)
    if judged.is_empty():
        msg = "no query has a relevant document, so rankings cannot be evaluated."
        raise InputError(msg)
    found = run.join(judged, on="query", how="semi")
    results = _ir_measures().iter_calc(
        list(named.values()), _by_query(judged, "relevance"), _by_query(_with_distinct_scores(found), "score")
    )
    values = {(result.measure, result.query_id): float(result.value) for result in results}
    queries = judged["query"].unique(maintain_order=True)
    return pl.DataFrame(
        {"query": queries} | {name: [values[measure, query] for query in queries] for name, measure in named.items()}
    )


def mean_measures(values: pl.DataFrame) -> dict[str, float]:
    """Return the mean of each measure over the queries in a result of `rank_measures`.

    Examples
    --------
    >>> mean_measures(pl.DataFrame({"query": ["1", "2"], "AP": [0.5, 0.25]}))
    {'AP': 0.375}
    """
    return {name: math.fsum(values[name]) / len(values) for name in values.columns if name != "query"}


def _measure(name: str) -> Any:
    """Parse a measure of ir_measures. Its own parser fails in Python 3.14, and P@0 would end the process."""
    parts = re.fullmatch(r"(\w+)(?:@([1-9]\d{0,8}))?", name, re.ASCII)
    base, cutoff = parts.groups() if parts else (None, None)
    if (base if cutoff is None else f"{base}@k") not in FORMS:
        msg = f"unknown measure {name!r}; choose from {', '.join(FORMS)}, with a positive integer for k."
        raise InputError(msg)
    measure = getattr(_ir_measures(), str(base))
    return measure if cutoff is None else measure @ int(cutoff)


def _ir_measures() -> Any:
    try:
        import ir_measures
    except ImportError as error:
        msg = f"evaluating rankings needs ir_measures ({error}): pip install 'semascope[eval]'"
        raise MissingExtraError(msg) from None
    return ir_measures


def _with_distinct_scores(run: pl.DataFrame) -> pl.DataFrame:
    """Replace scores by distinct integers: trec_eval rounds scores to float32, and measures differ in how they treat ties."""
    position = pl.int_range(pl.len()).over("query").cast(pl.Float64)
    return run.sort("score", "document", descending=True).with_columns(score=-position)


def _by_query(table: pl.DataFrame, column: str) -> dict[str, dict[str, Any]]:
    """Return the values of a column as a dict by query and document."""
    values: dict[str, dict[str, Any]] = {}
    for query, document, value in table.select("query", "document", column).iter_rows():
        values.setdefault(query, {})[document] = value
    return values


# --- differences -----------------------------------------------------------------------------------------------------------


def randomization_test(one: ArrayLike, other: ArrayLike, n: int = 10_000, seed: int = 0) -> float:
    """Compute the two-sided p-value of a paired randomization test for a difference of means.

    Parameters
    ----------
    one, other : array-like of shape (n_pairs,)
        Values of a measure for the same queries, in the same order.
    n : int, default=10_000
        Number of random exchanges. If there are at most n in total, all are enumerated and the p-value is exact.
    seed : int, default=0
        Seed of the exchanges.

    Examples
    --------
    >>> randomization_test([0.5, 0.7, 0.9, 0.4], [0.1, 0.2, 0.3, 0.3])
    0.125
    """
    differences = _differences(one, other)
    if n < 1:
        msg = f"the number of exchanges must be at least 1, but was {n}."
        raise InputError(msg)
    exact = 2 ** len(differences) <= n
    exchanges = _all_exchanges(len(differences)) if exact else _random_exchanges(len(differences), n, seed)
    total = differences.sum()
    least = abs(total) - ROUNDING * np.abs(differences).sum()
    extreme = sum(int((np.abs(total - 2 * (block @ differences)) >= least).sum()) for block in exchanges)
    return extreme / 2 ** len(differences) if exact else (extreme + 1) / (n + 1)  # the observed assignment counts as drawn


def _differences(one: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
    first, second = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or not len(first):
        msg = f"expected two lists of values for the same queries, found shapes {first.shape} and {second.shape}."
        raise InputError(msg)
    if not np.isfinite([first, second]).all():
        msg = "a randomization test needs finite values, but some are not finite."
        raise InputError(msg)
    return first - second


def _all_exchanges(n_pairs: int) -> Iterator[NDArray[np.float64]]:
    """Yield all exchanges in blocks of rows; 1 marks a pair to exchange."""
    size = max(BLOCK_SIGNS // n_pairs, 1)
    for start in range(0, 2**n_pairs, size):
        numbers = np.arange(start, min(start + size, 2**n_pairs))
        yield (numbers[:, None] >> np.arange(n_pairs) & 1).astype(np.float64)


def _random_exchanges(n_pairs: int, n: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield n random exchanges in blocks; the block size does not change them."""
    rng = np.random.default_rng(seed)
    size = max(BLOCK_SIGNS // n_pairs, 1)
    for start in range(0, n, size):
        yield (rng.random((min(size, n - start), n_pairs)) < 0.5).astype(np.float64)


SCHEMA = {"query": pl.String(), "document": pl.String(), "rank": pl.Int64(), "score": pl.Float64()}
"""Columns of a run."""


def read_run(path: str | Path) -> pl.DataFrame:
    """Read a run file, plain or gzipped.

    Returns
    -------
    polars.DataFrame
        String columns ``query`` and ``document``, integer ``rank`` and float ``score``, in the order of the file.
    """
    path = Path(path)
    if not path.is_file():
        msg = f"{path}: no such file."
        raise SourceError(msg)
    places: dict[tuple[str, str], int] = {}
    ranks: list[int] = []
    scores: list[float] = []
    for number, line in enumerate(lines_of(path), start=1):
        if not line.strip():
            continue
        query, document, rank, score = _parse_line(f"{path}, line {number}", line)
        first = places.setdefault((query, document), number)
        if first != number:
            msg = f"{path}, line {number}: document {document} is already listed for query {query} on line {first}."
            raise SourceError(msg)
        ranks.append(rank)
        scores.append(score)
    if not places:
        msg = f"{path}: the file contains no results."
        raise SourceError(msg)
    pairs = {"query": [query for query, _ in places], "document": [document for _, document in places]}
    return pl.DataFrame(pairs | {"rank": ranks, "score": scores}, schema=SCHEMA)


def _parse_line(where: str, line: str) -> tuple[str, str, int, float]:
    problem, cells = undecodable(line), line.split()
    if problem is None and len(cells) != 6:
        problem = f"expected query, Q0, document, rank, score and tag, found {len(cells)} values"
    elif problem is None and not re.fullmatch(r"[+-]?\d{1,18}", cells[3], re.ASCII):
        problem = f"the rank {cells[3]!r} is not a whole number"
    elif problem is None and math.isnan(_parse_score(cells[4])):
        problem = f"the score {cells[4]!r} is not a number"
    if problem is not None:
        msg = f"{where}: {problem}."
        raise SourceError(msg)
    return cells[0], cells[2], int(cells[3]), _parse_score(cells[4])


def _parse_score(cell: str) -> float:
    """Parse a score, which may be infinite; return NaN if it is not a number."""
    try:
        return float(cell) if "_" not in cell else math.nan
    except ValueError:
        return math.nan


def write_run(path: str | Path, run: pl.DataFrame, tag: str = "semascope") -> None:
    """Write a run file that `read_run` restores exactly.

    Parameters
    ----------
    run : polars.DataFrame
        Columns as returned by `read_run`. Rows are written in order.
    tag : str, default="semascope"
        Name of the system that produced the run.
    """
    path = Path(path)
    run = run.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
    problem = _unreadable(run, tag)
    if problem is not None:
        msg = f"{path}: {problem}."
        raise InputError(msg)
    fresh = path.with_name(f".{uuid.uuid4().hex}.new")
    try:
        with fresh.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(
                f"{query} Q0 {document} {rank} {score!r} {tag}\n" for query, document, rank, score in run.iter_rows()
            )
        fresh.replace(path)  # readers see the old file or the new one, never half of one
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _unreadable(run: pl.DataFrame, tag: str) -> str | None:
    """Return why a file of these results could not be read back, or None."""
    if run.is_empty():
        return "there are no results to write"
    for kind, names in {"query": run["query"], "document": run["document"], "tag": pl.Series([tag])}.items():
        for name in names:
            if name is None or name.split() != [name]:
                return f"the {kind} {name!r} must not be empty or contain whitespace, which separates the values of a run file"
    if run["rank"].has_nulls() or run["score"].has_nulls() or run["score"].is_nan().any():
        return "a result has no rank or no score"
    twice = run.filter(pl.struct("query", "document").is_duplicated())
    if len(twice):
        return f"document {twice['document'][0]} is listed twice for query {twice['query'][0]}"
    return None
