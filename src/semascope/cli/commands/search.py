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
"""Fields that may have several values per document."""
STYLES = {"match": "bold", "related": "italic underline"}
"""Styles of the words of a snippet."""


@command
def search(
    index: IndexPath,
    query: Annotated[
        str | None,
        typer.Argument(metavar="QUERY", help='Query text; "-" reads queries from standard input, one per line.'),
    ] = None,
    like: Annotated[
        str | None, typer.Option(metavar="ID", help="Search for documents similar to this one instead of a query.")
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Maximum number of documents.")] = 10,
    by: Annotated[
        str,
        typer.Option(
            help="Similarity: bm25 or cosine (words), lsa (meaning), kl, lda or fisher (topics), hybrid (all combined)."
        ),
    ] = "hybrid",
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD=VALUE",
            help="Filter documents: label=earn, language=de, date>=1987-03, date<=1987-10; may be repeated. Several "
            "values of a field are alternatives.",
        ),
    ] = None,
    language: Annotated[
        str | None, typer.Option(metavar="CODE", help="Language of the query, for a multilingual index.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Search INDEX for the documents that best match QUERY, or are most similar to another document."""
    if (query is None) == (like is None) or (like is not None and language is not None):
        message = "expected either QUERY, optionally with --language, or --like with a document id."
        raise typer.BadParameter(message)
    conditions = parse_conditions(where or [])
    from semascope.retrieval.index import Index

    finder = Finder(Index.open(index), k, by, conditions, language)
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


# --- conditions ------------------------------------------------------------------------------------------------------------


def parse_conditions(conditions: Sequence[str]) -> dict[str, Any] | None:
    """Parse conditions into the filter of `Index.search`.

    Examples
    --------
    >>> parse_conditions(["label=earn", "year>=2001", "year<=2005", "author=Ann", "author=Bob"])
    {'label': 'earn', 'year': ('2001', '2005'), 'author': ['Ann', 'Bob']}
    """
    signs_of: dict[str, dict[str, list[str]]] = {}
    for condition in conditions:
        parts = re.fullmatch(r"\s*([^<>=!]*[^<>=!\s])\s*(>=|<=|=)\s*([^<>=\s].*?)\s*", condition, re.DOTALL)
        if parts is None:
            message = f"--where takes FIELD=VALUE, FIELD>=VALUE or FIELD<=VALUE, not {condition!r}."
            raise typer.BadParameter(message)
        field, sign, value = parts.groups()
        signs_of.setdefault(field, {}).setdefault(sign, []).append(value)
    return {field: _parse_values(field, signs) for field, signs in signs_of.items()} or None


def _parse_values(field: str, signs: dict[str, list[str]]) -> Any:
    """Return the value, the values or the limits of a field."""
    if list(signs) == ["="]:
        return signs["="][0] if len(signs["="]) == 1 else signs["="]
    message = None
    if field in WITHOUT_LIMITS:
        message = f"--where takes {field}=VALUE; {field} has no limits."
    elif "=" in signs or any(len(values) > 1 for values in signs.values()):
        message = f"--where combines a value and limits of {field!r}, or repeats a limit."
    if message:
        raise typer.BadParameter(message)
    return tuple(signs.get(sign, [None])[0] for sign in (">=", "<="))


def _lines_of_standard_input() -> Iterator[str]:
    """Yield queries from standard input; empty lines are skipped."""
    found = False
    for line in standard_input():
        if line.strip():
            found = True
            yield line.strip()
            sys.stdout.flush()  # the client may wait for the answer
    if not found:
        message = "standard input: no queries; expected one per line."
        raise InputError(message)


# --- searching -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finder:
    """Index search that reports unknown words and empty results on standard error."""

    index: Index
    k: int
    by: str
    where: dict[str, Any] | None
    language: str | None

    def find(self, query: str) -> Hits:
        """Search for a query."""
        hits: Hits = self.index.search(query, self.k, by=self.by, where=self.where, language=self.language)
        if not hits:
            print_text(self._why_nothing(hits))
        elif hits.unknown_words:
            print_text(f"Not in the index: {', '.join(hits.unknown_words)}.")
        return hits

    def like(self, name: str) -> Hits:
        """Search for documents similar to one."""
        hits = self.index.similar(name, self.k, by=self.by, where=self.where)
        if not hits:
            print_text(self._why_filtered() or f"No document is similar to {name!r}: they have no words in common.")
        return hits

    def _why_nothing(self, hits: Hits) -> str:
        unknown = hits.unknown_words
        if not hits.known_words:
            of_none = "The query has no searchable words: all are stop words or too short."
            return f"No word of the query is in the index: {', '.join(unknown)}." if unknown else of_none
        return self._why_filtered() or f"No results: no document matches the query by {self.by}."

    def _why_filtered(self) -> str | None:
        if self.where is None:
            return None
        if not self.index.matches(self.where):
            return "No results: no document matches --where."
        return f"No results: no document that matches --where also matches by {self.by}."


# --- printing --------------------------------------------------------------------------------------------------------------


def _show(hits: Sequence[Hit], as_json: bool, query: str | None = None) -> Hit | None:
    """Print the hits, under their query if there are several, and return the best."""
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
    """Return a score relative to the best: as a ratio, or of likelihoods if scores are logarithms."""
    return max(score, 0.0) / best if best > 0 else math.exp(score - best)


def _described(hit: Hit) -> Any:
    """Return id, title and labels on one line, and the passage on the next."""
    from rich.console import Group

    from semascope.cli.render.screen import Parts

    title = [hit.title] if hit.title else []
    labels = [Parts(*hit.labels, separator=", ", style="green")] if hit.labels else []
    header = Parts((hit.id, "bold cyan"), *title, *labels, separator="  ")
    if hit.snippet is None or not hit.snippet.text:
        return header
    passage = Parts(*((text, STYLES.get(kind or "", "")) for text, kind in hit.snippet.pieces()), limit=MAX_LINE_LENGTH)
    return Group(header, passage)
