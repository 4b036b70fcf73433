"""CSV and TSV readers: plain blocks are parsed by polars, blocks with quotation marks or irregularities by Python's csv."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from semascope.corpus.readers.files import POLARS_REFUSES, BadRecords, blocks_of_lines, encoding_of, text_lines, undecodable
from semascope.corpus.readers.tables import Choose, Chunk, Chunks, select_columns
from semascope.errors import SourceError

MAX_CELL = 2**31 - 1
_DELIMITERS = ",;\t|"


def open_csv(path: Path, choose: Choose, encoding: str | None, bad: BadRecords) -> Chunks:
    """Open a table, inferring the separator from its header."""
    return _delimited(path, None, choose, encoding, bad)


def open_tsv(path: Path, choose: Choose, encoding: str | None, bad: BadRecords) -> Chunks:
    """Open a table whose values are separated by tabs."""
    return _delimited(path, "\t", choose, encoding, bad)


def _delimited(path: Path, delimiter: str | None, choose: Choose, encoding: str | None, bad: BadRecords) -> Chunks:
    csv.field_size_limit(MAX_CELL)  # Python's default limit is shorter than many documents
    lines = Lines(blocks_of_lines(path, encoding_of(path, encoding)))
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        msg = f"{path}: there are no documents: the file is empty."
        raise SourceError(msg)
    lines.put_back(first)
    delimiter = delimiter or _delimiter_of(first)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    header = _header(path, reader, lines)
    columns = {name: header.index(name) for name in select_columns(header, choose, path)}
    while block := lines.next_block():
        frame = _in_bulk(block, delimiter, columns, len(header))
        if frame is None:
            lines.begin(block)
            yield _by_row(path, reader, lines, columns, len(header), bad)
        else:
            yield Chunk(frame, range(lines.n_taken + 1, lines.n_taken + len(frame) + 1), "line")
            lines.n_taken += len(frame)


@dataclass
class Lines:
    """Iterator of lines that can also be read by the block.

    n_taken  number of lines read
    left     remaining lines of the current block, the next one last
    """

    blocks: Iterator[bytes]
    n_taken: int = 0
    left: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if not self.left:
            self.begin(next(self.blocks))
        self.n_taken += 1
        return self.left.pop()

    def put_back(self, line: str) -> None:
        """Put back the last line read."""
        self.left.append(line)
        self.n_taken -= 1

    def next_block(self) -> bytes | None:
        """Return a whole block, or the rest of the current one; its lines do not count as read yet."""
        if not self.left:
            return next(self.blocks, None)
        rest = "".join(reversed(self.left)).encode("utf-8", "surrogateescape")
        self.left = []
        return rest

    def begin(self, block: bytes) -> None:
        """Start reading a block line by line."""
        self.left = text_lines(block)[::-1]


def _delimiter_of(header: str) -> str:
    unquoted = re.sub(r'"[^"]*"', "", header)
    return max(_DELIMITERS, key=unquoted.count)


def _header(path: Path, reader: Any, lines: Lines) -> list[str]:
    place = lines.n_taken + 1
    try:
        header = [name.strip() for name in next(reader)]
    except csv.Error as error:
        msg = f"{path}, line {place}: {_explain(error)}."
        raise SourceError(msg) from None
    problem = undecodable("\t".join(header))
    if problem:
        msg = f"{path}, line {place}: {problem}."
        raise SourceError(msg)
    return header


def _in_bulk(block: bytes, delimiter: str, columns: dict[str, int], width: int) -> pl.DataFrame | None:
    """Parse a block of plain lines by polars; None if it has irregularities."""
    n_lines = block.count(b"\n")
    is_plain = b'"' not in block and block.count(b"\r") == block.count(b"\r\n") and not block.startswith(b"\xef\xbb\xbf")
    if width == 1 or not is_plain or block.count(delimiter.encode()) != n_lines * (width - 1):
        return None
    schema = {str(number): pl.String for number in range(width)}
    with suppress(*POLARS_REFUSES):
        frame = pl.read_csv(io.BytesIO(block), has_header=False, separator=delimiter, quote_char=None, schema=schema)
        if len(frame) == n_lines:
            return frame.select(pl.col(str(number)).alias(name) for name, number in columns.items())
    return None


# --- row by row ------------------------------------------------------------------------------------------------------------


def _by_row(path: Path, reader: Any, lines: Lines, columns: dict[str, int], width: int, bad: BadRecords) -> Chunk:
    """Read to the end of a block, or of the next one if a cell continues there."""
    places: list[int] = []
    cells: dict[str, list[str]] = {name: [] for name in columns}
    while lines.left:
        place = lines.n_taken + 1
        try:
            row = _validate_row(next(reader), columns, width)
        except (csv.Error, ValueError) as error:
            bad.add(f"{path}, line {place}: {_explain(error)}.")
            continue
        if row:
            places.append(place)
            for name, number in columns.items():
                cells[name].append(row[number])
    return Chunk(pl.DataFrame(cells, schema=dict.fromkeys(columns, pl.String)), places, "line")


def _validate_row(row: list[str], columns: dict[str, int], width: int) -> list[str]:
    """Validate a row, which may be blank; ValueError gives the reason."""
    if row and len(row) != width:
        msg = f"expected {width:,} cells as in the header, found {len(row):,}"
        raise ValueError(msg)
    for name, number in columns.items() if row else ():
        problem = None if row[number].isascii() else undecodable(row[number])
        if problem:
            msg = f"the cell of {name!r} is {problem}"
            raise ValueError(msg)
    return row


def _explain(error: Exception) -> str:
    if "unexpected end of data" in str(error):
        return "a quotation mark opened here is never closed"
    if "expected after" in str(error):
        return "a quoted cell contains a quotation mark; double it"
    if "new-line character" in str(error):
        return "a line ends with a carriage return alone; convert the file to line feeds first"
    return f"not a row of values ({error})" if isinstance(error, csv.Error) else str(error)
