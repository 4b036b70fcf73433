"""Iteration over the documents of a source: all of them, or as many as a table shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from semascope.cli.app import pluralize, report_bad
from semascope.cli.render.terminal import console, print_text

if TYPE_CHECKING:
    import polars as pl

    from semascope.corpus.readers.sources import Documents


class DocumentBlocks:
    """Iterator over blocks of documents with their ids; it also counts documents beyond the limit.

    Parameters
    ----------
    source : str
        Name of the source.
    documents : Documents
        Result of `read`.
    limit : int, optional
        Maximum number of documents; all by default.
    """

    def __init__(self, source: str, documents: Documents, limit: int | None) -> None:
        self._source, self._documents, self._limit = source, documents, limit
        self._n = 0

    def __iter__(self) -> Iterator[tuple[list[str], pl.DataFrame]]:
        from semascope.corpus.fields import default_ids

        for block in self._documents:
            left = len(block) if self._limit is None else max(self._limit - self._n, 0)
            selected = default_ids(block, self._n).head(left)
            self._n += len(block)
            if len(selected):
                yield selected["id"].to_list(), selected

    def report_problems(self, n_unknown: int) -> None:
        """Print the bad records and the number of documents without known words; exit if there are no documents."""
        report_bad(self._documents.bad)
        if n_unknown:
            print_text(f"No word of the model's vocabulary in {pluralize(n_unknown, 'document')}.")
        if self._n == 0:
            print_text(f"semascope: {self._source}: no documents.")
            raise typer.Exit(code=1)

    def report_omitted(self) -> None:
        """Print the number of documents omitted from the table."""
        if self._limit is not None and self._n > self._limit:
            console().print(f"and {self._n - self._limit:,} more documents", style="dim")
