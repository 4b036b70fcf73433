"""The passage of a document that shows best why it was found."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from semascope.corpus.analyze import Analyzer
from semascope.corpus.passages import passage, tokens_of

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
        """Give the text with signs around marked words."""
        signs = {None: ("", ""), "match": match, "related": related}
        return "".join(f"{signs[kind][0]}{piece}{signs[kind][1]}" for piece, kind in self.pieces())

    def pieces(self) -> Iterator[tuple[str, str | None]]:
        """Give the text in pieces, each with the kind of its mark, or None where it is not marked."""
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
    return tidied(text, start, end, marks)


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


def tidied(text: str, start: int, end: int, marks: list[Mark]) -> Snippet:
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
