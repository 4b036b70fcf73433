"""Does a stream of labeled documents stay as fast and as small as it was?

First, weaknesses of software (CVE) in the order of time, as texts, 256 at a time: seconds of each tenth of the stream, the last
compared with the first. Kernels are compiled before. Documents grow longer over the years, so that seconds per word are what
has to stay the same; those per document are there too. Medians over repeats.

Not only lengths change over the years: in the last tenth far more words are in documents of several labels, which are the ones
that have to be shared out. So the same documents come in random order too, where the tenths differ by nothing but how much
the model knows already; and the last tenth by time is also learned by a model that has seen nothing before, which takes as long
if time does not grow with what was seen. All ratios are told, each with its goal; none stands for another.

Second, millions of documents of the size of a tweet: ten words, drawn at random from a description of one of Debian's packages,
with its tags; a thousand at a time, as texts. Making them is not timed. Memory is what the process holds at each tenth beyond
what it held before the first, in a fresh process.

Takes about five minutes on two cores; with --quick, one repeat and 100,000 small documents, which are too few to fill the
model's memory of words, less than one.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from statistics import median
from typing import Any

import numpy as np

from benchmarks import harness
from benchmarks.labeled_data import Labeled, cve, debian
from semascope import OnlineLabeledLDA

SEED = 0
TENTHS = 10
AT_ONCE, TWEETS_AT_ONCE = 256, 1000
TWEETS, WORDS_OF_A_TWEET = 2_000_000, 10
STEADY = 0.1
ENOUGH_SECONDS, GROWTH = 300.0, 0.05


def run(quick: bool) -> dict[str, Any]:
    """Feed all streams."""
    documents, repeats = cve(), 1 if quick else 5
    shuffled = np.random.default_rng(SEED).permutation(len(documents.texts))
    mixed = Labeled([documents.texts[i] for i in shuffled], [documents.labels[i] for i in shuffled], documents.analyzer)
    orders = {"by time": by_tenths(documents, repeats), "in random order": by_tenths(mixed, repeats)}
    del documents, mixed
    small = in_fresh_process(Tweets.of(debian()), TWEETS // 20 if quick else TWEETS)
    goals = [
        harness.goal(
            f"CVE {name}: seconds per word, last tenth / first",
            found["last_to_first"]["word"],
            at_least=1 - STEADY,
            at_most=1 + STEADY,
            others=found["others"],
        )
        for name, found in orders.items()
    ]
    found = orders["by time"]
    ratio = found["last_to_alone"]
    goals.append(
        harness.goal("CVE by time: last tenth after the others / alone", ratio, at_most=1 + STEADY, others=found["others"])
    )
    if not quick:
        what = f"{TWEETS:,} small documents"
        goals += [
            harness.goal(f"{what}: seconds", small["seconds"], at_most=ENOUGH_SECONDS, others=small["others"]),
            harness.goal(f"{what}: memory, growth from half to end, %", 100 * small["growth"], at_most=100 * GROWTH),
        ]
    return {"goals": goals, "orders": orders, "small": small}


# --- documents of many years -------------------------------------------------------------------------------------------------


def by_tenths(documents: Labeled, repeats: int) -> dict[str, Any]:
    """Seconds of each tenth of a stream, in the median of several runs."""
    _tenths(Labeled(documents.texts[:5000], documents.labels[:5000], documents.analyzer))  # compiles the kernels
    others = harness.OthersWork()
    start = len(documents.texts) * (TENTHS - 1) // TENTHS
    last = Labeled(documents.texts[start:], documents.labels[start:], documents.analyzer)
    runs, alone = [], []
    for _ in range(repeats):
        runs.append(_tenths(documents))
        alone.append(sum(tenth["seconds"] for tenth in _tenths(last)))
    busy = others.cores()
    tenths = [{**of_runs[0], "seconds": median(one["seconds"] for one in of_runs)} for of_runs in zip(*runs, strict=True)]
    ratios = {
        unit: [(run[-1]["seconds"] / run[-1][f"{unit}s"]) / (run[0]["seconds"] / run[0][f"{unit}s"]) for run in runs]
        for unit in ("word", "document")
    }
    return {
        "repeats": repeats,
        "others": busy,
        "last_to_first": {unit: median(of_runs) for unit, of_runs in ratios.items()},
        "last_to_alone": median(run[-1]["seconds"] / seconds for run, seconds in zip(runs, alone, strict=True)),
        "ratios": ratios,
        "tenths": tenths,
    }


def _tenths(documents: Labeled) -> list[dict[str, float]]:
    """Seconds, documents, words and documents of several labels of each tenth; a batch belongs to that which it begins in."""
    model, n = OnlineLabeledLDA(random_state=SEED), len(documents.texts)
    found = [{"seconds": 0.0, "documents": 0, "words": 0.0, "shared": 0} for _ in range(TENTHS)]
    gc.collect()
    for start in range(0, n, AT_ONCE):
        texts, labels = documents.texts[start : start + AT_ONCE], documents.labels[start : start + AT_ONCE]
        tenth = found[TENTHS * start // n]
        began = time.perf_counter()
        model.partial_fit(texts, labels)
        tenth["seconds"] += time.perf_counter() - began
        tenth["documents"] += len(texts)
        tenth["words"] += model.last_tokens_
        tenth["shared"] += sum(len({*of_document}) > 1 for of_document in labels)
    return found


# --- many small ones ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tweets:
    """Where small documents are drawn from.

    names    words of the vocabulary
    words    the words of all documents, one after the other
    ends     document i has [ends[i]:ends[i + 1]] of them
    labels   of each document
    """

    names: Any
    words: Any
    ends: Any
    labels: list[list[str]]

    @classmethod
    def of(cls, documents: Labeled) -> Tweets:
        corpus = documents.corpus.filter(np.diff(documents.corpus.rows.ends) > 0)
        rows = corpus.rows
        totals = np.concatenate([[0], np.cumsum(rows.counts, dtype=np.int64)])
        words = np.repeat(rows.words, rows.counts.astype(np.int64))
        return cls(corpus.vocabulary, words, totals[rows.ends], corpus.labels.to_list())

    def batches(self, n: int) -> Iterator[tuple[list[str], list[list[str]]]]:
        """Draw so many documents, and words of each with repeats."""
        random, lengths = np.random.default_rng(SEED), np.diff(self.ends)
        for _ in range(0, n, TWEETS_AT_ONCE):
            drawn = random.integers(len(lengths), size=TWEETS_AT_ONCE)
            places = (random.random((TWEETS_AT_ONCE, WORDS_OF_A_TWEET)) * lengths[drawn, None]).astype(np.int64)
            words = self.names[self.words[self.ends[drawn, None] + places]]
            yield [" ".join(row) for row in words.tolist()], [self.labels[one] for one in drawn]


def in_fresh_process(tweets: Tweets, n: int) -> dict[str, Any]:
    """Measure where nothing was freed that could be used again unseen."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(many_small, tweets, n).result()


def many_small(tweets: Tweets, n: int) -> dict[str, Any]:
    """Seconds and memory at each tenth."""
    warm, model = OnlineLabeledLDA(random_state=SEED), OnlineLabeledLDA(random_state=SEED)
    for texts, labels in tweets.batches(5 * TWEETS_AT_ONCE):
        warm.partial_fit(texts, labels)
    del warm
    gc.collect()
    before, others, seconds, tenths = harness.held_bytes(), harness.OthersWork(), 0.0, []
    for number, (texts, labels) in enumerate(tweets.batches(n), start=1):
        began = time.perf_counter()
        model.partial_fit(texts, labels)
        seconds += time.perf_counter() - began
        if number * TWEETS_AT_ONCE % (n // TENTHS) == 0:
            held = harness.held_bytes() - before
            tenths.append({"documents": number * TWEETS_AT_ONCE, "seconds": seconds, "bytes": held})
    return {
        "documents": n,
        "labels": len(model.label_names_),
        "words": model.n_features_in_,
        "seconds": seconds,
        "documents_a_second": n / seconds,
        "bytes_before": before,
        "growth": tenths[-1]["bytes"] / tenths[TENTHS // 2 - 1]["bytes"] - 1,
        "others": others.cores(),
        "tenths": tenths,
    }


# --- tables ------------------------------------------------------------------------------------------------------------------


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    for name, found in result["orders"].items():
        rows = [
            (
                f"{number}",
                f"{1e6 * one['seconds'] / one['words']:.2f}",
                f"{1e6 * one['seconds'] / one['documents']:.0f}",
                f"{one['words'] / one['documents']:.0f}",
                f"{100 * one['shared'] / one['documents']:.1f}",
                f"{one['seconds']:.2f}",
            )
            for number, one in enumerate(found["tenths"], start=1)
        ]
        title = f"CVE {name}, {AT_ONCE} at a time, median of {found['repeats']}; others kept {found['others']:.1f} cores busy"
        harness.show(title, ("tenth", "µs / word", "µs / document", "words", "several labels, %", "s"), rows)
        by = found["last_to_first"]
        harness.console.print(
            f"last tenth / first: {by['word']:.2f} per word, {by['document']:.2f} per document; "
            f"last tenth after the others / alone: {found['last_to_alone']:.2f}"
        )
    small = result["small"]
    rows = [(f"{one['documents']:,}", f"{one['seconds']:.1f}", f"{one['bytes'] / 2**20:,.0f}") for one in small["tenths"]]
    title = (
        f"{small['documents']:,} documents of {WORDS_OF_A_TWEET} words, {small['documents_a_second']:,.0f} a second, "
        f"{small['words']:,} words, {small['labels']} labels; others kept {small['others']:.1f} cores busy"
    )
    harness.show(title, ("documents", "s", "MiB more than before"), rows)


if __name__ == "__main__":
    harness.alone("labeled_stream", run, show)
