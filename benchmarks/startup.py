"""How long do light commands take to start? A search of a small index, and the first estimator.

Each is a fresh process with warm caches. Given are seconds of CPU (user and system), which other work on the machine disturbs
less than it does the clock, and seconds by the clock beside them; medians of eleven rounds, five with --quick. Where
SEMASCOPE_BASELINE names the `src` of another checkout, that one is timed in turn with this one, by an index that it made.
Goals: a search in under 1 s, an estimator in under 0.7 s, by the clock on a quiet machine.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import harness

VARIABLE = "SEMASCOPE_BASELINE"
ROOT = Path(__file__).parents[1]
AFTER, BEFORE = "after", "before"
ROUNDS, FEW_ROUNDS = 11, 5
MAKE = """
from semascope import LDA, Corpus, Index
corpus = Corpus.from_texts(["cats purr", "dogs bark", "cats and dogs", "birds sing"] * 50)
Index.build(corpus, LDA(3, max_iter=10, random_state=0).fit(corpus), path="index")
"""
SEARCH, ESTIMATOR, HELP = "search", "first estimator", "--help"
COMMANDS = {
    SEARCH: ["-m", "semascope", "search", "index", "cats", "--json"],
    ESTIMATOR: ["-c", "from semascope import LDA; LDA()"],
    HELP: ["-m", "semascope", "--help"],
}
AT_MOST = {SEARCH: 1.0, ESTIMATOR: 0.7}


def run(quick: bool) -> dict[str, Any]:
    """Time all commands of both checkouts in turn."""
    baseline = os.environ.get(VARIABLE)
    sources = {AFTER: str(ROOT / "src")} | ({BEFORE: baseline} if baseline else {})
    found: dict[str, dict[str, list[tuple[float, float]]]] = {name: {what: [] for what in COMMANDS} for name in sources}
    with tempfile.TemporaryDirectory(prefix="semascope-startup-") as folder:
        homes = {name: Path(folder) / name for name in sources}
        for name, source in sources.items():
            homes[name].mkdir()
            _seconds(source, ["-c", MAKE], homes[name])
            for command in COMMANDS.values():
                _seconds(source, command, homes[name])
        others = harness.OthersWork()
        for number in range(FEW_ROUNDS if quick else ROUNDS):
            for name in sources if number % 2 == 0 else reversed(sources):
                for what, command in COMMANDS.items():
                    found[name][what].append(_seconds(sources[name], command, homes[name]))
        busy = others.cores()
    seconds = {what: {name: _medians(of[what]) for name, of in found.items()} for what in COMMANDS}
    goals = [
        harness.goal(f"{what}, s", seconds[what][AFTER]["clock"], at_most=limit, others=busy) for what, limit in AT_MOST.items()
    ]
    return {"goals": goals, "seconds": seconds, "others": busy}


def _medians(rounds: list[tuple[float, float]]) -> dict[str, float]:
    return {"cpu": median(cpu for cpu, _ in rounds), "clock": median(clock for _, clock in rounds)}


def _seconds(source: str, command: list[str], folder: Path) -> tuple[float, float]:
    """Run a command, and return its seconds of CPU and by the clock."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": source}
    subprocess.run([sys.executable, *command], env=environment, cwd=folder, check=True, capture_output=True)
    clock, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock


def show(result: dict[str, Any]) -> None:
    """Print what was measured."""
    rows = [
        (what, *(f"{of[name][kind]:.2f}" if name in of else "–" for name in (BEFORE, AFTER) for kind in ("cpu", "clock")))
        for what, of in result["seconds"].items()
    ]
    head = ("command", "before, CPU s", "before, s", "after, CPU s", "after, s")
    harness.show(f"Start-up, while others used {result['others']:.2f} cores", head, rows)
    harness.show_goals(result["goals"])


if __name__ == "__main__":
    harness.alone("startup", run, show)
