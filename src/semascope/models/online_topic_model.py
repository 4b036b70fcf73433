"""Models that learn from a stream: batch after batch, with words that nobody knew before."""

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
"""Why a model that was fed a stream stopped: there was no more."""


class OnlineTopicModel(TopicModel, ABC):
    """A topic model with `partial_fit`. Subclasses say who learns, and what they know."""

    saved_facts: ClassVar[Mapping[str, Fact]] = {**TopicModel.saved_facts, "n_documents_seen_": Whole()}

    n_documents_seen_: int
    batch_size: int

    def partial_fit(self, X: Any, y: None = None, *, save_to: str | Path | None = None) -> Self:
        """Learn from more documents; those learned from before are not needed again.

        The first call starts the topics from its documents, unless the model was fitted already. Documents are taken in the
        order in which they come, `batch_size` at a time. New words of texts and corpora join the vocabulary at its end.
        Documents without words teach nothing.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            What to learn from. A matrix has the same words every time.
        y : None
            Ignored.
        save_to : path, optional
            Save the model there after each batch. A crash leaves the model of the batch before, `n_documents_seen_` of which
            tells where to go on; loaded, it goes on to the same bits.

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
            msg = f"{type(self).__name__}: there are no documents to start from."
            raise InputError(msg)
        corpus = self._engine().run_on_all(lambda: self._corpus_to_learn(X))
        learner = self._learner(corpus)
        state = self._known().expand_vocabulary(corpus.n_words) if hasattr(self, "components_") else learner.start(corpus)
        rows: list[NDArray[Any]] = []

        def keep(state: OnlineState) -> None:
            rows.append(state.theta)
            self._take(state, corpus, np.concatenate(rows))
            if save_to is not None:
                self.save(save_to)

        run_stream(learner, state, _batches(corpus, self.batch_size), keep)
        return self

    @abstractmethod
    def _learner(self, corpus: Corpus) -> OnlineLDA:
        """Who learns from a batch."""

    @abstractmethod
    def _known(self) -> OnlineState:
        """What the model knows."""

    def _take(self, state: OnlineState, corpus: Corpus, doc_topics: NDArray[Any]) -> None:
        """Take over what was learned, and the words it is about."""
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
        """Make a corpus over the words of the model and, after them, those that are new."""
        if not hasattr(self, "components_"):
            return self._corpus_to_fit(X)
        X = coerce_input(X)
        if not isinstance(X, Corpus | Source) and not is_texts(X):
            return Corpus.from_matrix(self._validated(X, reset=False))
        if self._lexicon is None:
            msg = "this model was fitted on a matrix without words, so it cannot learn from texts: give it a matrix."
            raise InputError(msg)
        if len(languages := self._lexicon.languages) > 1:
            msg = f"partial_fit learns from one language, but the model has {len(languages)}: {', '.join(languages)}."
            raise InputError(msg)
        if isinstance(X, Corpus):
            return X.reindexed(self._lexicon.extended(X.lexicon))
        make = Corpus.build if isinstance(X, Source) else Corpus.from_texts
        return make(X, analyzer=self.analyzer_, vocabulary=self._lexicon, extend=True)  # limits are for new words only


def _batches(corpus: Corpus, batch_size: int) -> list[Corpus]:
    """Cut a corpus into equal batches of no more than `batch_size` documents."""
    n_batches = -(-corpus.n_documents // batch_size)
    if n_batches == 1:
        return [corpus]
    return [corpus.filter(part) for part in np.array_split(np.arange(corpus.n_documents), n_batches)]
