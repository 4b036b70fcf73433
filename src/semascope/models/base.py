"""What all topic models have in common: how they take data, show topics, and are kept."""

from __future__ import annotations

import numbers
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from semascope.corpus.analyze import Analyzer
from semascope.corpus.corpus import Corpus
from semascope.corpus.read import Documents
from semascope.corpus.shards import frozen
from semascope.engines.base import Engine
from semascope.engines.threads import ThreadEngine
from semascope.errors import InputError, InterruptedFitWarning
from semascope.evaluation.heldout import perplexity
from semascope.storage import Directory, writing
from semascope.training.checkpoint import Checkpoints, identity_of
from semascope.training.loop import Fitted, run
from semascope.training.progress import progress_bar
from semascope.training.stopping import INTERRUPTED, StopRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = "model"
VERSION = 1


class TopicModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A model whose topics are distributions over words. Subclasses fit it."""

    saved_arrays: ClassVar[tuple[str, ...]] = ("topic_shares_", "doc_topics_")
    """Fitted attributes kept as arrays, beside the topics themselves."""
    saved_facts: ClassVar[tuple[str, ...]] = ("n_iter_", "stopped_by_", "n_features_in_", "corpus_")
    """Fitted attributes kept in the manifest."""

    components_: NDArray[Any]
    doc_topics_: NDArray[Any]
    topic_shares_: NDArray[np.float64]
    analyzer_: Analyzer | None
    n_features_in_: int
    n_iter_: int
    stopped_by_: str
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
        if _is_texts(X):
            X = Corpus.from_texts(X)
        if isinstance(X, Corpus):
            corpus = X
            self.n_features_in_ = corpus.n_words
            self.analyzer_ = corpus.analyzer
            self._words: pl.Series | None = corpus.words
        else:
            corpus = Corpus.from_matrix(self._validated(X, reset=True))
            self.analyzer_ = None
            names = getattr(self, "feature_names_in_", None)
            self._words = None if names is None else pl.Series("word", names, dtype=pl.String)
        self.corpus_ = {"fingerprint": corpus.fingerprint, "path": str(corpus.path) if corpus.path else None}
        return corpus

    def _corpus_to_use(self, X: Any) -> Corpus:
        """Make a corpus over the words of the fitted model."""
        check_is_fitted(self, "components_")
        if isinstance(X, Corpus | Documents) or _is_texts(X):
            if self._words is None:
                msg = "this model was fitted on a matrix without words, so it cannot read texts: give it a matrix."
                raise InputError(msg)
            if isinstance(X, Corpus):
                return X.aligned(self._words)
            make = Corpus.build if isinstance(X, Documents) else Corpus.from_texts
            return make(X, analyzer=self.analyzer_, vocabulary=self._words)
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
        if not _is_whole(self.n_components) or self.n_components < 1:
            problem = f"n_components must be a whole number of at least 1, but was {self.n_components!r}"
        elif self.n_components > most:
            problem = (
                f"{self.n_components} topics are more than the data can tell apart: with {corpus.n_documents:,} documents "
                f"and {corpus.n_words:,} words, ask for at most {most}"
            )
        elif not _is_whole(self.max_iter) or self.max_iter < 1:
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
            "seed": _seed(self.random_state),
            "dtype": self.dtype,
        }

    def _train(self, algorithm: Any, corpus: Corpus, checkpoints: Checkpoints | None, settings: dict[str, Any]) -> Fitted:
        """Run an algorithm, and keep what every model learns. A checkpoint of a run with other `settings` is not resumed."""
        engine, name = self._engine(), type(self).__name__
        if checkpoints:
            identity = {**settings, **identity_of(algorithm), "corpus": corpus.fingerprint}
            checkpoints = replace(checkpoints, identity=identity)
        show = self.verbose and engine.leads
        measure = algorithm.objective_name
        with progress_bar(name, max_iter=self.max_iter, n_tokens=corpus.n_tokens, show=show, measure=measure) as watch:
            stop = StopRule(self.max_iter, self.tol)
            fitted = run(algorithm, corpus.shards(), engine, stop=stop, watch=watch, checkpoints=checkpoints)
        if fitted.stopped_by == INTERRUPTED and engine.leads:
            warnings.warn(
                f"Ctrl-C ended the fit after {len(fitted.history)} iterations; the model so far is kept.",
                InterruptedFitWarning,
                stacklevel=3,
            )
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
        if self._words is None:
            return np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object)
        return np.array(self._words.to_list(), dtype=object)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def top_words(self, n: int = 10, *, weights: bool = False) -> list[Any]:
        """Give the most probable words of each topic.

        Parameters
        ----------
        n : int, default=10
            How many.
        weights : bool, default=False
            Give pairs of word and probability instead of words.
        """
        check_is_fitted(self, "components_")
        words, top = self.vocabulary_, []
        for topic in np.asarray(self.components_):
            best = np.argsort(-topic, kind="stable")[:n]
            top.append([(words[j], float(topic[j])) if weights else words[j] for j in best if topic[j] > 0])
        return top

    def perplexity(self, X: Any, *, seed: int = 0) -> float:
        """Give the held-out perplexity of documents, by document completion; lower is better."""
        corpus = self._corpus_to_use(X)
        return perplexity(self.components_.T, corpus.shards(), self._engine(), seed=seed)

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
            if self._words is not None:
                draft.table("vocabulary", self._words.to_frame())
            draft.facts.update(
                model=type(self).__name__,
                settings={k: v for k, v in self.get_params(deep=False).items() if _is_plain(v)},
                analyzer=self.analyzer_.to_dict() if self.analyzer_ else None,
                fitted={name: getattr(self, name) for name in self.saved_facts},
            )

    @classmethod
    def _from_directory(cls, directory: Directory) -> Self:
        facts = directory.facts
        model = cls(**facts["settings"])
        model.components_ = directory.array("topics").T
        for name in cls.saved_arrays:
            setattr(model, name, directory.array(name.rstrip("_")))
        for name, value in facts["fitted"].items():
            setattr(model, name, value)
        model.analyzer_ = Analyzer.from_dict(facts["analyzer"]) if facts["analyzer"] else None
        model._words = directory.table("vocabulary")["word"] if "vocabulary.arrow" in directory else None
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


def _is_texts(X: Any) -> bool:
    """Tell a sequence of strings from a matrix."""
    if isinstance(X, str):
        msg = "expected several texts; put the one text into a list."
        raise InputError(msg)
    if isinstance(X, pl.Series):
        return X.dtype == pl.String
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], str)
    return isinstance(X, np.ndarray) and X.ndim == 1 and len(X) > 0 and isinstance(X[0], str)


def _seed(random_state: Any) -> int:
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_plain(value: Any) -> bool:
    """Tell settings that JSON can hold; an engine, say, is not part of a model."""
    return value is None or isinstance(value, bool | int | float | str)
