"""semascope stream MODEL"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semascope.cli.app import AsJson, IdField, LabelSeparator, LabelsField, TextFields, command, pluralize, print_line
from semascope.cli.options import analyzers_for
from semascope.cli.render.terminal import MAX_LINE_LENGTH, console, print_next_step, print_text
from semascope.errors import InputError

if TYPE_CHECKING:
    from semascope.models.online_labeled_lda import OnlineLabeledLDA
    from semascope.streaming.durable import DurableStream
    from semascope.streaming.metrics import StreamMetrics


@command
def stream(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model directory; created if missing.")],
    input: Annotated[
        str, typer.Option("--input", metavar="FILE", help="JSON lines to learn from; - for standard input.")
    ] = "-",
    follow: Annotated[bool, typer.Option(help="Wait for lines appended to FILE, like tail -F.")] = False,
    replayed: Annotated[
        bool,
        typer.Option("--replayed", help="Standard input starts with the lines learned before: skip them."),
    ] = False,
    text: TextFields = None,
    labels: LabelsField = "labels",
    label_separator: LabelSeparator = None,
    id: IdField = "id",
    save_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds between saves of the model; a journal protects what is learned in between.")
    ] = 30.0,
    particles: Annotated[int | None, typer.Option(min=1, help="New model: number of particles.", show_default="10")] = None,
    alpha: Annotated[
        float | None, typer.Option(help="New model: Dirichlet prior of the labels in a document.", show_default="0.1")
    ] = None,
    eta: Annotated[
        float | None, typer.Option(help="New model: Dirichlet prior of the words in a label.", show_default="0.1")
    ] = None,
    half_life: Annotated[
        float | None,
        typer.Option(metavar="DOCUMENTS", help="New model: half-life of learned counts.", show_default="never"),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="New model: random seed.", show_default="0")] = None,
    stop_words: Annotated[
        str | None, typer.Option(help="New model: stop words to remove: a language, or a file with one word per line.")
    ] = None,
    stemmer: Annotated[str | None, typer.Option(help="New model: language of the Snowball stemmer.")] = None,
    as_json: AsJson = False,
) -> None:
    """Learn labels from a stream of JSON lines, each line exactly once even if the process is killed."""
    from semascope.cli.render.stream_view import View
    from semascope.streaming.durable import open_stream
    from semascope.streaming.loop import asked_to_stop, check_readable, opened_source, run
    from semascope.streaming.records import StreamFields

    options: dict[str, Any] = {
        "n_particles": particles,
        "alpha": alpha,
        "eta": eta,
        "half_life": half_life,
        "random_state": seed,
    }
    given = {name: value for name, value in options.items() if value is not None}
    if stop_words is not None or stemmer is not None:
        given["analyzer"] = analyzers_for([], stop_words, stemmer, {})
    check_readable(input, follow=follow, replayed=replayed)
    fields = StreamFields(tuple(text or ["text"]), labels, id, label_separator)
    with asked_to_stop() as stopped:
        with open_stream(model, lambda: _new_model(given)) as learner:
            _check_settings_agree(learner.model, given, model)
            with View(learner, as_json=as_json) as view:
                if learner.recovered:
                    view.notify(f"{pluralize(learner.recovered, 'document')} recovered from the journal of the last run.")
                with opened_source(learner, input, follow=follow, replayed=replayed, say=view.notify) as source:
                    run(learner, source, fields, save_seconds=save_seconds, watch=view.update, stopped=stopped)
        _print_outcome(model, learner, view.metrics, interrupted=stopped(), as_json=as_json)
        if stopped():
            raise typer.Exit(code=130)


def _new_model(given: dict[str, Any]) -> OnlineLabeledLDA:
    from semascope.models.online_labeled_lda import OnlineLabeledLDA

    return OnlineLabeledLDA(**{"random_state": 0, **given})


def _check_settings_agree(model: OnlineLabeledLDA, given: dict[str, Any], path: Path) -> None:
    settings = model.get_params()
    for name, value in given.items():
        if settings[name] != value:
            option = {"n_particles": "--particles", "random_state": "--seed", "analyzer": "--stop-words or --stemmer"}.get(name)
            message = (
                f"{path}: was created with {name}={settings[name]!r}, which {option or '--' + name.replace('_', '-')} cannot "
                "change; omit the option, or use another path for a new model."
            )
            raise InputError(message)


def _print_outcome(path: Path, stream: DurableStream, metrics: StreamMetrics, *, interrupted: bool, as_json: bool) -> None:
    now = pluralize(metrics.documents_now, "document")
    sentence = f"{'interrupted; ' if interrupted else ''}{now} learned, {metrics.documents:,} in total"
    sentence += f", with {pluralize(metrics.n_labels, 'label')}; model saved."
    bad = f"{pluralize(metrics.bad_lines, 'bad line')} written to {stream.bad_path}." if metrics.bad_lines else ""
    if as_json:
        for part in (f"{path}: {sentence}", bad):
            if part:
                print_text(f"semascope: {part}")
        return
    from semascope.cli.render.screen import Parts
    from semascope.cli.render.stream_view import heaviest_labels

    console().print(heaviest_labels(stream.model))
    if bad:
        console().print(Parts(bad, limit=MAX_LINE_LENGTH))
    print_line(path, sentence)
    print_next_step(["semascope", "topics", path], ["semascope", "stream", path, "--input", "FILE", "--follow"])
