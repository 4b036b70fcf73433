"""semascope evaluate MODEL CORPUS"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semascope.cli.app import AsJson, ModelPath, command, pluralize, print_line, top_words_of_each
from semascope.cli.render.terminal import console, print_json, print_next_step, waiting
from semascope.models.registry import KINDS, entry_of

if TYPE_CHECKING:
    from semascope.model_selection import Report

N_SHOWN = 3
"""Number of topics to show, of both the least and the most coherent."""


@command
def evaluate(
    model: ModelPath,
    corpus: Annotated[
        Path | None, typer.Argument(metavar="CORPUS", help="Corpus directory; by default, the one the model was fitted to.")
    ] = None,
    words: Annotated[int, typer.Option(min=2, help="Number of top words per topic for coherence.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Evaluate MODEL: held-out perplexity, coherence and diversity of its topics."""
    from semascope import model_selection as judging
    from semascope.corpus.corpus import Corpus
    from semascope.models.loading import load_topics

    fitted = load_topics(model, or_labels=True)
    opened = judging.own_corpus(fitted) if corpus is None else Corpus.open(corpus)
    with waiting("Evaluating the model"):
        report = judging.report(fitted, opened, words)
    if as_json:
        means = {measure: sum(values) / len(values) for measure, values in report.coherence.items()}
        print_json({"model": type(fitted).__name__, "corpus": str(opened.path), **report.to_dict(), "mean_coherence": means})
        return
    noun = KINDS[fitted.kind].component
    of_what = pluralize(len(fitted.topic_names_), noun)
    print_line(model, f"{type(fitted).__name__} of {of_what}, {_describe_documents(report)}.")
    topics = _topics(report, top_words_of_each(fitted, words), fitted.topic_names_)
    console().print("", _measures(report, words, noun), "", topics, "")
    entry = entry_of(fitted)
    others = ["--model", entry.command, "--topics", "10,20,50,100"] if entry and entry.is_swept else None
    print_next_step(["semascope", "topics", model], *([["semascope", "sweep", opened.path, *others]] if others else []))


def _describe_documents(report: Report) -> str:
    documents = pluralize(report.documents, "document")
    if report.relation == "held out":
        return f"evaluated on the {documents} held out of the fit"
    if report.relation == "fitted to":
        return f"evaluated on the {documents} it was fitted to: perplexity is not held-out and is optimistic"
    return f"evaluated on {documents} of a corpus it was not fitted to"


def _measures(report: Report, n_words: int, noun: str) -> Any:
    from rich.table import Table

    from semascope.evaluation.heldout import COMMON_ALPHA

    table = Table(box=None, header_style="bold")
    for name in ("measure", "mean", "worst", "best"):
        table.add_column(name, justify="left" if name == "measure" else "right")
    table.add_column("")
    held_out = "held-out perplexity" if report.relation != "fitted to" else "perplexity, not held-out"
    table.add_row(f"{held_out}, own prior", f"{report.perplexity:,.1f}", "", "", "lower is better")
    common = f"{held_out}, common prior ({COMMON_ALPHA} per {noun})"
    table.add_row(common, f"{report.perplexity_common:,.1f}", "", "", f"compares models with the same number of {noun}s")
    notes = {
        "npmi": f"coherence of {n_words} words, −1 to 1, by document co-occurrence",
        "umass": f"coherence of {n_words} words, 0 is best, by document co-occurrence",
        "c_v": f"coherence of {n_words} words, 0 to 1, windows: {report.windows}",
    }
    for measure, values in report.coherence.items():
        mean = sum(values) / len(values)
        table.add_row(measure, *(f"{value:.3f}" for value in (mean, min(values), max(values))), notes.get(measure, ""))
    table.add_row("diversity", f"{report.diversity:.3f}", "", "", "fraction of distinct words among all top 25")
    return table


def _topics(report: Report, words: list[list[str]], names: list[str]) -> Any:
    """Return a table of the least and the most coherent topics."""
    from rich.table import Table

    from semascope.cli.render.screen import join_words

    values = report.coherence["npmi"]
    order = sorted(range(len(values)), key=lambda topic: values[topic])
    few = len(order) <= 2 * N_SHOWN
    table = Table(box=None, header_style="bold")
    table.add_column("topic", justify="right", style="cyan")
    table.add_column("npmi", justify="right")
    table.add_column("words, least coherent topics first", overflow="fold")
    for topic in order if few else order[:N_SHOWN]:
        table.add_row(_short(names[topic]), f"{values[topic]:.3f}", join_words(words[topic]))
    if not few:
        table.add_row("…", "", f"{len(order) - 2 * N_SHOWN:,} more")
        for topic in order[-N_SHOWN:]:
            table.add_row(_short(names[topic]), f"{values[topic]:.3f}", join_words(words[topic]))
    return table


def _short(name: str) -> str:
    """Return the name of a topic, or its number if it has none."""
    return name.removeprefix("topic ")
