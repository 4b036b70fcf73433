"""Rows of word counts, the form in which documents reach the kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Rows(NamedTuple):
    """Documents as rows of word counts, words in ascending order in each.

    ends     int64[d + 1]   row i is [ends[i]:ends[i + 1]] of the two others
    words    int32[nnz]     word numbers
    counts   float32[nnz]   how often
    """

    ends: NDArray[np.int64]
    words: NDArray[np.int32]
    counts: NDArray[np.float32]


def joined(parts: list[Rows]) -> Rows:
    """Put rows one after the other."""
    starts = np.cumsum([0, *(part.ends[-1] for part in parts)])
    ends = [part.ends[1:] + start for part, start in zip(parts, starts, strict=False)]
    return Rows(
        np.concatenate([np.zeros(1, np.int64), *ends]),
        np.concatenate([np.empty(0, np.int32), *(part.words for part in parts)]),
        np.concatenate([np.empty(0, np.float32), *(part.counts for part in parts)]),
    )


def side_by_side(streams: Sequence[Iterator[Rows]], n_words: Sequence[int]) -> Iterator[Rows]:
    """Join rows of the same documents over several vocabularies to rows over all of them, one vocabulary after the other.

    Each stream gives all the documents, but they need not be cut at the same ones.
    """
    first_words = np.cumsum([0, *n_words[:-1]], dtype=np.int32)
    held = [joined([]) for _ in streams]
    while True:
        held = [_filled(rows, stream) for rows, stream in zip(held, streams, strict=True)]
        n_documents = min(len(rows.ends) - 1 for rows in held)
        if n_documents == 0:
            return
        yield _beside([_part(rows, 0, n_documents) for rows in held], first_words)
        held = [_part(rows, n_documents, len(rows.ends) - 1) for rows in held]


def _filled(rows: Rows, stream: Iterator[Rows]) -> Rows:
    """Give rows that are left, or the next ones of a stream that are of any document."""
    while len(rows.ends) == 1 and (following := next(stream, None)) is not None:
        rows = following
    return rows


def _part(rows: Rows, first: int, last: int) -> Rows:
    start, stop = rows.ends[first], rows.ends[last]
    return Rows(rows.ends[first : last + 1] - start, rows.words[start:stop], rows.counts[start:stop])


def _beside(parts: Sequence[Rows], first_words: NDArray[np.int32]) -> Rows:
    ends = np.sum([part.ends for part in parts], axis=0)
    words, counts = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.float32)
    starts = ends[:-1].copy()
    for part, first_word in zip(parts, first_words, strict=True):
        lengths = np.diff(part.ends)
        places = np.repeat(starts - part.ends[:-1], lengths) + np.arange(len(part.words))
        words[places] = part.words + first_word
        counts[places] = part.counts
        starts += lengths
    return Rows(ends, words, counts)
