"""Lexical similarities (BM25 and TF-IDF cosine) and the collection statistics they need."""

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
"""Parameters k1 and b of BM25."""


class PostingScorer(ABC):
    """Sum of the weights of the words that a query and a document share."""

    batch_size = 8
    min_score = 0.0

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
        """Return the weight of each posting."""

    @abstractmethod
    def _factors(self, queries: CSR) -> NDArray[Any]:
        """Return the factor of each word of the queries."""


class BM25(PostingScorer):
    """BM25 as in Lucene: Σ_w n_qw log(1 + (D − d_w + ½)/(d_w + ½)) n_dw / (n_dw + k1 (1 − b + b |d| / mean |d|))."""

    def _of_segment(self, segment: Segment, local: NDArray[np.int32]) -> NDArray[np.float32]:
        documents = self._words.documents
        rarity = np.log1p((self._words.n_documents - documents + 0.5) / (documents + 0.5))
        weights = np.empty(len(segment.postings.documents), np.float32)
        mean_length = max(self._words.mean_length, 1e-9)
        of_word = as_read_only(_in_segment(rarity, segment, local), np.float32)
        bm25_weights(*segment.postings, segment.lengths, of_word, mean_length, SATURATION, NORMALIZATION, weights)
        return weights

    def _factors(self, queries: CSR) -> NDArray[Any]:
        return queries.counts


class Cosine(PostingScorer):
    """Cosine of counts weighted by log(D / d_w) + 1: the vector space model."""

    def __init__(self, segments: Sequence[Segment], words: CollectionStats) -> None:
        rarity = np.log(max(words.n_documents, 1) / np.maximum(words.documents, 1)) + 1
        self._rarity = np.where(words.documents > 0, rarity, 0.0)  # zero for words in no document
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
    """Return values of all words in the word order of a segment."""
    mine = np.zeros(segment.corpus.n_words)
    has = local >= 0
    mine[local[has]] = of_word[has]
    return mine


@dataclass(frozen=True, eq=False)
class CollectionStats:
    """Words of an index and their statistics over all documents that were not deleted.

    lexicon      words of the first segment, then new words of the later ones, then words that only models know
    local        for each segment, the number of each word there, or -1
    documents    int64[v], document frequencies
    n_documents  number of documents
    n_tokens     number of tokens
    """

    lexicon: Lexicon
    local: list[NDArray[np.int32]]
    documents: NDArray[np.int64]
    n_documents: int
    n_tokens: float

    @property
    def mean_length(self) -> float:
        """Mean document length."""
        return self.n_tokens / max(self.n_documents, 1)

    @classmethod
    def of(
        cls, segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]], more: Sequence[Lexicon] = ()
    ) -> CollectionStats:
        """Merge the words of segments and `more` words that queries may have, those of models."""
        lexicon = _merge([*(segment.corpus.lexicon for segment in segments), *more])
        local = [as_read_only(lexicon.numbers_in(segment.corpus.lexicon), np.int32) for segment in segments]
        documents, n_tokens = np.zeros(len(lexicon), np.int64), 0.0
        for segment, kept, numbers in zip(segments, alive, local, strict=True):
            frequencies = np.diff(segment.postings.ends)
            for deleted in np.flatnonzero(~kept):
                first, last = segment.corpus.rows.ends[deleted : deleted + 2]
                frequencies[segment.corpus.rows.words[first:last]] -= 1
            has = numbers >= 0
            documents[has] += np.maximum(frequencies[numbers[has]], 0)  # untrusted postings may disagree with the rows
            n_tokens += float(np.sum(segment.lengths[kept], dtype=np.float64))
        return cls(lexicon, local, documents, int(sum(np.sum(kept) for kept in alive)), n_tokens)


def _merge(lexicons: Sequence[Lexicon]) -> Lexicon:
    """Return the words of the first lexicon, then the new ones of the others, with the languages of all.

    If every lexicon has one language, an unnamed one is taken to be the named one.
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
