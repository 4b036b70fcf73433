"""N-grams: runs of words, counted as words of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from semascope.corpus.number import Words
from semascope.corpus.pieces import Piece, Pieces
from semascope.errors import InputError
from semascope.kernels.ngrams import fill_pair_buckets, number_ngrams

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_RUNS = 2**31 - 1


class RunTable:
    """Runs of words met so far: words are numbered below `n_words`, runs of two and more from there on."""

    def __init__(self, n_words: int, capacity: int = 1 << 14) -> None:
        self._n_words = n_words
        self._n_pairs = 0
        self._buckets = np.full(2 * capacity, -1, dtype=np.int32)
        self._pairs = np.empty((capacity, 2), dtype=np.int32)
        self._totals = np.zeros(n_words + capacity, dtype=np.int64)

    def number(self, piece: Piece, new_number: NDArray[np.int32], ngrams: tuple[int, int]) -> Piece:
        """Give the runs in a piece whose words stand in their order."""
        shortest, longest = ngrams
        n_tokens = len(piece.words)
        self._make_room(self._n_pairs + n_tokens * (longest - 1))
        ends, runs = np.zeros_like(piece.ends), np.empty(n_tokens * (longest - shortest + 1), dtype=np.int32)
        self._n_pairs = number_ngrams(
            piece.ends, piece.words, new_number, shortest, longest, self._n_words,
            self._buckets, self._pairs, self._n_pairs, self._totals, ends, runs,
        )  # fmt: skip
        runs = runs[: ends[-1]].copy()
        return Piece(0, ends, runs, np.ones(len(runs), dtype=np.int32))

    def words(self, words: pl.Series) -> Words:
        """Spell all words and runs, in the order of their numbers, and say how often each was met."""
        longer = pl.DataFrame({"run": self._pairs[: self._n_pairs, 0], "word": self._pairs[: self._n_pairs, 1]})
        longer = longer.with_row_index("number", offset=self._n_words)
        named = [pl.DataFrame({"number": np.arange(self._n_words, dtype=np.uint32), "name": words})]
        endings = named[0].select(word=pl.col("number").cast(pl.Int32), ending=pl.col("name"))
        while len(named[-1]):  # runs of one more word each time
            shorter = named[-1].select(run=pl.col("number").cast(pl.Int32), name="name")
            found = longer.join(shorter, on="run").join(endings, on="word")
            named.append(found.select("number", name=pl.col("name") + " " + pl.col("ending")))
        return Words(pl.concat(named).sort("number")["name"], self._totals[: self._n_words + self._n_pairs])

    def _make_room(self, n_pairs: int) -> None:
        if self._n_words + n_pairs > MOST_RUNS:
            msg = "there are more than two thousand million different n-grams; ask for shorter ones."
            raise InputError(msg)
        if n_pairs > len(self._pairs):
            capacity = 1 << (n_pairs - 1).bit_length()
            pairs = np.empty((capacity, 2), dtype=np.int32)
            pairs[: self._n_pairs] = self._pairs[: self._n_pairs]
            self._pairs = pairs
            self._totals = np.pad(self._totals, (0, self._n_words + capacity - len(self._totals)))
            self._buckets = np.full(2 * capacity, -1, dtype=np.int32)
            fill_pair_buckets(self._buckets, self._pairs, self._n_pairs)


def count_ngrams(
    pieces: Pieces, numbers: list[NDArray[np.int32]], vocabulary: pl.Series, ngrams: tuple[int, int]
) -> tuple[Pieces, Words]:
    """Put words together to n-grams; give new pieces, numbered by one table, and its words."""
    table, counted = RunTable(len(vocabulary)), pieces.another()
    for piece in pieces:
        counted.append(table.number(piece, numbers[piece.table], ngrams))
    return counted, table.words(vocabulary)
