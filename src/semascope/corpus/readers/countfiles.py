"""Files of counts: LDA-C, UCI bags of words, MatrixMarket, and tables of triples.

Blocks of lines are parsed in bulk, and line by line where anything is odd."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl

from semascope.corpus.readers.counts import (
    LARGEST_NUMBER,
    Entries,
    Stream,
    as_count,
    as_whole,
    possible,
    read_vocabulary,
)
from semascope.corpus.readers.fields import as_text, listed
from semascope.corpus.readers.files import BadRecords, blocks_of_lines, encoding_of
from semascope.corpus.readers.tables import Choose, Chunk, Chunks, Opener
from semascope.errors import SourceError


@dataclass(frozen=True)
class CountOptions:
    """What is told of a source of counts.

    vocabulary  a file with a word on each line, or the words
    triples     names of the columns with row, column and count
    """

    vocabulary: str | Path | Sequence[str] | None = None
    triples: tuple[str, str, str] = ("row", "column", "count")
    encoding: str | None = None

    def words(self) -> list[str] | None:
        """The vocabulary that was given."""
        return None if self.vocabulary is None else read_vocabulary(self.vocabulary, self.encoding)


# --- LDA-C -----------------------------------------------------------------------------------------------------------------


def open_ldac(path: Path, options: CountOptions, bad: BadRecords) -> Stream:
    """Open a file with a document on each line: the number of its distinct words, then word:count, words from 0."""
    words = options.words()
    stream = Stream(n_words=len(words) if words else 0, words=words)
    stream.blocks = _ldac_blocks(path, stream, LARGEST_NUMBER if words is None else len(words), options.encoding, bad)
    return stream


def _ldac_blocks(path: Path, stream: Stream, n_words: int, encoding: str | None, bad: BadRecords) -> Iterator[Entries]:
    line = 1
    for block in blocks_of_lines(path, encoding_of(path, encoding)):
        parsed = _ldac_in_bulk(block, n_words)
        lengths, words, counts = _ldac_by_line(path, block, line, n_words, bad) if parsed is None else parsed
        rows = np.repeat(np.arange(stream.n_rows, stream.n_rows + len(lengths)), lengths)
        stream.n_rows += len(lengths)
        stream.n_words = max(stream.n_words, int(words.max(initial=-1)) + 1)
        yield Entries(rows, words, counts)
        line += block.count(b"\n")


def _ldac_in_bulk(block: bytes, n_words: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Give lengths of documents, words and counts; None when anything is odd."""
    lines = [line for line in map(str.strip, block.decode("utf-8", "replace").split("\n")) if line]
    cells = pl.Series(lines, dtype=pl.String).str.split(" ")
    lengths = cells.list.len().cast(pl.Int64) - 1
    stated = cells.list.first().cast(pl.Int64, strict=False)
    pairs = cells.list.slice(1).list.explode(empty_as_null=False, keep_nulls=False).str.splitn(":", 2).struct
    words = pairs.field("field_0").cast(pl.Int64, strict=False)
    counts = pairs.field("field_1").cast(pl.Float64, strict=False)
    if words.null_count() or counts.null_count() or not stated.equals(lengths, check_names=False, null_equal=False):
        return None
    numbers, values = words.to_numpy(), counts.to_numpy()
    fits = np.all((numbers >= 0) & (numbers < n_words) & possible(values))
    return (lengths.to_numpy(), numbers, values) if fits else None


def _ldac_by_line(
    path: Path, block: bytes, first_line: int, n_words: int, bad: BadRecords
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    lengths: list[int] = []
    pairs: list[tuple[int, float]] = []
    for number, line in enumerate(block.split(b"\n"), start=first_line):
        if not line.strip():
            continue
        try:
            document = _ldac_document(line, n_words)
        except ValueError as error:
            bad.add(f"{path}, line {number}: {error}.", "lines")
            continue
        lengths.append(len(document))
        pairs += document
    words, counts = [word for word, _ in pairs], [count for _, count in pairs]
    return np.array(lengths, np.int64), np.array(words, np.int64), np.array(counts, np.float64)


def _ldac_document(line: bytes, n_words: int) -> list[tuple[int, float]]:
    stated, *pairs = line.split()
    if as_whole(stated, "first", 0, LARGEST_NUMBER) != len(pairs):
        msg = f"the line says {int(stated):,} words, but there are {len(pairs):,}"
        raise ValueError(msg)
    document = []
    for pair in pairs:
        word, colon, count = pair.partition(b":")
        if not colon:
            msg = f"expected word:count, found {pair.decode('utf-8', 'replace')[:40]!r}"
            raise ValueError(msg)
        document.append((as_whole(word, "word", 0, n_words - 1), as_count(count)))
    return document


# --- entries on lines: UCI and MatrixMarket --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """What the header of a file says: its entries are lines of row, column and count, numbered from 1."""

    row: str
    word: str
    n_rows: int
    n_words: int
    n_entries: int
    has_counts: bool = True

    def entry(self, line: bytes) -> tuple[int, int, float]:
        """Parse a line; ValueError says what is wrong."""
        cells = line.split()
        if len(cells) != 2 + self.has_counts:
            what = f"a {self.row}, a {self.word} and a count" if self.has_counts else f"a {self.row} and a {self.word}"
            msg = f"expected {what}, found {len(cells)} values"
            raise ValueError(msg)
        row, word = as_whole(cells[0], self.row, 1, self.n_rows), as_whole(cells[1], self.word, 1, self.n_words)
        return row, word, as_count(cells[2]) if self.has_counts else 1.0

    def fits(self, entries: Entries) -> bool:
        """Tell whether all numbers are within bounds."""
        rows, words, counts = entries
        within = (rows >= 1) & (rows <= self.n_rows) & (words >= 1) & (words <= self.n_words)
        return bool(np.all(within & possible(counts)))


def open_uci(path: Path, options: CountOptions, bad: BadRecords) -> Stream:
    """Open a UCI bag of words: numbers of documents, words and entries, then entries; the words may lie in a file beside it."""
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
    """Open a MatrixMarket file of coordinates: documents × words."""
    header, blocks = _header(
        path, options.encoding, lambda lines: len(lines) > 1 and bool(lines[-1]) and not lines[-1].startswith("%")
    )
    kind = header[0].lower().split() if header else []
    if len(kind) != 5 or kind[:2] != ["%%matrixmarket", "matrix"]:
        msg = f"{path}, line 1: expected %%MatrixMarket matrix coordinate and so on; this is not a MatrixMarket file."
        raise SourceError(msg)
    if kind[2] != "coordinate" or kind[3] not in ("real", "integer", "pattern") or kind[4] != "general":
        expected = "coordinate, then real, integer or pattern, then general"
        msg = f"{path}, line 1: expected {expected}; found {' '.join(kind[2:])}: save the matrix anew in such a form."
        raise SourceError(msg)
    sizes = header[-1].split()
    if len(sizes) != 3 or len(header) == 1:
        msg = f"{path}, line {len(header)}: expected the numbers of rows, columns and entries."
        raise SourceError(msg)
    shape = Shape("row", "column", *_sizes(path, len(header), sizes), has_counts=kind[3] != "pattern")
    return _stream(path, shape, options, blocks, len(header) + 1, bad)


def _header(path: Path, encoding: str | None, is_whole: Callable[[list[str]], bool]) -> tuple[list[str], Iterator[bytes]]:
    """Take lines off a file until they are the whole header; give them, and the blocks of what follows."""
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
    if max(n_rows, n_words) > LARGEST_NUMBER:
        msg = f"{path}, line {line}: {max(n_rows, n_words):,} are too many rows or columns; there may be {LARGEST_NUMBER:,}."
        raise SourceError(msg)
    return n_rows, n_words, n_entries


def _stream(
    path: Path, shape: Shape, options: CountOptions, blocks: Iterator[bytes], first_line: int, bad: BadRecords
) -> Stream:
    words = options.words()
    if words is not None and len(words) != shape.n_words:
        msg = f"{path}: the header says {shape.n_words:,} words, but the vocabulary has {len(words):,}."
        raise SourceError(msg)
    return Stream(_entries(path, shape, blocks, first_line, bad), shape.n_rows, shape.n_words, None, words)


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
    """Parse a block of lines by polars; None when anything is odd."""
    tidy = re.sub(rb" ?\n[ \n]*", b"\n", re.sub(rb"[ \t\r]+", b" ", block)).strip() if _is_untidy(block) else block
    schema = {"row": pl.Int64, "word": pl.Int64} | ({"count": pl.Float64} if shape.has_counts else {})
    with suppress(pl.exceptions.PolarsError):
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


# --- tables of triples -----------------------------------------------------------------------------------------------------


def open_triples(opener: Opener, path: Path, options: CountOptions, bad: BadRecords) -> Stream:
    """Open a table in a file with a row's name, a column's name and a count in each line."""
    return triples_of(opener(path, chooser_of_triples(options, str(path)), options.encoding, bad), options, str(path), bad)


def chooser_of_triples(options: CountOptions, source: str) -> Choose:
    """Choose the three columns."""

    def choose(there: Sequence[str]) -> list[str]:
        missing = next((name for name in options.triples if name not in there), None)
        if missing is not None:
            what_to_do = "Name those of row, column and count with --triples (rows=, columns=, counts=)."
            msg = f"{source}: there is no column {missing!r}; {listed(there, 'column')}. {what_to_do}"
            raise SourceError(msg)
        return list(options.triples)

    return choose


def triples_of(chunks: Chunks, options: CountOptions, source: str, bad: BadRecords) -> Stream:
    """Number rows and columns in the order in which their names first appear."""
    if options.vocabulary is not None:
        msg = f"{source}: a table of triples names its words itself; leave out the vocabulary."
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
    good = row.is_not_null() & word.is_not_null() & pl.Series(possible(count.fill_null(-1).to_numpy()), dtype=pl.Boolean)
    for at in good.not_().arg_true():
        value = chunk.frame[count_name][at]
        problem = f"the count {value!r} is not a number that is finite and not negative"
        if None in (row[at], word[at]):
            problem = f"there is nothing in the column {(row_name if row[at] is None else word_name)!r}"
        bad.add(f"{source}, {chunk.where} {chunk.places[at]}: {problem}.")
    return row.filter(good), word.filter(good), count.filter(good)


class Names:
    """Names, numbered in the order in which they first appear."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def numbers_of(self, names: pl.Series) -> np.ndarray:
        """Give the number of each name; new names get the next numbers."""
        distinct = names.unique(maintain_order=True)
        for name in distinct:
            if self._numbers.setdefault(name, len(self.names)) == len(self.names):
                self.names.append(name)
        return names.replace_strict(distinct, [self._numbers[name] for name in distinct], return_dtype=pl.Int64).to_numpy()
