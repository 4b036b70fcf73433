"""The application that the commands join, and what they share."""

from __future__ import annotations

import functools
import io
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from semascope.cli.render.terminal import MAX_LINE_LENGTH, Commands, console, print_text
from semascope.errors import FormatError, MissingWordsWarning, SemascopeError
from semascope.models.registry import LABELS

if TYPE_CHECKING:
    from semascope.models.topic_model import TopicModel


def input_directory(metavar: str, kind: str, made_by: str, help: str) -> Any:
    """Declare a directory to read. Where it is not there that is said at once: what would open it takes seconds to load."""

    def check_exists(context: typer.Context, path: Path) -> Path:
        # MPI ranks open it together, and say which of them does not see it.
        if not (path.is_dir() or context.resilient_parsing or "OMPI_COMM_WORLD_RANK" in os.environ):
            found = "this is a file" if path.exists() else "there is no such directory"
            fail(FormatError(f"{path}: expected a semascope {kind}, but {found}. Make one with: semascope {made_by}"))
        return path

    return typer.Argument(metavar=metavar, help=help, callback=check_exists)


app = typer.Typer(
    name="semascope",
    cls=Commands,
    help="See meaning in text: build a corpus, find its topics, look at and search by them, infer those of new documents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of a table for people.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]
SourceFormat = Annotated[str | None, typer.Option("--format", help="Format of the source, if its name does not tell.")]
SourceEncoding = Annotated[str | None, typer.Option("--encoding", help="Encoding of the source, if it is not UTF-8.")]
TextFields = Annotated[
    list[str] | None, typer.Option("--text", help='Field that holds the text, "text" by default; may be repeated.')
]
TextLanguages = Annotated[
    str | None, typer.Option(metavar="CODE,CODE…", help="Languages of the texts, as in en,de; --text is then en=FIELD.")
]
TextsField = Annotated[
    str | None, typer.Option(metavar="FIELD", help='Field that holds an object of language and text, "texts" by default.')
]
KeptFields = Annotated[str, typer.Option(help="Other fields to keep, separated by commas.")]
IdField = Annotated[str, typer.Option("--id", help="Field that holds the identifier.")]
LabelsField = Annotated[str, typer.Option("--labels", help="Field that holds the labels.")]
LabelSeparator = Annotated[str | None, typer.Option("--label-separator", help="What stands between labels in one string.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out records that cannot be read, and count them.")]
CorpusPath = Annotated[Path, input_directory("CORPUS", "corpus", "build SOURCE CORPUS", "Corpus directory.")]
ModelPath = Annotated[Path, input_directory("MODEL", "model", "fit CORPUS MODEL", "Model directory.")]
IndexPath = Annotated[Path, input_directory("INDEX", "index", "index MODEL INDEX", "Index directory.")]
_TEXTS = "JSON lines, CSV, TSV, Parquet, Arrow, SMART or TREC; a folder of text files; "
_STDLIB = 'or "stdlib:" for Python\'s own docstrings.'
SourceArgument = Annotated[
    str, typer.Argument(metavar="SOURCE", help=f"{_TEXTS}counts in LDA-C, UCI or MatrixMarket format; {_STDLIB}")
]
TextsArgument = Annotated[str, typer.Argument(metavar="SOURCE", help=f"{_TEXTS}{_STDLIB}")]


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a function a command that answers what goes wrong with one sentence."""

    @functools.wraps(function)
    def answering(*args: Any, **options: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", MissingWordsWarning)
                warnings.showwarning = print_warning  # type: ignore[assignment]
                function(*args, **options)
            sys.stdout.flush()
        except SemascopeError as error:
            fail(error)
        except BrokenPipeError:  # the reader of our output has gone, as `head` does
            with suppress(io.UnsupportedOperation):  # Python would try again to write at its end
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            fail(error, f"{error.filename or 'input/output'}: {error.strerror or error}.")
        except MemoryError as error:
            fail(error, "there is not enough memory for this.")
        except KeyboardInterrupt as error:
            fail(error, "interrupted.", code=130)

    return app.command()(answering)


def print_warning(message: Warning | str, *_: Any) -> None:
    """Say what is not quite as it should be, without the line of our sources where that was noticed."""
    if os.environ.get("OMPI_COMM_WORLD_RANK", "0") == "0":
        print_text(f"semascope: {message}")


def fail(error: BaseException, sentence: str | None = None, code: int = 1) -> None:
    """Say what went wrong, and stop; what all MPI ranks know is said by the first alone."""
    if not getattr(error, "on_all_ranks", False) or os.environ.get("OMPI_COMM_WORLD_RANK", "0") == "0":
        print_text(f"semascope: {sentence or error}")
    sys.exit(code)


def print_line(path: Path, sentence: str) -> None:
    """Say something of a path."""
    from semascope.cli.render.screen import Parts

    console().print(Parts((str(path), "bold"), f": {sentence}", limit=MAX_LINE_LENGTH))


def report_bad(bad: list[str]) -> None:
    """Say how many records were left out, and what was wrong with the first few."""
    if not bad:
        return
    more = [f"  and {len(bad) - 3:,} more"] if len(bad) > 3 else []
    print_text(f"Left out {pluralize(len(bad), 'bad record')}:", *(f"  {sentence}" for sentence in bad[:3]), *more)


def pluralize(n: int, noun: str) -> str:
    """One thing, or so many things."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def standard_input() -> TextIO:
    """What is piped in, as UTF-8 whatever the terminal says; bytes that are not become the sign for a missing character."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    return sys.stdin


def topic_table(model: TopicModel, n_words: int) -> Any:
    """A table of topics, the largest first."""
    from rich.table import Table

    from semascope.cli.render.charts import Bar
    from semascope.cli.render.screen import words_in_a_line
    from semascope.models.display.topic_view import TopicView

    table = Table(box=None, header_style="bold")
    table.add_column("topic", justify="right", style="cyan")
    named = any(TopicView.of(model).named)
    if named:
        table.add_column("name", style="bold", overflow="fold")
    table.add_column("share", justify="right")
    table.add_column("", width=10)
    columns, shares = [model.top_words(n_words, language=code) for code in model.languages_ or (None,)], model.topic_shares_
    for code in model.languages_ or ("",):
        table.add_column(f"most probable words {code}", overflow="fold")
    for topic in sorted(range(len(shares)), key=lambda z: -shares[z]):
        bar = Bar(shares[topic] / max(shares))
        name = [model.topic_names_[topic]] if named else []
        table.add_row(str(topic), *name, f"{shares[topic]:.1%}", bar, *(words_in_a_line(words[topic]) for words in columns))
    return table


def top_words_of_each(model: Any, n_words: int) -> list[list[str]]:
    """The most probable words of each topic or label, those of each language in turn with a dot between."""
    if model.kind == LABELS:
        return [list(words) for words in model.top_words(n=n_words)]
    by_language = [model.top_words(n_words, language=code) for code in model.languages_ or (None,)]
    by_topic = zip(*by_language, strict=True)
    return [[word for words in of_topic for word in ("·", *words)][1:] for of_topic in by_topic]
