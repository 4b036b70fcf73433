"""Order-independent sums: expected counts as integers."""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import kernel


@kernel
def add_scaled(totals, rows, values, scale, first, last):
    """Add values times a power of two, rounded up to integers, to rows of the totals.

    Rounded up because EM can never recover from a value rounded to zero.

    Same numbers as tests/reference/exact_sums.py::add_scaled.

    totals   int64[n, k]   in, out
    rows     int32[u]      in       target row of each row of values
    values   float[u, k]   in       not negative, at most 2^61 / scale
    first, last            in       range of rows to add
    """
    for i in range(first, last):
        row = rows[i]
        for k in range(values.shape[1]):
            totals[row, k] += np.int64(np.ceil(np.float64(values[i, k]) * scale))


@kernel
def column_totals(totals):
    """Compute the sum of each column."""
    sums = np.zeros(totals.shape[1], np.int64)
    for i in range(totals.shape[0]):
        for k in range(totals.shape[1]):
            sums[k] += totals[i, k]
    return sums


@kernel
def divide_columns(totals, divisors, out):
    """Divide each column by its divisor, as floats."""
    for i in range(totals.shape[0]):
        for k in range(totals.shape[1]):
            out[i, k] = totals[i, k] * divisors[k]
