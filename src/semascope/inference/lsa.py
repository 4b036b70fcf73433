"""Vectors of documents in the space of LSA."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.rows import Rows
from semascope.corpus.shards import Shard
from semascope.engines.base import Locals
from semascope.engines.exact import Scalars, ScalarTotal
from semascope.inference.topics import Nothing
from semascope.kernels.lsa import project_documents, squares_of_columns
from semascope.training.weighting import WEIGHTINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

HELLINGER = "hellinger"


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
