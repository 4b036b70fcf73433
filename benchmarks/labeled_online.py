"""How near does Labeled LDA from a stream come to Labeled LDA from all documents at once, and for how much time?

As Figures 2 and 3 of Zhou et al. (2015), on news of Reuters, descriptions of Debian's packages and weaknesses of software
(CVE), in the order of the collections, which is that of time but for Debian's. At each tenth of the documents both models are
judged by the perplexity of documents held out, with their labels. Whoever has only the batch model fits it anew each time, to
all documents so far: its total is the sum of these fits. The stream is given each document once. Only learning is timed.

All words of the training part are predicted at every tenth, also those that no model has met by then; labels that it has not
met give all words the same probability. Both models have one vocabulary. Settings are the default ones: batch works on all
cores, the stream on one.

Words of a document with one label are due to that one. Documents of CVE have 1.06 labels in the mean, those of Reuters 1.26 and
those of Debian 3.8: there is little to guess but in the last.

By default a stream remembers a million words, and goes back to them now and then. That is as many as Debian's descriptions
have, so that there it forgets next to nothing. What becomes of it with a tenth of that memory, and without any, which is a
plain particle filter, is told for the end of the stream; so is the latter with the weights that were published.

Takes about five minutes on two cores; with --quick, 4,000 documents of Reuters alone, less than one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks import harness, labeled_figures
from benchmarks.claims import Claim
from benchmarks.labeled_data import COLLECTIONS, Split
from semascope import LabeledLDA, OnlineLabeledLDA

TENTHS = 10
SEED = 0
QUICK_DOCUMENTS = 4000
NEAR, TIMES = 1.02, 8.0
STREAM, PLAIN = "default settings", "plain particle filter"
STREAMS: dict[str, dict[str, Any]] = {
    STREAM: {},
    "memory of 100,000 words": {"memory": 100_000},
    PLAIN: {"memory": 0},
    "plain, published weights": {"memory": 0, "weights": "published"},
}


def run(quick: bool) -> dict[str, Any]:
    """Learn from all collections both ways."""
    names = [*COLLECTIONS][:1] if quick else [*COLLECTIONS]
    most = QUICK_DOCUMENTS if quick else None
    found = {name: judge(Split.of(COLLECTIONS[name]().first(most).corpus)) for name in names}
    return {
        "goals": [goal for name in found for goal in goals(name, found[name])],
        "collections": found,
        "figure": labeled_figures.draw(found, (STREAM, PLAIN), harness.RESULTS / "labeled_online.png"),
    }


def goals(name: str, found: dict[str, Any]) -> list[dict[str, Any]]:
    stream, batch = found["streams"][STREAM]["points"][-1], found["batch"]["points"][-1]
    near, times = stream["perplexity"] / batch["perplexity"], batch["seconds"] / stream["seconds"]
    return [
        harness.goal(f"{name}: perplexity at the end, stream / batch", near, at_most=NEAR),
        harness.goal(f"{name}: seconds in all, batch / stream", times, at_least=TIMES, others=found["others"]),
    ]


def judge(split: Split) -> dict[str, Any]:
    """Batch and streams at each tenth of a collection."""
    _warm_up(split)
    others = harness.OthersWork()
    batch = {"points": _points(split, _batches(split))}
    streams = {name: {"points": _points(split, _stream(split, settings))} for name, settings in STREAMS.items()}
    return {**split.facts(), "batch": batch, "streams": streams, "others": others.cores()}


Fitted = tuple[float, int, LabeledLDA | OnlineLabeledLDA]
"""Seconds in all, documents so far, and a model of them."""


def _batches(split: Split) -> Iterator[Fitted]:
    counts, labels = _documents(split)
    seconds = 0.0
    for end in _ends(split)[1:]:
        model = LabeledLDA(random_state=SEED)
        began = time.perf_counter()
        model.fit(counts[:end], labels[:end])
        seconds += time.perf_counter() - began
        yield seconds, end, model


def _stream(split: Split, settings: dict[str, Any]) -> Iterator[Fitted]:
    counts, labels = _documents(split)
    seconds, model = 0.0, OnlineLabeledLDA(random_state=SEED, **settings)
    for start, end in pairwise(_ends(split)):
        began = time.perf_counter()
        model.partial_fit(counts[start:end], labels[start:end])
        seconds += time.perf_counter() - began
        yield seconds, end, model


def _points(split: Split, fitted: Iterator[Fitted]) -> list[dict[str, float]]:
    return [
        {
            "documents": end,
            "seconds": seconds,
            "labels": len(model.label_names_),
            "perplexity": split.perplexity(model.label_words_, model.label_names_),
        }
        for seconds, end, model in fitted
    ]


def _documents(split: Split) -> tuple[Any, list[list[str]]]:
    """Counts, so that words have one number in all models, and labels."""
    return split.train.counts, split.train.labels.to_list()


def _ends(split: Split) -> list[int]:
    return np.linspace(0, split.train.n_documents, TENTHS + 1).astype(int).tolist()


def _warm_up(split: Split) -> None:
    """Have the kernels compiled."""
    counts, labels = _documents(split)
    for settings in STREAMS.values():
        OnlineLabeledLDA(random_state=SEED, **settings).fit(counts[:1000], labels[:1000])
    LabeledLDA(max_iter=2, random_state=SEED).fit(counts[:1000], labels[:1000])


# --- tables ------------------------------------------------------------------------------------------------------------------


def claims(result: dict[str, Any]) -> list[Claim]:
    """The stream beside batch models that are fitted anew."""
    found, peer = [], "batch, anew at each tenth"
    for name, one in result["collections"].items():
        stream, batch = one["streams"][STREAM]["points"][-1], one["batch"]["points"][-1]
        found.append(Claim(f"{name}, seconds in all", stream["seconds"], batch["seconds"], peer, others=one["others"]))
        found.append(Claim(f"{name}, perplexity at the end", stream["perplexity"], batch["perplexity"], peer, ""))
    return found


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    for name, found in result["collections"].items():
        title = (
            f"{name}: {found['documents']:,} documents, {found['words']:,} words, {found['tokens']:,.0f} tokens, "
            f"{found['labels']} labels; {found['held_out_documents']:,} held out; others kept {found['others']:.1f} cores busy"
        )
        columns = ("documents", "labels", "ratio", "faster", "stream", "batch", "stream s", "batch s")
        pairs = zip(found["streams"][STREAM]["points"], found["batch"]["points"], strict=True)
        harness.show(title, columns, [_row(stream, batch) for stream, batch in pairs])
        end = found["batch"]["points"][-1]
        harness.show(f"{name}: streams at the end", ("stream", "perplexity", "/ batch", "s"), _rows_of_streams(found, end))
    harness.console.print(f"ratio: perplexity, stream / batch; faster: seconds, batch / stream. Drawn in {result['figure']}")


def _row(stream: dict[str, float], batch: dict[str, float]) -> tuple[str, ...]:
    return (
        f"{stream['documents']:,}",
        f"{stream['labels']:,}",
        f"{stream['perplexity'] / batch['perplexity']:.3f}",
        f"{batch['seconds'] / stream['seconds']:.1f}",
        f"{stream['perplexity']:,.0f}",
        f"{batch['perplexity']:,.0f}",
        f"{stream['seconds']:.2f}",
        f"{batch['seconds']:.1f}",
    )


def _rows_of_streams(found: dict[str, Any], end: dict[str, float]) -> list[tuple[str, ...]]:
    last = {name: stream["points"][-1] for name, stream in found["streams"].items()}
    return [
        (name, f"{one['perplexity']:,.0f}", f"{one['perplexity'] / end['perplexity']:.3f}", f"{one['seconds']:.2f}")
        for name, one in last.items()
    ]


if __name__ == "__main__":
    harness.alone("labeled_online", run, show)
