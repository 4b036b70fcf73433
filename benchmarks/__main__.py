"""Run the benchmarks in turn and print their tables: `python -m benchmarks [name ...] [--quick]`."""

from __future__ import annotations

import argparse
from importlib import import_module

from benchmarks import harness
from benchmarks.data import NoDataError
from benchmarks.environments import NoEnvironmentError

NAMES = (
    "text_to_counts",
    "plsa",
    "plsa_systems",
    "cost",
    "tempering",
    "bigger_than_memory",
    "lda",
    "lda_priors",
    "lda_scaling",
    "lda_inference",
    "streams",
    "stream_faults",
    "labeled",
    "labeled_online",
    "labeled_stream",
    "labeled_prediction",
    "informed",
    "polylingual",
    "spark",
    "lsa",
    "lsa_quality",
    "hybrid",
    "search_speed",
    "explorer",
    "plsi_paper",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"which of {', '.join(NAMES)}; all by default")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; choose from {', '.join(NAMES)}")
    facts = harness.machine()
    harness.console.print("  ".join(f"{name}: {fact}" for name, fact in facts.items()))
    for name in arguments.names or NAMES:
        module = import_module(f"benchmarks.{name}")
        try:
            harness.run_and_show(name, module.run, module.show, arguments.quick)
        except (NoDataError, NoEnvironmentError) as problem:
            harness.console.print(f"{name} left out: {problem}")


if __name__ == "__main__":
    main()
