"""The way to the terminal: nothing that comes from documents, file names or arguments is a command to it, or endless.

Everything that people read goes through `console`, `error_console` or `tell`, and everything for programs through `print_json`.
All of them go by one definition of what is harmless. No other module of the command line prints (a test sees to that).
"""

from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from semascope.cli.render.sanitize import FORBIDDEN
from semascope.cli.render.sanitize import MAX_LINE_LENGTH as MAX_LINE_LENGTH
from semascope.cli.render.sanitize import MAX_NAME_LENGTH as MAX_NAME_LENGTH
from semascope.cli.render.sanitize import is_sanitized as is_sanitized
from semascope.cli.render.sanitize import readable as readable
from semascope.cli.render.sanitize import sanitize as sanitize

if TYPE_CHECKING:
    from rich.console import Console

# --- for people ------------------------------------------------------------------------------------------------------------


def console() -> Console:
    """Return where people read. Nothing is taken for markup; letters that the terminal does not know become ?."""
    from semascope.cli.render.screen import Screen

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Screen(highlight=False, soft_wrap=True, markup=False, emoji=False)


def error_console() -> Console:
    """Return what shows how work is going on, beside what is printed."""
    from semascope.cli.render.screen import Screen

    return Screen(stderr=True, highlight=False, markup=False, emoji=False)


def print_text(*lines: str) -> None:
    """Print lines on standard error. An end of line inside of one is not ours, and is replaced."""
    for line in lines:
        typer.echo(sanitize(line, MAX_LINE_LENGTH), err=True)


@contextmanager
def waiting(text: str) -> Iterator[Any]:
    """Show that work is going on, on a terminal; the value is a function that changes the text."""
    if not sys.stderr.isatty():
        yield lambda new_text: None
        return
    from rich.text import Text

    with error_console().status(Text(text)) as status:  # a plain string would be read as markup
        yield lambda new_text: status.update(Text(new_text))


class Shell(str):
    """A part of a command line that the shell reads, as "> FILE", and that is therefore not quoted."""

    __slots__ = ()


def print_next_step(*commands: list[Any]) -> None:
    """Say what to do next. A command that cannot be printed as it must be typed is left out."""
    from semascope.cli.render.screen import Parts

    lines = (" ".join(word if isinstance(word, Shell) else shlex.quote(str(word)) for word in words) for words in commands)
    for number, line in enumerate(line for line in lines if is_sanitized(line)):
        console().print(Parts(("  or: " if number else "Next: ", "dim"), (line, "bold"), limit=MAX_LINE_LENGTH))


# --- for programs ----------------------------------------------------------------------------------------------------------


def print_json(value: Any) -> None:
    """Print one line of JSON. Letters of all scripts stay as they are; what is not harmless is escaped, so nothing is lost."""
    line = json.dumps(value, ensure_ascii=False)
    sys.stdout.write(FORBIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", line) + "\n")


# --- mistakes in arguments -------------------------------------------------------------------------------------------------

UsageError: Any = typer.BadParameter.__base__
"""What every mistake in arguments is; Typer has no name of its own for it."""


class Commands(TyperGroup):
    """Commands whose mistakes quote arguments only as they can be printed; a file name may hold anything."""

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        """Read the arguments."""
        with _quoting_harmlessly():
            return super().make_context(*arguments, **settings)

    def invoke(self, *arguments: Any, **settings: Any) -> Any:
        """Run the command that they name."""
        with _quoting_harmlessly():
            return super().invoke(*arguments, **settings)


@contextmanager
def _quoting_harmlessly() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        said = error.format_message()
        if is_sanitized(said) or type(error).__name__ == "NoArgsIsHelpError":  # which is our own help
            raise
        raise UsageError(sanitize(said, MAX_LINE_LENGTH), error.ctx) from None
