"""semascope index MODEL|CORPUS INDEX, and index-add, index-delete, index-merge."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semascope.cli.app import (
    AsJson,
    IdField,
    IndexPath,
    KeptFields,
    LabelSeparator,
    LabelsField,
    Overwrite,
    SkipBad,
    SourceEncoding,
    SourceFormat,
    TextFields,
    TextLanguages,
    TextsArgument,
    TextsField,
    command,
    input_directory,
    pluralize,
    print_line,
    report_bad,
)
from semascope.cli.options import fields_of_text, parse_list
from semascope.cli.render.terminal import print_json, print_next_step, waiting

if TYPE_CHECKING:
    from semascope.retrieval.index import Index


@command
def index(
    source: Annotated[
        Path,
        input_directory(
            "MODEL|CORPUS",
            "corpus, model or index",
            "build SOURCE CORPUS",
            "Model to search by, of topics or LSA; or a corpus, to search without one.",
        ),
    ],
    target: Annotated[Path, typer.Argument(metavar="INDEX", help="Index directory to write.")],
    corpus: Annotated[
        Path | None, typer.Option(metavar="CORPUS", help="Documents to index, if not those the model was fitted to.")
    ] = None,
    dimensions: Annotated[
        int | None, typer.Option(min=1, help="Of the space that the index makes for itself; 64 by default.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Index documents, to be searched by their words, by their meaning, and by the topics of MODEL."""
    from semascope import workflow

    began = time.monotonic()
    with waiting("Indexing documents"):
        built = workflow.index(source, target, corpus, dimensions, overwrite=overwrite)
    seconds = time.monotonic() - began
    if as_json:
        print_json({"kind": "index", **facts_of_index(built), "seconds": round(seconds, 3)})
        return
    print_line(target, f"{describe_index(built)}, in {seconds:.1f} seconds.")
    print_next_step(["semascope", "search", target, "…"], ["semascope", "info", target])


def facts_of_index(index: Index) -> dict[str, Any]:
    """What there is to say of an index on disk."""
    return {**index.stats()._asdict(), "bytes_on_disk": _size_of(index.path)}


def describe_index(index: Index) -> str:
    """Say how large an index is."""
    facts = facts_of_index(index)
    nouns = {"documents": "document", "words": "word", "dimensions": "dimension", "topics": "topic", "segments": "segment"}
    sizes = [pluralize(facts[name], noun) for name, noun in nouns.items() if facts[name] is not None]
    deleted = f" ({pluralize(facts['deleted_documents'], 'deleted document')})" if facts["deleted_documents"] else ""
    return f"{', '.join(sizes)}{deleted}, {readable_size(facts['bytes_on_disk'])} on disk"


def readable_size(n_bytes: float) -> str:
    """Bytes as people read them."""
    unit, size = next((u, s) for u, s in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)) if n_bytes >= s or u == "kB")
    return f"{n_bytes / size:,.1f} {unit}"


def _size_of(path: Path | None) -> int:
    return 0 if path is None else sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


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
    from semascope.corpus.readers.sources import read
    from semascope.retrieval.index import Index

    opened = Index.open(index)
    how: dict[str, Any] = {"format": format, "encoding": encoding, "skip_bad": skip_bad, "keep": parse_list(keep)}
    fields: dict[str, Any] = {"id": id, "labels": labels, "label_separator": label_separator}
    documents = read(source, **fields_of_text(text, texts, parse_list(languages or "")), **fields, **how)
    with waiting("Adding documents"):
        opened.add(documents, replace=replace)
    report_bad(documents.bad)
    _print_state(opened)


@command
def index_delete(
    index: IndexPath,
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Documents to delete.")],
) -> None:
    """Delete documents from INDEX."""
    from semascope.retrieval.index import Index

    opened = Index.open(index)
    opened.delete(ids)
    _print_state(opened)


@command
def index_merge(index: IndexPath) -> None:
    """Make one segment of all that INDEX has, and be rid of deleted documents."""
    from semascope.retrieval.index import Index

    opened = Index.open(index)
    with waiting("Merging segments"):
        opened.merge()
    _print_state(opened)


def _print_state(index: Index) -> None:
    assert index.path is not None
    print_line(index.path, f"{describe_index(index)}.")
    print_next_step(["semascope", "search", index.path, "…"])
