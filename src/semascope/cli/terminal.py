"""The way to the terminal: nothing that comes from documents, file names or arguments is a command to it, or endless.

Everything that people read goes through `console`, `error_console` or `tell`, and everything for programs through `print_json`.
All of them go by one definition of what is harmless. No other module of the command line prints (a test sees to that).
"""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from rich.console import Console

LONGEST_NAME = 240
"""Characters of a name: three lines of a common terminal."""
LONGEST_LINE = 1000
"""Characters of a sentence that quotes names, or of a passage."""
ELLIPSIS, MISSING = "…", "\N{REPLACEMENT CHARACTER}"

_HALVES = "\ud800-\udfff"
HALVES = re.compile(f"[{_HALVES}]")
"""Halves of characters, which bytes that are not UTF-8 become in arguments and file names."""
FORBIDDEN = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb{_HALVES}]")
"""Controls, among them those that begin escape sequences; ends of lines; what turns the direction of writing for all that
follows; signs of annotations. Joiners and marks that scripts and emoji need are not among them."""


def harmless(text: str, limit: int | None = None) -> str:
    r"""Replace what a terminal would take for a command, each character by one, and cut what is too long.

    Parameters
    ----------
    text : str
        Anything.
    limit : int, optional
        The most characters to keep, the ellipsis in the middle among them: the end of a sentence often says what to do.

    Examples
    --------
    >>> harmless("a\x1b[2Jb\nc \u0928\u092e\u0938\u094d\u0924\u0947")
    'a�[2Jb c नमस्ते'
    >>> harmless("abcdefgh", 5)
    'ab…gh'
    """
    if limit is not None and len(text) > limit:
        head, tail = limit // 2, (limit - 1) // 2
        text = text[:head] + ELLIPSIS + text[len(text) - tail :]
    return FORBIDDEN.sub(lambda found: " " if found[0].isspace() else MISSING, text)


def is_harmless(text: str) -> bool:
    """Return whether a text can be printed as it is."""
    return len(text) <= LONGEST_LINE and FORBIDDEN.search(text) is None


def readable(text: str) -> str:
    """Replace halves of characters, which are no text to a model. All else stays: this is read, not printed."""
    return HALVES.sub(MISSING, text)


# --- for people ------------------------------------------------------------------------------------------------------------


def console() -> Console:
    """Return where people read. Nothing is taken for markup; letters that the terminal does not know become ?."""
    from semascope.cli.screen import Screen

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Screen(highlight=False, soft_wrap=True, markup=False, emoji=False)


def error_console() -> Console:
    """Return what shows how work is going on, beside what is printed."""
    from semascope.cli.screen import Screen

    return Screen(stderr=True, highlight=False, markup=False, emoji=False)


def tell(*lines: str) -> None:
    """Print lines on standard error. An end of line inside of one is not ours, and is replaced."""
    for line in lines:
        typer.echo(harmless(line, LONGEST_LINE), err=True)


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


def say_next(*commands: list[Any]) -> None:
    """Say what to do next. A command that cannot be printed as it must be typed is left out."""
    from semascope.cli.screen import Parts

    lines = (" ".join(word if isinstance(word, Shell) else shlex.quote(str(word)) for word in words) for words in commands)
    for number, line in enumerate(line for line in lines if is_harmless(line)):
        console().print(Parts(("  or: " if number else "Next: ", "dim"), (line, "bold"), limit=LONGEST_LINE))


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
        if is_harmless(said) or type(error).__name__ == "NoArgsIsHelpError":  # which is our own help
            raise
        raise UsageError(harmless(said, LONGEST_LINE), error.ctx) from None
