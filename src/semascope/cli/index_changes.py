"""semascope index-add INDEX SOURCE, index-delete INDEX ID…, index-merge INDEX"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from semascope.cli.app import (
    IdField,
    IndexPath,
    KeptFields,
    LabelSeparator,
    LabelsField,
    SkipBad,
    SourceEncoding,
    SourceFormat,
    TextFields,
    TextLanguages,
    TextsArgument,
    TextsField,
    command,
    report_bad,
    say,
)
from semascope.cli.by_language import fields_of_text, listed
from semascope.cli.index import in_a_sentence
from semascope.cli.terminal import say_next, waiting

if TYPE_CHECKING:
    from semascope.retrieval.index import Index


@command
def index_add(
    index: IndexPath,
    source: TextsArgument,
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of documents with the same ids.")] = False,
    format: SourceFormat = None,
    encoding: SourceEncoding = None,
    text: TextFields = None,
    languages: TextLanguages = None,
    texts: TextsField = None,
    id: IdField = "id",
    labels: LabelsField = "labels",
    label_separator: LabelSeparator = None,
    keep: KeptFields = "title,date",
    skip_bad: SkipBad = False,
) -> None:
    """Add the documents in SOURCE to INDEX. Its space and its topics stay as they are."""
    from semascope.corpus.read import read
    from semascope.retrieval.index import Index

    opened = Index.open(index)
    how: dict[str, Any] = {"format": format, "encoding": encoding, "skip_bad": skip_bad, "keep": listed(keep)}
    fields: dict[str, Any] = {"id": id, "labels": labels, "label_separator": label_separator}
    documents = read(source, **fields_of_text(text, texts, listed(languages or "")), **fields, **how)
    with waiting("Adding documents"):
        opened.add(documents, replace=replace)
    report_bad(documents.bad)
    _say_how_it_is_now(opened)


@command
def index_delete(
    index: IndexPath,
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Documents to delete.")],
) -> None:
    """Delete documents from INDEX."""
    from semascope.retrieval.index import Index

    opened = Index.open(index)
    opened.delete(ids)
    _say_how_it_is_now(opened)


@command
def index_merge(index: IndexPath) -> None:
    """Make one segment of all that INDEX has, and be rid of deleted documents."""
    from semascope.retrieval.index import Index

    opened = Index.open(index)
    with waiting("Merging segments"):
        opened.merge()
    _say_how_it_is_now(opened)


def _say_how_it_is_now(index: Index) -> None:
    assert index.path is not None
    say(index.path, f"{in_a_sentence(index)}.")
    say_next(["semascope", "search", index.path, "…"])
