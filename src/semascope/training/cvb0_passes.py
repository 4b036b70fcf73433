"""Passes of CVB0 over a shard: over all topics, or over the few that each document has."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.shards import Shard
from semascope.engines.base import Locals
from semascope.engines.exact_sums import LazyCounts
from semascope.kernels.cvb0 import cvb0_documents, cvb0_words
from semascope.kernels.cvb0_sparse import MOST, all_of_few, few_documents, few_words, keep_few
from semascope.kernels.simd import WIDTH

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
    expected: LazyCounts
    log_likelihood: float


def run_pass(shard: Shard, documents: Documents, tables: Tables, languages: NDArray[np.int32], bound: float) -> PassOver:
    """Make a pass; no sum of expected counts is above `bound`."""
    doc_rows, new_theta = np.empty_like(documents.theta), np.empty_like(documents.theta)
    inverses, weights = (np.empty(len(shard.rows.words), dtype=doc_rows.dtype) for _ in range(2))
    log_likelihood = cvb0_documents(*shard.rows, languages, *documents, *tables, doc_rows, new_theta, inverses, weights)
    of_words = partial(cvb0_words, *shard.by_word, inverses, weights, doc_rows, *tables, languages)
    expected = LazyCounts(shard.by_word.words, tables.topics.shape, bound, of_words)
    return PassOver({"theta": new_theta, "before": documents.theta}, expected, log_likelihood)


LEAST = 0.3
"""Words in a topic that make it worth keeping."""

EVERY = 8
"""In each pass one document of so many chooses its topics anew."""


class Groups(NamedTuple):
    """What all documents share, as the kernels take it; named as there."""

    alpha: NDArray[Any]
    starts: NDArray[np.int64]
    topics: NDArray[Any]
    scale: NDArray[Any]
    floor: NDArray[Any]
    prior_part: NDArray[Any]


class SparseTopics(NamedTuple):
    """The few topics of a shard's documents, as the kernels take them; named as there. What stays with a shard."""

    group_ends: NDArray[np.int64]
    groups: NDArray[np.int32]
    now: NDArray[Any]
    before: NDArray[Any]
    others: NDArray[Any]

    @classmethod
    def of(cls, local: Locals) -> SparseTopics:
        """Those that stay with a shard."""
        return cls(*(local[name] for name in cls._fields))

    @classmethod
    def room(cls, n_documents: int, n_groups: int, dtype: Any) -> SparseTopics:
        """Room for so many groups, to be filled."""
        now, before = (np.empty((n_groups, WIDTH), dtype) for _ in range(2))
        ends, groups = np.empty(n_documents + 1, np.int64), np.empty(n_groups, np.int32)
        return cls(ends, groups, now, before, np.empty(n_documents, dtype))

    def cut(self) -> SparseTopics:
        """These without the room that was not needed."""
        n = int(self.group_ends[-1])
        return self._replace(groups=np.array(self.groups[:n]), now=np.array(self.now[:n]), before=np.array(self.before[:n]))


def sparse_problem(local: Locals, n_groups: int) -> str | None:
    """Return what the arrays of few topics that were read are not to each other, if anything."""
    if not set(SparseTopics._fields) <= set(local):
        return "some of the arrays of few topics are missing"
    few = SparseTopics.of(local)
    ends, n = few.group_ends, len(few.groups)
    if ends[0] != 0 or ends[-1] != n or (ends[1:] < ends[:-1]).any() or few.now.shape != few.before.shape or len(few.now) != n:
        return "the groups of topics of documents do not follow each other"
    is_first = np.zeros(n + 1, dtype=bool)
    is_first[ends] = True
    ascend = (few.groups[1:] > few.groups[:-1]) | is_first[1:n]
    if n and (few.groups.max() >= n_groups or not ascend.all()):
        return "documents have groups of topics that do not ascend, or that there are not"
    return None


def sparse_pass(
    shard: Shard, few: SparseTopics, momentum: Any, shared: Groups, languages: NDArray[np.int32], passes: int, bound: float
) -> PassOver:
    """Make a pass, the one after so many; no sum of expected counts is above `bound`."""
    dtype, n_documents = few.now.dtype, shard.n_documents
    parts = np.empty((len(shard.rows.words), 2), dtype)
    doc_rows, factors = np.empty_like(few.now), np.empty_like(few.others)
    turn = passes % EVERY
    room = len(few.groups) + len(range(turn, n_documents, EVERY)) * len(shared.starts)
    new = SparseTopics.room(n_documents, room, dtype)
    log_likelihood = few_documents(
        *shard.rows, languages, *few, momentum, *shared, turn, EVERY, dtype.type(LEAST),
        doc_rows, factors, parts, *new,
    )  # fmt: skip
    of_words = partial(
        few_words, *shard.by_word, parts, few.group_ends, few.groups, doc_rows, factors, *shared, languages
    )  # fmt: skip
    n_words, n_topics = shared.topics.shape
    shape = (n_words, n_topics + 1)  # the last column is for what the prior adds to all topics: see `counts_of_few`
    expected = LazyCounts(shard.by_word.words, shape, bound * MOST, of_words)
    return PassOver(new.cut()._asdict(), expected, log_likelihood)


def sparse_topics_of(now: NDArray[Any], before: NDArray[Any]) -> SparseTopics:
    """Keep few topics of N_dk in all topics, after the last pass and after the one before."""
    n_documents, n_topics = now.shape
    starts = starts_of_groups(n_topics)
    few = SparseTopics.room(n_documents, n_documents * len(starts), now.dtype)
    keep_few(now, before, now.dtype.type(LEAST), starts, n_topics, *few)
    return few.cut()


def in_all_topics(few: SparseTopics, alpha: NDArray[Any]) -> NDArray[Any]:
    """P(topic | document) in all topics, of few."""
    n_topics = len(alpha)
    shares = np.empty((len(few.others), n_topics), few.now.dtype)
    all_of_few(few.group_ends, few.groups, few.now, few.others, in_groups(alpha), starts_of_groups(n_topics), shares)
    return shares


def starts_of_groups(n_topics: int) -> NDArray[np.int64]:
    """First topic of each group; the last one begins earlier where it would reach beyond the last topic."""
    return np.minimum(np.arange(0, n_topics, WIDTH), n_topics - WIDTH)


def in_groups(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers of the topics, group by group along the last axis; zero where a topic counts in the group before."""
    n_topics = values.shape[-1]
    starts = starts_of_groups(n_topics)
    places = starts[:, None] + np.arange(WIDTH)
    counts_here = places >= np.arange(0, n_topics, WIDTH)[:, None]
    return np.ascontiguousarray(np.where(counts_here, values[..., places], 0), dtype=values.dtype)
