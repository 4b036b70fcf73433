"""Document metadata: ids, labels, texts and further fields, as a frame."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from semascope.corpus.text.multilingual import of_column
from semascope.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALWAYS = ("id", "text", "labels")
"""Columns that are kept even if they are empty."""


def describe_documents(
    n_documents: int, ids: Sequence[str] | None, labels: Sequence[Any] | None, texts: list[str] | None
) -> dict[str, Any]:
    """Validate ids and labels; return the columns, of which a frame is built on demand."""
    ids, labels = of_column(ids), of_column(labels)
    for name, values in (("ids", ids), ("labels", labels)):
        if values is not None and len(values) != n_documents:
            msg = f"there are {n_documents:,} documents, but {len(values):,} {name}."
            raise InputError(msg)
    if n_documents == 0:
        msg = "there are no documents."
        raise InputError(msg)
    columns: dict[str, Any] = {"id": [None] * n_documents if ids is None else check_unique([str(i) for i in ids])}
    if texts is not None:
        columns["text"] = texts
    columns["labels"] = (
        [None] * n_documents if labels is None else [labels_of(given, place) for place, given in enumerate(labels)]
    )
    return columns


def labels_of(given: Any, place: int) -> list[str]:
    """Return the labels of document `place`: a list of labels, or a single one."""
    if given is None:
        return []
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return [_label_name(label, place) for label in (given if several else [given])]


def _label_name(label: Any, place: int) -> str:
    if isinstance(label, str):
        return label
    if isinstance(label, numbers.Real) and float(label).is_integer():
        return str(int(float(label)))
    msg = f"labels must be strings or whole numbers, but one of document {place} is {label!r}."
    raise InputError(msg)


def default_ids(documents: pl.DataFrame, first: int = 0) -> pl.DataFrame:
    """Assign ids to the documents without one: their numbers, from `first` on."""
    number = (pl.int_range(pl.len()) + first).cast(pl.String)
    return documents.with_columns(
        id=pl.col("id").fill_null(number) if "id" in documents.columns else number,
        labels=(pl.col("labels") if "labels" in documents.columns else pl.lit(None, pl.List(pl.String))).fill_null([]),
    )


def check_unique(ids: Any) -> Any:
    """Return the ids; raise InputError if two are equal."""
    series = pl.Series("id", ids, dtype=pl.String)
    if series.n_unique() < len(series):
        twice = series.filter(series.is_duplicated())[0]
        places = (series == twice).arg_true()
        msg = f"the id {twice!r} appears twice, at documents {places[0] + 1:,} and {places[1] + 1:,}: ids must be unique."
        raise InputError(msg)
    return ids


def without_empty_columns(documents: pl.DataFrame) -> pl.DataFrame:
    """Remove fields that no document has."""
    return documents.select(s for s in documents if s.name in ALWAYS or s.null_count() < len(s))


def numbers_of(keep: pl.Expr, documents: pl.DataFrame) -> NDArray[np.intp]:
    """Return the numbers of the documents for which an expression is true."""
    return np.flatnonzero(documents.select(keep.fill_null(value=False)).to_series().to_numpy())


def numbers_in(keep: Sequence[int] | NDArray[Any], n_documents: int) -> NDArray[Any]:
    """Return the numbers of the documents selected by numbers or by a boolean mask."""
    chosen = np.asarray(keep)
    if chosen.dtype != bool:
        if chosen.size and chosen.dtype.kind not in "iu":
            msg = f"filter takes integers or booleans, not {chosen.dtype}."
            raise InputError(msg)
        outside = chosen[(chosen < -n_documents) | (chosen >= n_documents)] if chosen.size else chosen
        if outside.size:
            msg = f"there is no document {outside[0]}: the corpus has {n_documents:,}, numbered from 0."
            raise InputError(msg)
        return chosen
    if len(chosen) != n_documents:
        msg = f"filter got {len(chosen):,} booleans for {n_documents:,} documents."
        raise InputError(msg)
    return np.flatnonzero(chosen)


def divide_documents(n_documents: int, test: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Split document numbers at random into a training and a test set."""
    order = np.random.default_rng(seed).permutation(n_documents)
    n_test = round(test * n_documents)
    return np.sort(order[n_test:]), np.sort(order[:n_test])
