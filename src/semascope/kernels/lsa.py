"""A sparse matrix times a block of vectors, and its transpose times what came out: one pass of a block method.

As in em.py a pass goes over a shard by document and then by word, so that large tables are touched once and in order.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.compile import inlined, kernel


@inlined
def add_rows(numbers, values, table, sums):
    """Add to `sums` rows of a table, each times its value; four at a time, so that sums are loaded less often."""
    n, j = len(numbers), 0
    while j + 4 <= n:
        a, b, c, d = numbers[j], numbers[j + 1], numbers[j + 2], numbers[j + 3]
        of_a, of_b, of_c, of_d = values[j], values[j + 1], values[j + 2], values[j + 3]
        for i in range(len(sums)):
            sums[i] += (of_a * table[a, i] + of_b * table[b, i]) + (of_c * table[c, i] + of_d * table[d, i])
        j += 4
    while j < n:
        a, of_a = numbers[j], values[j]
        for i in range(len(sums)):
            sums[i] += of_a * table[a, i]
        j += 1


@kernel
def project_documents(ends, words, values, basis, rows):
    """The pass by document: A X.

    Same numbers as ``A @ X``.

    ends, words, values          in   entries by document, with what the matrix has there
    basis      float[v, b]       in   X
    rows       float[d, b]       out  A X
    """
    for d in range(len(ends) - 1):
        first, last, sums = ends[d], ends[d + 1], rows[d]
        for i in range(len(sums)):
            sums[i] = 0
        add_rows(words[first:last], values[first:last], basis, sums)


TO_INTEGER = 1.5 * 2.0**52
"""Added to a number of at most 2^51, it leaves the nearest integer in the last bits; processors convert so much sooner."""

BITS_OF_IT = int(np.array([TO_INTEGER]).view(np.int64)[0])


@kernel
def project_words(distinct, ends, documents, places, values, rows, totals, scale, first, last):
    """The pass by word: Aᵀ (A X), added to exact totals.

    distinct … places          in       entries by word, as `by_word` gives them
    values                     in       what the matrix has, by document
    rows       float[d, b]     in       A X
    totals     int64[v, b]     in, out  sums times `scale`, rounded; at most 2^51
    first, last                in       the distinct words to add
    """
    sums = np.empty(rows.shape[1], rows.dtype)
    scaled = np.empty(rows.shape[1], np.float64)
    bits = scaled.view(np.int64)
    of_word = np.empty(rows.shape[0], rows.dtype)
    for number in range(first, last):
        start, stop = ends[number], ends[number + 1]
        for j in range(start, stop):
            of_word[j - start] = values[places[j]]
        for i in range(len(sums)):
            sums[i] = 0
        add_rows(documents[start:stop], of_word[: stop - start], rows, sums)
        total = totals[distinct[number]]
        for i in range(len(sums)):
            scaled[i] = np.float64(sums[i]) * scale + TO_INTEGER
        for i in range(len(sums)):
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
