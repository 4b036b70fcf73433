"""Products and factors of tall and small matrices, with bits independent of the number of cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError, cholesky, eigh
from scipy.linalg.lapack import get_lapack_funcs
from threadpoolctl import ThreadpoolController

from semascope.corpus.shards import as_read_only
from semascope.kernels.linalg import subtract_product
from semascope.resources import usable_cores

if TYPE_CHECKING:
    from numpy.typing import NDArray


BLOCK = 4096
"""Approximate number of rows of a block."""

FAIR_SHARE = 8
"""The number of blocks is a multiple of this if there is more than one, so that 2, 4 or 8 threads get equal parts."""

FIRST_ROOM = 12
"""Capacity of a stack in tables; unused room takes no memory."""


def gram(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.float64]:
    """Compute ``one.T @ other``; for a stack of tables, the products one below the other."""
    stack = one if one.ndim == 3 else one[None]

    def of_rows(rows: slice) -> NDArray[np.float64]:
        return np.asarray(other[rows].T @ stack[:, rows], np.float64)  # faster this way round, and small to transpose

    shape = (len(stack), other.shape[1], stack.shape[2])
    return _sum(each_block(of_rows, len(other)), shape).transpose(0, 2, 1).reshape(-1, other.shape[1])


def multiply(table: NDArray[Any], small: NDArray[np.float64], out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Compute ``table @ small``, in the precision of the table; `out` may be the table itself."""
    return multiply_blocks([table], small, out)


def multiply_blocks(
    tables: Sequence[NDArray[Any]], small: NDArray[np.float64], out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Compute the product of tables side by side and a small one, in their precision."""
    factor = small.astype(tables[0].dtype)
    product = np.empty((len(tables[0]), factor.shape[1]), factor.dtype) if out is None else out

    def of_rows(rows: slice) -> None:
        parts = [table[rows] for table in tables]
        np.matmul(parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1), factor, out=product[rows])

    for _ in each_block(of_rows, len(product)):
        pass
    return product


def combine(
    fill: Callable[[NDArray[Any], slice], None], stack: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    """Build a table by blocks of rows; return it, the ``gram`` of the stack and it, and that of it and itself.

    A block is multiplied while it is in the cache.
    """
    _, n_rows, width = stack.shape
    table = np.empty((n_rows, width), stack.dtype)

    def of_rows(rows: slice) -> NDArray[np.float64]:
        fill(table, rows)
        part = table[rows]
        return np.concatenate([np.asarray(part.T @ stack[:, rows], np.float64), np.asarray(part.T @ part, np.float64)[None]])

    *of_stack, square = _sum(each_block(of_rows, n_rows), (len(stack) + 1, width, width))
    return table, np.reshape([product.T for product in of_stack], (-1, width)), square


def fix_signs(table: NDArray[Any]) -> None:
    """Flip the signs of columns so that the entry of each with the largest magnitude is positive."""
    extremes = each_block(lambda rows: (table[rows].min(axis=0), table[rows].max(axis=0)), len(table))
    least, most = (np.array(values) for values in zip(*extremes, strict=True))
    signs = np.where(-least.min(axis=0) > most.max(axis=0), -1, 1).astype(table.dtype)

    def of_rows(rows: slice) -> None:
        table[rows] *= signs

    for _ in each_block(of_rows, len(table)):
        pass


def reorder(table: NDArray[Any], order: NDArray[np.int64]) -> None:
    """Permute the columns of a table in place; those that stay are not touched."""
    moved = np.flatnonzero(order != np.arange(len(order)))

    def of_rows(rows: slice) -> None:
        part = table[rows]
        part[:, moved] = part[:, order[moved]]

    for _ in each_block(of_rows, len(table) if len(moved) else 0):
        pass


def deflate(table: NDArray[Any], stack: NDArray[Any], small: NDArray[np.float64]) -> NDArray[np.float64]:
    """Subtract a stack of tables, side by side, times a small one from a table; return ``table.T @ table`` of the rest."""
    factors = as_read_only(small, table.dtype).reshape(len(stack), stack.shape[2], table.shape[1])

    def of_rows(rows: slice) -> NDArray[np.float64]:
        left = table[rows]
        for one, factor in zip(stack, factors, strict=True):
            subtract_product(left, as_read_only(one[rows], table.dtype), factor)
        return np.asarray(left.T @ left, np.float64)

    return _sum(each_block(of_rows, len(table)), (table.shape[1], table.shape[1]))


def _sum(parts: Iterator[NDArray[np.float64]], shape: tuple[int, ...]) -> NDArray[np.float64]:
    total = np.zeros(shape)
    for part in parts:
        total += part
    return total


def append_column(stack: NDArray[Any]) -> NDArray[Any]:
    """Return a stack with one more table, to be written: in the memory behind it if there is any, or in a new allocation.

    The stack must come from here, as the beginning of its memory, or own its memory.
    """
    n, room = len(stack), stack.base
    if not (isinstance(room, np.ndarray) and room.ndim == 3 and len(room) > n and room.flags.writeable):
        room = np.empty((max(2 * n, FIRST_ROOM), *stack.shape[1:]), stack.dtype)
        room[:n] = stack
    return room[: n + 1]


def each_block(work: Callable[[slice], Any], n_rows: int) -> Iterator[Any]:
    """Map a function over blocks of rows on all cores, one thread for each; yield the results in order."""
    n_blocks = max(round(n_rows / (BLOCK * FAIR_SHARE)), 1) * FAIR_SHARE if n_rows > BLOCK else min(n_rows, 1)
    blocks = [slice(n_rows * number // n_blocks, n_rows * (number + 1) // n_blocks) for number in range(n_blocks)]
    with one_thread_each() as threads:
        yield from threads.map(work, blocks) if len(blocks) > 1 else map(work, blocks)


class _OneThread:
    """Context that keeps linear algebra libraries single-threaded while it is entered anywhere in the process.

    It provides a pool of threads, one for each core. Starting and stopping take a while: enter it once for a whole fit.
    """

    def __init__(self) -> None:
        self._lock = RLock()  # reentrant: cleanup after an interrupted fit may run on the thread that holds it
        self._users = 0
        self._held = ExitStack()
        self._threads: ThreadPoolExecutor

    @cached_property
    def _libraries(self) -> Any:
        """Loaded libraries; finding them takes a while."""
        import scipy.linalg  # noqa: F401 - it loads a library of its own

        return ThreadpoolController()

    @contextmanager
    def __call__(self) -> Iterator[ThreadPoolExecutor]:
        with self._lock:
            if self._users == 0:
                self._held.enter_context(self._libraries.limit(limits=1, user_api="blas"))
                self._threads = self._held.enter_context(ThreadPoolExecutor(usable_cores()))
            self._users += 1
        try:
            yield self._threads
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._held.close()


one_thread_each = _OneThread()


def split_halves(
    small: NDArray[np.float64], noise: float, quantum: float, precisions: Sequence[str], last: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return H with Hᵀ H the small matrix, and the last rows of its inverse, zero for directions of rounding errors only.

    `noise` is their level relative to the largest, `quantum` its minimum. Precisions are tried one after the other.
    """
    largest = float(small.diagonal().max())
    for precision in precisions:
        root = _cholesky(small.astype(precision), max(max(noise, noise_level(precision)) * largest, quantum))
        if root is not None:
            inverse = np.zeros((last, len(root)), root.dtype)
            inverse[:, len(root) - last :] = _inverse(root[len(root) - last :, len(root) - last :])
            return root, inverse
    squares, turn = eigh(small)
    known = squares > max(max(noise, noise_level("float64")) * largest, quantum)
    sizes = np.sqrt(np.where(known, squares, 0))
    return sizes[:, None] * turn.T, turn[len(turn) - last :] * reciprocals(sizes)


def whitening(square: NDArray[np.float64], floor: float, *, keep_noise: bool) -> tuple[NDArray[np.float64], float]:
    """Compute the matrix that orthonormalizes the columns of a table with this small matrix, and its shortest square.

    Directions whose squares are below the floor become proportionally shorter than one, or zero.
    """
    root = _cholesky(square, floor)
    if root is not None:
        return _inverse(root), float(root.diagonal().min()) ** 2
    squares, turn = eigh(square)
    if keep_noise:
        return turn * reciprocals(np.sqrt(np.maximum(squares, floor))), float(squares[0])
    known = squares > floor
    return turn * reciprocals(np.sqrt(np.where(known, squares, 0))), float(squares[known].min(initial=1.0))


def noise_level(precision: str) -> float:
    """Return the relative rounding error of sums."""
    return 10 * float(np.finfo(precision).eps)


def _cholesky(square: NDArray[Any], floor: float) -> NDArray[Any] | None:
    """Return the upper Cholesky factor if no direction is as short as the floor: much faster than eigenvalues."""
    try:
        root = np.asarray(cholesky(square, upper=True))
    except LinAlgError:
        return None
    return root if root.diagonal().min() ** 2 > floor else None


def _inverse(root: NDArray[Any]) -> NDArray[Any]:
    """Invert an upper triangular factor."""
    (trtri,) = get_lapack_funcs(("trtri",), (root,))
    inverse, _ = trtri(root)
    return np.asarray(inverse)


def bordered(small: NDArray[np.float64], column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a symmetric matrix extended by a column of blocks, and its transpose as a row."""
    n, width = len(small), column.shape[1]
    larger = np.zeros((n + width, n + width))
    larger[:n, :n], larger[:n, n:], larger[n:, :n] = small, column[:n], column[:n].T
    larger[n:, n:] = (column[n:] + column[n:].T) / 2
    return larger


def reciprocals(values: NDArray[Any]) -> NDArray[Any]:
    """Return 1 / values, and 0 for 0."""
    return np.asarray(np.divide(1.0, values, out=np.zeros_like(values), where=values > 0))
