"""Documents of a source that a model is asked about: all of them, or as many as a table shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from semascope.cli.app import pluralize, report_bad
from semascope.cli.render.terminal import console, print_text

if TYPE_CHECKING:
    import polars as pl

    from semascope.corpus.readers.sources import Documents


class EachDocument:
    """Gives documents block by block with their ids, and counts those that are not shown too.

    Parameters
    ----------
    source : str
        Where they are from.
    documents : Documents
        What `read` gave.
    limit : int, optional
        How many to give; all by default.
    """

    def __init__(self, source: str, documents: Documents, limit: int | None) -> None:
        self._source, self._documents, self._limit = source, documents, limit
        self._n = 0

    def __iter__(self) -> Iterator[tuple[list[str], pl.DataFrame]]:
        from semascope.corpus.fields import default_ids

        for block in self._documents:
            left = len(block) if self._limit is None else max(self._limit - self._n, 0)
            wanted = default_ids(block, self._n).head(left)
            self._n += len(block)
            if len(wanted):
                yield wanted["id"].to_list(), wanted

    def say_what_is_wrong(self, n_unknown: int) -> None:
        """Tell of bad records, and of how many documents a model knows no word; a source without documents is an error."""
        report_bad(self._documents.bad)
        if n_unknown:
            them = "it" if n_unknown == 1 else "them"
            print_text(f"The model knows no word of {pluralize(n_unknown, 'document')}: nothing can be said of {them}.")
        if self._n == 0:
            print_text(f"semascope: {self._source}: there are no documents.")
            raise typer.Exit(code=1)

    def say_how_many_more(self) -> None:
        """Tell how many documents the table leaves out."""
        if self._limit is not None and self._n > self._limit:
            console().print(f"and {self._n - self._limit:,} more documents", style="dim")
