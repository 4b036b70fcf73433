"""semascope fit CORPUS MODEL"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any

import typer

from semascope.cli.app import Overwrite, command, console, say, say_next, topic_table


class ModelName(enum.StrEnum):
    """Models that can be fitted."""

    plsa = "plsa"


class EngineName(enum.StrEnum):
    """Engines to fit them on."""

    threads = "threads"
    mpi = "mpi"


@command
def fit(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="Corpus directory.")],
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model directory to write.")],
    name: Annotated[ModelName, typer.Option("--model", help="Model to fit.")] = ModelName.plsa,
    topics: Annotated[int, typer.Option(min=1, help="Number of topics.")] = 32,
    max_iter: Annotated[int, typer.Option(min=1, help="Most iterations.")] = 100,
    tol: Annotated[float, typer.Option(min=0, help="Stop when the log-likelihood changes by less than this share.")] = 1e-4,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same model, bit for bit.")] = 0,
    engine: Annotated[EngineName, typer.Option(help="Where the work is done.")] = EngineName.threads,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads (of each rank, with MPI); all cores by default.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was cut off.")] = False,
    checkpoint_seconds: Annotated[float, typer.Option(min=0, help="Time between checkpoints.")] = 60.0,
    overwrite: Overwrite = False,
) -> None:
    """Fit a model to CORPUS and save it as MODEL."""
    from semascope import workflow
    from semascope.corpus.corpus import Corpus

    place = _engine(engine, threads)
    result = workflow.fit(
        place.together(lambda: Corpus.open(corpus)),
        model,
        name.name.upper(),
        {"n_components": topics, "max_iter": max_iter, "tol": tol, "random_state": seed},
        place,
        overwrite=overwrite,
        resume=resume,
        checkpoint_seconds=checkpoint_seconds,
    )
    if not place.leads:
        return
    console().print(topic_table(result.model, n_words=8))
    look = ["semascope", "topics", model]
    if result.unfinished:
        say(model, f"interrupted after {result.model.n_iter_} iterations; the model so far is saved.")
        settings = ["--model", name, "--topics", topics, "--seed", seed, "--max-iter", max_iter, "--tol", tol]
        say_next(["semascope", "fit", corpus, model, *settings, "--resume"], look)
        raise typer.Exit(code=130)
    reason = "the log-likelihood settled" if result.model.stopped_by_ == "settled" else "that was the most allowed"
    say(model, f"{topics} topics after {result.model.n_iter_} iterations: {reason}.")
    say_next(look, ["semascope", "infer", model, "SOURCE"])


def _engine(name: EngineName, threads: int | None) -> Any:
    if name == EngineName.threads:
        from semascope.engines.threads import ThreadEngine

        return ThreadEngine(threads)
    from semascope.engines.mpi import MPIEngine

    engine = MPIEngine(threads)
    if engine.n_ranks == 1:
        typer.echo("There is one MPI rank only; for more, start with: mpirun -n 4 semascope fit … --engine mpi", err=True)
    return engine
