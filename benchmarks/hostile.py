"""Is what is read from disk looked at before it is used? An attack on directories, journals, sources and commands.

Corpora, models of every kind, indexes and checkpoints are made through the public names from a few documents. Then a file is
mutated (numbers, types, shapes and headers of every array that is found on disk; bits, columns, rows and types of every table;
every key of every manifest; files that are pipes, links or folders), and **the directory is sealed again**: checksums of
blocks and of the manifest are right, so that nothing but a look at the contents can refuse it. Everything that can be done with
such a directory is done, in processes of which one that dies is replaced. Allowed are two outcomes: a refusal in one sentence,
or results that equal those of the slow twins in tests/reference, made by plain NumPy of the same mutated arrays. A signal, an
error of another kind, more than 20 seconds, code that is run and a number that differs are failures; each is listed with the
name from which it is made again: `python -m benchmarks.hostile --case NAME`. First the same is done with nothing mutated, which
must succeed. Journals of streams, sources of every format and commands are attacked likewise.
"""

from __future__ import annotations

import argparse
import atexit
import os
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import harness
from benchmarks.attacks import cases
from benchmarks.attacks.cases import Case
from benchmarks.attacks.outcomes import KINDS, Outcome
from benchmarks.attacks.worker import FIRST_SECONDS, Worker, attack, run_all

__all__ = ["Case", "Outcome", "attack", "run", "sample", "show"]

WORKERS = 2
FULL = {"directories": 6_000, "commands": 600, "sources": 500, "journals": 120}
QUICK = {"directories": 400, "commands": 60, "sources": 60, "journals": 30}
MAX_LISTED = 60
"""Failures that are printed; all are in the result."""
SEED = 0

PLANS = {
    "directories": cases.on_directories,
    "commands": cases.by_command,
    "sources": cases.on_sources,
    "journals": cases.on_journals,
}


def run(quick: bool) -> dict[str, Any]:
    """Attack everything, and count what came of it."""
    sizes, home = QUICK if quick else FULL, _new_folder()
    began = time.perf_counter()
    try:
        cases.prepare(home / "made")
        unharmed = _controls(home)
        planned = {name: plan(home / "made", sizes[name], SEED) for name, plan in PLANS.items()}
        found = {name: list(run_all(plan, home, WORKERS)) for name, plan in planned.items()}
    finally:
        shutil.rmtree(home, ignore_errors=True)
    counts = {name: _counted(of_plan) for name, of_plan in found.items()}
    failures = [_told(name, case, outcome) for name, plan in found.items() for case, outcome in plan if outcome.failed]
    n_failed = len(failures)
    return {
        "seconds": time.perf_counter() - began,
        "counts": counts,
        "compared": {name: _compared(of_plan) for name, of_plan in found.items()},
        "fields": _by_field([pair for of_plan in found.values() for pair in of_plan]),
        "unharmed": unharmed,
        "failures": failures,
        "goals": [
            harness.goal("directories that were sealed again", len(found["directories"]), at_least=sizes["directories"]),
            harness.goal("failures", n_failed, at_most=0),
            harness.goal("failures where nothing was mutated", len(unharmed), at_most=0),
        ],
    }


def _new_folder() -> Path:
    """Make a folder to work in: in memory where there is one, for every case is written and synced."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="semascope-hostile-", dir=memory if os.access(memory, os.W_OK) else None))


def _controls(home: Path) -> list[dict[str, Any]]:
    """Do everything with nothing mutated, which compiles what has to be; tell where that is not accepted."""
    worker, wrong = Worker(home), []
    try:
        for case in cases.controls(home / "made"):
            outcome = worker.ask(case, FIRST_SECONDS)
            if outcome.failed or (outcome.kind != "accepted" and case.by == cases.API):
                wrong.append(_told("unharmed", case, outcome))
    finally:
        worker.close()
    return wrong


def _told(plan: str, case: Case, outcome: Outcome) -> dict[str, Any]:
    return {"plan": plan, "case": case.name, **outcome.to_dict()}


def _counted(found: Sequence[tuple[Case, Outcome]]) -> dict[str, int]:
    of_kind = Counter(outcome.kind for _, outcome in found)
    return {kind: of_kind[kind] for kind in KINDS}


def _compared(found: Sequence[tuple[Case, Outcome]]) -> dict[str, int]:
    return {
        "equal": sum(outcome.equal for _, outcome in found),
        "different": sum(outcome.kind == "different" for _, outcome in found),
        "not comparable": sum(outcome.unlike for _, outcome in found),
    }


def _by_field(found: Sequence[tuple[Case, Outcome]]) -> list[dict[str, Any]]:
    """Count outcomes of each file of each format; the keys of manifests are one."""
    of_field: dict[tuple[str, str], Counter[str]] = {}
    for case, outcome in found:
        of_field.setdefault((case.format, case.file), Counter())[outcome.kind] += 1
    return [
        {"format": form, "field": field, **{kind: counts[kind] for kind in KINDS}}
        for (form, field), counts in sorted(of_field.items())
    ]


# --- for tests -------------------------------------------------------------------------------------------------------------


@cache
def _made() -> Path:
    """Make what is attacked once in a process."""
    home = _new_folder()
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return cases.prepare(home)


def sample(n: int, seed: int, home: Path | None = None) -> list[Case]:
    """Choose varied cases at random: directories, a few commands, sources and journals. `attack` runs one of them.

    What they attack is made in `home`, by default in a temporary folder of this process.
    """
    made, chance = _made() if home is None else cases.prepare(home), random.Random(seed)
    shares = {"directories": n - 3 * (n // 10), "commands": n // 10, "sources": n // 10, "journals": n // 10}
    chosen = [case for name, plan in PLANS.items() for case in plan(made, shares[name], chance.randrange(2**31))]
    chance.shuffle(chosen)
    return chosen


# --- tables ----------------------------------------------------------------------------------------------------------------


def show(result: dict[str, Any]) -> None:
    """Print tables."""
    harness.show_goals(result["goals"])
    rows = [(name, sum(counts.values()), *counts.values()) for name, counts in result["counts"].items()]
    harness.show("What came of it", ("attacked", "cases", *KINDS), rows)
    compared = [(name, *counts.values()) for name, counts in result["compared"].items()]
    harness.show("Results beside those of the twins", ("attacked", "equal", "different", "not comparable"), compared)
    by_field = [(f"{one['format']}: {one['field']}", *(one[kind] for kind in KINDS)) for one in result["fields"]]
    harness.show("By field", ("field", *KINDS), by_field)
    for title, listed in (("Nothing was mutated", result["unharmed"]), ("Failures", result["failures"])):
        if listed:
            told = [(one["case"], one["kind"], one["step"], one["detail"][:160]) for one in listed[:MAX_LISTED]]
            harness.show(f"{title}: {len(listed):,}", ("case", "kind", "step", "what"), told)


def _one(name: str) -> None:
    """Run one case by its name in a process of its own, and say what came of it."""
    home = _new_folder()
    worker = Worker(home)
    try:
        case = Case.of(name, cases.prepare(home / "made"))
        worker.ask(Case(case.fixture, ".", case.file if case.format == "source" else "-", cases.NOTHING, 0, case.by, case.home))
        outcome = worker.ask(case, FIRST_SECONDS)
    finally:
        worker.close()
        shutil.rmtree(home, ignore_errors=True)
    for what, value in outcome.to_dict().items():
        harness.console.print(f"{what}: {value}", markup=False)


def main() -> None:
    """Run the campaign, or one case of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile")
    parser.add_argument("--quick", action="store_true", help="a few hundred cases")
    parser.add_argument("--case", metavar="NAME", help="run one case, by the name that a failure was told with")
    arguments = parser.parse_args()
    if arguments.case:
        _one(arguments.case)
    else:
        harness.run_and_show("hostile", run, show, arguments.quick)


if __name__ == "__main__":
    main()
