"""What requests are answered from: a model with its documents and an index, as they are at one time."""

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

ENOUGH = 0.05
"""A document has a topic if this share of it is due to it."""
MAX_ORDERS = 32
"""Topics for which the order of documents is remembered."""


@dataclass(eq=False)
class Search:
    """An index, once it is there."""

    state: SearchState = NO
    index: Index | None = None

    @property
    def ways(self) -> list[str]:
        """The ways to search."""
        if self.index is None:
            return WAYS if self.state == PREPARING else []
        return WAYS if self.index.topics is not None else [way for way in WAYS if way not in BY_TOPICS]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A model, and what is shown with it. It never changes; a new version of the model is another one of these.

    model     the model
    themes    its topics or labels
    shares    its documents; None where there are none
    problem   what cannot be shown, and what to do about it
    search    the index
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
        """Take up a model and its documents, so that they stay at hand when their files are replaced."""
        themes = TopicView.of(model)
        try:
            documents, problem = find_corpus(model, corpus)
            shares = None if documents is None else DocumentShares.of(model, _held(documents), themes)
        except SemascopeError as error:
            shares, problem = None, str(error)
        if shares is not None and shares.corpus.path is not None:
            problem = read_corpus_overview(shares.corpus.path, given=True).problem
        return cls(model, themes, shares, problem)

    def with_model(self, model: Any) -> Snapshot:
        """The same with a model whose topics have other names, or that has learned more."""
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
        """Documents at hand, or else those that were learned from."""
        if self.corpus is not None:
            return self.corpus.n_documents
        if self.is_of_labels:
            return int(self.model.n_documents_seen_) if self.model.learns_from_streams else 0
        return len(self.model.doc_topics_)

    @cached_property
    def overview(self) -> Overview:
        """What is seen first."""
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

    def checked(self, topic: int) -> int:
        """A topic that is there."""
        if not 0 <= topic < len(self.themes):
            there = f"they are numbered from 0 to {len(self.themes) - 1}" if len(self.themes) else "there are none yet"
            msg = f"there is no topic {topic}; {there}."
            raise NotFoundError(msg)
        return topic

    def number_of(self, id: str) -> int:
        """The number of a document in the corpus."""
        if id not in self._numbers:
            msg = f"there is no document {id!r}." if self.corpus is not None else f"there are no documents: {self.problem}"
            raise NotFoundError(msg)
        return self._numbers[id]

    def has(self, id: str) -> bool:
        """Tell whether there is such a document."""
        return id in self._numbers

    @property
    def _numbers(self) -> dict[str, int]:
        if not self._by_id and self.corpus is not None:
            # At one go: other threads shall not look into a table that is half full.
            self._by_id.update({id: number for number, id in enumerate(self.corpus.ids.to_list())})
        return self._by_id

    @cached_property
    def label_numbers(self) -> dict[str, int]:
        """Numbers of labels by their names."""
        return {name: number for number, name in enumerate(self.themes.names) if self.themes.named[number]}

    def by_share(self, topic: int) -> NDArray[np.int64]:
        """Places, among the documents with shares, of those that have a topic, most of it first."""
        assert self.shares is not None
        with self._lock:
            if topic in self._orders:
                self._orders.move_to_end(topic)
                return self._orders[topic]
        of_topic = self.shares.column(topic)
        having = np.flatnonzero(of_topic >= ENOUGH)
        order = having[np.argsort(-of_topic[having], kind="stable")]
        with self._lock:
            self._orders[topic] = order
            while len(self._orders) > MAX_ORDERS:
                self._orders.popitem(last=False)
        return order

    @cached_property
    def reader(self) -> Any:
        """The model, for one text at a time."""
        reader = copy.copy(self.model)
        reader.engine = InlineEngine()
        return reader

    @cached_property
    def scorer(self) -> Scorer:
        """What tells the labels of texts."""
        scorer: Scorer = self.model.label_scorer()
        return scorer


def _held(corpus: Corpus) -> Corpus:
    """Map all files of a corpus now: what is mapped stays when another process replaces or moves it."""
    _ = corpus.rows, corpus.lexicon, corpus.documents
    return corpus
