"""Fused EM for PLSA (Hofmann 1999): P(word | document) = Σ_z P(z | document) P(word | z)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from semascope.corpus.shards import ByWord, Shard, as_read_only
from semascope.engines.base import Locals
from semascope.engines.exact_sums import Counts, CountTotal, LazyCounts, Scalars, ScalarTotal
from semascope.kernels.plsa import em_documents, em_words
from semascope.storage.facts import Fact, Number
from semascope.storage.layout import Array, probabilities
from semascope.training.algorithm import AlgorithmConfig

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED_DOCUMENTS = 8
"""Number of seed documents of each topic."""

BACKGROUND = 0.5
"""Weight of the whole corpus in each topic's start: every topic knows every word, and none is a copy of a document."""


class EMState(NamedTuple):
    """State broadcast to all shards.

    topics         column z is P(word | topic z)
    topic_shares   P(topic)
    document_part  Σ_d |d| log(|d| / N), the constant part of the log-likelihood
    """

    topics: NDArray[Any]
    topic_shares: NDArray[np.float64]
    document_part: float


class StartStats(NamedTuple):
    """Statistics of the first pass: words of each topic's seed documents, words of all documents, Σ |d| log |d|."""

    seeds: Counts | CountTotal
    everything: Counts | CountTotal
    lengths: Scalars | ScalarTotal


class EMStats(NamedTuple):
    """Statistics of a pass: expected counts of words and topics, and the log-likelihood before the pass."""

    word_topic: LazyCounts | Counts | CountTotal
    log_likelihood: Scalars | ScalarTotal


@dataclass(frozen=True)
class EM(AlgorithmConfig):
    """EM for PLSA, as pure functions of their arguments."""

    state_type: ClassVar[type] = EMState
    state_arrays: ClassVar[Mapping[str, Array]] = {
        "topics": probabilities("n_words", "n_topics"), "topic_shares": probabilities("n_topics"),
    }  # fmt: skip
    state_numbers: ClassVar[Mapping[str, Fact]] = {"document_part": Number()}
    local_arrays: ClassVar[Mapping[str, Array]] = {"theta": probabilities("shard_documents", "n_topics")}
    objective_name: ClassVar[str] = "log-likelihood"

    def init_shard(self, shard: Shard) -> tuple[Locals, StartStats]:
        """Initialize the topics from a few random documents each, and the documents from nearly uniform topics."""
        lengths, counts = shard.lengths, self.counts_to_start_from(shard)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_part = np.where(lengths > 0, lengths * np.log(lengths), 0.0)
        stats = StartStats(
            self._counts(*self._seed_counts(shard, counts)),
            self._counts(shard.by_word.words, _word_counts(shard, counts)),
            Scalars((math.fsum(log_part),)),
        )
        generator = np.random.default_rng([self.seed, 1, shard.number])
        theta = generator.uniform(0.5, 1.5, (shard.n_documents, self.n_topics))  # not uniform, so that no two topics stay equal
        theta /= theta.sum(axis=1, keepdims=True)
        return {"theta": theta.astype(self.dtype)}, stats

    def counts_to_start_from(self, shard: Shard) -> NDArray[np.float32]:
        """Return the counts used to initialize the topics."""
        return shard.rows.counts

    def init_state(self, stats: StartStats) -> EMState:
        """Compute the first topics."""
        assert isinstance(stats.seeds, CountTotal)
        assert isinstance(stats.everything, CountTotal)
        assert isinstance(stats.lengths, ScalarTotal)
        topics = stats.seeds.columns_normalized(self.dtype)
        topics *= 1 - BACKGROUND
        topics += BACKGROUND * stats.everything.columns_normalized(self.dtype)
        topics /= np.maximum(topics.sum(axis=0, dtype=np.float64), np.finfo(self.dtype).tiny).astype(self.dtype)
        (lengths,) = stats.lengths.sums()
        return EMState(
            topics,
            np.full(self.n_topics, 1 / self.n_topics),
            lengths - self.n_tokens * math.log(self.n_tokens) if self.n_tokens else 0.0,
        )

    def step(self, shard: Shard, local: Locals, state: EMState) -> tuple[Locals, EMStats]:
        """Run a pass over a shard."""
        rows, words = shard.rows, shard.by_word
        theta = as_read_only(local["theta"], self.dtype)
        new_theta = np.empty_like(theta)
        weights = np.empty(len(rows.words), dtype=self.dtype)
        log_likelihood = em_documents(*rows, theta, state.topics, theta, new_theta, weights)
        expected = expected_counts(words, weights, theta, state.topics, self.n_tokens)
        return {"theta": new_theta}, EMStats(expected, Scalars((log_likelihood,)))

    def update(self, state: EMState, stats: EMStats) -> EMState:
        """Compute the next topics from the expected counts."""
        assert isinstance(stats.word_topic, CountTotal)
        sums = stats.word_topic.column_sums()
        total = sums.sum()
        shares = sums / total if total > 0 else state.topic_shares
        return EMState(stats.word_topic.columns_normalized(self.dtype), shares, state.document_part)

    def objective(self, state: EMState, stats: EMStats) -> float:
        """Return the log-likelihood Σ n log P(document, word) before the pass that yielded these statistics."""
        assert isinstance(stats.log_likelihood, ScalarTotal)
        (log_likelihood,) = stats.log_likelihood.sums()
        return log_likelihood + state.document_part

    def document_rows(self, kept: EMState, local: Locals) -> NDArray[Any]:
        """Return P(topic | document)."""
        return local["theta"]

    def _counts(self, words: NDArray[np.int32], values: NDArray[Any]) -> Counts:
        return Counts(words, values, (self.n_words, values.shape[1]), self.n_tokens)

    def _seed_counts(self, shard: Shard, given: NDArray[np.float32]) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """Return the words of this shard's seed documents, and their counts, a column for each topic."""
        documents = self._seed_documents - shard.first_document
        topics, places = np.nonzero((documents >= 0) & (documents < shard.n_documents))
        chosen = documents[topics, places]
        entries = [slice(shard.rows.ends[document], shard.rows.ends[document + 1]) for document in chosen]
        words = np.unique(np.concatenate([np.empty(0, np.int32), *(shard.rows.words[part] for part in entries)]))
        counts = np.zeros((len(words), self.n_topics), dtype=self.dtype)
        for topic, part in zip(topics, entries, strict=True):
            counts[np.searchsorted(words, shard.rows.words[part]), topic] += given[part] / SEED_DOCUMENTS
        return words, counts

    @cached_property
    def _seed_documents(self) -> NDArray[np.int64]:
        generator = np.random.default_rng([self.seed, 0])
        return generator.integers(self.n_documents, size=(self.n_topics, SEED_DOCUMENTS))


def _word_counts(shard: Shard, counts: NDArray[np.float32]) -> NDArray[np.float64]:
    """Count each distinct word of the shard."""
    in_order = counts[shard.by_word.places].astype(np.float64)
    if len(in_order) == 0:
        return np.empty((0, 1))
    return np.add.reduceat(in_order, shard.by_word.ends[:-1])[:, None]


def expected_counts(
    entries: ByWord, weights: NDArray[Any], theta: NDArray[Any], topics: NDArray[Any], bound: float
) -> LazyCounts:
    """Compute the expected counts of each word of a shard and each topic."""
    return LazyCounts(entries.words, topics.shape, bound, partial(em_words, *entries, weights, theta, topics))
