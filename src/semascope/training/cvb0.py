"""CVB0 for LDA (Asuncion et al. 2009), with momentum, and with priors that can be learned.

A pass gives counts N_dk of topics in documents and N_wk in words. The next one starts a little ahead of them, in the direction
in which they have moved: N + 0.95 (N − N before). Passes move slowly along one valley for long, and this saves many of them.
When the log-likelihood falls nevertheless, the next pass starts from the counts themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from semascope.corpus.shards import Shard, frozen
from semascope.engines.base import Locals
from semascope.engines.exact import CountTotal, Scalars, ScalarTotal
from semascope.kernels.cvb0 import go_on, normalise
from semascope.training.cvb0_pass import Documents, ExpectedTopics, Tables, pass_over
from semascope.training.em import StartStats
from semascope.training.lda import LDASettings, lengths_of
from semascope.training.polya import next_alpha, next_eta, statistics_of_alpha

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOMENTUM = 0.95
"""How far to go on in the direction of the last pass."""

HELD = 10
"""Passes in which words of an informed prior are held back from other topics than their own."""

LEARN_ALPHA_EVERY = 5
"""Passes between two steps of α, whose statistics take a digamma of every topic of every document."""

LEARN_ETA_EVERY = 10
"""Passes between two steps of η."""


class CVB0State(NamedTuple):
    """What all shards share.

    topics          P(word | topic) that the next pass starts from, ahead of the counts
    counts          N_wk after the last pass
    scale           1 / (N_k + Σ_w η), a row for each language, of `topics`
    topic_shares    P(topic)
    alpha           prior of the documents' topics in the next pass
    document_alpha  the one that the documents' topics hold now
    eta             prior of the words in a topic; more where the prior is informed
    momentum        how far ahead the next pass starts
    objective       log-likelihood before the last pass
    passes          passes so far
    """

    topics: NDArray[Any]
    counts: NDArray[Any]
    scale: NDArray[np.float64]
    topic_shares: NDArray[np.float64]
    alpha: NDArray[np.float64]
    document_alpha: NDArray[np.float64]
    eta: float
    momentum: float
    objective: float
    passes: int


class CVB0Stats(NamedTuple):
    """What a pass adds up: expected counts, Σ n log P(word | document) before the pass, and what α is learned from."""

    word_topic: ExpectedTopics | CountTotal
    log_likelihood: Scalars | ScalarTotal
    for_alpha: Scalars | ScalarTotal


@dataclass(frozen=True, eq=False)
class CVB0(LDASettings):
    """Settings of the algorithm and facts of the corpus."""

    state_type: ClassVar[type] = CVB0State

    def begin(self, shard: Shard) -> tuple[Locals, StartStats]:
        """As EM does; what the documents' topics were before is what they are."""
        local, stats = super().begin(shard)
        return {**local, "before": local["theta"]}, stats

    def start(self, stats: StartStats) -> CVB0State:  # type: ignore[override]
        """Make the first topics of the seed documents or of the informed prior, as if each had an equal share of all words."""
        counts, alpha = self.first_counts(stats), self.first_alpha
        even = np.full(self.n_topics, 1 / self.n_topics)
        nothing = np.zeros((len(self.language_sizes), self.n_topics))
        state = CVB0State(counts, counts, nothing, even, alpha, alpha, self.prior.base, 0.0, -math.inf, 0)
        ahead = np.array(counts)
        self._hold(ahead, nothing, 0)
        return self._with_topics(state, ahead, self._sums_of(ahead))

    def step(self, shard: Shard, local: Locals, state: CVB0State) -> tuple[Locals, CVB0Stats]:  # type: ignore[override]
        """One pass over a shard."""
        tables, documents = self._as_kernels_take_it(state, local)
        done = pass_over(shard, documents, tables, self.word_languages, self.n_tokens)
        for_alpha = (0.0,) * (self.n_topics + 1)
        if self._learns_alpha_after(state):
            for_alpha = statistics_of_alpha(done.theta, lengths_of(shard), state.alpha)
        stats = CVB0Stats(done.expected, Scalars((done.log_likelihood,)), Scalars(for_alpha))
        return {"theta": done.theta, "before": documents.theta}, stats

    def update(self, state: CVB0State, stats: CVB0Stats) -> CVB0State:  # type: ignore[override]
        """Make the next topics of the expected counts, and take a step of the priors that are learned."""
        assert isinstance(stats.word_topic, CountTotal)
        assert isinstance(stats.for_alpha, ScalarTotal)
        objective = self.objective(state, stats)
        momentum = MOMENTUM if state.passes > 0 and objective >= state.objective else 0.0
        counts, ahead = np.empty_like(state.counts), np.empty_like(state.counts)
        sums = np.zeros_like(state.scale)
        unit, towards = (np.dtype(self.dtype).type(x) for x in (math.ldexp(1.0, -stats.word_topic.exponent), momentum))
        go_on(stats.word_topic.table, unit, state.counts, towards, self.word_languages, counts, ahead, sums)
        self._hold(ahead, sums, state.passes + 1)
        alpha, eta = state.alpha, state.eta
        if self._learns_alpha_after(state):
            alpha = next_alpha(alpha, stats.for_alpha.sums())
        if self._learns_eta_after(state):
            eta = next_eta(eta, counts, self.word_languages)
        shares = stats.word_topic.column_sums()
        shares = shares / shares.sum() if shares.sum() > 0 else np.full(self.n_topics, 1 / self.n_topics)
        new = CVB0State(
            ahead, counts, state.scale, shares, alpha, state.alpha, eta, momentum, objective, state.passes + 1
        )  # fmt: skip
        return self._with_topics(new, ahead, sums)

    def objective(self, state: CVB0State, stats: CVB0Stats) -> float:  # type: ignore[override]
        """Σ n log P(word | document) before the pass that gave these statistics."""
        assert isinstance(stats.log_likelihood, ScalarTotal)
        (log_likelihood,) = stats.log_likelihood.sums()
        return log_likelihood

    def to_keep(self, state: CVB0State) -> CVB0State:  # type: ignore[override]
        """The last counts themselves, not what lies ahead of them."""
        return self._with_topics(state, np.array(state.counts), self._sums_of(state.counts))

    def _as_kernels_take_it(self, state: CVB0State, local: Locals) -> tuple[Tables, Documents]:
        alpha, scale = state.alpha.astype(self.dtype), state.scale.astype(self.dtype)
        floor = (state.eta * state.scale).astype(self.dtype)
        theta, before = (frozen(local[name], self.dtype) for name in ("theta", "before"))
        held = state.document_alpha.astype(self.dtype)
        momentum = np.dtype(self.dtype).type(state.momentum)
        return Tables(alpha, state.topics, scale, floor), Documents(theta, before, momentum, held)

    def _hold(self, counts: NDArray[Any], sums: NDArray[np.float64], passes: int) -> None:
        """In the first passes, keep words that the prior puts into topics out of the others; less and less so.

        Otherwise a topic that happens to start with more of a theme draws its words away before their own can.
        """
        if not self.prior.guides or passes >= HELD:
            return
        words, rows = np.unique(self.prior.words, return_inverse=True)
        elsewhere = np.ones((len(words), self.n_topics), dtype=bool)
        elsewhere[rows, self.prior.topics] = False
        taken = counts[words] * elsewhere * counts.dtype.type(1 - passes / HELD)
        counts[words] -= taken
        np.subtract.at(sums, self.word_languages[words], taken)

    def _sums_of(self, counts: NDArray[Any]) -> NDArray[np.float64]:
        """Counts of each topic in each language."""
        of_languages = [counts[self.word_languages == number] for number in range(len(self.language_sizes))]
        return np.array([part.sum(axis=0, dtype=np.float64) for part in of_languages])

    def _learns_alpha_after(self, state: CVB0State) -> bool:
        return self.learn_alpha and state.passes % LEARN_ALPHA_EVERY == LEARN_ALPHA_EVERY - 1

    def _learns_eta_after(self, state: CVB0State) -> bool:
        return self.learn_eta and self.prior.is_flat and state.passes % LEARN_ETA_EVERY == LEARN_ETA_EVERY - 1

    def _with_topics(self, state: CVB0State, counts: NDArray[Any], sums: NDArray[np.float64]) -> CVB0State:
        """Make topics of counts, in place, with the sums of each language."""
        prior, totals = self.prior, sums + self.prior_sizes(state.eta)
        scale = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)  # a language may have no words
        normalise(counts, counts.dtype.type(state.eta), scale.astype(self.dtype), self.word_languages)
        if not prior.is_flat:
            of_language = scale[self.word_languages[prior.words], prior.topics]
            counts[prior.words, prior.topics] += (prior.extra * of_language).astype(self.dtype)
        return state._replace(topics=frozen(counts, self.dtype), scale=scale)
