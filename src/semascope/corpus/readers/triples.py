"""Tables of triples: a row name, a column name and a count per line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from semascope.corpus.readers.counts import CountOptions, Entries, Stream, valid_counts
from semascope.corpus.readers.files import BadRecords
from semascope.corpus.readers.record_fields import as_text, describe_fields
from semascope.corpus.readers.tables import Choose, Chunk, Chunks, Opener
from semascope.errors import SourceError


def open_triples(opener: Opener, path: Path, options: CountOptions, bad: BadRecords) -> Stream:
    """Open a file with a row name, a column name and a count per line."""
    return triples_of(opener(path, chooser_of_triples(options, str(path)), options.encoding, bad), options, str(path), bad)


def chooser_of_triples(options: CountOptions, source: str) -> Choose:
    """Return a function that selects the three columns."""

    def choose(there: Sequence[str]) -> list[str]:
        missing = next((name for name in options.triples if name not in there), None)
        if missing is not None:
            what_to_do = "Name the three columns with --triples (rows=, columns=, counts=)."
            msg = f"{source}: there is no column {missing!r}; {describe_fields(there, 'column')}. {what_to_do}"
            raise SourceError(msg)
        return list(options.triples)

    return choose


def triples_of(chunks: Chunks, options: CountOptions, source: str, bad: BadRecords) -> Stream:
    """Stream the entries of triples, numbering rows and columns in order of first appearance."""
    if options.vocabulary is not None:
        msg = f"{source}: a table of triples names its own words; leave out the vocabulary."
        raise SourceError(msg)
    rows, words = Names(), Names()
    stream = Stream(row_names=rows.names, words=words.names)

    def blocks() -> Iterator[Entries]:
        for chunk in chunks:
            row, word, count = _checked_triples(chunk, options.triples, source, bad)
            yield Entries(rows.numbers_of(row), words.numbers_of(word), count.to_numpy())
            stream.n_rows, stream.n_words = len(rows.names), len(words.names)

    stream.blocks = blocks()
    return stream


def _checked_triples(
    chunk: Chunk, names: tuple[str, str, str], source: str, bad: BadRecords
) -> tuple[pl.Series, pl.Series, pl.Series]:
    def text(name: str) -> pl.Expr:
        return as_text(pl.col(name), chunk.frame.schema[name], f"{source}: column {name!r}")

    row_name, word_name, count_name = names
    written = pl.col(count_name) if chunk.frame.schema[count_name].is_numeric() else text(count_name).str.strip_chars()
    triples = chunk.frame.select(row=text(row_name), word=text(word_name), count=written.cast(pl.Float64, strict=False))
    row, word, count = triples
    good = row.is_not_null() & word.is_not_null() & pl.Series(valid_counts(count.fill_null(-1).to_numpy()), dtype=pl.Boolean)
    for at in good.not_().arg_true():
        value = chunk.frame[count_name][at]
        problem = f"the count {value!r} is not a finite, non-negative number"
        if None in (row[at], word[at]):
            problem = f"there is no value in the column {(row_name if row[at] is None else word_name)!r}"
        bad.add(f"{source}, {chunk.where} {chunk.places[at]}: {problem}.")
    return row.filter(good), word.filter(good), count.filter(good)


class Names:
    """Names, numbered in order of first appearance."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def numbers_of(self, names: pl.Series) -> np.ndarray:
        """Return the number of each name; new names get the next numbers."""
        distinct = names.unique(maintain_order=True)
        for name in distinct:
            if self._numbers.setdefault(name, len(self.names)) == len(self.names):
                self.names.append(name)
        return names.replace_strict(distinct, [self._numbers[name] for name in distinct], return_dtype=pl.Int64).to_numpy()
