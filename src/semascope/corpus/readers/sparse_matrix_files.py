"""Sparse matrix files with lines of row, column and count: UCI bags of words and MatrixMarket.

Blocks of lines are parsed in bulk, and line by line if they have irregularities.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl

from semascope.corpus.readers.counts import (
    MAX_NUMBER,
    MAX_UNNAMED,
    CountOptions,
    Entries,
    Stream,
    as_count,
    as_whole,
    valid_counts,
)
from semascope.corpus.readers.files import POLARS_REFUSES, BadRecords, blocks_of_lines, encoding_of
from semascope.corpus.readers.vocabularies import NumberedWords
from semascope.errors import SourceError


@dataclass(frozen=True)
class Shape:
    """Header of a file whose entries are lines of row, column and count, numbered from 1."""

    row: str
    word: str
    n_rows: int
    n_words: int
    n_entries: int
    has_counts: bool = True

    def entry(self, line: bytes) -> tuple[int, int, float]:
        """Parse a line; ValueError gives the reason."""
        cells = line.split()
        if len(cells) != 2 + self.has_counts:
            what = f"a {self.row}, a {self.word} and a count" if self.has_counts else f"a {self.row} and a {self.word}"
            msg = f"expected {what}, found {len(cells)} values"
            raise ValueError(msg)
        row, word = as_whole(cells[0], self.row, 1, self.n_rows), as_whole(cells[1], self.word, 1, self.n_words)
        return row, word, as_count(cells[2]) if self.has_counts else 1.0

    def fits(self, entries: Entries) -> bool:
        """Return whether all numbers are within bounds."""
        rows, words, counts = entries
        within = (rows >= 1) & (rows <= self.n_rows) & (words >= 1) & (words <= self.n_words)
        return bool(np.all(within & valid_counts(counts)))


def open_uci(path: Path, options: CountOptions, bad: BadRecords) -> Stream:
    """Open a UCI bag of words: the numbers of documents, words and entries, then entries; words may be in a file beside it."""
    if options.vocabulary is None:
        options = CountOptions(_vocabulary_beside(path), encoding=options.encoding)
    header, blocks = _header(path, options.encoding, lambda lines: sum(map(bool, lines)) == 3)
    numbers = [line for line in header if line]
    if len(numbers) < 3:
        msg = f"{path}: expected the numbers of documents, words and entries on the first three lines; the file is cut short."
        raise SourceError(msg)
    shape = Shape("document", "word", *_sizes(path, len(header), numbers))
    return _stream(path, shape, options, blocks, len(header) + 1, bad)


def _vocabulary_beside(path: Path) -> Path | None:
    if not path.name.startswith("docword"):
        return None
    name = path.name.replace("docword", "vocab", 1).removesuffix(".gz")
    return next((found for found in (path.with_name(name), path.with_name(name + ".gz")) if found.is_file()), None)


def open_matrix_market(path: Path, options: CountOptions, bad: BadRecords) -> Stream:
    """Open a MatrixMarket coordinate file: documents × words."""
    header, blocks = _header(
        path, options.encoding, lambda lines: len(lines) > 1 and bool(lines[-1]) and not lines[-1].startswith("%")
    )
    kind = header[0].lower().split() if header else []
    if len(kind) != 5 or kind[:2] != ["%%matrixmarket", "matrix"]:
        msg = f"{path}, line 1: expected %%MatrixMarket matrix coordinate …; this is not a MatrixMarket file."
        raise SourceError(msg)
    if kind[2] != "coordinate" or kind[3] not in ("real", "integer", "pattern") or kind[4] != "general":
        expected = "coordinate, then real, integer or pattern, then general"
        msg = f"{path}, line 1: expected {expected}; found {' '.join(kind[2:])}: save the matrix again in that form."
        raise SourceError(msg)
    sizes = header[-1].split()
    if len(sizes) != 3 or len(header) == 1:
        msg = f"{path}, line {len(header)}: expected the numbers of rows, columns and entries."
        raise SourceError(msg)
    shape = Shape("row", "column", *_sizes(path, len(header), sizes), has_counts=kind[3] != "pattern")
    return _stream(path, shape, options, blocks, len(header) + 1, bad)


def _header(path: Path, encoding: str | None, is_whole: Callable[[list[str]], bool]) -> tuple[list[str], Iterator[bytes]]:
    """Read the lines of the header; return them, and the blocks of the rest of the file."""
    lines: list[str] = []
    blocks = blocks_of_lines(path, encoding_of(path, encoding))
    for block in blocks:
        start = 0
        while start < len(block):
            end = block.index(b"\n", start) + 1
            lines.append(block[start:end].decode("utf-8", "replace").strip())
            start = end
            if is_whole(lines):
                return lines, chain([block[start:]], blocks)
    return lines, iter(())


def _sizes(path: Path, line: int, cells: list[str]) -> tuple[int, int, int]:
    whole = [int(cell) for cell in cells if re.fullmatch(r"\d{1,18}", cell, re.ASCII)]
    if len(whole) != 3:
        msg = f"{path}, line {line}: expected three whole numbers in the header, found {' '.join(cells)[:40]!r}."
        raise SourceError(msg)
    n_rows, n_words, n_entries = whole
    if max(n_rows, n_words) > MAX_NUMBER:
        msg = f"{path}, line {line}: {max(n_rows, n_words):,} are too many rows or columns; the maximum is {MAX_NUMBER:,}."
        raise SourceError(msg)
    if n_rows > max(n_entries, MAX_UNNAMED):
        msg = f"{path}, line {line}: most of {n_rows:,} documents would be empty, with {n_entries:,} entries; fix the numbers."
        raise SourceError(msg)
    return n_rows, n_words, n_entries


def _stream(
    path: Path, shape: Shape, options: CountOptions, blocks: Iterator[bytes], first_line: int, bad: BadRecords
) -> Stream:
    words = options.words()
    n_words = len(words) if isinstance(words, NumberedWords) else shape.n_words
    if words is not None and (len(words) != n_words or n_words < shape.n_words):
        msg = f"{path}: the header says {shape.n_words:,} words, but the vocabulary has {len(words):,}."
        raise SourceError(msg)
    return Stream(_entries(path, shape, blocks, first_line, bad), shape.n_rows, n_words, None, words)


def _entries(path: Path, shape: Shape, blocks: Iterator[bytes], line: int, bad: BadRecords) -> Iterator[Entries]:
    n_entries = 0
    for block in blocks:
        entries = _in_bulk(block, shape)
        n_entries += len(entries.rows) if entries else sum(1 for one in block.split(b"\n") if one.strip())
        entries = entries or _by_line(path, block, line, shape, bad)
        yield Entries(entries.rows - 1, entries.words - 1, entries.counts)
        line += block.count(b"\n")
    if n_entries != shape.n_entries:
        why = "the file is cut short" if n_entries < shape.n_entries else "the header belongs to another file"
        msg = f"{path}: the header says {shape.n_entries:,} entries, but there are {n_entries:,}: {why}."
        raise SourceError(msg)


def _in_bulk(block: bytes, shape: Shape) -> Entries | None:
    """Parse a block of lines by polars; None if it has irregularities."""
    tidy = re.sub(rb" ?\n[ \n]*", b"\n", re.sub(rb"[ \t\r]+", b" ", block)).strip() if _is_untidy(block) else block
    schema = {"row": pl.Int64, "word": pl.Int64} | ({"count": pl.Float64} if shape.has_counts else {})
    with suppress(*POLARS_REFUSES):
        frame = pl.read_csv(io.BytesIO(tidy), has_header=False, separator=" ", quote_char=None, schema=schema)
        if not sum(frame.null_count().row(0)):
            counts = frame["count"].to_numpy() if shape.has_counts else np.ones(len(frame))
            entries = Entries(frame["row"].to_numpy(), frame["word"].to_numpy(), counts)
            return entries if shape.fits(entries) else None
    return None


def _is_untidy(block: bytes) -> bool:
    return block[:1].isspace() or any(odd in block for odd in (b"\t", b"  ", b"\n ", b" \n", b"\n\n", b"\r"))


def _by_line(path: Path, block: bytes, first_line: int, shape: Shape, bad: BadRecords) -> Entries:
    entries: list[tuple[int, int, float]] = []
    for number, line in enumerate(block.split(b"\n"), start=first_line):
        if not line.strip():
            continue
        try:
            entries.append(shape.entry(line))
        except ValueError as error:
            bad.add(f"{path}, line {number}: {error}.", "lines")
    rows, words, counts = zip(*entries, strict=True) if entries else ((), (), ())
    return Entries(np.array(rows, np.int64), np.array(words, np.int64), np.array(counts, np.float64))
