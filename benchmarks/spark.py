"""What does Spark cost, and how do we compare with its own LDA?

First: seconds of an iteration of LDA on CVE with 100 topics, by two threads and by two Spark executors of one core each, and
the bytes that an iteration moves. Start-up does not count, nor do first iterations, when Java still compiles: the difference
of a long and a short fit is taken, in a session that is warm.

Second, against Spark MLlib on two cores, by its online and its EM optimizer, with its default settings: held-out perplexity
against time on 20 Newsgroups and CVE with 100 topics. All learn from the same counts and are judged by one evaluator, by
document completion from P(word | topic) alone, with a common prior of 0.1 per topic. MLlib cannot go on with a fit, so that
each of its points is a fit of its own, of 10, 20, 40 and 80 iterations, until one takes more than 200 seconds. The target is
the best perplexity of any of them.

Takes about 30 minutes on two cores. With --quick, Reuters instead, 6,000 documents of it beside
MLlib, and its shortest fits: about one.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import data, harness, lda_figure
from benchmarks.claims import Claim
from benchmarks.environments import NoEnvironmentError
from benchmarks.harness import Iterations
from benchmarks.lda import QUICK_DOCUMENTS, Plan, Split, System, runs_of
from benchmarks.lda import SYSTEMS as OTHERS_SYSTEMS
from benchmarks.lda_figure import Target
from benchmarks.lda_summary import OURS, against, seconds_to
from benchmarks.lda_worker import THREADS
from semascope import Corpus, SparkEngine, ThreadEngine
from semascope.engines.spark.session import session_for
from semascope.training.cvb0 import CVB0
from semascope.training.loop import run as training
from semascope.training.stopping import StopRule

MASTER = f"local-cluster[{THREADS},1,4096]"
TOPICS = 100
SEED = 0
PATIENCE = 200.0
"""Seconds: an MLlib fit that takes longer is the last one, of those with more and more iterations."""
OPTIMIZERS = ("MLlib online", "MLlib EM")


def plan_of(quick: bool) -> Plan:
    """What is compared with MLlib."""
    at = (10,) if quick else (10, 20, 40, 80)
    mllib = {name: System(None, at, limit=PATIENCE) for name in OPTIMIZERS}
    collections = {"Reuters": data.REUTERS} if quick else {"20 Newsgroups": data.NEWSGROUPS, "CVE": data.CVE}
    most = QUICK_DOCUMENTS if quick else None
    return Plan(collections, {OURS: OTHERS_SYSTEMS[OURS], **mllib}, seeds=range(1), topics=TOPICS, most=most)


def run(quick: bool) -> dict[str, Any]:
    """Measure both."""
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        raise NoEnvironmentError("Java is not there (Debian: apt-get install openjdk-17-jre-headless).")
    with tempfile.TemporaryDirectory(prefix="semascope-spark-") as home, harness.cores(THREADS):
        name, path = ("Reuters", data.REUTERS) if quick else ("CVE", data.CVE)
        cost = {"collection": name, **overhead(Split.of(path, Path(home)).train, Path(home), quick)}
        found = against_mllib(plan_of(quick), Path(home))
    more = cost["executors"] - cost["threads"]
    goals = [harness.goal("seconds an iteration takes longer than on threads", more, at_most=1, others=cost["others"])]
    for name, of_collection in found.items():
        ours = of_collection["systems"][OURS]
        goals += [
            harness.goal(f"{name}: MLlib's time to its best / ours to the same", ours["times_faster"], at_least=20),
            harness.goal(f"{name}: perplexity, % of MLlib's best", 100 * ours["perplexity"] / ours["target"], at_most=100),
        ]
    figure = lda_figure.draw(found, TOPICS, Target(OPTIMIZERS[1], "MLlib's best", 4.0), harness.RESULTS / "spark.png")
    return {"goals": goals, "cost": cost, "collections": found, "figure": figure}


# --- what an iteration costs -------------------------------------------------------------------------------------------------


def overhead(corpus: Corpus, home: Path, quick: bool) -> dict[str, Any]:
    """Seconds of an iteration on threads and on executors, and the bytes that the latter move."""
    corpus.save(home / "corpus")
    stored = Corpus.open(home / "corpus")
    engines = {"threads": ThreadEngine(THREADS), "executors": SparkEngine(MASTER, home)}
    few, many = (2, 7) if quick else (5, 25)
    competitors = {name: Iterations(partial(_fit, stored, engine), few, many) for name, engine in engines.items()}
    found = harness.compare(competitors, warm_up=1, repeats=1 if quick else 3, clock=harness.per_iteration)
    algorithm = _algorithm(stored)
    with engines["executors"].open(stored.shards(), home) as placed:
        state = algorithm.init_state(placed.begin(algorithm.init_shard))
        before = placed.bytes_reduced
        placed.step(algorithm.step, state)
        moved = {"sent": placed.bytes_sent, "reduced": placed.bytes_reduced - before}
    session_for(MASTER).stop()  # MLlib shall have the machine for itself
    return {
        **{name: found.of[name].median for name in engines},
        "bytes": moved,
        "others": found.others,
        "runs": found.to_dict(),
    }


def _algorithm(corpus: Corpus) -> CVB0:
    return CVB0(TOPICS, corpus.n_documents, corpus.n_words, corpus.n_tokens, SEED)


def _fit(corpus: Corpus, engine: Any, iterations: int) -> None:
    training(_algorithm(corpus), corpus.shards(), engine, stop=StopRule(iterations, 0.0))


# --- against MLlib -----------------------------------------------------------------------------------------------------------


def against_mllib(plan: Plan, home: Path) -> dict[str, Any]:
    """Fits of all systems, and how much sooner we are where MLlib ends."""
    found = {}
    for name, path in plan.collections.items():
        split = Split.of(path, home, plan.most)
        runs = runs_of(plan, dict.fromkeys(plan.systems, sys.executable), split)
        best = min(
            (point for system in OPTIMIZERS for point in runs[system][0]["points"]), key=lambda point: point["perplexity"]
        )
        found[name] = {**split.facts(), "systems": {system: summary(runs[system], best) for system in runs}}
    return found


def summary(runs: list[dict[str, Any]], best: Mapping[str, float]) -> dict[str, Any]:
    """The end of a system's run, and how much sooner than MLlib it is where MLlib is best."""
    (only,) = runs
    last = min(only["points"], key=lambda point: point["perplexity"])
    return {
        "perplexity": last["perplexity"],
        "seconds": only["points"][-1]["seconds"],
        "target": best["perplexity"],
        "times_faster": best["seconds"] / seconds_to(best["perplexity"], only["points"]),
        "others": only["others"],
        "runs": runs,
    }


# --- tables ------------------------------------------------------------------------------------------------------------------


def claims(result: dict[str, Any]) -> list[Claim]:
    """Time to MLlib's best quality by each optimizer, and its quality."""
    return [
        claim
        for name, found in result["collections"].items()
        for system in OPTIMIZERS
        for claim in against(name, found["systems"], system, "Spark MLlib", f", {system.removeprefix('MLlib ')} optimizer")
    ]


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    cost = result["cost"]
    rows = [(name, f"{1e3 * cost[name]:,.0f}") for name in ("threads", "executors")]
    moved = ", ".join(f"{size / 1e6:.1f} MB {what}" for what, size in cost["bytes"].items())
    harness.show(f"An iteration of LDA on {cost['collection']}, {TOPICS} topics; executors: {moved}", ("where", "ms"), rows)
    for name, found in result["collections"].items():
        points = [
            (system, f"{point['iterations']:.0f}", f"{point['seconds']:.1f}", f"{point['perplexity']:,.0f}")
            for system, of_system in found["systems"].items()
            for run in of_system["runs"]
            for point in run["points"]
        ]
        harness.show(f"{name}, K = {TOPICS}", ("system", "iterations", "s", "perplexity"), points)
    harness.console.print(f"drawn in {result['figure']}")


if __name__ == "__main__":
    harness.alone("spark", run, show)
