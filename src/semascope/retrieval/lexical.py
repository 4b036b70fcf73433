"""Scores by words in common: statistics of the collection, BM25, and the cosine of weighted counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from semascope.corpus.csr import CSR
from semascope.corpus.lexicon import NAMELESS, Lexicon
from semascope.corpus.shards import as_read_only
from semascope.kernels.postings import add_postings, bm25_weights
from semascope.retrieval.segments import Segment

if TYPE_CHECKING:
    from numpy.typing import NDArray


SATURATION, NORMALIZATION = 1.5, 0.75
"""What BM25 calls k1 and b."""


class ByPostings(ABC):
    """Sums of weights of words that a query and a document have in common."""

    together = 8
    least = 0.0

    def __init__(self, segments: Sequence[Segment], words: CollectionStats) -> None:
        self._segments = segments
        self._words = words
        self._weights = [self._of_segment(segment, local) for segment, local in zip(segments, words.local, strict=True)]

    def fill(self, queries: CSR, scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> None:
        scores[:] = 0
        factors, first = as_read_only(self._factors(queries), np.float32), 0
        for segment, weights, local in zip(self._segments, self._weights, self._words.local, strict=True):
            numbers = as_read_only(local[queries.words], np.int32)
            add_postings(*segment.postings[:2], weights, queries.ends, numbers, factors, first, scores)
            first += segment.corpus.n_documents

    @abstractmethod
    def _of_segment(self, segment: Segment, local: NDArray[np.int32]) -> NDArray[np.float32]:
        """The weight of each posting."""

    @abstractmethod
    def _factors(self, queries: CSR) -> NDArray[Any]:
        """What the postings of each word of a query are multiplied by."""


class BM25(ByPostings):
    """BM25 as Lucene has it: Σ_w n_qw log(1 + (D − d_w + ½)/(d_w + ½)) n_dw / (n_dw + k1 (1 − b + b |d| / mean |d|))."""

    def _of_segment(self, segment: Segment, local: NDArray[np.int32]) -> NDArray[np.float32]:
        met = self._words.documents
        rarity = np.log1p((self._words.n_documents - met + 0.5) / (met + 0.5))
        weights = np.empty(len(segment.postings.documents), np.float32)
        mean_length = max(self._words.mean_length, 1e-9)
        of_word = as_read_only(_in_segment(rarity, segment, local), np.float32)
        bm25_weights(*segment.postings, segment.lengths, of_word, mean_length, SATURATION, NORMALIZATION, weights)
        return weights

    def _factors(self, queries: CSR) -> NDArray[Any]:
        return queries.counts


class Cosine(ByPostings):
    """The cosine of counts that are weighted by log(D / d_w) + 1: the vector space model."""

    def __init__(self, segments: Sequence[Segment], words: CollectionStats) -> None:
        rarity = np.log(max(words.n_documents, 1) / np.maximum(words.documents, 1)) + 1
        self._rarity = np.where(words.documents > 0, rarity, 0.0)  # words that no document has are as none
        super().__init__(segments, words)

    def _of_segment(self, segment: Segment, local: NDArray[np.int32]) -> NDArray[np.float32]:
        of_word = np.repeat(_in_segment(self._rarity, segment, local), np.diff(segment.postings.ends))
        weights = of_word * segment.postings.counts
        documents = segment.postings.documents
        sizes = np.sqrt(np.bincount(documents, weights**2, segment.corpus.n_documents))
        return (weights / np.where(sizes > 0, sizes, 1)[documents]).astype(np.float32)

    def _factors(self, queries: CSR) -> NDArray[Any]:
        factors, lengths = self._rarity[queries.words] * queries.counts, np.diff(queries.ends)
        sizes = np.sqrt(np.bincount(np.repeat(np.arange(len(lengths)), lengths), factors**2, len(lengths)))
        return np.asarray(factors / np.repeat(np.where(sizes > 0, sizes, 1), lengths))


def _in_segment(of_word: NDArray[np.float64], segment: Segment, local: NDArray[np.int32]) -> NDArray[Any]:
    """What is known of all words, in the order of a segment."""
    mine = np.zeros(segment.corpus.n_words)
    has = local >= 0
    mine[local[has]] = of_word[has]
    return mine


@dataclass(frozen=True, eq=False)
class CollectionStats:
    """Words of an index, with what is known of them in all documents that were not deleted.

    lexicon      the words of the first segment, then those that later ones brought, then those that only models know
    local        of each segment, the number there of each word, -1 where it does not have it
    documents    int64[v], documents that have the word
    n_documents  documents in all
    n_tokens     their words in all
    """

    lexicon: Lexicon
    local: list[NDArray[np.int32]]
    documents: NDArray[np.int64]
    n_documents: int
    n_tokens: float

    @property
    def mean_length(self) -> float:
        """Words of a document, in the mean."""
        return self.n_tokens / max(self.n_documents, 1)

    @classmethod
    def of(
        cls, segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]], more: Sequence[Lexicon] = ()
    ) -> CollectionStats:
        """Put the words of segments together, and more words that queries may have: those of models."""
        lexicon = _merge([*(segment.corpus.lexicon for segment in segments), *more])
        local = [as_read_only(lexicon.numbers_in(segment.corpus.lexicon), np.int32) for segment in segments]
        documents, n_tokens = np.zeros(len(lexicon), np.int64), 0.0
        for segment, kept, numbers in zip(segments, alive, local, strict=True):
            counted = np.diff(segment.postings.ends)
            for deleted in np.flatnonzero(~kept):
                first, last = segment.corpus.rows.ends[deleted : deleted + 2]
                counted[segment.corpus.rows.words[first:last]] -= 1
            has = numbers >= 0
            documents[has] += np.maximum(counted[numbers[has]], 0)  # postings of unknown origin need not be those of the rows
            n_tokens += float(np.sum(segment.lengths[kept], dtype=np.float64))
        return cls(lexicon, local, documents, int(sum(np.sum(kept) for kept in alive)), n_tokens)


def _merge(lexicons: Sequence[Lexicon]) -> Lexicon:
    """The words of the first lexicon, then those of the others that are new; languages are those of all.

    One language without a name may be any one language, where there are no more.
    """
    languages = tuple(dict.fromkeys(language for lexicon in lexicons for language in lexicon.languages))
    if len(languages) == 2 and NAMELESS[0] in languages and all(len(lexicon.languages) == 1 for lexicon in lexicons):
        languages = tuple(language for language in languages if language != NAMELESS[0])
    numbers = {NAMELESS[0]: 0} | {language: number for number, language in enumerate(languages)}
    tables = []
    for lexicon in lexicons:
        of_word = np.array([numbers[language] for language in lexicon.languages])[lexicon.of_word]
        tables.append(pl.DataFrame({"word": lexicon.words, "language": of_word}))
    table = pl.concat(tables).unique(maintain_order=True)
    return Lexicon(table["word"], languages, as_read_only(table["language"].to_numpy(), np.int32))
