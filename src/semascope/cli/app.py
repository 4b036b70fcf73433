"""The application that the commands join, and what they share."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from semascope.models.base import TopicModel

app = typer.Typer(
    name="semascope",
    help="See meaning in text: build a corpus, find its topics, look at them, and infer those of new documents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of a table for people.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]
TextField = Annotated[str, typer.Option("--text", help="Field that holds the text.")]
IdField = Annotated[str, typer.Option("--id", help="Field that holds the identifier.")]
LabelsField = Annotated[str, typer.Option("--labels", help="Field that holds the labels.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out records that cannot be read, and count them.")]
ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="Model directory.")]
SourceArgument = Annotated[
    str, typer.Argument(metavar="SOURCE", help='JSON lines, plain or gzipped; or "stdlib:" for Python\'s own docstrings.')
]


def console() -> Console:
    """Where people read."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def say_next(*commands: str) -> None:
    """Say what to do next."""
    from rich.markup import escape

    out = console()
    for lead, command in zip(["Next:", *["or:"] * len(commands)], commands, strict=False):
        out.print(f"[dim]{lead:>5}[/dim] [bold]{escape(command)}[/bold]")


def print_json(value: Any) -> None:
    """Print one line of JSON."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def report_bad(bad: list[str]) -> None:
    """Say how many records were left out, and what was wrong with the first few."""
    if not bad:
        return
    typer.echo(f"Left out {len(bad):,} bad records:", err=True)
    for sentence in bad[:3]:
        typer.echo(f"  {sentence}", err=True)
    if len(bad) > 3:
        typer.echo(f"  and {len(bad) - 3:,} more", err=True)


@contextmanager
def waiting(text: str) -> Iterator[Any]:
    """Show that work is going on, on a terminal; the value is a function that changes the text."""
    if not sys.stderr.isatty():
        yield lambda new_text: None
        return
    from rich.console import Console

    with Console(stderr=True).status(text) as status:
        yield status.update


def topic_table(model: TopicModel, n_words: int) -> Any:
    """A table of topics, the largest first."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    table.add_column("topic", justify="right", style="cyan")
    table.add_column("share", justify="right")
    table.add_column("", no_wrap=True, style="cyan")
    table.add_column("most probable words", overflow="fold")
    words, shares = model.top_words(n_words), model.topic_shares_
    for topic in sorted(range(len(words)), key=lambda z: -shares[z]):
        bar = "█" * max(1, round(10 * shares[topic] / max(shares)))
        table.add_row(str(topic), f"{shares[topic]:.1%}", bar, escape(" ".join(words[topic])))
    return table
