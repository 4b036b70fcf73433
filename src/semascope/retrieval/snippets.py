"""The passage of a document that shows best why it was found."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
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
        signs = {"match": match, "related": related}
        pieces, at = [], 0
        for mark in self.marks:
            around = signs[mark.kind]
            pieces += [self.text[at : mark.start], around[0], self.text[mark.start : mark.end], around[1]]
            at = mark.end
        return "".join([*pieces, self.text[at:]])


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
    words = [token.word for token in found]
    best = _best_window(words, asked, related)
    if not found:
        return Snippet(" ".join(text.split()[:LENGTH]))
    start, end = passage(text, found, best, LENGTH)
    marks = [
        Mark(token.start, token.end, "match" if token.word in asked else "related")
        for token in found[best : best + LENGTH]
        if token.word in asked or token.word in related
    ]
    return tidied(text, start, end, marks)


def _best_window(words: list[str], asked: Mapping[str, float], related: Collection[str]) -> int:
    """Where the best passage begins: with most of the different words that were asked for, then with most that are related.

    It begins a few words before the first of them, or so that it ends with the text.
    """
    worth = [asked.get(word, RELATED if word in related else 0.0) for word in words]
    best, best_worth = 0, 0.0
    for first in (number for number, value in enumerate(worth) if value > 0):
        window = {words[i]: worth[i] for i in range(first, min(first + LENGTH - LEAD, len(words)))}
        if (total := sum(window.values())) > best_worth:
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
