"""Run files: what a search found for each query, as trec_eval and other tools take it.

A line has six values with blanks between them: ``query Q0 document rank score tag``. The second means nothing any more.
"""

from __future__ import annotations

import math
import re
import uuid
from pathlib import Path

import polars as pl

from semascope.corpus.readers.files import lines_of, undecodable
from semascope.errors import InputError, SourceError

SCHEMA = {"query": pl.String(), "document": pl.String(), "rank": pl.Int64(), "score": pl.Float64()}
"""The columns of a run."""


def read_run(path: str | Path) -> pl.DataFrame:
    """Read a run file, plain or gzipped.

    Returns
    -------
    polars.DataFrame
        Columns ``query`` and ``document``, strings, ``rank``, whole numbers, and ``score``; in the order of the file.
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
        query, document, rank, score = _result(f"{path}, line {number}", line)
        first = places.setdefault((query, document), number)
        if first != number:
            msg = f"{path}, line {number}: document {document} was found for query {query} on line {first} already."
            raise SourceError(msg)
        ranks.append(rank)
        scores.append(score)
    if not places:
        msg = f"{path}: there are no results: the file is empty."
        raise SourceError(msg)
    pairs = {"query": [query for query, _ in places], "document": [document for _, document in places]}
    return pl.DataFrame(pairs | {"rank": ranks, "score": scores}, schema=SCHEMA)


def _result(where: str, line: str) -> tuple[str, str, int, float]:
    problem, cells = undecodable(line), line.split()
    if problem is None and len(cells) != 6:
        problem = f"expected query, Q0, document, rank, score and tag, found {len(cells)} values"
    elif problem is None and not re.fullmatch(r"[+-]?\d{1,18}", cells[3], re.ASCII):
        problem = f"the rank {cells[3]!r} is not a whole number"
    elif problem is None and math.isnan(_number(cells[4])):
        problem = f"the score {cells[4]!r} is not a number"
    if problem is not None:
        msg = f"{where}: {problem}."
        raise SourceError(msg)
    return cells[0], cells[2], int(cells[3]), _number(cells[4])


def _number(cell: str) -> float:
    """Give a score, which may be infinite; nan where there is none."""
    try:
        return float(cell) if "_" not in cell else math.nan
    except ValueError:
        return math.nan


def write_run(path: str | Path, run: pl.DataFrame, tag: str = "semascope") -> None:
    """Write a run file, which `read_run` reads back to the same values.

    Parameters
    ----------
    run : polars.DataFrame
        Columns as `read_run` gives them. Rows are written in their order.
    tag : str, default="semascope"
        Names the system that made the run.
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
    """Say why a file of these results would be read as others, or not at all; None when it would not."""
    if run.is_empty():
        return "there are no results to write"
    for kind, names in {"query": run["query"], "document": run["document"], "tag": pl.Series([tag])}.items():
        for name in names:
            if name is None or name.split() != [name]:
                return f"the {kind} {name!r} cannot stand in a run file, where blanks divide the values"
    if run["rank"].has_nulls() or run["score"].has_nulls() or run["score"].is_nan().any():
        return "a result has no rank, or no score"
    twice = run.filter(pl.struct("query", "document").is_duplicated())
    if len(twice):
        return f"document {twice['document'][0]} stands twice among the results of query {twice['query'][0]}"
    return None
