"""The whole experiment of Chappelier & Eckard (2009): thirteen similarities of PLSI on five collections, and beyond.

CACM (1,587 documents with an abstract), CRAN, TIME, CISI and MED; |Z| = 1, 2, 8, 16, 32, 64, 128; six starts; the twelve Fisher
kernels and S_KL: 2,730 runs. Documents are title and text, stemmed, without stop words; queries are folded in. MAP as trec_eval
has it: over queries with a relevant document, all relevant ones in the denominator. Means over starts.

The paper says of training only "(tempered) EM": neither β nor when it stops. So the 2,730 runs are made four times: by plain EM
until an iteration changes the log-likelihood by less than 1e-5 of itself; by tempered EM likewise, with β = 0.8 and with 0.7;
and with β = 0.75 until 1e-4, which is early. One training serves all collections. Tables of probabilities are in double
precision, as S_KL as published leaves out words whose probability underflows. P(topic | document) has no floor in "ifim"
kernels, as the paper has none: with 128 topics most documents share none with a query, and a floor would rank them. "dfim"
kernels have the package's.

Beside the thirteen: S_KL with P(word | document) mixed half with the background, and the package's likelihood of the query,
which mixes a document's own words with those of its topics. Beyond |Z| = 128 there are two starts, and no more topics than
documents. What that leads to is told, too: a topic for each document, its own words, which is a language model without topics.
The numbers of table 1 fit better if CACM had its keywords and CRAN its titles twice, as in the files of SMART; this is tried
apart from the goals.

Takes about twenty minutes on two cores; with --quick, MED and TIME, three |Z| and two starts, about two minutes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from multiprocessing import get_context
from statistics import fmean, pstdev
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import data, harness, plsi_paper_figures
from benchmarks.searching import Searched
from semascope import PLSA, Index, ThreadEngine, read
from semascope.corpus.shards import shard_of
from semascope.retrieval.fisher import Fisher
from semascope.retrieval.likelihood import kl_scores, likelihood_scores
from semascope.retrieval.topic_documents import TopicDocuments


class Source(NamedTuple):
    """Where a collection lies, what of a document is taken, and whether those without text are left out."""

    path: str
    fields: tuple[str, ...] = ("title", "text")
    only_with_text: bool = False


COLLECTIONS = {
    "CACM": Source("ir/cacm", only_with_text=True),
    "CRAN": Source("ir/cran"),
    "TIME": Source("ir/time"),
    "CISI": Source("ir/cisi"),
    "MED": Source("ir/med"),
}
VARIANTS = {
    "CACM with keywords": Source("ir/cacm", ("title", "text", "keywords"), only_with_text=True),
    "CRAN, titles twice": Source("ir/cran", ("title", "title", "text")),
}
KERNELS = {
    name + part: {"process": process, "information": information, "part": of}
    for name, process, information in (
        ("H", "hofmann", "ifim"), ("DFIM-H", "hofmann", "dfim"), ("IID", "iid", "ifim"), ("DFIM-IID", "iid", "dfim")
    )
    for part, of in (("", "both"), (" z", "z"), (" w", "w"))
}  # fmt: skip
KL, SMOOTHED, LIKELIHOOD = "S_KL", "S_KL smoothed", "likelihood"
THIRTEEN = (*KERNELS, KL)
OURS = (*THIRTEEN, SMOOTHED)
FLOORED = ("H floored", "IID floored")
MAX_ITERATIONS = 500
PROCESSES = 2
CURVES = {"DFIM-H": 64, "H": 32, KL: 128, "H w": 32, "H z": 32}
"""Similarities of figure 4, on MED, and their |Z|."""


class Training(NamedTuple):
    """How models are trained."""

    tempering: float | None
    tol: float


PLAIN, TEMPERED, SHOWN = "plain", "β = 0.8", "β = 0.75, early"
CONVERGED = {PLAIN: Training(None, 1e-5), TEMPERED: Training(0.8, 1e-5), "β = 0.7": Training(0.7, 1e-5)}
"""Trainings that go beyond |Z| = 128, too."""
TRAININGS = {**CONVERGED, SHOWN: Training(0.75, 1e-4)}
"""SHOWN is what comes nearest to the published numbers (see `_distance`): table 2 and figures 1 to 4 show it."""


@dataclass(frozen=True)
class Plan:
    """What is run."""

    collections: Sequence[str] = tuple(COLLECTIONS)
    variants: Sequence[str] = tuple(VARIANTS)
    topics: Sequence[int] = (1, 2, 8, 16, 32, 64, 128)
    starts: int = 6
    beyond: Sequence[int] = (256, 512, 1024)
    starts_beyond: int = 2


QUICK = Plan(("TIME", "MED"), (), (8, 32, 128), 2, (256,), 1)

PUBLISHED: dict[str, dict[str, Any]] = {
    "terms": {"CACM": 4911, "CRAN": 4063, "TIME": 13367, "CISI": 5545, "MED": 7688},
    "occurrences": {"CACM": 90927, "CRAN": 120973, "TIME": 114850, "CISI": 87067, "MED": 76571},
    "documents": {"CACM": 1587, "CRAN": 1398, "TIME": 425, "CISI": 1460, "MED": 1033},
    "mean |d|": {"CACM": 56.8, "CRAN": 85.1, "TIME": 268.6, "CISI": 56.7, "MED": 73.8},
    "queries": {"CACM": 64, "CRAN": 225, "TIME": 83, "CISI": 112, "MED": 30},
    "mean |q|": {"CACM": 12.7, "CRAN": 8.9, "TIME": 8.2, "CISI": 37.7, "MED": 11.4},
    "BM25": {"CACM": 31.4, "CRAN": 42.4, "TIME": 69.2, "CISI": 12.3, "MED": 52.3},
    "best": {"CACM": 30.0, "CRAN": 39.6, "TIME": 60.8, "CISI": 20.2, "MED": 53.8},
    "which": {"CACM": "DFIM-H w", "CRAN": KL, "TIME": "DFIM-H w", "CISI": "H", "MED": "H"},
    "|Z|": {"CACM": 32, "CRAN": 128, "TIME": 8, "CISI": 8, "MED": 32},
    "H w": {"CACM": 30.0, "CRAN": 33.6, "TIME": 55.6, "CISI": 20.2, "MED": 49.8},
    "DFIM-H w": {"CACM": 23.2, "CRAN": 37.0, "TIME": 60.8, "CISI": 15.6, "MED": 45.5},
    "S_KL-128": {"CACM": 22.9, "CRAN": 39.6, "TIME": 49.1, "CISI": 19.5, "MED": 52.8},
    "better than BM25": {"CACM": "no", "CRAN": "no", "TIME": "no", "CISI": "yes", "MED": "yes"},
    "S_KL-128 and Fisher": {"CACM": "<", "CRAN": ">", "TIME": "<", "CISI": "≃", "MED": "≃"},
    "dfim helps": {"CACM": "yes", "CRAN": "yes", "TIME": "yes", "CISI": "no", "MED": "no"},
}
"""Tables 1 and 2 as printed. By what else the paper says of CACM, its "H w" and "DFIM-H w" are the wrong way round there."""


# --- the experiment --------------------------------------------------------------------------------------------------------


def run(quick: bool) -> dict[str, Any]:
    """Make all runs, and draw the figures."""
    plan = QUICK if quick else Plan()
    with harness.cores(PROCESSES), _workers() as workers:
        facts = dict(zip(plan.collections, workers.map(_facts_of, plan.collections), strict=True))  # and compile
        timed = {name: _grid(workers, facts, name, plan.topics, plan.starts) for name in TRAININGS}
        large = {name: _grid(workers, facts, name, plan.beyond, plan.starts_beyond) for name in CONVERGED}
        variants = _variants(workers, plan)
    runs = {name: [*timed[name].runs, *(large[name].runs if name in large else [])] for name in TRAININGS}
    maps = {name: {how: _summary(runs[how], name) for how in TRAININGS} for name in plan.collections}
    result = {
        "topics": list(plan.topics),
        "starts": plan.starts,
        "beyond": list(plan.beyond),
        "starts_beyond": plan.starts_beyond,
        "goals": _goals(plan, maps, timed, runs),
        "seconds": {name: {"paper": grid.seconds, "others": grid.others} for name, grid in timed.items()},
        "seconds_beyond": {name: {"seconds": grid.seconds, "others": grid.others} for name, grid in large.items()},
        "trainings": {name: {**_progress(runs[name]), "distance": _distance(plan, maps, name)} for name in TRAININGS},
        "apart": {name: _apart(plan, runs[name]) for name in TRAININGS},
        "collections": facts,
        "variants": variants,
        "published": PUBLISHED,
        "best": {name: {how: _best(found[how], plan.topics, THIRTEEN) for how in TRAININGS} for name, found in maps.items()},
        "maps": maps,
        "curves": _curves(runs[SHOWN], facts),
    }
    return {**result, "figures": plsi_paper_figures.draw(result, SHOWN, harness.RESULTS)}


def _variants(workers: ProcessPoolExecutor, plan: Plan) -> dict[str, Any]:
    """Table 1 and the best similarities of collections read otherwise."""
    facts = dict(zip(plan.variants, workers.map(_facts_of, plan.variants), strict=True))
    runs = {name: _grid(workers, facts, name, plan.topics, plan.starts).runs for name in (TEMPERED, SHOWN) if facts}
    maps = {name: {how: _summary(runs[how], name) for how in runs} for name in facts}
    return {name: {**facts[name], "best": _best_of_all(maps[name], plan.topics, OURS)} for name in facts}


class Job(NamedTuple):
    """One model."""

    collection: str
    training: str
    topics: int
    start: int


class Run(NamedTuple):
    """What came of a job: MAP of every similarity in percent, and curves for figure 4."""

    job: Job
    maps: dict[str, float]
    iterations: int
    settled: bool
    curves: dict[str, list[float]]


class Grid(NamedTuple):
    """Runs of a training, and what they took."""

    runs: list[Run]
    seconds: float
    others: float


def _workers() -> ProcessPoolExecutor:
    """Processes of one thread each: two models at once are sooner done than one after the other on two threads."""
    return ProcessPoolExecutor(PROCESSES, get_context("spawn"), initializer=threadpool_limits, initargs=(1,))


def _grid(workers: ProcessPoolExecutor, facts: dict[str, Any], training: str, topics: Sequence[int], starts: int) -> Grid:
    """Train and judge, the longest first so that no process waits for the other in the end."""
    every = (Job(*job) for job in product(facts, (training,), topics, range(starts)))
    jobs = sorted((job for job in every if job.topics <= facts[job.collection]["documents"]), key=lambda job: -job.topics)
    others, began = harness.OthersWork(), time.perf_counter()
    runs = list(workers.map(_run, jobs))
    return Grid(runs, time.perf_counter() - began, others.cores())


def _run(job: Job) -> Run:
    """Train one model, and judge all similarities by it."""
    given, how = _given(job.collection), TRAININGS[job.training]
    model = PLSA(
        job.topics, tempering=how.tempering, tol=how.tol, max_iter=MAX_ITERATIONS, random_state=job.start, dtype="float64",
        engine=ThreadEngine(1),
    )  # fmt: skip
    model.fit(given.searched.corpus)
    maps, curves = {}, {}
    for name, scores in given.scores(model):
        maps[name] = given.searched.mean_average_precision(scores)
        if job.collection == "MED" and CURVES.get(name) == job.topics:
            curves[name] = given.searched.precision_at_recalls(scores).tolist()
    return Run(job, maps, model.n_iter_, model.stopped_by_ == "converged", curves)


# --- a collection ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Given:
    """A collection, and what all models have in common there."""

    searched: Searched
    queries: list[str]
    by_word: Any
    background: np.ndarray

    @classmethod
    def of(cls, name: str) -> Given:
        path, fields, only_with_text = {**COLLECTIONS, **VARIANTS}[name]
        searched = Searched.of(path, fields, only_with_text=only_with_text)
        corpus = searched.corpus
        counts = np.bincount(corpus.rows.words, corpus.rows.counts, corpus.n_words)
        by_word = shard_of(corpus.rows, 0, 0, corpus.n_documents, corpus.n_words).by_word
        texts = read(data.folder(path) / "queries.jsonl.gz").frame()["text"].to_list()
        return cls(searched, texts, by_word, counts / counts.sum())

    def scores(self, model: PLSA) -> Iterator[tuple[str, np.ndarray]]:
        """Give the scores of all documents for all queries by every similarity."""
        topics, queries = model.components_.T, self.searched.queries.rows
        documents = TopicDocuments(self.searched.corpus.rows, self.by_word, model.doc_topics_.astype(np.float64))
        theta = model.transform(self.searched.queries).astype(np.float64)
        exact, floored = Fisher([documents], topics, floor=0.0), Fisher([documents], topics)
        parts: dict[str, np.ndarray] = {}
        for name, kernel in KERNELS.items():
            if kernel["part"] != "both":
                fisher = exact if kernel["information"] == "ifim" else floored
                same = name == "IID w"  # which is "H w"
                parts[name] = parts["H w"] if same else fisher.scores(0, queries, theta, **kernel)
                yield name, parts[name]
        yield from ((name, parts[f"{name} z"] + parts[f"{name} w"]) for name in ("H", "DFIM-H", "IID", "DFIM-IID"))
        yield from ((f"{name} floored", floored.scores(0, queries, theta, **KERNELS[name])) for name in ("H", "IID"))
        yield KL, kl_scores(documents, topics, queries, self.background, published=True)
        yield SMOOTHED, kl_scores(documents, topics, queries, self.background)
        yield LIKELIHOOD, likelihood_scores(documents, topics, queries, self.background)

    def topic_for_each(self) -> np.ndarray:
        """Scores of S_KL, smoothed, where every document is a topic of its own."""
        corpus = self.searched.corpus
        counts = corpus.counts.toarray().T.astype(np.float64)
        documents = TopicDocuments(corpus.rows, self.by_word, np.eye(corpus.n_documents))
        return kl_scores(documents, counts / np.maximum(counts.sum(axis=0), 1), self.searched.queries.rows, self.background)

    def bm25(self) -> np.ndarray:
        """Scores of BM25; documents that have no word of a query come last."""
        index, n_documents = Index.build(self.searched.corpus), self.searched.corpus.n_documents
        scores = np.full((len(self.queries), n_documents), -np.inf)
        for row, ranking in zip(scores, index.rank(index.read(self.queries), n_documents, by="bm25"), strict=True):
            row[ranking.numbers] = ranking.scores
        return scores


@lru_cache
def _given(name: str) -> Given:
    return Given.of(name)


def _facts_of(name: str) -> dict[str, Any]:
    """What table 1 tells of a collection, and BM25; compiles whatever the runs need."""
    given = _given(name)
    corpus, queries, scores = given.searched.corpus, given.searched.queries, given.bm25()
    for how in {training.tempering for training in TRAININGS.values()}:
        model = PLSA(2, max_iter=2, tempering=how, random_state=0, dtype="float64", engine=ThreadEngine(1)).fit(corpus)
        list(given.scores(model))
    return {
        "terms": corpus.n_words,
        "occurrences": int(corpus.n_tokens),
        "documents": corpus.n_documents,
        "mean |d|": corpus.n_tokens / corpus.n_documents,
        "queries": queries.n_documents,
        "mean |q|": queries.n_tokens / queries.n_documents,
        "BM25": given.searched.mean_average_precision(scores),
        "a topic for each": given.searched.mean_average_precision(given.topic_for_each()),
        "BM25 curve": given.searched.precision_at_recalls(scores).tolist(),
    }


# --- what came of it -------------------------------------------------------------------------------------------------------


def _summary(runs: list[Run], collection: str) -> dict[str, Any]:
    """Mean and standard deviation over starts of the MAP of each similarity, for each |Z|."""
    runs = [run for run in runs if run.job.collection == collection]
    topics = sorted({run.job.topics for run in runs})
    values = {name: [[run.maps[name] for run in runs if run.job.topics == z] for z in topics] for name in runs[0].maps}
    return {
        "topics": topics,
        "mean": {name: [round(fmean(of_starts), 3) for of_starts in found] for name, found in values.items()},
        "sd": {name: [round(pstdev(of_starts), 3) for of_starts in found] for name, found in values.items()},
    }


def _within(found: dict[str, Any], name: str, topics: Sequence[int]) -> list[float]:
    """Mean MAP of a similarity with some |Z|."""
    return [value for z, value in zip(found["topics"], found["mean"][name], strict=True) if z in topics]


def _best(found: dict[str, Any], topics: Sequence[int], names: Sequence[str]) -> dict[str, Any]:
    """The best of some similarities, with some |Z|."""
    rows = [(value, name, z) for name in names for value, z in zip(_within(found, name, topics), topics, strict=True)]
    value, which, z = max(rows, key=lambda row: row[0])
    return {"map": value, "which": which, "|Z|": z}


def _best_of_all(found: dict[str, Any], topics: Sequence[int], names: Sequence[str]) -> dict[str, Any]:
    """The best of some similarities over all trainings."""
    bests = ({"training": training, **_best(mine, topics, names)} for training, mine in found.items())
    return max(bests, key=lambda best: best["map"])


def _distance(plan: Plan, maps: dict[str, Any], training: str) -> float:
    """How far the best of "H w", and S_KL with the most topics, are from the published ones: mean over collections."""
    apart = []
    for name in plan.collections:
        found = maps[name][training]
        apart.append(abs(max(_within(found, "H w", plan.topics)) - PUBLISHED["H w"][name]))
        apart.append(abs(_within(found, KL, plan.topics)[-1] - PUBLISHED["S_KL-128"][name]))
    return fmean(apart)


def _apart(plan: Plan, runs: list[Run]) -> dict[str, Any]:
    """By how much MAP of K^H and K^IID differ at most: in one run, in the mean over starts, and so with the package's floor."""
    found: dict[str, Any] = {}
    for collection in plan.collections:
        of_topics = [[run for run in runs if run.job[::2] == (collection, z)] for z in plan.topics]
        found[collection] = {
            "run": max(abs(run.maps["H"] - run.maps["IID"]) for some in of_topics for run in some),
            "mean": max(abs(fmean(run.maps["H"] - run.maps["IID"] for run in some)) for some in of_topics),
            "floored": max(abs(fmean(run.maps[FLOORED[0]] - run.maps[FLOORED[1]] for run in some)) for some in of_topics),
            "dfim": max(abs(fmean(run.maps["DFIM-H"] - run.maps["DFIM-IID"] for run in some)) for some in of_topics),
        }
    return found


def _progress(runs: list[Run]) -> dict[str, Any]:
    iterations = [run.iterations for run in runs]
    return {"iterations": fmean(iterations), "most": max(iterations), "unsettled": sum(not run.settled for run in runs)}


def _curves(runs: list[Run], facts: dict[str, Any]) -> dict[str, list[float]]:
    """Precision at recalls on MED, of the similarities of figure 4 that there are; means over starts."""
    found = {"BM25": facts["MED"]["BM25 curve"]}
    for name, z in CURVES.items():
        if curves := [run.curves[name] for run in runs if name in run.curves]:
            found[f"{name}, {z}"] = np.mean(curves, axis=0).tolist()
    return found


def _goals(plan: Plan, maps: dict[str, Any], timed: dict[str, Grid], runs: dict[str, list[Run]]) -> list[dict[str, Any]]:
    slowest, apart = max(timed.values(), key=lambda grid: grid.seconds), _apart(plan, runs[PLAIN])
    said = f"minutes of {len(THIRTEEN) * len(slowest.runs):,} runs, slowest training"
    goals = [harness.goal(said, slowest.seconds / 60, at_most=30)]  # others can only make it longer
    for kind, names in (("paper's 13 or smoothed S_KL", OURS), ("likelihood, words and topics", (LIKELIHOOD,))):
        for name in plan.collections:
            best = _best_of_all(maps[name], plan.topics, names)
            said = f"{name}, {kind}: {best['which']}, |Z| = {best['|Z|']}, {best['training']}"
            goals.append(harness.goal(said, best["map"], at_least=PUBLISHED["best"][name]))
    largest = max(one["mean"] for one in apart.values())
    return [*goals, harness.goal("largest |MAP(K^H) − MAP(K^IID)|, plain EM", largest, at_most=0.3)]


# --- tables ----------------------------------------------------------------------------------------------------------------


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    _show_table_1(result)
    _show_table_2(result)
    _show_bests(result)
    _show_apart(result)
    _show_growth(result)
    _show_trainings(result)
    harness.console.print("Figures:", ", ".join(result["figures"]))


def _show_table_1(result: dict[str, Any]) -> None:
    names, rows = result["collections"], []
    for what in ("terms", "occurrences", "documents", "mean |d|", "queries", "mean |q|"):
        form = "{:.1f}" if what.startswith("mean") else "{:,}"
        rows.append((what, *(f"{form.format(names[n][what])} / {form.format(PUBLISHED[what][n])}" for n in names)))
    harness.show("Table 1, ours / published", ("", *names), rows)


def _show_table_2(result: dict[str, Any]) -> None:
    names, mine = result["collections"], {name: result["maps"][name][SHOWN] for name in result["collections"]}
    best = {name: result["best"][name][SHOWN] for name in names}
    tops = {what: {n: max(_within(mine[n], what, result["topics"])) for n in names} for what in ("H w", "DFIM-H w")}
    last = {what: {n: _within(mine[n], what, result["topics"])[-1] for n in names} for what in (KL, SMOOTHED)}
    fisher = {n: _best(mine[n], result["topics"], tuple(KERNELS))["map"] for n in names}
    verdicts = {
        "better than BM25": {n: "yes" if best[n]["map"] > names[n]["BM25"] else "no" for n in names},
        "S_KL-128 and Fisher": {n: _compared(last[KL][n], fisher[n]) for n in names},
        "dfim helps": {n: "yes" if tops["DFIM-H w"][n] > tops["H w"][n] else "no" for n in names},
    }
    rows = [
        ("BM25", *(f"{names[n]['BM25']:.1f} / {PUBLISHED['BM25'][n]}" for n in names)),
        ("best of the 13", *(f"{best[n]['map']:.1f} / {PUBLISHED['best'][n]}" for n in names)),
        ("which is", *(f"{best[n]['which']} / {PUBLISHED['which'][n]}" for n in names)),
        ("for |Z|", *(f"{best[n]['|Z|']} / {PUBLISHED['|Z|'][n]}" for n in names)),
        *((f"K {what}, best |Z|", *(f"{top[n]:.1f} / {PUBLISHED[what][n]}" for n in names)) for what, top in tops.items()),
        ("S_KL-128", *(f"{last[KL][n]:.1f} / {PUBLISHED['S_KL-128'][n]}" for n in names)),
        ("S_KL-128, smoothed", *(f"{last[SMOOTHED][n]:.1f}" for n in names)),
        *((what, *(f"{verdict[n]} / {PUBLISHED[what][n]}" for n in names)) for what, verdict in verdicts.items()),
    ]
    harness.show(f"Table 2, ours / published; {SHOWN}", ("MAP in percent", *names), rows)


def _compared(one: float, other: float) -> str:
    """Whether one MAP is about the other, to a point."""
    return "≃" if abs(one - other) < 1 else "<" if one < other else ">"


def _show_bests(result: dict[str, Any]) -> None:
    names, rows = list(result["collections"]), []
    groups = {"13": THIRTEEN, SMOOTHED: (SMOOTHED,), LIKELIHOOD: (LIKELIHOOD,)}
    for training, (kind, group) in product(TRAININGS, groups.items()):
        cells = []
        for name in names:
            best = _best(result["maps"][name][training], result["topics"], group)
            cells.append(f"{best['map']:.1f} {best['which'] if kind == '13' else ''} {best['|Z|']}")
        rows.append((f"{training}: {kind}", *cells))
    rows.append(("published", *(f"{PUBLISHED['best'][name]}" for name in names)))
    harness.show("Best MAP within the paper's |Z|, by training", ("", *names), rows)
    rows = []
    for name, one in result["variants"].items():
        best = one["best"]
        which = f"{best['which']}, |Z| = {best['|Z|']}, {best['training']}"
        rows.append((name, one["terms"], one["occurrences"], f"{one['BM25']:.1f}", f"{best['map']:.1f}", which))
    harness.show("Collections read otherwise", ("", "terms", "occurrences", "BM25", "best", "which is"), rows)


def _show_apart(result: dict[str, Any]) -> None:
    names, rows = list(result["collections"]), []
    said = {"mean": "K^H, K^IID", "run": "one run", "floored": "floor 1e-6", "dfim": "DFIM-H, DFIM-IID"}
    for training, what in product(TRAININGS, said):
        rows.append((f"{training}: {said[what]}", *(f"{result['apart'][training][name][what]:.2f}" for name in names)))
    harness.show("Largest difference of MAP over the paper's |Z|", ("", *names), rows)


def _show_growth(result: dict[str, Any]) -> None:
    topics, rows = [*result["topics"], *result["beyond"]], []
    for name, training, kind in product(result["collections"], CONVERGED, (KL, SMOOTHED, "H", "H w", "DFIM-H w", LIKELIHOOD)):
        found = result["maps"][name][training]
        value_of = dict(zip(found["topics"], found["mean"][kind], strict=True))
        cells = (f"{value_of[z]:.1f}" if z in value_of else "–" for z in topics)
        last = f"{result['collections'][name]['a topic for each']:.1f}" if kind == SMOOTHED else ""
        rows.append((f"{name}, {training}: {kind}", *cells, last))
    harness.show("MAP against |Z|", ("", *map(str, topics), "a topic for each document"), rows)


def _show_trainings(result: dict[str, Any]) -> None:
    rows = []
    for name, one in result["trainings"].items():
        took = result["seconds"][name]
        numbers = (f"{one['iterations']:.0f}", f"{one['most']}", f"{one['unsettled']}", f"{one['distance']:.1f}")
        rows.append((name, *numbers, f"{took['paper'] / 60:.1f}", f"{took['others']:.1f}"))
    columns = ("", "mean iterations", "most", "not settled", "points from published", "minutes", "cores of others")
    harness.show("Trainings; minutes of the paper's |Z| and starts", columns, rows)


if __name__ == "__main__":
    harness.alone("plsi_paper", run, show)
