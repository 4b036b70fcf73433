"""Why a document was found: the passage that shows it best, with words of the query and words near them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.csr import CSR
from semascope.corpus.lexicon import Lexicon
from semascope.corpus.shards import as_read_only
from semascope.corpus.text.analyzer import Analyzer, Analyzers, analyzer_of
from semascope.corpus.text.token_spans import passage, tokens_of
from semascope.models.lsa import LSA
from semascope.retrieval.lexical import CollectionStats
from semascope.retrieval.lsa_space import unit_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray


MAX_RELATED = 40
"""Words near a query that are marked in a snippet."""

NEAR = 0.4
"""The least cosine of words that are called near."""

TELLING = 40
"""Words of a document that stand for it when others like it are looked for."""


class Near:
    """Finds words near a query, in the space of an index."""

    def __init__(self, space: LSA) -> None:
        self._lexicon: Lexicon = space.require_lexicon()
        self._sizes = space.singular_values_.astype(np.float32)
        self._vectors = unit_vectors(space.components_.T * self._sizes)

    def words(self, place: NDArray[np.float32], n: int, without: Collection[str]) -> list[tuple[str, float]]:
        """Return the words nearest to a place in the space, with their cosines."""
        cosines = self._vectors @ unit_vectors(place[None] * self._sizes)[0]
        n_looked_at = min(n + len(without), len(cosines))
        best = np.argpartition(-cosines, n_looked_at - 1)[:n_looked_at]
        best = best[np.lexsort((best, -cosines[best]))]
        found = zip(self._lexicon.words[best].to_list(), cosines[best].tolist(), strict=True)
        return [(word, cosine) for word, cosine in found if word not in without and cosine > 0][:n]


class Highlighter:
    """Shows documents that were found for a query.

    Parameters
    ----------
    asked : dict of word to float
        The words of the query, and what each is worth.
    near : callable
        Gives words near the query; called when there is a text to mark them in.
    """

    def __init__(self, asked: Mapping[str, float], near: Callable[[], set[str]], analyzers: Analyzers | None) -> None:
        self._asked, self._find_near = asked, near
        self._found: set[str] | None = None
        self._analyzers = analyzers or Analyzer()

    def snippet(self, text: Any, language: str) -> Snippet | None:
        """Return the passage of a text that shows best why it was found; of several languages, that with most of the query."""
        if text is None:
            return None
        if isinstance(text, str):
            return self._of_text(text, language)
        found = [self._of_text(part, language) for language, part in text.items() if part]
        return max(found, key=lambda one: sum(mark.kind == "match" for mark in one.marks), default=None)

    def _of_text(self, text: str, language: str) -> Snippet:
        return snippet_of(text, analyzer_of(self._analyzers, language), self._asked, self._near)

    @property
    def _near(self) -> set[str]:
        if self._found is None:  # a cached property would have all threads wait for each other
            self._found = self._find_near()
        return self._found


def term_weights(query: CSR, words: CollectionStats) -> dict[str, float]:
    """The words of a query, and how rare each is."""
    rarity = np.log1p(words.n_documents / np.maximum(words.documents[query.words], 1))
    return dict(zip(words.lexicon.words[query.words].to_list(), rarity.tolist(), strict=True))


def characteristic_terms(row: CSR, words: CollectionStats) -> CSR:
    """The words that tell most of a document: those that it has often and others seldom."""
    rarity = np.log1p(words.n_documents / np.maximum(words.documents[row.words], 1))
    chosen = np.sort(np.argsort(-row.counts * rarity, kind="stable")[:TELLING])
    ends = np.array([0, len(chosen)])
    return CSR(
        as_read_only(ends, np.int64), as_read_only(row.words[chosen], np.int32), as_read_only(row.counts[chosen], np.float32)
    )


LENGTH = 30
"""Words of a snippet."""

LEAD = 4
"""Words of it before the first that is marked."""

RELATED = 0.05
"""What a word that is related to the query is worth, where one that is in it is worth its rarity, several times 1."""


@dataclass(frozen=True)
class Mark:
    """A word of a snippet, from one character up to another: in the query ("match"), or near it in meaning ("related")."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Snippet:
    """A passage with marked words.

    Examples
    --------
    >>> Snippet("a cat sleeps", (Mark(2, 5, "match"), Mark(6, 12, "related"))).marked("[]", "()")
    'a [cat] (sleeps)'
    """

    text: str
    marks: tuple[Mark, ...] = ()

    def marked(self, match: str = "«»", related: str = "‹›") -> str:
        """Return the text with signs around marked words."""
        signs = {None: ("", ""), "match": match, "related": related}
        return "".join(f"{signs[kind][0]}{piece}{signs[kind][1]}" for piece, kind in self.pieces())

    def pieces(self) -> Iterator[tuple[str, str | None]]:
        """Return the text in pieces, each with the kind of its mark, or None where it is not marked."""
        at = 0
        for mark in self.marks:
            yield self.text[at : mark.start], None
            yield self.text[mark.start : mark.end], mark.kind
            at = mark.end
        yield self.text[at:], None


def snippet_of(text: str, analyzer: Analyzer, asked: Mapping[str, float], related: Collection[str]) -> Snippet:
    """Find the passage that holds most of what was asked for.

    Parameters
    ----------
    asked : mapping of word to float
        The words of the query, as the index has them, and what each is worth.
    related : collection of str
        Words that are near the query in meaning.
    """
    text = text.strip()
    found = tokens_of(text, analyzer)
    if not found:
        return Snippet(" ".join(text.split()[:LENGTH]))
    best = _best_window(found.words, asked, related)
    start, end = passage(text, found, best, LENGTH)
    marks = [
        Mark(token.start, token.end, "match" if token.word in asked else "related")
        for token in found[best : best + LENGTH]
        if token.word in asked or token.word in related
    ]
    return tidy(text, start, end, marks)


def _best_window(words: Sequence[str], asked: Mapping[str, float], related: Collection[str]) -> int:
    """Where the best passage begins: with most of the different words that were asked for, then with most that are related.

    It begins a few words before the first of them, or so that it ends with the text.
    """
    places = [place for place, word in enumerate(words) if word in asked or word in related]
    best, best_worth, last = 0, 0.0, 0
    for number, first in enumerate(places):
        while last < len(places) and places[last] < first + LENGTH - LEAD:
            last += 1
        different = dict.fromkeys(words[place] for place in places[number:last])
        if (total := sum(asked.get(word, RELATED) for word in different)) > best_worth:
            best, best_worth = first, total
    return max(min(best - LEAD, len(words) - LENGTH), 0)


def tidy(text: str, start: int, end: int, marks: list[Mark]) -> Snippet:
    """Cut the passage out, with one blank for any run of blanks, and dots where the text goes on."""
    pieces: list[str] = ["… "] if start > 0 else []
    moved, at, length = [], start, len(pieces[0]) if pieces else 0

    def add(piece: str) -> int:
        nonlocal length
        flat = re.sub(r"\s+", " ", piece)
        pieces.append(flat)
        length += len(flat)
        return length

    for mark in marks:
        first = add(text[at : mark.start])
        moved.append(Mark(first, add(text[mark.start : mark.end]), mark.kind))
        at = mark.end
    add(text[at:end])
    if end < len(text):
        pieces.append(" …")
    return Snippet("".join(pieces), tuple(moved))
