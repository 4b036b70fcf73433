"""What does an iteration of PLSA cost: against scikit-learn's NMF, in memory, for exact sums, and over threads?

NMF with the Kullback-Leibler loss and multiplicative updates fits the same objective by the same steps. The corpus is made, and
has the size of AP89. Times are of one iteration: the difference of a long and a short fit, so that start-up cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.decomposition import NMF

from benchmarks import data, harness
from benchmarks.claims import Claim
from benchmarks.harness import Iterations
from semascope import PLSA, Corpus, ThreadEngine
from semascope.engines.exact_sums import CountTotal, LazyCounts
from semascope.kernels.exact_sums import divide_columns
from semascope.kernels.jit import kernel
from semascope.kernels.plsa import add, add_four
from semascope.training import loop
from semascope.training.plsa import EM, EMStats
from semascope.training.stopping import StopRule

TOPICS = 128
THREADS = 2
SEED = 0
ALIKE = 1e-4
"""How far apart the log-likelihoods of exact and plain sums may be, as a share."""
THREADS_FOR_BITS = (1, 2, 3, 8)


def run(quick: bool) -> dict[str, Any]:
    """Measure all of it."""
    repeats, many = (2, 12) if quick else (7, 32)
    counts, corpus = ap89_like()
    with harness.cores(THREADS):
        peer = harness.compare(
            {
                "2 threads": _plsa(corpus, many, threads=2),
                "1 thread": _plsa(corpus, many, threads=1),
                "sklearn": Iterations(lambda n: _nmf(counts, n), 1, 3 if quick else 5),
            },
            repeats=repeats,
            clock=harness.per_iteration,
        )
        exact, plain = _em(EM, corpus, many), _em(PlainEM, corpus, many)
        _check_alike(exact.fit(many), plain.fit(many))
        sums = harness.compare(
            {"exact": exact, "plain": plain, "exact again": exact}, repeats=repeats, clock=harness.per_iteration
        )
        hundred = harness.measure(lambda: _fit(corpus, 100), warm_up=0, repeats=1 if quick else 3)
    memory = _memory(corpus, repeats=1 if quick else 6)
    bits = _bits(corpus)
    iteration = peer.of["2 threads"].median
    entries = len(corpus.rows.words)
    return {
        "goals": [
            harness.goal(
                "NMF / PLSA, time of an iteration", peer.ratio("sklearn", "2 threads"), at_least=12, others=peer.others
            ),
            harness.goal(
                "exact / plain sums, time of an iteration", sums.ratio("exact", "plain"), at_most=1.4, others=sums.others
            ),
            harness.goal("peak memory / formula", memory["peak"] / memory["formula"], at_most=1),
            harness.goal("models of 1, 2, 3 and 8 threads equal, share", np.mean(list(bits.values())).item(), at_least=1),
        ],
        "corpus": {
            "documents": corpus.n_documents,
            "words": corpus.n_words,
            "tokens": corpus.n_tokens,
            "entries": entries,
            "topics": TOPICS,
            "threads": THREADS,
        },
        "ratios": {
            "NMF / PLSA, 2 threads": _ratio(peer, "sklearn", "2 threads"),
            "NMF / PLSA, 1 thread": _ratio(peer, "sklearn", "1 thread"),
            "1 thread / 2 threads": _ratio(peer, "1 thread", "2 threads"),
            "exact / plain sums": _ratio(sums, "exact", "plain"),
            "noise: exact / exact sums": _ratio(sums, "exact", "exact again"),
        },
        "iteration": peer.to_dict(),
        "sums": sums.to_dict(),
        "hundred_iterations": hundred.to_dict(),
        "memory": memory,
        "tokens_per_second": corpus.n_tokens / iteration,
        "gigaflops": 6 * TOPICS * entries / iteration / 1e9,
        "bits_equal_to_one_thread": bits,
    }


@cache
def ap89_like() -> tuple[Any, Corpus]:
    """The matrix and the corpus of it, made once."""
    counts = data.ap89_like()
    return counts, Corpus.from_matrix(counts)


def _ratio(compared: harness.Comparison, slow: str, fast: str) -> dict[str, Any]:
    return {
        "ratio": compared.ratio(slow, fast),
        "spread": compared.spread(slow, fast),
        "cpu_ratio": compared.cpu_ratio(slow, fast),
        "others": compared.others,
    }


# --- fits ------------------------------------------------------------------------------------------------------------------


def _fit(corpus: Corpus, max_iter: int, threads: int = THREADS) -> PLSA:
    return PLSA(TOPICS, max_iter=max_iter, tol=0, random_state=SEED, engine=ThreadEngine(threads)).fit(corpus)


def _plsa(corpus: Corpus, many: int, threads: int = THREADS) -> Iterations:
    return Iterations(lambda n: _fit(corpus, n, threads), 2, many)


def _nmf(counts: Any, max_iter: int) -> NMF:
    model = NMF(TOPICS, solver="mu", beta_loss="kullback-leibler", init="random", tol=0, max_iter=max_iter, random_state=SEED)
    return model.fit(counts)


def _em(kind: type[EM], corpus: Corpus, many: int) -> Iterations:
    algorithm = kind(TOPICS, corpus.n_documents, corpus.n_words, corpus.n_tokens, SEED)
    shards, engine = corpus.shards(), ThreadEngine(THREADS)
    return Iterations(lambda n: loop.run(algorithm, shards, engine, stop=StopRule(n, 0)), 2, many)


# --- the same algorithm with plain sums --------------------------------------------------------------------------------------


@kernel
def plain_words(distinct, word_ends, documents, places, weights, theta, topics, totals, first, last):
    """The pass by word of `em_words`, but adding floats to floats."""
    sums = np.empty((1, theta.shape[1]), theta.dtype)
    for i in range(first, last):
        for k in range(sums.shape[1]):
            sums[0, k] = 0
        j, end = word_ends[i], word_ends[i + 1]
        while j + 4 <= end:
            w_a, w_b = weights[places[j]], weights[places[j + 1]]
            w_c, w_e = weights[places[j + 2]], weights[places[j + 3]]
            a, b, c, e = documents[j], documents[j + 1], documents[j + 2], documents[j + 3]
            add_four(sums, 0, theta, w_a, a, w_b, b, w_c, c, w_e, e)
            j += 4
        while j < end:
            add(sums, 0, weights[places[j]], theta, documents[j])
            j += 1
        word = distinct[i]
        for k in range(sums.shape[1]):
            totals[word, k] += sums[0, k] * topics[word, k]


@kernel
def plain_column_sums(table):
    sums = np.zeros(table.shape[1], np.float32)
    for i in range(table.shape[0]):
        for k in range(table.shape[1]):
            sums[k] += table[i, k]
    return sums


@dataclass
class PlainTotal(CountTotal):
    """A float32 total under the locks of the exact one, whose bits depend on the order of adding."""

    def column_sums(self):
        return plain_column_sums(self.table).astype(np.float64)

    def columns_normalized(self, dtype):
        sums = plain_column_sums(self.table)
        divisors = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)
        normalized = np.empty(self.table.shape, dtype)
        divide_columns(self.table, divisors, normalized)
        return normalized


class PlainCounts(LazyCounts):
    """Expected counts that are added as they are."""

    def add_to(self, table, scale, first, last):
        plain_words(*self.work.args, table, first, last)

    def empty_total(self):
        exponent = CountTotal.for_part(self).exponent  # means nothing here, but is what a total is known by when used again
        return PlainTotal(np.zeros(self.shape, np.float32), exponent)


class PlainEM(EM):
    """EM with float32 sums."""

    def step(self, shard, local, state):
        new_local, stats = super().step(shard, local, state)
        return new_local, EMStats(PlainCounts(*stats.word_topic), stats.log_likelihood)


def _check_alike(exact: loop.Fitted, plain: loop.Fitted) -> None:
    """See that both fit the same model, or their times could not be compared."""
    if not np.allclose(exact.history, plain.history, rtol=ALIKE, atol=0):
        raise RuntimeError(f"plain sums give log-likelihood {plain.history[-1]:.0f}, exact ones {exact.history[-1]:.0f}")


# --- memory and bits -------------------------------------------------------------------------------------------------------


def _memory(corpus: Corpus, repeats: int) -> dict[str, Any]:
    """The largest peak of several processes: how far threads overlap is up to chance."""
    D, V, nnz = corpus.n_documents, corpus.n_words, len(corpus.rows.words)
    formula = (2 * TOPICS * (V + D + 1) + nnz) * 4 + THREADS * 12 * V * TOPICS
    peaks = [harness.peak_memory(warm_corpus, fit_for_memory) for _ in range(repeats)]
    return {"peak": max(peaks), "peaks": peaks, "formula": formula}


def warm_corpus() -> Corpus:
    """The corpus, in a process whose kernels are compiled."""
    small = Corpus.from_matrix(data.ap89_like(n_documents=200, n_words=500, n_tokens=20_000))
    _fit(small, 2)
    return ap89_like()[1]


def fit_for_memory(corpus: Corpus) -> None:
    """A fit long enough to reach its peak."""
    _fit(corpus, 5)


def _bits(corpus: Corpus) -> dict[str, bool]:
    """Whether a model fitted by so many threads is the model fitted by one, to the bit."""
    models = {threads: _fit(corpus, 5, threads) for threads in THREADS_FOR_BITS}
    one = models[1]
    return {
        str(threads): model.components_.tobytes() == one.components_.tobytes()
        and model.doc_topics_.tobytes() == one.doc_topics_.tobytes()
        and model.log_likelihood_ == one.log_likelihood_
        for threads, model in models.items()
    }


# --- tables ------------------------------------------------------------------------------------------------------------------


def claims(result: dict[str, Any]) -> list[Claim]:
    """Ours beside NMF's."""
    times, found = result["iteration"], result["ratios"]
    return [
        Claim(
            f"iteration, K = {TOPICS}, {threads}, NMF",
            times[threads]["median"],
            times["sklearn"]["median"],
            "scikit-learn",
            spread=found[f"NMF / PLSA, {threads}"]["spread"],
            others=found[f"NMF / PLSA, {threads}"]["others"],
        )
        for threads in ("2 threads", "1 thread")
    ]


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    c = result["corpus"]
    title = (
        f"One iteration: {c['documents']:,} documents, {c['words']:,} words, {c['tokens']:,.0f} tokens, "
        f"{c['entries']:,} entries, K = {c['topics']}, {c['threads']} threads"
    )
    rows = [
        (name, f"{r['ratio']:.2f}", "{:.2f} to {:.2f}".format(*r["spread"]), f"{r['cpu_ratio']:.2f}", f"{r['others']:.2f}")
        for name, r in result["ratios"].items()
    ]
    harness.show(title, ("ratio", "of medians", "side by side", "of CPU time", "cores used by others"), rows)
    timed = {
        "PLSA, 2 threads": result["iteration"]["2 threads"],
        "PLSA, 1 thread": result["iteration"]["1 thread"],
        "scikit-learn NMF": result["iteration"]["sklearn"],
        "EM, exact sums": result["sums"]["exact"],
        "EM, plain sums": result["sums"]["plain"],
        "EM, exact sums again": result["sums"]["exact again"],
    }
    columns = ("median", "min", "cpu_median")
    rows = [(name, *(f"{1e3 * t[column]:.1f}" for column in columns)) for name, t in timed.items()]
    harness.show("One iteration", ("fit", "median ms", "min ms", "CPU ms"), rows)
    facts = [
        ("100 iterations, s", f"{result['hundred_iterations']['median']:.2f}"),
        ("million tokens / s", f"{result['tokens_per_second'] / 1e6:.1f}"),
        ("GFLOP/s (6 K an entry)", f"{result['gigaflops']:.1f}"),
        ("peak memory, MB", " ".join(f"{peak / 1e6:.1f}" for peak in result["memory"]["peaks"])),
        ("formula for it, MB", f"{result['memory']['formula'] / 1e6:.1f}"),
        *((f"{n} threads, bits of 1", "yes" if same else "NO") for n, same in result["bits_equal_to_one_thread"].items()),
    ]
    harness.show("Facts", ("what", "value"), facts)


if __name__ == "__main__":
    harness.alone("plsa", run, show)
