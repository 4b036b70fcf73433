"""Word counts as input: matrix entries in any order, converted to rows of word counts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from semascope.corpus.csr import CSR
from semascope.corpus.readers.files import BadRecords
from semascope.corpus.readers.vocabularies import Vocabulary, read_vocabulary
from semascope.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_NUMBER = 2**31 - 1
"""Words and documents are numbered with 32 bits."""
MAX_UNNAMED = 1 << 26
"""Maximum number of unnamed words or empty documents; more are likely a mistake in the file."""
MAX_COUNT = float(np.finfo(np.float32).max)

Block = tuple[pl.DataFrame, CSR]


@dataclass
class CountedDocuments:
    """Documents of a source of counts, read block by block on each iteration.

    Each block is a frame with the columns ``id`` and ``labels``, and the rows of its documents.

    Attributes
    ----------
    source : str
        Name of the source.
    bad : list of str
        Errors of the records that were left out, one sentence each; complete after the blocks have been read.
    words : polars.Series or None
        Names of the columns, known after the blocks have been read: "x0", "x1" and so on if unnamed.

    Examples
    --------
    >>> from semascope import read_counts
    >>> counted = read_counts([[(0, 2), (1, 1)]], vocabulary=["dog", "cat"])
    >>> [(len(frame), rows.counts.tolist()) for frame, rows in counted]
    [(1, [2.0, 1.0])]
    >>> counted.words.to_list()
    ['dog', 'cat']
    """

    source: str
    _blocks: Callable[[list[str]], Generator[Block, None, pl.Series]]
    bad: list[str] = field(default_factory=list)
    words: pl.Series | None = None

    def __iter__(self) -> Iterator[Block]:
        self.bad.clear()
        self.words = yield from self._blocks(self.bad)


class Entries(NamedTuple):
    """Entries of a matrix of counts.

    rows    int64[n]     document numbers
    words   int64[n]     word numbers
    counts  float64[n]   counts
    """

    rows: NDArray[np.int64]
    words: NDArray[np.int64]
    counts: NDArray[np.float64]

    def at(self, which: slice | NDArray[np.int64]) -> Entries:
        """Select or reorder entries."""
        return Entries(self.rows[which], self.words[which], self.counts[which])


@dataclass
class Stream:
    """Stream of the entries of a source, block by block.

    n_rows     number of documents, once all blocks have been read
    n_words    number of words, once all blocks have been read
    row_names  names of the documents; grows with the blocks
    words      names of the words; grows with the blocks
    """

    blocks: Iterator[Entries] = field(default_factory=lambda: iter(()))
    n_rows: int = 0
    n_words: int = 0
    row_names: Sequence[str] | None = None
    words: Sequence[str] | None = None


@dataclass(frozen=True)
class CountOptions:
    """Options of a source of counts.

    vocabulary  a file of words, the words, or a dictionary of words and numbers
    triples     names of the columns with row, column and count
    """

    vocabulary: Vocabulary | None = None
    triples: tuple[str, str, str] = ("row", "column", "count")
    encoding: str | None = None

    def words(self) -> list[str] | None:
        """Read the vocabulary, if one was given."""
        return None if self.vocabulary is None else read_vocabulary(self.vocabulary, self.encoding)


OpenStream = Callable[[BadRecords], Stream]


def counted_blocks(source: str, open_stream: OpenStream, bad: BadRecords) -> Generator[Block, None, pl.Series]:
    """Yield blocks of documents, and return the words.

    The entries are read twice, first to check whether they are sorted by row. If so, one block at a time is held in memory;
    otherwise all are read and sorted.
    """
    stream = open_stream(bad if bad.notes is None else BadRecords([]))
    in_order = _is_sorted(stream.blocks)
    if stream.words is None and stream.n_words > MAX_UNNAMED:
        msg = f"{source}: {stream.n_words:,} words without names are too many; give a vocabulary, or fix the number."
        raise SourceError(msg)
    stream = open_stream(bad)
    n_given, rest = 0, _no_entries()
    for block in stream.blocks if in_order else [_sort(_concatenate(stream.blocks))]:
        block = _concatenate([rest, block])
        last = int(block.rows[-1]) if len(block.rows) else n_given  # it may continue in the next block
        at = int(np.searchsorted(block.rows, last))
        if last > n_given:
            yield _block(stream, n_given, last, block.at(slice(at)))
        n_given, rest = last, block.at(slice(at, None))
    if stream.n_rows > n_given:
        yield _block(stream, n_given, stream.n_rows, rest)
    if stream.words is not None:
        return pl.Series("word", stream.words, dtype=pl.String)
    return pl.select(word=pl.lit("x") + pl.int_range(stream.n_words).cast(pl.String)).to_series()


def _is_sorted(blocks: Iterable[Entries]) -> bool:
    """Return whether row numbers never fall; reading to the end validates all entries."""
    last, in_order = 0, True
    for block in blocks:
        if len(block.rows):
            in_order &= bool(block.rows[0] >= last and np.all(np.diff(block.rows) >= 0))
            last = int(block.rows[-1])
    return in_order


def _no_entries() -> Entries:
    return Entries(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))


def _concatenate(blocks: Iterable[Entries]) -> Entries:
    return Entries(*(np.concatenate(parts) for parts in zip(_no_entries(), *blocks, strict=True)))


def _sort(entries: Entries) -> Entries:
    return entries.at(np.lexsort((entries.words, entries.rows)))


def _block(stream: Stream, first: int, last: int, entries: Entries) -> Block:
    """Build the documents `first` to `last` from their entries."""
    names = [None] * (last - first) if stream.row_names is None else list(stream.row_names[first:last])
    empty = [None] * (last - first)
    frame = pl.DataFrame({"id": names, "labels": empty}, schema={"id": pl.String, "labels": pl.List(pl.String)})
    return frame, _rows(entries, first, last)


def _rows(entries: Entries, first: int, last: int) -> CSR:
    """Sort the entries, sum duplicates, and drop zeros."""
    next_row, next_word = np.diff(entries.rows), np.diff(entries.words)
    if not np.all((next_row > 0) | ((next_row == 0) & (next_word > 0))):
        entries = _sort(entries)
        starts = np.flatnonzero(np.concatenate([[True], np.diff(entries.rows) + np.abs(np.diff(entries.words)) > 0]))
        added = np.minimum(np.add.reduceat(entries.counts, starts), MAX_COUNT)
        entries = Entries(entries.rows[starts], entries.words[starts], added)
    counts = entries.counts.astype(np.float32)
    kept = counts > 0
    ends = np.searchsorted(entries.rows[kept], np.arange(first, last + 1))
    return CSR(ends.astype(np.int64), entries.words[kept].astype(np.int32), counts[kept])


# --- checks for all formats ------------------------------------------------------------------------------------------------


def as_whole(cell: bytes, noun: str, first: int, last: int) -> int:
    """Parse a number within bounds; ValueError gives the reason."""
    try:
        number = int(cell) if b"_" not in cell else None
    except ValueError:
        number = None
    if number is None:
        msg = f"the {noun} number {_quote(cell)} is not a whole number"
        raise ValueError(msg)
    if not first <= number <= last:
        msg = f"there is no {noun} {number}; the numbers go from {first} to {last:,}"
        raise ValueError(msg)
    return number


def as_count(cell: bytes) -> float:
    """Parse a count; ValueError gives the reason."""
    try:
        count = float(cell) if b"_" not in cell else None
    except ValueError:
        count = None
    if count is None or not 0 <= count <= MAX_COUNT:
        msg = f"the count {_quote(cell)} is not a finite, non-negative number"
        raise ValueError(msg)
    return count


def valid_counts(counts: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a mask of the valid counts."""
    return (counts >= 0) & (counts <= MAX_COUNT)


def _quote(cell: bytes) -> str:
    text = cell.decode("utf-8", "replace")
    return repr(text if len(text) <= 40 else text[:40] + "…")
