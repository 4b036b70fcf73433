"""Shares of topics or labels in documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from semascope.corpus.corpus import Corpus
from semascope.corpus.fields import divide_documents
from semascope.corpus.labels import label_shards
from semascope.corpus.summary import document_lengths
from semascope.explorer.queries.periods import periods_of
from semascope.inference.labels import fold_in_labels
from semascope.models.display.topic_view import TopicView
from semascope.models.registry import LABELS

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class DocumentShares:
    """Documents of a corpus, with the shares of the topics or labels of a model in them.

    Create it with `DocumentShares.of` and keep it: expensive results are computed lazily and cached.

    model     the model
    corpus    the documents
    numbers   int64[d], documents of the corpus that have shares: those the model was fitted to, if it was to this corpus
    """

    model: Any
    corpus: Corpus
    themes: TopicView
    numbers: NDArray[np.int64]
    _known: NDArray[Any] | None

    @classmethod
    def of(cls, model: Any, corpus: Corpus | DocumentShares, themes: TopicView | None = None) -> DocumentShares:
        """Create the shares of a corpus under a model; `themes` are the topics of the model, if already available."""
        if isinstance(corpus, DocumentShares):
            return corpus
        themes = themes or TopicView.of(model)
        everything = np.arange(corpus.n_documents)
        if themes.kind == LABELS:
            return cls(model, corpus, themes, everything, None)
        about, known = model.corpus_, np.asarray(model.doc_topics_)
        if corpus.fingerprint == about["fingerprint"] and len(known) == corpus.n_documents:
            return cls(model, corpus, themes, everything, known)
        split = about.get("split_from")
        if split and split["fingerprint"] == corpus.fingerprint:
            fitted_to, _ = divide_documents(corpus.n_documents, split["heldout"], split["seed"])
            if len(fitted_to) == len(known):
                return cls(model, corpus, themes, fitted_to, known)
        return cls(model, corpus, themes, everything, None)

    @cached_property
    def table(self) -> Any:
        """Shares with a row for each of `numbers` and a column for each topic; sparse for labels."""
        if self._known is not None:
            return self._known
        if self.themes.kind == LABELS:
            return self._fold_in_labels(self.corpus)
        return self.model.transform(self.corpus)

    def column(self, topic: int) -> NDArray[np.float64]:
        """Return the share of a topic in each document."""
        if sp.issparse(self.table):
            return np.asarray(self._columns[:, [topic]].toarray(), np.float64).ravel()
        return np.asarray(self.table[:, topic], np.float64)

    def mixture(self, document: int) -> list[tuple[int, float]]:
        """Return the topics of one document with their shares, largest first, down to 0.001."""
        row = self.row(document)
        order = np.argsort(-row, kind="stable")
        return [(int(topic), float(row[topic])) for topic in order if row[topic] >= 0.001]

    def row(self, document: int) -> NDArray[Any]:
        """Return the share of each topic in one document."""
        place = int(np.searchsorted(self.numbers, document))
        if place == len(self.numbers) or self.numbers[place] != document:
            row: NDArray[Any] = np.asarray(self.model.transform(self.corpus.filter([document])))[0]
        elif self.themes.kind == LABELS and "table" not in vars(self):
            row = self._fold_in_labels(self.corpus.filter([document])).toarray()[0]
        else:
            row = self.table[[place]].toarray()[0] if sp.issparse(self.table) else np.asarray(self.table[place])
        return row

    @cached_property
    def documents_of_topics(self) -> NDArray[np.int64]:
        """Number of documents of which a topic is the largest, or that have a label."""
        if self.themes.kind == LABELS:
            rows = self.model.label_rows(self.corpus.labels)
            return np.bincount(rows.numbers, minlength=len(self.themes))
        return np.bincount(self.table.argmax(axis=1), minlength=len(self.themes))

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """Number of tokens in each document."""
        return document_lengths(self.corpus)[self.numbers]

    def telling(self, topic: int) -> NDArray[np.float64]:
        """Compute Σ log P(word | topic) / P(word) over the tokens of each document."""
        return np.asarray(self._counts @ self.themes.telling(topic).astype(np.float32), np.float64)[self.numbers]

    @cached_property
    def _counts(self) -> Any:
        """Counts over the vocabulary of the model."""
        return self._aligned(self.corpus).counts

    def _aligned(self, corpus: Corpus) -> Corpus:
        lexicon = self.model.lexicon_
        return corpus if lexicon is None else corpus.reindexed(lexicon)

    @cached_property
    def periods(self) -> pl.Series | None:
        """Period of each document, or None if unknown."""
        periods = periods_of(self.corpus.documents)
        return None if periods is None else periods.gather(self.numbers)

    @cached_property
    def _columns(self) -> Any:
        return self.table.tocsc()

    def _fold_in_labels(self, corpus: Corpus) -> Any:
        """Fold in documents over their own labels and the background; documents with neither have no shares."""
        known, alpha = self.model.label_words_, float(self.model.alpha)
        rows = self.model.label_rows(corpus.labels)
        shards = (ref.open() for ref in label_shards(self._aligned(corpus).shards(), rows))
        parts = [fold_in_labels(shard.rows, shard.labels, alpha, known) for shard in shards]
        theta = np.concatenate([*parts, np.zeros(0)])
        return sp.csr_array((theta, rows.numbers, rows.ends), shape=(corpus.n_documents, len(self.themes)))
