"""Rows of word counts, the form in which documents reach the kernels."""

from __future__ import annotations

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
