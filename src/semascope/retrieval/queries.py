"""Queries: word counts over the vocabulary of an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from semascope.corpus.csr import CSR
from semascope.corpus.lexicon import Lexicon
from semascope.corpus.shards import as_read_only
from semascope.corpus.text.analyzer import Analyzer, Analyzers, analyzer_of
from semascope.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Queries:
    """Queries over the vocabulary of an index.

    rows     word counts by query
    unknown  words of each query that no document has
    """

    rows: CSR
    unknown: list[list[str]]

    def __len__(self) -> int:
        return len(self.unknown)

    def part(self, first: int, last: int) -> CSR:
        """Return the rows of some queries."""
        ends = self.rows.ends[first : last + 1]
        return CSR(
            as_read_only(ends - ends[0], np.int64), self.rows.words[ends[0] : ends[-1]], self.rows.counts[ends[0] : ends[-1]]
        )


class QueryReader:
    """Reader of queries with the analyzers of the documents of an index.

    Parameters
    ----------
    lexicon : Lexicon
        The words of the index.
    analyzers : Analyzer or dict of language to Analyzer, optional
        Analyzers of the documents; None if these were counts.
    """

    def __init__(self, lexicon: Lexicon, analyzers: Analyzers | None) -> None:
        self._lexicon = lexicon
        self._analyzers = analyzers or Analyzer()
        self._numbers: dict[str, dict[str, int]] = {}

    def read(self, texts: Sequence[str], language: str | None = None) -> Queries:
        """Count the words of queries in one language, or by default in all languages of the index."""
        languages = self._lexicon.languages if language is None else (self._resolve_language(language),)
        counted = [self._count(text, languages) for text in texts]
        return Queries(rows_of([found for found, _ in counted]), [unknown for _, unknown in counted])

    def words(self, text: str, language: str) -> list[str]:
        """Return the words of a text, as in the index."""
        return analyzer_of(self._analyzers, language).words(text)

    def _resolve_language(self, language: str) -> str:
        if not self._lexicon.is_named:
            msg = f"the index has a single unnamed language; omit language={language!r}."
            raise InputError(msg)
        return self._lexicon.languages[self._lexicon.number_of(language)]

    def _count(self, text: str, languages: Sequence[str]) -> tuple[dict[int, int], list[str]]:
        found: dict[int, int] = {}
        unknown: dict[str, None] = {}
        for language in languages:
            numbers = self._numbers_of(language)
            for word, count in Counter(self.words(text, language)).items():
                if word in numbers:
                    found[numbers[word]] = count
                else:
                    unknown[word] = None
        return found, [] if found and len(languages) > 1 else list(unknown)

    def _numbers_of(self, language: str) -> dict[str, int]:
        if language not in self._numbers:
            mine = np.flatnonzero(self._lexicon.of_word == self._lexicon.languages.index(language))
            self._numbers[language] = dict(zip(self._lexicon.words.gather(mine).to_list(), mine.tolist(), strict=True))
        return self._numbers[language]


def rows_of(counted: Sequence[dict[int, int]]) -> CSR:
    """Build rows from counts by word number."""
    ends = np.cumsum([0, *(len(one) for one in counted)])
    ordered = [sorted(one.items()) for one in counted]
    words: NDArray[np.int32] = np.fromiter((word for one in ordered for word, _ in one), np.int32, int(ends[-1]))
    counts: NDArray[np.float32] = np.fromiter((count for one in ordered for _, count in one), np.float32, int(ends[-1]))
    return CSR(as_read_only(ends, np.int64), as_read_only(words, np.int32), as_read_only(counts, np.float32))
