"""The formats of sources: what their files are called and begin with, and what reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import polars as pl

from semascope.corpus.readers.coordinates import open_matrix_market, open_uci
from semascope.corpus.readers.counts import CountOptions, Stream
from semascope.corpus.readers.delimited import open_csv, open_tsv
from semascope.corpus.readers.fields import Fields
from semascope.corpus.readers.files import BadRecords, first_bytes
from semascope.corpus.readers.folder import read_folder
from semascope.corpus.readers.jsonl import read_json_lines
from semascope.corpus.readers.ldac import open_ldac
from semascope.corpus.readers.smart import read_smart
from semascope.corpus.readers.tables import open_arrow, open_parquet, read_table
from semascope.corpus.readers.trec import read_trec
from semascope.corpus.readers.triples import open_triples
from semascope.errors import InputError, SourceError

STANDARD_LIBRARY = "stdlib:"
"""Names the docstrings of the running Python's standard library, a corpus that every machine has."""


@dataclass(frozen=True)
class Format:
    """A format: what its files are called and begin with, and what reads them."""

    patterns: tuple[str, ...] = ()
    beginnings: tuple[bytes, ...] = ()
    documents: Callable[[Path, Fields, str | None, BadRecords], Iterator[pl.DataFrame]] | None = None
    counts: Callable[[Path, CountOptions, BadRecords], Stream] | None = None


FORMATS = {
    "jsonl": Format(("*.jsonl", "*.ndjson", "*.json"), (b"{",), documents=read_json_lines),
    "csv": Format(("*.csv",), (), partial(read_table, open_csv), partial(open_triples, open_csv)),
    "tsv": Format(("*.tsv", "*.tab"), (), partial(read_table, open_tsv), partial(open_triples, open_tsv)),
    "parquet": Format(
        ("*.parquet", "*.pq"), (b"PAR1",), partial(read_table, open_parquet), partial(open_triples, open_parquet)
    ),
    "arrow": Format(
        ("*.arrow", "*.feather", "*.ipc"), (b"ARROW1",), partial(read_table, open_arrow), partial(open_triples, open_arrow)
    ),
    "folder": Format(documents=read_folder),
    "smart": Format((), (b".I ",), documents=read_smart),
    "trec": Format((), (b"<DOC", b"<TOP"), documents=read_trec),
    "ldac": Format(("*.ldac",), counts=open_ldac),
    "uci": Format(("docword.*.txt", "docword.txt"), counts=open_uci),
    "mtx": Format(("*.mtx", "*.mm"), (b"%%MATRIXMARKET",), counts=open_matrix_market),
}
"""Found by the name of a file first, by its beginning (in capitals) if the name says nothing."""


def find_format(path: Path, format: str | None) -> str:
    """Give the format that was named, or find it out."""
    if format is not None and format not in FORMATS:
        msg = f"there is no format {format!r}; choose one of {', '.join(FORMATS)}."
        raise InputError(msg)
    if not path.exists():
        msg = f"{path}: no such file."
        raise SourceError(msg)
    if path.is_dir() or format == "folder":
        return _folder(path, format)
    if not path.is_file():
        msg = f"{path}: is a pipe or a device, which cannot be read twice; save it to a file first."
        raise SourceError(msg)
    return format or _by_name(path) or _by_beginning(path)


def _folder(path: Path, format: str | None) -> str:
    if not path.is_dir():
        msg = f"{path}: is a file; expected a folder of text files."
        raise SourceError(msg)
    if format not in (None, "folder"):
        msg = f"{path}: is a directory; expected a file of the format {format}."
        raise SourceError(msg)
    return "folder"


def _by_name(path: Path) -> str | None:
    name = path.name.lower().removesuffix(".gz")
    return next((one for one, known in FORMATS.items() if any(fnmatch(name, pattern) for pattern in known.patterns)), None)


def _by_beginning(path: Path) -> str:
    start = first_bytes(path).upper()
    if not start:
        msg = f"{path}: there are no documents: the file is empty."
        raise SourceError(msg)
    for name, known in FORMATS.items():
        if start.startswith(known.beginnings):
            return name
    msg = f"{path}: neither its name nor its beginning tells the format; say it with --format (format=): {', '.join(FORMATS)}."
    raise SourceError(msg)


def is_counts(source: str | Path, format: str | None = None) -> bool:
    """Tell whether a source is of a format that only `read_counts` takes."""
    return str(source) != STANDARD_LIBRARY and FORMATS[find_format(Path(source), format)].documents is None
