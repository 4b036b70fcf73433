"""Variational EM for LDA (Blei, Ng and Jordan 2003; on many machines, Zhai et al. 2012), with priors that can be learned.

An iteration updates γ and φ of every document under the topics λ (E-step), sums the expected counts s of its φ, and computes
the next topics from them: λ = η + s (M-step). Right after that, γ and λ are both optimal for the same φ, and E[log β] and
E[log θ] drop out of the bound. This is the bound reported: that of the current model. With warm-started documents it is
never lower than the one before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import gammaln

from semascope.corpus.shards import Shard, as_read_only
from semascope.engines.base import Locals
from semascope.engines.exact_sums import CountTotal, LazyCounts, Scalars, ScalarTotal
from semascope.kernels.variational import expected_logs, language_totals, new_topics, vb_documents, word_rows, words_part
from semascope.storage.facts import Fact, Number
from semascope.storage.layout import Array, numbers, probabilities
from semascope.training.hyperpriors import WordPrior, newton_alpha, newton_eta
from semascope.training.lda_base import LDASettings
from semascope.training.plsa import StartStats, expected_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_DOC_UPDATE_ITER = 100
"""Maximum number of passes over a document in an E-step."""

DOC_TOL = 1e-3
"""Convergence tolerance of a document: the fraction of its tokens that a pass may still reassign."""

SMALLEST = {"float32": -43.0, "float64": -350.0}
"""Logarithm of a row's smallest entry relative to its largest: the product of two entries does not underflow."""


class VBState(NamedTuple):
    """State broadcast to all shards.

    topics          λ_vk / Σ_v λ_vk, which is P(word | topic); the sum is over the words of a language
    sizes           Σ_v λ_vk, a row for each language
    table           exp(E[log β]), each word scaled to a maximum of one
    topic_shares    P(topic)
    alpha           prior of the documents' topics in the next pass
    document_alpha  the α included in the documents' current topics
    eta             base of the words' prior in the next pass
    topic_eta       the η included in the current topics
    """

    topics: NDArray[Any]
    sizes: NDArray[np.float64]
    table: NDArray[Any]
    topic_shares: NDArray[np.float64]
    alpha: NDArray[np.float64]
    document_alpha: NDArray[np.float64]
    eta: float
    topic_eta: float


class VBStats(NamedTuple):
    """Statistics of a pass: expected counts, the documents' part of the bound, and, if α is learned, Σ_d E[log θ_dk] over
    nonempty documents with their number last."""

    word_topic: LazyCounts | CountTotal
    bound: Scalars | ScalarTotal
    for_alpha: Scalars | ScalarTotal


@dataclass(frozen=True, eq=False)
class VB(LDASettings):
    """Variational EM for LDA, as pure functions of their arguments.

    max_passes   maximum number of passes over a document in an E-step
    tolerance    fraction of a document's tokens that a pass may reassign once it has converged
    """

    max_passes: int = MAX_DOC_UPDATE_ITER
    tolerance: float = DOC_TOL

    state_type: ClassVar[type] = VBState
    state_arrays: ClassVar[Mapping[str, Array]] = {
        "topics": probabilities("n_words", "n_topics"),
        "sizes": numbers("n_languages", "n_topics", low=0.0),
        "table": probabilities("n_words", "n_topics"),
        "topic_shares": probabilities("n_topics"),
        "alpha": numbers("n_topics", low=0.0),
        "document_alpha": numbers("n_topics", low=0.0),
    }
    state_numbers: ClassVar[Mapping[str, Fact]] = {"eta": Number(0), "topic_eta": Number(0)}
    objective_name: ClassVar[str] = "bound"
    inner_iterations: ClassVar[int] = 1
    """Iterations over a batch of a stream."""
    learns_from_draws: ClassVar[bool] = False
    """Whether the priors of a stream are learned from sampled assignments."""

    # --- the four functions ------------------------------------------------------------------------------------------------

    def init_state(self, stats: StartStats) -> VBState:  # type: ignore[override]
        """Compute the first topics from the seed documents or the prior, as if each had an equal share of all tokens."""
        counts = self.first_counts(stats)
        counts += counts.dtype.type(self.prior.base)
        np.add.at(counts, (self.prior.words, self.prior.topics), self.prior.extra.astype(counts.dtype))
        even = np.full(self.n_topics, 1 / self.n_topics)
        return self.state_of(counts, even, self.first_alpha, self.prior.base)

    def step(self, shard: Shard, local: Locals, state: VBState) -> tuple[Locals, VBStats]:  # type: ignore[override]
        """Run the E-step on a shard."""
        gamma = local["theta"] * (shard.lengths + state.document_alpha.sum())[:, None].astype(self.dtype)
        shares, weights = np.empty_like(gamma), np.empty(len(shard.rows.words), dtype=self.dtype)
        bound = self.e_step(shard, state, gamma, shares, weights)
        for_alpha, with_words = np.zeros(self.n_topics), shard.lengths > 0  # empty documents carry no information
        if self.learn_alpha:
            expected_logs(gamma[with_words], for_alpha)
        expected = expected_counts(shard.by_word, weights, as_read_only(shares, self.dtype), state.table, self.n_tokens)
        gamma /= gamma.sum(axis=1, keepdims=True)
        learned_from = Scalars((*for_alpha.tolist(), float(with_words.sum())))
        return {"theta": gamma}, VBStats(expected, Scalars((bound,)), learned_from)

    def e_step(self, shard: Shard, state: VBState, gamma: NDArray[Any], shares: NDArray[Any], weights: NDArray[Any]) -> float:
        """Run the E-step of a shard; the last three arguments are as in `vb_documents`."""
        smallest = SMALLEST[self.dtype]
        return float(
            vb_documents(
                *shard.rows, state.alpha, state.table, smallest, self.max_passes, self.tolerance, gamma, shares, weights
            )
        )

    def update(self, state: VBState, stats: VBStats) -> VBState:  # type: ignore[override]
        """Compute the next topics from the expected counts, and learn the priors."""
        assert isinstance(stats.word_topic, CountTotal)
        assert isinstance(stats.for_alpha, ScalarTotal)
        prior, totals = self.prior_with(state.eta), stats.word_topic
        sums = self._language_sums(totals)
        sizes = sums + self.prior_sizes(state.eta)
        topics = np.empty(totals.table.shape, dtype=self.dtype)
        unit = math.ldexp(1.0, -totals.exponent)
        new_topics(totals.table, unit, *_arrays(prior), self.word_languages, sizes, topics)
        table, log_topics = self.table(topics, sizes)
        alpha, eta = state.alpha, state.eta
        if self.learn_alpha:
            *of_topics, n_documents = stats.for_alpha.sums()
            alpha = newton_alpha(alpha, np.array(of_topics), int(n_documents))
        if self.learn_eta and prior.is_flat:
            eta = newton_eta(eta, log_topics, self.n_topics, self.language_sizes)
        in_all = sums.sum()
        shares = sums.sum(axis=0) / in_all if in_all > 0 else state.topic_shares
        return VBState(topics, sizes, table, shares, alpha, state.alpha, eta, state.eta)

    def objective(self, state: VBState, stats: VBStats) -> float:  # type: ignore[override]
        """Return the bound (ELBO) of the pass's φ, with the γ and λ that follow from it and the priors used in the pass."""
        assert isinstance(stats.word_topic, CountTotal)
        assert isinstance(stats.bound, ScalarTotal)
        prior, totals = self.prior_with(state.eta), stats.word_topic
        of_prior = self.prior_sizes(state.eta)
        sizes = self._language_sums(totals) + of_prior
        (of_documents,) = stats.bound.sums()
        of_alpha = self.n_documents * float(gammaln(state.alpha.sum()) - gammaln(state.alpha).sum())
        of_words = words_part(totals.table, math.ldexp(1.0, -totals.exponent), *_arrays(prior), state.table)
        of_eta = -self.n_words * self.n_topics * gammaln(prior.base)
        of_eta -= float((gammaln(prior.base + prior.extra) - gammaln(prior.base)).sum())
        spoken = self.language_sizes > 0
        of_sizes = float((gammaln(of_prior[spoken]) - gammaln(sizes[spoken])).sum())
        return math.fsum((of_documents, of_alpha, of_words, of_eta, of_sizes))

    # --- priors and languages ----------------------------------------------------------------------------------------------

    def state_of(self, counts: NDArray[Any], shares: NDArray[np.float64], alpha: NDArray[np.float64], eta: float) -> VBState:
        """Create a state from λ, which is overwritten."""
        sizes = np.zeros((len(self.language_sizes), self.n_topics))
        for language in range(len(sizes)):
            sizes[language] = counts[self.word_languages == language].sum(axis=0, dtype=np.float64)
        counts /= sizes[self.word_languages].astype(counts.dtype) if len(sizes) > 1 else sizes.astype(counts.dtype)
        return VBState(counts, sizes, self.table(counts, sizes)[0], shares, alpha, alpha, eta, eta)

    def table(
        self, topics: NDArray[Any], sizes: NDArray[np.float64], words: NDArray[np.int32] | None = None
    ) -> tuple[NDArray[Any], float]:
        """Compute the unnormalized probabilities of some words in topics, by default of all; and Σ_vk E[log β_vk] over them."""
        words = np.arange(self.n_words, dtype=np.int32) if words is None else words
        expected = expected_topics(words, topics, sizes, self.word_languages)
        return expected.table, expected.total

    def _language_sums(self, totals: CountTotal) -> NDArray[np.float64]:
        """Return the expected counts of each topic in each language."""
        sums = np.zeros((len(self.language_sizes), self.n_topics), np.int64)
        language_totals(totals.table, self.word_languages, sums)
        return np.asarray(np.ldexp(sums.astype(np.float64), -totals.exponent))


class ExpectedTopics(NamedTuple):
    """E[log β] of some words.

    table   exp(E[log β_vk]) / exp(peaks_v): the largest entry of each row is one
    peaks   max_k E[log β_vk]
    total   Σ_vk E[log β_vk]
    """

    table: NDArray[Any]
    peaks: NDArray[np.float64]
    total: float


def expected_topics(
    words: NDArray[np.int32], topics: NDArray[Any], sizes: NDArray[np.float64], languages: NDArray[np.int32]
) -> ExpectedTopics:
    """Compute E[log β] of some words, in tables for all; the rows of other words are not filled."""
    table, peaks = np.empty(topics.shape, dtype=topics.dtype), np.zeros(len(topics))
    frozen_words, dtype = as_read_only(words, np.int32), topics.dtype
    total = word_rows(frozen_words, as_read_only(topics, dtype), sizes, languages, SMALLEST[dtype.name], table, peaks)
    return ExpectedTopics(table, peaks, float(total))


def first_theta(shard: Shard, alpha: NDArray[np.float64], dtype: Any) -> NDArray[Any]:
    """Return the initial topics of new documents: γ = α + n / K, normalized."""
    gamma = alpha + shard.lengths[:, None] / len(alpha)
    return np.asarray((gamma / gamma.sum(axis=1, keepdims=True)).astype(dtype))


def _arrays(prior: WordPrior) -> tuple[Any, ...]:
    """Return a prior as arguments of the kernels."""
    return prior.ends, prior.topics, prior.extra, prior.base
