"""Amplitudes: square roots of probabilities, of which a decomposition is taken, and what comes of its negative ones.

Ψ_Q = √Q has a row for each document. Its truncated decomposition Ξ is a table of amplitudes; Ξ⁺ is the same with zeros for what
is negative, and P̂ = (Ξ⁺)² / ‖Ξ⁺‖². Sums over all pairs are made in blocks; no table of documents × words is ever whole.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.rows import Rows
from semascope.kernels.lsa import entries_of_product
from semascope.training.dense import each_block

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMNS = 2048
"""Words of a block."""


class Parts(NamedTuple):
    """Σ ξ² over the positive entries of Ξ, and over the negative ones."""

    positive: float
    negative: float


def parts_of(rows: NDArray[Any], basis: NDArray[Any]) -> Parts:
    """Both parts of rows @ basis.T."""

    def of_block(block: slice) -> tuple[float, float]:
        positive = negative = 0.0
        for first in range(0, len(basis), COLUMNS):
            entries = rows[block] @ basis[first : first + COLUMNS].T
            whole = float(np.vdot(entries, entries))
            np.maximum(entries, 0, out=entries)
            above = float(np.vdot(entries, entries))
            positive, negative = positive + above, negative + max(whole - above, 0.0)
        return positive, negative

    positive, negative = zip(*each_block(of_block, len(rows)), strict=True)
    return Parts(math.fsum(positive), math.fsum(negative))


def positive_squares(rows: NDArray[Any], basis: NDArray[Any]) -> NDArray[np.float64]:
    """Σ (ξ⁺)² of each row of rows @ basis.T."""
    squares = np.zeros(len(rows))

    def of_block(block: slice) -> None:
        for first in range(0, len(basis), COLUMNS):
            entries = np.maximum(rows[block] @ basis[first : first + COLUMNS].T, 0)
            squares[block] += np.einsum("ij,ij->i", entries, entries, dtype=np.float64)

    for _ in each_block(of_block, len(rows)):
        pass
    return squares


def positive_entries(counts: Rows, rows: NDArray[Any], basis: NDArray[Any]) -> NDArray[np.float64]:
    """ξ⁺ where there are counts."""
    entries = np.empty(len(counts.words), rows.dtype)
    entries_of_product(counts.ends, counts.words, rows, basis, entries)
    return np.maximum(entries, 0).astype(np.float64)


def bits_of_ranks(values: NDArray[np.float64], n_documents: int, n_words: int, n_tokens: float) -> Any:
    """Bits per observation, for each rank, of the parameters and of the distance from what was observed.

    A model of rank r has r (M + N − r) parameters, each worth ½ log₂ n bits when it is told from n observations. The distance
    is −2 log₂ ⟨Ψ_P, Ψ_Q⟩, Rényi's divergence of order ½; ⟨Ψ_P, Ψ_Q⟩ is at least s, the root of Σ σ², which stands for it here.
    """
    ranks = np.arange(1, len(values) + 1)
    parameters = ranks * (n_documents + n_words - ranks)
    sizes = np.sqrt(np.minimum(np.cumsum(values**2), 1.0))
    return parameters * math.log2(max(n_tokens, 2.0)) / (2 * n_tokens), -2 * np.log2(sizes)
