"""semascope evaluate-search INDEX QUERIES QRELS"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semascope.cli.app import AsJson, IdField, SourceEncoding, SourceFormat, TextFields, command, print_line
from semascope.cli.options import parse_list
from semascope.cli.render.terminal import console, print_json, print_next_step, print_text, waiting
from semascope.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from semascope.retrieval.index import Index
    from semascope.retrieval.trec_evaluation import Result, RunResult

HEADINGS = {"AP": "MAP"}
"""Measures that have another name once they are means over queries."""


@command
def evaluate_search(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="INDEX QUERIES QRELS",
            help="Index directory; queries, in any format of documents; judgments, in that of TREC. With --run-in these may "
            "stand alone.",
        ),
    ],
    by: Annotated[
        list[str] | None,
        typer.Option(help="What to go by; may be repeated. By default bm25, lsa and hybrid; with topics, lda and kl, too."),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Most documents to find for each query.")] = 1000,
    measures: Annotated[
        str, typer.Option(help="AP, Bpref, nDCG, RR or Rprec; AP, nDCG, P, R, RR or Success with @ and a number.")
    ] = "AP,P@5,Rprec,nDCG@10",
    baseline: Annotated[
        str | None, typer.Option(help="What the others are tested against, by AP: a similarity, or a run; bm25 by default.")
    ] = None,
    run: Annotated[Path | None, typer.Option(metavar="FILE", help="Write what one similarity finds as a TREC run.")] = None,
    run_in: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Judge a TREC run that was made elsewhere; may be repeated.")
    ] = None,
    format: SourceFormat = None,
    encoding: SourceEncoding = None,
    text: TextFields = None,
    id: IdField = "id",
    as_json: AsJson = False,
) -> None:
    """Say how well INDEX finds the documents that QRELS calls relevant to QUERIES."""
    _check_measures(paths, by, run, run_in)
    from semascope.corpus.readers.sources import read
    from semascope.corpus.readers.trec import read_qrels
    from semascope.retrieval.index import Index
    from semascope.retrieval.trec_evaluation import RunResult, evaluate_run

    qrels, ran = read_qrels(paths[-1]), [RunResult.elsewhere(path) for path in run_in or []]
    if len(paths) == 1:
        queries = {query for one in ran for query in one.run["query"]}
        _check_some_judged(queries, qrels, paths[-1])
        _warn_missing(qrels, None, ran)
    else:
        opened = Index.open(paths[0])
        texts = _texts(read(paths[1], format=format, encoding=encoding, text=text or "text", id=id, keep=()).frame(), paths[1])
        qrels = qrels.filter(qrels["query"].is_in(list(texts)))
        _check_some_judged(set(texts), qrels, paths[-1])
        _warn_missing(qrels, opened, ran)
        ran = [*_searched(opened, texts, _similarities(opened, by, baseline, ran), k), *ran]
    results = evaluate_run(ran, qrels, _measures(measures), baseline)
    if run is not None:
        _write(run, next(one for one in ran if one.name in (by or [])))
    if as_json:
        for result in results:
            print_json(result.to_dict())
        return
    n_queries = len(results[0].values)
    print_line(paths[-1], f"{n_queries:,} {'query' if n_queries == 1 else 'queries'} with relevant documents.")
    console().print("", _table(results), "")
    _print_next_steps(paths, results, run)


def _check_measures(paths: Sequence[Path], by: list[str] | None, run: Path | None, run_in: list[Path] | None) -> None:
    message = None
    if len(paths) != 3 and not (len(paths) == 1 and run_in):
        message = "give INDEX, QUERIES and QRELS; or QRELS alone, with --run-in."
    elif len(paths) == 1 and (by or run):
        message = "--by and --run are for an index: give INDEX and QUERIES, too."
    elif run is not None and (not by or len(by) > 1):
        message = "--run writes what one similarity finds: say which with --by."
    elif run is not None and not run.parent.is_dir():
        message = f"--run {run}: there is no directory {run.parent}."
    if message:
        raise typer.BadParameter(message)


# --- queries and judgments ------------------------------------------------------------------------------------------------


def _texts(frame: pl.DataFrame, path: Path) -> dict[str, str]:
    """The text of each query, by its id."""
    from semascope.corpus.fields import check_unique, default_ids

    texts = dict(zip(check_unique(default_ids(frame)["id"]).to_list(), frame["text"].fill_null("").to_list(), strict=True))
    empty = sum(not text.strip() for text in texts.values())
    if empty == len(texts):
        message = f"{path}: there are no queries that say anything."
        raise InputError(message)
    _note("Queries that are empty, for which nothing is found", empty, len(texts))
    return texts


def _check_some_judged(queries: set[str], qrels: pl.DataFrame, path: Path) -> None:
    """Say how many queries have no judgments; some must have."""
    judged = queries & set(qrels.filter(qrels["relevance"] > 0)["query"])
    if not judged:
        message = f"{path}: calls no document relevant to any of the queries; do their ids belong together?"
        raise InputError(message)
    _note("Queries without relevant documents, which are left out", len(queries - judged), len(queries))


def _warn_missing(qrels: pl.DataFrame, index: Index | None, ran: Sequence[RunResult]) -> None:
    """Say what cannot be found in the index, and what was not found elsewhere."""
    relevant = qrels.filter(qrels["relevance"] > 0)
    queries, documents = set(relevant["query"]), set(relevant["document"])
    if index is not None:
        _note("Relevant documents that are not in the index", len(documents - set(index.ids)), len(documents))
    for one in ran:
        _note(f"Queries for which nothing was found in {one.name}", len(queries - set(one.run["query"])), len(queries))


def _note(what: str, n: int, total: int) -> None:
    """Say how many of something there are, if there are any."""
    if n:
        print_text(f"{what}: {n:,} of {total:,}.")


def _measures(names: str) -> list[str]:
    """The measures that were asked for, and the one that is tested; a mean may go by its own name."""
    from semascope.retrieval.trec_evaluation import TESTED

    own = {heading: measure for measure, heading in HEADINGS.items()}
    return list(dict.fromkeys([*(own.get(name, name) for name in parse_list(names)), TESTED]))


# --- searching -------------------------------------------------------------------------------------------------------------


def _similarities(index: Index, by: Sequence[str] | None, baseline: str | None, ran: Sequence[RunResult]) -> list[str]:
    """What to search by: what was asked for, or all that is fast; and the baseline, where that is none of the runs."""
    names = list(by or []) or ["bm25", "lsa", "hybrid", *(["lda", "kl"] if index.topics is not None else [])]
    if baseline is not None and baseline not in [one.name for one in ran]:
        names.insert(0, baseline)
    return list(dict.fromkeys(names))


def _searched(index: Index, texts: dict[str, str], names: Sequence[str], k: int) -> list[RunResult]:
    from semascope.retrieval.trec_evaluation import run_queries

    with waiting(f"Searching by {', '.join(names)}"):
        return list(run_queries(index, texts, names, k))


def _write(path: Path, ran: RunResult) -> None:
    from semascope.evaluation.ranking import write_run

    write_run(path, ran.run, tag=ran.name)


# --- showing it ------------------------------------------------------------------------------------------------------------


def _table(results: Sequence[Result]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold")
    table.add_column("by", style="cyan", overflow="fold")
    beside = {name: column for name, column in _beside(results).items() if any(column)}
    for name in (*results[0].means, *beside):
        table.add_column(HEADINGS.get(name, name), justify="right")
    best = {name: max(result.means[name] for result in results) for name in results[0].means}
    for result, *told in zip(results, *beside.values(), strict=True):
        means = (Text(f"{mean:.4f}", "bold" if mean == best[name] else "") for name, mean in result.means.items())
        table.add_row(result.found.name, *means, *told)
    return table


def _beside(results: Sequence[Result]) -> dict[str, list[str]]:
    """What is told beside the measures."""
    speeds = [result.found.queries_per_second for result in results]
    return {
        f"p against {results[0].baseline}": ["" if result.p is None else f"{result.p:.4f}" for result in results],
        "queries/s": ["" if speed is None else f"{speed:,.0f}" for speed in speeds],
    }


def _print_next_steps(paths: Sequence[Path], results: Sequence[Result], run: Path | None) -> None:
    from semascope.retrieval.trec_evaluation import TESTED

    searched = [result for result in results if result.found.queries_per_second is not None]
    best = max(searched or results, key=lambda result: result.means[TESTED]).found.name
    if run is not None:
        print_line(run, "what was found, as a TREC run.")
        print_next_step(["semascope", "evaluate-search", paths[-1], "--run-in", run])
    elif len(paths) == 1:
        print_next_step(["semascope", "evaluate-search", "INDEX", "QUERIES", paths[0], "--run-in", best])
    else:
        print_next_step(["semascope", "evaluate-search", *paths, "--by", best, "--run", f"{best}.run"])
