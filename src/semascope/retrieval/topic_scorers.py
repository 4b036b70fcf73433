"""Topic similarities: Fisher kernels, KL divergence and query likelihood."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.corpus.csr import CSR
from semascope.corpus.lexicon import Lexicon
from semascope.corpus.shards import as_read_only, read_only, shard_of
from semascope.kernels.csr import renumber
from semascope.kernels.postings import likelihoods_of_few
from semascope.models.topic_model import TopicModel
from semascope.retrieval.fisher import Fisher
from semascope.retrieval.likelihood import MU, SHARE, kl_scores, likelihood_scores
from semascope.retrieval.segments import Segment
from semascope.retrieval.topic_documents import TopicDocuments

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOPICS = "topics"
"""Name of P(topic | document) in a segment."""


class TopicTables:
    """Tables shared by topic scorers: documents over the vocabulary of the model, and word probabilities."""

    def __init__(self, segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]], lexicon: Lexicon, model: TopicModel):
        self.model = model
        self.segments, self._alive = segments, alive
        self._known = model.require_lexicon()
        self._numbers = as_read_only(lexicon.numbers_in(self._known), np.int32)

    def to_model_vocabulary(self, queries: CSR) -> CSR:
        """Convert queries to the vocabulary of the model."""
        return CSR(*renumber(*queries, self._numbers, len(self._known)))

    def infer(self, queries: CSR) -> NDArray[np.float64]:
        """Infer P(topic | query) of queries over the vocabulary of the model."""
        numbers = {"id": [str(number) for number in range(len(queries.ends) - 1)]}
        return np.asarray(self.model.transform(Corpus(queries, self._known, numbers, self.model.analyzer_)), np.float64)

    @cached_property
    def topics(self) -> NDArray[Any]:
        """P(word | topic), one row per word."""
        return as_read_only(self.model.components_.T, np.float32)

    @cached_property
    def rows(self) -> list[CSR]:
        """Counts of each segment over the vocabulary of the model; deleted documents are empty."""
        rows = (segment.corpus.reindexed(self._known).rows for segment in self.segments)
        return [_without_deleted(part, kept) for part, kept in zip(rows, self._alive, strict=True)]

    @cached_property
    def documents(self) -> list[TopicDocuments]:
        """Documents of each segment."""
        found = []
        for segment, rows, kept in zip(self.segments, self.rows, self._alive, strict=True):
            by_word = shard_of(rows, 0, 0, len(kept), len(self._known)).by_word
            found.append(TopicDocuments(rows, by_word, segment.vectors[TOPICS] * kept[:, None]).ready())
        return found

    @cached_property
    def background(self) -> NDArray[np.float64]:
        """P(word) in documents that were not deleted, normalized per language."""
        counts = np.zeros(len(self._known))
        for rows in self.rows:
            counts += np.bincount(rows.words, rows.counts, len(self._known))
        sums = np.bincount(self._known.of_word, counts, len(self._known.languages))[self._known.of_word]
        return np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0)

    @cached_property
    def fisher(self) -> dict[str, Fisher]:
        """Fisher kernels of all documents, by kind of information."""
        return {"ifim": Fisher(self.documents, self.topics, floor=0.0), "dfim": Fisher(self.documents, self.topics)}


def _without_deleted(rows: CSR, kept: NDArray[np.bool_]) -> CSR:
    """Return rows with the documents that are not kept emptied."""
    if kept.all():
        return rows
    lengths = np.diff(rows.ends)
    entries = np.repeat(kept, lengths)
    return read_only(CSR(np.cumsum([0, *(lengths * kept)]), rows.words[entries], rows.counts[entries]))


@dataclass(frozen=True)
class TopicScorer(ABC):
    """Scorer by a topic model. Subclasses score a segment."""

    tables: TopicTables
    batch_size: int = 16
    min_score: float = -np.inf

    def fill(self, queries: CSR, scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> None:
        model_queries, first = self.tables.to_model_vocabulary(queries), 0
        theta = self._theta(model_queries)
        for number, documents in enumerate(self.tables.documents):
            last = first + len(documents.theta)
            scores[:, first:last] = self._of_segment(number, model_queries, theta)
            first = last
        scores[np.diff(model_queries.ends) == 0] = -np.inf  # the model knows no word of these queries

    def _theta(self, model_queries: CSR) -> Any:
        """Return P(topic | query) if the scorer needs it."""
        return None

    @abstractmethod
    def _of_segment(self, number: int, model_queries: CSR, theta: Any) -> NDArray[np.float64]:
        """Return the scores of the documents of a segment for queries over the vocabulary of the model."""


@dataclass(frozen=True)
class Divergence(TopicScorer):
    """KL divergence, as published or smoothed."""

    published: bool = False

    def _of_segment(self, number: int, model_queries: CSR, theta: Any) -> NDArray[np.float64]:
        tables = self.tables
        return kl_scores(tables.documents[number], tables.topics, model_queries, tables.background, published=self.published)


@dataclass(frozen=True)
class FisherKernel(TopicScorer):
    """Fisher kernel, one of twelve."""

    process: str = "hofmann"
    information: str = "ifim"
    part: str = "both"

    def _theta(self, model_queries: CSR) -> Any:
        return self.tables.infer(model_queries)

    def _of_segment(self, number: int, model_queries: CSR, theta: Any) -> NDArray[np.float64]:
        chosen = {"process": self.process, "information": self.information, "part": self.part}
        return self.tables.fisher[self.information].scores(number, model_queries, theta, **chosen)


@dataclass(frozen=True)
class Likelihood(TopicScorer):
    """Query likelihood under a mixture of document and topic model."""

    def _of_segment(self, number: int, model_queries: CSR, theta: Any) -> NDArray[np.float64]:
        return likelihood_scores(self.tables.documents[number], self.tables.topics, model_queries, self.tables.background)

    def score_few(
        self, model_queries: CSR, query: int, segment: int, chosen: NDArray[np.int32], scores: NDArray[np.float32]
    ) -> None:
        """Score some documents of a segment for one of the queries over the vocabulary of the model."""
        tables, entries = self.tables, slice(*model_queries.ends[query : query + 2])
        likelihoods_of_few(
            *tables.rows[segment], self.lengths[segment], self.theta[segment], tables.topics, self.shares,
            model_queries.words[entries], model_queries.counts[entries], np.float32(MU), np.float32(SHARE), chosen, scores,
        )  # fmt: skip

    @cached_property
    def theta(self) -> list[NDArray[np.float32]]:
        """P(topic | document) in each segment."""
        return [as_read_only(segment.vectors[TOPICS], np.float32) for segment in self.tables.segments]

    @cached_property
    def lengths(self) -> list[NDArray[np.float32]]:
        """Length of each document in words that the model knows."""
        found = (shard_of(rows, 0, 0, len(rows.ends) - 1, 0).lengths for rows in self.tables.rows)
        return [as_read_only(lengths, np.float32) for lengths in found]

    @cached_property
    def shares(self) -> NDArray[np.float32]:
        """P(word)."""
        return as_read_only(self.tables.background, np.float32)
