"""Self-contained HTML report on a model, with its quality measures."""

from __future__ import annotations

import base64
import hashlib
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semascope import __version__
from semascope.corpus.corpus import Corpus
from semascope.errors import InputError
from semascope.explorer.queries.document_topics import DocumentShares
from semascope.explorer.queries.views import find_corpus
from semascope.explorer.report.svg import line, map_of_topics
from semascope.explorer.report.topics import ReportData, topic_entry
from semascope.html import Markup, element, joined
from semascope.model_selection import FITTED_TO, judges_of
from semascope.models.display.plots import history_of
from semascope.models.display.topic_view import TopicView
from semascope.models.loading import load
from semascope.models.registry import KINDS

COHERENCE_WORDS = 10


@dataclass(frozen=True)
class Quality:
    """Quality of a model.

    perplexity   of the evaluation documents, with the model's own prior; None if none of them has known words
    documents    number of evaluation documents
    held_out     whether they are held out of the fit
    coherence    npmi of the top words of each topic in the corpus
    diversity    fraction of distinct words among the top 25 of all topics
    """

    perplexity: float | None
    documents: int
    held_out: bool
    coherence: Sequence[float]
    diversity: float


def evaluate_quality(model: Any, corpus: Corpus) -> Quality:
    """Evaluate a model on a corpus; on the documents held out of the fit, if any."""
    judges, relation = (corpus, "") if model.learns_from_streams else judges_of(model, corpus)
    try:
        perplexity = model.perplexity(judges)
    except InputError:  # no document has words of the vocabulary
        perplexity = None
    coherence = model.coherence(corpus, "npmi", COHERENCE_WORDS).tolist()
    return Quality(perplexity, judges.n_documents, relation != FITTED_TO, coherence, model.diversity())


MAX_TOPICS = 300
"""Maximum number of topics in a report; more would make the file too large to send."""


class Written(NamedTuple):
    """Summary of a written report: number of topics or labels, size in bytes, and why documents are missing."""

    topics: int
    noun: str
    size: int
    problem: str | None


def write_report(
    model_path: Path, out: Path, corpus_path: Path | None = None, title: str | None = None, *, overwrite: bool = False
) -> Written:
    """Write the report on a saved model to a file, atomically."""
    problem = None
    if out.is_dir():
        problem = "is a directory; use a file name such as report.html."
    elif out.exists() and not overwrite:
        problem = "already exists; choose another name, or replace it with --overwrite."
    elif not out.resolve().parent.is_dir():
        problem = "the parent directory does not exist."
    if problem:
        msg = f"{out}: {problem}"
        raise InputError(msg)
    model = load(model_path)
    if not KINDS[model.kind].explore:
        msg = f"{model_path}: contains {type(model).__name__}, which has no topics; fit another model with: semascope fit"
        raise InputError(msg)
    corpus, missing = find_corpus(model, corpus_path)
    page = render_report(model, corpus, title or model_path.resolve().name, missing).encode()
    draft = out.with_name(f".{out.name}.{uuid.uuid4().hex[:12]}")
    try:
        draft.write_bytes(page)
        draft.replace(out)
    finally:
        draft.unlink(missing_ok=True)
    return Written(len(model.topic_names_), KINDS[model.kind].component, len(page), missing)


def render_report(model: Any, corpus: Corpus | None, title: str, problem: str | None = None) -> str:
    """Render the report on a model as an HTML page.

    Parameters
    ----------
    model : model
        Model with topics or labels.
    corpus : Corpus or None
        Its documents, if available.
    title : str
        Title of the report.
    problem : str, optional
        Why there are no documents.
    """
    themes = TopicView.of(model)
    shares = None if corpus is None else DocumentShares.of(model, corpus, themes)
    quality = None if corpus is None or not len(themes) else evaluate_quality(model, corpus)
    largest = tuple(int(topic) for topic in np.argsort(-themes.shares, kind="stable")[:MAX_TOPICS])
    shown = ReportData(model, themes, shares, tuple(quality.coherence) if quality else (), largest)
    sections = [
        _header(shown, title, problem),
        _map(shown) if largest else None,
        _topics(shown),
        element("section", element("h2", "Quality"), *_quality(model, quality), id="quality"),
        _about(model, shown),
        element("footer", f"Created with semascope {__version__}. This file is self-contained."),
    ]
    return _page(title, joined(sections))


def _page(title: str, body: Markup) -> str:
    """Render the page around its body. The content policy allows only this style and this script."""
    style, script = _file("report.css") + _widths(), _file("report.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    head = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
    ]
    top = f'<!doctype html>\n<html lang="en"><head>{joined(head)}<style>{style}</style></head>'
    return f"{top}\n<body>{body}<script>{script}</script></body></html>\n"


def _file(name: str) -> str:
    return (files("semascope.explorer") / "report_files" / name).read_text(encoding="utf-8")


def _widths() -> str:
    """Return a CSS class per bar length; the content policy forbids inline styles."""
    return "".join(f".w{percent}{{width:{percent}%}}" for percent in range(101))


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _header(shown: ReportData, title: str, problem: str | None) -> Markup:
    themes, shares = shown.themes, shown.shares
    words = f"{len(themes.words):,} words" + (f" in {', '.join(themes.languages)}" if themes.languages else "")
    documents = "" if shares is None else f"{len(shares.numbers):,} documents and "
    lead = f"{type(shown.model).__name__} with {len(themes):,} {themes.kind}, over {documents}{words}."
    places = [("#map", "Map"), ("#topics", themes.kind.capitalize()), ("#quality", "Quality"), ("#about", "Settings")]
    note = element("p", f"Documents are not available: {problem}", class_="note") if problem else None
    links = element("nav", *(element("a", name, href=place) for place, name in places), aria_label="sections")
    return element("header", element("h1", element("bdi", title)), element("p", lead, class_="lead"), note, links)


def _map(shown: ReportData) -> Markup:
    kind = shown.themes.kind
    caption = f"{kind.capitalize()} with similar words are near each other; areas show shares of all words."
    figure = element("figure", map_of_topics(shown.themes, shown.listed), element("figcaption", caption), class_="map")
    return element("section", element("h2", "Map"), figure, id="map")


def _topics(shown: ReportData) -> Markup:
    kind, n, more = shown.themes.kind, len(shown.listed), len(shown.themes) - len(shown.listed)
    tools = element(
        "div",
        element("input", type="search", placeholder="Filter by name, word or document", aria_label=f"filter {kind}"),
        element("button", "Open all", type="button"),
        element("output", aria_live="polite"),
        class_="tools",
        hidden=True,
    )
    note = element("p", f"The {n:,} largest are shown; {more:,} are omitted.", class_="note") if more else None
    empty = None if n else element("p", f"The model has no {kind} yet.")
    entries = [topic_entry(shown, topic) for topic in shown.listed]
    return element("section", element("h2", kind.capitalize()), tools, note, empty, *entries, id="topics")


def _quality(model: Any, quality: Quality | None) -> Iterator[Markup]:
    """Render the quality measures as a table, and the history of the fit as line charts."""
    rows = list(_measures(quality)) if quality else []
    if rows:
        yield element("table", element("tbody", *rows))
    steps, name = history_of(model)
    watched = list(getattr(model, "heldout_path_", ()))
    charts = []
    if len(steps) > 1:
        charts.append(_line_chart(f"{name}, by iteration", range(1, len(steps) + 1), steps))
    if len(watched) > 1:
        name = "held-out perplexity, own prior, by iteration"
        charts.append(_line_chart(name, [w[0] for w in watched], [w[2] for w in watched]))
    if charts:
        yield element("div", *charts, class_="charts")
    if not rows and not charts:
        yield element("p", "No documents to evaluate on, and no history of the fit.")


def _measures(quality: Quality) -> Iterator[Markup]:
    if quality.perplexity is not None:
        name = "held-out perplexity, own prior" if quality.held_out else "perplexity, not held-out, own prior"
        note = "lower is better" if quality.held_out else "on the documents it was fitted to, hence optimistic; lower is better"
        yield _measure(name, f"{quality.perplexity:,.1f}", f"on {quality.documents:,} documents; {note}")
    mean = sum(quality.coherence) / len(quality.coherence)
    yield _measure("coherence (npmi)", f"{mean:.3f}", "mean co-occurrence of the top ten words in documents, from −1 to 1")
    yield _measure("diversity", f"{quality.diversity:.3f}", "fraction of distinct words among all top 25; 1 is best")


def _measure(name: str, value: str, note: str) -> Markup:
    return element("tr", element("th", name, scope="row"), element("td", value, class_="number"), element("td", note))


def _line_chart(name: str, x: Any, y: Any) -> Markup:
    return element("figure", element("h3", name), line(list(x), list(y), name), class_="chart")


def _about(model: Any, shown: ReportData) -> Markup:
    facts: dict[str, Any] = {"model": type(model).__name__}
    for name in ("n_iter_", "stopped_by_", "n_documents_seen_"):
        if hasattr(model, name):
            facts[name.strip("_").replace("n_iter", "iterations").replace("n_", "").replace("_", " ")] = getattr(model, name)
    facts |= {name: value for name, value in model.get_params(deep=False).items() if name not in ("engine", "verbose")}
    if fingerprint := getattr(model, "corpus_", {}).get("fingerprint"):
        facts["corpus fingerprint"] = fingerprint
    rows = [
        element("tr", element("th", name, scope="row"), element("td", _format_setting(value))) for name, value in facts.items()
    ]
    return element("section", element("h2", "Settings"), element("table", element("tbody", *rows)), id="about")


def _format_setting(value: Any) -> str:
    return f"array of shape {value.shape}" if hasattr(value, "shape") and np.ndim(value) else str(value)
