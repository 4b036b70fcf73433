"""semascope sweep CORPUS"""

from __future__ import annotations

import enum
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semascope.cli.app import AsJson, CorpusPath, Overwrite, command
from semascope.cli.commands.fit import MaxIter, Tolerance, as_options
from semascope.cli.options import parse_list
from semascope.cli.render.terminal import console, print_json, print_next_step, print_text
from semascope.errors import InputError
from semascope.models.registry import commands, entry_for, in_words

if TYPE_CHECKING:
    from semascope.model_selection import Split, Suggestion, Trial

COLUMNS = {"topics": "{:,}", "seed": "{}", "perplexity": "{:,.1f}", "coherence": "{:.3f}", "diversity": "{:.3f}",
           "seconds": "{:,.1f}", "iterations": "{:,}"}  # fmt: skip
"""Columns of the table with their number formats."""


if TYPE_CHECKING:
    SweptName = str
else:
    SweptName = enum.StrEnum("SweptName", commands(swept=True))

FIRST = SweptName(commands(swept=True)[0])
"""Default model."""


@command
def sweep(
    corpus: CorpusPath,
    topics: Annotated[str, typer.Option(metavar="K,K,…", help="Numbers of topics or dimensions to try.")] = "10,20,50,100",
    name: Annotated[SweptName, typer.Option("--model", help="Model to fit.")] = FIRST,
    heldout: Annotated[float, typer.Option(help="Fraction of the documents to hold out for evaluation.")] = 0.1,
    max_iter: MaxIter = None,
    tol: Tolerance = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the fits and of the split.")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="Number of fits, with different seeds, per number of topics.")] = 1,
    threads: Annotated[int | None, typer.Option(min=1, help="Number of threads; all cores by default.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Plot to write (.png, .svg, .pdf), or a directory for the plot, the figures and all models."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Compare several numbers of topics on CORPUS, and suggest the best.

    Held-out perplexity is computed with the model's own prior or smoothing.

    Ctrl-C stops the sweep and keeps finished fits.
    """
    numbers = _numbers(topics)
    from semascope import model_selection as judging
    from semascope.corpus.corpus import Corpus
    from semascope.engines.threads import ThreadEngine

    target = _Target(out, overwrite)
    opened = Corpus.open(corpus)
    split = judging.hold_out(opened, heldout, seed)
    rules = {rule: value for rule, value in {"max_iter": max_iter, "tol": tol}.items() if value is not None}
    model_class: Any = entry_for(name, n_languages=len(opened.languages)).load_class()
    make = partial(model_class, **rules, engine=ThreadEngine(threads), verbose=True)
    trials: list[Trial] = []
    show = _ShowAsJson() if as_json else _ShowAsTable(name, split)
    interrupted = False
    try:
        for trial, model in judging.sweep(make, split, numbers, range(seed, seed + seeds)):
            model.corpus_["split_from"] = split.facts()
            target.keep(trial, model)
            trials.append(trial)
            show.trial(trial)
    except KeyboardInterrupt:
        interrupted = True
    if not trials:
        raise KeyboardInterrupt
    suggestion = judging.suggest(trials)
    title = f"{in_words(name)} on {corpus.resolve().name}: {split.heldout.n_documents:,} documents held out"
    target.finish(trials, suggestion, title)
    show.end(trials, suggestion, interrupted)
    if not as_json:
        options = ["--model", name, "--topics", suggestion.topics, "--seed", seed, *as_options(rules)]
        print_next_step(["semascope", "fit", corpus, "MODEL", *options])
    if interrupted:
        raise typer.Exit(code=130)


def _numbers(topics: str) -> list[int]:
    parts = parse_list(topics)
    if not parts or not all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
        message = f"--topics takes positive integers, e.g. 10,20,50, not {topics!r}."
        raise typer.BadParameter(message)
    return sorted(set(map(int, parts)))


class _Target:
    """Output of a sweep: none, a plot, or a directory."""

    def __init__(self, out: Path | None, overwrite: bool) -> None:
        from semascope.cli.render.figures import KINDS, check_can_draw

        self.plot = out if out and out.suffix.lower() in KINDS else None
        self.folder = out if out and not self.plot else None
        self._lines = ""
        if self.plot:
            check_can_draw(self.plot)
        if self.folder:
            self._check_free(self.folder, overwrite)
            self.plot = self.folder / "sweep.png"

    def _check_free(self, folder: Path, overwrite: bool) -> None:
        from semascope.storage import is_directory_of

        if kind := is_directory_of(folder):
            message = f"{folder}: is a semascope {kind}; choose another directory for the sweep."
            raise InputError(message)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not overwrite:
            message = f"{folder}: already exists; choose another path, or replace its contents with --overwrite."
            raise InputError(message)

    def keep(self, trial: Trial, model: Any) -> None:
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)
            model.save(self.folder / f"topics-{trial.topics}-seed-{trial.seed}")
            self._lines += json.dumps(trial.to_dict()) + "\n"
            (self.folder / "trials.jsonl").write_text(self._lines, encoding="utf-8")

    def finish(self, trials: list[Trial], suggestion: Suggestion, title: str) -> None:
        from semascope.cli.render.figures import draw_sweep
        from semascope.errors import MissingExtraError

        try:
            if self.plot:
                draw_sweep(self.plot, trials, suggestion, title)
        except MissingExtraError as error:
            if not self.folder:
                raise
            print_text(f"{self.folder}: plot skipped: {error}")


class _ShowAsJson:
    """Printer of JSON lines, one per trial and one for the suggestion."""

    def trial(self, trial: Trial) -> None:
        print_json(trial.to_dict())
        sys.stdout.flush()

    def end(self, trials: list[Trial], suggestion: Suggestion, interrupted: bool) -> None:
        print_json({"suggested_topics": suggestion.topics, "reason": suggestion.reason, "interrupted": interrupted})


class _ShowAsTable:
    """Printer of a table row per trial, with charts at the end."""

    def __init__(self, name: str, split: Split) -> None:
        self._started = False
        self._title = (
            f"{in_words(name)}, fitted to {split.train.n_documents:,} documents and evaluated on "
            f"{split.heldout.n_documents:,} held out, with its own prior or smoothing"
        )

    def trial(self, trial: Trial) -> None:
        from rich.text import Text

        if not self._started:
            console().print(self._title)
            console().print()
            console().print(Text(" ".join(f"{name:>10}" for name in COLUMNS), style="bold"))
            self._started = True
        console().print(" ".join(f"{form.format(getattr(trial, name)):>10}" for name, form in COLUMNS.items()))

    def end(self, trials: list[Trial], suggestion: Suggestion, interrupted: bool) -> None:
        from semascope.cli.render.charts import Gallery, sweep_charts
        from semascope.cli.render.screen import Parts

        if len({trial.topics for trial in trials}) > 1:
            console().print("", Gallery(sweep_charts(trials)), soft_wrap=False)
        if interrupted:
            console().print("Interrupted; finished fits are above.")
        console().print(Parts("Suggested: ", (f"{suggestion.topics} topics", "bold"), f" – {suggestion.reason}."))
