"""semascope fit CORPUS MODEL"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any

import typer

from semascope.cli.app import CorpusPath, Overwrite, command, say, topic_table
from semascope.cli.dimensions import show_dimensions
from semascope.cli.engines import EngineName, engine_of, spilling
from semascope.cli.label_tables import label_table
from semascope.cli.priors import in_languages, informed_prior
from semascope.cli.terminal import console, say_next, tell


class ModelName(enum.StrEnum):
    """Models that can be fitted."""

    plsa = "plsa"
    lda = "lda"
    lsa = "lsa"
    labeled = "labeled"


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


MaxIter = Annotated[int | None, typer.Option(min=1, help="Most iterations.", show_default="100; LSA: 20; labeled: 200")]
Tolerance = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Stop when log-likelihood or residual changes by less than this share.",
        show_default="0.0001; LSA: 0.0015; labeled: never",
    ),
]


@command
def fit(
    corpus: CorpusPath,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model directory to write.")],
    name: Annotated[ModelName, typer.Option("--model", help="Model to fit.")] = ModelName.plsa,
    topics: Annotated[
        int | None, typer.Option(min=1, help="Number of topics, or of dimensions.", show_default="32; labeled: its labels")
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
        typer.Option(metavar="auto or β", help="PLSA: temper EM, by β up to 1; auto finds it. Helps against overfitting."),
    ] = None,
    inference: Annotated[
        InferenceName | None, typer.Option(help="LDA: how it is fitted; cvb0 predicts better.", show_default="cvb0")
    ] = None,
    alpha: Annotated[
        str | None,
        typer.Option(
            metavar="auto or α",
            help="LDA, labeled: prior of the topics in a document; LDA learns it (auto), or takes one each: 0.1,0.5,…",
            show_default="0.1",
        ),
    ] = None,
    alpha_init: Annotated[
        str | None,
        typer.Option(metavar="α", help="LDA: where --alpha auto starts, a number or one for each topic.", show_default="0.1"),
    ] = None,
    eta: Annotated[
        str | None,
        typer.Option(
            metavar="auto or η",
            help="LDA, labeled: prior of the words in a topic; auto learns it (LDA).",
            show_default="0.03; labeled: 0.1",
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
            help="LDA: word lists for topics to follow, in JSON, .dic or plain text; en=FILE for one language.",
        ),
    ] = None,
    prior_strength: Annotated[
        float | None, typer.Option(help="LDA: η of the words in --prior; --eta is that of all others.", show_default="10")
    ] = None,
    languages: Annotated[
        str | None, typer.Option(metavar="en,de", help="LDA: only these languages of the corpus.", show_default="all it has")
    ] = None,
    background: Annotated[
        int | None,
        typer.Option(
            min=0, help="Labeled: free topics beside the labels, for words that tell nothing of them.", show_default="0"
        ),
    ] = None,
    weighting: Annotated[
        WeightingName | None, typer.Option(help="LSA: what the matrix has in place of counts.", show_default="hellinger")
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
    n_topics = topics or TOPICS
    own = {option.replace("-", "_"): value for option, value in told.items() if option in SETTINGS}
    _see_to_the_plot(heldout_plot, watch_heldout)
    from semascope import workflow
    from semascope.corpus.corpus import Corpus
    from semascope.judging import hold_out

    place = engine_of(engine, threads, master, work_dir, spill)
    if prior or prior_strength is not None:
        own["eta"] = place.together(lambda: informed_prior(prior or [], prior_strength, own.get("eta")))
    opened = place.together(lambda: in_languages(Corpus.open(corpus), languages))
    split = None if watch_heldout is None else place.together(lambda: hold_out(opened, watch_heldout, seed))
    if split and place.leads:
        held, rest = split.heldout.n_documents, split.train.n_documents
        tell(f"{held:,} documents are held out; the topics are learned from the other {rest:,}.")
    if spill is None and engine == EngineName.threads and workflow.should_spill(split.train if split else opened, n_topics):
        tell("Memory is small for this corpus: documents' topics are kept in files meanwhile (--spill).")
        spill = True
    rules = {rule: value for rule, value in {"max_iter": max_iter, "tol": tol}.items() if value is not None}
    settings = {"random_state": seed, **rules} | ({} if name == ModelName.labeled else {"n_components": n_topics})
    result = workflow.fit(
        split or opened,
        model,
        class_of(name, opened),
        {**settings, **own},
        spilling(place, spill=bool(spill)),
        overwrite=overwrite,
        resume=resume,
        checkpoint_seconds=checkpoint_seconds,
    )
    if not place.leads:
        return
    _show_what_was_found(name, result.model)
    if split:
        _show_heldout(result.model, heldout_plot, f"{type(result.model).__name__}, {n_topics} topics, {corpus.resolve().name}")
    look = ["semascope", "info" if name == ModelName.lsa else "topics", model]
    if result.unfinished:
        begun = ", before variational EM began" if own.get("inference") == "vb" and not result.model.elbo_ else ""
        say(model, f"interrupted after {result.model.n_iter_} iterations{begun}; the model so far is saved.")
        again = ["--model", name, "--seed", seed]
        again += as_options(rules)
        again += [part for option, value in told.items() for one in _listed(value) for part in (f"--{option}", one)]
        say_next(["semascope", "fit", corpus, model, *again, "--resume"], look)
        raise typer.Exit(code=130)
    measure = MEASURES.get(own.get("inference") or name, "log-likelihood")
    reason = f"the {measure} settled" if result.model.stopped_by_ == "settled" else "that was the most allowed"
    say(model, f"{len(result.model.get_feature_names_out())} {result.model.noun} after {_iterations(result.model)}: {reason}.")
    command_name, what = NEXT.get(name, ("infer", "SOURCE"))
    say_next(look, ["semascope", command_name, model, what])


TOPICS = 32
"""Topics, or dimensions, where nobody says how many."""

NEXT = {ModelName.lsa: ("neighbors", "WORD"), ModelName.labeled: ("predict", "SOURCE")}
"""What to do with a model, where it is not `infer`."""

MEASURES = {InferenceName.vb: "bound", ModelName.lsa: "residual"}
"""What settles, where it is not the log-likelihood."""


def _show_what_was_found(name: ModelName, model: Any) -> None:
    if name == ModelName.lsa:
        show_dimensions(model)
    elif name == ModelName.labeled:
        console().print(label_table(model, n_words=8))
    else:
        console().print(topic_table(model, n_words=8))


def _see_to_the_plot(plot: Path | None, share: float | None) -> None:
    if plot is None:
        return
    if share is None:
        message = "--heldout-plot needs --watch-heldout, which gives it something to draw."
        raise typer.BadParameter(message)
    from semascope.cli.figures import see_that_it_can_be_drawn

    see_that_it_can_be_drawn(plot)


def _show_heldout(model: Any, plot: Path | None, title: str) -> None:
    """Print how well the documents held out were predicted as time went by, and draw it if asked to."""
    from semascope.cli.plots import heldout_picture, heldout_table

    console().print("", heldout_table(model.heldout_path_))
    console().print("", heldout_picture(model.heldout_path_), soft_wrap=False)
    if plot is not None:
        from semascope.cli.figures import draw_heldout

        draw_heldout(plot, model.heldout_path_, title)
        say(plot, "held-out perplexity against time.")


def _iterations(model: Any) -> str:
    """Say how many there were, and what they were for."""
    if hasattr(model, "residuals_"):
        return f"{model.n_iter_} passes"
    counted = len(getattr(model, "elbo_", ()) or model.log_likelihood_)
    purpose = (
        "to find β" if hasattr(model, "tempering_") else "of CVB0" if getattr(model, "elbo_", ()) else "to learn the priors"
    )
    searched = f"{model.n_iter_ - counted} passes {purpose} and " if model.n_iter_ > counted else ""
    tempered = f" with β = {model.tempering_:.3g}" if getattr(model, "tempering_", 1.0) < 1 else ""
    return f"{searched}{counted} iterations{tempered}"


SETTINGS = (
    "tempering", "inference", "alpha", "alpha-init", "eta", "max-doc-update-iter", "doc-tol", "weighting", "background",
)  # fmt: skip
"""Options that are settings of a model by the same name."""

OWN_OPTIONS = {
    ModelName.plsa: ("topics", "tempering", "watch-heldout"),
    ModelName.lda: (
        "topics",
        "inference",
        "alpha",
        "alpha-init",
        "eta",
        "max-doc-update-iter",
        "doc-tol",
        "prior",
        "prior-strength",
        "languages",
        "watch-heldout",
    ),
    ModelName.lsa: ("topics", "weighting"),
    ModelName.labeled: ("alpha", "eta", "background"),
}  # fmt: skip
"""Options that not all models take."""


def class_of(name: ModelName, corpus: Any) -> str:
    """The estimator: LDA of several languages is one of its own."""
    if name == ModelName.labeled:
        return "LabeledLDA"
    return "PolylingualLDA" if name == ModelName.lda and len(corpus.languages) > 1 else name.upper()


def as_options(settings: dict[str, Any]) -> list[Any]:
    """Settings as the command line takes them."""
    return [part for name, value in settings.items() for part in (f"--{name.replace('_', '-')}", value)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _own_settings(name: ModelName, given: dict[str, Any]) -> dict[str, Any]:
    """Give the options that were set, all of which the model must take."""
    chosen = {option: value for option, value in given.items() if value is not None}
    for option in chosen:
        if option not in OWN_OPTIONS[name]:
            takes = " or ".join(model for model, options in OWN_OPTIONS.items() if option in options)
            message = f"--{option} is for --model {takes}, not for {name}."
            raise typer.BadParameter(message)
    return chosen


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
