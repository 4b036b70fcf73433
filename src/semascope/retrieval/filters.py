"""Filters of documents by label, language, date or any other field."""

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
"""Mapping of field to a value, a list of values or a pair of limits (either may be None); or a polars expression."""

LABEL, LANGUAGE = "label", "language"
"""Special fields: any of the labels, and the languages of the texts."""


def filter_mask(documents: pl.DataFrame, where: Where, has_language: Callable[[str], NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Return a mask of the documents that match a filter.

    Examples
    --------
    >>> from semascope import Corpus
    >>> corpus = Corpus.from_texts(["a cat", "a dog"], labels=[["pets", "cats"], "pets"])
    >>> filter_mask(corpus.documents, {"label": "cats"}, corpus.has_language).tolist()
    [True, False]
    """
    if isinstance(where, pl.Expr):
        return _evaluate(documents, where)
    if not isinstance(where, Mapping):
        msg = f"a filter must be a mapping of field to value or a polars expression, but was {type(where).__name__}."
        raise InputError(msg)
    mask = np.ones(len(documents), dtype=bool)
    for field, value in where.items():
        if field == LANGUAGE:
            mask &= np.any([has_language(one) for one in _as_list(value)], axis=0)
        else:
            mask &= _evaluate(documents, _condition(documents, field, value))
    return mask


def _condition(documents: pl.DataFrame, field: str, value: Any) -> pl.Expr:
    """Return the condition that a field matches a value, a list of values or limits."""
    name = "labels" if field == LABEL else field
    if name not in documents.columns:
        msg = f"no field {field!r} to filter by; the fields are {', '.join((LABEL, LANGUAGE, *documents.columns))}."
        raise InputError(msg)
    column, kind = pl.col(name), documents.schema[name]
    if isinstance(value, tuple):
        _check_limits(documents[name], field, value)
        return _between(column, kind, *value)
    if isinstance(kind, pl.List):
        texts = column.cast(pl.List(pl.String))
        conditions = [texts.list.contains(str(one)) for one in _as_list(value)]
    else:
        conditions = [_equal(column, kind, one) for one in _as_list(value)]
    return pl.any_horizontal(pl.col("id").is_null(), *conditions)  # never null


def _check_limits(column: pl.Series, field: str, limits: tuple[Any, ...]) -> None:
    """Check that the field has an order, and that its dates begin with the year."""
    problem, first = None, str(column.drop_nulls().first()) if column.dtype == pl.String else ""
    if isinstance(column.dtype, pl.List):
        problem = f"{field!r} holds several values, which have no order: use a value or a list of values"
    elif len(limits) != 2:
        problem = f"limits must be a pair, of which either may be None, but {field!r} has {len(limits)}"
    elif any(re.match(r"\d{4}", str(limit)) for limit in limits) and re.match(r"\d{1,2}\D|\D", first):
        problem = (
            f"{field!r} holds, for example, {first!r}, which cannot be compared with {limits}: dates must begin with the year"
        )
    if problem:
        msg = f"{problem}."
        raise InputError(msg)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | set | frozenset) else [value]


def _equal(column: pl.Expr, kind: pl.DataType, value: Any) -> pl.Expr:
    """Return the condition of equality, or of being null for None. Numbers and dates may be given as text."""
    if value is None:
        return column.is_null()
    if kind.is_numeric():
        return column == _number(value)
    if kind.is_temporal() and not isinstance(value, str):
        return column.eq(value)
    text = str(value).lower() if kind == pl.Boolean else str(value)
    return column.cast(pl.String) == text


def _between(column: pl.Expr, kind: pl.DataType, low: Any, high: Any) -> pl.Expr:
    """Return the condition of lying within limits. Text and dates compare by character, so 2001 precedes 2001-05."""
    as_text = not kind.is_numeric()
    column = column.cast(pl.String) if as_text else column
    condition = column.is_not_null()
    if low is not None:
        condition &= column >= (str(low) if as_text else _number(low))
    if high is not None:
        # "up to 2001" includes all of its days
        condition &= (column <= str(high) + "\U0010ffff") if as_text else (column <= _number(high))
    return condition


def _number(value: Any) -> float:
    try:
        return int(value) if is_whole(value) else float(value)
    except (TypeError, ValueError):
        msg = f"the field holds numbers and cannot be compared with {value!r}."
        raise InputError(msg) from None


def _evaluate(documents: pl.DataFrame, condition: pl.Expr) -> NDArray[np.bool_]:
    try:
        column = documents.select(condition.fill_null(value=False)).to_series()
    except pl.exceptions.PolarsError as error:
        msg = f"the filter does not fit the documents: {str(error).splitlines()[0]}."
        raise InputError(msg) from None
    if column.dtype != pl.Boolean or len(column) != len(documents):
        msg = "a filter must be true or false for each document."
        raise InputError(msg)
    return column.to_numpy()
