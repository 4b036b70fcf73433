"""Texts by language, in lists and in frame columns.

A text is a string, or a mapping of language to text. In a frame, the column ``text`` holds strings for a single language, and
structs with one field per language for several; missing texts are null.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from semascope.corpus.lexicon import NAMELESS
from semascope.errors import InputError


class Texts(NamedTuple):
    """Texts of documents in one language.

    texts        one per document, "" if it has none in this language
    n_documents  number of documents that have one
    """

    texts: Sequence[str] | pl.Series
    n_documents: int


ByLanguage = dict[str, Texts]


def of_column(texts: Any) -> Any:
    """Convert a pandas column or an Arrow array to a list; return anything else unchanged."""
    package = type(texts).__module__.split(".")[0]
    if package == "pandas" and getattr(texts, "ndim", 0) == 1:
        return texts.tolist()
    return texts.to_pylist() if package == "pyarrow" and hasattr(texts, "type") else texts


def in_list(texts: list[Any], language: str | None, wanted: Collection[str] | None = None) -> ByLanguage:
    """Return the texts of a list by language, only those in `wanted`; plain texts are in `language`."""
    if not texts or not isinstance(texts[0], Mapping):
        return {language or NAMELESS[0]: Texts(texts, len(texts))}
    _check_languages_distinct(language)
    found: dict[str, list[Any]] = {}
    for number, text in enumerate(texts):
        if not isinstance(text, Mapping):
            msg = f"text {number} is not a mapping of language to text as the others are, but {type(text).__name__}."
            raise InputError(msg)
        for code, value in text.items():
            if not isinstance(code, str) or not code:
                msg = f"text {number}: a language must be a non-empty string, but is {code!r}."
                raise InputError(msg)
            if value not in (None, "") and (wanted is None or code in wanted):
                found.setdefault(code, [""] * len(texts))[number] = value
    return {code: Texts(values, sum(value != "" for value in values)) for code, values in found.items()}


def in_column(column: pl.Series, language: str | None, wanted: Collection[str] | None = None) -> ByLanguage:
    """Return the texts of a column by language, only those in `wanted`; plain texts are in `language`."""
    if not isinstance(column.dtype, pl.Struct):
        return {language or NAMELESS[0]: Texts(column.fill_null(""), len(column))}
    _check_languages_distinct(language)
    parts = (column.struct.field(field.name) for field in column.dtype.fields if wanted is None or field.name in wanted)
    return {part.name: Texts(filled, int((filled != "").sum())) for part in parts for filled in [part.fill_null("")]}


def _check_languages_distinct(language: str | None) -> None:
    if language is not None:
        msg = f"the texts name their own languages; leave out language={language!r}."
        raise InputError(msg)


def as_list(by_language: ByLanguage) -> list[Any]:
    """Return texts by language as a list, the input of `in_list`."""
    if len(by_language) == 1:
        return list(next(iter(by_language.values())).texts)
    rows = zip(*(part.texts for part in by_language.values()), strict=True)
    return [{code: text or None for code, text in zip(by_language, row, strict=True)} for row in rows]


def as_column(by_language: ByLanguage) -> pl.Series:
    """Return texts by language as a column."""
    columns = [pl.Series(code, part.texts, dtype=pl.String) for code, part in by_language.items()]
    if len(columns) == 1:
        return columns[0].rename("text")
    return pl.DataFrame([column.set(column == "", None) for column in columns]).to_struct("text")


def column_type(languages: Sequence[str]) -> pl.DataType | type[pl.DataType]:
    """Return the type of the column of texts."""
    return pl.String if len(languages) == 1 else pl.Struct(dict.fromkeys(languages, pl.String))


def in_languages(column: pl.Series, mine: tuple[str, ...], theirs: tuple[str, ...]) -> pl.Series:
    """Convert a column of texts from the languages `mine` to the languages `theirs`."""
    if len(mine) == len(theirs) == 1 or mine == theirs:
        return column
    found = in_column(column, mine[0] if len(mine) == 1 else None)
    return as_column({code: found.get(code, Texts([""] * len(column), 0)) for code in theirs})
