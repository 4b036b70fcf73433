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
from semascope.cli.options import EngineName, engine_of, in_languages, informed_prior, spilling
from semascope.cli.render.tables import label_table, show_dimensions
from semascope.cli.render.terminal import console, print_next_step, print_text
from semascope.models.registry import DIMENSIONS, KINDS, LABELS, TOPICS, commands, defaults_of, entry_for, help_for, taking

if TYPE_CHECKING:
    ModelName = str
else:
    ModelName = enum.StrEnum("ModelName", commands())  # values are names in lower case, as commands are

FIRST = ModelName(commands()[0])
"""The model that is fitted unless another is asked for."""


class WeightingName(enum.StrEnum):
    """What LSA has in place of counts."""

    hellinger = "hellinger"
    counts = "counts"
    tfidf = "tfidf"
    logtfidf = "logtfidf"
    logentropy = "logentropy"


class InferenceName(enum.StrEnum):
    """Ways to fit LDA."""

    cvb0 = "cvb0"
    vb = "vb"


MaxIter = Annotated[int | None, typer.Option(min=1, help="Most iterations.", show_default=defaults_of("max-iter", "100"))]
Tolerance = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Stop when log-likelihood or residual changes by less than this share.",
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
        typer.Option(min=1, help="Number of topics, or of dimensions.", show_default=defaults_of("topics", "32")),
    ] = None,
    max_iter: MaxIter = None,
    tol: Tolerance = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same model, bit for bit.")] = 0,
    engine: Annotated[EngineName, typer.Option(help="Where the work is done.")] = EngineName.threads,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads (of each rank, with MPI); all cores by default.")] = None,
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="Spark: where it runs, spark://host:7077 or local[4] for example.")
    ] = None,
    work_dir: Annotated[
        Path | None, typer.Option(help="MPI and Spark: a directory that all processes see, for documents' topics meanwhile.")
    ] = None,
    tempering: Annotated[
        str | None,
        typer.Option(
            metavar="auto or β",
            help=help_for("tempering", "temper EM, by β up to 1; auto finds it. Helps against overfitting."),
        ),
    ] = None,
    inference: Annotated[
        InferenceName | None,
        typer.Option(help=help_for("inference", "how it is fitted; cvb0 predicts better."), show_default="cvb0"),
    ] = None,
    alpha: Annotated[
        str | None,
        typer.Option(
            metavar="auto or α",
            help=help_for("alpha", "prior of the topics in a document; LDA learns it (auto), or takes one each: 0.1,0.5,…"),
            show_default="0.1",
        ),
    ] = None,
    alpha_init: Annotated[
        str | None,
        typer.Option(
            metavar="α",
            help=help_for("alpha-init", "where --alpha auto starts, a number or one for each topic."),
            show_default="0.1",
        ),
    ] = None,
    eta: Annotated[
        str | None,
        typer.Option(
            metavar="auto or η",
            help=help_for("eta", "prior of the words in a topic; auto learns it (LDA)."),
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
            min=0, help="LDA, vb: a document has converged when a pass reassigns less of its tokens.", show_default="0.001"
        ),
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help=help_for("prior", "word lists for topics to follow, in JSON, .dic or plain text; en=FILE for one language."),
        ),
    ] = None,
    prior_strength: Annotated[
        float | None,
        typer.Option(
            help=help_for("prior-strength", "η of the words in --prior; --eta is that of all others."), show_default="10"
        ),
    ] = None,
    languages: Annotated[
        str | None,
        typer.Option(
            metavar="en,de", help=help_for("languages", "only these languages of the corpus."), show_default="all it has"
        ),
    ] = None,
    background: Annotated[
        int | None,
        typer.Option(
            min=0,
            help=help_for("background", "free topics beside the labels, for words that tell nothing of them."),
            show_default="0",
        ),
    ] = None,
    weighting: Annotated[
        WeightingName | None,
        typer.Option(help=help_for("weighting", "what the matrix has in place of counts."), show_default="hellinger"),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Any other setting of the model, by its name in Python: --set dtype=float64."
        ),
    ] = None,
    spill: Annotated[
        bool | None,
        typer.Option(help="Keep documents' topics in files while fitting; by default only where memory is too small."),
    ] = None,
    watch_heldout: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Hold out so many of the documents (0.1), learn from the rest, and tell how well it goes."
        ),
    ] = None,
    heldout_plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw that as a picture (.png, .svg, .pdf); with --watch-heldout.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was cut off.")] = False,
    checkpoint_seconds: Annotated[float, typer.Option(min=0, help="Time between checkpoints.")] = 60.0,
    overwrite: Overwrite = False,
) -> None:
    """Fit a model to CORPUS and save it as MODEL."""
    if alpha_init is not None and alpha != "auto":
        message = "--alpha-init says where --alpha auto starts."
        raise typer.BadParameter(message)
    e_step = {"max-doc-update-iter": max_doc_update_iter, "doc-tol": doc_tol}
    if inference != InferenceName.vb and (set_in_vain := [option for option, value in e_step.items() if value is not None]):
        message = f"--{set_in_vain[0]} is about the E-step of --inference vb."
        raise typer.BadParameter(message)
    given: dict[str, Any] = {"tempering": _number_or_auto("--tempering", tempering), "eta": _number_or_auto("--eta", eta)}
    given |= {"alpha": _numbers_or_auto("--alpha", alpha), "alpha-init": _numbers_or_auto("--alpha-init", alpha_init)}
    others = {"inference": inference.value if inference else None, "prior": prior or None, "prior-strength": prior_strength}
    others |= {"weighting": weighting.value if weighting else None, "watch-heldout": watch_heldout, "background": background}
    told = _own_settings(name, {**given, **others, **e_step, "languages": languages, "topics": topics})
    n_topics = topics or N_TOPICS
    own = {option.replace("-", "_"): value for option, value in told.items() if option in SETTINGS}
    own |= _other_settings(name, setting or [], {*own, "n_components", "max_iter", "tol", "random_state", "engine", "verbose"})
    _prepare_plot(heldout_plot, watch_heldout)
    from semascope import workflow
    from semascope.corpus.corpus import Corpus
    from semascope.model_selection import hold_out

    place = engine_of(engine, threads, master, work_dir, spill)
    if prior or prior_strength is not None:
        own["eta"] = place.run_on_all(lambda: informed_prior(prior or [], prior_strength, own.get("eta")))
    opened = place.run_on_all(lambda: in_languages(Corpus.open(corpus), languages))
    split = None if watch_heldout is None else place.run_on_all(lambda: hold_out(opened, watch_heldout, seed))
    if split and place.is_root:
        held, rest = split.heldout.n_documents, split.train.n_documents
        print_text(f"{held:,} documents are held out; the topics are learned from the other {rest:,}.")
    if spill is None and engine == EngineName.threads and workflow.should_spill(split.train if split else opened, n_topics):
        print_text("Memory is small for this corpus: documents' topics are kept in files meanwhile (--spill).")
        spill = True
    rules = {rule: value for rule, value in {"max_iter": max_iter, "tol": tol}.items() if value is not None}
    settings = {"random_state": seed, **rules} | ({"n_components": n_topics} if "topics" in entry_for(name).options else {})
    result = workflow.fit(
        split or opened,
        model,
        entry_for(name, n_languages=len(opened.languages)).name,
        {**settings, **own},
        spilling(place, spill=bool(spill)),
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
        begun = ", before variational EM began" if own.get("inference") == "vb" and not result.model.elbo_ else ""
        print_line(model, f"interrupted after {result.model.n_iter_} iterations{begun}; the model so far is saved.")
        again = ["--model", name, "--seed", seed]
        again += as_options(rules)
        again += [part for option, value in told.items() for one in _listed(value) for part in (f"--{option}", one)]
        again += [part for one in setting or [] for part in ("--set", one)]
        print_next_step(["semascope", "fit", corpus, model, *again, "--resume"], look)
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
"""Topics, or dimensions, where nobody says how many."""

SHOW: dict[str, Callable[[Any], None]] = {
    TOPICS: lambda model: console().print(topic_table(model, n_words=8)),
    LABELS: lambda model: console().print(label_table(model, n_words=8)),
    DIMENSIONS: show_dimensions,
}
"""How a model is shown that was just fitted."""


def _prepare_plot(plot: Path | None, share: float | None) -> None:
    if plot is None:
        return
    if share is None:
        message = "--heldout-plot needs --watch-heldout, which gives it something to draw."
        raise typer.BadParameter(message)
    from semascope.cli.render.figures import check_can_draw

    check_can_draw(plot)


def _show_heldout(model: Any, plot: Path | None, title: str) -> None:
    """Print how well the documents held out were predicted as time went by, and draw it if asked to."""
    from semascope.cli.render.charts import heldout_picture, heldout_table

    console().print("", heldout_table(model.heldout_path_))
    console().print("", heldout_picture(model.heldout_path_), soft_wrap=False)
    if plot is not None:
        from semascope.cli.render.figures import draw_heldout

        draw_heldout(plot, model.heldout_path_, title)
        print_line(plot, "held-out perplexity against time.")


SETTINGS = (
    "tempering", "inference", "alpha", "alpha-init", "eta", "max-doc-update-iter", "doc-tol", "weighting", "background",
)  # fmt: skip
"""Options that are settings of a model by the same name."""


def as_options(settings: dict[str, Any]) -> list[Any]:
    """Settings as the command line takes them."""
    return [part for name, value in settings.items() for part in (f"--{name.replace('_', '-')}", value)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _own_settings(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were set, all of which the model must take."""
    chosen = {option: value for option, value in given.items() if value is not None}
    for option in chosen:
        if option not in entry_for(name).options:
            message = f"--{option} is for --model {' or '.join(taking(option))}, not for {name}."
            raise typer.BadParameter(message)
    return chosen


def _other_settings(name: str, given: list[str], taken: set[str]) -> dict[str, Any]:
    """Read settings that have no option of their own: as JSON where they are that, else as text."""
    known = set(signature(entry_for(name).load_class()).parameters) - taken if given else set()
    read: dict[str, Any] = {}
    for one in given:
        setting, equals, value = one.partition("=")
        if not equals or setting not in known or setting in read:
            message = f"--set takes NAME=VALUE, once each, where NAME is one of {', '.join(sorted(known))}; not {one!r}."
            raise typer.BadParameter(message)
        try:
            read[setting] = json.loads(value)
        except ValueError:
            read[setting] = value
    return read


def _numbers_or_auto(option: str, value: str | None) -> Any:
    """Return a number, a list of them for one with commas, or "auto"."""
    if value is None or "," not in value:
        return _number_or_auto(option, value)
    try:
        return [float(part) for part in value.split(",")]
    except ValueError:
        message = f'{option} takes "auto", a number, or one for each topic with commas between them, not {value!r}.'
        raise typer.BadParameter(message) from None


def _number_or_auto(option: str, value: str | None) -> float | str | None:
    if value is None or value == "auto":
        return value
    try:
        return float(value)
    except ValueError:
        message = f'{option} takes "auto" or a number, not {value!r}.'
        raise typer.BadParameter(message) from None
