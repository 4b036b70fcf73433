"""What a search gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semascope.markup import Markup, element, joined
from semascope.retrieval.snippets import Snippet


@dataclass(frozen=True)
class Hit:
    """A document that was found.

    id       its identifier
    title    its title, "" where it has none
    score    how well it fits, by the similarity that was asked for
    snippet  the passage that shows best why, where the index has texts
    labels   its labels
    """

    id: str
    title: str
    score: float
    snippet: Snippet | None = None
    labels: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain values."""
        plain: dict[str, Any] = {"id": self.id, "title": self.title, "score": self.score, "labels": list(self.labels)}
        if self.snippet is not None:
            plain["snippet"] = self.snippet.text
            plain["marks"] = [[mark.start, mark.end, mark.kind] for mark in self.snippet.marks]
        return plain


class Hits(list[Hit]):
    """Documents that were found, best first; a list that notebooks show as a table."""

    def _repr_html_(self) -> str:
        if not self:
            return element("p", "Nothing was found.")
        names = ("", "score", "document", "labels")
        head = element("tr", *(element("th", name) for name in names))
        rows = [_row(rank, hit) for rank, hit in enumerate(self, 1)]
        return element("table", element("thead", head), element("tbody", *rows))


def _row(rank: int, hit: Hit) -> Markup:
    about = element(
        "td", element("b", hit.title or hit.id), element("br"), None if hit.snippet is None else _marked(hit.snippet)
    )
    return element("tr", element("td", rank), element("td", f"{hit.score:.3g}"), about, element("td", ", ".join(hit.labels)))


def _marked(snippet: Snippet) -> Markup:
    """A passage with its marked words: those of the query, and slanted those near it in meaning."""
    tags = {"match": "mark", "related": "i"}
    return joined(piece if kind is None else element(tags[kind], piece) for piece, kind in snippet.pieces())
