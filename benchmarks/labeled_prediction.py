"""How well are the labels of new documents predicted?

News of Reuters, ModApte split, documents with at least one of the 90 labels that training and test documents have; other labels
are left out. F1 judges the labels that a system decides for, the other measures how it ranks all of them: average precision of
the true labels (LRAP), share of documents whose first label is wrong (one-error), labels that have to be read until all true
ones are found (coverage), and share of pairs of a true and a wrong label in the wrong order (ranking loss).

semascope's two models take their default settings and threshold. scikit-learn's logistic regression, one for each label, is
on tf-idf, with its default penalty and with a weaker one, of which no other value was tried. tomotopy (PLDAModel without latent
topics, with its default settings but for α = η = 0.1 to begin with) tells how much of a
document is due to each label; from what share on a label is taken, and whether the first one always is, is chosen in its
favor on training documents, taken as if nobody knew their labels.

A model that learns from a stream cannot learn how scores become probabilities. Its fixed map was found on news of Reuters, so
that its F1 here is not that of a collection that it has never met; rankings by a map of this kind depend on it too.

Times are from texts to a model, and from texts to labels; tomotopy's leave out the separation of words.
There are no goals. Takes about two minutes on two cores; with --quick, one seed and the first 1,500 documents of both
parts, less than one.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import coverage_error, f1_score, label_ranking_average_precision_score, label_ranking_loss
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from benchmarks import harness
from benchmarks.claims import Claim
from benchmarks.environments import NoEnvironmentError
from benchmarks.labeled import work, written
from benchmarks.labeled_data import Labeled, reuters
from benchmarks.lda_worker import THREADS
from semascope import Corpus, LabeledLDA, OnlineLabeledLDA

SWEEPS = 200
WEAK_PENALTY = 100.0
QUICK_DOCUMENTS = 1500
TO_CHOOSE_BY = 1000
"""Training documents by which tomotopy's threshold is chosen."""


class Answer(NamedTuple):
    """What a system says of the test documents.

    scores   float[d, l]  the larger, the more likely
    taken    bool[d, l]   labels it decides for
    fit      seconds
    predict  seconds, of the decision
    """

    scores: Any
    taken: Any
    fit: float
    predict: float


@dataclass(frozen=True)
class Task:
    """Documents to learn from and to predict, with labels among the same names."""

    train: Labeled
    test: Labeled
    names: list[str]

    @classmethod
    def of(cls, most: int | None = None) -> Task:
        """The documents of both parts, or the first so many of each."""
        train, test = (reuters(split).first(most) for split in ("train", "test"))
        both = {*chain(*train.labels)} & {*chain(*test.labels)}
        return cls(_only(train, both), _only(test, both), sorted(both))

    def table(self, lists: Sequence[Sequence[str]]) -> Any:
        """Lists of labels as an indicator matrix."""
        numbers = {name: number for number, name in enumerate(self.names)}
        table = np.zeros((len(lists), len(self.names)), bool)
        for row, labels in enumerate(lists):
            table[row, [numbers[label] for label in labels]] = True
        return table


def _only(documents: Labeled, names: set[str]) -> Labeled:
    kept = [[label for label in labels if label in names] for labels in documents.labels]
    places = [place for place, labels in enumerate(kept) if labels]
    return Labeled([documents.texts[place] for place in places], [kept[place] for place in places], documents.analyzer)


def run(quick: bool) -> dict[str, Any]:
    """Learn, predict and judge."""
    task = Task.of(QUICK_DOCUMENTS if quick else None)
    seeds = range(1 if quick else 3)
    truth, found, left_out = task.table(task.test.labels), {}, {}
    _ours(LabeledLDA(max_iter=2), _part(task, 500))  # compiles the kernels
    _ours(OnlineLabeledLDA(), _part(task, 500))
    others = harness.OthersWork()
    for name, (answer, n_seeds) in SYSTEMS.items():
        try:
            of_seeds = [_judged(answer(task, seed), truth) for seed in seeds[:n_seeds]]
        except NoEnvironmentError as problem:
            left_out[name] = str(problem)
            continue
        found[name] = {measure: mean(one[measure] for one in of_seeds) for measure in of_seeds[0]}
        harness.console.print(f"{name}: micro-F1 {found[name]['micro_f1']:.3f}")
    facts = {"documents": len(task.train.texts), "test_documents": len(task.test.texts), "labels": len(task.names)}
    return {**facts, "seeds": len(seeds), "others": others.cores(), "left_out": left_out, "systems": found}


def _part(task: Task, n: int) -> Task:
    return Task(task.train.first(n), task.test.first(n), task.names)


def _judged(answer: Answer, truth: Any) -> dict[str, float]:
    first = answer.scores.argmax(axis=1)
    return {
        "micro_f1": f1_score(truth, answer.taken, average="micro", zero_division=0),
        "macro_f1": f1_score(truth, answer.taken, average="macro", zero_division=0),
        "lrap": label_ranking_average_precision_score(truth, answer.scores),
        "one_error": 1 - float(truth[np.arange(len(truth)), first].mean()),
        "coverage": coverage_error(truth, answer.scores),
        "ranking_loss": label_ranking_loss(truth, answer.scores),
        "fit": answer.fit,
        "predict": answer.predict,
    }


# --- systems ---------------------------------------------------------------------------------------------------------------


def _ours(model: Any, task: Task) -> Answer:
    began = time.perf_counter()
    model.fit(Corpus.from_texts(task.train.texts, labels=task.train.labels, analyzer=task.train.analyzer))
    fit = time.perf_counter() - began
    began = time.perf_counter()
    predicted = model.predict(task.test.texts)
    predict = time.perf_counter() - began
    scores = np.zeros((len(task.test.texts), len(task.names)))
    columns = {name: column for column, name in enumerate(model.label_names_)}
    known = [name for name in task.names if name in columns]
    of_model = model.predict_proba(task.test.texts)
    scores[:, [task.names.index(name) for name in known]] = of_model[:, [columns[name] for name in known]]
    return Answer(scores, task.table(predicted), fit, predict)


def _regression(penalty: float, task: Task) -> Answer:
    words = TfidfVectorizer(min_df=2, sublinear_tf=True)
    model = make_pipeline(words, OneVsRestClassifier(LogisticRegression(C=penalty, max_iter=1000), n_jobs=THREADS))
    began = time.perf_counter()
    model.fit(task.train.texts, task.table(task.train.labels).astype(int))
    fit = time.perf_counter() - began
    began = time.perf_counter()
    predicted = model.predict(task.test.texts)
    predict = time.perf_counter() - began
    return Answer(model.predict_proba(task.test.texts), predicted.astype(bool), fit, predict)


def _tomotopy(task: Task, seed: int) -> Answer:
    train = task.train.corpus
    test = Corpus.from_texts(task.test.texts, labels=task.test.labels, vocabulary=train.lexicon, analyzer=train.analyzer)
    some = train.filter(range(0, train.n_documents, -(-train.n_documents // TO_CHOOSE_BY)))
    with tempfile.TemporaryDirectory(prefix="semascope-labeled-") as place:
        home = Path(place)
        asked = {name: written(corpus, home, name)["counts"] for name, corpus in {"some": some, "test": test}.items()}
        order = {"system": "tomotopy prediction", "learn_alpha": True, "at": [SWEEPS], "seed": seed, "asked": asked}
        told = work("peers", {**order, **written(train, home, "train")}, home)
        places = [told["names"].index(name) for name in task.names]
        shares = {name: np.load(home / f"{name}.npy")[:, places] for name in asked}
    truth = task.table(some.labels.to_list())
    choices = [(threshold, first) for threshold in np.geomspace(0.005, 0.9, 40) for first in (False, True)]
    best = max(choices, key=lambda choice: f1_score(truth, _taken(shares["some"], *choice), average="micro", zero_division=0))
    return Answer(shares["test"], _taken(shares["test"], *best), told["fit"], told["test"])


def _taken(shares: Any, threshold: float, first_always: bool) -> Any:
    taken = shares >= threshold
    if first_always:
        taken[np.arange(len(taken)), shares.argmax(axis=1)] = True
    return taken


SYSTEMS: dict[str, tuple[Callable[[Task, int], Answer], int]] = {
    "LabeledLDA": (lambda task, seed: _ours(LabeledLDA(random_state=seed), task), 3),
    "OnlineLabeledLDA": (lambda task, seed: _ours(OnlineLabeledLDA(random_state=seed), task), 3),
    "regression": (lambda task, _: _regression(1.0, task), 1),
    f"same, C = {WEAK_PENALTY:g}": (lambda task, _: _regression(WEAK_PENALTY, task), 1),
    "tomotopy": (_tomotopy, 1),
}
"""Each with the number of seeds that it is worth."""


def claims(result: dict[str, Any]) -> list[Claim]:
    """Both of our models beside the others."""
    systems = result["systems"]
    found = []
    for name in ("LabeledLDA", "OnlineLabeledLDA"):
        for other in (other for other in systems if not other.endswith("LDA")):
            ours, theirs = systems[name], systems[other]
            peer, how = (other, "") if other == "tomotopy" else ("scikit-learn", f", {other.replace('same', 'regression')}")
            for measure, said in (("micro_f1", "micro-F1"), ("macro_f1", "macro-F1"), ("lrap", "LRAP")):
                what = f"{name}, {said}{how}"
                found.append(Claim(what, ours[measure], theirs[measure], peer, "", more_is_better=True))
            for measure, said in (("fit", "fit"), ("predict", "predict all")):
                what = f"{name}, {said}{how}"
                found.append(Claim(what, ours[measure], theirs[measure], peer, others=result["others"]))
    return found


# --- tables ------------------------------------------------------------------------------------------------------------------


def show(result: dict[str, Any]) -> None:
    """Print the table."""
    rows = [
        (
            name,
            f"{100 * found['micro_f1']:.1f}",
            f"{100 * found['macro_f1']:.1f}",
            f"{found['lrap']:.3f}",
            f"{found['one_error']:.3f}",
            f"{found['coverage']:.2f}",
            f"{found['ranking_loss']:.4f}",
            f"{found['fit']:.1f}",
            f"{found['predict']:.2f}",
        )
        for name, found in result["systems"].items()
    ]
    title = (
        f"Reuters, ModApte: {result['documents']:,} documents, {result['test_documents']:,} to predict, {result['labels']} "
        f"labels, up to {result['seeds']} seeds; others kept {result['others']:.1f} cores busy"
    )
    columns = ("system", "micro", "macro", "LRAP", "1-error", "cover", "loss", "fit s", "new s")
    harness.show(title, columns, rows)
    harness.console.print("micro, macro: F1 in %; cover: coverage; loss: ranking loss; new s: seconds to predict all")
    for name, reason in result["left_out"].items():
        harness.console.print(f"{name} left out: {reason}")


if __name__ == "__main__":
    harness.alone("labeled_prediction", run, show)
