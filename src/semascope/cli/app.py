"""The Typer application, with the options and the error handling that all commands share."""

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
    """Build a directory argument. A missing directory is reported at once, before slow imports."""

    def check_exists(context: typer.Context, path: Path) -> Path:
        # MPI ranks open it together and report which of them cannot see it.
        if not (path.is_dir() or context.resilient_parsing or "OMPI_COMM_WORLD_RANK" in os.environ):
            found = "this is a file" if path.exists() else "there is no such directory"
            fail(FormatError(f"{path}: expected a semascope {kind}, but {found}. Create one with: semascope {made_by}"))
        return path

    return typer.Argument(metavar=metavar, help=help, callback=check_exists)


app = typer.Typer(
    name="semascope",
    cls=Commands,
    help="Build corpora, fit topic models, infer topics of documents, search and explore them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Overwrite existing output.")]
SourceFormat = Annotated[str | None, typer.Option("--format", help="Format of SOURCE; by default inferred from its name.")]
SourceEncoding = Annotated[str | None, typer.Option("--encoding", help="Encoding of SOURCE; UTF-8 by default.")]
TextFields = Annotated[
    list[str] | None, typer.Option("--text", help='Field that contains the text ("text" by default); may be repeated.')
]
TextLanguages = Annotated[
    str | None, typer.Option(metavar="CODE,CODE…", help="Languages of the texts, e.g. en,de; --text then takes en=FIELD.")
]
TextsField = Annotated[
    str | None, typer.Option(metavar="FIELD", help='Field that maps languages to texts ("texts" by default).')
]
KeptFields = Annotated[str, typer.Option(help="Other fields to keep, comma-separated.")]
IdField = Annotated[str, typer.Option("--id", help="Field that contains the document id.")]
LabelsField = Annotated[str, typer.Option("--labels", help="Field that contains the labels.")]
LabelSeparator = Annotated[str | None, typer.Option("--label-separator", help="Separator of labels in one string.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Skip and count records that cannot be read.")]
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
    """Register a function as a command that reports errors in one sentence."""

    @functools.wraps(function)
    def wrapper(*args: Any, **options: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", MissingWordsWarning)
                warnings.showwarning = print_warning  # type: ignore[assignment]
                function(*args, **options)
            sys.stdout.flush()
        except SemascopeError as error:
            fail(error)
        except BrokenPipeError:  # the reader of our output has exited, e.g. `head`
            with suppress(io.UnsupportedOperation):  # otherwise Python flushes again at exit
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            fail(error, f"{error.filename or 'input/output'}: {error.strerror or error}.")
        except MemoryError as error:
            fail(error, "out of memory.")
        except KeyboardInterrupt as error:
            fail(error, "interrupted.", code=130)

    return app.command()(wrapper)


def print_warning(message: Warning | str, *_: Any) -> None:
    """Print a warning without the source line that raised it."""
    if os.environ.get("OMPI_COMM_WORLD_RANK", "0") == "0":
        print_text(f"semascope: {message}")


def fail(error: BaseException, sentence: str | None = None, code: int = 1) -> None:
    """Print an error and exit. An error that all MPI ranks share is printed by the root process only."""
    if not getattr(error, "on_all_ranks", False) or os.environ.get("OMPI_COMM_WORLD_RANK", "0") == "0":
        print_text(f"semascope: {sentence or error}")
    sys.exit(code)


def print_line(path: Path, sentence: str) -> None:
    """Print a sentence about a path."""
    from semascope.cli.render.screen import Parts

    console().print(Parts((str(path), "bold"), f": {sentence}", limit=MAX_LINE_LENGTH))


def report_bad(bad: list[str]) -> None:
    """Print how many records were skipped, and the first few reasons."""
    if not bad:
        return
    more = [f"  and {len(bad) - 3:,} more"] if len(bad) > 3 else []
    print_text(f"Skipped {pluralize(len(bad), 'bad record')}:", *(f"  {sentence}" for sentence in bad[:3]), *more)


def pluralize(n: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless it is 1."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def standard_input() -> TextIO:
    """Return standard input as UTF-8, whatever the locale. Invalid bytes become replacement characters."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    return sys.stdin


def topic_table(model: TopicModel, n_words: int) -> Any:
    """Return a table of topics, largest first."""
    from rich.table import Table

    from semascope.cli.render.charts import Bar
    from semascope.cli.render.screen import join_words
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
        table.add_row(str(topic), *name, f"{shares[topic]:.1%}", bar, *(join_words(words[topic]) for words in columns))
    return table


def top_words_of_each(model: Any, n_words: int) -> list[list[str]]:
    """Return the most probable words of each topic or label. Words of several languages are separated by a dot."""
    if model.kind == LABELS:
        return [list(words) for words in model.top_words(n=n_words)]
    by_language = [model.top_words(n_words, language=code) for code in model.languages_ or (None,)]
    by_topic = zip(*by_language, strict=True)
    return [[word for words in of_topic for word in ("·", *words)][1:] for of_topic in by_topic]
