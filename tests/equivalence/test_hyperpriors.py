"""Priors learned by Newton's method are those that a general optimizer finds, and never make the bound worse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize, minimize_scalar
from scipy.special import gammaln, psi

from semascope.training.hyperpriors import newton_alpha, newton_eta


def alpha_part(alpha, statistics, n_documents):
    return n_documents * (gammaln(alpha.sum()) - gammaln(alpha).sum()) + alpha @ statistics


def eta_part(eta, statistic, n_topics, sizes):
    return n_topics * (gammaln(sizes * eta).sum() - sizes.sum() * gammaln(eta)) + eta * statistic


def some_documents(seed):
    """Σ E[log θ] of documents with random γ, and how many there are."""
    rng = np.random.default_rng(seed)
    n_topics, n_documents = rng.integers(2, 12), rng.integers(3, 200)
    shares = rng.dirichlet(rng.gamma(1.0, 1.0, n_topics) + 0.02, n_documents)
    gamma = shares * rng.integers(1, 300, n_documents)[:, None] + rng.uniform(0.01, 1)
    return (psi(gamma) - psi(gamma.sum(axis=1, keepdims=True))).sum(axis=0), n_documents


@pytest.mark.parametrize("seed", range(60))
def test_alpha_is_the_one_that_a_general_optimizer_finds(seed):
    statistics, n_documents = some_documents(seed)
    start = np.random.default_rng(seed).uniform(0.01, 5, len(statistics))
    found = newton_alpha(start, statistics, n_documents)

    def downhill(logs):
        alpha = np.exp(logs)
        slope = n_documents * (psi(alpha.sum()) - psi(alpha)) + statistics
        return -alpha_part(alpha, statistics, n_documents) / n_documents, -slope * alpha / n_documents

    best = minimize(downhill, np.log(start), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    assert_allclose(found, np.exp(best.x), rtol=1e-6)


@pytest.mark.parametrize("seed", range(200))
def test_learning_alpha_never_lowers_its_part_of_the_bound(seed):
    statistics, n_documents = some_documents(seed)
    start = np.exp(np.random.default_rng(seed).uniform(-9, 6, len(statistics)))
    found = newton_alpha(start, statistics, n_documents)
    assert (found > 0).all()
    assert alpha_part(found, statistics, n_documents) >= alpha_part(start, statistics, n_documents)


@pytest.mark.parametrize("seed", range(60))
def test_eta_is_the_one_that_a_general_optimizer_finds_and_never_worse_than_before(seed):
    rng = np.random.default_rng(seed)
    n_topics, sizes = int(rng.integers(1, 10)), rng.integers(2, 400, rng.integers(1, 4))
    statistic = 0.0
    for size in sizes:
        lam = rng.gamma(rng.uniform(0.05, 2), 3.0, (n_topics, size)) + 0.01
        statistic += (psi(lam) - psi(lam.sum(axis=1, keepdims=True))).sum()
    start = float(np.exp(rng.uniform(-7, 4)))
    found = newton_eta(start, statistic, n_topics, sizes)
    best = minimize_scalar(
        lambda log: -eta_part(np.exp(log), statistic, n_topics, sizes), bounds=(-15, 10), options={"xatol": 1e-9}
    )
    assert_allclose(found, np.exp(best.x), rtol=1e-6)
    assert eta_part(found, statistic, n_topics, sizes) >= eta_part(start, statistic, n_topics, sizes)


def test_priors_of_which_nothing_can_be_learned_stay_as_they_are():
    assert newton_alpha(np.array([0.3]), np.array([0.0]), 10).tolist() == [0.3]
    assert newton_alpha(np.array([0.3, 0.2]), np.zeros(2), 0).tolist() == [0.3, 0.2]
    assert newton_eta(0.3, 0.0, 5, np.array([1, 1])) == 0.3
