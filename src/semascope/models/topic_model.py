"""Base class of topic models: fitting, inspection and evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from semascope.corpus.corpus import Corpus
from semascope.corpus.lexicon import Lexicon
from semascope.corpus.shards import as_read_only
from semascope.errors import InputError
from semascope.evaluation.heldout import COMMON, COMMON_ALPHA, OWN, Completion, check_prior, perplexity
from semascope.evaluation.heldout_callback import heldout_callback
from semascope.inference.attribution import word_table
from semascope.models.base import Model
from semascope.models.display.notebook import NotebookRepr, pyldavis_arguments
from semascope.models.display.plots import Plots
from semascope.models.editing import NamedTopics
from semascope.models.layouts import PATH, TOPIC_ARRAYS, topic_layout
from semascope.models.registry import TOPICS
from semascope.models.sklearn_imports import check_is_fitted
from semascope.models.topic_names import name_problem
from semascope.models.validation import is_whole, names_of_features
from semascope.storage import Layout
from semascope.storage.facts import Fact
from semascope.storage.layout import Array
from semascope.training.checkpoint import Checkpoints
from semascope.training.loop import Fitted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semascope.models.validation import FeatureNames


class TopicModel(NamedTopics, Plots, NotebookRepr, Model):
    """Base class of models whose topics are distributions over words; subclasses implement `fit`."""

    kind: ClassVar[str] = TOPICS
    saved_arrays: ClassVar[Mapping[str, Array]] = TOPIC_ARRAYS
    """Arrays besides the topics; those with a topic axis declare how merging changes them."""
    saved_facts: ClassVar[Mapping[str, Fact]] = {**Model.saved_facts, "heldout_path_": PATH}

    doc_topics_: NDArray[Any]
    topic_shares_: NDArray[np.float64]
    heldout_path_: Sequence[Sequence[float]] = ()  # missing in models of older versions

    def _learn(
        self, algorithm: Any, corpus: Corpus, checkpoints: Checkpoints | None, settings: dict[str, Any], heldout: Any = None
    ) -> Fitted:
        """Train and set the fitted attributes; evaluate on the `heldout` documents, if any, after some iterations."""
        engine = self._engine()
        heldout_corpus = None if heldout is None else engine.run_on_all(lambda: self._to_model_vocabulary(heldout))
        work_dir = checkpoints.directory.parent if checkpoints else None
        with heldout_callback(heldout_corpus, corpus, engine, work_dir, self._completion_prior) as evaluator:
            if checkpoints and evaluator and heldout_corpus is not None:
                known_by = {"heldout": heldout_corpus.fingerprint}
                checkpoints = replace(checkpoints, identity=known_by, notes={"heldout_path": evaluator.path})
            fitted = self._train(algorithm, corpus, checkpoints, settings, evaluator)
            self.heldout_path_ = evaluator.finish(fitted) if evaluator else []
        self._topic_names = ()
        self.components_ = fitted.state.topics.T
        self.topic_shares_ = fitted.state.topic_shares
        self.doc_topics_ = fitted.documents
        return fitted

    @classmethod
    def _file_layout(cls) -> Layout:
        return topic_layout(cls.saved_arrays)

    def _extra_facts(self) -> dict[str, Any]:
        return {"topic_names": list(self._topic_names)}

    def _read_extra_facts(self, facts: dict[str, Any]) -> None:
        self._topic_names = facts.get("topic_names", ())  # missing in models of older versions

    def _problem_when_loaded(self) -> str | None:
        names = [name for name in self._topic_names if name is not None]
        if len(self._topic_names) > len(self.components_) or len(set(names)) < len(names):
            return f"facts.topic_names: expected different names for {len(self.components_):,} topics"
        if problem := next(filter(None, map(name_problem, names)), None):
            return f"facts.topic_names: {problem}"
        return super()._problem_when_loaded()

    @property
    def languages_(self) -> tuple[str, ...]:
        """Language codes if topics are normalized per language; empty here."""
        return ()

    def top_words(
        self,
        n: int = 10,
        *,
        weights: bool = False,
        language: str | None = None,
        feature_names: FeatureNames | None = None,
    ) -> list[Any]:
        """Return the most probable words of each topic.

        Parameters
        ----------
        n : int, default=10
            Number of words per topic.
        weights : bool, default=False
            Whether to return pairs of word and probability.
        language : str, optional
            Language to restrict the words to.
        feature_names : sequence of str, optional
            Column names of the training matrix: in a pipeline, `get_feature_names_out` of the vectorizer. Not needed for
            models fitted to a corpus, texts or a frame.

        Examples
        --------
        >>> from semascope import PLSA
        >>> PLSA(2, random_state=0).fit([[1, 1, 0], [0, 0, 1]]).top_words(1, feature_names=["cats", "purr", "dogs"])
        [['cats'], ['dogs']]
        """
        check_is_fitted(self, "components_")
        if not is_whole(n) or n < 1:
            msg = f"n must be a whole number of at least 1, but was {n!r}."
            raise InputError(msg)
        words, topics, top = self.vocabulary_, np.asarray(self.components_), []
        if feature_names is not None:
            words = names_of_features(feature_names, len(words))
        if language is not None:
            lexicon = self._lexicon or Lexicon.of([])
            chosen = lexicon.of_word == lexicon.number_of(language)
            words, topics = words[chosen], topics[:, chosen]
        for topic in topics:
            best = np.argsort(-topic, kind="stable")[:n]
            top.append([(words[j], float(topic[j])) if weights else words[j] for j in best if topic[j] > 0])
        return top

    def word_topics(self, X: Any) -> pl.DataFrame:
        """Compute the most probable topic of each word of each document.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            The documents. Unknown words are ignored.

        Returns
        -------
        polars.DataFrame
            One row for each word of each document, in vocabulary order: index of the ``document``, ``word``, ``count``, index
            of the ``topic``, and ``weight``, which is P(topic | word, document). The last two are null for a word that no
            topic of its document contains.

        Examples
        --------
        >>> from semascope import PLSA
        >>> model = PLSA(2, random_state=0).fit(["cats purr", "dogs bark", "cats cats", "dogs"])
        >>> model.word_topics(["dogs bark at dogs"]).select("document", "word", "count").rows()
        [(0, 'dogs', 2.0), (0, 'bark', 1.0)]
        """
        corpus = self.to_corpus(X)
        shares = np.asarray(self.transform(X if self._lexicon is None else corpus))
        return word_table(corpus.rows, pl.Series(self.vocabulary_), self._frozen_topics(), shares)

    def perplexity(self, X: Any, *, prior: str = OWN, seed: int = 0) -> float:
        """Compute the held-out perplexity of documents, by document completion; lower is better.

        The topics of each document are estimated from a random half of its tokens, and the other half is predicted. Unknown
        words are ignored.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            Held-out documents.
        prior : {"own", "common"}, default="own"
            Prior of the topics of a document. "own" is the prior of the model: α of LDA; PLSA has none, but uses its tempering
            and mixes P(word | document) with P(word), with weight 0.1, so that no word is impossible. Use it to select the
            number of topics and other hyperparameters. "common" is 0.1 per topic for all models. Use it to compare models of
            different kinds or packages with the same number of topics. It penalizes many topics, whose prior outweighs the
            words of a document, and models with learned α.
        seed : int, default=0
            Seed of the split into halves.

        Examples
        --------
        >>> from semascope import LDA
        >>> texts = ["cats purr", "dogs bark", "cats purr and purr", "dogs bark and bark"] * 5
        >>> model = LDA(2, alpha=0.01, random_state=0).fit(texts)
        >>> model.perplexity(texts) < model.perplexity(texts, prior="common")
        True
        """
        check_prior(prior)
        corpus = self.to_corpus(X)
        of_documents = COMMON_ALPHA if prior == COMMON else self._completion_prior()
        return perplexity(self.components_.T, corpus.shards(), self._engine(), prior=of_documents, seed=seed)

    def fitted_priors(self) -> dict[str, Any]:
        """Return the priors by name, as given or learned; empty here."""
        return {}

    def _completion_prior(self, state: Any = None) -> Completion:
        """Return the completion under the model's own document prior, fitted or at a training state.

        Without a prior, documents are completed by maximum likelihood, with a floor.
        """
        return Completion.maximum_likelihood(self.topic_shares_ if state is None else state.topic_shares)

    def score(self, X: Any, y: None = None) -> float:
        """Compute the mean held-out log-likelihood per token, −log `perplexity`; higher is better.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            Held-out documents.
        y : None
            Ignored.
        """
        return -math.log(self.perplexity(X))

    def to_pyldavis(self, X: Any) -> dict[str, NDArray[Any]]:
        """Return the arguments of `pyLDAvis.prepare`.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            Documents, for example the training documents. Words that do not occur in them are left out.

        Returns
        -------
        dict of str to ndarray
            ``topic_term_dists``, ``doc_topic_dists``, ``doc_lengths``, ``vocab`` and ``term_frequency``.

        Examples
        --------
        >>> from semascope import LDA
        >>> texts = ["cats purr", "dogs bark", "cats", "dogs"]
        >>> arguments = LDA(2, random_state=0).fit(texts).to_pyldavis(texts)  # pyLDAvis.prepare(**arguments)
        >>> arguments["vocab"].tolist(), arguments["term_frequency"].tolist(), arguments["doc_lengths"].tolist()
        (['cats', 'dogs', 'bark', 'purr'], [2.0, 2.0, 1.0, 1.0], [2.0, 2.0, 1.0, 1.0])
        """
        corpus = self.to_corpus(X)
        doc_topics = np.asarray(self.transform(X if self._lexicon is None else corpus))
        return pyldavis_arguments(self.vocabulary_, self.components_, doc_topics, corpus)

    def _frozen_topics(self) -> NDArray[Any]:
        """Return the topics for kernels, with words in rows."""
        return as_read_only(self.components_.T, self.components_.dtype)
