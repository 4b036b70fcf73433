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


def facts_of_words(matrix):
    """Σ n, the number of rows, and Σ n log n of each column that has anything."""
    found = matrix[:, (matrix != 0).any(axis=0)].astype(np.float64)
    logs = found * np.log(np.where(found > 0, found, 1))
    return np.stack([found.sum(axis=0), (found > 0).sum(axis=0), logs.sum(axis=0)], axis=1)
