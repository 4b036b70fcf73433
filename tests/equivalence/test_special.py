"""The functions written out for vector instructions give the numbers of NumPy and SciPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln, psi

from semascope.kernels.variational import digamma, exp, log, log_gamma

POSITIVE = np.concatenate([np.geomspace(1e-30, 1e30, 4001), np.linspace(0.5, 80, 4001), [1.0, 2.0, 64.0]])
ZEROS = {digamma: 1e-13, log_gamma: 2e-14, log: 1e-16}
"""What may be off where the function itself is near zero."""


@pytest.mark.parametrize(("ours", "theirs"), [(log, np.log), (digamma, psi), (log_gamma, gammaln)])
def test_logarithms_are_those_of_numpy_and_scipy(ours, theirs):
    assert_allclose([ours(x) for x in POSITIVE], theirs(POSITIVE), rtol=1e-12, atol=ZEROS[ours] * 100)


def test_exponentials_are_those_of_numpy():
    x = np.linspace(-700, 0, 20001)
    assert_allclose([exp(value) for value in x], np.exp(x), rtol=1e-12)


def test_numbers_in_single_precision_are_taken_too():
    assert_allclose(digamma(np.float32(0.1)), psi(np.float64(np.float32(0.1))), rtol=1e-12)
    assert_allclose(log_gamma(np.float32(0.1)), gammaln(np.float64(np.float32(0.1))), rtol=1e-12)
