"""JSON lines, plain or gzipped: fast by polars, block by block; line by line where a block has anything out of the ordinary.

What a line gives does not depend on its neighbours: whatever polars would read otherwise than Python's json makes its block go
line by line.
"""

from __future__ import annotations

import gzip
import io
import json
import re
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
            raise SourceError(not_taken[0] + " Mend it, or leave such lines out with --skip-bad (skip_bad=True).")
        if bad is not None:
            bad.extend(not_taken)
        yield rows
        first_line += block.count(b"\n")


# --- blocks of whole lines -----------------------------------------------------------------------------------------------


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


def _require_field(path: Path, name: str) -> None:
    """Stop at once when no line has the field, and say which fields there are."""
    spellings = {json.dumps(name).encode(), json.dumps(name, ensure_ascii=False).encode()}
    key = re.compile(b"|".join(re.escape(spelling) + rb"\s*:" for spelling in spellings))
    written_in = (block for block in _blocks_of_lines(path) if block.strip())
    first = next(written_in, None)
    if first is None:
        msg = f"{path}: there are no documents: the file is empty."
        raise SourceError(msg)
    if key.search(first) or any(key.search(block) for block in written_in):
        return
    names: dict[str, None] = {}
    for line in first.split(b"\n")[:1000]:
        with suppress(ValueError, RecursionError):
            record = json.loads(line.decode("utf-8"))
            names.update(dict.fromkeys(record if isinstance(record, dict) else ()))
    if not names:
        return  # not JSON at all: reading it will name the line
    msg = f"{path}: no line has a field {name!r}; the fields are {', '.join(names)}. Say which is the text with --text (text=)."
    raise SourceError(msg)


# --- a block by polars ---------------------------------------------------------------------------------------------------


def _read_block(block: bytes, fields: Mapping[str, str], schema: Schema) -> pl.DataFrame | None:
    """Read a block by polars; None when it has anything that polars reads otherwise than Python's json."""
    if len(set(fields.values())) < len(fields):
        return None  # one field for two purposes
    wanted = {fields[column]: dtype for column, dtype in schema.items()}
    with suppress(pl.exceptions.PolarsError):
        frame = pl.read_ndjson(io.BytesIO(block), schema=wanted)
        frame = frame.select(pl.col(fields[column]).alias(column) for column in schema)
        if not any(_is_odd(column) for column in frame):
            return frame.with_columns(pl.col("labels").list.drop_nulls())
    return None


def _is_odd(column: pl.Series) -> bool:
    """Tell whether polars may have made strings of objects or lists, or zero bytes of lone surrogates."""
    values = column.list.explode(empty_as_null=True) if column.dtype == pl.List(pl.String) else column
    return bool(values.str.contains(r"^[\[{]|\x00").any())


# --- a block line by line ------------------------------------------------------------------------------------------------


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
        except (ValueError, RecursionError) as error:
            problems.append(f"{path}, line {number}: {_explain(error)}.")
    return pl.DataFrame(rows, schema=schema), problems


def _document(line: bytes, fields: Mapping[str, str]) -> dict[str, Any]:
    record = json.loads(line.decode("utf-8"))
    if not isinstance(record, dict):
        msg = f"expected a JSON object, found {_kind(record)}"
        raise ValueError(msg)
    for column in ("id", "text"):
        value = record.get(fields[column])
        if isinstance(value, dict | list):
            msg = f"field {fields[column]!r} should be a string, but is {_kind(value)}"
            raise ValueError(msg)
    document: dict[str, Any] = {column: _as_text(record.get(name)) for column, name in fields.items() if column != "labels"}
    labels = record.get(fields["labels"])
    if labels is not None:
        listed = labels if isinstance(labels, list) else [labels]
        document["labels"] = [_as_text(label) for label in listed if label is not None]
    return document


def _as_text(value: Any) -> str | None:
    """Give a string as it is, and anything else as JSON; whole numbers without a point, as polars writes them."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str):
        return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        value.encode()
    except UnicodeEncodeError:  # half a character, as cut-off emoji are: show the sign for one that is missing
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _kind(value: Any) -> str:
    """Name a JSON value."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _explain(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return (
            f"not UTF-8 (byte 0x{error.object[error.start]:02x} at position {error.start}); "
            "convert the file first, with iconv for example"
        )
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON ({error.msg.removesuffix(' at')} at character {error.pos})"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(error)
