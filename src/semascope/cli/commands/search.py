"""semascope search INDEX QUERY"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semascope.cli.app import AsJson, IndexPath, command, standard_input
from semascope.cli.render.terminal import MAX_LINE_LENGTH, console, print_json, print_next_step, print_text, readable
from semascope.errors import InputError

if TYPE_CHECKING:
    from semascope.retrieval.index import Index
    from semascope.retrieval.results import Hit, Hits

STANDARD_INPUT = "-"
WITHOUT_LIMITS = ("label", "labels", "language")
"""Fields of which a document may have several values."""
STYLES = {"match": "bold", "related": "italic underline"}
"""How words of a snippet look."""


@command
def search(
    index: IndexPath,
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERY", help='What to look for, in any words; "-" reads queries, one a line, from standard input.'
        ),
    ] = None,
    like: Annotated[
        str | None, typer.Option(metavar="ID", help="Look for documents like this one, in place of a query.")
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Most documents to show.")] = 10,
    by: Annotated[
        str,
        typer.Option(
            help="What to go by: bm25 or cosine, the words; lsa, the meaning; kl, lda or fisher, the topics; hybrid, all of it."
        ),
    ] = "hybrid",
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD=VALUE",
            help="Only these documents: label=earn, language=de, date>=1987-03, date<=1987-10; may be repeated. Of several "
            "values of a field one is enough.",
        ),
    ] = None,
    language: Annotated[
        str | None, typer.Option(metavar="CODE", help="Language of the query, if the index has several.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the documents of INDEX that fit QUERY best, or are most like another."""
    if (query is None) == (like is None) or (like is not None and language is not None):
        message = "say what to look for: either QUERY, which may have a --language, or --like and the id of a document."
        raise typer.BadParameter(message)
    wanted = wanted_of(where or [])
    from semascope.retrieval.index import Index

    finder = Finder(Index.open(index), k, by, wanted, language)
    best: Hit | None = None
    if like is not None:
        best = _show(finder.like(like), as_json)
    elif query != STANDARD_INPUT:
        best = _show(finder.find(readable(query or "")), as_json)
    else:
        for text in _lines_of_standard_input():
            best = _show(finder.find(text), as_json, text) or best
    if best is not None and not as_json:
        print_next_step(["semascope", "search", index, "--like", best.id])


# --- what is wanted --------------------------------------------------------------------------------------------------------


def wanted_of(conditions: Sequence[str]) -> dict[str, Any] | None:
    """Return conditions as `Index.search` takes them.

    Examples
    --------
    >>> wanted_of(["label=earn", "year>=2001", "year<=2005", "author=Ann", "author=Bob"])
    {'label': 'earn', 'year': ('2001', '2005'), 'author': ['Ann', 'Bob']}
    """
    told: dict[str, dict[str, list[str]]] = {}
    for condition in conditions:
        parts = re.fullmatch(r"\s*([^<>=!]*[^<>=!\s])\s*(>=|<=|=)\s*([^<>=\s].*?)\s*", condition, re.DOTALL)
        if parts is None:
            message = f"--where takes FIELD=VALUE, FIELD>=VALUE or FIELD<=VALUE, not {condition!r}."
            raise typer.BadParameter(message)
        field, sign, value = parts.groups()
        told.setdefault(field, {}).setdefault(sign, []).append(value)
    return {field: _wanted(field, signs) for field, signs in told.items()} or None


def _wanted(field: str, signs: dict[str, list[str]]) -> Any:
    """The value or values of a field, or its limits."""
    if list(signs) == ["="]:
        return signs["="][0] if len(signs["="]) == 1 else signs["="]
    message = None
    if field in WITHOUT_LIMITS:
        message = f"--where takes {field}=VALUE: only other fields have limits."
    elif "=" in signs or any(len(values) > 1 for values in signs.values()):
        message = f"--where says of {field!r} both what it is and its limits, or a limit twice."
    if message:
        raise typer.BadParameter(message)
    return tuple(signs.get(sign, [None])[0] for sign in (">=", "<="))


def _lines_of_standard_input() -> Iterator[str]:
    """Queries, as they come; empty lines are none."""
    found = False
    for line in standard_input():
        if line.strip():
            found = True
            yield line.strip()
            sys.stdout.flush()  # whoever asks may wait for the answer
    if not found:
        message = "standard input: there are no queries; expected one on each line."
        raise InputError(message)


# --- finding it ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finder:
    """Searches an index, and says on standard error what could not be looked for."""

    index: Index
    k: int
    by: str
    where: dict[str, Any] | None
    language: str | None

    def find(self, query: str) -> Hits:
        """Find the documents that fit a query."""
        hits: Hits = self.index.search(query, self.k, by=self.by, where=self.where, language=self.language)
        if not hits:
            print_text(self._why_nothing(hits))
        elif hits.unknown_words:
            print_text(f"Not in the index: {', '.join(hits.unknown_words)}.")
        return hits

    def like(self, name: str) -> Hits:
        """Find the documents that are like one."""
        hits = self.index.similar(name, self.k, by=self.by, where=self.where)
        if not hits:
            why = "it has no words, or none in common with them"
            print_text(self._why_filtered() or f"No other document is like {name!r}: {why}.")
        return hits

    def _why_nothing(self, hits: Hits) -> str:
        unknown = hits.unknown_words
        if not hits.known_words:
            of_none = "The query has no words to look for: all are stop words, or too short."
            return f"None of the words is in the index: {', '.join(unknown)}." if unknown else of_none
        return self._why_filtered() or f"Nothing was found: no document fits the query by {self.by}."

    def _why_filtered(self) -> str | None:
        if self.where is None:
            return None
        if not self.index.matches(self.where):
            return "Nothing was found: no document is as --where wants it."
        return f"Nothing was found: none of the documents that --where wants fits by {self.by}."


# --- showing it ------------------------------------------------------------------------------------------------------------


def _show(hits: Sequence[Hit], as_json: bool, query: str | None = None) -> Hit | None:
    """Print what was found, under its query if there are several, and give the best."""
    if as_json:
        for hit in hits:
            print_json({**({} if query is None else {"query": query}), **hit.to_dict()})
        return None
    if query is not None:
        from semascope.cli.render.screen import Parts

        console().print(Parts((query, "bold cyan"), limit=MAX_LINE_LENGTH))
    if hits:
        console().print(_table(hits), soft_wrap=False)
    return hits[0] if hits else None


def _table(hits: Sequence[Hit]) -> Any:
    from rich.table import Table

    from semascope.cli.render.charts import Bar

    table = Table(box=None, header_style="bold", padding=(0, 1, 1, 0))
    table.add_column("", justify="right", style="dim")
    table.add_column("score", justify="right")
    table.add_column("", width=6)
    table.add_column("document", overflow="fold")
    best = hits[0].score
    for rank, hit in enumerate(hits, start=1):
        table.add_row(str(rank), f"{hit.score:.3f}", Bar(_share(hit.score, best)), _described(hit))
    return table


def _share(score: float, best: float) -> float:
    """How good a score is beside the best: as a share of it, or as likelihoods where scores are logarithms."""
    return max(score, 0.0) / best if best > 0 else math.exp(score - best)


def _described(hit: Hit) -> Any:
    """Id, title and labels on one line, and the passage on the next."""
    from rich.console import Group

    from semascope.cli.render.screen import Parts

    title = [hit.title] if hit.title else []
    labels = [Parts(*hit.labels, separator=", ", style="green")] if hit.labels else []
    told = Parts((hit.id, "bold cyan"), *title, *labels, separator="  ")
    if hit.snippet is None or not hit.snippet.text:
        return told
    passage = Parts(*((text, STYLES.get(kind or "", "")) for text, kind in hit.snippet.pieces()), limit=MAX_LINE_LENGTH)
    return Group(told, passage)
