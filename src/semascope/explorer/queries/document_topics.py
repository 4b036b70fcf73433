"""How much of each document is due to each topic or label."""

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
    """Documents of a corpus, and how much of each is due to each topic or label of a model.

    Made by `DocumentShares.of`, and worth keeping: what takes a while is worked out once, when it is first asked for.

    model     the model
    corpus    the documents
    numbers   int64[d], of the documents in the corpus that have shares: those that the model was fitted to, if it was to these
    """

    model: Any
    corpus: Corpus
    themes: TopicView
    numbers: NDArray[np.int64]
    _known: NDArray[Any] | None

    @classmethod
    def of(cls, model: Any, corpus: Corpus | DocumentShares, themes: TopicView | None = None) -> DocumentShares:
        """Look at the documents of a corpus by a model; `themes` are the model's, if they are at hand already."""
        if isinstance(corpus, DocumentShares):
            return corpus
        themes = themes or TopicView.of(model)
        everything = np.arange(corpus.n_documents)
        if themes.kind == LABELS:
            return cls(model, corpus, themes, everything, None)
        about, known = model.corpus_, np.asarray(model.doc_topics_)
        if corpus.fingerprint == about["fingerprint"] and len(known) == corpus.n_documents:
            return cls(model, corpus, themes, everything, known)
        parted = about.get("split_from")
        if parted and parted["fingerprint"] == corpus.fingerprint:
            fitted_to, _ = divide_documents(corpus.n_documents, parted["heldout"], parted["seed"])
            if len(fitted_to) == len(known):
                return cls(model, corpus, themes, fitted_to, known)
        return cls(model, corpus, themes, everything, None)

    @cached_property
    def table(self) -> Any:
        """Shares, a row for each of `numbers` and a column for each topic; sparse for labels."""
        if self._known is not None:
            return self._known
        if self.themes.kind == LABELS:
            return self._of_labels(self.corpus)
        return self.model.transform(self.corpus)

    def column(self, topic: int) -> NDArray[np.float64]:
        """How much of each document is due to a topic."""
        if sp.issparse(self.table):
            return np.asarray(self._columns[:, [topic]].toarray(), np.float64).ravel()
        return np.asarray(self.table[:, topic], np.float64)

    def mixture(self, document: int) -> list[tuple[int, float]]:
        """Topics of one document of the corpus and their shares, the largest first, down to a thousandth."""
        row = self.row(document)
        order = np.argsort(-row, kind="stable")
        return [(int(topic), float(row[topic])) for topic in order if row[topic] >= 0.001]

    def row(self, document: int) -> NDArray[Any]:
        """How much of one document of the corpus is due to each topic."""
        place = int(np.searchsorted(self.numbers, document))
        if place == len(self.numbers) or self.numbers[place] != document:
            row: NDArray[Any] = np.asarray(self.model.transform(self.corpus.filter([document])))[0]
        elif self.themes.kind == LABELS and "table" not in vars(self):
            row = self._of_labels(self.corpus.filter([document])).toarray()[0]
        else:
            row = self.table[[place]].toarray()[0] if sp.issparse(self.table) else np.asarray(self.table[place])
        return row

    @cached_property
    def documents_of_topics(self) -> NDArray[np.int64]:
        """Of each topic, how many documents it is the largest of; of each label, how many have it."""
        if self.themes.kind == LABELS:
            rows = self.model.label_rows(self.corpus.labels)
            return np.bincount(rows.numbers, minlength=len(self.themes))
        return np.bincount(self.table.argmax(axis=1), minlength=len(self.themes))

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """Words of each document."""
        return document_lengths(self.corpus)[self.numbers]

    def telling(self, topic: int) -> NDArray[np.float64]:
        """Add up how much more probable a topic makes the words of each document than they are everywhere."""
        return np.asarray(self._counts @ self.themes.telling(topic).astype(np.float32), np.float64)[self.numbers]

    @cached_property
    def _counts(self) -> Any:
        """Counts over the words of the model."""
        return self._aligned(self.corpus).counts

    def _aligned(self, corpus: Corpus) -> Corpus:
        lexicon = self.model.lexicon_
        return corpus if lexicon is None else corpus.reindexed(lexicon)

    @cached_property
    def periods(self) -> pl.Series | None:
        """When each document is from, where that is known."""
        found = periods_of(self.corpus.documents)
        return None if found is None else found.gather(self.numbers)

    @cached_property
    def _columns(self) -> Any:
        return self.table.tocsc()

    def _of_labels(self, corpus: Corpus) -> Any:
        """Fold documents in over the labels that they have, and the background; those with neither have no shares."""
        known, alpha = self.model.label_words_, float(self.model.alpha)
        rows = self.model.label_rows(corpus.labels)
        shards = (ref.open() for ref in label_shards(self._aligned(corpus).shards(), rows))
        parts = [fold_in_labels(shard.rows, shard.labels, alpha, known) for shard in shards]
        theta = np.concatenate([*parts, np.zeros(0)])
        return sp.csr_array((theta, rows.numbers, rows.ends), shape=(corpus.n_documents, len(self.themes)))
