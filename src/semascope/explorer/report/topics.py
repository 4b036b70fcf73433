"""Topics of the report: one collapsible entry each, with words, documents, periods and related topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semascope.explorer.queries.document_topics import DocumentShares
from semascope.explorer.queries.views import document_title, over_time, passage_for, related_topics, typical_documents
from semascope.explorer.report.svg import share_over_time
from semascope.html import Markup, element
from semascope.models.display.topic_view import RelevantWord, TopicView
from semascope.models.registry import LABELS
from semascope.retrieval.highlighting import Snippet

FREQUENT, DISTINCTIVE = 1.0, 0.3
"""Relevance λ of the two word lists."""
WORDS, WORDS_OF_LANGUAGE = 20, 12
GIST = 9
"""Number of words in the summary of a topic."""
DOCUMENTS = 3
RELATED = 5
MAX_LETTERS = 160
"""Maximum number of letters of a title."""


@dataclass(frozen=True)
class ReportData:
    """Data of a report: a model, its topics, and its documents if available.

    coherence   npmi of each topic, if known
    listed      topics of the report, largest first
    """

    model: Any
    themes: TopicView
    shares: DocumentShares | None
    coherence: tuple[float, ...]
    listed: tuple[int, ...]


def topic_entry(shown: ReportData, topic: int) -> Markup:
    """Render a topic, collapsed to its name, top words and share."""
    themes, largest = shown.themes, max(float(shown.themes.shares.max()), 1e-300)
    gist = " ".join(themes.top_words(topic, GIST, themes.main_language))
    summary = element(
        "summary",
        element("span", element("bdi", themes.names[topic], class_="name"), element("bdi", gist, class_="gist")),
        element("span", filled(themes.shares[topic] / largest), class_="track", aria_hidden="true"),
        element("span", f"{themes.shares[topic]:.1%}", class_="share"),
    )
    aside = element("div", _time(shown, topic), _related(shown, topic), class_="aside")
    parts = [_words(themes, topic), _documents(shown, topic), aside, _facts(shown, topic)]
    return element("details", summary, element("div", *parts, class_="inside"), class_="topic", id=f"topic-{topic}")


def filled(part: float) -> Markup:
    """Render a bar with one of the CSS classes w0 to w100."""
    return element("i", class_=f"w{round(100 * min(max(part, 0.0), 1.0))}")


def _words(themes: TopicView, topic: int) -> Markup:
    """Render the most frequent and the most distinctive words, side by side for several languages."""
    columns = []
    for language in themes.languages or (None,):
        n = WORDS_OF_LANGUAGE if language else WORDS
        for relevance, kind in ((FREQUENT, "frequent"), (DISTINCTIVE, "distinctive")):
            name = f"{language}, {kind}" if language else f"most {kind}"
            columns.append(_word_list(name, themes.relevant_words(topic, relevance, n, language)))
    return element("section", element("div", *columns, class_="columns"), class_="whole" if themes.languages else None)


def _word_list(name: str, words: list[RelevantWord]) -> Markup:
    most = max((word.probability for word in words), default=1.0)
    rows = [
        element(
            "li",
            filled(word.probability / most),
            element("bdi", word.word),
            title=f"{word.probability:.2%}, {word.lift:.1f} × the overall probability",
        )
        for word in words
    ]
    return element("div", element("h3", name), element("ol", *rows, class_="words"))


def _documents(shown: ReportData, topic: int) -> Markup | None:
    if shown.shares is None:
        return None
    rows = []
    for found in typical_documents(shown.model, shown.shares, topic, DOCUMENTS):
        title = document_title(shown.shares.corpus, found.document)
        passage = passage_for(shown.themes, shown.shares.corpus, found.document, topic)
        named = element("b", element("bdi", title if len(title) <= MAX_LETTERS else title[: MAX_LETTERS - 1] + "…"))
        rows.append(
            element("li", named, " ", element("small", f"{found.share:.0%}"), passage and element("p", marked(passage)))
        )
    return (
        element(
            "section",
            element("h3", f"typical documents, with the share of this {shown.themes.kind[:-1]}"),
            element("ul", *rows, class_="typical"),
        )
        if rows
        else None
    )


def marked(passage: Snippet) -> Markup:
    """Render a passage with its distinctive words marked."""
    return element("bdi", *(piece if kind is None else element("mark", piece) for piece, kind in passage.pieces()))


def _time(shown: ReportData, topic: int) -> Markup | None:
    moments = [] if shown.shares is None else over_time(shown.model, shown.shares, topic)
    if not moments:
        return None
    return element("section", element("h3", "share over time"), element("div", share_over_time(moments), class_="chart"))


def _related(shown: ReportData, topic: int) -> Markup | None:
    themes, rows = shown.themes, []
    for other, likeness in related_topics(themes, topic, RELATED):
        words = None if themes.named[other] else ", ".join(themes.top_words(other, 4, themes.main_language))
        name = element("bdi", themes.names[other])
        link = element("a", name, href=f"#topic-{other}") if other in shown.listed else name
        rows.append(element("li", link, words and element("bdi", f" {words}"), " ", element("small", f"{likeness:.2f}")))
    return element("section", element("h3", f"related {themes.kind}"), element("ul", *rows, class_="related")) if rows else None


def _facts(shown: ReportData, topic: int) -> Markup | None:
    """Render further facts about a topic in a sentence."""
    facts = []
    if shown.shares is not None:
        n = int(shown.shares.documents_of_topics[topic])
        verb = "have this label" if shown.themes.kind == LABELS else "have it as their largest topic"
        facts.append(f"{n:,} of {len(shown.shares.numbers):,} documents {verb}")
    if shown.coherence:
        facts.append(f"coherence (npmi) {shown.coherence[topic]:.2f}")
    return element("p", "; ".join(facts) + ".", class_="note whole") if facts else None
