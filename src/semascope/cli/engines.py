"""Where a fit is worked on, as the command line is told."""

from __future__ import annotations

import enum
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from semascope.cli.terminal import tell


class EngineName(enum.StrEnum):
    """Engines to fit models on."""

    threads = "threads"
    mpi = "mpi"
    spark = "spark"


OWN_OPTIONS = {
    EngineName.threads: ("threads", "spill"),
    EngineName.mpi: ("threads", "spill", "work-dir"),
    EngineName.spark: ("master", "work-dir"),
}
"""Options that an engine takes."""


def engine_of(name: EngineName, threads: int | None, master: str | None, work_dir: Path | None, spill: bool | None) -> Any:
    """Make the engine, which must take all options that were given."""
    given = {"threads": threads, "master": master, "work-dir": work_dir, "spill": spill or None}
    for option, value in given.items():
        if value is not None and option not in OWN_OPTIONS[name]:
            takes = " or ".join(engine for engine, options in OWN_OPTIONS.items() if option in options)
            message = f"--{option} is for --engine {takes}, not for {name}."
            raise typer.BadParameter(message)
    if name == EngineName.threads:
        from semascope.engines.threads import ThreadEngine

        return ThreadEngine(threads)
    if name == EngineName.spark:
        from semascope.engines.spark import SparkEngine

        return SparkEngine(master, work_dir)
    from semascope.engines.mpi import MPIEngine

    engine = MPIEngine(threads, work_dir)
    if engine.n_ranks == 1:
        tell("There is one MPI rank only; for more, start with: mpirun -n 4 semascope fit … --engine mpi")
    return engine


def spilling(engine: Any, *, spill: bool) -> Any:
    """The engine, told whether to keep documents' topics in files; on Spark they always are."""
    return replace(engine, spill=spill) if hasattr(engine, "spill") else engine
