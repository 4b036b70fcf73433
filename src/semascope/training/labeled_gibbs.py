"""Labeled LDA by collapsed Gibbs sampling: one topic per label, and every token assigned to one of the document's labels.

Each token is sampled given all others: P(label) ∝ (n_label,word + η) / (n_label + V η) · (n_document,label + α). Within a
shard, counts are always current. Those of other shards are as of the last pass, so with one shard the sampler is exact, and
with several nearly so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from semascope.corpus.labels import LabeledRef, LabeledShard
from semascope.corpus.shards import ShardRef, as_read_only
from semascope.engines.base import Locals
from semascope.engines.exact_sums import Counts, CountTotal, Scalars, ScalarTotal
from semascope.kernels.labeled_gibbs import draw_first_labels, pairs_of_words, sample_labels, slots_of_entries
from semascope.storage.facts import Fact, Whole
from semascope.storage.layout import ANY, MAX_COUNT, Array, numbers
from semascope.training.algorithm import AlgorithmConfig

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Pairs(NamedTuple):
    """Words and labels that occur together in some document.

    ends     int64[v + 1]   labels of word w are [ends[w]:ends[w + 1]] of the other
    labels   int32[p]       ascending for each word
    """

    ends: NDArray[np.int64]
    labels: NDArray[np.int32]

    @classmethod
    def of(cls, shards: Sequence[LabeledRef], n_words: int, n_labels: int, *, open_to_all: bool = True) -> Pairs:
        """Collect the pairs of all documents. Words of an unlabeled one go with all labels, if those are open to it."""
        parts, is_free = [np.empty(0, np.int64)], np.zeros(n_words, np.bool_)
        for ref in shards:
            shard = ref.open()
            ends, labels = pairs_of_words(*_by_word(shard), *shard.labels, n_labels, 0)
            words = np.repeat(shard.by_word.words, np.diff(ends)).astype(np.int64)
            parts.append(words * n_labels + labels)
            if open_to_all:
                without = np.repeat(np.diff(shard.labels.ends) == 0, np.diff(shard.rows.ends))
                is_free[shard.rows.words[without]] = True
        keys = np.concatenate(parts)
        free = np.flatnonzero(is_free).astype(np.int64)
        if len(free):
            keys = keys[~is_free[keys // n_labels]]
            keys = np.concatenate([keys, (free[:, None] * n_labels + np.arange(n_labels)).ravel()])
        keys = np.sort(keys, kind="stable")  # which exploits ascending runs
        keys = keys[np.diff(keys, prepend=-1) > 0]
        ends = np.searchsorted(keys, np.arange(n_words + 1, dtype=np.int64) * n_labels)
        return cls(as_read_only(ends, np.int64), as_read_only(keys % max(n_labels, 1), np.int32))


class LabeledState(NamedTuple):
    """State broadcast to all shards.

    counts   tokens of each pair's word assigned to its label
    sizes    tokens assigned to each label
    sums     counts summed over the averaged passes
    passes   passes so far
    """

    counts: NDArray[np.int32]
    sizes: NDArray[np.int64]
    sums: NDArray[np.float64]
    passes: int


class LabeledStats(NamedTuple):
    """Statistics of a pass: counts of pairs, and Σ log P(word | all others)."""

    pairs: Counts | CountTotal
    log_likelihood: Scalars | ScalarTotal


@dataclass(frozen=True, kw_only=True)
class LabeledGibbs(AlgorithmConfig):
    """Collapsed Gibbs sampler, as pure functions of their arguments.

    pairs     pairs of words and labels that may be assigned
    alpha     prior of the labels of a document
    eta       prior of the words of a label
    burn_in   passes before averaging begins
    open_to_all   documents without labels may use all of them; otherwise they are left out
    """

    pairs: Pairs
    alpha: float = 0.1
    eta: float = 0.1
    burn_in: int = 0
    open_to_all: bool = True

    state_type: ClassVar[type] = LabeledState
    state_arrays: ClassVar[Mapping[str, Array]] = {
        "counts": numbers("n_pairs", low=0, dtypes=("int32",)),
        "sizes": numbers("n_topics", low=0, dtypes=("int64",)),
        "sums": numbers("n_pairs", low=0.0, high=MAX_COUNT, dtypes=("float64",), may_be_empty=True),
    }
    state_numbers: ClassVar[Mapping[str, Fact]] = {"passes": Whole()}
    local_arrays: ClassVar[Mapping[str, Array]] = {
        "used": Array(("int32",), (ANY,), low=0, high="n_pairs-1"), "slots": Array(("int32",), (ANY,), low=0),
        "chosen": Array(("int32",), (ANY,), low=0), "own": Array(("int32",), (ANY,), low=0),
        "n_documents": Array(("int64",), (1,), low="shard_documents", high="shard_documents"),
    }  # fmt: skip
    objective_name: ClassVar[str] = "log-likelihood"

    def init_shard(self, shard: LabeledShard) -> tuple[Locals, LabeledStats]:
        """Assign a random label to each token."""
        n_open = self._n_open
        ends, labels = pairs_of_words(*_by_word(shard), *shard.labels, self.n_topics, n_open)
        numbers = np.full(shard.n_words, -1, np.int32)
        numbers[shard.by_word.words] = np.arange(len(shard.by_word.words))
        slots = slots_of_entries(shard.rows.ends, shard.rows.words, *shard.labels, numbers, ends, labels, n_open)
        chosen, own = np.empty(int(shard.lengths.sum()), np.int32), np.zeros(len(labels), np.int32)
        seed, counts = self._seed(0), shard.rows.counts
        draw_first_labels(shard.rows.ends, counts, shard.labels.ends, slots, seed, shard.first_document, chosen, own, n_open)
        used, n_documents = self._used(shard, ends, labels), np.array([shard.n_documents])
        local = {"used": used, "slots": slots, "chosen": chosen, "own": own, "n_documents": n_documents}
        return local, self._stats(local, 0.0)

    def sizes(self) -> dict[str, int]:
        return {**super().sizes(), "n_pairs": len(self.pairs.labels)}

    def state_problem(self, state: LabeledState, history: Sequence[float]) -> str | None:
        if state.passes != len(history):
            return f"the history has {len(history):,} passes, but the state has {state.passes:,}"
        if not np.array_equal(np.bincount(self.pairs.labels, state.counts, self.n_topics), state.sizes):
            return "the sizes of labels are not the sums of their counts"
        return "the array 'sums' of averaged counts is missing" if state.passes > self.burn_in and not len(state.sums) else None

    def local_problem(self, shard: ShardRef, local: Locals) -> str | None:
        """Check against a fresh initialization, which has the same pairs; only the assignments differ."""
        opened: Any = shard.open()
        fresh, _ = self.init_shard(opened)
        if any(not np.array_equal(fresh[name], local.get(name, ())) for name in ("used", "slots", "n_documents")):
            return "the pairs of words and labels of a shard are not those of the corpus"
        if any(fresh[name].shape != np.shape(local.get(name, 0.0)) for name in ("chosen", "own")):
            return "the tokens of a shard are not those of the corpus"
        return None if self._has_chosen(opened, local) else "tokens are assigned to labels that their documents do not have"

    def _has_chosen(self, shard: LabeledShard, local: Locals) -> bool:
        """Return whether the assignments of a shard are among its documents' labels, and match its counts."""
        n_labels = np.diff(shard.labels.ends)
        is_open, per_entry = n_labels == 0, np.where(n_labels == 0, min(self._n_open, 1), n_labels)
        entries = np.repeat(np.arange(shard.n_documents), np.diff(shard.rows.ends))
        firsts = np.concatenate([[0], np.cumsum(per_entry[entries])])[:-1]
        of_token = np.repeat(np.arange(len(entries)), shard.rows.counts.astype(np.int64))
        of_token = of_token[per_entry[entries[of_token]] > 0]
        limits = np.where(is_open, self._n_open, n_labels)[entries[of_token]]
        chosen = local["chosen"][: len(of_token)]
        if len(chosen) < len(of_token) or (chosen >= limits).any():
            return False
        spread = is_open[entries[of_token]]
        pairs = np.where(spread, local["slots"][firsts[of_token]] + chosen, 0)
        pairs[~spread] = local["slots"][firsts[of_token[~spread]] + chosen[~spread]]
        return bool(np.array_equal(np.bincount(pairs, minlength=len(local["own"])), local["own"]))

    @property
    def _n_open(self) -> int:
        """Number of labels that an unlabeled document may use."""
        return self.n_topics if self.open_to_all else 0

    def _used(self, shard: LabeledShard, ends: NDArray[np.int64], labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the indices of a shard's pairs among all pairs."""
        words = np.repeat(shard.by_word.words, np.diff(ends)).astype(np.int64)
        every = np.repeat(np.arange(self.n_words, dtype=np.int64), np.diff(self.pairs.ends))
        return np.searchsorted(every * self.n_topics + self.pairs.labels, words * self.n_topics + labels).astype(np.int32)

    def init_state(self, stats: LabeledStats) -> LabeledState:
        """Return the state of the random assignments."""
        return self._state(stats, 0, np.zeros(0))

    def step(self, shard: LabeledShard, local: Locals, state: LabeledState) -> tuple[Locals, LabeledStats]:
        """Resample the tokens of a shard."""
        live, sizes, chosen = state.counts[local["used"]], state.sizes.copy(), np.array(local["chosen"])
        own = local["own"] - live
        log_likelihood = sample_labels(
            shard.rows.ends, shard.rows.counts, *shard.labels, local["slots"], live, sizes, self.alpha, self.eta, self.n_words,
            self._seed(state.passes + 1), shard.first_document, chosen, self._n_open,
        )  # fmt: skip
        own += live
        local = {**local, "chosen": chosen, "own": own}
        return local, self._stats(local, log_likelihood)

    def _seed(self, number: int) -> np.uint64:
        """Return the seed of a pass."""
        return np.uint64(np.random.SeedSequence([self.seed, number]).generate_state(1, np.uint64)[0])

    def _stats(self, local: Locals, log_likelihood: float) -> LabeledStats:
        own, shape = local["own"][:, None], (len(self.pairs.labels), 1)
        return LabeledStats(Counts(local["used"], own, shape, max(self.n_tokens, 1.0)), Scalars((log_likelihood,)))

    def update(self, state: LabeledState, stats: LabeledStats) -> LabeledState:
        """Update the state with the counts of this pass."""
        return self._state(stats, state.passes + 1, state.sums)

    def _state(self, stats: LabeledStats, passes: int, sums: NDArray[np.float64]) -> LabeledState:
        assert isinstance(stats.pairs, CountTotal)
        counts = stats.pairs.values(np.int32)[:, 0]
        sizes = np.bincount(self.pairs.labels, counts, self.n_topics)
        if passes > self.burn_in:
            sums = sums + counts if len(sums) else counts.astype(np.float64)
        return LabeledState(as_read_only(counts, np.int32), as_read_only(sizes, np.int64), sums, passes)

    def objective(self, state: LabeledState, stats: LabeledStats) -> float:
        """Return Σ log P(word | all others), each before the token was sampled."""
        assert isinstance(stats.log_likelihood, ScalarTotal)
        return stats.log_likelihood.sums()[0]

    def broadcast_view(self, state: LabeledState) -> LabeledState:
        """Return all but the fields that only `update` needs."""
        return state._replace(sums=state.sums[:0])

    def final_state(self, state: LabeledState) -> NDArray[np.float64]:
        """Return the counts of pairs: their mean over the passes after burn-in, or those of the last."""
        n_averaged = state.passes - self.burn_in
        return state.sums / n_averaged if n_averaged > 0 else state.counts.astype(np.float64)

    def document_rows(self, kept: Any, local: Locals) -> NDArray[Any]:
        """Return nothing: the label shares of documents are inferred on demand."""
        return np.empty((int(local["n_documents"][0]), 0))


def _by_word(shard: LabeledShard) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    return shard.by_word.ends, shard.by_word.documents
