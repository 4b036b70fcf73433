"""LSA inference: projection of documents, amplitudes, and the quality of predictions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.csr import CSR
from semascope.corpus.shards import Shard
from semascope.engines.base import Locals
from semascope.engines.exact_sums import Scalars, ScalarTotal
from semascope.inference.topics import Nothing
from semascope.kernels.sparse_products import entries_of_product, project_documents, squares_of_columns
from semascope.training.linalg import each_block
from semascope.training.weighting import WEIGHTINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray


HELLINGER = "hellinger"


def project(
    rows: CSR, lengths: NDArray[np.float64], basis: NDArray[Any], weighting: str, of_word: NDArray[Any], n_tokens: float
) -> NDArray[Any]:
    """Project documents: rows of the weighted matrix times the right singular vectors.

    For the Hellinger model the rows are √P(word | document).
    """
    values = WEIGHTINGS[weighting].values(rows, n_tokens, of_word, basis.dtype)
    projected = np.empty((len(rows.ends) - 1, basis.shape[1]), basis.dtype)
    project_documents(rows.ends, rows.words, values, basis, projected)
    if weighting == HELLINGER:
        projected *= np.sqrt(n_tokens / np.where(lengths > 0, lengths, n_tokens))[:, None].astype(basis.dtype)
    return projected


def project_shard(shard: Shard, **given: Any) -> tuple[Locals, Nothing]:
    return {"rows": project(shard.rows, shard.lengths, **given)}, Nothing()


class Squares(NamedTuple):
    """Σ (A v)² over documents, for each vector v."""

    sums: Scalars | ScalarTotal


def project_and_measure_shard(shard: Shard, **given: Any) -> tuple[Locals, Squares]:
    """Project documents and sum the squares of each column."""
    rows = project(shard.rows, shard.lengths, **given)
    weights = shard.lengths / given["n_tokens"] if given["weighting"] == HELLINGER else np.ones(len(rows))
    return {"rows": rows}, Squares(Scalars(tuple(squares_of_columns(rows, weights).tolist())))


def rows_in_order(local: Locals, order: NDArray[np.int64]) -> NDArray[Any]:
    """Return projected documents with reordered columns."""
    rows = np.asarray(local["rows"])
    return rows if (np.diff(order) == 1).all() else rows[:, order]


COLUMNS = 2048
"""Words per block."""


class Parts(NamedTuple):
    """Σ ξ² over the positive and the negative entries of Ξ."""

    positive: float
    negative: float


def parts_of(rows: NDArray[Any], basis: NDArray[Any]) -> Parts:
    """Compute the parts of rows @ basis.T."""

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
    """Compute Σ (ξ⁺)² of each row of rows @ basis.T."""
    squares = np.zeros(len(rows))

    def of_block(block: slice) -> None:
        for first in range(0, len(basis), COLUMNS):
            entries = np.maximum(rows[block] @ basis[first : first + COLUMNS].T, 0)
            squares[block] += np.einsum("ij,ij->i", entries, entries, dtype=np.float64)

    for _ in each_block(of_block, len(rows)):
        pass
    return squares


def positive_entries(counts: CSR, rows: NDArray[Any], basis: NDArray[Any]) -> NDArray[np.float64]:
    """Compute ξ⁺ at the nonzero counts."""
    entries = np.empty(len(counts.words), rows.dtype)
    entries_of_product(counts.ends, counts.words, rows, basis, entries)
    return np.maximum(entries, 0).astype(np.float64)


def description_lengths(values: NDArray[np.float64], n_documents: int, n_words: int, n_tokens: float) -> Any:
    """Compute, for each rank, the bits per observation of the parameters and of the distance from the data.

    A model of rank r has r (M + N − r) parameters of ½ log₂ n bits each for n observations. The distance is
    −2 log₂ ⟨Ψ_P, Ψ_Q⟩, the Rényi divergence of order ½, with ⟨Ψ_P, Ψ_Q⟩ replaced by its lower bound s = √(Σ σ²).
    """
    ranks = np.arange(1, len(values) + 1)
    parameters = ranks * (n_documents + n_words - ranks)
    sizes = np.sqrt(np.minimum(np.cumsum(values**2), 1.0))
    return parameters * math.log2(max(n_tokens, 2.0)) / (2 * n_tokens), -2 * np.log2(sizes)
