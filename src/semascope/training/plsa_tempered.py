"""Tempered EM for PLSA (Hofmann 1999): topics regularized against overfitting.

P(topic | word, document) is taken ∝ P(z)^(1−β) [P(z | document) P(word | z)]^β with β ≤ 1. With both tables taken to the power
of β beforehand, a pass is the one of plain EM.

"auto" selects β: a tenth of the tokens is held out; from β = 1, which is plain EM stopped early, β is lowered by a
factor for as long as the held-out tokens become more probable; then the topics of the best β are trained on all tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from semascope.corpus.shards import Shard, as_read_only
from semascope.engines.base import Locals
from semascope.engines.exact_sums import CountTotal, LazyCounts, Scalars, ScalarTotal
from semascope.kernels.heldout import hold_out
from semascope.kernels.plsa import em_documents, heldout_likelihood
from semascope.storage.facts import ROWS_OF_NUMBERS, Fact, Flag, Items, Maybe, Number, Whole
from semascope.storage.layout import Array, probabilities
from semascope.training.plsa import EM, StartStats, expected_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

AUTO = "auto"

HELD_OUT = 0.1
"""Fraction of the tokens held out to select β."""

BACKGROUND_MIX = 0.1
"""Weight of the background in predicting held-out tokens: a word unseen by its document's topics is not impossible."""

FACTOR = 0.9
"""Factor by which β is lowered."""

MIN_PASSES = 5
MAX_PASSES = 100
"""Minimum and maximum number of passes at each β."""

GAIN = 1e-3
"""Stay at the same β while a pass increases the log-probability per held-out token by this much."""

WORTH = 1e-2
"""Minimum improvement of a lower β over the best one: of those nearly as good, the largest is chosen, since too low a β
melts all topics into one."""

PATIENCE = 3
"""The search ends, with the best β tried, when β was lowered this many times in a row without improvement."""

BLOCK = 1 << 16
"""Number of values exponentiated at a time: they stay in the cache."""


class Search(NamedTuple):
    """State of the search for β. A score is the mean log-probability of a held-out token.

    tried       the values of β tried before, and the best score at each
    passes      passes at the current β
    last        score before the last pass
    here        best score at the current β, None before the first
    best_beta   β of the best topics so far
    best_score  and their score, None before the first
    n_passes    passes in all
    """

    tried: list[list[float]]
    passes: int
    last: float | None
    here: float | None
    best_beta: float
    best_score: float | None
    n_passes: int

    def is_better(self, beta: float, score: float) -> bool:
        """Return whether topics are better than the best so far: those of a lower β by a significant step."""
        return self.best_score is None or score >= self.best_score + (0.0 if beta == self.best_beta else WORTH)

    def falls(self) -> bool:
        """Return whether β was lowered PATIENCE times in a row without a significant improvement."""
        scores = [score for _, score in self.tried][-PATIENCE - 1 :]
        return len(scores) > PATIENCE and all(after < before + WORTH for before, after in pairwise(scores))


_SCORE = Maybe(Number())
SEARCH = Items(ROWS_OF_NUMBERS, Whole(), _SCORE, _SCORE, Number(0, 1), _SCORE, Whole())
"""Layout of a search in a checkpoint."""

NO_SEARCH = Search([], 0, None, None, 1.0, None, 0)


class TemperedState(NamedTuple):
    """State broadcast to all shards.

    topics         column z is P(word | topic z)
    powered        topics to the power of β
    topic_shares   P(topic)
    document_part  Σ_d |d| log(|d| / N)
    background     P(word) in the tokens used during the search
    best_topics    the topics at the best β during a search
    best_shares    and their P(topic)
    beta           β
    searching      whether β is still being selected
    search         state of the search; a list when loaded from a checkpoint
    """

    topics: NDArray[Any]
    powered: NDArray[Any]
    topic_shares: NDArray[np.float64]
    document_part: float
    background: NDArray[np.float64]
    best_topics: NDArray[Any]
    best_shares: NDArray[np.float64]
    beta: float
    searching: bool
    search: Search


class TemperedStats(NamedTuple):
    """Statistics of a pass: expected counts, Σ n log Z before the pass, and for held-out tokens Σ n log P and Σ n."""

    word_topic: LazyCounts | CountTotal
    log_likelihood: Scalars | ScalarTotal
    held_out: Scalars | ScalarTotal


@dataclass(frozen=True)
class TemperedEM(EM):
    """EM with a fixed or selected β."""

    tempering: float | str = AUTO

    state_type: ClassVar[type] = TemperedState
    state_arrays: ClassVar[Mapping[str, Array]] = {
        **EM.state_arrays,
        "powered": probabilities("n_words", "n_topics"),
        "background": probabilities("n_words"),
        "best_topics": probabilities("n_words", "n_topics", may_be_empty=True),
        "best_shares": probabilities("n_topics"),
    }
    state_numbers: ClassVar[Mapping[str, Fact]] = {
        **EM.state_numbers, "beta": Number(0, 1), "searching": Flag(), "search": SEARCH,
    }  # fmt: skip

    def state_problem(self, state: TemperedState, history: Sequence[float]) -> str | None:
        search = Search(*state.search)
        if search.n_passes > len(history) or (state.searching and self.tempering != AUTO):
            return "the search for β has more passes than the history"
        if any(len(pair) != 2 for pair in search.tried):
            return "the search for β has entries that are not pairs of β and score"
        if state.searching and search.best_score is not None and not len(state.best_topics):
            return "the best topics of the search for β are missing"
        return None

    def counts_to_start_from(self, shard: Shard) -> NDArray[np.float32]:
        """Return the counts without held-out tokens, if there are any: nothing may be learned from them."""
        return self._counts_and_held(shard)[0] if self.tempering == AUTO else shard.rows.counts

    def init_state(self, stats: StartStats) -> TemperedState:  # type: ignore[override]
        """Compute the first topics, at β = 1 if it is to be selected."""
        plain = super().init_state(stats)
        assert isinstance(stats.everything, CountTotal)
        searching = self.tempering == AUTO
        beta = 1.0 if searching else float(self.tempering)
        none = np.empty((0, self.n_topics), dtype=self.dtype)
        background = stats.everything.columns_normalized(np.float64)[:, 0]
        return TemperedState(
            plain.topics, power(plain.topics, beta), plain.topic_shares, plain.document_part,
            background, none, plain.topic_shares, beta, searching, NO_SEARCH,
        )  # fmt: skip

    def step(self, shard: Shard, local: Locals, state: TemperedState) -> tuple[Locals, TemperedStats]:  # type: ignore[override]
        """Run a pass over a shard."""
        theta, held_out = as_read_only(local["theta"], self.dtype), (0.0, 0.0)
        ends, words, counts = shard.rows
        if state.searching:
            counts, held = self._counts_and_held(shard)
            held_out = heldout_likelihood(ends, words, held, state.topics, theta, state.background, BACKGROUND_MIX)
        tempered = as_read_only(
            power(theta, state.beta) * shares_factor(state.topic_shares, state.beta, self.dtype), self.dtype
        )
        new_theta = np.empty_like(theta)
        weights = np.empty(len(words), dtype=self.dtype)
        counts = as_read_only(counts, np.float32)
        log_likelihood = em_documents(ends, words, counts, tempered, state.powered, theta, new_theta, weights)
        expected = expected_counts(shard.by_word, weights, tempered, state.powered, self.n_tokens)
        return {"theta": new_theta}, TemperedStats(expected, Scalars((log_likelihood,)), Scalars(held_out))

    def update(self, state: TemperedState, stats: TemperedStats) -> TemperedState:  # type: ignore[override]
        """Compute the next topics, and choose the next β during the search."""
        plain = super().update(state, stats)  # type: ignore[arg-type]
        following = state._replace(topics=plain.topics, topic_shares=plain.topic_shares)
        if state.searching:
            assert isinstance(stats.held_out, ScalarTotal)
            total, tokens = stats.held_out.sums()
            following = _search_on(state, following, total / tokens if tokens else 0.0)
            if not following.searching:
                following = self.final_state(following._replace(searching=True))._replace(searching=False)
        return following._replace(powered=power(following.topics, following.beta))

    def objective(self, state: TemperedState, stats: TemperedStats) -> float:  # type: ignore[override]
        """Return Σ n log Z before the pass that yielded these statistics, with the documents' part: it rises at constant β."""
        return super().objective(state, stats)  # type: ignore[arg-type]

    def convergence_history(self, state: TemperedState, history: Sequence[float]) -> Sequence[float]:
        """Return the objectives since β was selected."""
        return [] if state.searching else history[Search(*state.search).n_passes :]

    def final_state(self, state: TemperedState) -> TemperedState:
        """Return the best topics so far if β is still being selected.

        A word whose tokens were all held out is as likely in each topic as one that occurs once: nothing else is known of it.
        """
        search = Search(*state.search)
        if not state.searching or search.best_score is None:
            return state
        topics = np.array(state.best_topics)
        topics[state.background == 0] = 1 / self.n_tokens
        topics /= topics.sum(axis=0)
        shares, none = state.best_shares, state.best_topics[:0]
        return state._replace(topics=topics, topic_shares=shares, best_topics=none, beta=search.best_beta)

    def status(self, state: TemperedState) -> str:
        """Return β, and the held-out perplexity."""
        search = Search(*state.search)
        heldout = f", held-out perplexity {np.exp(-search.last):,.0f}" if state.searching and search.last is not None else ""
        return f"β = {state.beta:.3g}{heldout}"

    def _counts_and_held(self, shard: Shard) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the observed and the held-out counts."""
        held = hold_out(*shard.rows, shard.first_document, self.seed, HELD_OUT)
        return shard.rows.counts - held, held


def _search_on(state: TemperedState, following: TemperedState, score: float) -> TemperedState:
    """Record the score of the held-out tokens before the pass, and choose the next β."""
    search = Search(*state.search)
    rising = search.last is None or score - search.last >= GAIN
    search = search._replace(passes=search.passes + 1, n_passes=search.n_passes + 1, last=score)
    if search.passes == 1:  # these topics were not trained with this β
        return following._replace(search=search)
    if search.is_better(state.beta, score):
        search = search._replace(best_beta=state.beta, best_score=score)
        following = following._replace(best_topics=state.topics, best_shares=state.topic_shares)
    here = score if search.here is None else max(score, search.here)
    search = search._replace(here=here)
    if search.passes <= MIN_PASSES or (rising and search.passes <= MAX_PASSES):
        return following._replace(search=search)
    search = search._replace(tried=[*search.tried, [state.beta, here]], passes=0, last=None, here=None)
    if not search.falls():
        return following._replace(beta=state.beta * FACTOR, search=search)
    return following._replace(searching=False, search=search)


def power(values: NDArray[Any], beta: float) -> NDArray[Any]:
    """Compute probabilities to a power, through logarithms: these are vectorized, powers are not."""
    if beta == 1.0:
        return values
    powered = np.empty_like(values)
    flat, out = values.reshape(-1), powered.reshape(-1)
    with np.errstate(divide="ignore"):  # log 0 is minus infinity, and its exponential 0
        for start in range(0, len(flat), BLOCK):
            part = out[start : start + BLOCK]
            np.log(flat[start : start + BLOCK], out=part)
            part *= part.dtype.type(beta)
            np.exp(part, out=part)
    return powered


def shares_factor(topic_shares: NDArray[np.float64], beta: float, dtype: Any) -> NDArray[Any]:
    """Compute P(z)^(1−β)."""
    return (topic_shares ** (1.0 - beta)).astype(dtype)
