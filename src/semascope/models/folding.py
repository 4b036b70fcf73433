"""Folding in: the topics of new documents, with those of the model held fixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.shards import Shard
from semascope.engines.base import Locals
from semascope.kernels.em import fold_in
from semascope.kernels.vb import vb_documents
from semascope.training.vb import SMALLEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

PASSES = 200
TOLERANCE = 1e-4


class Nothing(NamedTuple):
    """Folding in adds up nothing."""


def fold_in_shard(
    shard: Shard, topics: NDArray[Any], start: NDArray[Any], beta: Any, factors: NDArray[Any], prior: NDArray[Any]
) -> tuple[Locals, Nothing]:
    """Fold in the documents of a shard; arguments as in `semascope.kernels.em.fold_in`."""
    theta = np.tile(start, (shard.n_documents, 1))
    fold_in(*shard.rows, topics, theta, beta, factors, prior, PASSES, TOLERANCE)
    return {"theta": theta}, Nothing()


def infer_shard(shard: Shard, table: NDArray[Any], alpha: NDArray[np.float64]) -> tuple[Locals, Nothing]:
    """Variational inference of the documents of a shard; arguments as in `semascope.kernels.vb.vb_documents`."""
    gamma = (alpha + shard.lengths[:, None] / len(alpha)).astype(table.dtype)
    shares, weights = np.empty_like(gamma), np.empty(len(shard.rows.words), dtype=table.dtype)
    vb_documents(*shard.rows, alpha, table, SMALLEST[table.dtype.name], PASSES, TOLERANCE, gamma, shares, weights)
    return {"theta": gamma / gamma.sum(axis=1, keepdims=True)}, Nothing()
