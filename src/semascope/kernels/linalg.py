"""Small and tall matrices: unlike the usual libraries, these kernels release the GIL."""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import inlined, kernel
from semascope.kernels.simd import WIDTH, load_three, spread, store


@kernel
def eigenvalues(matrix):
    """Compute the eigenvalues of a symmetric matrix, ascending.

    Same numbers as ``np.linalg.eigvalsh``.

    matrix  float[n, n]  in
    """
    return np.linalg.eigvalsh(matrix)


WIDE = 3 * WIDTH
"""Columns of three rows processed at once: as many as fit the registers of most processors."""


@kernel
def subtract_product(table, other, small):
    """Subtract the product of another table and a small matrix.

    Same numbers as ``table -= other @ small``.

    table  float[n, b]   in, out
    other  float[n, a]   in
    small  float[a, b]   in
    """
    n_rows, width = table.shape
    in_threes, wide = n_rows - n_rows % 3, width - width % WIDE
    for row in range(0, in_threes, 3):
        for column in range(0, wide, WIDE):
            a, b, c = load_three(table, row, column), load_three(table, row + 1, column), load_three(table, row + 2, column)
            for k in range(other.shape[1]):
                factors = load_three(small, k, column)
                a -= spread(other[row, k]) * factors
                b -= spread(other[row + 1, k]) * factors
                c -= spread(other[row + 2, k]) * factors
            store(table, row, column, a)
            store(table, row + 1, column, b)
            store(table, row + 2, column, c)
        for i in range(row, row + 3):
            subtract_from_row(table, i, wide, other, small)
    for i in range(in_threes, n_rows):
        subtract_from_row(table, i, 0, other, small)


@inlined
def subtract_from_row(table, row, first, other, small):
    """Subtract the product from one row, from a column on."""
    for k in range(other.shape[1]):
        for column in range(first, table.shape[1]):
            table[row, column] -= other[row, k] * small[k, column]
