"""semascope infer MODEL SOURCE"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from semascope.cli.app import (
    AsJson,
    IdField,
    ModelPath,
    SkipBad,
    SourceArgument,
    SourceEncoding,
    SourceFormat,
    TextFields,
    command,
    console,
    counted,
    print_json,
    report_bad,
    say_next,
)


@command
def infer(
    model: ModelPath,
    source: SourceArgument,
    format: SourceFormat = None,
    encoding: SourceEncoding = None,
    text: TextFields = None,
    id: IdField = "id",
    skip_bad: SkipBad = False,
    top: Annotated[int, typer.Option(min=1, help="Topics to show of each document.")] = 3,
    limit: Annotated[int, typer.Option(min=1, help="Documents to show in the table; --json gives all.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Find the topics of the documents in SOURCE under MODEL."""
    from semascope.corpus.documents import numbered
    from semascope.corpus.read import read
    from semascope.models.load import load

    fitted: Any = load(model)
    documents = read(source, format=format, text=text or "text", id=id, keep=(), encoding=encoding, skip_bad=skip_bad)
    n_documents = n_unknown = 0
    shown: list[tuple[str, Any]] = []
    for block in documents:
        ids = numbered(block, n_documents)["id"].to_list()
        wanted = block if as_json else block.head(max(limit - n_documents, 0))
        n_documents += len(block)
        if len(wanted):
            corpus = fitted._corpus_to_use(wanted["text"].fill_null("").to_list())
            n_unknown += int((corpus.rows.ends[1:] == corpus.rows.ends[:-1]).sum())
            rows = zip(ids, fitted.transform(corpus), strict=False)
            if as_json:
                _print(rows)
            else:
                shown += rows
    report_bad(documents.bad)
    if n_unknown:
        typer.echo(f"The model knows no word of {counted(n_unknown, 'document')}: nothing can be said of them.", err=True)
    if n_documents == 0:
        typer.echo(f"semascope: {source}: there are no documents.", err=True)
        raise typer.Exit(code=1)
    if as_json:
        return
    _show(fitted, shown, top)
    if n_documents > limit:
        console().print(f"and {n_documents - limit:,} more documents", style="dim")
    say_next(["semascope", "infer", model, source, "--json", ">", "topics.jsonl"], ["semascope", "topics", model])


def _print(rows: Iterable[tuple[str, Any]]) -> None:
    for name, row in rows:
        print_json({"id": name, "topics": [round(float(share), 6) for share in row]})


def _show(model: Any, rows: list[tuple[str, Any]], top: int) -> None:
    from rich.table import Table

    words = model.top_words(4)
    table = Table(box=None, header_style="bold")
    table.add_column("document", style="cyan")
    table.add_column("topics")
    for name, row in rows:
        best = [z for z in (-row).argsort(kind="stable")[:top] if row[z] >= 0.005]
        table.add_row(name, "\n".join(f"{row[z]:4.0%}  topic {z}: {' '.join(words[z])}" for z in best))
    console().print(table)
