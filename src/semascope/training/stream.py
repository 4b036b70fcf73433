"""The only streaming loop: learn of one batch after the other, and keep what was learned after each.

Online LDA (Hoffman, Blei and Bach 2010): a batch B of documents is taken to rest under the topics λ, which then move towards
what they would be if all D documents were like it: λ ← (1 − ρ) λ + ρ (η + D/|B| · s). Documents are not needed again.

An algorithm may look at a batch more than once before it goes on: its documents are taken to rest under the topics where they
came to lie, and these move from λ again. What a batch has in common, words that nobody knew before above all, is then found by
all of its documents together. With CVB0 that makes topics better; variational inference takes one look, as published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.corpus.shards import Shard
from semascope.engines.base import Engine, Locals
from semascope.training.dirichlet import newton_alpha, newton_eta
from semascope.training.priors import WordPrior
from semascope.training.vb import VB, VBState

if TYPE_CHECKING:
    from numpy.typing import NDArray

PASSES = 100
"""Most passes over a document: it is seen only once."""

S = TypeVar("S")
B_contra = TypeVar("B_contra", contravariant=True)


class Learner(Protocol[S, B_contra]):
    """Whoever learns from a stream."""

    def learn(self, state: S, batch: B_contra) -> S:
        """The state after a batch."""


def follow(learner: Learner[S, B_contra], state: S, batches: Iterable[B_contra], keep: Callable[[S], None]) -> S:
    """Learn of one batch after the other; `keep` is handed what was learned after each."""
    for batch in batches:
        state = learner.learn(state, batch)
        keep(state)
    return state


class OnlineState(NamedTuple):
    """What is known after some documents.

    topics      λ_vk / Σ_v λ_vk, which is P(word | topic)
    sizes       Σ_v λ_vk
    alpha       prior of the documents' topics
    eta         prior of the words in a topic
    documents   documents with words so far
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

    def grown(self, n_words: int) -> OnlineState:
        """The same with more words, of which nothing is known: λ = η, as if they had been there and never been met."""
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
    """Learns LDA from batches of documents.

    algorithm    what is done within a batch: VB, or SCVB0
    settings     its settings
    offset       τ
    decay        κ
    batch_size   documents of a full batch
    total        D; None for the documents so far
    engine       where the work is done
    """

    algorithm: type[VB]
    settings: dict[str, Any]
    offset: float
    decay: float
    batch_size: int
    total: int | None
    engine: Engine

    def start(self, corpus: Corpus) -> OnlineState:
        """Make the first topics of documents of a corpus, worth as many words as a batch: nothing is learned yet."""
        algorithm = self._algorithm_for(corpus)
        with self.engine.place(corpus.shards()) as placed:
            state = algorithm.start(placed.begin(algorithm.begin))
            none = placed.documents(itemgetter("theta"))[:0]
        worth = (self.total or min(self.batch_size, corpus.n_documents)) / corpus.n_documents
        counts = state.topics * state.sizes.astype(algorithm.dtype) - state.eta
        counts[algorithm.prior.words, algorithm.prior.topics] -= algorithm.prior.extra.astype(algorithm.dtype)
        counts = np.maximum(counts, 0) * worth
        first = OnlineState(np.zeros_like(counts), np.zeros(algorithm.n_topics), state.alpha, state.eta, 0, none)
        topics, sizes = _moved(first, algorithm.prior, counts, 1.0, 1.0)
        return first._replace(topics=topics, sizes=sizes)

    def learn(self, state: OnlineState, batch: Corpus) -> OnlineState:
        """The state after a batch over its words; one without any words teaches nothing."""
        algorithm, words = self._algorithm_for(batch), np.unique(batch.rows.words)
        n_documents = int(np.count_nonzero(np.diff(batch.rows.ends)))
        rate, seen = self.rate(state.documents, n_documents), state.documents + n_documents
        topics, sizes = state.topics, state.sizes
        with self.engine.place(batch.shards()) as placed:
            for looked in range(algorithm.looks):
                held = _held(algorithm, state._replace(topics=topics, sizes=sizes), words)
                first_look = partial(_first_look, algorithm=algorithm, state=held)
                stats = placed.step(algorithm.step, held) if looked else placed.begin(first_look)
                if n_documents:
                    expected, scale = stats.word_topic.values(algorithm.dtype), (self.total or seen) / n_documents
                    topics, sizes = _moved(state, algorithm.prior, expected, rate, scale)
            state = state._replace(theta=placed.documents(itemgetter("theta")))
        if n_documents == 0:
            return state
        alpha, eta = state.alpha, state.eta
        if algorithm.learn_alpha:
            best = newton_alpha(alpha, np.array(stats.for_alpha.sums()), batch.n_documents)
            alpha = (1 - rate) * alpha + rate * best
        if algorithm.learn_eta and algorithm.prior.is_flat:
            _, log_topics = algorithm.table(topics, sizes[None])
            eta = (1 - rate) * eta + rate * newton_eta(eta, log_topics, algorithm.n_topics, algorithm.language_sizes)
        return OnlineState(topics, sizes, alpha, eta, seen, state.theta)

    def rate(self, seen: int, n_documents: int) -> float:
        """ρ of a batch. Time is counted in full batches, and a smaller one counts for its part, however a stream is cut."""
        full = min((self.offset + seen / self.batch_size) ** -self.decay, 1.0)
        return float(1 - (1 - full) ** (n_documents / self.batch_size))

    def _algorithm_for(self, corpus: Corpus) -> VB:
        facts: dict[str, Any] = {"n_documents": corpus.n_documents, "n_words": corpus.n_words, "n_tokens": corpus.n_tokens}
        return self.algorithm(**facts, **self.settings, max_passes=PASSES)


def _held(algorithm: VB, state: OnlineState, words: NDArray[np.int32]) -> VBState:
    """What is known, as it is held fixed while documents of these words are taken to rest."""
    table, _ = algorithm.table(state.topics, state.sizes[None], words)
    return VBState(state.topics, state.sizes[None], table, state.topic_shares, state.alpha, state.alpha, state.eta, state.eta)


def _first_look(shard: Shard, algorithm: VB, state: VBState) -> tuple[Locals, Any]:
    """Take documents that nothing is known of from even topics to rest."""
    even = np.full((shard.n_documents, algorithm.n_topics), 1 / algorithm.n_topics, dtype=algorithm.dtype)
    return algorithm.step(shard, {"theta": even}, state)


def _moved(
    state: OnlineState, prior: WordPrior, expected: NDArray[Any], rate: float, scale: float
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """(1 − ρ) λ + ρ (η + D/|B| · s), normalised, and its sums; the expected counts are written over."""
    dtype = expected.dtype
    expected *= dtype.type(rate * scale)
    expected += state.topics * ((1 - rate) * state.sizes).astype(dtype)
    expected += dtype.type(rate * state.eta)
    expected[prior.words, prior.topics] += (rate * prior.extra).astype(dtype)
    sizes = expected.sum(axis=0, dtype=np.float64)
    expected /= sizes.astype(dtype)
    return expected, sizes
