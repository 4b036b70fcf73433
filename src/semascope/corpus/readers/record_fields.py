"""Which fields of a record become which columns of a document, and values of every kind as text."""

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
"""So many fields are listed in a sentence."""

_MAX_WHOLE = 2.0**53
"""Beyond it a float does not tell whole numbers apart."""


def document_schema(keep: Sequence[str]) -> dict[str, pl.DataType | type[pl.DataType]]:
    """Columns of a block of documents."""
    return {"id": pl.String, "text": pl.String, "labels": pl.List(pl.String), **dict.fromkeys(keep, pl.String)}


@dataclass(frozen=True)
class Fields:
    """The names that a source has for what becomes a document.

    text             of each language the fields whose values are joined, a line break between them; "" is one without a name
    id               field of the identifier
    labels           field of the label or labels
    keep             further fields, which keep their names
    label_separator  what stands between labels in one value
    texts            field of an object of language and text, instead of `text`
    languages        languages that are wanted of it; none stands for all
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
        """Columns of the documents."""
        return document_schema(self.keep)

    @property
    def of_text(self) -> dict[str, str]:
        """Fields that texts are in, and what they are called."""
        if self.texts is not None:
            return {self.texts: "texts"}
        return dict.fromkeys((name for names in self.text.values() for name in names), "text")

    @property
    def names(self) -> list[str]:
        """All fields that are asked for."""
        return list(dict.fromkeys([*self.of_text, self.id, self.labels, *self.keep]))

    @property
    def required(self) -> dict[str, str]:
        """Fields that must be there, and what for: the text, and an id or labels that were not named by default."""
        named = {self.id: "id", self.labels: "labels"}
        return {name: use for name, use in named.items() if name != use} | self.of_text

    def not_wanted(self, languages: Sequence[str]) -> str:
        """Say that a record has no text in any language that is wanted."""
        return f"the texts are in {', '.join(languages)}, but wanted are {', '.join(self.languages)}"

    def missing(self, there: Iterable[str], what: str = "column", none: str = "there is no") -> str | None:
        """Say which required field is not among those that are there; None when all are."""
        names = list(there)
        for name, use in self.required.items():
            if name not in names:
                which = "which are" if use in ("labels", "texts") else "which is"
                return f"{none} {what} {name!r}; {listed(names, what)}. Say {which} the {use} with --{use} ({use}=)."
        return None


def listed(names: Sequence[str], what: str) -> str:
    """Say which fields there are, on one line."""
    shown = [" ".join(name.split())[:60] for name in names[:MAX_NAMES]]
    more = [f"and {len(names) - MAX_NAMES:,} more"] if len(names) > MAX_NAMES else []
    return f"the {what}s are {', '.join(shown + more)}" if names else f"there are no {what}s"


def joined(columns: Sequence[pl.Expr]) -> pl.Expr:
    """Join texts by line breaks, leaving out those that are not there."""
    return columns[0] if len(columns) == 1 else pl.concat_str(columns, separator="\n", ignore_nulls=True)


def separated(labels: pl.Expr, separator: str | None) -> pl.Expr:
    """Take lists of labels apart where a separator stands in one."""
    if separator is None:
        return labels.list.drop_nulls()
    parts = pl.element().str.split(separator).explode(empty_as_null=True).str.strip_chars()
    return labels.list.eval(pl.when(parts != "").then(parts)).list.drop_nulls()


def as_documents(frame: pl.DataFrame, fields: Fields, source: str) -> pl.DataFrame:
    """Make documents of a block of any columns; fields that are not there are null."""
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in fields.names if name not in frame.columns)

    def text(name: str) -> pl.Expr:
        return as_text(pl.col(name), frame.schema[name], f"{source}: column {name!r}")

    def labels(name: str) -> pl.Expr:
        dtype = frame.schema[name]
        if isinstance(dtype, pl.List):
            return pl.col(name).list.eval(as_text(pl.element(), dtype.inner, f"{source}: column {name!r}"))
        return pl.concat_list(text(name))

    if fields.texts is None:
        texts = {language: joined([text(name) for name in names]) for language, names in fields.text.items()}
    else:
        texts = _in_object(fields.texts, frame.schema[fields.texts], fields.languages, source)
    try:
        return frame.select(
            id=text(fields.id),
            text=text_by_language(texts),
            labels=separated(labels(fields.labels), fields.label_separator),
            **{name: text(name) for name in fields.keep},
        )
    except pl.exceptions.ComputeError as error:
        if "utf8" not in str(error):
            raise
        msg = f"{source}: a column holds bytes that are not UTF-8; make strings of them first."
        raise SourceError(msg) from None


def text_by_language(texts: Mapping[str, pl.Expr]) -> pl.Expr:
    """Make the column of texts: a struct of the languages, but of one without a name the text alone."""
    return texts[""] if "" in texts else pl.struct(text.alias(language) for language, text in texts.items())


def _in_object(name: str, dtype: pl.DataType, languages: Sequence[str], source: str) -> dict[str, pl.Expr]:
    """Take the texts of each language from a column of objects."""
    where = f"{source}: column {name!r}"
    if not isinstance(dtype, pl.Struct) or not dtype.fields:
        msg = f"{where} holds values of the kind {dtype}; expected objects of language and text."
        raise SourceError(msg)
    there = {one.name: one.dtype for one in dtype.fields}
    for language in languages:
        if language not in there:
            msg = f"{where} has no texts in {language!r}; {describe_languages(list(there))}."
            raise SourceError(msg)
    column = pl.col(name).struct
    return {one: as_text(column.field(one), there[one], f"{where} in {one!r}") for one in languages or there}


def parsed(path: Path, pieces: Iterable[tuple[int, T]], parse: Callable[[T], Record], bad: BadRecords) -> Iterator[Record]:
    """Make records of pieces of a file; what cannot be parsed is bad, and named by its line."""
    for line, piece in pieces:
        try:
            record = parse(piece)
        except ValueError as error:
            bad.add(f"{path}, line {line}: {error}.")
        else:
            yield record


def records_as_documents(records: Iterable[Record], fields: Fields, source: str) -> Iterator[pl.DataFrame]:
    """Make documents of records; a required field that no record has is an error at the end."""
    there: dict[str, None] = {}
    for block in in_blocks(records, lambda record: sum(len(value or "") for value in record.values())):
        names = list(dict.fromkeys(name for record in block for name in record))
        there.update(dict.fromkeys(names))
        columns = {name: [record.get(name) for record in block] for name in names}
        yield as_documents(pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String)), fields, source)
    missing = fields.missing(there, "field", "no document has a") if there else None
    if missing:
        msg = f"{source}: {missing}"
        raise SourceError(msg)


def as_text(value: pl.Expr, dtype: pl.DataType | DataTypeClass, where: str) -> pl.Expr:
    """Return values as people write them: whole numbers without a point, dates as ISO 8601; nothing for NaN and empty strings."""
    if dtype.is_nested() or dtype == pl.Object:
        msg = f"{where} holds values of the kind {dtype}; expected strings, numbers or dates."
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
        return time.str.replace(r"T00:00:00$", "")  # a day alone
    if isinstance(dtype, pl.Duration):
        return value.dt.to_string("iso")
    text = value.cast(pl.String)
    return pl.when(text != "").then(text)
