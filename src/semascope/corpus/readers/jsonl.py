"""JSON lines, plain or gzipped: blocks are parsed by polars, and line by line if they have irregularities.

The result for a line does not depend on its neighbors: a block that polars might read differently from Python's json is parsed
line by line.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from semascope.corpus.lexicon import describe_languages
from semascope.corpus.readers.files import POLARS_REFUSES, BadRecords, blocks_of_lines, not_utf_8
from semascope.corpus.readers.record_fields import Fields, Schema, join_texts, split_labels, text_by_language
from semascope.errors import SourceError

_TEXT = "\0text"
"""Prefix of the names of text columns; no other field has such a name."""


def read_json_lines(path: Path, fields: Fields, encoding: str | None, bad: BadRecords) -> Iterator[pl.DataFrame]:
    """Yield blocks of documents."""
    _require_fields(path, fields, encoding)
    if fields.texts is not None and not fields.languages:
        fields = replace(fields, languages=_languages_in(path, fields.texts, encoding))
    columns = _Columns(fields)
    first_line = 1
    for block in blocks_of_lines(path, encoding):
        rows = _read_block(block, columns)
        if rows is None:
            rows = _read_line_by_line(path, block, first_line, columns, bad)
        labels = split_labels(pl.col("labels"), fields.label_separator)
        yield rows.select("id", columns.text().alias("text"), labels, *fields.keep)
        first_line += block.count(b"\n")


class _Columns:
    """Columns to read from the lines.

    names   column -> name of the field; the text may have several fields, and a field several columns
    schema  column -> type, passed to polars: inferring it from the first lines would lose fields that occur later
    """

    def __init__(self, fields: Fields) -> None:
        self.fields = fields
        texts = {f"{_TEXT}{number}": name for number, name in enumerate(fields.of_text)}
        self.names = {"id": fields.id, **texts, "labels": fields.labels, **{name: name for name in fields.keep}}
        self.schema: Schema = {**dict.fromkeys(self.names, pl.String), "labels": pl.List(pl.String)}
        if fields.texts is not None:
            self.schema |= {f"{_TEXT}0": pl.Struct(dict.fromkeys(fields.languages, pl.String))}

    def text(self) -> pl.Expr:
        """Return the expression for the text, by language if there are several."""
        if self.fields.texts is not None:
            return pl.col(f"{_TEXT}0")
        column = {name: pl.col(column) for column, name in self.names.items() if column.startswith(_TEXT)}
        return text_by_language({one: join_texts([column[name] for name in names]) for one, names in self.fields.text.items()})


def _require_fields(path: Path, fields: Fields, encoding: str | None) -> None:
    """Check that each required field and language occurs in some line; the error lists those found."""
    written_in = (block for block in blocks_of_lines(path, encoding) if block.strip())
    first = next(written_in, None)
    if first is None:
        msg = f"{path}: there are no documents: the file is empty."
        raise SourceError(msg)
    keys = {name: _key(name) for name in (*fields.required, *fields.languages)}
    for block in chain([first], written_in):
        keys = {name: key for name, key in keys.items() if not key.search(block)}
        if not keys:
            return
    records = list(_records_in(first.split(b"\n")[:1000]))
    names = list(dict.fromkeys(name for record in records for name in record))
    missing = fields.describe_missing(names, "field", "no line has a") if names else None
    languages = _languages_of(records, str(fields.texts))
    if missing is None and languages and (unknown := [one for one in fields.languages if one in keys]):
        missing = f"no line has a text in {unknown[0]!r}; {describe_languages(languages)}."
    if missing:  # otherwise it is not JSON, and reading it will report the line
        msg = f"{path}: {missing}"
        raise SourceError(msg)


def _languages_in(path: Path, name: str, encoding: str | None) -> tuple[str, ...]:
    """Return all languages of the objects in a field, in order of first appearance; this reads the whole file."""
    found: dict[str, None] = {}
    for block in blocks_of_lines(path, encoding):
        found.update(dict.fromkeys(_languages_of(_records_in(block.split(b"\n")), name)))
    if not found:
        msg = f"{path}: the field {name!r} holds no objects of language and text."
        raise SourceError(msg)
    return tuple(found)


def _languages_of(records: Iterable[Mapping[str, Any]], name: str) -> list[str]:
    objects = (record.get(name) for record in records)
    return list(dict.fromkeys(language for texts in objects if isinstance(texts, dict) for language in texts if language))


def _records_in(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the objects in lines, skipping anything else."""
    for line in lines:
        with suppress(ValueError, RecursionError):
            record = json.loads(line.decode("utf-8"))
            if isinstance(record, dict):
                yield record


def _key(name: str) -> re.Pattern[bytes]:
    spellings = {json.dumps(name).encode(), json.dumps(name, ensure_ascii=False).encode(errors="replace")}
    return re.compile(b"|".join(re.escape(spelling) + rb"\s*:" for spelling in spellings))


# --- a block by polars ---------------------------------------------------------------------------------------------------


def _read_block(block: bytes, columns: _Columns) -> pl.DataFrame | None:
    """Parse a block by polars; None if polars might read it differently from Python's json."""
    names = columns.names
    if len(set(names.values())) < len(names):
        return None  # one field for two columns
    wanted = {names[column]: dtype for column, dtype in columns.schema.items()}
    with suppress(*POLARS_REFUSES):
        frame = pl.read_ndjson(io.BytesIO(block), schema=wanted)
        frame = frame.select(pl.col(name).alias(column) for column, name in names.items())
        if not any(_is_odd(column) for column in frame):
            return frame
    return None


def _is_odd(column: pl.Series) -> bool:
    """Return whether polars may have turned objects or lists into strings, or lone surrogates into null bytes.

    This includes objects without any text, whose line may have none in the requested languages.
    """
    if isinstance(column.dtype, pl.Struct):
        texts = column.struct.unnest()
        return texts.select(pl.all_horizontal(pl.all().is_null()).any()).item() or any(_is_odd(text) for text in texts)
    values = column.list.explode(empty_as_null=True) if column.dtype == pl.List(pl.String) else column
    return bool(values.str.contains(r"^[\[{]|\x00").any())


# --- a block line by line ------------------------------------------------------------------------------------------------


def _read_line_by_line(path: Path, block: bytes, first_line: int, columns: _Columns, bad: BadRecords) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(block.split(b"\n"), start=first_line):
        if not line.strip():
            continue
        try:
            rows.append(_document(line, columns))
        except (ValueError, RecursionError) as error:
            bad.add(f"{path}, line {number}: {explained(error)}.", "lines")
    return pl.DataFrame(rows, schema=columns.schema)


def record_in(line: bytes) -> dict[str, Any]:
    """Parse the object in a line; `explained` describes the exceptions."""
    record = json.loads(line.decode("utf-8"), object_pairs_hook=_first_of_each)
    if not isinstance(record, dict):
        msg = f"expected a JSON object, found {kind_of(record)}"
        raise ValueError(msg)
    return record


def _first_of_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object from pairs; of repeated names the first counts, as in polars."""
    record = dict(pairs)
    return record if len(record) == len(pairs) else dict(reversed(pairs))


def _document(line: bytes, columns: _Columns) -> dict[str, Any]:
    record = record_in(line)
    document: dict[str, Any] = {}
    for column, name in columns.names.items():
        value = record.get(name)
        if isinstance(columns.schema[column], pl.Struct):
            document[column] = _by_language(name, value, columns.fields)
        elif column != "labels":
            document[column] = _string(name, value) if column == "id" or column.startswith(_TEXT) else _as_text(value)
        elif value is not None:
            listed = value if isinstance(value, list) else [value]
            document[column] = [_as_text(label) for label in listed if label is not None]
    return document


def _by_language(name: str, value: Any, fields: Fields) -> dict[str, str | None]:
    """Return the texts of an object in the requested languages."""
    if not isinstance(value, dict | None):
        msg = f"field {name!r} should be an object of language and text, but is {kind_of(value)}"
        raise ValueError(msg)
    there = [language for language, text in (value or {}).items() if text not in (None, "")]
    if there and not set(there) & set(fields.languages):
        raise ValueError(fields.describe_unwanted(there))
    return {language: _string(f"{name}.{language}", (value or {}).get(language)) for language in fields.languages}


def _string(name: str, value: Any) -> str | None:
    if isinstance(value, dict | list):
        msg = f"field {name!r} should be a string, but is {kind_of(value)}"
        raise ValueError(msg)
    return _as_text(value)


def _as_text(value: Any) -> str | None:
    """Convert a value to text: strings unchanged, others as JSON, whole numbers without a point as polars writes them."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str):
        return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        value.encode()
    except UnicodeEncodeError:  # half a surrogate pair, as in truncated emoji: use the replacement character
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def kind_of(value: Any) -> str:
    """Describe the type of a JSON value."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def explained(error: Exception) -> str:
    """Describe the error in a line."""
    if isinstance(error, UnicodeDecodeError):
        return not_utf_8(error.object[error.start], error.start)
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON ({error.msg.removesuffix(' at')} at character {error.pos})"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(error)
