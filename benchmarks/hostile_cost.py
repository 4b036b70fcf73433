"""What does it cost to look at what is read from disk? Opening, fitting and searching, before and after.

Before is another checkout, whose `src` SEMASCOPE_BASELINE names; after is this one. Both read the same directories, which the
older makes: 20 Newsgroups where they are found, or else documents of the size of AP89 that are made up; 50 topics. Each round
is a fresh process of either, every other round in reverse; a round before them, which compiles kernels and fills the cache of
the disk, does not count. Times are processor time of all threads: what others do on the machine counts little, and what is
validated on a second thread is not had for nothing. Given are medians, and the median of the ratios after / before of each
round with an interval that holds it in 19 of 20 cases. Without a baseline only the times of this checkout are given.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import harness

VARIABLE = "SEMASCOPE_BASELINE"
ROOT = Path(__file__).parents[1]
AFTER, BEFORE = "after", "before"
ROUNDS, FEW_ROUNDS = 15, 7


def run(quick: bool) -> dict[str, Any]:
    """Time both in turn."""
    baseline = os.environ.get(VARIABLE)
    sources = {AFTER: str(ROOT / "src")} | ({BEFORE: baseline} if baseline else {})
    folder = Path(tempfile.mkdtemp(prefix="semascope-cost-"))
    try:
        _worker(sources.get(BEFORE, sources[AFTER]), "make-small" if quick else "make", folder)
        for source in sources.values():
            _worker(source, "time", folder)
        found: dict[str, list[dict[str, float]]] = {name: [] for name in sources}
        others = harness.OthersWork()
        for number in range(FEW_ROUNDS if quick else ROUNDS):
            for name in sources if number % 2 == 0 else reversed(sources):
                found[name].append(json.loads(_worker(sources[name], "time", folder)))
        busy = others.cores()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    operations = {what: _compared(what, found) for what in found[AFTER][0]}
    return {"baseline": bool(baseline), "others": busy, "rounds": len(found[AFTER]), "operations": operations}


def _worker(source: str, task: str, folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((source, str(ROOT)))}
    command = [sys.executable, "-m", "benchmarks.hostile_cost_worker", task, str(folder)]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def _compared(what: str, found: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    seconds = {name: [one[what] for one in rounds] for name, rounds in found.items()}
    compared: dict[str, Any] = {name: median(of_rounds) for name, of_rounds in seconds.items()}
    if BEFORE in seconds:
        ratios = [after / before for after, before in zip(seconds[AFTER], seconds[BEFORE], strict=True)]
        compared |= {"ratio": median(ratios), "interval": interval(ratios)}
    return compared


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the narrowest pair of ordered values that holds the true median with 95 percent, whatever the distribution."""
    ordered, n, below = sorted(values), len(values), 0.0
    for place in range(n // 2):
        below += math.comb(n, place) / 2**n
        if 2 * below > 0.05:
            return ordered[max(place - 1, 0)], ordered[n - max(place, 1)]
    return ordered[0], ordered[-1]


def show(result: dict[str, Any]) -> None:
    """Print a table."""
    rows = []
    for what, one in result["operations"].items():
        ratio = ("{:.3f}".format(one["ratio"]), "{:.3f} to {:.3f}".format(*one["interval"])) if result["baseline"] else ()
        rows.append((what, *ratio, *(f"{one[name] * 1000:,.2f}" for name in (AFTER, BEFORE) if name in one)))
    columns = ("after / before", "interval", "after, ms", "before, ms") if result["baseline"] else ("ms",)
    harness.show(f"{result['rounds']} rounds", ("operation", *columns), rows)
    if not result["baseline"]:
        harness.console.print(f"No baseline was given: set {VARIABLE} to the src of another checkout to see what has changed.")
    if result["others"] > harness.DISTURBED:
        harness.console.print(f"Other processes used {result['others']:.2f} cores meanwhile.")


if __name__ == "__main__":
    harness.alone("hostile_cost", run, show)
