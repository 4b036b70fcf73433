"""One fit of tomotopy for `learned_priors`, in a process and an environment of its own.

``python -m benchmarks.learned_priors_worker ORDER.json``; topics are written as topics.npy beside the order, topics × words,
and answer.json has the α that was learned. One thread: with more of them tomotopy's sampler is an approximation.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import tomotopy as tp

START = 0.1
"""α where learning starts."""
INTERVAL, BURN_IN = 10, 100
"""Iterations from one update of α to the next, and before the first one."""


def fit(counts: sp.csr_array, n_topics: int, eta: float, iterations: int, seed: int) -> tp.LDAModel:
    """Return a fitted model; words are named by their numbers."""
    model = tp.LDAModel(min_cf=0, min_df=0, rm_top=0, tw=tp.TermWeight.ONE, k=n_topics, alpha=START, eta=eta, seed=seed)
    model.optim_interval, model.burn_in = INTERVAL, BURN_IN
    for first, last in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        words = np.repeat(counts.indices[first:last], counts.data[first:last].astype(int))
        if len(words):
            model.add_doc(words.astype(str).tolist())
    model.train(iterations, workers=1)
    return model


def topics_of(model: tp.LDAModel, n_words: int) -> np.ndarray:
    """Return P(word | topic); words that it has not seen have zeros."""
    found = np.zeros((model.k, n_words))
    found[:, [int(word) for word in model.used_vocabs]] = [model.get_topic_word_dist(topic) for topic in range(model.k)]
    return found


def main() -> None:
    """Carry out an order."""
    path = Path(sys.argv[1])
    order = json.loads(path.read_text())
    counts = sp.csr_array(sp.load_npz(order["counts"]))
    model = fit(counts, order["topics"], order["eta"], order["iterations"], order["seed"])
    np.save(path.parent / "topics.npy", topics_of(model, counts.shape[1]))
    (path.parent / "answer.json").write_text(json.dumps({"alpha": [float(one) for one in model.alpha]}))


if __name__ == "__main__":
    main()
