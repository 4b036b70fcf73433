"""What all topic models have in common: how topics are learned, shown and judged."""

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
    """A model whose topics are distributions over words. Subclasses fit it."""

    kind: ClassVar[str] = TOPICS
    saved_arrays: ClassVar[Mapping[str, Array]] = TOPIC_ARRAYS
    """Beside the topics themselves. Those with an axis of topics declare what becomes of them when topics are merged."""
    saved_facts: ClassVar[Mapping[str, Fact]] = {**Model.saved_facts, "heldout_path_": PATH}

    doc_topics_: NDArray[Any]
    topic_shares_: NDArray[np.float64]
    heldout_path_: Sequence[Sequence[float]] = ()  # models of older versions have none

    def _learn(
        self, algorithm: Any, corpus: Corpus, checkpoints: Checkpoints | None, settings: dict[str, Any], heldout: Any = None
    ) -> Fitted:
        """Train, and keep the topics. They are judged by the documents in `heldout` now and then, if there are any."""
        engine = self._engine()
        judges = None if heldout is None else engine.run_on_all(lambda: self._to_model_vocabulary(heldout))
        work_dir = checkpoints.directory.parent if checkpoints else None
        with heldout_callback(judges, corpus, engine, work_dir, self._completion_prior) as judging:
            if checkpoints and judging and judges is not None:
                known_by = {"heldout": judges.fingerprint}
                checkpoints = replace(checkpoints, identity=known_by, notes={"heldout_path": judging.path})
            fitted = self._train(algorithm, corpus, checkpoints, settings, judging)
            self.heldout_path_ = judging.finish(fitted) if judging else []
        self._topic_names = ()
        self.components_ = fitted.state.topics.T
        self.topic_shares_ = fitted.state.topic_shares
        self.doc_topics_ = fitted.documents
        return fitted

    @classmethod
    def _file_layout(cls) -> Layout:
        return topic_layout(cls.saved_arrays)

    def _more_facts(self) -> dict[str, Any]:
        return {"topic_names": list(self._topic_names)}

    def _take_more_facts(self, facts: dict[str, Any]) -> None:
        self._topic_names = facts.get("topic_names", ())  # models of older versions have none

    def _problem_when_loaded(self) -> str | None:
        names = [name for name in self._topic_names if name is not None]
        if len(self._topic_names) > len(self.components_) or len(set(names)) < len(names):
            return f"facts.topic_names: expected different names for {len(self.components_):,} topics"
        if problem := next(filter(None, map(name_problem, names)), None):
            return f"facts.topic_names: {problem}"
        return super()._problem_when_loaded()

    @property
    def languages_(self) -> tuple[str, ...]:
        """Codes of the languages in which topics have distributions of their own; none where there is one for all words."""
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
            How many.
        weights : bool, default=False
            Give pairs of word and probability instead of words.
        language : str, optional
            Only words of this language.
        feature_names : sequence of str, optional
            What the columns of the matrix are called that the model was fitted to: in a pipeline, what the vectorizer's
            `get_feature_names_out` gives. A model of a corpus, of texts or of a frame knows its words itself.

        Examples
        --------
        >>> from semascope import PLSA
        >>> PLSA(2, random_state=0).fit([[1, 1, 0], [0, 0, 1]]).top_words(1, feature_names=["cats", "purr", "dogs"])
        [['cats'], ['dogs']]
        """
        check_is_fitted(self, "components_")
        if not is_whole(n) or n < 1:
            msg = f"top_words shows at least one word of each topic, but n was {n!r}."
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
        """Tell which topic each word of each document is most probably due to.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            The documents. Words that the model does not know are left out.

        Returns
        -------
        polars.DataFrame
            A row for each word of each document, in the order of the vocabulary: number of the ``document``, ``word``,
            ``count``, number of the ``topic``, and ``weight``, which is P(topic | word, document). The last two are null for
            a word that no topic of its document can give.

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

        The topics of each document are estimated on one half of its words, chosen at random, and the other half is predicted.
        Words the model does not know are left out.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            Documents that the model was not fitted to.
        prior : {"own", "common"}, default="own"
            Prior of the topics of a document. "own" is that of the model: α of LDA; PLSA has none, but its tempering, and
            mixes P(word | document) with a share of 0.1 of P(word), so that no word is impossible. It serves to choose the
            number of topics and other hyperparameters of a model. "common" is 0.1 for every topic, whatever the model: it
            serves to compare models of different kinds, or of other packages, with the same number of topics. It penalizes
            many topics, since their prior outweighs the words of a document, and models that learned α.
        seed : int, default=0
            Determines the halves.

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
        """Return the priors, as given or learned, by their names; here there are none."""
        return {}

    def _completion_prior(self, state: Any = None) -> Completion:
        """Return the model's own prior of a document's topics, fitted or at a state of training.

        Here there is none: documents are completed by maximum likelihood, with a floor.
        """
        return Completion.maximum_likelihood(self.topic_shares_ if state is None else state.topic_shares)

    def score(self, X: Any, y: None = None) -> float:
        """Return the mean log-probability of words held out, −log `perplexity` by the model's own prior; higher is better.

        Grid searches maximize it.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            Documents that the model was not fitted to.
        y : None
            Ignored.
        """
        return -math.log(self.perplexity(X))

    def to_pyldavis(self, X: Any) -> dict[str, NDArray[Any]]:
        """Return the arguments of `pyLDAvis.prepare`, to be drawn by that package.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            Documents; those the model was fitted to, for example. Words that none of them has are left out.

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
        """Topics as the kernels take them: a row for each word."""
        return as_read_only(self.components_.T, self.components_.dtype)
