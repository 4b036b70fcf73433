"""Immutable snapshot of a model with its documents and index."""

from __future__ import annotations

import copy
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.engines.threads import InlineEngine
from semascope.errors import SemascopeError
from semascope.explorer.errors import NotFoundError
from semascope.explorer.queries.document_topics import DocumentShares
from semascope.explorer.queries.views import find_corpus
from semascope.explorer.schemas import NO, PREPARING, WAYS, SearchState
from semascope.explorer.service.overview import Overview, read_corpus_overview
from semascope.models.display.topic_map import topic_map
from semascope.models.display.topic_view import TopicView
from semascope.models.labels.prediction import Scorer
from semascope.models.registry import LABELS
from semascope.retrieval.index import Index
from semascope.retrieval.similarities import BY_TOPICS

if TYPE_CHECKING:
    from numpy.typing import NDArray

MIN_SHARE = 0.05
"""Minimum share of a topic for a document to be listed under it."""
MAX_ORDERS = 32
"""Maximum number of cached document orders."""


@dataclass(eq=False)
class Search:
    """State of search, and the index once it is ready."""

    state: SearchState = NO
    index: Index | None = None

    @property
    def ways(self) -> list[str]:
        """Similarities that search supports."""
        if self.index is None:
            return WAYS if self.state == PREPARING else []
        return WAYS if self.index.topics is not None else [way for way in WAYS if way not in BY_TOPICS]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Immutable state of a model and its documents; each version of the model has its own.

    model     fitted model
    themes    its topics or labels
    shares    its documents; None if unavailable
    problem   what is unavailable, and the remedy
    search    state of search
    """

    model: Any
    themes: TopicView
    shares: DocumentShares | None
    problem: str | None
    search: Search = field(default_factory=Search)
    _orders: OrderedDict[int, NDArray[np.int64]] = field(default_factory=OrderedDict)
    _by_id: dict[str, int] = field(default_factory=dict)
    _lock: Any = field(default_factory=Lock)

    @classmethod
    def of(cls, model: Any, corpus: Path | None) -> Snapshot:
        """Create a snapshot whose documents stay available when their files are replaced."""
        themes = TopicView.of(model)
        try:
            documents, problem = find_corpus(model, corpus)
            shares = None if documents is None else DocumentShares.of(model, _map_files(documents), themes)
        except SemascopeError as error:
            shares, problem = None, str(error)
        if shares is not None and shares.corpus.path is not None:
            problem = read_corpus_overview(shares.corpus.path, given=True).problem
        return cls(model, themes, shares, problem)

    def with_model(self, model: Any) -> Snapshot:
        """Return a copy with a renamed or further trained model."""
        themes = TopicView.of(model)
        shares = None if self.shares is None else replace(self.shares, model=model, themes=themes)
        return replace(self, model=model, themes=themes, shares=shares, _orders=OrderedDict())

    @property
    def corpus(self) -> Corpus | None:
        return None if self.shares is None else self.shares.corpus

    @property
    def is_of_labels(self) -> bool:
        return self.themes.kind == LABELS

    @property
    def n_documents(self) -> int:
        """Number of documents of the corpus, or else of the fit."""
        if self.corpus is not None:
            return self.corpus.n_documents
        if self.is_of_labels:
            return int(self.model.n_documents_seen_) if self.model.learns_from_streams else 0
        return len(self.model.doc_topics_)

    @cached_property
    def overview(self) -> Overview:
        """Overview of the model."""
        fields = None if self.corpus is None else frozenset(self.corpus.documents.columns)
        places = topic_map(self.themes)
        return Overview(
            type(self.model).__name__, self.themes, places, self._n_of_each(), self.n_documents, fields, self.problem
        )

    def _n_of_each(self) -> NDArray[np.int64]:
        if self.is_of_labels:
            counted = self.model.label_documents_ if self.shares is None else self.shares.documents_of_topics
            return np.concatenate([counted, np.zeros(max(len(self.themes) - len(counted), 0), np.int64)])
        table = np.asarray(self.model.doc_topics_)
        if not len(table):
            return np.zeros(len(self.themes), np.int64)
        return np.bincount(table.argmax(axis=1), minlength=len(self.themes))

    def check_topic(self, topic: int) -> int:
        """Return a topic number, or raise an error if it does not exist."""
        if not 0 <= topic < len(self.themes):
            known = f"topics are numbered from 0 to {len(self.themes) - 1}" if len(self.themes) else "the model has none yet"
            msg = f"no topic {topic}; {known}."
            raise NotFoundError(msg)
        return topic

    def number_of(self, id: str) -> int:
        """Return the number of a document in the corpus."""
        if id not in self._numbers:
            msg = f"no document {id!r}." if self.corpus is not None else f"no documents: {self.problem}"
            raise NotFoundError(msg)
        return self._numbers[id]

    def has(self, id: str) -> bool:
        """Return whether a document exists."""
        return id in self._numbers

    @property
    def _numbers(self) -> dict[str, int]:
        if not self._by_id and self.corpus is not None:
            # In one step, so that other threads never see a partial table.
            self._by_id.update({id: number for number, id in enumerate(self.corpus.ids.to_list())})
        return self._by_id

    @cached_property
    def label_numbers(self) -> dict[str, int]:
        """Numbers of labels by name."""
        return {name: number for number, name in enumerate(self.themes.names) if self.themes.named[number]}

    def by_share(self, topic: int) -> NDArray[np.int64]:
        """Return the rows of `shares` with a topic, by decreasing share."""
        assert self.shares is not None
        with self._lock:
            if topic in self._orders:
                self._orders.move_to_end(topic)
                return self._orders[topic]
        column = self.shares.column(topic)
        having = np.flatnonzero(column >= MIN_SHARE)
        order = having[np.argsort(-column[having], kind="stable")]
        with self._lock:
            self._orders[topic] = order
            while len(self._orders) > MAX_ORDERS:
                self._orders.popitem(last=False)
        return order

    @cached_property
    def reader(self) -> Any:
        """Copy of the model for inference on single texts."""
        reader = copy.copy(self.model)
        reader.engine = InlineEngine()
        return reader

    @cached_property
    def scorer(self) -> Scorer:
        """Scorer of labels for new texts."""
        scorer: Scorer = self.model.label_scorer()
        return scorer


def _map_files(corpus: Corpus) -> Corpus:
    """Memory-map all files of a corpus now; mapped files survive replacement by another process."""
    _ = corpus.rows, corpus.lexicon, corpus.documents
    return corpus
