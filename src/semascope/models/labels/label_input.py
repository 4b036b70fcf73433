"""Label input: lists, one label per document, or an indicator matrix."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
import scipy.sparse as sp

from semascope.corpus.fields import labels_of
from semascope.corpus.text.multilingual import of_column
from semascope.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

LISTS, ONE, ONE_NUMBER, INDICATOR = "lists", "one", "one number", "indicator"
"""Forms of labels: lists, one per document, one integer per document, indicator columns."""


class GivenLabels(NamedTuple):
    """Labels of documents.

    lists    labels of each document
    form     form of the input, and of predictions
    columns  column names of an indicator matrix, including unused ones
    """

    lists: pl.Series
    form: str
    columns: tuple[str, ...] = ()


def read_labels(y: Any, n_documents: int) -> GivenLabels:
    """Validate and parse labels in any form.

    Examples
    --------
    >>> read_labels([["a", "b"], "a", None], 3).lists.to_list()
    [['a', 'b'], ['a'], []]
    >>> read_labels(np.array([[0, 1], [1, 1]]), 2).lists.to_list()
    [['1'], ['0', '1']]
    """
    if isinstance(y, str):
        msg = "expected the labels of several documents, but was a string; put the labels of a single document into a list."
        raise InputError(msg)
    y = of_column(y)
    if _is_table(y):
        found = _of_indicators(y)
    else:
        is_array = hasattr(y, "__array__") and not isinstance(y, pl.Series)
        listed = np.asarray(y).tolist() if is_array else list(y)
        lists = [[name for name in labels_of(given, place) if name] for place, given in enumerate(listed)]
        found = GivenLabels(_as_series(lists), _form_of(listed))
    if len(found.lists) != n_documents:
        msg = f"there are {n_documents:,} documents, but labels of {len(found.lists):,}."
        raise InputError(msg)
    return found


def to_given_form(lists: Sequence[Sequence[str]], form: str, columns: Sequence[str]) -> Any:
    """Convert lists of labels to the form of the input; with one label per document, the first."""
    if form == LISTS:
        return [list(labels) for labels in lists]
    if form == INDICATOR:
        numbers_of = {name: number for number, name in enumerate(columns)}
        table = np.zeros((len(lists), len(columns)), np.int64)
        for row, labels in enumerate(lists):
            table[row, [numbers_of[label] for label in labels]] = 1
        return table
    first = [labels[0] for labels in lists]
    return np.array([int(label) for label in first] if form == ONE_NUMBER else first)


def is_whole_number(label: str) -> bool:
    """Return whether a label name is an integer."""
    try:
        int(label)
    except ValueError:
        return False
    return True


def _as_series(lists: list[list[str]]) -> pl.Series:
    """Build a list series by way of Arrow: polars itself would create a series for each list."""
    import pyarrow as pa  # slow to import

    return pl.Series("labels", pa.array(lists, pa.list_(pa.large_string())), dtype=pl.List(pl.String))


def _is_table(y: Any) -> bool:
    """Return whether labels are a matrix or frame rather than a sequence."""
    return sp.issparse(y) or isinstance(y, pl.DataFrame) or (len(getattr(y, "shape", ())) == 2)


def _of_indicators(y: Any) -> GivenLabels:
    names = getattr(y, "columns", None)
    matrix = sp.csr_array(y) if sp.issparse(y) else sp.csr_array(_numbers(y))
    matrix.sum_duplicates()
    wrong = np.flatnonzero((matrix.data != 0) & (matrix.data != 1))
    if len(wrong):
        row = int(np.searchsorted(matrix.indptr, wrong[0], side="right")) - 1
        what = f"row {row}, column {matrix.indices[wrong[0]]} is {matrix.data[wrong[0]]}"
        msg = f"an indicator matrix of labels must contain only zeros and ones, but {what}."
        raise InputError(msg)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    columns = tuple(str(name) for name in (range(matrix.shape[1]) if names is None else names))
    of_entries = np.array(columns, dtype=object)[matrix.indices].tolist()
    lists = [of_entries[first:last] for first, last in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)]
    return GivenLabels(_as_series(lists), INDICATOR, columns)


def _numbers(y: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y, dtype=np.float64)
    except (TypeError, ValueError):
        msg = "an indicator matrix of labels must contain only zeros and ones, but has other values."
        raise InputError(msg) from None


def _form_of(listed: list[Any]) -> str:
    """Return the form of labels; without any labels, the most general one."""
    there = [given for given in listed if given is not None]
    if not there or any(isinstance(given, Iterable) and not isinstance(given, str) for given in there):
        return LISTS
    return ONE_NUMBER if all(isinstance(given, numbers.Real) for given in there) else ONE
