"""Which documents are wanted: by label, language, date or any other field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from semascope.errors import InputError
from semascope.models.validation import is_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

Where = Mapping[str, Any] | pl.Expr
"""Of each field the value that is wanted, a list of values, or a pair of limits (either may be None); or an expression."""

LABEL, LANGUAGE = "label", "language"
"""Names that stand for more than a field: one of the labels, and having a text in a language."""


def filter_mask(documents: pl.DataFrame, where: Where, has_language: Callable[[str], NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Tell which documents are wanted.

    Examples
    --------
    >>> from semascope import Corpus
    >>> corpus = Corpus.from_texts(["a cat", "a dog"], labels=[["pets", "cats"], "pets"])
    >>> wanted(corpus.documents, {"label": "cats"}, corpus.has_language).tolist()
    [True, False]
    """
    if isinstance(where, pl.Expr):
        return _selected(documents, where)
    if not isinstance(where, Mapping):
        msg = f"a filter must be a mapping of field to value or a polars expression, but was {type(where).__name__}."
        raise InputError(msg)
    chosen = np.ones(len(documents), dtype=bool)
    for field, value in where.items():
        if field == LANGUAGE:
            chosen &= np.any([has_language(one) for one in _listed(value)], axis=0)
        else:
            chosen &= _selected(documents, _condition(documents, field, value))
    return chosen


def _condition(documents: pl.DataFrame, field: str, value: Any) -> pl.Expr:
    """What is true of documents whose field is as wanted."""
    name = "labels" if field == LABEL else field
    if name not in documents.columns:
        msg = f"there is no field {field!r} to filter by; there are {', '.join((LABEL, LANGUAGE, *documents.columns))}."
        raise InputError(msg)
    column, kind = pl.col(name), documents.schema[name]
    if isinstance(value, tuple):
        _check_limits(documents[name], field, value)
        return _within(column, kind, *value)
    if isinstance(kind, pl.List):
        texts = column.cast(pl.List(pl.String))
        conditions = [texts.list.contains(str(one)) for one in _listed(value)]
    else:
        conditions = [_equal(column, kind, one) for one in _listed(value)]
    return pl.any_horizontal(pl.col("id").is_null(), *conditions)  # which none is


def _check_limits(column: pl.Series, field: str, limits: tuple[Any, ...]) -> None:
    """Refuse limits of what has no order, and of dates that begin with the day."""
    problem, first = None, str(column.drop_nulls().first()) if column.dtype == pl.String else ""
    if isinstance(column.dtype, pl.List):
        problem = f"{field!r} holds several values, which have no limits: give a value, or a list of them"
    elif len(limits) != 2:
        problem = f"limits are a pair, of which either may be None, but for {field!r} there were {len(limits)}"
    elif any(re.match(r"\d{4}", str(limit)) for limit in limits) and re.match(r"\d{1,2}\D|\D", first):
        problem = (
            f"{field!r} holds {first!r} for example, which is not to be compared with {limits}: dates must begin with the year"
        )
    if problem:
        msg = f"{problem}."
        raise InputError(msg)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | set | frozenset) else [value]


def _equal(column: pl.Expr, kind: pl.DataType, value: Any) -> pl.Expr:
    """Having a value, which for None is having none; numbers and dates may be given as texts."""
    if value is None:
        return column.is_null()
    if kind.is_numeric():
        return column == _number(value)
    if kind.is_temporal() and not isinstance(value, str):
        return column.eq(value)
    text = str(value).lower() if kind == pl.Boolean else str(value)
    return column.cast(pl.String) == text


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
        return int(value) if is_whole(value) else float(value)
    except (TypeError, ValueError):
        msg = f"the field holds numbers, so it cannot be compared with {value!r}."
        raise InputError(msg) from None


def _selected(documents: pl.DataFrame, condition: pl.Expr) -> NDArray[np.bool_]:
    try:
        column = documents.select(condition.fill_null(value=False)).to_series()
    except pl.exceptions.PolarsError as error:
        msg = f"the filter does not fit the documents: {str(error).splitlines()[0]}."
        raise InputError(msg) from None
    if column.dtype != pl.Boolean or len(column) != len(documents):
        msg = "a filter must be true or false of each document."
        raise InputError(msg)
    return column.to_numpy()
