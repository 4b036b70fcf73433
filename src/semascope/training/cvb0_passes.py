"""Passes of CVB0 over a shard: over all topics, or over the active topics of each document."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.shards import Shard
from semascope.engines.base import Locals
from semascope.engines.exact_sums import LazyCounts
from semascope.kernels.cvb0 import cvb0_documents, cvb0_words
from semascope.kernels.cvb0_sparse import MOST, expand_theta, select_groups, sparse_documents, sparse_words
from semascope.kernels.simd import WIDTH

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Tables(NamedTuple):
    """Arguments of the kernels shared by all documents; names as there."""

    alpha: NDArray[Any]
    topics: NDArray[Any]
    scale: NDArray[Any]
    floor: NDArray[Any]


class Documents(NamedTuple):
    """Topics of a shard's documents, as arguments of the kernels; names as there."""

    theta: NDArray[Any]
    before: NDArray[Any]
    momentum: Any
    held: NDArray[Any]


class PassResult(NamedTuple):
    """Result of a pass: the shard's locals, expected counts, and Σ n log P(word | document) before it."""

    local: Locals
    expected: LazyCounts
    log_likelihood: float


def run_pass(shard: Shard, documents: Documents, tables: Tables, languages: NDArray[np.int32], bound: float) -> PassResult:
    """Run a pass; no sum of expected counts is above `bound`."""
    doc_rows, new_theta = np.empty_like(documents.theta), np.empty_like(documents.theta)
    inverses, weights = (np.empty(len(shard.rows.words), dtype=doc_rows.dtype) for _ in range(2))
    log_likelihood = cvb0_documents(*shard.rows, languages, *documents, *tables, doc_rows, new_theta, inverses, weights)
    of_words = partial(cvb0_words, *shard.by_word, inverses, weights, doc_rows, *tables, languages)
    expected = LazyCounts(shard.by_word.words, tables.topics.shape, bound, of_words)
    return PassResult({"theta": new_theta, "before": documents.theta}, expected, log_likelihood)


LEAST = 0.3
"""Minimum expected tokens of a topic for its group to be kept."""

EVERY = 8
"""In each pass, one document in this many chooses its topics anew."""


class Groups(NamedTuple):
    """Arguments of the sparse kernels shared by all documents; names as there."""

    alpha: NDArray[Any]
    starts: NDArray[np.int64]
    topics: NDArray[Any]
    scale: NDArray[Any]
    floor: NDArray[Any]
    prior_part: NDArray[Any]


class SparseTopics(NamedTuple):
    """Active topics of a shard's documents, as arguments of the kernels; names as there. These are the shard's locals."""

    group_ends: NDArray[np.int64]
    groups: NDArray[np.int32]
    now: NDArray[Any]
    before: NDArray[Any]
    others: NDArray[Any]

    @classmethod
    def of(cls, local: Locals) -> SparseTopics:
        """Return the active topics in a shard's locals."""
        return cls(*(local[name] for name in cls._fields))

    @classmethod
    def room(cls, n_documents: int, n_groups: int, dtype: Any) -> SparseTopics:
        """Allocate arrays for this many groups."""
        now, before = (np.empty((n_groups, WIDTH), dtype) for _ in range(2))
        ends, groups = np.empty(n_documents + 1, np.int64), np.empty(n_groups, np.int32)
        return cls(ends, groups, now, before, np.empty(n_documents, dtype))

    def cut(self) -> SparseTopics:
        """Return the arrays without unused room."""
        n = int(self.group_ends[-1])
        return self._replace(groups=np.array(self.groups[:n]), now=np.array(self.now[:n]), before=np.array(self.before[:n]))


def sparse_problem(local: Locals, n_groups: int) -> str | None:
    """Return how the loaded arrays of active topics are inconsistent, or None."""
    if not set(SparseTopics._fields) <= set(local):
        return "some arrays of the documents' active topics are missing"
    few = SparseTopics.of(local)
    ends, n = few.group_ends, len(few.groups)
    if ends[0] != 0 or ends[-1] != n or (ends[1:] < ends[:-1]).any() or few.now.shape != few.before.shape or len(few.now) != n:
        return "the row ends of the topic groups are not valid"
    is_first = np.zeros(n + 1, dtype=bool)
    is_first[ends] = True
    ascend = (few.groups[1:] > few.groups[:-1]) | is_first[1:n]
    if n and (few.groups.max() >= n_groups or not ascend.all()):
        return "the topic groups of a document do not ascend, or are out of range"
    return None


def sparse_pass(
    shard: Shard, few: SparseTopics, momentum: Any, shared: Groups, languages: NDArray[np.int32], passes: int, bound: float
) -> PassResult:
    """Run a sparse pass after `passes` others; no sum of expected counts is above `bound`."""
    dtype, n_documents = few.now.dtype, shard.n_documents
    parts = np.empty((len(shard.rows.words), 2), dtype)
    doc_rows, factors = np.empty_like(few.now), np.empty_like(few.others)
    turn = passes % EVERY
    room = len(few.groups) + len(range(turn, n_documents, EVERY)) * len(shared.starts)
    new = SparseTopics.room(n_documents, room, dtype)
    log_likelihood = sparse_documents(
        *shard.rows, languages, *few, momentum, *shared, turn, EVERY, dtype.type(LEAST),
        doc_rows, factors, parts, *new,
    )  # fmt: skip
    of_words = partial(
        sparse_words, *shard.by_word, parts, few.group_ends, few.groups, doc_rows, factors, *shared, languages
    )  # fmt: skip
    n_words, n_topics = shared.topics.shape
    shape = (n_words, n_topics + 1)  # the last column holds the prior's part in all topics: see `counts_of_few`
    expected = LazyCounts(shard.by_word.words, shape, bound * MOST, of_words)
    return PassResult(new.cut()._asdict(), expected, log_likelihood)


def sparse_topics_of(now: NDArray[Any], before: NDArray[Any]) -> SparseTopics:
    """Select the active topics from N_dk in all topics, after the last pass and after the one before."""
    n_documents, n_topics = now.shape
    starts = starts_of_groups(n_topics)
    few = SparseTopics.room(n_documents, n_documents * len(starts), now.dtype)
    select_groups(now, before, now.dtype.type(LEAST), starts, n_topics, *few)
    return few.cut()


def in_all_topics(few: SparseTopics, alpha: NDArray[Any]) -> NDArray[Any]:
    """Compute P(topic | document) in all topics from the active ones."""
    n_topics = len(alpha)
    shares = np.empty((len(few.others), n_topics), few.now.dtype)
    expand_theta(few.group_ends, few.groups, few.now, few.others, in_groups(alpha), starts_of_groups(n_topics), shares)
    return shares


def starts_of_groups(n_topics: int) -> NDArray[np.int64]:
    """Return the first topic of each group; the last group starts earlier if it would extend beyond the last topic."""
    return np.minimum(np.arange(0, n_topics, WIDTH), n_topics - WIDTH)


def in_groups(values: NDArray[Any]) -> NDArray[Any]:
    """Arrange topic values group by group along the last axis; zero where a topic counts in the previous group."""
    n_topics = values.shape[-1]
    starts = starts_of_groups(n_topics)
    places = starts[:, None] + np.arange(WIDTH)
    counts_here = places >= np.arange(0, n_topics, WIDTH)[:, None]
    return np.ascontiguousarray(np.where(counts_here, values[..., places], 0), dtype=values.dtype)
