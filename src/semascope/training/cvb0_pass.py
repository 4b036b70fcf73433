"""One pass of CVB0 over a shard."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.shards import Shard
from semascope.engines.base import Locals
from semascope.engines.exact import LateCounts
from semascope.kernels.cvb0 import cvb0_documents, cvb0_words

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Tables(NamedTuple):
    """What all documents share, as the kernels take it; named as there."""

    alpha: NDArray[Any]
    topics: NDArray[Any]
    scale: NDArray[Any]
    floor: NDArray[Any]


class Documents(NamedTuple):
    """Topics of a shard's documents, as the kernels take them; named as there."""

    theta: NDArray[Any]
    before: NDArray[Any]
    momentum: Any
    held: NDArray[Any]


class PassOver(NamedTuple):
    """What a pass gives: what stays with the shard, expected counts, Σ n log P(word | document) before it."""

    local: Locals
    expected: LateCounts
    log_likelihood: float


def pass_over(shard: Shard, documents: Documents, tables: Tables, languages: NDArray[np.int32], bound: float) -> PassOver:
    """Make a pass; no sum of expected counts is above `bound`."""
    doc_rows, new_theta = np.empty_like(documents.theta), np.empty_like(documents.theta)
    inverses, weights = (np.empty(len(shard.rows.words), dtype=doc_rows.dtype) for _ in range(2))
    log_likelihood = cvb0_documents(*shard.rows, languages, *documents, *tables, doc_rows, new_theta, inverses, weights)
    of_words = partial(cvb0_words, *shard.by_word, inverses, weights, doc_rows, *tables, languages)
    expected = LateCounts(shard.by_word.words, tables.topics.shape, bound, of_words)
    return PassOver({"theta": new_theta, "before": documents.theta}, expected, log_likelihood)
