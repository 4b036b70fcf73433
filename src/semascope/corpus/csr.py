"""CSR rows of word counts, the input of the kernels, and their conversion from and to matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from semascope.corpus.lexicon import Lexicon
from semascope.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CSR(NamedTuple):
    """Documents as rows of word counts, with ascending word ids in each row.

    ends     int64[d + 1]   row i is [ends[i]:ends[i + 1]] of the other two
    words    int32[nnz]     word ids
    counts   float32[nnz]   word counts
    """

    ends: NDArray[np.int64]
    words: NDArray[np.int32]
    counts: NDArray[np.float32]


def concatenate(parts: list[CSR]) -> CSR:
    """Concatenate rows."""
    starts = np.cumsum([0, *(part.ends[-1] for part in parts)])
    ends = [part.ends[1:] + start for part, start in zip(parts, starts, strict=False)]
    return CSR(
        np.concatenate([np.zeros(1, np.int64), *ends]),
        np.concatenate([np.empty(0, np.int32), *(part.words for part in parts)]),
        np.concatenate([np.empty(0, np.float32), *(part.counts for part in parts)]),
    )


def hstack(streams: Sequence[Iterator[CSR]], n_words: Sequence[int]) -> Iterator[CSR]:
    """Concatenate rows of the same documents over several vocabularies, one vocabulary after the other.

    Each stream yields all documents, but their blocks need not have the same boundaries.
    """
    first_words = np.cumsum([0, *n_words[:-1]], dtype=np.int32)
    held = [concatenate([]) for _ in streams]
    while True:
        held = [_fill(rows, stream) for rows, stream in zip(held, streams, strict=True)]
        n_documents = min(len(rows.ends) - 1 for rows in held)
        if n_documents == 0:
            return
        yield _stack([_slice(rows, 0, n_documents) for rows in held], first_words)
        held = [_slice(rows, n_documents, len(rows.ends) - 1) for rows in held]


def _fill(rows: CSR, stream: Iterator[CSR]) -> CSR:
    """Return the remaining rows, or the next non-empty ones of the stream."""
    while len(rows.ends) == 1 and (following := next(stream, None)) is not None:
        rows = following
    return rows


def _slice(rows: CSR, first: int, last: int) -> CSR:
    start, stop = rows.ends[first], rows.ends[last]
    return CSR(rows.ends[first : last + 1] - start, rows.words[start:stop], rows.counts[start:stop])


def _stack(parts: Sequence[CSR], first_words: NDArray[np.int32]) -> CSR:
    ends = np.sum([part.ends for part in parts], axis=0)
    words, counts = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.float32)
    starts = ends[:-1].copy()
    for part, first_word in zip(parts, first_words, strict=True):
        lengths = np.diff(part.ends)
        places = np.repeat(starts - part.ends[:-1], lengths) + np.arange(len(part.words))
        words[places] = part.words + first_word
        counts[places] = part.counts
        starts += lengths
    return CSR(ends, words, counts)


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
