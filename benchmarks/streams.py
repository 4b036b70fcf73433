"""How near does LDA from a stream come to LDA from all documents at once, and by which inference?

20 Newsgroups in random order, each document seen once. Held-out perplexity by document completion, with the common
prior of 0.1 per topic for all models.
Means over seeds. Then, what it is worth to look at a batch again before the next: with CVB0 that is done by default.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

import numpy as np

from benchmarks import data, harness
from semascope import LDA, Analyzer, Corpus, read
from semascope.training.stochastic_cvb0 import SCVB0

TOPICS = 100
SETTINGS: dict[str, dict[str, Any]] = {
    "cvb0": {"inference": "cvb0"},
    "vb": {"inference": "vb"},
    "vb, priors half more": {"inference": "vb", "alpha": 0.6, "eta": 0.51},
}
"""Variational inference is known to want priors that are larger by a half."""
BATCH_SIZES = (256, 1024)
LOOKS = (1, 2, 3, 4)
"""How often a batch is looked at."""


def run(quick: bool) -> dict[str, Any]:
    """Learn from streams and from everything at once, and judge all."""
    seeds = range(1 if quick else 3)
    analyzer = Analyzer(stop_words="english", min_df=5, max_df=0.5)
    train, test = Corpus.build(read(data.folder(data.NEWSGROUPS) / data.FILE), analyzer).split(0.1, seed=0)
    train = train.filter(np.random.default_rng(0).permutation(train.n_documents))
    found = {name: _judge(train, test, settings, seeds) for name, settings in SETTINGS.items()}
    stream, whole = found["cvb0"]["256 at a time"], found["cvb0"]["all at once"]
    return {
        "seeds": len(seeds),
        "goals": [
            harness.goal("perplexity of a stream / all at once, cvb0", stream["perplexity"] / whole["perplexity"], at_most=1.15)
        ],
        "found": found,
        "looks": {number: _stream_with(number, train, test, seeds) for number in LOOKS},
    }


def _stream_with(looks: int, train: Corpus, test: Corpus, seeds: Sequence[int]) -> dict[str, float]:
    """A stream by CVB0 whose batches are looked at so many times."""
    by_default, SCVB0.inner_iterations = SCVB0.inner_iterations, looks
    try:
        return _timed(lambda seed: LDA(TOPICS, random_state=seed).partial_fit(train), test, seeds)
    finally:
        SCVB0.inner_iterations = by_default


def _judge(train: Corpus, test: Corpus, settings: dict[str, Any], seeds: Sequence[int]) -> dict[str, Any]:
    ways: dict[str, Any] = {"all at once": lambda seed: LDA(TOPICS, random_state=seed, **settings).fit(train)}
    for size in BATCH_SIZES:
        ways[f"{size} at a time"] = lambda seed, size=size: LDA(
            TOPICS, random_state=seed, batch_size=size, **settings
        ).partial_fit(train)
    return {way: _timed(make, test, seeds) for way, make in ways.items()}


def _timed(make: Callable[[int], LDA], test: Corpus, seeds: Sequence[int]) -> dict[str, float]:
    began = time.perf_counter()
    models = [make(seed) for seed in seeds]
    seconds = (time.perf_counter() - began) / len(models)
    return {"perplexity": mean(model.perplexity(test, prior="common") for model in models), "seconds": seconds}


def show(result: dict[str, Any]) -> None:
    """Print a table."""
    rows = [
        [name, way, f"{one['perplexity']:,.0f}", f"{one['seconds']:.1f}"]
        for name, found in result["found"].items()
        for way, one in found.items()
    ]
    harness.show_goals(result["goals"])
    columns = ("inference", "documents", "perplexity", "seconds")
    harness.show(f"20 Newsgroups, {TOPICS} topics, mean of {result['seeds']}", columns, rows)
    rows = [[str(number), f"{one['perplexity']:,.0f}", f"{one['seconds']:.1f}"] for number, one in result["looks"].items()]
    harness.show("cvb0, 256 documents at a time", ("looks", "perplexity", "seconds"), rows)
