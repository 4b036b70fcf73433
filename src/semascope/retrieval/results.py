"""Search results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.html import Markup, element, joined
from semascope.retrieval.highlighting import Snippet
from semascope.retrieval.lexical import CollectionStats

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Hit:
    """Document found by a search.

    id       identifier
    title    title, or ""
    score    score by the similarity of the search
    snippet  best passage, if the index has texts
    labels   labels
    """

    id: str
    title: str
    score: float
    snippet: Snippet | None = None
    labels: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        plain: dict[str, Any] = {"id": self.id, "title": self.title, "score": self.score, "labels": list(self.labels)}
        if self.snippet is not None:
            plain["snippet"] = self.snippet.text
            plain["marks"] = [[mark.start, mark.end, mark.kind] for mark in self.snippet.marks]
        return plain


@dataclass(frozen=True, eq=False)
class QueryWords:
    """Words of a query.

    numbers  int32[m], numbers of the known words
    words    words of the index at the time of the search
    unknown  unknown words
    """

    numbers: NDArray[np.int32]
    words: CollectionStats
    unknown: list[str]


class Hits(list[Hit]):
    """List of hits, best first, which notebooks show as a table.

    Attributes
    ----------
    query : QueryWords or None
        Words of the query, as used by `Index.explain`.

    Examples
    --------
    >>> from semascope import Corpus, Index
    >>> index = Index.build(Corpus.from_texts(["cats purr", "dogs bark"]))
    >>> hits = index.search("purring cats", by="bm25")
    >>> hits.known_words, hits.unknown_words
    (['cats'], ['purring'])
    """

    def __init__(self, hits: Iterable[Hit] = (), query: QueryWords | None = None) -> None:
        super().__init__(hits)
        self.query = query

    @property
    def known_words(self) -> list[str]:
        """Words of the query that the index knows."""
        return [] if self.query is None else self.query.words.lexicon.words[self.query.numbers].to_list()

    @property
    def unknown_words(self) -> list[str]:
        """Words of the query that are in no document."""
        return [] if self.query is None else list(self.query.unknown)

    def _repr_html_(self) -> str:
        if not self:
            return element("p", "Nothing was found.")
        names = ("", "score", "document", "labels")
        head = element("tr", *(element("th", name) for name in names))
        rows = [_row(rank, hit) for rank, hit in enumerate(self, 1)]
        return element("table", element("thead", head), element("tbody", *rows))


def _row(rank: int, hit: Hit) -> Markup:
    about = element(
        "td", element("b", hit.title or hit.id), element("br"), None if hit.snippet is None else _snippet_markup(hit.snippet)
    )
    return element("tr", element("td", rank), element("td", f"{hit.score:.3g}"), about, element("td", ", ".join(hit.labels)))


def _snippet_markup(snippet: Snippet) -> Markup:
    """Return a passage as markup: words of the query marked, related words in italics."""
    tags = {"match": "mark", "related": "i"}
    return joined(piece if kind is None else element(tags[kind], piece) for piece, kind in snippet.pieces())
