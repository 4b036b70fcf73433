"""Hash table of words, which grows while blocks of text are counted into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from semascope.kernels.tokenizer import FIELDS, START, TOTAL, count_while_room, fill_buckets, merge_words

if TYPE_CHECKING:
    from numpy.typing import NDArray


class WordTable:
    """Words and their total counts; see kernels/tokenizer.py for the arrays."""

    def __init__(self, capacity: int = 1 << 14) -> None:
        self._size = np.zeros(2, dtype=np.int64)
        self._n_rows = 0
        self._buckets = np.full(2 * capacity, -1, dtype=np.int32)
        self._records = np.empty((capacity, FIELDS), dtype=np.int64)
        self._letters = np.empty(8 * capacity, dtype=np.uint8)

    @property
    def n_words(self) -> int:
        return int(self._size[0])

    def totals(self) -> NDArray[np.int64]:
        """Return the total count of each word."""
        return self._records[: self.n_words, TOTAL].copy()

    def words(self, first: int = 0) -> pl.Series:
        """Return the words from number `first` on, in order."""
        n_words, n_bytes = self._size.tolist()
        offsets = np.append(self._records[first:n_words, START], n_bytes)
        import pyarrow as pa  # slow to import, and needed only to list words

        buffers = pa.py_buffer(offsets), pa.py_buffer(self._letters[:n_bytes])
        return pl.Series("word", pa.LargeStringArray.from_buffers(n_words - first, *buffers), dtype=pl.String)

    def count(
        self,
        text: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        letters: NDArray[np.uint32],
        min_length: int,
        *,
        as_read: bool = False,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Count the words of each document of a block, adding new words to the table.

        Parameters
        ----------
        text : ndarray of uint8
            Valid UTF-8, all documents concatenated.
        offsets : ndarray of int64
            Document i is ``text[offsets[i]:offsets[i + 1]]``.
        letters : ndarray of uint32
            Code point -> code point to write, 0 for characters that are not part of a word.
        min_length : int
            Minimum word length.
        as_read : bool, default=False
            Return every token in reading order, instead of counts per document.

        Returns
        -------
        row ends, word numbers, counts
            A row for each document, words in the order of their first use.
        """
        n_documents = len(offsets) - 1
        most = (int(offsets[-1]) + n_documents) // (min_length + 1) + n_documents
        numbers, counts = np.empty(most, np.int32), np.empty(most, np.int32)  # pages never touched cost nothing
        row_ends = np.zeros(n_documents + 1, dtype=np.int64)
        # Lower case may need more bytes, but never twice as many.
        word = np.empty(2 * int(np.diff(offsets).max(initial=0)) + 8, dtype=np.uint8)
        row, at, filled, missing = 0, 0, 0, 0
        while row < n_documents:
            if missing:
                self._make_room(self.n_words + 1, missing)
            row, at, filled, missing = count_while_room(
                text, offsets, letters, min_length, as_read, word, self._n_rows, row, at, filled,
                self._size, self._buckets, self._records, self._letters, row_ends, numbers, counts,
            )  # fmt: skip
        self._n_rows += n_documents
        return row_ends, numbers[:filled].copy(), counts[:filled].copy()

    def merge(self, other: WordTable) -> NDArray[np.int64]:
        """Merge another table into this one; return the number of each of its words in this one."""
        self._make_room(self.n_words + other.n_words, int(other._size[1]))
        numbers = np.empty(other.n_words, dtype=np.int64)
        merge_words(self._size, self._buckets, self._records, self._letters, other._records, other._letters, numbers)
        return numbers

    def _make_room(self, n_words: int, n_bytes: int) -> None:
        """Reserve room for `n_words` in total, and for `n_bytes` more letters."""
        used = int(self._size[1])
        if used + n_bytes > len(self._letters):
            letters = np.empty(2 * len(self._letters) + n_bytes, dtype=np.uint8)
            letters[:used] = self._letters[:used]
            self._letters = letters
        if n_words > len(self._records):
            capacity = 1 << (n_words - 1).bit_length()
            records = np.empty((capacity, FIELDS), dtype=np.int64)
            records[: self.n_words] = self._records[: self.n_words]
            self._records = records
            self._buckets = np.full(2 * capacity, -1, dtype=np.int32)
            fill_buckets(self._buckets, self._records, self.n_words)
