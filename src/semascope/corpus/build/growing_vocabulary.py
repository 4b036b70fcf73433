"""Growing vocabulary for streams: words are numbered in order of first appearance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from semascope.corpus.build.counters import as_utf8
from semascope.corpus.build.word_table import WordTable
from semascope.corpus.csr import CSR
from semascope.corpus.shards import read_only
from semascope.corpus.text.analyzer import Analyzer
from semascope.kernels.csr import renumber_few

if TYPE_CHECKING:
    from numpy.typing import NDArray


class GrowingWords:
    """Counter of words with a growing vocabulary. An analyzer's limits are for whole corpora, and do not apply.

    Examples
    --------
    >>> words = GrowingWords(Analyzer(stop_words=["the"]))
    >>> rows = words.count(["the cat sat", "a cat and a cat"])
    >>> words.listed, rows.ends.tolist(), rows.words.tolist(), rows.counts.tolist()
    (['cat', 'sat', 'and'], [0, 2, 4], [0, 1, 0, 2], [1.0, 1.0, 2.0, 1.0])
    """

    def __init__(self, analyzer: Analyzer, words: Sequence[str] = ()) -> None:
        self.analyzer = analyzer
        self.listed = list(words)
        self._numbers = {word: number for number, word in enumerate(self.listed)}
        self._table, self._of_token = WordTable(), np.empty(0, np.int32)

    def __len__(self) -> int:
        return len(self.listed)

    def count(self, texts: Sequence[str]) -> CSR:
        """Count the words of each text."""
        plain = self.analyzer.token_pattern is None and self.analyzer.ngrams == (1, 1)
        ends, tokens, counts = self._tokens(list(texts)) if plain else self._words_of(texts)
        of_token = self._of_token if plain else np.arange(len(self.listed), dtype=np.int32)
        return read_only(CSR(*renumber_few(ends, tokens, counts, of_token)))

    def numbers_of(self, words: pl.Series) -> NDArray[np.int32]:
        """Return the numbers of words, adding new ones."""
        return np.array([self._number(word) for word in words], dtype=np.int32)

    def _number(self, word: str) -> int:
        number = self._numbers.setdefault(word, len(self.listed))
        if number == len(self.listed):
            self.listed.append(word)
        return number

    def _tokens(self, texts: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Count tokens by their number in the tokenizer's table, and map new ones to words."""
        text, offsets = as_utf8(texts, 0, lowercase=self.analyzer.lowercase)
        counted = self._table.count(text, offsets, self.analyzer.letters(), self.analyzer.min_length)
        new = self._table.words(len(self._of_token)).to_list() if self._table.n_words > len(self._of_token) else []
        if new:
            stops = self.analyzer.stop_set()
            stems = self.analyzer.stems(new)
            numbers = [-1 if token in stops else self._number(stem) for token, stem in zip(new, stems, strict=True)]
            self._of_token = np.concatenate([self._of_token, np.array(numbers, dtype=np.int32)])
        return counted

    def _words_of(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Return the words found by a pattern, and n-grams."""
        found = [[self._number(word) for word in self.analyzer.words(text)] for text in texts]
        ends = np.cumsum([0, *map(len, found)], dtype=np.int64)
        numbers = np.array([number for row in found for number in row], dtype=np.int32)
        return ends, numbers, np.ones(len(numbers), np.int32)
