"""semascope index MODEL|CORPUS INDEX"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semascope.cli.app import AsJson, Overwrite, command, counted, say, to_read
from semascope.cli.terminal import print_json, say_next, waiting

if TYPE_CHECKING:
    from semascope.retrieval.index import Index


@command
def index(
    source: Annotated[
        Path,
        to_read(
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
    say(target, f"{in_a_sentence(built)}, in {seconds:.1f} seconds.")
    say_next(["semascope", "search", target, "…"], ["semascope", "info", target])


def facts_of_index(index: Index) -> dict[str, Any]:
    """What there is to say of an index on disk."""
    return {**index.stats()._asdict(), "bytes_on_disk": _size_of(index.path)}


def in_a_sentence(index: Index) -> str:
    """Say how large an index is."""
    facts = facts_of_index(index)
    nouns = {"documents": "document", "words": "word", "dimensions": "dimension", "topics": "topic", "segments": "segment"}
    sizes = [counted(facts[name], noun) for name, noun in nouns.items() if facts[name] is not None]
    deleted = f" ({counted(facts['deleted_documents'], 'deleted document')})" if facts["deleted_documents"] else ""
    return f"{', '.join(sizes)}{deleted}, {readable_size(facts['bytes_on_disk'])} on disk"


def readable_size(n_bytes: float) -> str:
    """Bytes as people read them."""
    unit, size = next((u, s) for u, s in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)) if n_bytes >= s or u == "kB")
    return f"{n_bytes / size:,.1f} {unit}"


def _size_of(path: Path | None) -> int:
    return 0 if path is None else sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
