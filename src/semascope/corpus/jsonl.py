"""JSON lines, plain or gzipped: fast by polars, block by block; line by line where polars cannot read a block."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import polars as pl

from semascope.errors import SourceError

BLOCK_BYTES = 1 << 23
_BOM = b"\xef\xbb\xbf"

Schema = Mapping[str, pl.DataType | type[pl.DataType]]


def read_json_lines(path: Path, fields: Mapping[str, str], schema: Schema, bad: list[str] | None) -> Iterator[pl.DataFrame]:
    """Give blocks of documents.

    Parameters
    ----------
    fields : mapping
        Column -> name of the field in the file.
    schema : mapping
        Column -> type. It is told to polars: types guessed from the first lines would lose fields that come later.
    bad : list of str or None
        Collects what was wrong with the lines left out; with None the first bad line is an error.
    """
    _require_field(path, fields["text"])
    first_line = 1
    for block in _blocks_of_lines(path):
        not_taken: list[str] = []
        rows = _read_block(block, fields, schema)
        if rows is None:
            rows, not_taken = _read_line_by_line(path, block, first_line, fields, schema)
        if not_taken and bad is None:
            raise SourceError(not_taken[0] + " Mend it, or leave such lines out with skip_bad (--skip-bad).")
        if bad is not None:
            bad.extend(not_taken)
        yield rows
        first_line += block.count(b"\n")


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if zipped else path.open("rb")  # type: ignore[return-value]


def _blocks_of_lines(path: Path) -> Iterator[bytes]:
    """Cut a file into blocks that end with a line."""
    try:
        with _open(path) as file:
            start = file.read(len(_BOM))
            rest = b"" if start == _BOM else start
            while chunk := file.read(BLOCK_BYTES):
                last = chunk.rfind(b"\n")
                if last < 0:  # a line longer than a block
                    rest += chunk
                    continue
                yield rest + chunk[: last + 1]
                rest = chunk[last + 1 :]
            if rest.strip():
                yield rest + b"\n"
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        msg = f"{path}: the gzip file is cut short or damaged ({error})."
        raise SourceError(msg) from None


def _read_block(block: bytes, fields: Mapping[str, str], schema: Schema) -> pl.DataFrame | None:
    """Read a block by polars; None when it has anything polars does not take as it is."""
    wanted = {fields[column]: dtype for column, dtype in schema.items()}
    with suppress(pl.exceptions.PolarsError):
        frame = pl.read_ndjson(io.BytesIO(block), schema=wanted)
        frame = frame.select(pl.col(fields[column]).alias(column) for column in schema)
        text = frame["text"].str
        # polars makes strings of objects and zero bytes of lone surrogates: let json tell
        if not text.starts_with("{").any() and not text.contains("\0", literal=True).any():
            return frame
    return None


def _read_line_by_line(
    path: Path, block: bytes, first_line: int, fields: Mapping[str, str], schema: Schema
) -> tuple[pl.DataFrame, list[str]]:
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    for number, line in enumerate(block.split(b"\n"), start=first_line):
        if not line.strip():
            continue
        try:
            rows.append(_document(line, fields))
        except ValueError as error:
            problems.append(f"{path}, line {number}: {_explain(error)}.")
    return pl.DataFrame(rows, schema=schema), problems


def _document(line: bytes, fields: Mapping[str, str]) -> dict[str, Any]:
    record = json.loads(line.decode("utf-8"))
    if not isinstance(record, dict):
        msg = f"expected a JSON object, found {type(record).__name__}"
        raise ValueError(msg)
    document = {column: _as_text(record.get(name), name) for column, name in fields.items() if column != "labels"}
    return {**document, "labels": _as_labels(record.get(fields["labels"]))}


def _as_text(value: Any, name: str) -> str | None:
    if isinstance(value, dict | list):
        msg = f"field {name!r} should be a string, but is {'an object' if isinstance(value, dict) else 'a list'}"
        raise ValueError(msg)
    if not isinstance(value, str):
        return None if value is None else json.dumps(value)
    try:
        value.encode()
    except UnicodeEncodeError:  # half a character, as cut-off emoji are: show the sign for one that is missing
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _as_labels(value: Any) -> list[str] | None:
    if value is None:
        return None
    return [str(label) for label in value] if isinstance(value, list) else [str(value)]


def _explain(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return (
            f"not UTF-8 (byte 0x{error.object[error.start]:02x} at position {error.start}); "
            "convert the file first, with iconv for example"
        )
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON ({error.msg} at character {error.pos})"
    return str(error)


def _require_field(path: Path, name: str) -> None:
    """Stop at once when no line has the field, and say which fields there are."""
    needle = json.dumps(name).encode()
    escaped = json.dumps(name, ensure_ascii=False).encode()
    blocks = _blocks_of_lines(path)
    first = next(blocks, b"")
    if not first.strip():
        msg = f"{path}: there are no documents: the file is empty."
        raise SourceError(msg)
    if needle in first or escaped in first or any(needle in block or escaped in block for block in blocks):
        return
    names: dict[str, None] = {}
    for line in first.split(b"\n")[:1000]:
        with suppress(ValueError):
            record = json.loads(line)
            names.update(dict.fromkeys(record if isinstance(record, dict) else ()))
    if not names:
        return  # not JSON at all: reading it will name the line
    msg = f"{path}: no line has a field {name!r}; the fields are {', '.join(names)}. Say which one is the text."
    raise SourceError(msg)
