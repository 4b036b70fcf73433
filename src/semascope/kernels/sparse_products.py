"""Products of a sparse matrix with a block of vectors, and of its transpose with the result: one pass of a block method.

As in plsa.py, a pass visits a shard by document and then by word, so that large tables are read once and in order.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import inlined, kernel
from semascope.kernels.prefetch import prefetch, prefetch_columns
from semascope.kernels.simd import WIDTH, add_rounded, load, load_six, load_three, spread, spread_six, spread_three, store

WIDE, HALF = 6 * WIDTH, 3 * WIDTH
"""Columns that are summed at once, in registers."""

AHEAD = 16
"""Prefetch distance in entries."""

NEXT = 4
"""Prefetch distance in words."""


@inlined
def sum_six(numbers, values, first, last, table, column):
    """Sum rows of a table, each times its value: six groups of lanes from a column on."""
    total = spread_six(table.dtype.type(0))
    for j in range(first, last):
        prefetch_columns(table, numbers[min(j + AHEAD, len(numbers) - 1)], column, column + WIDE)
        total += spread(values[j]) * load_six(table, numbers[j], column)
    return total


@inlined
def sum_three(numbers, values, first, last, table, column):
    """Sum like `sum_six`, three groups."""
    total = spread_three(table.dtype.type(0))
    for j in range(first, last):
        total += spread(values[j]) * load_three(table, numbers[j], column)
    return total


@inlined
def sum_one(numbers, values, first, last, table, column):
    """Sum like `sum_six`, one group."""
    total = spread(table.dtype.type(0))
    for j in range(first, last):
        total += spread(values[j]) * load(table, numbers[j], column)
    return total


@inlined
def sum_column(numbers, values, first, last, table, column):
    """Sum like `sum_six`, one column."""
    total = table.dtype.type(0)
    for j in range(first, last):
        total += values[j] * table[numbers[j], column]
    return total


@kernel
def project_documents(ends, words, values, basis, rows):
    """Run the pass by document: A X.

    Same numbers as ``A @ X``. The last columns are summed together with some before them, which yields the same numbers again.

    ends, words, values          in   entries by document, with the values of the matrix
    basis      float[v, b]       in   X
    rows       float[d, b]       out  A X
    """
    width = basis.shape[1]
    for document in range(len(ends) - 1):
        first, last, column = ends[document], ends[document + 1], 0
        while column + WIDE <= width:
            store(rows, document, column, sum_six(words, values, first, last, basis, column))
            column += WIDE
        while column + HALF <= width:
            store(rows, document, column, sum_three(words, values, first, last, basis, column))
            column += HALF
        while column < width and width >= WIDTH:
            column = min(column, width - WIDTH)
            store(rows, document, column, sum_one(words, values, first, last, basis, column))
            column += WIDTH
        while column < width:
            rows[document, column] = sum_column(words, values, first, last, basis, column)
            column += 1


@kernel
def project_words(distinct, ends, documents, values, rows, totals, scale, first_word, last_word):
    """Run the pass by word: Aᵀ (A X), added to exact totals.

    Same numbers as ``A.T @ rows``, times `scale` and rounded.

    distinct, ends, documents  in       entries by word
    values                     in       values of the matrix, by word too
    rows       float[d, b]     in       A X
    totals     int64[v, b]     in, out  sums times `scale`, rounded; at most 2^51
    first_word, last_word      in       range of distinct words to add
    """
    width = rows.shape[1]
    for number in range(first_word, last_word):
        word, first, last, column = distinct[number], ends[number], ends[number + 1], 0
        for k in range(0, width, WIDTH):
            prefetch(totals, distinct[min(number + NEXT, last_word - 1)], k)
        while column + WIDE <= width:
            add_rounded(totals, word, column, sum_six(documents, values, first, last, rows, column), scale)
            column += WIDE
        while column + HALF <= width:
            add_rounded(totals, word, column, sum_three(documents, values, first, last, rows, column), scale)
            column += HALF
        while column + WIDTH <= width:
            add_rounded(totals, word, column, sum_one(documents, values, first, last, rows, column), scale)
            column += WIDTH
        while column < width:
            total = np.float64(sum_column(documents, values, first, last, rows, column))
            totals[word, column] += np.int64(np.rint(total * scale))
            column += 1


@kernel
def entries_of_product(ends, words, rows, basis, entries):
    """Compute the product of two thin tables, only at the nonzero positions of a sparse matrix.

    Same numbers as ``(rows @ basis.T)[documents, words]``.

    ends, words                  in   entries by document
    rows       float[d, r]       in   a row for each document
    basis      float[v, r]       in   a row for each word
    entries    float[n]          out
    """
    for d in range(len(ends) - 1):
        row = rows[d]
        for j in range(ends[d], ends[d + 1]):
            of_word = basis[words[j]]
            total = rows.dtype.type(0)
            for i in range(len(row)):
                total += row[i] * of_word[i]
            entries[j] = total


@kernel
def squares_of_columns(rows, weights):
    """Compute the weighted sum of squares of each column.

    Same numbers as ``weights @ rows**2``.

    rows       float[d, r]       in
    weights    float64[d]        in
    """
    sums = np.zeros(rows.shape[1])
    for d in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            sums[i] += weights[d] * np.float64(rows[d, i]) * np.float64(rows[d, i])
    return sums
