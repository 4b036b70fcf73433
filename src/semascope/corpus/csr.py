"""CSR rows of word counts, the input of the kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CSR(NamedTuple):
    """Documents as rows of word counts, with ascending word ids in each row.

    ends     int64[d + 1]   row i is [ends[i]:ends[i + 1]] of the other two
    words    int32[nnz]     word ids
    counts   float32[nnz]   word counts
    """

    ends: NDArray[np.int64]
    words: NDArray[np.int32]
    counts: NDArray[np.float32]


def concatenate(parts: list[CSR]) -> CSR:
    """Concatenate rows."""
    starts = np.cumsum([0, *(part.ends[-1] for part in parts)])
    ends = [part.ends[1:] + start for part, start in zip(parts, starts, strict=False)]
    return CSR(
        np.concatenate([np.zeros(1, np.int64), *ends]),
        np.concatenate([np.empty(0, np.int32), *(part.words for part in parts)]),
        np.concatenate([np.empty(0, np.float32), *(part.counts for part in parts)]),
    )


def hstack(streams: Sequence[Iterator[CSR]], n_words: Sequence[int]) -> Iterator[CSR]:
    """Concatenate rows of the same documents over several vocabularies, one vocabulary after the other.

    Each stream yields all documents, but their blocks need not have the same boundaries.
    """
    first_words = np.cumsum([0, *n_words[:-1]], dtype=np.int32)
    held = [concatenate([]) for _ in streams]
    while True:
        held = [_fill(rows, stream) for rows, stream in zip(held, streams, strict=True)]
        n_documents = min(len(rows.ends) - 1 for rows in held)
        if n_documents == 0:
            return
        yield _stack([_slice(rows, 0, n_documents) for rows in held], first_words)
        held = [_slice(rows, n_documents, len(rows.ends) - 1) for rows in held]


def _fill(rows: CSR, stream: Iterator[CSR]) -> CSR:
    """Return the remaining rows, or the next non-empty ones of the stream."""
    while len(rows.ends) == 1 and (following := next(stream, None)) is not None:
        rows = following
    return rows


def _slice(rows: CSR, first: int, last: int) -> CSR:
    start, stop = rows.ends[first], rows.ends[last]
    return CSR(rows.ends[first : last + 1] - start, rows.words[start:stop], rows.counts[start:stop])


def _stack(parts: Sequence[CSR], first_words: NDArray[np.int32]) -> CSR:
    ends = np.sum([part.ends for part in parts], axis=0)
    words, counts = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.float32)
    starts = ends[:-1].copy()
    for part, first_word in zip(parts, first_words, strict=True):
        lengths = np.diff(part.ends)
        places = np.repeat(starts - part.ends[:-1], lengths) + np.arange(len(part.words))
        words[places] = part.words + first_word
        counts[places] = part.counts
        starts += lengths
    return CSR(ends, words, counts)
