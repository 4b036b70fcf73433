"""One pass of CVB0 over a shard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.shards import ByWord, Shard
from semascope.engines.base import Locals
from semascope.engines.exact import CountTotal
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
    expected: Any
    log_likelihood: float


class ExpectedTopics(NamedTuple):
    """How often each word of a shard is expected to come from each topic; worked out while it is added, never stored."""

    entries: ByWord
    inverses: NDArray[Any]
    weights: NDArray[Any]
    doc_rows: NDArray[Any]
    tables: Tables
    languages: NDArray[np.int32]
    bound: float

    @property
    def rows(self) -> NDArray[np.int32]:
        return self.entries.words

    @property
    def shape(self) -> tuple[int, int]:
        return self.tables.topics.shape

    def add_to(self, table: NDArray[np.int64], scale: float, first: int, last: int) -> None:
        cvb0_words(
            *self.entries, self.inverses, self.weights, self.doc_rows, *self.tables, self.languages, table, scale, first, last
        )

    def empty_total(self) -> CountTotal:
        return CountTotal.for_part(self)


def pass_over(shard: Shard, documents: Documents, tables: Tables, languages: NDArray[np.int32], bound: float) -> PassOver:
    """Make a pass; no sum of expected counts is above `bound`."""
    doc_rows, new_theta = np.empty_like(documents.theta), np.empty_like(documents.theta)
    inverses, weights = (np.empty(len(shard.rows.words), dtype=doc_rows.dtype) for _ in range(2))
    log_likelihood = cvb0_documents(*shard.rows, languages, *documents, *tables, doc_rows, new_theta, inverses, weights)
    expected = ExpectedTopics(shard.by_word, inverses, weights, doc_rows, tables, languages, bound)
    return PassOver({"theta": new_theta, "before": documents.theta}, expected, log_likelihood)
