"""Tables: CSV and TSV, Parquet, Arrow, and frames in memory. Each gives chunks of its columns; the rest is the same for all."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from semascope.corpus.readers.fields import Fields, as_documents
from semascope.corpus.readers.files import BLOCK_BYTES, MOST_ITEMS, BadRecords, in_blocks, lines_of, undecodable
from semascope.errors import InputError, SourceError

IN_MEMORY = "the frame"
LARGEST_CELL = 2**31 - 1
_ARROW = b"ARROW1"
_DAMAGED = "it is cut short, damaged or something else"
_DELIMITERS = ",;\t|"


class Chunk(NamedTuple):
    """Some rows of a table.

    frame   the columns
    places  where each row stands in the source
    where   what the places count: "line" or "row"
    """

    frame: pl.DataFrame
    places: Sequence[int]
    where: str


Row = tuple[int, list[str]]
"""The line where a row begins, and its cells."""
Chunks = Iterator[Chunk]
Choose = Callable[[Sequence[str]], list[str]]
"""Takes the columns that there are and gives those that are wanted, or complains."""
Opener = Callable[[Path, Choose, str | None, BadRecords], Chunks]
"""Takes the path, the choice of columns, the encoding, and what becomes of bad rows."""


def read_table(opener: Opener, path: Path, fields: Fields, encoding: str | None, bad: BadRecords) -> Iterator[pl.DataFrame]:
    """Give blocks of documents from a table in a file."""
    for chunk in opener(path, _chooser(fields, str(path)), encoding, bad):
        yield as_documents(chunk.frame, fields, str(path))


def read_frame(frame: Any, fields: Fields) -> Iterator[pl.DataFrame]:
    """Give blocks of documents from a frame in memory."""
    for chunk in open_frame(frame, _chooser(fields, IN_MEMORY)):
        yield as_documents(chunk.frame, fields, IN_MEMORY)


def check_frame(frame: Any) -> None:
    """Refuse what is no frame."""
    if not hasattr(frame, "__arrow_c_stream__"):
        msg = f"expected a path or a frame to read, found {type(frame).__name__}; Corpus.from_texts takes lists of texts."
        raise InputError(msg)


def whole_frame(frame: Any) -> pl.DataFrame:
    """Give a frame in memory as documents; columns other than id, text and labels stay as they are."""
    check_frame(frame)
    fields = Fields()
    choose_text = _chooser(fields, IN_MEMORY)
    chunks = [
        chunk.frame for chunk in open_frame(frame, lambda there: [*choose_text(there), *set(there).difference(fields.names)])
    ]
    whole = pl.concat(chunks) if chunks else pl.DataFrame(schema=fields.schema)
    return as_documents(whole, fields, IN_MEMORY).hstack(whole.drop(fields.names, strict=False))


def _chooser(fields: Fields, source: str) -> Choose:
    def choose(there: Sequence[str]) -> list[str]:
        missing = fields.missing(there)
        if missing:
            msg = f"{source}: {missing}"
            raise SourceError(msg)
        return [name for name in fields.names if name in there]

    return choose


def _chosen(there: Sequence[str], choose: Choose, source: Path | str) -> list[str]:
    chosen = choose(there)
    twice = next((name for name in chosen if there.count(name) > 1), None)
    if twice is not None:
        msg = f"{source}: two columns are called {twice!r}; give each a name of its own."
        raise SourceError(msg)
    return chosen


# --- CSV and TSV -----------------------------------------------------------------------------------------------------------


def open_csv(path: Path, choose: Choose, encoding: str | None, bad: BadRecords) -> Chunks:
    """Open a table whose values are separated by whatever stands between the names in its header."""
    return _delimited(path, None, choose, encoding, bad)


def open_tsv(path: Path, choose: Choose, encoding: str | None, bad: BadRecords) -> Chunks:
    """Open a table whose values are separated by tabs."""
    return _delimited(path, "\t", choose, encoding, bad)


def _delimited(path: Path, delimiter: str | None, choose: Choose, encoding: str | None, bad: BadRecords) -> Chunks:
    csv.field_size_limit(LARGEST_CELL)  # Python's own limit is shorter than many a document
    lines = lines_of(path, encoding)
    n_blank, first = next(((number, line) for number, line in enumerate(lines) if line.strip()), (0, None))
    if first is None:
        msg = f"{path}: there are no documents: the file is empty."
        raise SourceError(msg)
    reader = csv.reader(chain([first], lines), delimiter=delimiter or _delimiter_of(first), strict=True)
    records = _records(path, reader, n_blank, bad)
    header = _header(path, records)
    columns = [(name, header.index(name)) for name in _chosen(header, choose, path)]
    for rows in in_blocks(_of_width(path, records, len(header), bad), lambda row: sum(map(len, row[1]))):
        yield _chunk(path, columns, rows, bad)


def _header(path: Path, records: Iterator[Row]) -> list[str]:
    place, header = next(records, (1, []))
    problem = undecodable("\t".join(header))
    if problem:
        msg = f"{path}, line {place}: {problem}."
        raise SourceError(msg)
    return [name.strip() for name in header]


def _of_width(path: Path, records: Iterable[Row], width: int, bad: BadRecords) -> Iterator[Row]:
    for place, row in records:
        if len(row) == width:
            yield place, row
        else:
            bad.add(f"{path}, line {place}: expected {width:,} cells as in the header, found {len(row):,}.")


def _chunk(path: Path, columns: list[tuple[str, int]], rows: list[Row], bad: BadRecords) -> Chunk:
    try:
        values = {name: [row[position] for _, row in rows] for name, position in columns}
        frame = pl.DataFrame(values, schema={name: pl.String for name, _ in columns})
    except UnicodeEncodeError:
        readable = []
        for place, row in rows:
            problem = undecodable("\t".join(row))
            if problem:
                bad.add(f"{path}, line {place}: {problem}.")
            else:
                readable.append((place, row))
        return _chunk(path, columns, readable, bad)
    return Chunk(frame, [place for place, _ in rows], "line")


def _delimiter_of(header: str) -> str:
    unquoted = re.sub(r'"[^"]*"', "", header)
    return max(_DELIMITERS, key=unquoted.count)


def _records(path: Path, reader: Any, n_before: int, bad: BadRecords) -> Iterator[Row]:
    """Give the rows that are not blank, each with the line where it begins."""
    while True:
        place = n_before + reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            bad.add(f"{path}, line {place}: {_explain(str(error))}.")
            continue
        if row:
            yield place, row


def _explain(error: str) -> str:
    if "unexpected end of data" in error:
        return "a quotation mark opens here that is never closed"
    if "expected after" in error:
        return "a quotation mark stands inside a quoted cell; write it twice there"
    return f"not a row of values ({error})"


# --- Parquet, Arrow and frames ---------------------------------------------------------------------------------------------


def open_parquet(path: Path, choose: Choose, encoding: str | None, bad: BadRecords) -> Chunks:
    """Open a Parquet file; only the wanted columns are read."""
    import pyarrow.parquet as pq

    with _named(path, f"cannot be read as Parquet; {_DAMAGED}"), pq.ParquetFile(path) as file:
        columns = _chosen(file.schema_arrow.names, choose, path)
        size = sum(file.metadata.row_group(number).total_byte_size for number in range(file.num_row_groups))
        n_rows = min(MOST_ITEMS, max(1, BLOCK_BYTES * file.metadata.num_rows // max(size, 1)))
        yield from _of_batches(file.iter_batches(n_rows, columns=columns), columns)


def open_arrow(path: Path, choose: Choose, encoding: str | None, bad: BadRecords) -> Chunks:
    """Open an Arrow file, as Feather is one too, or an Arrow stream."""
    import pyarrow as pa

    with _named(path, f"cannot be read as Arrow; {_DAMAGED}"), pa.OSFile(str(path)) as file:
        is_file = file.read(len(_ARROW)) == _ARROW
        file.seek(0)
        reader = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
        columns = _chosen(reader.schema.names, choose, path)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else iter(reader)
        yield from _of_batches(batches, columns)


def open_frame(frame: Any, choose: Choose) -> Chunks:
    """Open a frame in memory: polars, pandas, Arrow, or anything else that gives a stream of Arrow's."""
    import pyarrow as pa

    with _named(IN_MEMORY, "cannot be taken as a table"):
        if type(frame).__module__.split(".")[0] == "pandas":
            frame = _wanted_of_pandas(frame, choose)
        reader = pa.RecordBatchReader.from_stream(frame)
        yield from _of_batches(reader, _chosen(reader.schema.names, choose, IN_MEMORY))


def _wanted_of_pandas(frame: Any, choose: Choose) -> Any:
    """Leave out columns that are not wanted: Arrow does not take values of mixed kinds, which pandas does."""
    named = [name for name in frame.index.names if name is not None]
    wanted = choose([str(name) for name in [*frame.columns, *named]])
    return frame.loc[:, [str(name) in wanted for name in frame.columns]]


def _of_batches(batches: Iterable[Any], columns: list[str]) -> Chunks:
    """Give chunks of bounded size, each checked: a damaged file must not be followed out of its bounds."""
    n_before = 0
    for batch in batches:
        batch = batch.select(columns)
        batch.validate(full=True)
        step = min(MOST_ITEMS, max(1, BLOCK_BYTES * batch.num_rows // max(batch.nbytes, 1)))
        for start in range(0, batch.num_rows, step):
            frame = pl.DataFrame(batch.slice(start, step))
            yield Chunk(frame, range(n_before + start + 1, n_before + start + len(frame) + 1), "row")
        n_before += batch.num_rows


@contextmanager
def _named(source: Path | str, failure: str) -> Iterator[None]:
    """Name the source of whatever Arrow refuses."""
    import pyarrow as pa

    try:
        yield
    except SourceError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, pl.exceptions.PolarsError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        msg = f"{source}: {failure} ({reason})."
        raise SourceError(msg) from None
