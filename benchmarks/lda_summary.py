"""What is made of the runs of `lda`: when a system is as good as another, what was promised, and what is claimed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from benchmarks import harness
from benchmarks.claims import Claim

OURS, PEER = "semascope", "tomotopy"
PEERS = {"sklearn batch": ("scikit-learn", ", batch"), "sklearn online": ("scikit-learn", ", online")}
"""Packages whose systems go by other names, and which of their systems it is."""


def seconds_to(target: float, points: Sequence[Mapping[str, float]]) -> float:
    """When a run first has the perplexity, on a line between two snapshots; never is infinite."""
    before = None
    for point in points:
        if point["perplexity"] <= target:
            if before is None:
                return point["seconds"]
            share = (before["perplexity"] - target) / (before["perplexity"] - point["perplexity"])
            return before["seconds"] + share * (point["seconds"] - before["seconds"])
        before = point
    return math.inf


def summary(runs: Sequence[dict[str, Any]], peers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The end of a system's runs, and when each reaches what the peer's run of the same seed has in the end."""
    ends, targets = ([run["points"][-1] for run in of_system] for of_system in (runs, peers[: len(runs)]))
    times = [seconds_to(target["perplexity"], run["points"]) for run, target in zip(runs, targets, strict=True)]
    mean_time = mean(times)
    reached = math.isfinite(mean_time)
    target = mean(end["perplexity"] for end in targets)
    perplexity = mean(end["perplexity"] for end in ends)
    return {
        "perplexity": perplexity,
        "seconds": mean(end["seconds"] for end in ends),
        "iterations": mean(end["iterations"] for end in ends),
        "target": target,
        "perplexity_ratio": perplexity / target,
        "seconds_to_target": mean_time if reached else None,
        "time_ratio": mean_time / mean(end["seconds"] for end in targets) if reached else None,
        "others": max(run["others"] for run in runs),
        "runs": list(runs),
    }


def goals(collection: str, systems: Mapping[str, Any]) -> list[dict[str, Any]]:
    ours, peer = systems[OURS], systems[PEER]
    ratio = math.inf if ours["time_ratio"] is None else ours["time_ratio"]
    others = max(ours["others"], peer["others"])
    return [
        harness.goal(f"{collection}: time to {PEER}'s perplexity, % of its time", 100 * ratio, at_most=10, others=others),
        harness.goal(f"{collection}: the same, as we would like it", 100 * ratio, at_most=5, others=others),
        harness.goal(f"{collection}: perplexity, % of {PEER}'s", 100 * ours["perplexity_ratio"], at_most=100),
    ]


def against(collection: str, systems: Mapping[str, Any], other: str, peer: str, how: str) -> list[Claim]:
    """How soon we are as good as another system is at its best, and how good both are in the end; means over its seeds."""
    runs = systems[other]["runs"]
    bests = [min(run["points"], key=lambda point: point["perplexity"]) for run in runs]
    ours = systems[OURS]["runs"][: len(runs)]
    times = [seconds_to(best["perplexity"], run["points"]) for best, run in zip(bests, ours, strict=True)]
    ratios = [best["seconds"] / time for best, time in zip(bests, times, strict=True)]
    spread = (min(ratios), max(ratios)) if len(ratios) > 1 else None
    others = max(systems[OURS]["others"], systems[other]["others"])
    quality = mean(best["perplexity"] for best in bests)
    own = mean(run["points"][-1]["perplexity"] for run in ours)
    seconds = mean(best["seconds"] for best in bests)
    return [
        Claim(f"{collection}, time to its best perplexity{how}", mean(times), seconds, peer, spread=spread, others=others),
        Claim(f"{collection}, perplexity in the end{how}", own, quality, peer, ""),
    ]
