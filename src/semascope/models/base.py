"""What all topic models have in common: how they take data, show topics, and are kept."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from semascope.corpus.analyzers import Analyzers, from_settings, to_settings
from semascope.corpus.corpus import Corpus
from semascope.corpus.lexicon import NAMELESS, Lexicon
from semascope.corpus.read import Documents
from semascope.corpus.shards import frozen
from semascope.engines.base import Engine
from semascope.engines.threads import ThreadEngine
from semascope.errors import InputError, InterruptedFitWarning
from semascope.evaluation.coherence import coherence, diversity
from semascope.evaluation.heldout import perplexity
from semascope.evaluation.watching import in_turn, watching
from semascope.models.given import is_texts, is_whole, seed_of
from semascope.models.settings import read_settings, write_settings
from semascope.models.topics import NamedTopics
from semascope.models.words import word_table
from semascope.storage import Directory, writing
from semascope.training.checkpoint import Checkpoints, identity_of
from semascope.training.loop import Fitted, run
from semascope.training.progress import progress_bar
from semascope.training.stopping import INTERRUPTED, StopRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = "model"
VERSION = 2
"""Since 2, words may have languages."""


class TopicModel(NamedTopics, TransformerMixin, BaseEstimator):
    """A model whose topics are distributions over words. Subclasses fit it."""

    saved_arrays: ClassVar[tuple[str, ...]] = ("topic_shares_", "doc_topics_")
    """Fitted attributes kept as arrays, beside the topics themselves: their last axis is topics, and merged topics add up."""
    saved_facts: ClassVar[tuple[str, ...]] = ("n_iter_", "stopped_by_", "n_features_in_", "corpus_", "heldout_path_")
    """Fitted attributes kept in the manifest."""

    components_: NDArray[Any]
    doc_topics_: NDArray[Any]
    topic_shares_: NDArray[np.float64]
    analyzer_: Analyzers | None
    n_features_in_: int
    n_iter_: int
    stopped_by_: str
    corpus_: dict[str, Any]
    heldout_path_: Sequence[Sequence[float]] = ()  # models of older versions have none
    n_components: int
    max_iter: int
    tol: float
    dtype: str
    verbose: bool
    random_state: Any
    engine: Engine | None

    # --- data in -----------------------------------------------------------------------------------------------------------

    def _corpus_to_fit(self, X: Any) -> Corpus:
        """Make a corpus of what `fit` was given, and note its words."""
        if isinstance(X, list | tuple | pl.Series) and len(X) == 0:
            msg = f"{type(self).__name__}: there are no documents to learn from."
            raise InputError(msg)
        if is_texts(X):
            X = Corpus.from_texts(X)
        if isinstance(X, Corpus):
            corpus = X
            self.n_features_in_ = corpus.n_words
            self.analyzer_ = corpus.analyzer
            self._lexicon: Lexicon | None = corpus.lexicon
        else:
            corpus = Corpus.from_matrix(self._validated(X, reset=True))
            self.analyzer_ = None
            names = getattr(self, "feature_names_in_", None)
            self._lexicon = None if names is None else Lexicon.of(list(names))
        self.corpus_ = {"fingerprint": corpus.fingerprint, "path": str(corpus.path) if corpus.path else None}
        return corpus

    def _corpus_to_use(self, X: Any) -> Corpus:
        """Make a corpus over the words of the fitted model."""
        check_is_fitted(self, "components_")
        return self._over_its_words(X)

    def _over_its_words(self, X: Any) -> Corpus:
        if isinstance(X, Corpus | Documents) or is_texts(X):
            if self._lexicon is None:
                msg = "this model was fitted on a matrix without words, so it cannot read texts: give it a matrix."
                raise InputError(msg)
            if isinstance(X, Corpus):
                return X.aligned(self._lexicon)
            make = Corpus.build if isinstance(X, Documents) else Corpus.from_texts
            return make(X, analyzer=self.analyzer_, vocabulary=self._lexicon)
        return Corpus.from_matrix(self._validated(X, reset=False))

    def _validated(self, X: Any, *, reset: bool) -> Any:
        checked = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)
        check_non_negative(checked, f"{type(self).__name__}.{'fit' if reset else 'transform'}")
        return checked

    def _engine(self) -> Engine:
        return self.engine or ThreadEngine()

    def _see_that_it_makes_sense(self, corpus: Corpus, problem: str | None) -> None:
        """Say at once what is wrong with the settings that all models have, or with those of this one."""
        most = min(corpus.n_documents, corpus.n_words)
        if not is_whole(self.n_components) or self.n_components < 1:
            problem = f"n_components must be a whole number of at least 1, but was {self.n_components!r}"
        elif self.n_components > most:
            problem = (
                f"{self.n_components} topics are more than the data can tell apart: with {corpus.n_documents:,} documents "
                f"and {corpus.n_words:,} words, ask for at most {most}"
            )
        elif not is_whole(self.max_iter) or self.max_iter < 1:
            problem = f"max_iter must be a whole number of at least 1, but was {self.max_iter!r}"
        elif not self.tol >= 0:
            problem = f"tol must be a number of at least 0, but was {self.tol!r}"
        elif self.dtype not in ("float32", "float64"):
            problem = f'dtype must be "float32" or "float64", but was {self.dtype!r}'
        if problem:
            msg = f"{type(self).__name__}: {problem}."
            raise InputError(msg)

    # --- training ------------------------------------------------------------------------------------------------------------

    def _facts_for(self, corpus: Corpus) -> dict[str, Any]:
        """What every algorithm is told of the corpus and the settings."""
        return {
            "n_topics": self.n_components,
            "n_documents": corpus.n_documents,
            "n_words": corpus.n_words,
            "n_tokens": corpus.n_tokens,
            "seed": seed_of(self.random_state),
            "dtype": self.dtype,
        }

    def _train(
        self, algorithm: Any, corpus: Corpus, checkpoints: Checkpoints | None, settings: dict[str, Any], heldout: Any = None
    ) -> Fitted:
        """Run an algorithm, and keep what every model learns. A checkpoint of a run with other `settings` is not resumed.

        The topics are judged by the documents in `heldout` now and then, if there are any.
        """
        engine, name = self._engine(), type(self).__name__
        judges = None if heldout is None else engine.together(lambda: self._over_its_words(heldout))
        work_dir = checkpoints.directory.parent if checkpoints else None
        show, measure = self.verbose and engine.leads, algorithm.objective_name
        with (
            watching(judges, corpus, engine, work_dir) as judging,
            progress_bar(name, max_iter=self.max_iter, n_tokens=corpus.n_tokens, show=show, measure=measure) as bar,
        ):
            if checkpoints:
                identity = {**settings, **identity_of(algorithm), "corpus": corpus.fingerprint}
                identity |= {"heldout": judges.fingerprint} if judges is not None else {}
                notes = {"heldout_path": judging.path} if judging else checkpoints.notes
                checkpoints = replace(checkpoints, identity=identity, notes=notes)
            stop, watch = StopRule(self.max_iter, self.tol), in_turn(judging, bar)
            fitted = run(algorithm, corpus.shards(), engine, stop=stop, watch=watch, checkpoints=checkpoints)
            self.heldout_path_ = judging.finish(fitted) if judging else []
        if fitted.stopped_by == INTERRUPTED and engine.leads:
            warnings.warn(
                f"Ctrl-C ended the fit after {len(fitted.history)} iterations; the model so far is kept.",
                InterruptedFitWarning,
                stacklevel=3,
            )
        self._topic_names = ()
        self.components_ = fitted.state.topics.T
        self.topic_shares_ = fitted.state.topic_shares
        self.doc_topics_ = fitted.documents
        self.n_iter_ = len(fitted.history)
        self.stopped_by_ = fitted.stopped_by
        return fitted

    # --- what was learned ----------------------------------------------------------------------------------------------------

    @property
    def vocabulary_(self) -> NDArray[np.object_]:
        """The words; column j of `components_` is word j."""
        check_is_fitted(self, "components_")
        if self._lexicon is None:
            return np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object)
        return np.array(self._lexicon.words.to_list(), dtype=object)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    @property
    def languages_(self) -> tuple[str, ...]:
        """Codes of the languages in which topics have distributions of their own; none where there is one for all words."""
        return ()

    def top_words(self, n: int = 10, *, weights: bool = False, language: str | None = None) -> list[Any]:
        """Give the most probable words of each topic.

        Parameters
        ----------
        n : int, default=10
            How many.
        weights : bool, default=False
            Give pairs of word and probability instead of words.
        language : str, optional
            Only words of this language.
        """
        check_is_fitted(self, "components_")
        if not is_whole(n) or n < 1:
            msg = f"top_words shows at least one word of each topic, but n was {n!r}."
            raise InputError(msg)
        words, topics, top = self.vocabulary_, np.asarray(self.components_), []
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
        corpus = self._corpus_to_use(X)
        shares = np.asarray(self.transform(X if self._lexicon is None else corpus))
        return word_table(corpus.rows, pl.Series(self.vocabulary_), self._frozen_topics(), shares)

    def perplexity(self, X: Any, *, seed: int = 0) -> float:
        """Give the held-out perplexity of documents, by document completion; lower is better."""
        corpus = self._corpus_to_use(X)
        return perplexity(self.components_.T, corpus.shards(), self._engine(), seed=seed)

    def coherence(self, X: Any, measure: str = "npmi", n: int = 10) -> NDArray[np.float64]:
        """Tell how well the top words of each topic stand together in documents; higher is better.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            The documents to look for the words in; those the model was fitted to, for example.
        measure : {"npmi", "umass", "c_v"}, default="npmi"
            See `semascope.evaluation.coherence`, where they are defined.
        n : int, default=10
            How many top words of each topic.

        Returns
        -------
        ndarray of shape (n_components,)
            One value for each topic.
        """
        corpus = self._corpus_to_use(X)
        return coherence(self.components_.T, corpus, measure, n)

    def diversity(self, n: int = 25) -> float:
        """Give the share of distinct words among the top n words of all topics: 1 when topics share none of them."""
        check_is_fitted(self, "components_")
        return diversity(self.components_.T, n)

    # --- on disk -------------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the model as a directory; a crash meanwhile leaves what was there before. Read it with `semascope.load`."""
        check_is_fitted(self, "components_")
        self._engine().once(lambda: self._write(path))

    def _write(self, path: str | Path) -> None:
        with writing(path, FORMAT, VERSION) as draft:
            draft.array("topics", np.ascontiguousarray(self.components_.T))
            for name in self.saved_arrays:
                draft.array(name.rstrip("_"), getattr(self, name))
            if self._lexicon is not None:
                draft.table("vocabulary", self._lexicon.to_frame())
                draft.facts["languages"] = list(self._lexicon.languages)
            draft.facts.update(
                model=type(self).__name__,
                analyzer=to_settings(self.analyzer_),
                fitted={name: getattr(self, name) for name in self.saved_facts},
                topic_names=list(self._topic_names),
            )
            write_settings(draft, self.get_params(deep=False))

    @classmethod
    def _from_directory(cls, directory: Directory) -> Self:
        facts = directory.facts
        model = cls(**read_settings(directory))
        model.components_ = directory.array("topics").T
        for name in cls.saved_arrays:
            setattr(model, name, directory.array(name.rstrip("_")))
        for name, value in facts["fitted"].items():
            setattr(model, name, value)
        model._topic_names = facts.get("topic_names", ())  # models of older versions have none
        model.analyzer_ = from_settings(facts["analyzer"])
        words = directory.table("vocabulary") if "vocabulary.arrow" in directory else None
        model._lexicon = None if words is None else Lexicon.from_frame(words, facts.get("languages", NAMELESS))
        return model

    # --- scikit-learn --------------------------------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _frozen_topics(self) -> NDArray[Any]:
        """Topics as the kernels take them: a row for each word."""
        return frozen(self.components_.T, self.components_.dtype)
