"""One pass of CVB0 over a shard: over all topics, or over the few that each document has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.shards import ByWord, Shard, frozen
from semascope.engines.exact import CountTotal
from semascope.kernels.cvb0 import cvb0_documents, cvb0_words
from semascope.kernels.few import choose_topics, few_documents, few_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEPT = 0.1
"""Words of a topic that a document must have to keep it, with few topics a document."""

ROOM = 32
"""Topics a document that there is room for at first."""


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
    """What a pass gives: the documents' next topics, expected counts, Σ n log P(word | document) before it."""

    theta: NDArray[Any]
    expected: ExpectedTopics | ExpectedFew
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


class ExpectedFew(NamedTuple):
    """The same over the chosen topics of each document."""

    entries: ByWord
    inverses: NDArray[Any]
    weights: NDArray[Any]
    few_ends: NDArray[np.int64]
    few_topics: NDArray[np.uint32]
    few_rows: NDArray[Any]
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
        few_words(
            *self.entries, self.inverses, self.weights, self.few_ends, self.few_topics, self.few_rows, *self.tables,
            self.languages, table, scale, first, last,
        )  # fmt: skip

    def empty_total(self) -> CountTotal:
        return CountTotal.for_part(self)


def over_all(shard: Shard, documents: Documents, tables: Tables, languages: NDArray[np.int32], bound: float) -> PassOver:
    """A pass over all topics."""
    doc_rows, new_theta = np.empty_like(documents.theta), np.empty_like(documents.theta)
    inverses, weights = (np.empty(len(shard.rows.words), dtype=doc_rows.dtype) for _ in range(2))
    log_likelihood = cvb0_documents(*shard.rows, languages, *documents, *tables, doc_rows, new_theta, inverses, weights)
    expected = ExpectedTopics(shard.by_word, inverses, weights, doc_rows, tables, languages, bound)
    return PassOver(new_theta, expected, log_likelihood)


def over_few(
    shard: Shard,
    documents: Documents,
    tables: Tables,
    languages: NDArray[np.int32],
    bound: float,
    offered: NDArray[np.int32],
) -> PassOver:
    """A pass over the topics that each document has or is offered."""
    few, masses = _chosen(shard, documents, tables.alpha, offered)
    new_theta, background = np.empty_like(documents.theta), tables.topics @ tables.alpha
    inverses, weights = (np.empty(len(shard.rows.words), dtype=new_theta.dtype) for _ in range(2))
    log_likelihood = few_documents(*shard.rows, languages, *few, masses, background, *tables, new_theta, inverses, weights)
    expected = ExpectedFew(shard.by_word, inverses, weights, *few, tables, languages, bound)
    return PassOver(new_theta, expected, log_likelihood)


def _chosen(
    shard: Shard, documents: Documents, alpha: NDArray[Any], offered: NDArray[np.int32]
) -> tuple[tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[Any]], NDArray[Any]]:
    """The topics chosen of each document (where they end, which, their rows) and the mass of all topics."""
    dtype, n_documents, n_topics = documents.theta.dtype, *documents.theta.shape
    ends, masses = np.zeros(n_documents + 1, np.int64), np.empty(n_documents, dtype=dtype)
    room = n_documents * min(ROOM, n_topics) + n_topics
    topics, rows = np.empty(room, np.uint32), np.empty(room, dtype=dtype)
    done = 0
    while True:
        done = choose_topics(
            *shard.rows, *documents, alpha, dtype.type(KEPT), frozen(offered, np.int32), done, ends, topics, rows, masses
        )
        if done == n_documents:
            return (ends, topics, rows), masses
        room *= 2
        topics, rows = np.resize(topics, room), np.resize(rows, room)
