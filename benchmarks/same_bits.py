"""Does this tree come to the same bits as an older one? Models, corpora, indexes and saved files, compared by name.

Before is another checkout, whose `src` SEMASCOPE_BASELINE names; after is this one. Without a baseline, this tree is compared
with itself. Each does the same in processes of its own, by public names alone and with fixed seeds: fits every estimator with
every important combination of options on documents that are made up, by one thread and by two, on two MPI ranks and on two
Spark executors; infers, predicts, edits, saves, loads and goes on; builds corpora from every kind of source, in memory and on
disk; searches by every similarity, before and after an index was changed. Where SEMASCOPE_DATA names collections, the same is
done with Medline. Results are hashed: all bytes of arrays with their types and shapes, all bits of numbers. Names whose hash
differs are listed; some may be meant to differ. What fails in both trees alike is listed as well.
With --quick, neither MPI nor Spark.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import data, harness
from benchmarks.hostile_cost import AFTER, BEFORE, ROOT, VARIABLE

FAILED = "failed: "
PREPARE, REAL, MPI, SPARK = "prepare", "real documents", "MPI", "Spark"
GROUPS = ("LSA and PLSA", "LDA", "PolylingualLDA", "other ways", "labels", "corpora", "indexes", REAL, MPI, SPARK)
RANKS = 2
MAX_SHOWN = 60
"""Names that are printed; all are in the result."""

Digests = Mapping[str, Mapping[str, str]]


def run(quick: bool) -> dict[str, Any]:
    """Have both trees do the same, group after group."""
    sources = {AFTER: ROOT / "src", BEFORE: Path(os.environ.get(VARIABLE) or ROOT / "src")}
    left_out, groups = _left_out(quick), {}
    home = Path(tempfile.mkdtemp(prefix="semascope-bits-"))
    try:
        for name, source in sources.items():
            (home / name).mkdir()
            _work(PREPARE, home / name, source)
        for group in GROUPS:
            if group not in left_out:
                began = time.perf_counter()
                found = {name: json.loads(_work(group, home / name, source)) for name, source in sources.items()}
                groups[group] = {**compared(found[BEFORE], found[AFTER]), "seconds": time.perf_counter() - began}
    finally:
        shutil.rmtree(home, ignore_errors=True)
    n_differ, n_failed = (sum(len(one[what]) for one in groups.values()) for what in ("differ", "failed"))
    goals = [
        harness.goal("results that differ", n_differ, at_most=0),
        harness.goal("cases that fail in both", n_failed, at_most=0),
    ]
    return {"baseline": VARIABLE in os.environ, "groups": groups, "left_out": left_out, "goals": goals}


def _left_out(quick: bool) -> dict[str, str]:
    """Return the groups that cannot or shall not be run, and why."""
    found = dict.fromkeys((MPI, SPARK), "the quick form leaves it out") if quick else {}
    try:
        data.folder("ir/med")
    except data.NoDataError:
        found[REAL] = f"{data.VARIABLE} names no collection ir/med"
    if SPARK not in found and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        found[SPARK] = "Java is not there"
    if MPI not in found and not _mpirun().exists():
        found[MPI] = "mpirun is not there: pip install 'semascope[mpi]'"
    return found


def _mpirun() -> Path:
    return Path(sys.executable).parent / "mpirun"


def _work(group: str, folder: Path, source: Path) -> str:
    """Have a tree do what a group says; give what it printed last."""
    command = [sys.executable, "-m", "benchmarks.same_bits_worker", group, str(folder), str(source)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(source), str(ROOT)))}
    if group == MPI:
        command = [str(_mpirun()), "-n", str(RANKS), "--oversubscribe", "--bind-to", "none", *command]
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if group == SPARK:
        environment |= {"PYSPARK_SUBMIT_ARGS": "--conf spark.ui.enabled=false pyspark-shell"}
    ran = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    if ran.returncode != 0:
        msg = f"{group}, {source}: {ran.stderr.strip() or 'ended without a word'}"
        raise RuntimeError(msg)
    return ran.stdout.strip().splitlines()[-1] if group != PREPARE else ""


def compared(before: Digests, after: Digests) -> dict[str, Any]:
    """Compare digests by case and name: how many are equal, and which differ, are on one side alone, or failed on both."""
    differ, failed, cases = [], [], {}
    for case in {**before, **after}:
        old, new = before.get(case, {}), after.get(case, {})
        names = {**old, **new}
        equal = [name for name in names if old.get(name) == new.get(name)]
        failed += [f"{case}: {old[name]}" for name in equal if old[name].startswith(FAILED)]
        differ += [f"{case}: {_why(name, old, new)}" for name in names if name not in equal]
        cases[case] = {"equal": len(equal), "differ": len(names) - len(equal)}
    return {"cases": cases, "differ": differ, "failed": failed}


def _why(name: str, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Name a result that differs; with the error, where there is one, or where it is missing."""
    for side, of_side in ((BEFORE, old), (AFTER, new)):
        if name not in of_side:
            return f"{name} (not {side})"
        if of_side[name].startswith(FAILED):
            return f"{of_side[name]} ({side})"
    return name


def show(result: dict[str, Any]) -> None:
    """Print a table of groups, and the names of what differs."""
    rows = []
    for group, one in result["groups"].items():
        counts = (sum(case[what] for case in one["cases"].values()) for what in ("equal", "differ"))
        rows.append((group, len(one["cases"]), *counts, len(one["failed"]), f"{one['seconds']:.0f}"))
    harness.show("Results by name", ("group", "cases", "equal", "differ", "failed in both", "seconds"), rows)
    for what, title in (("differ", "differ"), ("failed", "fail in both")):
        names = [name for one in result["groups"].values() for name in one[what]]
        more = [f"and {len(names) - MAX_SHOWN} more"] if len(names) > MAX_SHOWN else []
        if names:
            harness.console.print(f"{title}:\n  " + "\n  ".join([*names[:MAX_SHOWN], *more]), markup=False, highlight=False)
    for group, why in result["left_out"].items():
        harness.console.print(f"{group} left out: {why}.")
    if not result["baseline"]:
        harness.console.print(f"No baseline was given, so this tree was compared with itself: set {VARIABLE} to another's src.")
    harness.show_goals(result["goals"])


if __name__ == "__main__":
    harness.alone("same_bits", run, show)
