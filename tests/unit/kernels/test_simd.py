"""Eight numbers at once do what NumPy does with rows of eight."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose

from semascope.kernels.jit import kernel
from semascope.kernels.simd import WIDTH, larger, load, spread, store, total


@kernel
def all_operations(x, y, number, out):
    """Columns from the third on of two tables; gives the sum of all products."""
    products = spread(number - number)
    for row in range(len(x)):
        a, b = load(x, row, 2), load(y, row, 2)
        products += a * b
        here = larger(a - b, b) * spread(number)
        here -= a
        store(out, row, 1, here + b)
    return total(products)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lanes_are_read_worked_on_and_written(dtype):
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=(50, WIDTH + 3)).astype(dtype) for _ in range(2))
    out = np.zeros((50, WIDTH + 2), dtype)
    a, b, number = x[:, 2:-1], y[:, 2:-1], dtype(1.5)
    products = all_operations(x, y, number, out)
    close = 1e-5 if dtype == np.float32 else 1e-13
    assert_allclose(products, (a.astype(np.float64) * b).sum(), rtol=close, atol=close)
    assert_allclose(out[:, 1:-1], np.maximum(a - b, b) * number - a + b, rtol=close, atol=close)
    assert (out[:, [0, -1]] == 0).all()


def test_they_become_vector_instructions():
    fresh = numba.njit(all_operations.py_func)  # cached code cannot be looked into
    table = np.zeros((2, WIDTH + 3), np.float32)
    fresh(table, table, np.float32(1), np.zeros((2, WIDTH + 2), np.float32))
    (code,) = fresh.inspect_llvm().values()
    assert "<8 x float>" in code
