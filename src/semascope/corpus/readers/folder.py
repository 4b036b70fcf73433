"""Folders of text files: each file is a document, with its path as id and its subfolder as label."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import polars as pl

from semascope.corpus.readers.files import BadRecords, chunks_of, decode, encoding_by_mark
from semascope.corpus.readers.record_fields import Fields, Record, records_as_documents
from semascope.errors import SourceError
from semascope.storage import is_directory_of


def read_folder(path: Path, fields: Fields, encoding: str | None, bad: BadRecords) -> Iterator[pl.DataFrame]:
    """Yield blocks of documents, sorted by path."""
    kind = is_directory_of(path)
    if kind is not None:
        msg = f"{path}: is already a semascope {kind}; expected documents, a file or a folder of text files."
        raise SourceError(msg)
    names = _files_in(path)
    if not names:
        msg = f"{path}: there are no text files in this directory."
        raise SourceError(msg)
    return records_as_documents(_records(path, names, encoding, bad), fields, str(path))


def _files_in(folder: Path) -> list[str]:
    """Find files below a folder, except hidden ones, linked folders and semascope directories."""
    found = []
    for parent, folders, files in os.walk(folder, onerror=_complain):
        folders[:] = [name for name in folders if not name.startswith(".") and is_directory_of(Path(parent, name)) is None]
        paths = (Path(parent, name) for name in files if not name.startswith("."))
        found += [path.relative_to(folder).as_posix() for path in paths if path.is_file() or path.is_symlink()]
    return sorted(found)


def _complain(error: OSError) -> NoReturn:
    raise error


def _records(folder: Path, names: list[str], encoding: str | None, bad: BadRecords) -> Iterator[Record]:
    for name in names:
        shown = os.fsencode(name).decode("utf-8", "replace")
        try:
            text = _text_of(folder / name, encoding)
        except SourceError as error:  # a damaged gzip file, already named
            bad.add(str(error))
        except ValueError as error:
            bad.add(f"{folder}/{shown}: {error}.")
        else:
            yield {"id": shown, "text": text, "labels": shown.rpartition("/")[0] or None}


def _text_of(path: Path, encoding: str | None) -> str:
    if not path.exists():
        msg = "is a link to a missing file"
        raise ValueError(msg)
    content = b"".join(chunks_of(path))
    encoding = encoding or encoding_by_mark(content)
    if (b"\0" in content and encoding is None) or "\0" in (text := decode(content, encoding)):
        msg = "is not a text file: it contains null bytes"
        raise ValueError(msg)
    return text
