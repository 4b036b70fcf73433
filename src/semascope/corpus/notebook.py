"""HTML view of a corpus in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semascope.html import Markup, element

if TYPE_CHECKING:
    from semascope.corpus.corpus import Corpus

MAX_DOCUMENTS = 5
"""Number of documents shown."""
MAX_CHARACTERS = 120
"""Maximum number of characters shown of a text."""


def render_corpus(corpus: Corpus) -> Markup:
    """Render the size of a corpus, and its first documents as a table."""
    first = corpus.documents.head(MAX_DOCUMENTS)
    size = f"{corpus.n_documents:,} documents, {corpus.n_words:,} words, {corpus.n_tokens:,.0f} tokens"
    if corpus.lexicon.is_named:
        size += f" in {', '.join(corpus.languages)}"
    head = element("tr", *(element("th", name) for name in first.columns))
    rows = [element("tr", *(element("td", _plain(value)) for value in row)) for row in first.iter_rows()]
    table = element("table", element("thead", head), element("tbody", *rows))
    more = corpus.n_documents - len(first)
    return element(
        "div", element("p", element("b", "Corpus"), f" of {size}"), table, element("p", f"{more:,} more") if more else None
    )


def _plain(value: Any) -> str:
    """Format a value for a cell of the table."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_plain(part)}" for name, part in value.items() if part)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    text = str(value)
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1].rstrip() + "…"
