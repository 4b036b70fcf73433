"""Priors learned from expected counts: the fixed point of the Dirichlet-multinomial (Minka 2000).

α_k ← α_k Σ_d [Ψ(N_dk + α_k) − Ψ(α_k)] / Σ_d [Ψ(|d| + Σα) − Ψ(Σα)], and η likewise from N_wk.

Expected counts are smoother than counts: a topic that ten words of a document have by a hundredth each counts in Ψ(N + α) as if
a tenth of it were there for certain, and α comes out too large. So a count with the mean N is taken for zero with the
probability e^−N, and otherwise for its mean without the zeros (as Teh, Newman and Welling, 2007, do): Ψ(N + α) − Ψ(α) becomes
p [Ψ(N / p + α) − Ψ(α)] with p = 1 − e^−N.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import psi

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST = 1e-4
"""Prior of a topic that no document has any more."""


def statistics_of_alpha(theta: NDArray[Any], lengths: NDArray[np.float64], alpha: NDArray[np.float64]) -> tuple[float, ...]:
    """What the step of α needs of some documents: a number for each topic, and one for all.

    theta    float[d, k]  P(topic | document), in proportion to N_dk + α_k
    lengths  float64[d]   words of each document; those without words say nothing
    """
    theta, lengths, total = theta[lengths > 0], lengths[lengths > 0], alpha.sum()
    counts = theta * (lengths + total)[:, None] - alpha
    of_topics = _expected_rise(counts, alpha).sum(axis=0)
    return (*of_topics.tolist(), math.fsum(psi(lengths + total) - psi(total)))


def next_alpha(alpha: NDArray[np.float64], sums: Sequence[float]) -> NDArray[np.float64]:
    """A step of α, from the sums of these statistics over all documents."""
    *of_topics, of_documents = sums
    return np.asarray(np.maximum(alpha * np.array(of_topics) / max(of_documents, 1e-300), SMALLEST))


def next_eta(eta: float, counts: NDArray[Any], languages: NDArray[np.int32]) -> float:
    """A step of one η for all words and topics, from N_wk."""
    rise = sum(float(_expected_rise(block, eta).sum()) for block in np.array_split(counts, max(len(counts) // 4096, 1)))
    sizes = np.bincount(languages)
    totals = np.zeros((len(sizes), counts.shape[1]))
    np.add.at(totals, languages, counts)
    of_topics = (sizes[:, None] * (psi(totals + sizes[:, None] * eta) - psi(sizes * eta)[:, None])).sum()
    return max(eta * rise / max(float(of_topics), 1e-300), SMALLEST)


def _expected_rise(counts: NDArray[Any], prior: Any) -> NDArray[np.float64]:
    """Mean of Ψ(n + prior) − Ψ(prior), where n is about `counts`."""
    mean = np.maximum(counts, 1e-30, dtype=np.float64)
    some = -np.expm1(-mean)
    return np.asarray(some * (psi(mean / some + prior) - psi(prior)))
