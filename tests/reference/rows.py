"""Rows of counts by SciPy."""

import numpy as np
import scipy.sparse as sp


def renumber(matrix, new_number, n_words):
    """Columns of a sparse matrix added up under their new numbers; -1 drops one."""
    kept = np.flatnonzero(new_number >= 0)
    move = sp.csr_array((np.ones(len(kept)), (kept, new_number[kept])), shape=(matrix.shape[1], n_words))
    result = sp.csr_array(matrix @ move)
    result.sort_indices()
    return result


def by_word(matrix):
    """Distinct columns, and for each the rows that have it, in order."""
    columns = sp.csc_array(matrix)
    distinct = [j for j in range(matrix.shape[1]) if columns.indptr[j] < columns.indptr[j + 1]]
    return distinct, [sorted(columns.indices[columns.indptr[j] : columns.indptr[j + 1]]) for j in distinct]
