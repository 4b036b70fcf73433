"""CVB0 for LDA (Asuncion et al. 2009), with asymmetric document priors that can be learned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import psi

from semascope.corpus.shards import ByWord, Shard, frozen
from semascope.engines.base import Locals
from semascope.engines.exact import CountTotal, Scalars, ScalarTotal
from semascope.kernels.cvb0 import cvb0_documents, cvb0_words
from semascope.training.em import EM, StartStats

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEARN_EVERY = 5
"""Passes between two steps of α: its statistics cost about as much as half a pass."""

SMALLEST_ALPHA = 1e-4
"""α of a topic that no document has any more."""


class CVB0State(NamedTuple):
    """What all shards share.

    topics          (N_wk + η) / (N_k + Vη), which is P(word | topic)
    scale           1 / (N_k + Vη)
    topic_shares    P(topic)
    alpha           prior of the documents' topics in the next pass
    document_alpha  the one that the documents' topics hold now
    passes          passes so far
    """

    topics: NDArray[Any]
    scale: NDArray[np.float64]
    topic_shares: NDArray[np.float64]
    alpha: NDArray[np.float64]
    document_alpha: NDArray[np.float64]
    passes: int


class ExpectedTopics(NamedTuple):
    """How often each word of a shard is expected to come from each topic; worked out while it is added, never stored."""

    entries: ByWord
    inverses: NDArray[Any]
    weights: NDArray[Any]
    doc_rows: NDArray[Any]
    alpha: NDArray[Any]
    topics: NDArray[Any]
    scale: NDArray[Any]
    floor: NDArray[Any]
    bound: float

    @property
    def rows(self) -> NDArray[np.int32]:
        return self.entries.words

    @property
    def shape(self) -> tuple[int, int]:
        return self.topics.shape

    def add_to(self, table: NDArray[np.int64], scale: float, first: int, last: int) -> None:
        cvb0_words(
            *self.entries, self.inverses, self.weights, self.doc_rows, self.alpha, self.topics, self.scale, self.floor,
            table, scale, first, last,
        )  # fmt: skip

    def empty_total(self) -> CountTotal:
        return CountTotal.for_part(self)


class CVB0Stats(NamedTuple):
    """What a pass adds up: expected counts, Σ n log P(word | document) before the pass, and what α is learned from.

    The last are Σ_d [Ψ(N_dk + α_k) − Ψ(α_k)] for each topic, and Σ_d [Ψ(|d| + Σα) − Ψ(Σα)]; zeros in passes without a step.
    """

    word_topic: ExpectedTopics | CountTotal
    log_likelihood: Scalars | ScalarTotal
    for_alpha: Scalars | ScalarTotal


@dataclass(frozen=True)
class CVB0(EM):
    """Settings of the algorithm and facts of the corpus."""

    alpha: float = 0.1
    eta: float = 0.01
    learn_alpha: bool = False

    state_type: ClassVar[type] = CVB0State

    def start(self, stats: StartStats) -> CVB0State:  # type: ignore[override]
        """Make the first topics of the seed documents, as if each had an equal share of all words."""
        plain = super().start(stats)
        counts = plain.topics * (self.n_tokens / self.n_topics)
        alpha = np.full(self.n_topics, self.alpha)
        return self._state(counts, counts.sum(axis=0, dtype=np.float64), alpha, alpha, 0)

    def step(self, shard: Shard, local: Locals, state: CVB0State) -> tuple[Locals, CVB0Stats]:  # type: ignore[override]
        """One pass over a shard."""
        ends, words, counts = shard.rows
        lengths = _lengths(shard)
        alpha, scale = state.alpha.astype(self.dtype), state.scale.astype(self.dtype)
        floor = (self.eta * state.scale).astype(self.dtype)
        rows = local["theta"] * (lengths + state.document_alpha.sum())[:, None].astype(self.dtype)
        rows += (state.alpha - state.document_alpha).astype(self.dtype)
        rows = frozen(np.maximum(rows, alpha), self.dtype)
        new_rows = np.empty_like(rows)
        inverses, weights = np.empty(len(words), dtype=self.dtype), np.empty(len(words), dtype=self.dtype)
        log_likelihood = cvb0_documents(
            ends, words, counts, rows, alpha, state.topics, scale, floor, new_rows, inverses, weights
        )
        log_likelihood -= float(lengths @ np.log(rows.sum(axis=1, dtype=np.float64)))
        expected = ExpectedTopics(shard.by_word, inverses, weights, rows, alpha, state.topics, scale, floor, self.n_tokens)
        learning = self._learns_after(state)
        for_alpha = _for_alpha(new_rows, lengths, state.alpha) if learning else (0.0,) * (self.n_topics + 1)
        new_rows /= new_rows.sum(axis=1, keepdims=True)
        return {"theta": new_rows}, CVB0Stats(expected, Scalars((log_likelihood,)), Scalars(for_alpha))

    def update(self, state: CVB0State, stats: CVB0Stats) -> CVB0State:  # type: ignore[override]
        """Make the next topics of the expected counts, and take a step of α."""
        assert isinstance(stats.word_topic, CountTotal)
        assert isinstance(stats.for_alpha, ScalarTotal)
        alpha = state.alpha
        if self._learns_after(state):
            *of_topics, of_documents = stats.for_alpha.sums()
            alpha = np.maximum(alpha * np.array(of_topics) / max(of_documents, 1e-300), SMALLEST_ALPHA)
        counts = stats.word_topic.values(self.dtype)
        return self._state(counts, stats.word_topic.column_sums(), alpha, state.alpha, state.passes + 1)

    def objective(self, state: CVB0State, stats: CVB0Stats) -> float:  # type: ignore[override]
        """Σ n log P(word | document) before the pass that gave these statistics."""
        assert isinstance(stats.log_likelihood, ScalarTotal)
        (log_likelihood,) = stats.log_likelihood.sums()
        return log_likelihood

    def _learns_after(self, state: CVB0State) -> bool:
        return self.learn_alpha and state.passes % LEARN_EVERY == LEARN_EVERY - 1

    def _state(
        self,
        counts: NDArray[Any],
        sums: NDArray[np.float64],
        alpha: NDArray[np.float64],
        document_alpha: NDArray[np.float64],
        passes: int,
    ) -> CVB0State:
        scale = 1.0 / (sums + self.n_words * self.eta)
        counts += counts.dtype.type(self.eta)
        counts *= scale.astype(counts.dtype)
        total = sums.sum()
        shares = sums / total if total > 0 else np.full(self.n_topics, 1 / self.n_topics)
        return CVB0State(counts, scale, shares, alpha, document_alpha, passes)


def _lengths(shard: Shard) -> NDArray[np.float64]:
    """Words of each document."""
    running = np.concatenate([[0.0], np.cumsum(shard.rows.counts, dtype=np.float64)])
    return np.asarray(running[shard.rows.ends[1:]] - running[shard.rows.ends[:-1]])


def _for_alpha(rows: NDArray[Any], lengths: NDArray[np.float64], alpha: NDArray[np.float64]) -> tuple[float, ...]:
    """What the step of α needs; rows are N_dk + α_k. Documents without words say nothing."""
    rows, lengths = rows[lengths > 0], lengths[lengths > 0]
    of_topics = psi(rows).sum(axis=0, dtype=np.float64) - len(rows) * psi(alpha)
    total = alpha.sum()
    return (*of_topics.tolist(), math.fsum(psi(lengths + total) - psi(total)))
