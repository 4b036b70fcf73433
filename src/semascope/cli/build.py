"""semascope build SOURCE CORPUS"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semascope.cli.app import (
    IdField,
    LabelsField,
    Overwrite,
    SkipBad,
    SourceArgument,
    TextField,
    command,
    counted,
    report_bad,
    say,
    say_next,
    waiting,
)
from semascope.errors import InputError


@command
def build(
    source: SourceArgument,
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="Corpus directory to write.")],
    text: TextField = "text",
    id: IdField = "id",
    labels: LabelsField = "labels",
    keep: Annotated[str, typer.Option(help="Other fields to keep, separated by commas.")] = "title,date",
    skip_bad: SkipBad = False,
    lowercase: Annotated[bool, typer.Option(help="Fold upper case to lower case.")] = True,
    min_length: Annotated[int, typer.Option(min=1, help="Shortest word.")] = 2,
    stop_words: Annotated[
        str | None,
        typer.Option(help='Language whose stop words to leave out ("german"), or a file with one word on each line.'),
    ] = None,
    stemmer: Annotated[str | None, typer.Option(help="Language of a Snowball stemmer.")] = None,
    min_df: Annotated[str, typer.Option(help="Leave out words in fewer documents: 5, or a share such as 0.01.")] = "1",
    max_df: Annotated[str, typer.Option(help="Leave out words in more documents: 1000, or a share such as 0.5.")] = "1.0",
    max_features: Annotated[int | None, typer.Option(min=1, help="Keep only so many words, the most frequent.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Count the words of the documents in SOURCE and save them as CORPUS."""
    from semascope import workflow
    from semascope.corpus.analyze import Analyzer
    from semascope.corpus.read import read

    analyzer = Analyzer(
        lowercase=lowercase,
        min_length=min_length,
        stop_words=_stop_words(stop_words),
        stemmer=stemmer,
        min_df=_bound("--min-df", min_df),
        max_df=_bound("--max-df", max_df),
        max_features=max_features,
    )
    kept = [name.strip() for name in keep.split(",") if name.strip()]
    documents = read(source, text=text, id=id, labels=labels, keep=kept, skip_bad=skip_bad)
    with waiting("Reading documents") as show:
        built = workflow.build(
            documents, corpus, analyzer, overwrite=overwrite, watch=lambda n: show(f"Reading documents: {n:,}")
        )
    report_bad(documents.bad)
    sizes = counted(built.n_documents, "document"), counted(built.n_words, "word"), counted(int(built.n_tokens), "token")
    say(corpus, f"{', '.join(sizes)}.")
    topics = min(32, built.n_documents, built.n_words)
    say_next(["semascope", "fit", corpus, "MODEL", "--topics", topics], ["semascope", "info", corpus])


def _stop_words(value: str | None) -> str | list[str] | None:
    from semascope.corpus.stopwords import stop_word_languages

    if value is None or value in (languages := stop_word_languages()):
        return value
    path = Path(value)
    if not path.is_file():
        message = f"{value}: no file of stop words, nor a language that has them; these have: {', '.join(languages)}."
        raise InputError(message)
    try:
        return path.read_text(encoding="utf-8").split()
    except UnicodeDecodeError:
        message = f"{value}: the file of stop words is not UTF-8; convert it first, with iconv for example."
        raise InputError(message) from None


def _bound(option: str, value: str) -> int | float:
    try:
        return int(value) if value.isdigit() else float(value)
    except ValueError:
        message = f"{option} takes a number of documents or a share such as 0.5, not {value!r}."
        raise typer.BadParameter(message) from None
