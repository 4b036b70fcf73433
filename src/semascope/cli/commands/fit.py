"""semascope fit CORPUS MODEL"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semascope.cli.app import CorpusPath, Overwrite, command, print_line, topic_table
from semascope.cli.options import EngineName, create_engine, read_prior, select_languages, with_spill
from semascope.cli.render.tables import label_table, show_dimensions
from semascope.cli.render.terminal import console, print_next_step, print_text
from semascope.models.registry import DIMENSIONS, KINDS, LABELS, TOPICS, commands, defaults_of, entry_for, help_for, taking

if TYPE_CHECKING:
    ModelName = str
else:
    ModelName = enum.StrEnum("ModelName", commands())  # values are names in lower case, as commands are

FIRST = ModelName(commands()[0])
"""Default model."""


class WeightingName(enum.StrEnum):
    """Term weightings of LSA."""

    hellinger = "hellinger"
    counts = "counts"
    tfidf = "tfidf"
    logtfidf = "logtfidf"
    logentropy = "logentropy"


class InferenceName(enum.StrEnum):
    """Inference algorithms of LDA."""

    cvb0 = "cvb0"
    vb = "vb"


MaxIter = Annotated[
    int | None, typer.Option(min=1, help="Maximum number of iterations.", show_default=defaults_of("max-iter", "100"))
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Convergence tolerance: relative change of the log-likelihood or residual.",
        show_default=defaults_of("tol", "0.0001"),
    ),
]


@command
def fit(
    corpus: CorpusPath,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model directory to write.")],
    name: Annotated[ModelName, typer.Option("--model", help="Model to fit.")] = FIRST,
    topics: Annotated[
        int | None,
        typer.Option(min=1, help="Number of topics or dimensions.", show_default=defaults_of("topics", "32")),
    ] = None,
    max_iter: MaxIter = None,
    tol: Tolerance = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed; the same seed gives the same model, bit for bit.")] = 0,
    engine: Annotated[EngineName, typer.Option(help="Engine that runs the fit.")] = EngineName.threads,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads (per rank with MPI); all cores by default.")
    ] = None,
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="Spark: master URL, e.g. spark://host:7077 or local[4].")
    ] = None,
    work_dir: Annotated[
        Path | None, typer.Option(help="MPI and Spark: directory shared by all processes, for temporary document topics.")
    ] = None,
    tempering: Annotated[
        str | None,
        typer.Option(
            metavar="auto or β",
            help=help_for("tempering", "temper EM by β up to 1; auto selects it. Reduces overfitting."),
        ),
    ] = None,
    inference: Annotated[
        InferenceName | None,
        typer.Option(help=help_for("inference", "inference algorithm; cvb0 predicts better."), show_default="cvb0"),
    ] = None,
    alpha: Annotated[
        str | None,
        typer.Option(
            metavar="auto or α",
            help=help_for(
                "alpha", "Dirichlet prior of the topics in a document; LDA learns it (auto) or takes one per topic: 0.1,0.5,…"
            ),
            show_default="0.1",
        ),
    ] = None,
    alpha_init: Annotated[
        str | None,
        typer.Option(
            metavar="α",
            help=help_for("alpha-init", "initial value for --alpha auto: a number, or one per topic."),
            show_default="0.1",
        ),
    ] = None,
    eta: Annotated[
        str | None,
        typer.Option(
            metavar="auto or η",
            help=help_for("eta", "Dirichlet prior of the words in a topic; auto learns it (LDA)."),
            show_default=defaults_of("eta", "0.03"),
        ),
    ] = None,
    max_doc_update_iter: Annotated[
        int | None,
        typer.Option(min=1, help="LDA, vb: maximum number of passes over a document in an E-step.", show_default="100"),
    ] = None,
    doc_tol: Annotated[
        float | None,
        typer.Option(
            min=0, help="LDA, vb: convergence tolerance per document (fraction of tokens reassigned).", show_default="0.001"
        ),
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help=help_for("prior", "word lists to seed topics with, in JSON, .dic or plain text; en=FILE for one language."),
        ),
    ] = None,
    prior_strength: Annotated[
        float | None,
        typer.Option(
            help=help_for("prior-strength", "η of the words in --prior; --eta applies to all others."), show_default="10"
        ),
    ] = None,
    languages: Annotated[
        str | None,
        typer.Option(metavar="en,de", help=help_for("languages", "languages of the corpus to use."), show_default="all"),
    ] = None,
    background: Annotated[
        int | None,
        typer.Option(
            min=0,
            help=help_for("background", "number of unlabeled topics, for words unrelated to any label."),
            show_default="0",
        ),
    ] = None,
    weighting: Annotated[
        WeightingName | None,
        typer.Option(help=help_for("weighting", "term weighting."), show_default="hellinger"),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Any other parameter of the model, by its Python name: --set dtype=float64."
        ),
    ] = None,
    spill: Annotated[
        bool | None,
        typer.Option(help="Keep document topics in files while fitting; by default only if memory is small."),
    ] = None,
    watch_heldout: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Hold out this fraction of the documents (e.g. 0.1) and report their perplexity during the fit.",
        ),
    ] = None,
    heldout_plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Plot the held-out perplexity (.png, .svg, .pdf); requires --watch-heldout."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted fit.")] = False,
    checkpoint_seconds: Annotated[float, typer.Option(min=0, help="Seconds between checkpoints.")] = 60.0,
    overwrite: Overwrite = False,
) -> None:
    """Fit a model to CORPUS and save it as MODEL."""
    if alpha_init is not None and alpha != "auto":
        message = "--alpha-init requires --alpha auto."
        raise typer.BadParameter(message)
    e_step = {"max-doc-update-iter": max_doc_update_iter, "doc-tol": doc_tol}
    if inference != InferenceName.vb and (unused := [option for option, value in e_step.items() if value is not None]):
        message = f"--{unused[0]} applies to the E-step of --inference vb only."
        raise typer.BadParameter(message)
    given: dict[str, Any] = {"tempering": _number_or_auto("--tempering", tempering), "eta": _number_or_auto("--eta", eta)}
    given |= {"alpha": _numbers_or_auto("--alpha", alpha), "alpha-init": _numbers_or_auto("--alpha-init", alpha_init)}
    others = {"inference": inference.value if inference else None, "prior": prior or None, "prior-strength": prior_strength}
    others |= {"weighting": weighting.value if weighting else None, "watch-heldout": watch_heldout, "background": background}
    chosen = _own_settings(name, {**given, **others, **e_step, "languages": languages, "topics": topics})
    n_topics = topics or N_TOPICS
    own = {option.replace("-", "_"): value for option, value in chosen.items() if option in SETTINGS}
    own |= _other_settings(name, setting or [], {*own, "n_components", "max_iter", "tol", "random_state", "engine", "verbose"})
    _prepare_plot(heldout_plot, watch_heldout)
    from semascope import workflow
    from semascope.corpus.corpus import Corpus
    from semascope.model_selection import hold_out

    place = create_engine(engine, threads, master, work_dir, spill)
    if prior or prior_strength is not None:
        own["eta"] = place.run_on_all(lambda: read_prior(prior or [], prior_strength, own.get("eta")))
    opened = place.run_on_all(lambda: select_languages(Corpus.open(corpus), languages))
    split = None if watch_heldout is None else place.run_on_all(lambda: hold_out(opened, watch_heldout, seed))
    if split and place.is_root:
        held, rest = split.heldout.n_documents, split.train.n_documents
        print_text(f"{held:,} documents are held out; the model is fitted to the other {rest:,}.")
    if spill is None and engine == EngineName.threads and workflow.should_spill(split.train if split else opened, n_topics):
        print_text("Not enough memory for the topics of all documents; they are kept in files (--spill).")
        spill = True
    rules = {rule: value for rule, value in {"max_iter": max_iter, "tol": tol}.items() if value is not None}
    settings = {"random_state": seed, **rules} | ({"n_components": n_topics} if "topics" in entry_for(name).options else {})
    result = workflow.fit(
        split or opened,
        model,
        entry_for(name, n_languages=len(opened.languages)).name,
        {**settings, **own},
        with_spill(place, spill=bool(spill)),
        overwrite=overwrite,
        resume=resume,
        checkpoint_seconds=checkpoint_seconds,
    )
    if not place.is_root:
        return
    SHOW[result.model.kind](result.model)
    if split:
        _show_heldout(result.model, heldout_plot, f"{type(result.model).__name__}, {n_topics} topics, {corpus.resolve().name}")
    kind = KINDS[result.model.kind]
    look = ["semascope", kind.show, model]
    if result.unfinished:
        phase = ", before variational EM began" if own.get("inference") == "vb" and not result.model.elbo_ else ""
        print_line(model, f"interrupted after {result.model.n_iter_} iterations{phase}; the model so far is saved.")
        options = ["--model", name, "--seed", seed]
        options += as_options(rules)
        options += [part for option, value in chosen.items() for one in _as_list(value) for part in (f"--{option}", one)]
        options += [part for one in setting or [] for part in ("--set", one)]
        print_next_step(["semascope", "fit", corpus, model, *options, "--resume"], look)
        raise typer.Exit(code=130)
    from semascope.training.stopping import CONVERGED

    objective, _ = result.model.fitted_objective()
    reason = (
        f"the {objective.short or objective.name} converged"
        if result.model.stopped_by_ == CONVERGED
        else "the maximum number of iterations was reached"
    )
    n_found = len(result.model.get_feature_names_out())
    print_line(model, f"{n_found} {kind.name} after {result.model.describe_fit()}: {reason}.")
    command_name, what = kind.apply
    print_next_step(look, ["semascope", command_name, model, what])


N_TOPICS = 32
"""Default number of topics or dimensions."""

SHOW: dict[str, Callable[[Any], None]] = {
    TOPICS: lambda model: console().print(topic_table(model, n_words=8)),
    LABELS: lambda model: console().print(label_table(model, n_words=8)),
    DIMENSIONS: show_dimensions,
}
"""Display of a fitted model, by kind."""


def _prepare_plot(plot: Path | None, share: float | None) -> None:
    if plot is None:
        return
    if share is None:
        message = "--heldout-plot requires --watch-heldout."
        raise typer.BadParameter(message)
    from semascope.cli.render.figures import check_can_draw

    check_can_draw(plot)


def _show_heldout(model: Any, plot: Path | None, title: str) -> None:
    """Print held-out perplexity over time, and plot it if requested."""
    from semascope.cli.render.charts import heldout_chart, heldout_table

    console().print("", heldout_table(model.heldout_path_))
    console().print("", heldout_chart(model.heldout_path_), soft_wrap=False)
    if plot is not None:
        from semascope.cli.render.figures import draw_heldout

        draw_heldout(plot, model.heldout_path_, title)
        print_line(plot, "plot of held-out perplexity against time.")


SETTINGS = (
    "tempering", "inference", "alpha", "alpha-init", "eta", "max-doc-update-iter", "doc-tol", "weighting", "background",
)  # fmt: skip
"""Options that are parameters of a model under the same name."""


def as_options(settings: dict[str, Any]) -> list[Any]:
    """Return settings as command line options."""
    return [part for name, value in settings.items() for part in (f"--{name.replace('_', '-')}", value)]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _own_settings(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are set, and check that the model takes them."""
    chosen = {option: value for option, value in given.items() if value is not None}
    for option in chosen:
        if option not in entry_for(name).options:
            message = f"--{option} is for --model {' or '.join(taking(option))}, not for {name}."
            raise typer.BadParameter(message)
    return chosen


def _other_settings(name: str, given: list[str], taken: set[str]) -> dict[str, Any]:
    """Parse the settings of --set, as JSON if possible, otherwise as text."""
    known = set(signature(entry_for(name).load_class()).parameters) - taken if given else set()
    parsed: dict[str, Any] = {}
    for one in given:
        setting, equals, value = one.partition("=")
        if not equals or setting not in known or setting in parsed:
            message = f"--set takes NAME=VALUE, once each, where NAME is one of {', '.join(sorted(known))}; not {one!r}."
            raise typer.BadParameter(message)
        try:
            parsed[setting] = json.loads(value)
        except ValueError:
            parsed[setting] = value
    return parsed


def _numbers_or_auto(option: str, value: str | None) -> Any:
    """Parse a number, a comma-separated list of numbers, or "auto"."""
    if value is None or "," not in value:
        return _number_or_auto(option, value)
    try:
        return [float(part) for part in value.split(",")]
    except ValueError:
        message = f'{option} takes "auto", a number, or comma-separated numbers, one per topic, not {value!r}.'
        raise typer.BadParameter(message) from None


def _number_or_auto(option: str, value: str | None) -> float | str | None:
    if value is None or value == "auto":
        return value
    try:
        return float(value)
    except ValueError:
        message = f'{option} takes "auto" or a number, not {value!r}.'
        raise typer.BadParameter(message) from None
