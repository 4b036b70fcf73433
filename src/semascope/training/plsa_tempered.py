"""Tempered EM for PLSA (Hofmann 1999): topics that are held back from fitting too well.

P(topic | word, document) is taken ∝ P(z)^(1−β) [P(z | document) P(word | z)]^β with β ≤ 1. With both tables taken to the power
of β beforehand, a pass is the one of plain EM.

"auto" finds β without help: a tenth of the words is held out; from β = 1, which is plain EM stopped early, β is lowered by a
factor for as long as the words held out become more probable; then the topics of the best β are trained on all words.
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
"""Share of the words that are held out to find β."""

BACKGROUND_MIX = 0.1
"""Share of the background when words held out are predicted: a word that its document's topics never saw is not impossible."""

FACTOR = 0.9
"""What β is multiplied by."""

MIN_PASSES = 5
MAX_PASSES = 100
"""Passes at each β."""

GAIN = 1e-3
"""Go on at the same β while a pass makes the log-probability of a held-out word rise by this much."""

WORTH = 1e-2
"""A lower β must make it rise by this much over the best one: of those that are nearly as good, the largest is taken, since
too low a β melts all topics into one."""

PATIENCE = 3
"""The search ends when β was lowered so many times in a row for nothing; the best one tried is taken then."""

BLOCK = 1 << 16
"""Numbers taken to a power at a time: they stay in the cache."""


class Search(NamedTuple):
    """Where the search for β stands. A score is the mean log-probability of a held-out word.

    tried       the values of β that are done with, and the best score at each
    passes      passes at the present β
    last        score before the last pass
    here        best score at the present β, None before the first
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
        """Whether topics are better than the best so far: those of a lower β must be so by a step that counts."""
        return self.best_score is None or score >= self.best_score + (0.0 if beta == self.best_beta else WORTH)

    def falls(self) -> bool:
        """Whether β was lowered PATIENCE times in a row without a step for the better that counts."""
        scores = [score for _, score in self.tried][-PATIENCE - 1 :]
        return len(scores) > PATIENCE and all(after < before + WORTH for before, after in pairwise(scores))


_SCORE = Maybe(Number())
SEARCH = Items(ROWS_OF_NUMBERS, Whole(), _SCORE, _SCORE, Number(0, 1), _SCORE, Whole())
"""A search as a checkpoint keeps it."""

NO_SEARCH = Search([], 0, None, None, 1.0, None, 0)


class TemperedState(NamedTuple):
    """What all shards share.

    topics         column z is P(word | topic z)
    powered        topics to the power of β
    topic_shares   P(topic)
    document_part  Σ_d |d| log(|d| / N)
    background     P(word) in what β is found on
    best_topics    the topics at the best β while there is a search
    best_shares    and their shares
    beta           β
    searching      whether β is still to be found
    search         what is known about it; a checkpoint may give it back as a list
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
    """What a pass adds up: expected counts, Σ n log Z before the pass, and for the words held out Σ n log P and Σ n."""

    word_topic: LazyCounts | CountTotal
    log_likelihood: Scalars | ScalarTotal
    held_out: Scalars | ScalarTotal


@dataclass(frozen=True)
class TemperedEM(EM):
    """EM with β given, or found."""

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
            return "the search for a temperature has made more passes than there were"
        if any(len(pair) != 2 for pair in search.tried):
            return "the search for a temperature does not tell what it tried"
        if state.searching and search.best_score is not None and not len(state.best_topics):
            return "the best topics of the search for a temperature are missing"
        return None

    def counts_to_start_from(self, shard: Shard) -> NDArray[np.float32]:
        """Without the words held out, if there are any: nothing may be learned from them."""
        return self._counts_and_held(shard)[0] if self.tempering == AUTO else shard.rows.counts

    def init_state(self, stats: StartStats) -> TemperedState:  # type: ignore[override]
        """Make the first topics, at β = 1 if it is to be found."""
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
        """One pass over a shard."""
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
        """Make the next topics, and choose the next β while it is searched for."""
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
        """Σ n log Z before the pass that gave these statistics, with the documents' part: it rises while β stays."""
        return super().objective(state, stats)  # type: ignore[arg-type]

    def convergence_history(self, state: TemperedState, history: Sequence[float]) -> Sequence[float]:
        """Objectives since β was found."""
        return [] if state.searching else history[Search(*state.search).n_passes :]

    def final_state(self, state: TemperedState) -> TemperedState:
        """The best topics so far while β is searched for.

        Words that were all held out are as likely in each topic as a word that stands once: nothing else is known of them.
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
        """Tell β, and how well the words held out are predicted."""
        search = Search(*state.search)
        found = f", held-out perplexity {np.exp(-search.last):,.0f}" if state.searching and search.last is not None else ""
        return f"β = {state.beta:.3g}{found}"

    def _counts_and_held(self, shard: Shard) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """How often each word is to be learned from, and how often it is held out."""
        held = hold_out(*shard.rows, shard.first_document, self.seed, HELD_OUT)
        return shard.rows.counts - held, held


def _search_on(state: TemperedState, following: TemperedState, score: float) -> TemperedState:
    """Take note of how well the words held out were predicted before the pass, and decide on the next β."""
    search = Search(*state.search)
    rising = search.last is None or score - search.last >= GAIN
    search = search._replace(passes=search.passes + 1, n_passes=search.n_passes + 1, last=score)
    if search.passes == 1:  # these topics were not made with this β
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
    """Probabilities to a power, by way of logarithms: vector instructions do that faster than powers."""
    if beta == 1.0:
        return values
    powered = np.empty_like(values)
    flat, out = values.reshape(-1), powered.reshape(-1)
    with np.errstate(divide="ignore"):  # log 0 is minus infinity, and back to 0
        for start in range(0, len(flat), BLOCK):
            part = out[start : start + BLOCK]
            np.log(flat[start : start + BLOCK], out=part)
            part *= part.dtype.type(beta)
            np.exp(part, out=part)
    return powered


def shares_factor(topic_shares: NDArray[np.float64], beta: float, dtype: Any) -> NDArray[Any]:
    """P(z)^(1−β)."""
    return (topic_shares ** (1.0 - beta)).astype(dtype)
