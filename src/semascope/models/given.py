"""What estimators are given, told apart."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from sklearn.utils import check_random_state

from semascope.errors import InputError


def is_texts(X: Any) -> bool:
    """Tell a sequence of strings, or of mappings of language to text, from a matrix."""
    if isinstance(X, str):
        msg = "expected several texts; put the one text into a list."
        raise InputError(msg)
    if isinstance(X, pl.Series):
        return X.dtype == pl.String or isinstance(X.dtype, pl.Struct)
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], str | Mapping)
    return isinstance(X, np.ndarray) and X.ndim == 1 and len(X) > 0 and isinstance(X[0], str)


def seed_of(random_state: Any) -> int:
    """The number that a fit starts its random numbers from; drawn where a generator is given."""
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def is_whole(value: Any) -> bool:
    """Tell a whole number; True and False are none."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
