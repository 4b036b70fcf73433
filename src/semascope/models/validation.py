"""Validation and conversion of the input of estimators."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from semascope.corpus.build.pipeline import in_memory
from semascope.corpus.readers.sklearn_bunch import is_bunch
from semascope.corpus.readers.tables import is_frame
from semascope.corpus.text.multilingual import of_column
from semascope.errors import InputError
from semascope.kernels.heldout import MAX_COUNT
from semascope.models.sklearn_imports import check_random_state

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FeatureNames = Sequence[str] | NDArray[Any]


def coerce_input(X: Any) -> Any:
    """Convert containers of other packages to texts, a source or a matrix."""
    return in_memory(X) if is_bunch(X) or _holds_texts(X) else of_column(X)


def _holds_texts(X: Any) -> bool:
    """Return whether a frame has a column of texts, and is not a frame of counts."""
    if isinstance(X, pl.DataFrame | pl.LazyFrame):
        kind = X.collect_schema().get("text")
        return kind == pl.String or isinstance(kind, pl.Struct)
    if not is_frame(X):
        return False
    if hasattr(X, "schema"):  # Arrow's
        return "text" in X.schema.names and str(X.schema.field("text").type).startswith(("string", "large_string", "struct"))
    return "text" in getattr(X, "columns", ()) and bool(X["text"].dtype.kind == "O")


def is_texts(X: Any) -> bool:
    """Return whether the input is a sequence of strings, or of mappings of language to text."""
    if isinstance(X, str):
        msg = "expected several texts; put the one text into a list."
        raise InputError(msg)
    if isinstance(X, pl.Series):
        return X.dtype == pl.String or isinstance(X.dtype, pl.Struct)
    if isinstance(X, list | tuple):
        if any(isinstance(one, list | tuple) and len(one) and isinstance(one[0], str) for one in X[:10]):
            msg = "expected texts or counts, found lists of words; convert them by Corpus.from_tokens first."
            raise InputError(msg)
        return len(X) > 0 and isinstance(X[0], str | Mapping)
    return isinstance(X, np.ndarray) and X.ndim == 1 and len(X) > 0 and isinstance(X[0], str)


def names_of_features(given: FeatureNames, n_words: int) -> NDArray[np.object_]:
    """Validate the names of the columns of a matrix."""
    if len(given) != n_words:
        msg = f"the model has {n_words:,} words, but there are {len(given):,} feature_names."
        raise InputError(msg)
    return np.asarray(given, dtype=object)


def seed_of(random_state: Any) -> int:
    """Return the seed of a fit, drawn from the generator if one is passed."""
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def is_whole(value: Any) -> bool:
    """Return whether a value is a 64-bit integer and not a bool."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and abs(int(value)) < 2**63


def is_number(value: Any) -> bool:
    """Return whether a value is a Python or NumPy number and not a bool."""
    return isinstance(value, float | int | np.floating | np.integer) and not isinstance(value, bool)


def is_splittable(counts: NDArray[Any]) -> bool:
    """Return whether counts are integers small enough to process token by token."""
    return bool(np.all((counts == np.floor(counts)) & (counts <= MAX_COUNT)))


def is_positive(value: Any) -> bool:
    """Return whether a value is a positive finite number."""
    try:
        return is_number(value) and 0 < float(value) < math.inf
    except OverflowError:  # an integer too large for a float
        return False


def is_share(value: Any) -> bool:
    """Return whether a value is a number above 0 and at most 1."""
    return is_positive(value) and bool(value <= 1)
