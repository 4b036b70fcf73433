"""semascope report MODEL OUT.html"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semascope.cli.app import ModelPath, Overwrite, command, pluralize, print_line
from semascope.cli.render.terminal import print_next_step, print_text, waiting


@command
def report(
    model: ModelPath,
    out: Annotated[Path, typer.Argument(metavar="OUT.html", help="HTML file to write.")],
    corpus: Annotated[
        Path | None, typer.Option(metavar="CORPUS", help="Corpus directory; by default, the one the model was fitted to.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report; by default, the name of the model directory.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a report on the topics of MODEL as a self-contained HTML file."""
    from semascope.explorer.report.page import write_report

    with waiting("Writing the report"):
        written = write_report(model, out, corpus, title, overwrite=overwrite)
    print_line(out, f"{pluralize(written.topics, written.noun)}, {written.size / 1e6:.1f} MB; open it in any browser.")
    if written.problem:
        print_text(f"semascope: written without documents: {written.problem}")
    print_next_step(["semascope", "explore", model])
