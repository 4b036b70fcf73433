"""Mapping of record fields to document columns, and conversion of values to text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import polars as pl
from polars.datatypes import DataTypeClass

from semascope.corpus.lexicon import describe_languages
from semascope.corpus.readers.files import BadRecords, in_blocks
from semascope.errors import SourceError

Schema = Mapping[str, pl.DataType | type[pl.DataType]]
Record = Mapping[str, str | None]
T = TypeVar("T")

MAX_NAMES = 50
"""Maximum number of fields listed in a message."""

_MAX_WHOLE = 2.0**53
"""Beyond it, floats cannot represent all whole numbers."""


def document_schema(keep: Sequence[str]) -> dict[str, pl.DataType | type[pl.DataType]]:
    """Return the schema of a block of documents."""
    return {"id": pl.String, "text": pl.String, "labels": pl.List(pl.String), **dict.fromkeys(keep, pl.String)}


@dataclass(frozen=True)
class Fields:
    """Names of the fields of a source that make up a document.

    text             fields per language, whose values are joined by line breaks; "" is an unnamed language
    id               field of the identifier
    labels           field of the label or labels
    keep             further fields, which keep their names
    label_separator  separator between labels in one value
    texts            field of an object of language and text, instead of `text`
    languages        languages to read from `texts`; all if empty
    """

    text: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"": ("text",)})
    id: str = "id"
    labels: str = "labels"
    keep: tuple[str, ...] = ()
    label_separator: str | None = None
    texts: str | None = None
    languages: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        """Schema of the documents."""
        return document_schema(self.keep)

    @property
    def of_text(self) -> dict[str, str]:
        """Fields with texts, and the option that names each."""
        if self.texts is not None:
            return {self.texts: "texts"}
        return dict.fromkeys((name for names in self.text.values() for name in names), "text")

    @property
    def names(self) -> list[str]:
        """All requested fields."""
        return list(dict.fromkeys([*self.of_text, self.id, self.labels, *self.keep]))

    @property
    def required(self) -> dict[str, str]:
        """Required fields and their use: the text, and id and labels if named explicitly."""
        named = {self.id: "id", self.labels: "labels"}
        return {name: use for name, use in named.items() if name != use} | self.of_text

    def describe_unwanted(self, languages: Sequence[str]) -> str:
        """Describe a record without a text in the requested languages."""
        return f"the texts are in {', '.join(languages)}, but the requested languages are {', '.join(self.languages)}"

    def describe_missing(self, there: Iterable[str], what: str = "column", none: str = "there is no") -> str | None:
        """Describe the first required field that is missing; None if there is none."""
        names = list(there)
        for name, use in self.required.items():
            if name not in names:
                what_to_do = f"Name the {what} of the {use} with --{use} ({use}=)."
                return f"{none} {what} {name!r}; {describe_fields(names, what)}. {what_to_do}"
        return None


def describe_fields(names: Sequence[str], what: str) -> str:
    """List the available fields on one line."""
    shown = [" ".join(name.split())[:60] for name in names[:MAX_NAMES]]
    more = [f"and {len(names) - MAX_NAMES:,} more"] if len(names) > MAX_NAMES else []
    return f"the {what}s are {', '.join(shown + more)}" if names else f"there are no {what}s"


def join_texts(columns: Sequence[pl.Expr]) -> pl.Expr:
    """Join texts by line breaks, skipping missing ones."""
    return columns[0] if len(columns) == 1 else pl.concat_str(columns, separator="\n", ignore_nulls=True)


def split_labels(labels: pl.Expr, separator: str | None) -> pl.Expr:
    """Split the labels in lists by a separator."""
    if separator is None:
        return labels.list.drop_nulls()
    parts = pl.element().str.split(separator).explode(empty_as_null=True).str.strip_chars()
    return labels.list.eval(pl.when(parts != "").then(parts)).list.drop_nulls()


def as_documents(frame: pl.DataFrame, fields: Fields, source: str) -> pl.DataFrame:
    """Convert a block of columns to documents; missing fields are null."""
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in fields.names if name not in frame.columns)

    def text(name: str) -> pl.Expr:
        return as_text(pl.col(name), frame.schema[name], f"{source}: column {name!r}")

    def labels(name: str) -> pl.Expr:
        dtype = frame.schema[name]
        if isinstance(dtype, pl.List):
            return pl.col(name).list.eval(as_text(pl.element(), dtype.inner, f"{source}: column {name!r}"))
        return pl.concat_list(text(name))

    if fields.texts is None:
        texts = {language: join_texts([text(name) for name in names]) for language, names in fields.text.items()}
    else:
        texts = _in_object(fields.texts, frame.schema[fields.texts], fields.languages, source)
    try:
        return frame.select(
            id=text(fields.id),
            text=text_by_language(texts),
            labels=split_labels(labels(fields.labels), fields.label_separator),
            **{name: text(name) for name in fields.keep},
        )
    except pl.exceptions.ComputeError as error:
        if "utf8" not in str(error):
            raise
        msg = f"{source}: a column holds bytes that are not UTF-8; convert them to strings first."
        raise SourceError(msg) from None


def text_by_language(texts: Mapping[str, pl.Expr]) -> pl.Expr:
    """Build the column of texts: a struct of languages, or plain text for an unnamed language."""
    return texts[""] if "" in texts else pl.struct(text.alias(language) for language, text in texts.items())


def _in_object(name: str, dtype: pl.DataType, languages: Sequence[str], source: str) -> dict[str, pl.Expr]:
    """Return the texts of each language in a column of objects."""
    where = f"{source}: column {name!r}"
    if not isinstance(dtype, pl.Struct) or not dtype.fields:
        msg = f"{where} holds values of type {dtype}; expected objects of language and text."
        raise SourceError(msg)
    there = {one.name: one.dtype for one in dtype.fields}
    for language in languages:
        if language not in there:
            msg = f"{where} has no texts in {language!r}; {describe_languages(list(there))}."
            raise SourceError(msg)
    column = pl.col(name).struct
    return {one: as_text(column.field(one), there[one], f"{where} in {one!r}") for one in languages or there}


def parse_records(
    path: Path, pieces: Iterable[tuple[int, T]], parse: Callable[[T], Record], bad: BadRecords
) -> Iterator[Record]:
    """Parse the pieces of a file into records; those that fail are reported by line."""
    for line, piece in pieces:
        try:
            record = parse(piece)
        except ValueError as error:
            bad.add(f"{path}, line {line}: {error}.")
        else:
            yield record


def records_as_documents(records: Iterable[Record], fields: Fields, source: str) -> Iterator[pl.DataFrame]:
    """Convert records to blocks of documents; a required field that no record has is an error at the end."""
    there: dict[str, None] = {}
    for block in in_blocks(records, lambda record: sum(len(value or "") for value in record.values())):
        names = list(dict.fromkeys(name for record in block for name in record))
        there.update(dict.fromkeys(names))
        columns = {name: [record.get(name) for record in block] for name in names}
        yield as_documents(pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String)), fields, source)
    missing = fields.describe_missing(there, "field", "no document has a") if there else None
    if missing:
        msg = f"{source}: {missing}"
        raise SourceError(msg)


def as_text(value: pl.Expr, dtype: pl.DataType | DataTypeClass, where: str) -> pl.Expr:
    """Convert values to text: whole numbers without a point, dates as ISO 8601; NaN and empty strings become null."""
    if dtype.is_nested() or dtype == pl.Object:
        msg = f"{where} holds values of type {dtype}; expected strings, numbers or dates."
        raise SourceError(msg)
    if dtype.is_float():
        whole = (value == value.round()) & (value.abs() <= _MAX_WHOLE)
        return (
            pl.when(whole)
            .then(value.cast(pl.Int64, strict=False).cast(pl.String))
            .otherwise(value.fill_nan(None).cast(pl.String))
        )
    if isinstance(dtype, pl.Datetime):
        time = value.dt.to_string("%Y-%m-%dT%H:%M:%S%.f" + ("%:z" if dtype.time_zone else ""))
        return time.str.replace(r"T00:00:00$", "")  # a date without time
    if isinstance(dtype, pl.Duration):
        return value.dt.to_string("iso")
    text = value.cast(pl.String)
    return pl.when(text != "").then(text)
