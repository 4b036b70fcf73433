"""How soon does LDA reach the quality that others reach, and how good is it in the end?

semascope's default settings against tomotopy, BigARTM, gensim and scikit-learn, K = 100, α = 0.1, η = 0.03, two threads each.
Every fit is made in a fresh process (lda_worker.py), one after the other, in an environment made for the peers
(environments.py). All are judged by one evaluator: perplexity of documents held out, by document completion, from each
system's P(word | topic) alone, with a common prior of 0.1 per topic. Only learning is timed: neither reading nor compiling nor
taking topics down counts.

The target is the perplexity that tomotopy has after 500 iterations with the same seed. The time to reach it lies between two
snapshots and is interpolated; means over seeds, and never if one seed never does. A system that cannot be installed is left
out, and said so: BigARTM has wheels for Python 3.11 and older, for example.

semascope and tomotopy are fitted with three seeds, the others, which are far behind, with one and for a minute.

Takes about an hour on two cores. With --quick about one minute: 6,000 documents of Reuters, 50 topics, one seed, and fewer
iterations of the others; the target is then what tomotopy has after 200.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import data, environments, harness, lda_figure
from benchmarks.claims import Claim
from benchmarks.lda_figure import Target
from benchmarks.lda_summary import OURS, PEER, PEERS, against, goals, summary
from benchmarks.lda_worker import THREADS
from semascope import Analyzer, Corpus, ThreadEngine, read
from semascope.evaluation.heldout import COMMON_ALPHA, perplexity

LIMIT = 60.0
"""Seconds after which a fit of the others ends; those that need more are far behind by then."""
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class System:
    """A competitor.

    environment   where it is installed; None is the one that this runs in
    at            iterations, or passes, after which its topics are judged; semascope's also at the end
    limit         seconds it may take
    seeds         how many of the seeds it is fitted with
    """

    environment: str | None
    at: tuple[int, ...]
    limit: float = LIMIT
    seeds: int = 1


@dataclass(frozen=True)
class Plan:
    """What is measured."""

    collections: Mapping[str, str]
    systems: Mapping[str, System]
    seeds: Sequence[int]
    topics: int = 100
    most: int | None = None
    """Documents of a collection, the first ones, if not all."""


QUICK_DOCUMENTS = 6000
SYSTEMS = {
    OURS: System(None, (1, 3, 5, 10, 15, 20, 25, 30, 35, 40, 50, 65, 80), limit=math.inf, seeds=3),
    PEER: System("peers", (20, 50, 100, 200, 500), limit=math.inf, seeds=3),
    "BigARTM": System("bigartm", (1, 2, 5, 10, 20, 40)),
    "gensim": System("peers", (1, 2, 5, 10)),
    "sklearn batch": System("peers", (1, 2, 5, 10, 20)),
    "sklearn online": System("peers", (1, 2, 5, 10)),
}
FULL = Plan({"20 Newsgroups": data.NEWSGROUPS, "Reuters": data.REUTERS, "CVE": data.CVE}, SYSTEMS, seeds=range(3))
QUICK = Plan(
    {"Reuters": data.REUTERS},
    {
        OURS: SYSTEMS[OURS],
        PEER: System("peers", (20, 50, 100, 200), limit=math.inf),
        "BigARTM": System("bigartm", (1, 2, 5, 10)),
        "gensim": System("peers", (1,)),
        "sklearn batch": System("peers", (1, 2)),
        "sklearn online": System("peers", (1,)),
    },
    seeds=range(1),
    topics=50,
    most=QUICK_DOCUMENTS,
)


def run(quick: bool) -> dict[str, Any]:
    """Fit all systems to all collections."""
    return compare(QUICK if quick else FULL)


def compare(plan: Plan) -> dict[str, Any]:
    """Carry out a plan."""
    pythons, left_out = pythons_of(plan.systems)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="semascope-lda-") as home, harness.cores(THREADS):
        for name, path in plan.collections.items():
            split = Split.of(path, Path(home), plan.most)
            runs = runs_of(plan, pythons, split)
            found[name] = {**split.facts(), "systems": {system: summary(runs[system], runs[PEER]) for system in runs}}
    return {
        "topics": plan.topics,
        "seeds": len(plan.seeds),
        "left_out": left_out,
        "packages": {e: environments.requirements(e) for e in {s.environment for s in plan.systems.values()} if e},
        "goals": [goal for name in found for goal in goals(name, found[name]["systems"])],
        "collections": found,
        "figure": lda_figure.draw(found, plan.topics, Target(PEER, "tomotopy's last", 2.0), harness.RESULTS / "lda.png"),
    }


def pythons_of(systems: Mapping[str, System]) -> tuple[dict[str, str], dict[str, str]]:
    """The interpreter of each system that can be had, and why the others cannot."""
    pythons, left_out = {}, {}
    for name, system in systems.items():
        try:
            pythons[name] = str(environments.python_of(system.environment)) if system.environment else sys.executable
        except environments.NoEnvironmentError as problem:
            left_out[name] = str(problem)
            if name == PEER:
                raise
    return pythons, left_out


# --- data and judgment ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """A collection divided into documents to learn from, written to a file, and documents held out."""

    train: Corpus
    test: Corpus
    file: Path

    @classmethod
    def of(cls, collection: str, home: Path, most: int | None = None) -> Split:
        analyzer = Analyzer(stop_words="english", min_df=5, max_df=0.5)
        documents = read(data.folder(collection) / data.FILE)
        some = documents if most is None else read(documents.frame().head(most))
        train, test = Corpus.build(some, analyzer).split(0.1, seed=0)
        file = home / "counts.npz"
        sp.save_npz(file, train.counts, compressed=False)
        return cls(train, test, file)

    def facts(self) -> dict[str, Any]:
        return {
            "documents": self.train.n_documents,
            "words": self.train.n_words,
            "tokens": self.train.n_tokens,
            "held_out_documents": self.test.n_documents,
            "words_never_seen": int((~self.known).sum()),
        }

    @property
    def known(self) -> Any:
        """Words that were there to be learned; nobody is asked to predict the others."""
        return np.bincount(self.train.rows.words, minlength=self.train.n_words) > 0

    def perplexity(self, topics: Any, alpha: Any = COMMON_ALPHA) -> float:
        """Judge topics, with the common prior of documents or that of the model."""
        sums = topics.sum(axis=0, dtype=np.float64)  # of single precision, so not quite one
        prior = np.asarray(alpha) if np.ndim(alpha) else alpha
        return perplexity(topics / sums, self.test.shards(), ThreadEngine(THREADS), prior=prior, known=self.known)


# --- runs ------------------------------------------------------------------------------------------------------------------


def runs_of(plan: Plan, pythons: Mapping[str, str], split: Split) -> dict[str, list[dict[str, Any]]]:
    """Fit every system with every seed, never two at a time, every other round in reverse."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in pythons}
    for number, seed in enumerate(plan.seeds):
        of_this_seed = [name for name in pythons if number < plan.systems[name].seeds]
        for name in of_this_seed if number % 2 == 0 else reversed(of_this_seed):
            order = {
                "system": name,
                "counts": str(split.file),
                "topics": plan.topics,
                "seed": seed,
                "at": plan.systems[name].at,
                "limit": plan.systems[name].limit,
            }
            found = _fit(pythons[name], order, split)
            runs[name].append(found)
            last = found["points"][-1]
            harness.console.print(f"{name}, seed {seed}: {last['perplexity']:,.0f} in {last['seconds']:.1f} s{_remark(found)}")
    return runs


def _fit(python: str, order: dict[str, Any], split: Split) -> dict[str, Any]:
    """Have a fresh process fit one model, and judge the topics it wrote down."""
    with tempfile.TemporaryDirectory(dir=split.file.parent) as home:
        answer = work(python, order, Path(home))
        for point in answer["points"]:
            topics = np.load(Path(home) / f"{point['iterations']}.npy")
            point["perplexity"] = split.perplexity(topics, point.pop("alpha", COMMON_ALPHA))
    return {"seed": order["seed"], **answer, "disturbed": answer["others"] > harness.DISTURBED}


def work(python: str, order: Mapping[str, Any], home: Path) -> dict[str, Any]:
    """Have a fresh process fit a model in a directory; give its answer, and how many cores others kept busy meanwhile."""
    path = home / "order.json"
    path.write_text(json.dumps({"threads": THREADS, **order}))
    command = [python, "-m", "benchmarks.lda_worker", str(path)]
    others = harness.OthersWork()
    # It runs where its files are, because BigARTM leaves logs where it runs.
    done = subprocess.run(command, cwd=home, env=worker_environment(), capture_output=True, text=True, check=False)
    busy = others.cores()
    if done.returncode:
        raise RuntimeError(f"{order['system']} failed:\n{done.stdout}\n{done.stderr}")
    return {**json.loads((home / "answer.json").read_text()), "others": busy}


def worker_environment() -> dict[str, str]:
    """Variables of a worker: it finds this package, and libraries for matrices start no threads beside the two it has."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **one, "PYTHONPATH": path}


def _remark(run: Mapping[str, Any]) -> str:
    late = "; its time was up" if run["ended"] != "done" else ""
    return late + (f"; disturbed: others used {run['others']:.1f} cores" if run["disturbed"] else "")


def claims(result: dict[str, Any]) -> list[Claim]:
    """Time to each system's best quality, and quality beside it."""
    return [
        claim
        for name, found in result["collections"].items()
        for system in found["systems"]
        if system != OURS
        for claim in against(name, found["systems"], system, *PEERS.get(system, (system, "")))
    ]


# --- tables ------------------------------------------------------------------------------------------------------------------


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    columns = ("system", "perplexity", "/ target", "passes", "s", "to target", "share", "others")
    for name, found in result["collections"].items():
        title = (
            f"{name}: {found['documents']:,} documents, {found['words']:,} words, {found['tokens']:,.0f} tokens, "
            f"K = {result['topics']}, mean of {result['seeds']}; {found['held_out_documents']:,} documents held out"
        )
        harness.show(title, columns, [_row(system, s) for system, s in found["systems"].items()])
    harness.console.print(
        f"target: {PEER}'s last perplexity; to target: seconds until it is reached, and their share of {PEER}'s; "
        "others: cores that others kept busy, in the worst run. "
        f"*: a run was disturbed, its time tells little. +: ended after {LIMIT:.0f} s."
    )
    for name, reason in result["left_out"].items():
        harness.console.print(f"{name} left out: {reason}")
    harness.console.print(f"drawn in {result['figure']}")


def _row(system: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    reached = found["time_ratio"] is not None
    cut = any(run["ended"] != "done" for run in found["runs"])
    disturbed = any(run["disturbed"] for run in found["runs"])
    return (
        system,
        f"{found['perplexity']:,.0f}",
        f"{found['perplexity_ratio']:.3f}",
        f"{found['iterations']:.0f}{'+' if cut else ''}",
        f"{found['seconds']:.1f}",
        f"{found['seconds_to_target']:.1f}" if reached else "never",
        f"{found['time_ratio']:.3f}" if reached else "",
        f"{found['others']:.1f}{'*' if disturbed else ''}",
    )


if __name__ == "__main__":
    harness.alone("lda", run, show)
