"""Mr. LDA's experiment (Zhai et al., 2012, its Figures 4 and 5), with today's systems: held-out likelihood against time.

Variational EM with 50 and with 100 topics, with a fixed and with a learned α, beside scikit-learn's and gensim's variational
Bayes and Spark MLlib's two optimizers. 20 Newsgroups and Reuters take the place of its news, two threads that of its
cluster. All learn from the same counts; the held-out log-likelihood of a token is that of document completion, by one
evaluator: with the prior of 0.1 for each topic that all others are given, with its own where α is learned.

Takes about 90 minutes on two cores. With --quick, 6,000 documents of Reuters, 50 topics, and without MLlib: about two.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import data, harness, lda_figure
from benchmarks.claims import Claim
from benchmarks.lda import QUICK_DOCUMENTS, Plan, Split, System, pythons_of, runs_of
from benchmarks.lda_figure import Target
from benchmarks.lda_summary import seconds_to
from benchmarks.lda_worker import THREADS

FIXED, LEARNED = "semascope vb", "semascope vb, α learned"
AT = (1, 2, 3, 5, 8, 13, 20, 30, 40, 50, 60, 80, 100)
SYSTEMS = {
    FIXED: System(None, AT, limit=math.inf),
    LEARNED: System(None, AT, limit=math.inf),
    "sklearn batch": System(None, (1, 2, 5, 10, 20, 40), limit=120.0),
    "sklearn online": System(None, (1, 2, 5, 10), limit=120.0),
    "gensim": System("peers", (1, 2, 5, 10), limit=120.0),
    "MLlib online": System(None, (10, 20, 40), limit=120.0),
    "MLlib EM": System(None, (10, 20, 40), limit=120.0),
}
PEERS = {"sklearn batch": ("scikit-learn", ", batch"), "sklearn online": ("scikit-learn", ", online")}
COLLECTIONS = {"20 Newsgroups": data.NEWSGROUPS, "Reuters": data.REUTERS}


def run(quick: bool) -> dict[str, Any]:
    """Fit all systems with both numbers of topics."""
    systems = {name: system for name, system in SYSTEMS.items() if not (quick and "MLlib" in name)}
    if not shutil.which("java"):
        systems = {name: system for name, system in systems.items() if "MLlib" not in name}
    collections = {"Reuters": data.REUTERS} if quick else COLLECTIONS
    most = QUICK_DOCUMENTS if quick else None
    plans = {str(k): Plan(collections, systems, range(1), k, most) for k in ((50,) if quick else (50, 100))}
    found = {topics: compare(plan) for topics, plan in plans.items()}
    return {
        "goals": [goal for topics, one in found.items() for goal in goals(topics, one["collections"])],
        "topics": found,
    }


def compare(plan: Plan) -> dict[str, Any]:
    """Fit all systems with one number of topics."""
    pythons, left_out = pythons_of(plan.systems)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="semascope-mr-lda-") as home, harness.cores(THREADS):
        for name, path in plan.collections.items():
            split = Split.of(path, Path(home), plan.most)
            runs = {system: run for system, (run,) in runs_of(plan, pythons, split).items()}
            found[name] = {**split.facts(), "systems": {system: summary(run, runs) for system, run in runs.items()}}
    path = harness.RESULTS / f"mr_lda_{plan.topics}.png"
    figure = lda_figure.draw(found, plan.topics, Target("sklearn batch", "the others' best", 2.0), path)
    return {"collections": found, "left_out": left_out, "figure": figure}


def summary(run: Mapping[str, Any], runs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the end of a run, and when it reaches the best that any other package has."""
    best = min(best_of(other)["perplexity"] for name, other in runs.items() if name not in (FIXED, LEARNED))
    last = best_of(run)
    return {
        "perplexity": last["perplexity"],
        "log_likelihood": -math.log(last["perplexity"]),
        "seconds": run["points"][-1]["seconds"],
        "target": best,
        "seconds_to_target": seconds_to(best, run["points"]),
        "others": run["others"],
        "runs": [run],
    }


def best_of(run: Mapping[str, Any]) -> Mapping[str, Any]:
    return min(run["points"], key=lambda point: point["perplexity"])


def goals(topics: str, collections: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Better than all others, and a learned α better than a fixed one, as the paper has it."""
    said = []
    for name, found in collections.items():
        fixed, learned = (found["systems"][system]["perplexity"] for system in (FIXED, LEARNED))
        target = found["systems"][FIXED]["target"]
        said += [
            harness.goal(f"{name}, K = {topics}: perplexity / the others' best", fixed / target, at_most=1.0),
            harness.goal(f"{name}, K = {topics}: perplexity, α learned / fixed", learned / fixed, at_most=1.0),
        ]
    return said


def claims(result: Mapping[str, Any]) -> list[Claim]:
    """Perplexity beside that of each other system."""
    return [
        Claim(
            f"{name}, K = {topics}, variational EM, perplexity{PEERS.get(system, ('', ', ' + system))[1]}",
            found["systems"][FIXED]["perplexity"], other["perplexity"], PEERS.get(system, (system, ""))[0], "",
        )
        for topics, one in result["topics"].items()
        for name, found in one["collections"].items()
        for system, other in found["systems"].items()
        if system not in (FIXED, LEARNED)
    ]  # fmt: skip


def show(result: Mapping[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    columns = ("system", "log-likelihood a token", "perplexity", "s", "s to the others' best")
    for topics, one in result["topics"].items():
        for name, found in one["collections"].items():
            title = f"{name}, K = {topics}, {found['documents']:,} documents, {found['held_out_documents']:,} held out"
            harness.show(title, columns, [_row(system, s) for system, s in found["systems"].items()])
        for system, reason in one["left_out"].items():
            harness.console.print(f"{system} left out: {reason}")
        harness.console.print(f"drawn in {one['figure']}")


def _row(system: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    to_target = found["seconds_to_target"]
    return (
        system,
        f"{found['log_likelihood']:.4f}",
        f"{found['perplexity']:,.0f}",
        f"{found['seconds']:.1f}",
        f"{to_target:.1f}" if math.isfinite(to_target) else "never",
    )


if __name__ == "__main__":
    harness.alone("mr_lda", run, show)
