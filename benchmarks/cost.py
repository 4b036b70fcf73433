"""What does an EM iteration cost as the vocabulary and the number of topics grow, and what do tiles save?

The plain loop goes document by document: for every entry it fetches a row of the topics' table and adds to a row of the sums'
table, wherever they lie. Ours walks a shard, the tile, twice: by document, then by word, so that each row of the sums is
touched once a tile. Where the tables no longer fit into the caches the difference is what the layout is worth. Both run on all
threads; the plain loop has sums of its own for each, in single precision, which leaves out exact addition and so flatters it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from benchmarks import harness
from semascope import ThreadEngine
from semascope.corpus.csr import CSR
from semascope.corpus.shards import Shard, cut_shards, read_only, shard_of
from semascope.kernels.jit import kernel
from semascope.kernels.plsa import add, dot, finish, log_part, weight
from semascope.resources import usable_cores
from semascope.training.plsa import EM, EMState

WORDS = (10_000, 30_000, 100_000, 300_000)
TOPICS = (32, 64, 128, 256, 512)
AT = (100_000, 128)
"""Where the target stands."""
GOAL = 1.5
ENTRIES = 1 << 23
SEED = 0


def run(quick: bool) -> dict[str, Any]:
    """Time an iteration of both at every size."""
    repeats = 3 if quick else 7
    words = (10_000, 100_000, 300_000) if quick else WORDS
    topics = (32, 128, 512) if quick else TOPICS
    cells = []
    for n_words in words:
        shards = zipf_shards(n_words)
        cells += [_cell(shards, n_words, n_topics, repeats) for n_topics in topics]
    (at,) = (cell for cell in cells if (cell["words"], cell["topics"]) == AT)
    goal = harness.goal("plain loop / tiles, 100,000 words, 128 topics", at["ratio"], at_least=GOAL, others=at["others"])
    return {"goals": [goal], "threads": usable_cores(), "cells": cells, "figure": _plot(cells)}


def zipf_shards(n_words: int) -> list[Shard]:
    """Documents of about 150 words whose frequencies fall like Zipf's law, as shards."""
    random = np.random.default_rng(SEED)
    frequency = 1 / (np.arange(n_words) + 2.7)
    lengths = random.lognormal(np.log(150), 0.6, ENTRIES // 110).astype(np.int64) + 5
    cumulative = np.cumsum(frequency / frequency.sum())
    word = np.searchsorted(cumulative[:-1], random.random(int(lengths.sum())))
    key, count = np.unique(np.repeat(np.arange(len(lengths)), lengths) * n_words + word, return_counts=True)
    ends = np.searchsorted(key, np.arange(len(lengths) + 1) * n_words)
    rows = read_only(CSR(ends, (key % n_words).astype(np.int32), count.astype(np.float32)))
    shards = [shard_of(rows, number, *bounds, n_words) for number, bounds in enumerate(cut_shards(rows.ends))]
    for shard in shards:
        _ = shard.by_word  # made once and kept in a fit
    return shards


def _cell(shards: list[Shard], n_words: int, n_topics: int, repeats: int) -> dict[str, Any]:
    """Time both at one size."""
    entries = sum(len(shard.rows.words) for shard in shards)
    n_tokens = float(sum(shard.rows.counts.sum(dtype=np.float64) for shard in shards))
    em = EM(n_topics, sum(shard.n_documents for shard in shards), n_words, n_tokens, SEED)
    topics = np.random.default_rng(SEED).random((n_words, n_topics), dtype=np.float32)
    state = EMState(topics / topics.sum(axis=0), np.full(n_topics, 1 / n_topics), 0.0)
    with ThreadEngine().open(shards) as placed:
        placed.begin(em.init_shard)

        def tiles() -> float:
            stats = placed.step(partial(_step_and_stay, em), state)
            em.update(state, stats)
            return em.objective(state, stats)

        plain = PlainLoop(shards, [em.init_shard(shard)[0]["theta"] for shard in shards], state.topics)
        assert abs(tiles() - plain()) < 1e-5 * abs(plain()), "both give the same log-likelihood"
        found = harness.compare({"tiles": tiles, "plain": plain}, repeats=repeats)
    return {
        "words": n_words,
        "topics": n_topics,
        "entries": entries,
        "seconds": found.of["tiles"].median,
        "plain_seconds": found.of["plain"].median,
        "ratio": found.ratio("plain", "tiles"),
        "spread": found.spread("plain", "tiles"),
        "others": found.others,
    }


def _step_and_stay(em: EM, shard: Shard, local: Any, state: EMState) -> Any:
    """A step of EM that leaves the documents where they were, so that every iteration measured is the same."""
    _, stats = em.step(shard, local, state)
    return local, stats


class PlainLoop:
    """An iteration by the plain loop, on all threads, with the next topics."""

    def __init__(self, shards: list[Shard], theta: list[Any], topics: Any) -> None:
        self._work = list(zip(shards, theta, strict=True))
        self._topics = topics
        self._threads = usable_cores()
        self._sums = [np.zeros_like(topics) for _ in range(self._threads)]
        self._new_topics = np.empty_like(topics)

    def __call__(self) -> float:
        with ThreadPoolExecutor(self._threads) as pool:
            log_likelihood = sum(pool.map(self._thread, range(self._threads)))
        np.add.reduce(self._sums, axis=0, out=self._new_topics)
        self._new_topics *= self._topics
        self._new_topics /= self._new_topics.sum(axis=0)
        return log_likelihood

    def _thread(self, number: int) -> float:
        self._sums[number][:] = 0
        return sum(
            plain_loop(*shard.rows, theta, self._topics, np.empty_like(theta), self._sums[number])
            for shard, theta in self._work[number :: self._threads]
        )


@kernel
def plain_loop(ends, words, counts, theta, topics, new_theta, sums):
    """The loop as it is first written: one entry after the other, every sum at once."""
    log_likelihood = 0.0
    for d in range(ends.shape[0] - 1):
        for k in range(theta.shape[1]):
            new_theta[d, k] = 0
        for j in range(ends[d], ends[d + 1]):
            p = dot(theta, d, topics, words[j])
            w = weight(counts[j], p)
            add(new_theta, d, w, topics, words[j])
            add(sums, words[j], w, theta, d)
            log_likelihood += log_part(counts[j], p)
        finish(new_theta, theta, theta, d)
    return log_likelihood


def _plot(cells: list[dict[str, Any]]) -> str:
    """Draw cost of an entry and topic against words, a line for each number of topics; and what tiles save."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    colors = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#D55E00")
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), sharex=True, layout="constrained")
    for topics, color, marker in zip(sorted({cell["topics"] for cell in cells}), colors, "osD^v", strict=False):
        line = [cell for cell in cells if cell["topics"] == topics]
        words = [cell["words"] for cell in line]
        style = {"color": color, "marker": marker}
        left.plot(words, [_nanoseconds(cell, "seconds") for cell in line], label=f"{topics} topics", **style)
        left.plot(words, [_nanoseconds(cell, "plain_seconds") for cell in line], linestyle=":", **style)
        right.plot(words, [cell["ratio"] for cell in line], **style)
    left.set(xscale="log", yscale="log", xlabel="words", ylabel="nanoseconds per entry and topic")
    left.set_title("an iteration of EM: tiles (lines) and the plain loop (dots)", fontsize=10)
    right.set(xlabel="words", ylabel="plain loop / tiles")
    right.axhline(1, color="#888888", linewidth=0.8)
    left.yaxis.set_major_formatter("{x:g}")
    left.yaxis.set_minor_formatter("{x:g}")
    for panel in (left, right):
        panel.set_xticks(sorted({cell["words"] for cell in cells}), minor=False)
        panel.xaxis.set_major_formatter("{x:,.0f}")
        panel.xaxis.set_minor_formatter("")
        panel.grid(alpha=0.3, which="both")
    figure.legend(loc="outside lower center", ncols=5, frameon=False)
    harness.RESULTS.mkdir(exist_ok=True)
    figure.savefig(harness.RESULTS / "cost.png", dpi=130)
    plt.close(figure)
    return "results/cost.png"


def _nanoseconds(cell: dict[str, Any], which: str) -> float:
    return float(cell[which] / cell["entries"] / cell["topics"] * 1e9)


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    rows = [
        (
            f"{cell['words']:,}",
            f"{cell['topics']:,}",
            f"{cell['ratio']:.2f} ({cell['spread'][0]:.2f}–{cell['spread'][1]:.2f})",
            f"{cell['seconds'] * 1e3:,.0f} ms",
            f"{cell['plain_seconds'] * 1e3:,.0f} ms",
            f"{_nanoseconds(cell, 'seconds'):.3f} ns",
        )
        for cell in result["cells"]
    ]
    title = f"An iteration over {result['cells'][0]['entries']:,} entries and more, {result['threads']} threads"
    harness.show(title, ("words", "topics", "plain loop / tiles", "tiles", "plain loop", "an entry and topic"), rows)
    harness.console.print(f"drawn in {result['figure']}")


if __name__ == "__main__":
    harness.alone("cost", run, show)
