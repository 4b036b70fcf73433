"""Priors of LDA and their hyperparameters: Newton's method on the bound, and the Dirichlet-multinomial fixed point."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, polygamma, psi

if TYPE_CHECKING:
    from numpy.typing import NDArray


ALPHA, ETA = 0.1, 0.03
"""Default priors of the topics in a document and of the words in a topic: ``python -m benchmarks lda_priors`` compares them
with others on seven collections."""


@dataclass(frozen=True, eq=False)
class WordPrior:
    """η_wk = base + extra_wk, where few words have an extra.

    base     float         η of every word in every topic
    ends     int64[v + 1]  entries of word w are [ends[w]:ends[w + 1]] of the two others
    topics   int32[n]      topic of each entry, ascending within a word
    extra    float64[n]    η_wk above the base
    guides   bool          the extra defines which topics to find, so they start from these words
    """

    base: float
    ends: NDArray[np.int64]
    topics: NDArray[np.int32]
    extra: NDArray[np.float64]
    guides: bool = False

    @classmethod
    def flat(cls, base: float, n_words: int) -> Self:
        """Create a prior with the same η for all."""
        return cls(base, np.zeros(n_words + 1, np.int64), np.empty(0, np.int32), np.empty(0))

    @classmethod
    def of_table(cls, table: Any) -> Self:
        """Create a prior from a table of η_wk: a row for each word and a column for each topic."""
        dense = np.asarray(table, dtype=np.float64)
        base = float(dense.min())
        above = sp.csr_array(dense - base)
        return cls(base, above.indptr.astype(np.int64), above.indices.astype(np.int32), above.data)

    @property
    def is_flat(self) -> bool:
        return len(self.extra) == 0

    @property
    def words(self) -> NDArray[np.int64]:
        """Word of each entry."""
        return np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))

    def totals(self, languages: NDArray[np.int32], n_languages: int, n_topics: int) -> NDArray[np.float64]:
        """Return Σ_w η_wk over the words of each language: a row for each language."""
        sizes = np.bincount(languages, minlength=n_languages)
        sums = np.repeat(self.base * sizes[:, None].astype(np.float64), n_topics, axis=1)
        np.add.at(sums, (languages[self.words], self.topics), self.extra)
        return sums


SMALLEST = 1e-4
"""Prior of a topic without any documents."""


def statistics_of_alpha(theta: NDArray[Any], lengths: NDArray[np.float64], alpha: NDArray[np.float64]) -> tuple[float, ...]:
    """Compute the statistics for the update of α: a number for each topic, and one for all.

    theta    float[d, k]  P(topic | document), in proportion to N_dk + α_k
    lengths  float64[d]   tokens of each document; empty documents are ignored
    """
    theta, lengths, total = theta[lengths > 0], lengths[lengths > 0], alpha.sum()
    counts = theta * (lengths + total)[:, None] - alpha
    of_topics = _expected_rise(counts, alpha).sum(axis=0)
    return (*of_topics.tolist(), math.fsum(psi(lengths + total) - psi(total)))


def next_alpha(alpha: NDArray[np.float64], sums: Sequence[float]) -> NDArray[np.float64]:
    """Update α from the sums of these statistics over all documents."""
    *of_topics, of_documents = sums
    return np.asarray(np.maximum(alpha * np.array(of_topics) / max(of_documents, 1e-300), SMALLEST))


def next_eta(eta: float, counts: NDArray[Any], languages: NDArray[np.int32]) -> float:
    """Update the common η of all words and topics from N_wk."""
    rise = sum(float(_expected_rise(block, eta).sum()) for block in np.array_split(counts, max(len(counts) // 4096, 1)))
    sizes = np.bincount(languages)
    totals = np.zeros((len(sizes), counts.shape[1]))
    np.add.at(totals, languages, counts)
    of_topics = (sizes[:, None] * (psi(totals + sizes[:, None] * eta) - psi(sizes * eta)[:, None])).sum()
    return max(eta * rise / max(float(of_topics), 1e-300), SMALLEST)


def _expected_rise(counts: NDArray[Any], prior: Any) -> NDArray[np.float64]:
    """Compute the mean of Ψ(n + prior) − Ψ(prior), where n is about `counts`."""
    mean = np.maximum(counts, 1e-30, dtype=np.float64)
    some = -np.expm1(-mean)
    return np.asarray(some * (psi(mean / some + prior) - psi(prior)))


MAX_STEPS = 1000
MAX_HALVINGS = 60
NEWTON_TOLERANCE = 1e-10
"""Relative tolerance of Newton's method, in each part of a prior."""


def newton_alpha(
    alpha: NDArray[np.float64], sufficient_statistics: NDArray[np.float64], n_documents: int
) -> NDArray[np.float64]:
    """Return the α that maximizes its part of the bound, C [log Γ(Σα) − Σ log Γ(α_k)] + Σ_k α_k s_k.

    Parameters
    ----------
    alpha : ndarray of shape (n_topics,)
        Start value.
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
        return alpha  # with one topic, the prior has no effect

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
    """Return the η that maximizes its part of the bound, K Σ_l [log Γ(V_l η) − V_l log Γ(η)] + η s.

    Parameters
    ----------
    eta : float
        Start value.
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
    """Run Newton steps until they are negligible, or rounding hides their gain."""
    here, height = start, bound(start)
    for _ in range(MAX_STEPS):
        move = step(here)
        for _ in range(MAX_HALVINGS):
            there = here + move
            if (there > 0).all() and (risen := bound(there)) >= height:
                break
            move = move / 2
        else:
            return here
        done = bool((np.abs(move) <= NEWTON_TOLERANCE * here).all())
        here, height = there, risen
        if done:
            break
    return here
