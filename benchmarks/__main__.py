"""Run the benchmarks in turn, print their tables and write REPORT.md: `python -m benchmarks [name ...] [--quick]`.

All by default; with --quick, those that compare with other packages. `python -m benchmarks report` writes the report anew from
stored results; where benchmarks are named it is not written.
"""

from __future__ import annotations

import argparse
import traceback
from collections.abc import Sequence
from importlib import import_module

from benchmarks import facts, harness, report
from benchmarks.catalogue import COMPARISONS, TITLES
from benchmarks.data import NoDataError
from benchmarks.environments import NoEnvironmentError

REPORT = "report"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"which of {', '.join(TITLES)}; or {REPORT}")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, smaller collections, comparisons alone")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - {*TITLES, REPORT}:
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; choose from {', '.join(TITLES)}, {REPORT}")
    names = [name for name in arguments.names if name != REPORT]
    if not arguments.names:
        names = list(COMPARISONS if arguments.quick else TITLES)
    failed = _run(names, arguments.quick)
    if REPORT in arguments.names or not arguments.names:
        harness.console.print(f"written to {report.assemble()}")
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


def _run(names: Sequence[str], quick: bool) -> list[str]:
    """Run benchmarks; one that fails, or lacks something, does not keep others from being run. Give those that failed."""
    failed = []
    if names:
        harness.console.print("  ".join(f"{what}: {fact}" for what, fact in facts.machine().items()))
    for name in names:
        try:
            module = import_module(f"benchmarks.{name}")
            harness.run_and_show(name, module.run, module.show, quick)
        except (NoDataError, NoEnvironmentError) as problem:
            harness.console.print(f"{name} left out: {problem}")
            harness.write(name, {"problem": f"left out: {problem}"})
        except Exception as problem:  # whatever it is, it is told, and the others are run
            traceback.print_exc()
            said = str(problem).strip().splitlines() or [type(problem).__name__]
            harness.write(name, {"problem": f"failed: {said[0]}"})
            failed.append(name)
    return failed


if __name__ == "__main__":
    main()
