"""Matrices of counts from elsewhere, validated and converted to rows; and rows as matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from semascope.corpus.csr import CSR
from semascope.corpus.lexicon import Lexicon
from semascope.errors import InputError

if TYPE_CHECKING:
    pass


def rows_of_matrix(X: Any) -> tuple[CSR, int]:
    """Return the rows of a matrix of counts and its number of columns."""
    matrix = sp.csr_array(X) if sp.issparse(X) else sp.csr_array(np.atleast_2d(np.asarray(X, dtype=np.float64)))
    if matrix.shape[0] == 0 or matrix.shape[1] == 0:
        msg = f"there are no counts in a matrix of shape {matrix.shape}."
        raise InputError(msg)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    _check_counts(matrix)
    matrix = matrix.astype(np.float32)
    if not matrix.data.all():
        matrix.eliminate_zeros()  # including those that are zero in single precision
    rows = CSR(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)
    return rows, matrix.shape[1]


def lexicon_of_columns(X: Any, vocabulary: Sequence[str] | Lexicon | None, n_words: int) -> Lexicon:
    """Return the words of a matrix's columns: from a vocabulary, from a frame's columns, or "x0", "x1" and so on."""
    if vocabulary is None:
        vocabulary = getattr(X, "columns", [f"x{j}" for j in range(n_words)])
    lexicon = vocabulary if isinstance(vocabulary, Lexicon) else Lexicon.of([str(word) for word in vocabulary])
    if len(lexicon) != n_words:
        msg = f"the matrix has {n_words:,} columns, but the vocabulary has {len(lexicon):,} words."
        raise InputError(msg)
    if lexicon.to_frame().is_duplicated().any():
        msg = "the vocabulary has a duplicate word; each column needs its own word."
        raise InputError(msg)
    return lexicon


def _check_counts(matrix: Any) -> None:
    """Check that all entries can be counts; the error names the row and column."""
    data = matrix.data
    for what, wrong in (
        ("not a number", np.isnan(data)),
        ("infinite", np.isinf(data)),
        ("negative", data < 0),
        ("too large for single precision", data > np.finfo(np.float32).max),
    ):
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
            msg = f"counts must be finite and not negative: row {row}, column {matrix.indices[at]} is {what} ({data[at]})."
            raise InputError(msg)


def matrix_of_rows(rows: CSR, n_words: int) -> sp.csr_matrix:
    """Return the counts as a SciPy matrix, documents × words, without copying them."""
    matrix = sp.csr_matrix((len(rows.ends) - 1, n_words), dtype=np.float32)
    # Set the arrays by hand: SciPy's constructor would copy and check arrays that are known to be valid.
    matrix.indices, matrix.data = rows.words, rows.counts
    matrix.indptr = rows.ends
    if len(rows.words) < 2**31:
        matrix.indptr = rows.ends.astype(np.int32)  # SciPy needs one type for both
    else:
        matrix.indices = rows.words.astype(np.int64)
    matrix.has_canonical_format = True
    return matrix
