"""Entry point: gathers the commands, and turns what goes wrong into one sentence."""

from __future__ import annotations

import importlib
import sys
from typing import Annotated

import typer

from semascope import __version__
from semascope.cli.app import app
from semascope.errors import SemascopeError

COMMANDS = ("build", "fit", "topics", "infer", "info", "demo")

for _name in COMMANDS:
    importlib.import_module(f"semascope.cli.{_name}")


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"semascope {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """See meaning in text: build a corpus, find its topics, look at them, and infer those of new documents."""


def main() -> None:
    """Run the command line."""
    try:
        app()
    except SemascopeError as error:
        _fail(str(error))
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        _fail(f"{error.filename or 'input/output'}: {error.strerror or error}.")
    except MemoryError:
        _fail("there is not enough memory for this.")
    except KeyboardInterrupt:
        _fail("interrupted.", code=130)


def _fail(sentence: str, code: int = 1) -> None:
    typer.echo(f"semascope: {sentence}", err=True)
    sys.exit(code)
