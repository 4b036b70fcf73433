"""semascope info PATH"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from semascope.cli.app import AsJson, command, input_directory
from semascope.cli.render.terminal import MAX_LINE_LENGTH, console, print_json, print_next_step
from semascope.models.registry import DIMENSIONS, LABELS, TOPICS

if TYPE_CHECKING:
    from semascope.corpus.corpus import Corpus
    from semascope.models.topic_model import TopicModel
    from semascope.retrieval.index import Index


@command
def info(
    path: Annotated[
        Path, input_directory("PATH", "corpus, model or index", "build SOURCE CORPUS", "Corpus, model or index directory.")
    ],
    as_json: AsJson = False,
) -> None:
    """Describe the corpus, model or index in PATH."""
    from semascope import workflow
    from semascope.corpus.corpus import Corpus
    from semascope.retrieval.index import Index

    found = workflow.open_any(path)
    if isinstance(found, Corpus):
        _show_corpus(path, found, as_json)
    elif isinstance(found, Index):
        _show_index(path, found, as_json)
    else:
        SHOW[found.kind](path, found, as_json)


def _show_corpus(path: Path, corpus: Corpus, as_json: bool) -> None:
    from semascope.corpus.summary import summary

    about = summary(corpus)
    if as_json:
        print_json({"kind": "corpus", **about.to_dict()})
        return
    from semascope.cli.render.corpus_summary import summary_charts, summary_header

    out = console()
    out.print(summary_header(path, about))
    out.print(summary_charts(about), soft_wrap=False)
    print_next_step(["semascope", "fit", path, "MODEL", "--topics", min(32, corpus.n_documents, corpus.n_words)])


def _show_model(path: Path, model: TopicModel, as_json: bool) -> None:
    facts = _of_model(model)
    if as_json:
        print_json({**facts, "settings": _plain(facts["settings"]), "topic_names": model.topic_names_})
        return
    from semascope.cli.render.charts import Gallery
    from semascope.cli.render.corpus_summary import topic_shares

    console().print(_facts_table(facts))
    console().print("", Gallery([topic_shares(model.topic_shares_, model.topic_names_)]), soft_wrap=False)
    print_next_step(["semascope", "topics", path])


def _show_labeled(path: Path, model: Any, as_json: bool) -> None:
    about = {"words": model.n_features_in_, "labels": len(model.label_names_)}
    if model.learns_from_streams:
        facts = {"kind": "model", "model": type(model).__name__, **about, "settings": _settings_of(model)}
        facts |= {"documents_seen": model.n_documents_seen_, "documents_learned": model.n_documents_learned_}
    else:
        facts = {**_of_any(model), **about, "background": model.n_background_, "log_likelihood": model.log_likelihood_[-1]}
    if as_json:
        print_json({**facts, "label_names": model.label_names_, "settings": _plain(facts["settings"])})
        return
    from semascope.cli.render.charts import Gallery
    from semascope.cli.render.corpus_summary import topic_shares

    console().print(_facts_table(facts))
    if model.label_names_:
        console().print("", Gallery([topic_shares(model.label_shares_, model.topic_names_)]), soft_wrap=False)
    print_next_step(["semascope", "topics", path], ["semascope", "predict", path, "SOURCE"])


def _show_lsa(path: Path, model: Any, as_json: bool) -> None:
    facts = {**_of_any(model), "residual": model.residuals_[-1], "part_explained": 1 - model.residuals_[-1] ** 2}
    facts = {**facts, "dimensions": model.components_.shape[0], "documents": model.doc_vectors_.shape[0]}
    if as_json:
        print_json({**facts, "singular_values": model.singular_values_.tolist()})
        return
    from semascope.cli.render.tables import show_dimensions

    console().print(_facts_table(facts))
    show_dimensions(model)
    print_next_step(["semascope", "neighbors", path, "WORD"])


SHOW = {TOPICS: _show_model, LABELS: _show_labeled, DIMENSIONS: _show_lsa}
"""Display of a model, by kind."""


def _show_index(path: Path, index: Index, as_json: bool) -> None:
    from semascope.cli.commands.index import format_size, index_facts

    facts = {"kind": "index", **index_facts(index)}
    if as_json:
        print_json(facts)
        return
    size = format_size(facts.pop("bytes_on_disk"))
    shown = {name: "none" if value is None else value for name, value in facts.items()}
    console().print(_facts_table({**shown, "on_disk": size}))
    print_next_step(["semascope", "search", path, "…"])


def _facts_table(facts: dict[str, Any]) -> Any:
    from rich.table import Table

    from semascope.cli.render.screen import Parts

    table = Table(box=None, show_header=False)
    table.add_column(style="cyan")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value is not None:
            table.add_row(name.replace("_", " "), Parts(*_format_fact(value), separator=", ", limit=MAX_LINE_LENGTH))
    return table


def _of_model(model: Any) -> dict[str, Any]:
    return {
        **_of_any(model),
        "topics": model.components_.shape[0],
        "documents": model.doc_topics_.shape[0],
        **_objectives_of(model),
        "heldout_perplexity": model.heldout_path_[-1][2] if model.heldout_path_ else None,
        **model.fitted_priors(),
    }


def _objectives_of(model: Any) -> dict[str, float | None]:
    """Return the final value of each objective, by name."""
    steps = {objective.attribute: list(getattr(model, objective.attribute, ())) for objective in model.objectives}
    return {name.strip("_"): float(of[-1]) if len(of) else None for name, of in steps.items()}


def _of_any(model: Any) -> dict[str, Any]:
    return {
        "kind": "model",
        "model": type(model).__name__,
        "words": model.n_features_in_,
        "iterations": model.n_iter_,
        "stopped_by": model.stopped_by_,
        "settings": _settings_of(model),
        "corpus": model.corpus_["path"] or model.corpus_.get("split_from", {}).get("path"),
        "corpus_fingerprint": model.corpus_["fingerprint"],
    }


def _settings_of(model: Any) -> dict[str, Any]:
    return {k: _described(v) for k, v in model.get_params().items() if k not in ("engine", "verbose")}


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings as JSON-serializable values."""
    from semascope.corpus.text.analyzer import Analyzer
    from semascope.models.serialization import plain_setting

    return {k: v.to_dict() if isinstance(v, Analyzer) else plain_setting(v) for k, v in settings.items()}


def _described(setting: Any) -> Any:
    """Return a setting, or the shape of an array."""
    return f"array of shape {setting.shape}" if hasattr(setting, "shape") else setting


def _format_fact(value: Any) -> list[str]:
    """Format a fact, or each of several."""
    if isinstance(value, dict):
        return [f"{k}={v}" for k, v in value.items()]
    if isinstance(value, list):
        return [part for one in value for part in _format_fact(one)]
    if isinstance(value, float):
        return [f"{value:,.0f}" if value == int(value) else f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.1f}"]
    return [f"{value:,}" if isinstance(value, int) else str(value)]
