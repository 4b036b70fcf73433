"""What LSA does with a shard: project documents, and say how well their words are predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.rows import Rows
from semascope.corpus.shards import Shard, frozen, read_only
from semascope.engines.base import Locals
from semascope.engines.exact import Scalars, ScalarTotal
from semascope.kernels.heldout import halve
from semascope.kernels.lsa import project_documents, squares_of_columns
from semascope.models.amplitudes import positive_entries, positive_squares
from semascope.models.folding import Nothing
from semascope.training.weighting import WEIGHTINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

HELLINGER = "hellinger"


class Likelihood(NamedTuple):
    """Sums over documents: Σ n log P(word | document) and Σ n, or ⟨Ξ⁺, Ψ_Q⟩."""

    sums: Scalars | ScalarTotal


def project(
    rows: Rows, lengths: NDArray[np.float64], basis: NDArray[Any], weighting: str, of_word: NDArray[Any], n_tokens: float
) -> NDArray[Any]:
    """Rows of the matrix times the right singular vectors; of the Hellinger model, amplitudes of words given the document."""
    values = WEIGHTINGS[weighting].values(rows, n_tokens, of_word, basis.dtype)
    projected = np.empty((len(rows.ends) - 1, basis.shape[1]), basis.dtype)
    project_documents(rows.ends, rows.words, values, basis, projected)
    if weighting == HELLINGER:
        projected *= np.sqrt(n_tokens / np.where(lengths > 0, lengths, n_tokens))[:, None].astype(basis.dtype)
    return projected


def projected_shard(shard: Shard, **given: Any) -> tuple[Locals, Nothing]:
    return {"rows": project(shard.rows, shard.lengths, **given)}, Nothing()


class Squares(NamedTuple):
    """Σ (A v)² over documents, for each vector v."""

    sums: Scalars | ScalarTotal


def measured_shard(shard: Shard, **given: Any) -> tuple[Locals, Squares]:
    """Project documents, and measure the projection."""
    rows = project(shard.rows, shard.lengths, **given)
    weights = shard.lengths / given["n_tokens"] if given["weighting"] == HELLINGER else np.ones(len(rows))
    return {"rows": rows}, Squares(Scalars(tuple(squares_of_columns(rows, weights).tolist())))


def rows_in_order(local: Locals, order: NDArray[np.int64]) -> NDArray[Any]:
    """Projected documents, with their columns in another order."""
    rows = np.asarray(local["rows"])
    return rows if (np.diff(order) == 1).all() else rows[:, order]


def aligned_shard(shard: Shard, rows: NDArray[Any], basis: NDArray[Any], n_tokens: float) -> tuple[Locals, Likelihood]:
    mine = frozen(rows[shard.first_document : shard.first_document + shard.n_documents], basis.dtype)
    observed = np.sqrt(shard.rows.counts.astype(np.float64) / n_tokens)
    return {}, Likelihood(Scalars((float(np.sum(positive_entries(shard.rows, mine, basis) * observed)),)))


def all_words(shard: Shard) -> tuple[Rows, Rows]:
    """Fold in what is to be predicted."""
    return shard.rows, shard.rows


def halves(shard: Shard, known: NDArray[np.bool_], seed: int) -> tuple[Rows, Rows]:
    """Fold in one half, and predict the other."""
    seen, predicted = halve(*shard.rows, known, shard.first_document, seed)
    return read_only(Rows(*seen)), read_only(Rows(*predicted))


def likely_shard(
    shard: Shard, divide: Any, given: dict[str, Any], word_shares: NDArray[np.float64], smoothing: float
) -> tuple[Locals, Likelihood]:
    seen, predicted = divide(shard)
    folded = Shard(shard.number, shard.first_document, shard.n_words, seen)
    rows, basis = project(seen, folded.lengths, **given), given["basis"]
    sizes = np.repeat(positive_squares(rows, basis), np.diff(predicted.ends))
    shares = word_shares[predicted.words]
    seen_at_all = sizes > (10 * np.finfo(basis.dtype).eps) ** 2  # of amplitudes of length one, less is rounding errors
    expected = np.divide(positive_entries(predicted, rows, basis) ** 2, sizes, out=shares.copy(), where=seen_at_all)
    with np.errstate(divide="ignore"):
        logs = np.log((1 - smoothing) * expected + smoothing * shares)
    counts = np.where(shares > 0, predicted.counts, 0).astype(np.float64)
    log_likelihood = np.sum(counts * np.where(shares > 0, logs, 0))
    return {}, Likelihood(Scalars((float(log_likelihood), float(np.sum(counts)))))
