"""LDA-C files: one document per line, the number of its distinct words followed by word:count pairs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from semascope.corpus.readers.counts import MAX_NUMBER, CountOptions, Entries, Stream, as_count, as_whole, valid_counts
from semascope.corpus.readers.files import BadRecords, blocks_of_lines, encoding_of


def open_ldac(path: Path, options: CountOptions, bad: BadRecords) -> Stream:
    """Open an LDA-C file; words are numbered from 0."""
    words = options.words()
    stream = Stream(n_words=len(words) if words else 0, words=words)
    stream.blocks = _ldac_blocks(path, stream, MAX_NUMBER if words is None else len(words), options.encoding, bad)
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
    """Parse document lengths, words and counts in bulk; None if the block has irregularities."""
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
    fits = np.all((numbers >= 0) & (numbers < n_words) & valid_counts(values))
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
    if as_whole(stated, "first", 0, MAX_NUMBER) != len(pairs):
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
