"""Scores by a topic model: Fisher kernels, divergence, and the likelihood of the query."""

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
"""What P(topic | document) is called in a segment."""


class TopicTables:
    """What scores by topics are made from: documents over the words of the model, and what is known of the words."""

    def __init__(self, segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]], lexicon: Lexicon, model: TopicModel):
        self.model = model
        self.segments, self._alive = segments, alive
        self._known = model.require_lexicon()
        self._numbers = as_read_only(lexicon.numbers_in(self._known), np.int32)

    def to_model_vocabulary(self, queries: CSR) -> CSR:
        """Return queries over the words of the model."""
        return CSR(*renumber(*queries, self._numbers, len(self._known)))

    def places(self, queries: CSR) -> NDArray[np.float64]:
        """Return P(topic | query) of queries over the words of the model."""
        numbers = {"id": [str(number) for number in range(len(queries.ends) - 1)]}
        return np.asarray(self.model.transform(Corpus(queries, self._known, numbers, self.model.analyzer_)), np.float64)

    @cached_property
    def topics(self) -> NDArray[Any]:
        """P(word | topic), a row for each word."""
        return as_read_only(self.model.components_.T, np.float32)

    @cached_property
    def rows(self) -> list[CSR]:
        """Of each segment, the counts over the words of the model; documents that were deleted are empty."""
        rows = (segment.corpus.reindexed(self._known).rows for segment in self.segments)
        return [_emptied(part, kept) for part, kept in zip(rows, self._alive, strict=True)]

    @cached_property
    def documents(self) -> list[TopicDocuments]:
        """The documents of each segment, as kernels take them."""
        found = []
        for segment, rows, kept in zip(self.segments, self.rows, self._alive, strict=True):
            by_word = shard_of(rows, 0, 0, len(kept), len(self._known)).by_word
            found.append(TopicDocuments(rows, by_word, segment.vectors[TOPICS] * kept[:, None]).ready())
        return found

    @cached_property
    def background(self) -> NDArray[np.float64]:
        """P(word) in documents that were not deleted; in each language by itself."""
        counts = np.zeros(len(self._known))
        for rows in self.rows:
            counts += np.bincount(rows.words, rows.counts, len(self._known))
        sums = np.bincount(self._known.of_word, counts, len(self._known.languages))[self._known.of_word]
        return np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0)

    @cached_property
    def fisher(self) -> dict[str, Fisher]:
        """The Fisher kernels of all documents, by the information they go by."""
        return {"ifim": Fisher(self.documents, self.topics, floor=0.0), "dfim": Fisher(self.documents, self.topics)}


def _emptied(rows: CSR, kept: NDArray[np.bool_]) -> CSR:
    """Take away the words of documents that are not kept."""
    if kept.all():
        return rows
    lengths = np.diff(rows.ends)
    entries = np.repeat(kept, lengths)
    return read_only(CSR(np.cumsum([0, *(lengths * kept)]), rows.words[entries], rows.counts[entries]))


@dataclass(frozen=True)
class ByTopics(ABC):
    """Scores of all documents by a topic model. Subclasses say what they are in a segment."""

    tables: TopicTables
    together: int = 16
    least: float = -np.inf

    def fill(self, queries: CSR, scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> None:
        asked, first = self.tables.to_model_vocabulary(queries), 0
        theta = self._theta(asked)
        for number, documents in enumerate(self.tables.documents):
            last = first + len(documents.theta)
            scores[:, first:last] = self._of_segment(number, asked, theta)
            first = last
        scores[np.diff(asked.ends) == 0] = -np.inf  # a query of which the model knows no word finds nothing

    def _theta(self, asked: CSR) -> Any:
        """What is to be known of queries beside their words."""
        return None

    @abstractmethod
    def _of_segment(self, number: int, asked: CSR, theta: Any) -> NDArray[np.float64]:
        """Scores of queries over the words of the model, for the documents of a segment."""


@dataclass(frozen=True)
class Divergence(ByTopics):
    """S_KL, as published or smoothed."""

    published: bool = False

    def _of_segment(self, number: int, asked: CSR, theta: Any) -> NDArray[np.float64]:
        tables = self.tables
        return kl_scores(tables.documents[number], tables.topics, asked, tables.background, published=self.published)


@dataclass(frozen=True)
class FisherKernel(ByTopics):
    """One of the twelve Fisher kernels."""

    process: str = "hofmann"
    information: str = "ifim"
    part: str = "both"

    def _theta(self, asked: CSR) -> Any:
        return self.tables.places(asked)

    def _of_segment(self, number: int, asked: CSR, theta: Any) -> NDArray[np.float64]:
        chosen = {"process": self.process, "information": self.information, "part": self.part}
        return self.tables.fisher[self.information].scores(number, asked, theta, **chosen)


@dataclass(frozen=True)
class Likelihood(ByTopics):
    """Likelihood of the query, the document's own words among what makes it likely."""

    def _of_segment(self, number: int, asked: CSR, theta: Any) -> NDArray[np.float64]:
        return likelihood_scores(self.tables.documents[number], self.tables.topics, asked, self.tables.background)

    def score_few(self, asked: CSR, query: int, segment: int, chosen: NDArray[np.int32], scores: NDArray[np.float32]) -> None:
        """Score some documents of a segment, by their numbers there, for one of some queries over the words of the model."""
        tables, mine = self.tables, slice(*asked.ends[query : query + 2])
        likelihoods_of_few(
            *tables.rows[segment], self.lengths[segment], self.theta[segment], tables.topics, self.shares, asked.words[mine],
            asked.counts[mine], np.float32(MU), np.float32(SHARE), chosen, scores,
        )  # fmt: skip

    @cached_property
    def theta(self) -> list[NDArray[np.float32]]:
        """P(topic | document) of each segment."""
        return [as_read_only(segment.vectors[TOPICS], np.float32) for segment in self.tables.segments]

    @cached_property
    def lengths(self) -> list[NDArray[np.float32]]:
        """Words of each document that the model knows."""
        found = (shard_of(rows, 0, 0, len(rows.ends) - 1, 0).lengths for rows in self.tables.rows)
        return [as_read_only(lengths, np.float32) for lengths in found]

    @cached_property
    def shares(self) -> NDArray[np.float32]:
        """P(word)."""
        return as_read_only(self.tables.background, np.float32)
