"""Entry point: registers the commands."""

from __future__ import annotations

import importlib
import os
from typing import Annotated

import typer

from semascope import __version__
from semascope.cli.app import app
from semascope.cli.render.terminal import console

MODULES = (
    "build", "fit", "topics", "infer", "predict", "attribute", "stream", "counterparts", "neighbors", "index", "search",
 "edit", "evaluate", "evaluate_search", "sweep", "info", "explore", "report", "demo",
)  # fmt: skip

for _name in MODULES:
    importlib.import_module(f"semascope.cli.commands.{_name}")

COMMANDS = tuple(_command.callback.__name__.replace("_", "-") for _command in app.registered_commands if _command.callback)


def _print_version(value: bool) -> None:
    if value:
        console().print(f"semascope {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Build corpora, fit topic models, infer topics of documents, search and explore them."""


def main() -> None:
    """Run the command line."""
    # Arrow's own allocator reserves far more address space than it uses, which matters under ulimit -d.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    app()
