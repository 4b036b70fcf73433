"""JSON lines, plain or gzipped: fast by polars, block by block; line by line where a block has anything out of the ordinary.

What a line gives does not depend on its neighbours: whatever polars would read otherwise than Python's json makes its block go
line by line.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from semascope.corpus.readers.fields import Fields, Schema, joined, separated
from semascope.corpus.readers.files import POLARS_REFUSES, BadRecords, blocks_of_lines, not_utf_8
from semascope.errors import SourceError

_TEXT = "\0text"
"""Begins the names of columns that are joined to the text; no field that is kept has such a name."""


def read_json_lines(path: Path, fields: Fields, encoding: str | None, bad: BadRecords) -> Iterator[pl.DataFrame]:
    """Give blocks of documents."""
    _require_fields(path, fields, encoding)
    names = _names_of_columns(fields)
    first_line = 1
    for block in blocks_of_lines(path, encoding):
        rows = _read_block(block, names)
        if rows is None:
            rows = _read_line_by_line(path, block, first_line, names, bad)
        texts = [pl.col(column) for column in names if column.startswith(_TEXT)]
        labels = separated(pl.col("labels"), fields.label_separator)
        yield rows.select("id", joined(texts).alias("text"), labels, *fields.keep)
        first_line += block.count(b"\n")


def _names_of_columns(fields: Fields) -> dict[str, str]:
    """Column -> name of the field; several fields may make the text, and one field may serve several purposes."""
    texts = {f"{_TEXT}{number}": name for number, name in enumerate(fields.text)}
    return {"id": fields.id, **texts, "labels": fields.labels, **{name: name for name in fields.keep}}


def _schema(names: Mapping[str, str]) -> Schema:
    """Column -> type. It is told to polars: types guessed from the first lines would lose fields that come later."""
    return {column: pl.List(pl.String) if column == "labels" else pl.String for column in names}


def _require_fields(path: Path, fields: Fields, encoding: str | None) -> None:
    """Stop at once when no line has a field that must be there, and say which fields there are."""
    written_in = (block for block in blocks_of_lines(path, encoding) if block.strip())
    first = next(written_in, None)
    if first is None:
        msg = f"{path}: there are no documents: the file is empty."
        raise SourceError(msg)
    keys = [_key(name) for name in fields.required]
    for block in chain([first], written_in):
        keys = [key for key in keys if not key.search(block)]
        if not keys:
            return
    names: dict[str, None] = {}
    for line in first.split(b"\n")[:1000]:
        with suppress(ValueError, RecursionError):
            record = json.loads(line.decode("utf-8"))
            names.update(dict.fromkeys(record if isinstance(record, dict) else ()))
    missing = fields.missing(names, "field", "no line has a") if names else None
    if missing:  # otherwise it is not JSON at all, and reading it will name the line
        msg = f"{path}: {missing}"
        raise SourceError(msg)


def _key(name: str) -> re.Pattern[bytes]:
    spellings = {json.dumps(name).encode(), json.dumps(name, ensure_ascii=False).encode(errors="replace")}
    return re.compile(b"|".join(re.escape(spelling) + rb"\s*:" for spelling in spellings))


# --- a block by polars ---------------------------------------------------------------------------------------------------


def _read_block(block: bytes, names: Mapping[str, str]) -> pl.DataFrame | None:
    """Read a block by polars; None when it has anything that polars reads otherwise than Python's json."""
    if len(set(names.values())) < len(names):
        return None  # one field for two purposes
    wanted = {names[column]: dtype for column, dtype in _schema(names).items()}
    with suppress(*POLARS_REFUSES):
        frame = pl.read_ndjson(io.BytesIO(block), schema=wanted)
        frame = frame.select(pl.col(name).alias(column) for column, name in names.items())
        if not any(_is_odd(column) for column in frame):
            return frame
    return None


def _is_odd(column: pl.Series) -> bool:
    """Tell whether polars may have made strings of objects or lists, or zero bytes of lone surrogates."""
    values = column.list.explode(empty_as_null=True) if column.dtype == pl.List(pl.String) else column
    return bool(values.str.contains(r"^[\[{]|\x00").any())


# --- a block line by line ------------------------------------------------------------------------------------------------


def _read_line_by_line(path: Path, block: bytes, first_line: int, names: Mapping[str, str], bad: BadRecords) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(block.split(b"\n"), start=first_line):
        if not line.strip():
            continue
        try:
            rows.append(_document(line, names))
        except (ValueError, RecursionError) as error:
            bad.add(f"{path}, line {number}: {_explain(error)}.", "lines")
    return pl.DataFrame(rows, schema=_schema(names))


def _document(line: bytes, names: Mapping[str, str]) -> dict[str, Any]:
    record = json.loads(line.decode("utf-8"))
    if not isinstance(record, dict):
        msg = f"expected a JSON object, found {_kind(record)}"
        raise ValueError(msg)
    for column, name in names.items():
        value = record.get(name)
        if (column == "id" or column.startswith(_TEXT)) and isinstance(value, dict | list):
            msg = f"field {name!r} should be a string, but is {_kind(value)}"
            raise ValueError(msg)
    document: dict[str, Any] = {column: _as_text(record.get(name)) for column, name in names.items() if column != "labels"}
    labels = record.get(names["labels"])
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
        return not_utf_8(error.object[error.start], error.start)
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON ({error.msg.removesuffix(' at')} at character {error.pos})"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(error)
