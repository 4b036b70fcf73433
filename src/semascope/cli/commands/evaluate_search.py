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
"""Names of measures when averaged over queries."""


@command
def evaluate_search(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="INDEX QUERIES QRELS",
            help="Index directory; queries, in any document format; TREC relevance judgments. With --run-in, QRELS alone "
            "is enough.",
        ),
    ],
    by: Annotated[
        list[str] | None,
        typer.Option(help="Similarity; may be repeated. By default bm25, lsa, hybrid and, with topics, lda and kl."),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Maximum number of documents per query.")] = 1000,
    measures: Annotated[
        str,
        typer.Option(
            help="Comma-separated measures: AP, Bpref, nDCG, RR, Rprec; with a cutoff AP@k, nDCG@k, P@k, R@k, RR@k, Success@k."
        ),
    ] = "AP,P@5,Rprec,nDCG@10",
    baseline: Annotated[
        str | None, typer.Option(help="Similarity or run to test the others against, by AP; bm25 by default.")
    ] = None,
    run: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the results of one similarity as a TREC run.")] = None,
    run_in: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Evaluate a TREC run of another system; may be repeated.")
    ] = None,
    format: SourceFormat = None,
    encoding: SourceEncoding = None,
    text: TextFields = None,
    id: IdField = "id",
    as_json: AsJson = False,
) -> None:
    """Evaluate the search results of INDEX for QUERIES against the relevance judgments in QRELS."""
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
        message = "expected INDEX, QUERIES and QRELS, or QRELS alone with --run-in."
    elif len(paths) == 1 and (by or run):
        message = "--by and --run require INDEX and QUERIES."
    elif run is not None and (not by or len(by) > 1):
        message = "--run writes the results of one similarity: choose it with --by."
    elif run is not None and not run.parent.is_dir():
        message = f"--run {run}: there is no directory {run.parent}."
    if message:
        raise typer.BadParameter(message)


# --- queries and judgments ------------------------------------------------------------------------------------------------


def _texts(frame: pl.DataFrame, path: Path) -> dict[str, str]:
    """Return the text of each query by id."""
    from semascope.corpus.fields import check_unique, default_ids

    texts = dict(zip(check_unique(default_ids(frame)["id"]).to_list(), frame["text"].fill_null("").to_list(), strict=True))
    empty = sum(not text.strip() for text in texts.values())
    if empty == len(texts):
        message = f"{path}: all queries are empty."
        raise InputError(message)
    _print_count("Empty queries, without results", empty, len(texts))
    return texts


def _check_some_judged(queries: set[str], qrels: pl.DataFrame, path: Path) -> None:
    """Check that some queries have relevant documents, and print how many have none."""
    judged = queries & set(qrels.filter(qrels["relevance"] > 0)["query"])
    if not judged:
        message = f"{path}: no relevant documents for any of the queries; check that the query ids match."
        raise InputError(message)
    _print_count("Queries without relevant documents, skipped", len(queries - judged), len(queries))


def _warn_missing(qrels: pl.DataFrame, index: Index | None, ran: Sequence[RunResult]) -> None:
    """Print how many relevant documents the index lacks, and how many queries the runs lack."""
    relevant = qrels.filter(qrels["relevance"] > 0)
    queries, documents = set(relevant["query"]), set(relevant["document"])
    if index is not None:
        _print_count("Relevant documents that are not in the index", len(documents - set(index.ids)), len(documents))
    for one in ran:
        _print_count(f"Queries without results in {one.name}", len(queries - set(one.run["query"])), len(queries))


def _print_count(subject: str, n: int, total: int) -> None:
    """Print a count and its total, unless it is 0."""
    if n:
        print_text(f"{subject}: {n:,} of {total:,}.")


def _measures(names: str) -> list[str]:
    """Return the requested measures and the tested one; MAP is accepted for AP."""
    from semascope.retrieval.trec_evaluation import TESTED

    own = {heading: measure for measure, heading in HEADINGS.items()}
    return list(dict.fromkeys([*(own.get(name, name) for name in parse_list(names)), TESTED]))


# --- searching -------------------------------------------------------------------------------------------------------------


def _similarities(index: Index, by: Sequence[str] | None, baseline: str | None, ran: Sequence[RunResult]) -> list[str]:
    """Return the similarities to evaluate: the requested or the fast ones, and the baseline unless it is a run."""
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


# --- printing --------------------------------------------------------------------------------------------------------------


def _table(results: Sequence[Result]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold")
    table.add_column("by", style="cyan", overflow="fold")
    extras = {name: column for name, column in _extra_columns(results).items() if any(column)}
    for name in (*results[0].means, *extras):
        table.add_column(HEADINGS.get(name, name), justify="right")
    best = {name: max(result.means[name] for result in results) for name in results[0].means}
    for result, *extra in zip(results, *extras.values(), strict=True):
        means = (Text(f"{mean:.4f}", "bold" if mean == best[name] else "") for name, mean in result.means.items())
        table.add_row(result.found.name, *means, *extra)
    return table


def _extra_columns(results: Sequence[Result]) -> dict[str, list[str]]:
    """Return the columns beside the measures."""
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
        print_line(run, "TREC run written.")
        print_next_step(["semascope", "evaluate-search", paths[-1], "--run-in", run])
    elif len(paths) == 1:
        print_next_step(["semascope", "evaluate-search", "INDEX", "QUERIES", paths[0], "--run-in", best])
    else:
        print_next_step(["semascope", "evaluate-search", *paths, "--by", best, "--run", f"{best}.run"])
