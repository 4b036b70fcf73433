"""Topic models that learn online, from batches with new words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl

from semascope.corpus.build.pipeline import Source
from semascope.corpus.corpus import Corpus
from semascope.errors import InputError
from semascope.models.topic_model import TopicModel
from semascope.models.validation import coerce_input, is_texts
from semascope.storage.facts import Fact, Whole
from semascope.training.online_lda import OnlineLDA, OnlineState, run_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

STREAM = "stream"
"""Value of `stopped_by_` after `partial_fit`."""


class OnlineTopicModel(TopicModel, ABC):
    """Topic model with `partial_fit`. Subclasses define the online algorithm and its state."""

    saved_facts: ClassVar[Mapping[str, Fact]] = {**TopicModel.saved_facts, "n_documents_seen_": Whole()}

    n_documents_seen_: int
    batch_size: int

    def partial_fit(self, X: Any, y: None = None, *, save_to: str | Path | None = None) -> Self:
        """Update the model with more documents; previous documents are not needed.

        Unless the model is fitted, the first call initializes the topics from its documents. Documents are processed in order,
        `batch_size` at a time. New words of texts and corpora are appended to the vocabulary. Empty documents are ignored.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            Training documents. A matrix must have the same columns in every call.
        y : None
            Ignored.
        save_to : path, optional
            Directory to save the model to after each batch. After a crash, load it and continue from document
            `n_documents_seen_`; the result is the same, bit for bit.

        Examples
        --------
        >>> from semascope import LDA
        >>> model = LDA(2, random_state=0).partial_fit(["cats purr", "cats meow", "stocks rise"])
        >>> model.partial_fit(["parrots talk and cats purr"]).vocabulary_[-3:]
        array(['and', 'parrots', 'talk'], dtype=object)
        """
        if isinstance(X, list | tuple | pl.Series | Corpus) and len(X) == 0:
            if hasattr(self, "components_"):
                return self
            msg = f"{type(self).__name__}: there are no documents to learn from."
            raise InputError(msg)
        corpus = self._engine().run_on_all(lambda: self._corpus_to_learn(X))
        learner = self._online_algorithm(corpus)
        state = (
            self._online_state().expand_vocabulary(corpus.n_words) if hasattr(self, "components_") else learner.start(corpus)
        )
        rows: list[NDArray[Any]] = []

        def keep(state: OnlineState) -> None:
            rows.append(state.theta)
            self._set_state(state, corpus, np.concatenate(rows))
            if save_to is not None:
                self.save(save_to)

        run_stream(learner, state, _batches(corpus, self.batch_size), keep)
        return self

    @abstractmethod
    def _online_algorithm(self, corpus: Corpus) -> OnlineLDA:
        """Create the online algorithm."""

    @abstractmethod
    def _online_state(self) -> OnlineState:
        """Return the state of the online algorithm."""

    def _set_state(self, state: OnlineState, corpus: Corpus, doc_topics: NDArray[Any]) -> None:
        """Set the fitted attributes and the vocabulary from a state."""
        if self._lexicon is not None and len(self._lexicon) < corpus.n_words:
            self._lexicon = corpus.lexicon
            if hasattr(self, "feature_names_in_"):
                self.feature_names_in_ = corpus.words.to_numpy()
        self.n_features_in_ = corpus.n_words
        self.components_ = state.topics.T
        self.topic_shares_ = state.topic_shares
        self.doc_topics_ = doc_topics
        self.n_documents_seen_ = state.documents
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1
        self.stopped_by_ = STREAM

    def _corpus_to_learn(self, X: Any) -> Corpus:
        """Convert documents to a corpus over the vocabulary of the model, extended by new words."""
        if not hasattr(self, "components_"):
            return self._corpus_to_fit(X)
        X = coerce_input(X)
        if not isinstance(X, Corpus | Source) and not is_texts(X):
            return Corpus.from_matrix(self._validated(X, reset=False))
        if self._lexicon is None:
            msg = "this model was fitted on a matrix without words, so it cannot learn from texts: pass a matrix."
            raise InputError(msg)
        if len(languages := self._lexicon.languages) > 1:
            msg = f"partial_fit learns from one language, but the model has {len(languages)}: {', '.join(languages)}."
            raise InputError(msg)
        if isinstance(X, Corpus):
            return X.reindexed(self._lexicon.extended(X.lexicon))
        make = Corpus.build if isinstance(X, Source) else Corpus.from_texts
        return make(X, analyzer=self.analyzer_, vocabulary=self._lexicon, extend=True)  # limits apply to new words only


def _batches(corpus: Corpus, batch_size: int) -> list[Corpus]:
    """Split a corpus into batches of equal size, at most `batch_size` documents."""
    n_batches = -(-corpus.n_documents // batch_size)
    if n_batches == 1:
        return [corpus]
    return [corpus.filter(part) for part in np.array_split(np.arange(corpus.n_documents), n_batches)]
