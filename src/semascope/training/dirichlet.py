"""Priors learned by Newton's method: the Dirichlet distributions of topics in documents, and of words in topics.

Both parts of the bound are concave, and both steps cost no more than a pass over the prior itself. A step that would leave the
positive numbers or lower the bound is halved until it does not, so that learning a prior never makes the bound worse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln, polygamma, psi

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_STEPS = 1000
MOST_HALVINGS = 60
SETTLED = 1e-10
"""Share of itself by which no part of a prior moves any more."""


def newton_alpha(
    alpha: NDArray[np.float64], sufficient_statistics: NDArray[np.float64], n_documents: int
) -> NDArray[np.float64]:
    """Give the α that maximises its part of the bound, C [log Γ(Σα) − Σ log Γ(α_k)] + Σ_k α_k s_k.

    Parameters
    ----------
    alpha : ndarray of shape (n_topics,)
        Where to start.
    sufficient_statistics : ndarray of shape (n_topics,)
        s_k = Σ_d E[log θ_dk].
    n_documents : int
        C.

    Examples
    --------
    >>> rows = np.random.default_rng(0).dirichlet([0.5, 2.0], size=20_000)
    >>> newton_alpha(np.ones(2), np.log(rows).sum(axis=0), len(rows)).round(1)
    array([0.5, 2. ])
    """
    if len(alpha) < 2 or n_documents == 0:
        return alpha  # one topic has every word, whatever its prior

    def bound(alpha: NDArray[np.float64]) -> float:
        return float(n_documents * (gammaln(alpha.sum()) - gammaln(alpha).sum()) + alpha @ sufficient_statistics)

    def step(alpha: NDArray[np.float64]) -> NDArray[np.float64]:
        gradient = n_documents * (psi(alpha.sum()) - psi(alpha)) + sufficient_statistics
        diagonal = -n_documents * polygamma(1, alpha)
        shared = 1 / (n_documents * polygamma(1, alpha.sum()))
        offset = (gradient / diagonal).sum() / (shared + (1 / diagonal).sum())
        return np.asarray(-(gradient - offset) / diagonal)

    return _climb(alpha, bound, step)


def newton_eta(eta: float, sufficient_statistic: float, n_topics: int, language_sizes: NDArray[Any]) -> float:
    """Give the η that maximises its part of the bound, K Σ_l [log Γ(V_l η) − V_l log Γ(η)] + η s.

    Parameters
    ----------
    eta : float
        Where to start.
    sufficient_statistic : float
        s = Σ_vk E[log β_vk].
    n_topics : int
        K.
    language_sizes : ndarray of shape (n_languages,)
        V_l, the number of words of each language; all share one η.

    Examples
    --------
    >>> topics = np.random.default_rng(0).dirichlet(np.full(1000, 0.5), size=20)
    >>> round(newton_eta(0.01, np.log(topics).sum(), 20, np.array([1000])), 2)
    0.5
    """
    sizes = np.asarray(language_sizes, dtype=np.float64)
    sizes, n_words = sizes[sizes > 0], sizes.sum()
    if not (sizes > 1).any():
        return eta

    def bound(eta: NDArray[np.float64]) -> float:
        return float(n_topics * (gammaln(sizes * eta).sum() - n_words * gammaln(eta[0])) + eta[0] * sufficient_statistic)

    def step(eta: NDArray[np.float64]) -> NDArray[np.float64]:
        gradient = n_topics * ((sizes * psi(sizes * eta)).sum() - n_words * psi(eta)) + sufficient_statistic
        curvature = n_topics * ((sizes**2 * polygamma(1, sizes * eta)).sum() - n_words * polygamma(1, eta))
        return np.asarray(-gradient / curvature)

    return float(_climb(np.array([eta]), bound, step)[0])


def _climb(
    start: NDArray[np.float64],
    bound: Callable[[NDArray[np.float64]], float],
    step: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Take Newton steps until they are too short to matter, or rounding hides what they gain."""
    here, height = start, bound(start)
    for _ in range(MOST_STEPS):
        move = step(here)
        for _ in range(MOST_HALVINGS):
            there = here + move
            if (there > 0).all() and (risen := bound(there)) >= height:
                break
            move = move / 2
        else:
            return here
        done = bool((np.abs(move) <= SETTLED * here).all())
        here, height = there, risen
        if done:
            break
    return here
