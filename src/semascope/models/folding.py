"""Folding in: the topics of new documents, with those of the model held fixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.shards import Shard
from semascope.engines.base import Locals
from semascope.kernels.em import fold_in

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
