"""A sparse matrix times a block of vectors, and its transpose times what came out: one pass of a block method.

As in em.py a pass goes over a shard by document and then by word, so that large tables are touched once and in order.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.compile import inlined, kernel
from semascope.kernels.lanes import WIDTH, load, spread, store

WIDE, HALF = 6 * WIDTH, 3 * WIDTH
"""Columns that are summed at once, in registers of the processor."""


@inlined
def sum_rows(numbers, values, first, last, table, sums, row):
    """A row of `sums`: rows of a table, each times its value, by as many columns as registers hold.

    The last columns go with some before them, which are summed again to the same numbers.
    """
    width, zero, column = table.shape[1], spread(table.dtype.type(0)), 0
    if width >= WIDE:
        while column < width:
            column = min(column, width - WIDE)
            a, b, c, d, e, f = zero, zero, zero, zero, zero, zero
            for j in range(first, last):
                number, value = numbers[j], spread(values[j])
                a += value * load(table, number, column)
                b += value * load(table, number, column + WIDTH)
                c += value * load(table, number, column + 2 * WIDTH)
                d += value * load(table, number, column + 3 * WIDTH)
                e += value * load(table, number, column + 4 * WIDTH)
                f += value * load(table, number, column + 5 * WIDTH)
            store(sums, row, column, a)
            store(sums, row, column + WIDTH, b)
            store(sums, row, column + 2 * WIDTH, c)
            store(sums, row, column + 3 * WIDTH, d)
            store(sums, row, column + 4 * WIDTH, e)
            store(sums, row, column + 5 * WIDTH, f)
            column += WIDE
    elif width >= HALF:
        while column < width:
            column = min(column, width - HALF)
            a, b, c = zero, zero, zero
            for j in range(first, last):
                number, value = numbers[j], spread(values[j])
                a += value * load(table, number, column)
                b += value * load(table, number, column + WIDTH)
                c += value * load(table, number, column + 2 * WIDTH)
            store(sums, row, column, a)
            store(sums, row, column + WIDTH, b)
            store(sums, row, column + 2 * WIDTH, c)
            column += HALF
    elif width >= WIDTH:
        while column < width:
            column = min(column, width - WIDTH)
            a = zero
            for j in range(first, last):
                a += spread(values[j]) * load(table, numbers[j], column)
            store(sums, row, column, a)
            column += WIDTH
    else:
        for column in range(width):
            total = table.dtype.type(0)
            for j in range(first, last):
                total += values[j] * table[numbers[j], column]
            sums[row, column] = total


@kernel
def project_documents(ends, words, values, basis, rows):
    """The pass by document: A X.

    Same numbers as ``A @ X``.

    ends, words, values          in   entries by document, with what the matrix has there
    basis      float[v, b]       in   X
    rows       float[d, b]       out  A X
    """
    for d in range(len(ends) - 1):
        sum_rows(words, values, ends[d], ends[d + 1], basis, rows, d)


TO_INTEGER = 1.5 * 2.0**52
"""Added to a number of at most 2^51, it leaves the nearest integer in the last bits; processors convert so much sooner."""

BITS_OF_IT = int(np.array([TO_INTEGER]).view(np.int64)[0])


@kernel
def project_words(distinct, ends, documents, values, rows, totals, scale, first, last):
    """The pass by word: Aᵀ (A X), added to exact totals.

    distinct, ends, documents  in       entries by word
    values                     in       what the matrix has there, by word too
    rows       float[d, b]     in       A X
    totals     int64[v, b]     in, out  sums times `scale`, rounded; at most 2^51
    first, last                in       the distinct words to add
    """
    sums = np.empty((1, rows.shape[1]), rows.dtype)
    scaled = np.empty(rows.shape[1], np.float64)
    bits = scaled.view(np.int64)
    for number in range(first, last):
        sum_rows(documents, values, ends[number], ends[number + 1], rows, sums, 0)
        total = totals[distinct[number]]
        for i in range(len(scaled)):
            scaled[i] = np.float64(sums[0, i]) * scale + TO_INTEGER
        for i in range(len(scaled)):
            total[i] += bits[i] - BITS_OF_IT


@kernel
def entries_of_product(ends, words, rows, basis, entries):
    """Entries of a product of two thin tables, only where a sparse matrix has any.

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
    """Sum of squares of each column, rows weighted.

    Same numbers as ``weights @ rows**2``.

    rows       float[d, r]       in
    weights    float64[d]        in
    """
    sums = np.zeros(rows.shape[1])
    for d in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            sums[i] += weights[d] * np.float64(rows[d, i]) * np.float64(rows[d, i])
    return sums
