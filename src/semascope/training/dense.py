"""Products of tall tables, with the same bits on any number of cores.

Libraries for matrices divide the work by the number of threads they have, and round differently for each. Here it is divided
into blocks of a fixed number of rows, each worked on by one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import ThreadpoolController

from semascope.machine import usable_cores

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 2048
"""Rows of a block."""


def inner(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.float64]:
    """``one.T @ other``."""
    parts = each_block(lambda rows: (one[rows].T @ other[rows]).astype(np.float64), len(one))
    return np.asarray(sum(parts, start=np.zeros((one.shape[1], other.shape[1]))))


def times(table: NDArray[Any], small: NDArray[np.float64]) -> NDArray[Any]:
    """``table @ small``, in the precision of the table."""
    factor = small.astype(table.dtype)
    product = np.empty((len(table), factor.shape[1]), table.dtype)
    for _ in each_block(lambda rows: np.matmul(table[rows], factor, out=product[rows]), len(table)):
        pass
    return product


def less_and_times(table: NDArray[Any], share: float, other: NDArray[Any], small: NDArray[np.float64]) -> None:
    """Make ``(table - share * other) @ small`` of the other table, in its own memory."""
    factor, part = small.astype(table.dtype), table.dtype.type(share)

    def of_rows(rows: slice) -> None:
        np.matmul(table[rows] - part * other[rows], factor, out=other[rows])

    for _ in each_block(of_rows, len(table)):
        pass


def each_block(work: Callable[[slice], Any], n_rows: int) -> Iterator[Any]:
    """Work on blocks of rows on all cores, one thread for each; give what comes of them, in order."""
    blocks = [slice(first, min(first + BLOCK, n_rows)) for first in range(0, n_rows, BLOCK)]
    with one_thread_each(), ThreadPoolExecutor(usable_cores()) as pool:
        yield from pool.map(work, blocks) if len(blocks) > 1 else map(work, blocks)


class _OneThread:
    """Keeps libraries for matrices from using threads of their own while anybody wants that; the setting is the process's."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limit: Any = None

    @cached_property
    def _libraries(self) -> Any:
        """Those that are loaded; to look for them takes a while."""
        import scipy.linalg  # noqa: F401 - it has one of its own

        return ThreadpoolController()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._limit = self._libraries.limit(limits=1, user_api="blas")
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._limit.restore_original_limits()


one_thread_each = _OneThread()
