"""Which documents are wanted: by label, language, date or any other field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from semascope.corpus.corpus import Corpus
from semascope.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Where = Mapping[str, Any] | pl.Expr
"""Of each field the value that is wanted, a list of values, or a pair of limits (either may be None); or an expression."""

LABEL, LANGUAGE = "label", "language"
"""Names that stand for more than a field: one of the labels, and having a text in a language."""


def wanted(corpus: Corpus, where: Where | None) -> NDArray[np.bool_]:
    """Tell which documents are wanted.

    Examples
    --------
    >>> corpus = Corpus.from_texts(["a cat", "a dog"], labels=[["pets", "cats"], "pets"])
    >>> wanted(corpus, {"label": "cats"}).tolist()
    [True, False]
    """
    chosen = np.ones(corpus.n_documents, dtype=bool)
    if where is None:
        return chosen
    if isinstance(where, pl.Expr):
        return _selected(corpus.documents, where)
    for field, value in where.items():
        if field == LANGUAGE:
            chosen &= corpus.has_language(value)
        else:
            chosen &= _selected(corpus.documents, _condition(corpus.documents, field, value))
    return chosen


def _condition(documents: pl.DataFrame, field: str, value: Any) -> pl.Expr:
    """What is true of documents whose field is as wanted."""
    name = "labels" if field == LABEL else field
    if name not in documents.columns:
        msg = f"there is no field {field!r} to filter by; there are {', '.join((LABEL, LANGUAGE, *documents.columns))}."
        raise InputError(msg)
    column = pl.col(name)
    if isinstance(documents.schema[name], pl.List):
        values = value if isinstance(value, list) else [value]
        return pl.any_horizontal(column.list.contains(str(one)) for one in values)
    if isinstance(value, tuple):
        return _within(column, documents.schema[name], *value)
    values = value if isinstance(value, list) else [value]
    return column.cast(pl.String).is_in([str(one) for one in values])


def _within(column: pl.Expr, kind: pl.DataType, least: Any, most: Any) -> pl.Expr:
    """Between two limits; texts, dates among them, are compared letter by letter, so that 2001 is before 2001-05."""
    as_text = not kind.is_numeric()
    column = column.cast(pl.String) if as_text else column
    condition = column.is_not_null()
    if least is not None:
        condition &= column >= (str(least) if as_text else _number(least))
    if most is not None:
        # "up to 2001" takes in all of its days
        condition &= (column <= str(most) + "\U0010ffff") if as_text else (column <= _number(most))
    return condition


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        msg = f"the field holds numbers, so it cannot be compared with {value!r}."
        raise InputError(msg) from None


def _selected(documents: pl.DataFrame, condition: pl.Expr) -> NDArray[np.bool_]:
    try:
        column = documents.select(condition.fill_null(value=False)).to_series()
    except pl.exceptions.PolarsError as error:
        msg = f"the filter does not fit the documents: {error}."
        raise InputError(msg) from None
    if column.dtype != pl.Boolean or len(column) != len(documents):
        msg = "a filter must be true or false of each document."
        raise InputError(msg)
    return column.to_numpy()
