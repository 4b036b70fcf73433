"""Snippets: the passage of a hit that matches the query best, with matching and related words marked."""

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
"""Maximum number of related words marked in a snippet."""

MIN_COSINE = 0.4
"""Minimum cosine of related words."""

MAX_TERMS = 40
"""Maximum number of characteristic terms of a document."""


class NearestWords:
    """Nearest words of a query in LSA space."""

    def __init__(self, space: LSA) -> None:
        self._lexicon: Lexicon = space.require_lexicon()
        self._sizes = space.singular_values_.astype(np.float32)
        self._vectors = unit_vectors(space.components_.T * self._sizes)

    def words(self, vector: NDArray[np.float32], n: int, without: Collection[str]) -> list[tuple[str, float]]:
        """Return the words nearest to a vector in LSA space, with their cosines."""
        cosines = self._vectors @ unit_vectors(vector[None] * self._sizes)[0]
        n_candidates = min(n + len(without), len(cosines))
        best = np.argpartition(-cosines, n_candidates - 1)[:n_candidates]
        best = best[np.lexsort((best, -cosines[best]))]
        found = zip(self._lexicon.words[best].to_list(), cosines[best].tolist(), strict=True)
        return [(word, cosine) for word, cosine in found if word not in without and cosine > 0][:n]


class Highlighter:
    """Snippets of documents for a query.

    Parameters
    ----------
    query : dict of word to float
        Weights of the words of the query.
    near : callable
        Function that returns words near the query; called on the first text.
    """

    def __init__(self, query: Mapping[str, float], near: Callable[[], set[str]], analyzers: Analyzers | None) -> None:
        self._query, self._find_near = query, near
        self._related: set[str] | None = None
        self._analyzers = analyzers or Analyzer()

    def snippet(self, text: Any, language: str) -> Snippet | None:
        """Return the best passage of a text; of several languages, the one with most matches."""
        if text is None:
            return None
        if isinstance(text, str):
            return self._of_text(text, language)
        found = [self._of_text(part, language) for language, part in text.items() if part]
        return max(found, key=lambda one: sum(mark.kind == "match" for mark in one.marks), default=None)

    def _of_text(self, text: str, language: str) -> Snippet:
        return snippet_of(text, analyzer_of(self._analyzers, language), self._query, self._near)

    @property
    def _near(self) -> set[str]:
        if self._related is None:  # a cached property would serialize threads
            self._related = self._find_near()
        return self._related


def term_weights(query: CSR, words: CollectionStats) -> dict[str, float]:
    """Return the words of a query, weighted by rarity."""
    rarity = np.log1p(words.n_documents / np.maximum(words.documents[query.words], 1))
    return dict(zip(words.lexicon.words[query.words].to_list(), rarity.tolist(), strict=True))


def characteristic_terms(row: CSR, words: CollectionStats) -> CSR:
    """Return the terms of a document that are frequent in it and rare elsewhere."""
    rarity = np.log1p(words.n_documents / np.maximum(words.documents[row.words], 1))
    chosen = np.sort(np.argsort(-row.counts * rarity, kind="stable")[:MAX_TERMS])
    ends = np.array([0, len(chosen)])
    return CSR(
        as_read_only(ends, np.int64), as_read_only(row.words[chosen], np.int32), as_read_only(row.counts[chosen], np.float32)
    )


LENGTH = 30
"""Length of a snippet in words."""

LEAD = 4
"""Words before the first marked one."""

RELATED = 0.05
"""Weight of a related word; words of the query weigh by rarity, several times 1."""


@dataclass(frozen=True)
class Mark:
    """Marked range of characters in a snippet; `kind` is "match" for words of the query, else "related"."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Snippet:
    """Passage with marked words.

    Examples
    --------
    >>> Snippet("a cat sleeps", (Mark(2, 5, "match"), Mark(6, 12, "related"))).marked("[]", "()")
    'a [cat] (sleeps)'
    """

    text: str
    marks: tuple[Mark, ...] = ()

    def marked(self, match: str = "«»", related: str = "‹›") -> str:
        """Return the text with delimiters around marked words."""
        signs = {None: ("", ""), "match": match, "related": related}
        return "".join(f"{signs[kind][0]}{piece}{signs[kind][1]}" for piece, kind in self.pieces())

    def pieces(self) -> Iterator[tuple[str, str | None]]:
        """Yield the text in pieces, each with the kind of its mark, or None if unmarked."""
        at = 0
        for mark in self.marks:
            yield self.text[at : mark.start], None
            yield self.text[mark.start : mark.end], mark.kind
            at = mark.end
        yield self.text[at:], None


def snippet_of(text: str, analyzer: Analyzer, query: Mapping[str, float], related: Collection[str]) -> Snippet:
    """Find the passage that matches a query best.

    Parameters
    ----------
    query : mapping of word to float
        Weights of the words of the query, as in the index.
    related : collection of str
        Words related to the query.
    """
    text = text.strip()
    found = tokens_of(text, analyzer)
    if not found:
        return Snippet(" ".join(text.split()[:LENGTH]))
    best = _best_window(found.words, query, related)
    start, end = passage(text, found, best, LENGTH)
    marks = [
        Mark(token.start, token.end, "match" if token.word in query else "related")
        for token in found[best : best + LENGTH]
        if token.word in query or token.word in related
    ]
    return tidy(text, start, end, marks)


def _best_window(words: Sequence[str], query: Mapping[str, float], related: Collection[str]) -> int:
    """Return the start of the passage with most distinct words of the query, then with most related words.

    It begins a few words before the first match, or such that it ends with the text.
    """
    positions = [position for position, word in enumerate(words) if word in query or word in related]
    best, best_weight, last = 0, 0.0, 0
    for number, first in enumerate(positions):
        while last < len(positions) and positions[last] < first + LENGTH - LEAD:
            last += 1
        different = dict.fromkeys(words[position] for position in positions[number:last])
        if (total := sum(query.get(word, RELATED) for word in different)) > best_weight:
            best, best_weight = first, total
    return max(min(best - LEAD, len(words) - LENGTH), 0)


def tidy(text: str, start: int, end: int, marks: list[Mark]) -> Snippet:
    """Extract the passage, with whitespace collapsed and ellipses where the text continues."""
    pieces: list[str] = ["… "] if start > 0 else []
    shifted, at, length = [], start, len(pieces[0]) if pieces else 0

    def add(piece: str) -> int:
        nonlocal length
        flat = re.sub(r"\s+", " ", piece)
        pieces.append(flat)
        length += len(flat)
        return length

    for mark in marks:
        first = add(text[at : mark.start])
        shifted.append(Mark(first, add(text[mark.start : mark.end]), mark.kind))
        at = mark.end
    add(text[at:end])
    if end < len(text):
        pieces.append(" …")
    return Snippet("".join(pieces), tuple(shifted))
