"""Work of one system of `labeled` and `labeled_prediction`, in a process and an environment of its own.

``python -m benchmarks.labeled_worker ORDER.json``; the words of labels after each number of sweeps asked for are written as
NUMBER.npz beside the order, labels × words, and answer.json says how many seconds each had taken.

The clock runs while a system learns from documents that it has in its own form. It stands still while results are written
down. Nothing is imported but what the system's own environment has.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.lda_worker import THREADS

ALPHA, ETA = 0.1, 0.1

Order = dict[str, Any]
"""system, counts, labels, at, seed, and what else the system takes."""


def semascope(order: Order, home: Path) -> dict[str, Any]:
    """A fit for each number of sweeps; the mean of the later half of them, or the last one alone."""
    from semascope import Corpus, LabeledLDA, ThreadEngine

    engine = ThreadEngine(order["threads"])
    corpus = Corpus.from_matrix(sp.load_npz(order["counts"]), labels=labels_of(order))
    LabeledLDA(max_iter=2, engine=engine).fit(corpus.filter(range(500)))  # compiles the kernels
    points = []
    for sweeps in order["at"]:
        burn_in = sweeps - 1 if order["last_sample"] else None
        model = LabeledLDA(
            alpha=ALPHA, eta=ETA, max_iter=sweeps, burn_in=burn_in, random_state=order["seed"], engine=engine
        )  # fmt: skip
        began = time.perf_counter()
        model.fit(corpus)
        points.append({"sweeps": sweeps, "seconds": time.perf_counter() - began})
        known = model.label_words_
        table = sp.csc_array((known.counts, known.labels, known.ends), shape=(known.n_labels, known.n_words))
        sp.save_npz(home / f"{sweeps}.npz", table)
    return {"points": points, "names": model.label_names_}


def tomotopy(order: Order, home: Path) -> dict[str, Any]:
    """One fit that is looked at after each number of sweeps."""
    model = _tomotopy_model(order)
    points, seconds, done = [], 0.0, 0
    for sweeps in order["at"]:
        began = time.perf_counter()
        model.train(sweeps - done, workers=THREADS)
        seconds, done = seconds + time.perf_counter() - began, sweeps
        points.append({"sweeps": sweeps, "seconds": seconds})
        sp.save_npz(home / f"{sweeps}.npz", _tomotopy_words(model, order["n_words"]))
    return {"points": points, "names": list(model.topic_label_dict)}


def tomotopy_prediction(order: Order, home: Path) -> dict[str, Any]:
    """Fit, and take documents as if nobody knew their labels: how much of each is due to each label."""
    model = _tomotopy_model(order)
    began = time.perf_counter()
    model.train(order["at"][-1], workers=THREADS)
    fit = time.perf_counter() - began
    answer: dict[str, Any] = {"names": list(model.topic_label_dict), "fit": fit}
    for part, counts in order["asked"].items():
        known = {int(word) for word in model.used_vocabs}
        documents = [[word for word in words if int(word) in known] for words in _documents(sp.load_npz(counts))]
        shares = np.full((len(documents), model.k), 1 / model.k)  # of documents without any word that it knows
        places = [place for place, words in enumerate(documents) if words]
        made = [model.make_doc(documents[place]) for place in places]
        began = time.perf_counter()
        shares[places], _ = model.infer(made, workers=THREADS)
        answer[part] = time.perf_counter() - began
        np.save(home / f"{part}.npy", shares)
    return answer


def _tomotopy_model(order: Order) -> Any:
    """Collapsed Gibbs sampling without latent topics, which is Labeled LDA. Words are named by their numbers."""
    import tomotopy as tp

    model = tp.PLDAModel(tw=tp.TermWeight.ONE, latent_topics=0, alpha=ALPHA, eta=ETA, seed=order["seed"])
    if not order["learn_alpha"]:
        model.optim_interval = 0
    for words, labels in zip(_documents(sp.load_npz(order["counts"])), labels_of(order), strict=True):
        if words:
            model.add_doc(words, labels)
    return model


def _tomotopy_words(model: Any, n_words: int) -> sp.csc_array:
    """How often each word is due to each label, from P(word | label) = (n + η) / (N + V η)."""
    words = [int(word) for word in model.used_vocabs]
    table = sp.lil_array((model.k, n_words))
    for label, size in enumerate(model.get_count_by_topics()):
        p = np.asarray(model.get_topic_word_dist(label), np.float64)
        counts = np.round(p * (size + len(words) * model.eta) - model.eta)  # of single precision, so not quite whole
        met = np.flatnonzero(counts)
        table[label, np.array(words)[met]] = counts[met]
    return sp.csc_array(table)


def labels_of(order: Order) -> list[list[str]]:
    """Labels of each document."""
    return json.loads(Path(order["labels"]).read_text())


def _documents(counts: Any) -> list[list[str]]:
    """The words of each document by name."""
    counts = sp.csr_array(counts)
    bounds = zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    return [np.repeat(counts.indices[a:b], counts.data[a:b].astype(int)).astype(str).tolist() for a, b in bounds]


SYSTEMS = {"semascope": semascope, "tomotopy": tomotopy, "tomotopy prediction": tomotopy_prediction}


def main() -> None:
    path = Path(sys.argv[1])
    order = json.loads(path.read_text())
    answer = SYSTEMS[order["system"]](order, path.parent)
    (path.parent / "answer.json").write_text(json.dumps(answer))


if __name__ == "__main__":
    main()
