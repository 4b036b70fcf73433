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
    out: Annotated[Path, typer.Argument(metavar="OUT.html", help="File to write.")],
    corpus: Annotated[
        Path | None, typer.Option(metavar="CORPUS", help="Corpus directory; by default the one it was fitted to.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="What to call it; by default the name of the model's directory.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a report on MODEL: one HTML file with its topics, to open anywhere and to send to others."""
    from semascope.explorer.report.page import write_report

    with waiting("Writing the report"):
        written = write_report(model, out, corpus, title, overwrite=overwrite)
    print_line(out, f"{pluralize(written.topics, written.noun)}, {written.size / 1e6:.1f} MB; open it in any browser.")
    if written.problem:
        print_text(f"semascope: without documents, for {written.problem}")
    print_next_step(["semascope", "explore", model])
