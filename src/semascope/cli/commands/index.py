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
from semascope.cli.options import parse_list, parse_text_fields
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
            "Topic or LSA model to index with; or a corpus, to index without a model.",
        ),
    ],
    target: Annotated[Path, typer.Argument(metavar="INDEX", help="Index directory to write.")],
    corpus: Annotated[
        Path | None, typer.Option(metavar="CORPUS", help="Corpus to index; by default, the one the model was fitted to.")
    ] = None,
    dimensions: Annotated[
        int | None, typer.Option(min=1, help="Dimensions of the LSA space that the index fits itself; 64 by default.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Index documents for search by words, by meaning and by the topics of MODEL."""
    from semascope import workflow

    began = time.monotonic()
    with waiting("Indexing documents"):
        built = workflow.index(source, target, corpus, dimensions, overwrite=overwrite)
    seconds = time.monotonic() - began
    if as_json:
        print_json({"kind": "index", **index_facts(built), "seconds": round(seconds, 3)})
        return
    print_line(target, f"{describe_index(built)}, in {seconds:.1f} seconds.")
    print_next_step(["semascope", "search", target, "…"], ["semascope", "info", target])


def index_facts(index: Index) -> dict[str, Any]:
    """Return the statistics of an index and its size on disk."""
    return {**index.stats()._asdict(), "bytes_on_disk": _size_of(index.path)}


def describe_index(index: Index) -> str:
    """Format the size of an index."""
    facts = index_facts(index)
    nouns = {"documents": "document", "words": "word", "dimensions": "dimension", "topics": "topic", "segments": "segment"}
    sizes = [pluralize(facts[name], noun) for name, noun in nouns.items() if facts[name] is not None]
    deleted = f" ({pluralize(facts['deleted_documents'], 'deleted document')})" if facts["deleted_documents"] else ""
    return f"{', '.join(sizes)}{deleted}, {format_size(facts['bytes_on_disk'])} on disk"


def format_size(n_bytes: float) -> str:
    """Format a number of bytes."""
    unit, size = next((u, s) for u, s in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)) if n_bytes >= s or u == "kB")
    return f"{n_bytes / size:,.1f} {unit}"


def _size_of(path: Path | None) -> int:
    return 0 if path is None else sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


@command
def index_add(
    index: IndexPath,
    source: TextsArgument,
    replace: Annotated[bool, typer.Option("--replace", help="Replace documents with the same ids.")] = False,
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
    """Add the documents in SOURCE to INDEX. Its LSA space and topics do not change."""
    from semascope.corpus.readers.sources import read
    from semascope.retrieval.index import Index

    opened = Index.open(index)
    how: dict[str, Any] = {"format": format, "encoding": encoding, "skip_bad": skip_bad, "keep": parse_list(keep)}
    fields: dict[str, Any] = {"id": id, "labels": labels, "label_separator": label_separator}
    documents = read(source, **parse_text_fields(text, texts, parse_list(languages or "")), **fields, **how)
    with waiting("Adding documents"):
        opened.add(documents, replace=replace)
    report_bad(documents.bad)
    _print_state(opened)


@command
def index_delete(
    index: IndexPath,
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Ids of the documents to delete.")],
) -> None:
    """Delete documents from INDEX."""
    from semascope.retrieval.index import Index

    opened = Index.open(index)
    opened.delete(ids)
    _print_state(opened)


@command
def index_merge(index: IndexPath) -> None:
    """Merge all segments of INDEX into one, and purge deleted documents."""
    from semascope.retrieval.index import Index

    opened = Index.open(index)
    with waiting("Merging segments"):
        opened.merge()
    _print_state(opened)


def _print_state(index: Index) -> None:
    assert index.path is not None
    print_line(index.path, f"{describe_index(index)}.")
    print_next_step(["semascope", "search", index.path, "…"])
