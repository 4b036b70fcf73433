"""How good rankings of documents are, by judgements of relevance, and whether one search is better than another.

A document is relevant when its judgement is above 0; documents without one are not. The measures are those of trec_eval, and
ir_measures computes them. They look at scores, not at ranks: of documents with the same score the last in the alphabet comes
first, as in trec_eval. nDCG takes the judgement as the gain, and log₂(rank + 1) as the discount.

Differences between searches are tested as Smucker, Allan and Carterette (2007) recommend: if two searches are equally good, the
values of each query might as well be exchanged. So the p-value is the share of exchanges that part the means at least as far.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from semascope.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

FORMS = ("AP", "AP@k", "Bpref", "nDCG", "nDCG@k", "P@k", "R@k", "RR", "RR@k", "Rprec", "Success@k")
"""Measures that there are; k is how many documents to look at."""
BLOCK_SIGNS = 1 << 20
ROUNDING = 1e-12
"""Sums that differ by this share of what was added are taken as equal."""

# --- measures --------------------------------------------------------------------------------------------------------------


def rank_measures(
    run: pl.DataFrame, qrels: pl.DataFrame, measures: Sequence[str] = ("AP", "P@5", "Rprec", "nDCG@10")
) -> pl.DataFrame:
    """Judge the ranking of each query.

    Parameters
    ----------
    run : polars.DataFrame
        What was found: columns ``query``, ``document`` and ``score``, as `read_run` gives them.
    qrels : polars.DataFrame
        Judgements: columns ``query``, ``document`` and ``relevance``, as `read_qrels` gives them.
    measures : sequence of str, optional
        Names from AP, AP@k, Bpref, nDCG, nDCG@k, P@k, R@k, RR, RR@k, Rprec and Success@k, with a number in place of k.

    Returns
    -------
    polars.DataFrame
        Column ``query`` and one for each measure; a row for each query that has a relevant document, in the order of the
        judgements. Queries for which nothing was found have 0 everywhere; those without judgements are ignored.

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
        msg = "no query has a relevant document, so there is nothing to judge a ranking by."
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
    """Give the mean of each measure over the queries, of what `rank_measures` gives.

    Examples
    --------
    >>> mean_measures(pl.DataFrame({"query": ["1", "2"], "AP": [0.5, 0.25]}))
    {'AP': 0.375}
    """
    return {name: math.fsum(values[name]) / len(values) for name in values.columns if name != "query"}


def _measure(name: str) -> Any:
    """Give a measure as ir_measures has it. Its own parser fails in Python 3.14, and P@0 would end the process."""
    parts = re.fullmatch(r"(\w+)(?:@([1-9]\d{0,8}))?", name, re.ASCII)
    base, cutoff = parts.groups() if parts else (None, None)
    if (base if cutoff is None else f"{base}@k") not in FORMS:
        msg = f"there is no measure {name!r}; there are {', '.join(FORMS)}, with a whole number above 0 in place of k."
        raise InputError(msg)
    measure = getattr(_ir_measures(), str(base))
    return measure if cutoff is None else measure @ int(cutoff)


def _ir_measures() -> Any:
    try:
        import ir_measures
    except ImportError as error:
        msg = f"judging rankings needs ir_measures ({error}): pip install 'semascope[eval]'"
        raise MissingExtraError(msg) from None
    return ir_measures


def _with_distinct_scores(run: pl.DataFrame) -> pl.DataFrame:
    """Put whole numbers in place of scores. trec_eval rounds scores to float32, and not all measures treat ties alike."""
    position = pl.int_range(pl.len()).over("query").cast(pl.Float64)
    return run.sort("score", "document", descending=True).with_columns(score=-position)


def _by_query(table: pl.DataFrame, column: str) -> dict[str, dict[str, Any]]:
    """Give the values of a column by query and document."""
    values: dict[str, dict[str, Any]] = {}
    for query, document, value in table.select("query", "document", column).iter_rows():
        values.setdefault(query, {})[document] = value
    return values


# --- differences -----------------------------------------------------------------------------------------------------------


def randomisation_test(one: ArrayLike, other: ArrayLike, n: int = 10_000, seed: int = 0) -> float:
    """Give the two-sided p-value of a difference between means, by exchanging values within pairs.

    Parameters
    ----------
    one, other : array-like of shape (n_pairs,)
        A measure's values for the same queries, in the same order.
    n : int, default=10_000
        How many exchanges to draw. If there are not more than that, all are looked at, and the p-value is exact.
    seed : int, default=0
        Decides what is drawn.

    Examples
    --------
    >>> randomisation_test([0.5, 0.7, 0.9, 0.4], [0.1, 0.2, 0.3, 0.3])
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
    return extreme / 2 ** len(differences) if exact else (extreme + 1) / (n + 1)  # what was seen is one of those drawn


def _differences(one: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
    first, second = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or not len(first):
        msg = f"expected two lists of values for the same queries, found shapes {first.shape} and {second.shape}."
        raise InputError(msg)
    if not np.isfinite([first, second]).all():
        msg = "a randomisation test needs finite values, but some are not."
        raise InputError(msg)
    return first - second


def _all_exchanges(n_pairs: int) -> Iterator[NDArray[np.float64]]:
    """Give blocks of rows that say with 1 which pairs to exchange."""
    size = max(BLOCK_SIGNS // n_pairs, 1)
    for start in range(0, 2**n_pairs, size):
        numbers = np.arange(start, min(start + size, 2**n_pairs))
        yield (numbers[:, None] >> np.arange(n_pairs) & 1).astype(np.float64)


def _random_exchanges(n_pairs: int, n: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Give n random rows in blocks. How they are cut changes nothing."""
    rng = np.random.default_rng(seed)
    size = max(BLOCK_SIGNS // n_pairs, 1)
    for start in range(0, n, size):
        yield (rng.random((min(size, n - start), n_pairs)) < 0.5).astype(np.float64)
