"""semascope counterparts MODEL CORPUS"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from semascope.cli.app import AsJson, ModelPath, command, input_directory
from semascope.cli.render.terminal import Shell, console, print_json, print_next_step


@command
def counterparts(
    model: ModelPath,
    corpus: Annotated[
        Path, input_directory("CORPUS", "corpus", "build SOURCE CORPUS", "Corpus with documents in both languages.")
    ],
    source: Annotated[str, typer.Option("--from", metavar="CODE", help="Source language.")],
    target: Annotated[str, typer.Option("--to", metavar="CODE", help="Target language.")],
    top: Annotated[int, typer.Option(min=1, help="Number of counterparts per document.")] = 3,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of documents in the table; --json prints all.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Find the most similar documents of CORPUS in another language, by the topics of MODEL."""
    from semascope.corpus.corpus import Corpus
    from semascope.models.loading import load_topics

    fitted, opened = load_topics(model), Corpus.open(corpus)
    if len(fitted.languages_) < 2:
        message = f"{model}: has topics in one language only; fit a multilingual corpus with --model lda."
        raise typer.BadParameter(message)
    sources, targets = opened.in_language(source), opened.in_language(target)
    queried = sources if as_json else sources.filter(range(min(limit, len(sources))))
    found = fitted.counterparts(queried, targets, top).select("id", "rank", "counterpart_id", "likeness")
    if as_json:
        for row in found.iter_rows(named=True):
            print_json({**row, "likeness": round(row["likeness"], 6)})
        return
    _show(found, source, target)
    if len(sources) > limit:
        console().print(f"and {len(sources) - limit:,} more documents", style="dim")
    print_next_step(
        ["semascope", "counterparts", model, corpus, "--from", source, "--to", target, "--json", Shell("> counterparts.jsonl")]
    )


def _show(found: Any, source: str, target: str) -> None:
    from rich.console import Group
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    table.add_column(f"document ({source})", style="cyan")
    table.add_column(f"most similar ({target})")
    for name, rows in found.group_by("id", maintain_order=True):
        lines = (f"{row['likeness']:4.2f}  {row['counterpart_id']}" for row in rows.iter_rows(named=True))
        table.add_row(str(name[0]), Group(*lines))
    console().print(table)
