"""Small symmetric matrices: factors of them, and what makes the columns of a table with such a matrix orthonormal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError, cholesky, eigh
from scipy.linalg.lapack import get_lapack_funcs

if TYPE_CHECKING:
    from numpy.typing import NDArray


def halves(
    small: NDArray[np.float64], noise: float, quantum: float, precisions: Sequence[str], last: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """H with Hᵀ H the small matrix, and the last rows of its inverse, zero for directions that are but rounding errors.

    `noise` is what they are beside the largest, `quantum` what they are at least. It is tried in one precision after the other.
    """
    largest = float(small.diagonal().max())
    for precision in precisions:
        root = _cholesky(small.astype(precision), max(max(noise, noise_of(precision)) * largest, quantum))
        if root is not None:
            inverse = np.zeros((last, len(root)), root.dtype)
            inverse[:, len(root) - last :] = _inverse(root[len(root) - last :, len(root) - last :])
            return root, inverse
    squares, turn = eigh(small)
    known = squares > max(max(noise, noise_of("float64")) * largest, quantum)
    sizes = np.sqrt(np.where(known, squares, 0))
    return sizes[:, None] * turn.T, turn[len(turn) - last :] * reciprocals(sizes)


def whitening(square: NDArray[np.float64], floor: float, *, keep_noise: bool) -> tuple[NDArray[np.float64], float]:
    """What a table with this small matrix is multiplied by for its columns to become orthonormal, and its shortest square.

    Directions whose squares are below the floor become as much shorter than one as they are below it, or zero.
    """
    root = _cholesky(square, floor)
    if root is not None:
        return _inverse(root), float(root.diagonal().min()) ** 2
    squares, turn = eigh(square)
    if keep_noise:
        return turn * reciprocals(np.sqrt(np.maximum(squares, floor))), float(squares[0])
    known = squares > floor
    return turn * reciprocals(np.sqrt(np.where(known, squares, 0))), float(squares[known].min(initial=1.0))


def noise_of(precision: str) -> float:
    """Rounding errors of sums, beside what is summed."""
    return 10 * float(np.finfo(precision).eps)


def _cholesky(square: NDArray[Any], floor: float) -> NDArray[Any] | None:
    """The upper factor, far sooner found than eigenvalues, where no direction is as short as the floor."""
    try:
        root = np.asarray(cholesky(square, upper=True))
    except LinAlgError:
        return None
    return root if root.diagonal().min() ** 2 > floor else None


def _inverse(root: NDArray[Any]) -> NDArray[Any]:
    """Of an upper factor."""
    (trtri,) = get_lapack_funcs(("trtri",), (root,))
    inverse, _ = trtri(root)
    return np.asarray(inverse)


def bordered(small: NDArray[np.float64], column: NDArray[np.float64]) -> NDArray[np.float64]:
    """A symmetric matrix with one more column of blocks, and the same as a row."""
    n, width = len(small), column.shape[1]
    larger = np.zeros((n + width, n + width))
    larger[:n, :n], larger[:n, n:], larger[n:, :n] = small, column[:n], column[:n].T
    larger[n:, n:] = (column[n:] + column[n:].T) / 2
    return larger


def reciprocals(values: NDArray[Any]) -> NDArray[Any]:
    """1 / values, and 0 for 0."""
    return np.asarray(np.divide(1.0, values, out=np.zeros_like(values), where=values > 0))
