"""Terminal output, sanitized: documents, file names and arguments may contain control characters or be very long.

Text goes through `console`, `error_console` or `print_text`, and JSON through `print_json`; all of them sanitize alike.
No other module of the command line prints (enforced by a test).
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

# --- text ------------------------------------------------------------------------------------------------------------------


def console() -> Console:
    """Return the console of standard output, without markup. Characters that the terminal cannot encode become ?."""
    from semascope.cli.render.screen import Screen

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Screen(highlight=False, soft_wrap=True, markup=False, emoji=False)


def error_console() -> Console:
    """Return the console of standard error, for progress."""
    from semascope.cli.render.screen import Screen

    return Screen(stderr=True, highlight=False, markup=False, emoji=False)


def print_text(*lines: str) -> None:
    """Print lines on standard error; line breaks inside a line are replaced."""
    for line in lines:
        typer.echo(sanitize(line, MAX_LINE_LENGTH), err=True)


@contextmanager
def waiting(text: str) -> Iterator[Any]:
    """Show a spinner on a terminal; yield a function that changes its text."""
    if not sys.stderr.isatty():
        yield lambda new_text: None
        return
    from rich.text import Text

    with error_console().status(Text(text)) as status:  # a plain string would be read as markup
        yield lambda new_text: status.update(Text(new_text))


class Shell(str):
    """Unquoted part of a command line, such as "> FILE"."""

    __slots__ = ()


def print_next_step(*commands: list[Any]) -> None:
    """Print suggested commands; those that cannot be printed verbatim are omitted."""
    from semascope.cli.render.screen import Parts

    lines = (" ".join(word if isinstance(word, Shell) else shlex.quote(str(word)) for word in words) for words in commands)
    for number, line in enumerate(line for line in lines if is_sanitized(line)):
        console().print(Parts(("  or: " if number else "Next: ", "dim"), (line, "bold"), limit=MAX_LINE_LENGTH))


# --- JSON ------------------------------------------------------------------------------------------------------------------


def print_json(value: Any) -> None:
    """Print one line of JSON. Characters of all scripts are kept; control characters are escaped, so nothing is lost."""
    line = json.dumps(value, ensure_ascii=False)
    sys.stdout.write(FORBIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", line) + "\n")


# --- usage errors ----------------------------------------------------------------------------------------------------------

UsageError: Any = typer.BadParameter.__base__
"""Base class of all usage errors, which Typer does not export."""


class Commands(TyperGroup):
    """Command group whose usage errors quote sanitized arguments."""

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        """Parse the arguments."""
        with _sanitize_usage_errors():
            return super().make_context(*arguments, **settings)

    def invoke(self, *arguments: Any, **settings: Any) -> Any:
        """Run the command."""
        with _sanitize_usage_errors():
            return super().invoke(*arguments, **settings)


@contextmanager
def _sanitize_usage_errors() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        text = error.format_message()
        if is_sanitized(text) or type(error).__name__ == "NoArgsIsHelpError":  # i.e. our own help
            raise
        raise UsageError(sanitize(text, MAX_LINE_LENGTH), error.ctx) from None
