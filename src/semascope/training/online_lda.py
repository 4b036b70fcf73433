"""Streaming training loop: learn from one batch after the other, and save the state after each.

Online LDA (Hoffman, Blei and Bach 2010): a batch B of documents is inferred under the topics λ, which then move towards
their value if all D documents were like it: λ ← (1 − ρ) λ + ρ (η + D/|B| · s). Documents are not needed again.

An algorithm may iterate over a batch before the next one: its documents are inferred again under the updated topics, and
these are updated from λ again. What the documents of a batch have in common, new words above all, is then learned from
all of them together. With CVB0 this improves topics; variational inference takes one iteration, as published. Its first
batches are learned by CVB0, for the same reason that its batch form begins with passes of CVB0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
from scipy.special import psi

from semascope.corpus.corpus import Corpus
from semascope.corpus.csr import CSR
from semascope.corpus.shards import Shard, as_read_only, read_only
from semascope.engines.base import Engine, Locals, Session
from semascope.engines.exact_sums import Scalars, ScalarTotal
from semascope.training.cvb0_sampled import SweepStats, padded, sampled_alpha, sampled_eta, sweep_shard
from semascope.training.hyperpriors import WordPrior, newton_alpha, newton_eta, next_alpha, next_eta, statistics_of_alpha
from semascope.training.stochastic_cvb0 import SCVB0
from semascope.training.variational import VB, VBState, first_theta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semascope.engines.exact_sums import Counts

SWEEPS = 20
"""Sweeps over the documents of a batch before sampled assignments are counted: there are none at first."""

S = TypeVar("S")
B_contra = TypeVar("B_contra", contravariant=True)


class Learner(Protocol[S, B_contra]):
    """Learner from a stream."""

    def learn(self, state: S, batch: B_contra) -> S:
        """Return the state after a batch."""


def run_stream(learner: Learner[S, B_contra], state: S, batches: Iterable[B_contra], keep: Callable[[S], None]) -> S:
    """Learn from one batch after the other; `keep` is called with the state after each."""
    for batch in batches:
        state = learner.learn(state, batch)
        keep(state)
    return state


class OnlineState(NamedTuple):
    """State after some documents.

    topics      λ_vk / Σ_v λ_vk, which is P(word | topic)
    sizes       Σ_v λ_vk
    alpha       prior of the documents' topics
    eta         prior of the words in a topic
    documents   nonempty documents so far
    theta       P(topic | document) of the last batch
    """

    topics: NDArray[Any]
    sizes: NDArray[np.float64]
    alpha: NDArray[np.float64]
    eta: float
    documents: int
    theta: NDArray[Any]

    @property
    def topic_shares(self) -> NDArray[np.float64]:
        """P(topic), without the prior."""
        counts = np.maximum(self.sizes - len(self.topics) * self.eta, np.finfo(np.float64).tiny)
        return np.asarray(counts / counts.sum())

    def expand_vocabulary(self, n_words: int) -> OnlineState:
        """Return the state with more words, whose counts are zero: λ = η."""
        n_new = n_words - len(self.topics)
        if n_new == 0:
            return self
        sizes = self.sizes + n_new * self.eta
        topics = np.empty((n_words, len(sizes)), dtype=self.topics.dtype)
        topics[: len(self.topics)] = self.topics * (self.sizes / sizes).astype(topics.dtype)
        topics[len(self.topics) :] = (self.eta / sizes).astype(topics.dtype)
        return self._replace(topics=topics, sizes=sizes)


@dataclass(frozen=True)
class OnlineLDA:
    """LDA learned from batches of documents.

    algorithm    the E-step within a batch: VB, or SCVB0
    settings     its settings
    offset       τ
    decay        κ
    batch_size   documents of a full batch
    total        D; None for the documents so far
    engine       engine to run on
    whole        counts are whole numbers, so that assignments can be sampled
    collapsed    documents of the stream whose E-step is that of SCVB0: rough topics trap the one of VB
    """

    algorithm: type[VB]
    settings: dict[str, Any]
    offset: float
    decay: float
    batch_size: int
    total: int | None
    engine: Engine
    whole: bool = True
    collapsed: int = 0

    def start(self, corpus: Corpus) -> OnlineState:
        """Compute the first topics from documents of a corpus, with as many tokens as a batch: nothing is learned yet."""
        algorithm = self._algorithm_for(corpus)
        with self.engine.open(corpus.shards()) as placed:
            state = algorithm.init_state(placed.begin(algorithm.init_shard))
            none = placed.documents(itemgetter("theta"))[:0]
        worth = (self.total or min(self.batch_size, corpus.n_documents)) / corpus.n_documents
        counts = state.topics * state.sizes.astype(algorithm.dtype) - state.eta
        counts[algorithm.prior.words, algorithm.prior.topics] -= algorithm.prior.extra.astype(algorithm.dtype)
        counts = np.maximum(counts, 0) * worth
        first = OnlineState(np.zeros_like(counts), np.zeros(algorithm.n_topics), state.alpha, state.eta, 0, none)
        topics, sizes = _update_topics(first, algorithm.prior, counts, 1.0, 1.0)
        return first._replace(topics=topics, sizes=sizes)

    def learn(self, state: OnlineState, batch: Corpus) -> OnlineState:
        """Return the state after a batch over its words; an empty batch changes nothing."""
        algorithm, words = self._algorithm_for(batch, state.documents), np.unique(batch.rows.words)
        n_documents = int(np.count_nonzero(np.diff(batch.rows.ends)))
        rate, seen = self.rate(state.documents, n_documents), state.documents + n_documents
        topics, sizes = state.topics, state.sizes
        with self.engine.open(batch.shards()) as placed:
            for iteration in range(algorithm.inner_iterations):
                held = _fixed_state(algorithm, state._replace(topics=topics, sizes=sizes), words)
                first_step = partial(_first_e_step, algorithm=algorithm, state=held)
                stats = placed.step(algorithm.step, held) if iteration else placed.begin(first_step)
                if n_documents:
                    expected, scale = stats.word_topic.values(algorithm.dtype), (self.total or seen) / n_documents
                    topics, sizes = _update_topics(state, algorithm.prior, expected, rate, scale)
            state = state._replace(theta=placed.documents(itemgetter("theta")))
            if n_documents == 0:
                return state
            after = OnlineState(topics, sizes, state.alpha, state.eta, seen, state.theta)
            if self.algorithm.learns_from_draws:
                learn = self._priors_from_draws if self.whole else self._priors_from_expected
                alpha, eta = learn(algorithm, after, placed, stats)
                alpha = (1 - rate) * state.alpha + rate * alpha
            else:
                alpha, eta = self._priors_from_bound(algorithm, after, stats, rate)
        return after._replace(alpha=alpha, eta=(1 - rate) * state.eta + rate * eta)

    def _priors_from_bound(
        self, algorithm: VB, state: OnlineState, stats: Any, rate: float
    ) -> tuple[NDArray[np.float64], float]:
        """Return the α whose mean E[log θ_d] is updated by the batch, and the η that maximizes the bound.

        The mean is updated, not the prior: priors that fit a handful of documents best are far too certain. The mean of an α
        is Ψ(α_k) − Ψ(Σα).
        """
        alpha, eta = state.alpha, state.eta
        if algorithm.learn_alpha:
            *sums, n_documents = stats.for_alpha.sums()
            known = psi(alpha) - psi(alpha.sum())
            alpha = newton_alpha(alpha, (1 - rate) * known + rate * np.array(sums) / n_documents, 1)
        if algorithm.learn_eta and algorithm.prior.is_flat:
            _, log_topics = VB.table(algorithm, state.topics, state.sizes[None])  # in a batch of SCVB0, too
            eta = newton_eta(eta, log_topics, algorithm.n_topics, algorithm.language_sizes)
        return alpha, eta

    def _priors_from_draws(
        self, algorithm: VB, state: OnlineState, placed: Session, stats: Any
    ) -> tuple[NDArray[np.float64], float]:
        """Return the priors that maximize the likelihood of assignments sampled with the current topics.

        The counts of a batch suffice for η: φ_k ~ Dir(η) generates them, whatever their number.
        """
        alpha, eta = state.alpha, state.eta
        learn_eta = algorithm.learn_eta and algorithm.prior.is_flat
        if not (algorithm.learn_alpha or learn_eta):
            return alpha, eta
        held = VBState(state.topics, state.sizes[None], state.topics[:0], alpha, alpha, alpha, eta, eta)
        seed = np.random.SeedSequence([algorithm.seed, state.documents])
        keys = seed.generate_state(SWEEPS, np.uint64).astype(np.uint64)
        task = partial(sweep_batch, keys=keys, bound=algorithm.n_tokens)
        sampled = placed.step(task, held)
        if algorithm.learn_alpha:
            alpha = sampled_alpha(alpha, sampled.exceeding.values(np.float64))
        if learn_eta:
            eta = sampled_eta(eta, sampled.word_topic.values(np.float32), algorithm.word_languages)
        return alpha, eta

    def _priors_from_expected(
        self, algorithm: VB, state: OnlineState, placed: Session, stats: Any
    ) -> tuple[NDArray[np.float64], float]:
        """Return the priors after a step towards the maximum likelihood of the expected counts."""
        alpha, eta = state.alpha, state.eta
        if algorithm.learn_eta and algorithm.prior.is_flat:
            eta = next_eta(eta, stats.word_topic.values(algorithm.dtype), algorithm.word_languages)
        if algorithm.learn_alpha:
            alpha = next_alpha(alpha, placed.step(_expected_in_batch, alpha).for_alpha.sums())
        return alpha, eta

    def rate(self, seen: int, n_documents: int) -> float:
        """Return ρ of a batch. Time is counted in full batches, smaller ones in proportion."""
        full = min((self.offset + seen / self.batch_size) ** -self.decay, 1.0)
        return float(1 - (1 - full) ** (n_documents / self.batch_size))

    def _algorithm_for(self, corpus: Corpus, seen: int = 0) -> VB:
        algorithm = SCVB0 if seen < self.collapsed else self.algorithm
        facts: dict[str, Any] = {"n_documents": corpus.n_documents, "n_words": corpus.n_words, "n_tokens": corpus.n_tokens}
        return algorithm(**facts, **self.settings)


def _fixed_state(algorithm: VB, state: OnlineState, words: NDArray[np.int32]) -> VBState:
    """Return the state held fixed while documents of these words are inferred."""
    table, _ = algorithm.table(state.topics, state.sizes[None], words)
    return VBState(state.topics, state.sizes[None], table, state.topic_shares, state.alpha, state.alpha, state.eta, state.eta)


def _first_e_step(shard: Shard, algorithm: VB, state: VBState) -> tuple[Locals, Any]:
    """Run the E-step on new documents."""
    return algorithm.step(shard, {"theta": first_theta(shard, state.document_alpha, algorithm.dtype)}, state)


class ExpectedStats(NamedTuple):
    """Statistics for learning α from counts that are not whole numbers."""

    for_alpha: Scalars | ScalarTotal


def _expected_in_batch(shard: Shard, local: Locals, alpha: NDArray[np.float64]) -> tuple[Locals, ExpectedStats]:
    """Compute the statistics of α from expected counts."""
    return local, ExpectedStats(Scalars(statistics_of_alpha(local["theta"], shard.lengths, alpha)))


def sweep_batch(
    shard: Shard, local: Locals, state: VBState, keys: NDArray[np.uint64], bound: float
) -> tuple[Locals, SweepStats]:
    """Sample the assignments of a batch with the topics held fixed; only rows of its own words are read."""
    own = shard.by_word.words
    numbers = np.zeros(shard.n_words, np.int32)
    numbers[own] = np.arange(len(own), dtype=np.int32)
    topics = np.zeros((len(own), padded(state.topics.shape[1])), np.float32)
    topics[:, : state.topics.shape[1]] = state.topics[own]
    rows = read_only(CSR(shard.rows.ends, numbers[shard.rows.words], shard.rows.counts))
    small = Shard(shard.number, shard.first_document, len(own), rows)
    chosen = np.full(int(shard.lengths.sum()), -1, np.int32)
    stats = sweep_shard(small, as_read_only(topics, np.float32), state.alpha, keys, chosen, bound)
    words = cast("Counts", stats.word_topic)
    return local, stats._replace(word_topic=words._replace(rows=own, shape=(shard.n_words, words.shape[1])))


def _update_topics(
    state: OnlineState, prior: WordPrior, expected: NDArray[Any], rate: float, scale: float
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Compute (1 − ρ) λ + ρ (η + D/|B| · s), normalized, and its sums; the expected counts are overwritten."""
    dtype = expected.dtype
    expected *= dtype.type(rate * scale)
    expected += state.topics * ((1 - rate) * state.sizes).astype(dtype)
    expected += dtype.type(rate * state.eta)
    expected[prior.words, prior.topics] += (rate * prior.extra).astype(dtype)
    sizes = expected.sum(axis=0, dtype=np.float64)
    expected /= sizes.astype(dtype)
    return expected, sizes
