"""Tables as chunks of columns, and the formats read by Arrow: Parquet, Arrow files, and frames in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from semascope.corpus.readers.files import BLOCK_BYTES, BadRecords
from semascope.corpus.readers.record_fields import Fields, as_documents
from semascope.errors import InputError, SourceError

IN_MEMORY = "the frame"
MAX_ROWS = 1 << 20
_ARROW = b"ARROW1"
_DAMAGED = "it is cut short, damaged or something else"


class Chunk(NamedTuple):
    """Chunk of the rows of a table.

    frame   the columns
    places  position of each row in the source
    where   unit of the positions: "line" or "row"
    """

    frame: pl.DataFrame
    places: Sequence[int]
    where: str


Chunks = Iterator[Chunk]
Choose = Callable[[Sequence[str]], list[str]]
"""Function that selects columns from those available, or raises."""
Opener = Callable[[Path, Choose, str | None, BadRecords], Chunks]
"""Function that opens a path, given the column selection, the encoding, and the handling of bad rows."""


def read_table(opener: Opener, path: Path, fields: Fields, encoding: str | None, bad: BadRecords) -> Iterator[pl.DataFrame]:
    """Read blocks of documents from a table in a file."""
    return _documents(opener(path, _chooser(fields, str(path)), encoding, bad), fields, str(path), bad)


def read_frame(frame: Any, fields: Fields, bad: BadRecords) -> Iterator[pl.DataFrame]:
    """Read blocks of documents from a frame in memory."""
    return _documents(open_frame(frame, _chooser(fields, IN_MEMORY)), fields, IN_MEMORY, bad)


def _documents(chunks: Chunks, fields: Fields, source: str, bad: BadRecords) -> Iterator[pl.DataFrame]:
    for chunk in chunks:
        documents = as_documents(chunk.frame, fields, source)
        yield _filter_languages(documents, chunk, fields, source, bad) if fields.languages else documents


def _filter_languages(documents: pl.DataFrame, chunk: Chunk, fields: Fields, source: str, bad: BadRecords) -> pl.DataFrame:
    """Remove documents that have texts, but none in the requested languages."""
    texts = chunk.frame.get_column(str(fields.texts)).struct.unnest()
    others = texts.drop(fields.languages).with_columns(pl.col(pl.String).replace("", None))
    silent = documents["text"].struct.unnest().select(pl.all_horizontal(pl.all().is_null())).to_series()
    foreign = silent & others.select(pl.any_horizontal(pl.lit(False), pl.all().is_not_null())).to_series()
    for number in foreign.arg_true():
        there = [name for name, text in others.row(number, named=True).items() if text is not None]
        bad.add(f"{source}, {chunk.where} {chunk.places[number]}: {fields.describe_unwanted(there)}.")
    return documents.filter(~foreign)


def is_frame(source: Any) -> bool:
    """Return whether a source is a frame: polars, pandas, Arrow tables, readers and datasets, or any Arrow stream."""
    return hasattr(source, "__arrow_c_stream__") or _is_dataset(source) or isinstance(source, pl.LazyFrame)


def check_frame(frame: Any) -> None:
    """Check that a source is a frame."""
    if not is_frame(frame):
        msg = (
            f"expected a path or a frame, found {type(frame).__name__}; read(path) reads files, and "
            "Corpus.from_texts takes lists of texts."
        )
        raise InputError(msg)


def whole_frame(frame: Any) -> pl.DataFrame:
    """Convert a frame in memory to documents; columns other than id, text and labels are unchanged.

    A struct of texts holds several languages.
    """
    check_frame(frame)
    fields = Fields()
    choose_fields = _chooser(fields, IN_MEMORY)

    def choose(there: Sequence[str]) -> list[str]:
        return choose_fields(there) + [name for name in there if name not in fields.names]

    chunks = [chunk.frame for chunk in open_frame(frame, choose)]
    whole = pl.concat(chunks) if chunks else pl.DataFrame(schema=fields.schema)
    if isinstance(whole.schema["text"], pl.Struct):
        fields = Fields(texts="text")
    return as_documents(whole, fields, IN_MEMORY).hstack(whole.drop(fields.names, strict=False))


def _chooser(fields: Fields, source: str) -> Choose:
    def choose(there: Sequence[str]) -> list[str]:
        missing = fields.describe_missing(there)
        if missing:
            msg = f"{source}: {missing}"
            raise SourceError(msg)
        return [name for name in fields.names if name in there]

    return choose


def select_columns(there: Sequence[str], choose: Choose, source: Path | str) -> list[str]:
    """Select columns, each of which must be unique."""
    chosen = choose(there)
    twice = next((name for name in chosen if there.count(name) > 1), None)
    if twice is not None:
        msg = f"{source}: two columns are named {twice!r}; give each its own name."
        raise SourceError(msg)
    return chosen


# --- Parquet, Arrow and frames ---------------------------------------------------------------------------------------------


def open_parquet(path: Path, choose: Choose, encoding: str | None, bad: BadRecords) -> Chunks:
    """Open a Parquet file; only the selected columns are read."""
    import pyarrow.parquet as pq

    with _name_source_in_errors(path, f"cannot be read as Parquet; {_DAMAGED}"), pq.ParquetFile(path) as file:
        columns = select_columns(file.schema_arrow.names, choose, path)
        size = sum(file.metadata.row_group(number).total_byte_size for number in range(file.num_row_groups))
        n_rows = min(MAX_ROWS, max(1, BLOCK_BYTES * file.metadata.num_rows // max(size, 1)))
        yield from _chunk_batches(file.iter_batches(n_rows, columns=columns), columns)


def open_arrow(path: Path, choose: Choose, encoding: str | None, bad: BadRecords) -> Chunks:
    """Open an Arrow (or Feather) file, or an Arrow stream."""
    import pyarrow as pa

    with _name_source_in_errors(path, f"cannot be read as Arrow; {_DAMAGED}"), pa.OSFile(str(path)) as file:
        is_file = file.read(len(_ARROW)) == _ARROW
        file.seek(0)
        reader = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
        columns = select_columns(reader.schema.names, choose, path)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else iter(reader)
        yield from _chunk_batches(batches, columns)


def open_frame(frame: Any, choose: Choose) -> Chunks:
    """Open a frame in memory: polars, pandas, Arrow, or any Arrow stream."""
    import pyarrow as pa

    with _name_source_in_errors(IN_MEMORY, "cannot be read as a table"):
        if _is_dataset(frame):
            columns = select_columns(frame.schema.names, choose, IN_MEMORY)
            yield from _chunk_batches(frame.to_batches(columns=columns), columns)
            return
        if _is_pandas(frame):
            frame = _select_pandas_columns(frame, choose)
        reader = pa.RecordBatchReader.from_stream(frame.collect() if isinstance(frame, pl.LazyFrame) else frame)
        yield from _chunk_batches(reader, select_columns(reader.schema.names, choose, IN_MEMORY))


def materialize_frame(frame: Any) -> Any:
    """Return a frame that can be iterated repeatedly; one-shot streams are read into memory."""
    import pyarrow as pa

    if isinstance(frame, pl.DataFrame | pl.LazyFrame | pa.Table | pa.RecordBatch) or _is_pandas(frame) or _is_dataset(frame):
        return frame
    return pa.RecordBatchReader.from_stream(frame).read_all()


def _is_pandas(frame: Any) -> bool:
    return type(frame).__module__.split(".")[0] == "pandas"


def _is_dataset(frame: Any) -> bool:
    """Return whether a frame is an Arrow dataset, without importing pyarrow.dataset."""
    return type(frame).__module__ == "pyarrow._dataset" and hasattr(frame, "to_batches") and hasattr(frame, "schema")


def _select_pandas_columns(frame: Any, choose: Choose) -> Any:
    """Drop unused columns: unlike pandas, Arrow does not take values of mixed types."""
    named = [name for name in frame.index.names if name is not None]
    wanted = choose([str(name) for name in [*frame.columns, *named]])
    return frame.loc[:, [str(name) in wanted for name in frame.columns]]


def _chunk_batches(batches: Iterable[Any], columns: list[str]) -> Chunks:
    """Yield validated chunks of bounded size: a damaged file must not cause reads out of bounds."""
    n_before = 0
    for batch in batches:
        batch = batch.select(columns)
        batch.validate(full=True)
        step = min(MAX_ROWS, max(1, BLOCK_BYTES * batch.num_rows // max(batch.nbytes, 1)))
        for start in range(0, batch.num_rows, step):
            frame = pl.DataFrame(batch.slice(start, step))
            yield Chunk(frame, range(n_before + start + 1, n_before + start + len(frame) + 1), "row")
        n_before += batch.num_rows


@contextmanager
def _name_source_in_errors(source: Path | str, failure: str) -> Iterator[None]:
    """Convert errors of Arrow, naming the source."""
    import pyarrow as pa

    try:
        yield
    except SourceError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, pl.exceptions.PolarsError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        msg = f"{source}: {failure} ({reason})."
        raise SourceError(msg) from None
