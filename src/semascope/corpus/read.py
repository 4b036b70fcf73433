"""Sources to documents. Every reader gives blocks of documents as polars frames with the same columns.

The columns are ``id``, ``text`` and ``labels``, then the fields to keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from semascope.corpus.jsonl import read_json_lines
from semascope.corpus.stdlib import read_standard_library
from semascope.errors import SourceError

STANDARD_LIBRARY = "stdlib:"
"""Names the docstrings of the running Python's standard library, a corpus that every machine has."""

KEPT_BY_DEFAULT = ("title", "date")


@dataclass
class Documents:
    """Documents of a source, read block by block each time they are gone through.

    Attributes
    ----------
    source : str
        Where they come from.
    bad : list of str
        What was wrong with the records that were left out, one sentence each; complete after the blocks have been read.
    """

    source: str
    _blocks: Callable[[list[str]], Iterator[pl.DataFrame]]
    bad: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        self.bad.clear()
        return self._blocks(self.bad)

    def frame(self) -> pl.DataFrame:
        """Give all documents as one frame."""
        blocks = list(self)
        return pl.concat(blocks) if blocks else pl.DataFrame(schema=document_schema(()))


def read(
    source: str | Path,
    *,
    text: str = "text",
    id: str = "id",
    labels: str = "labels",
    keep: Sequence[str] = KEPT_BY_DEFAULT,
    skip_bad: bool = False,
) -> Documents:
    """Read documents from a source.

    Parameters
    ----------
    source : path or "stdlib:"
        A file of JSON lines, plain or gzipped; or "stdlib:" for the docstrings of Python's standard library.
    text, id, labels : str
        Names of the fields with the text, the identifier (documents are numbered where there is none) and the labels
        (a string or a list of strings).
    keep : sequence of str
        Other fields to keep beside the text, as strings.
    skip_bad : bool, default=False
        Leave out records that cannot be read, and note them in ``bad``, instead of stopping at the first.

    Returns
    -------
    Documents
        Read lazily: mistakes in the file show when the documents are used.

    Examples
    --------
    >>> documents = read("stdlib:")
    >>> documents.frame().columns
    ['id', 'text', 'labels']
    """
    if str(source) == STANDARD_LIBRARY:
        return Documents(STANDARD_LIBRARY, lambda bad: read_standard_library())
    path = Path(source)
    if not path.exists():
        msg = f"{path}: no such file."
        raise SourceError(msg)
    if path.is_dir():
        msg = f"{path}: is a directory; expected a file of JSON lines."
        raise SourceError(msg)
    if not path.is_file():
        msg = f"{path}: is a pipe or a device, which cannot be read twice; save it to a file first."
        raise SourceError(msg)
    keep = [name for name in keep if name not in ("id", "text", "labels")]
    schema = document_schema(keep)
    fields = {"id": id, "text": text, "labels": labels, **{name: name for name in keep}}
    return Documents(str(path), lambda bad: read_json_lines(path, fields, schema, bad if skip_bad else None))


def document_schema(keep: Sequence[str]) -> dict[str, pl.DataType | type[pl.DataType]]:
    """Columns of a block of documents."""
    return {"id": pl.String, "text": pl.String, "labels": pl.List(pl.String), **dict.fromkeys(keep, pl.String)}
