"""Base class of all models: input, training and persistence."""

from __future__ import annotations

import copy
import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import polars as pl

from semascope.corpus.build.pipeline import Source
from semascope.corpus.corpus import Corpus
from semascope.corpus.lexicon import Lexicon, read_lexicon
from semascope.corpus.shards import ShardRef
from semascope.corpus.text.analyzer import Analyzers, read_analyzers, to_settings
from semascope.engines.base import Engine
from semascope.engines.threads import ThreadEngine
from semascope.errors import FormatError, InputError, InterruptedFitWarning
from semascope.evaluation.coherence import coherence, diversity
from semascope.evaluation.heldout_callback import compose
from semascope.models.layouts import FITTED
from semascope.models.serialization import read_settings, write_settings
from semascope.models.sklearn_imports import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    check_is_fitted,
    check_non_negative,
    validate_data,
)
from semascope.models.validation import coerce_input, is_number, is_texts, is_whole, seed_of
from semascope.storage import MANIFEST, Directory, Draft, Layout, writing
from semascope.storage.facts import Fact, Maybe, Record, Whole
from semascope.storage.layout import Array
from semascope.training.callbacks import progress_bar
from semascope.training.checkpoint import Checkpoints, identity_of
from semascope.training.loop import Fitted, run
from semascope.training.stopping import INTERRUPTED, StopReason, StopRule

if TYPE_CHECKING:
    from numpy.typing import NDArray


_SEED = Maybe(Whole(high=2**128))


class Objective(NamedTuple):
    """Objective of a fit.

    attribute   fitted attribute with one value per iteration
    name        display name
    short       shorter display name, if any
    """

    attribute: str
    name: str
    short: str = ""


class Model(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of models with one row of `components_` per topic, label or dimension."""

    kind: ClassVar[str]
    """Kind of the components: a key of `semascope.models.registry.KINDS`."""
    learns_from_streams: ClassVar[bool] = False
    """Whether the model learns document by document and has no training corpus."""
    objectives: ClassVar[Sequence[Objective]] = (Objective("log_likelihood_", "log-likelihood"),)
    """Objectives that a fit may have; the first with values is the one of this fit."""
    saved_arrays: ClassVar[Mapping[str, Array]] = {}
    """Fitted attributes saved as arrays, besides `components_`, and their declarations."""
    saved_facts: ClassVar[Mapping[str, Fact]] = FITTED
    """Fitted attributes saved in the manifest, and their declarations."""

    components_: NDArray[Any]
    analyzer_: Analyzers | None
    n_features_in_: int
    n_iter_: int
    stopped_by_: str
    corpus_: dict[str, Any]
    n_components: int
    max_iter: int
    tol: float
    dtype: str
    verbose: bool
    random_state: Any
    engine: Engine | None

    # --- input -------------------------------------------------------------------------------------------------------------

    def _corpus_to_fit(self, X: Any) -> Corpus:
        """Convert the input of `fit` to a corpus, and store its vocabulary."""
        X = coerce_input(X)
        if isinstance(X, list | tuple | pl.Series) and len(X) == 0:
            msg = f"{type(self).__name__}: there are no documents to learn from."
            raise InputError(msg)
        if isinstance(X, Source):
            X = Corpus.build(X)
        elif is_texts(X):
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

    def to_corpus(self, X: Any) -> Corpus:
        """Convert documents to a corpus over the vocabulary of the model; unknown words are ignored.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            The documents.

        Examples
        --------
        >>> from semascope import PLSA
        >>> model = PLSA(2, random_state=0).fit(["cats purr", "dogs bark", "cats", "dogs"])
        >>> corpus = model.to_corpus(["dogs and parrots bark"])
        >>> corpus.n_words, corpus.n_tokens
        (4, 2.0)
        """
        check_is_fitted(self)
        return self._to_model_vocabulary(X)

    def _to_model_vocabulary(self, X: Any) -> Corpus:
        X = coerce_input(X)
        if isinstance(X, Corpus | Source) or is_texts(X):
            lexicon = self.require_lexicon()
            if isinstance(X, Corpus):
                return X.reindexed(lexicon)
            make = Corpus.build if isinstance(X, Source) else Corpus.from_texts
            return make(X, analyzer=self.analyzer_, vocabulary=lexicon)
        return Corpus.from_matrix(self._validated(X, reset=False))

    @property
    def lexicon_(self) -> Lexicon | None:
        """Vocabulary with languages; None if the model was fitted to a matrix without feature names."""
        check_is_fitted(self)
        return self._lexicon

    def require_lexicon(self) -> Lexicon:
        """Return the vocabulary with languages; raise `InputError` if the model has none."""
        if self._lexicon is None:
            msg = "this model was fitted on a matrix without words, so it cannot read texts: pass a matrix."
            raise InputError(msg)
        return self._lexicon

    def _validated(self, X: Any, *, reset: bool) -> Any:
        checked = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)
        check_non_negative(checked, f"{type(self).__name__}.{'fit' if reset else 'transform'}")
        return checked

    def _engine(self) -> Engine:
        return self.engine or ThreadEngine()

    def _validate_settings(self, corpus: Corpus, problem: str | None) -> None:
        """Validate the hyperparameters; `problem` is what the caller found wrong, if anything."""
        problem = self._problem_of_settings() or self._problem_of_size(corpus) or problem
        if problem:
            msg = f"{type(self).__name__}: {problem}."
            raise InputError(msg)

    def _problem_of_settings(self) -> str | None:
        """Return what is wrong with the hyperparameters, regardless of the data, or None."""
        if not is_whole(self.n_components) or self.n_components < 1:
            return f"n_components must be a whole number of at least 1, but was {self.n_components!r}"
        if self.dtype not in ("float32", "float64"):
            return f'dtype must be "float32" or "float64", but was {self.dtype!r}'
        return self._problem_of_stopping()

    def _problem_of_size(self, corpus: Corpus) -> str | None:
        """Return what is wrong with the number of components for the data, or None."""
        max_components = min(corpus.n_documents, corpus.n_words)
        if self.n_components > max_components:
            return (
                f"{self.n_components} {self.kind} are too many for the data: with {corpus.n_documents:,} documents "
                f"and {corpus.n_words:,} words, use at most {max_components}"
            )
        return None

    def _problem_of_stopping(self) -> str | None:
        """Return what is wrong with `max_iter` or `tol`, or None."""
        if not is_whole(self.max_iter) or self.max_iter < 1:
            return f"max_iter must be a whole number of at least 1, but was {self.max_iter!r}"
        if not is_number(self.tol) or not self.tol >= 0:
            return f"tol must be a number of at least 0, but was {self.tol!r}"
        return None

    # --- training ------------------------------------------------------------------------------------------------------------

    def _config_for(self, corpus: Corpus) -> dict[str, Any]:
        """Return the arguments common to all algorithms."""
        return {
            "n_topics": self.n_components,
            "n_documents": corpus.n_documents,
            "n_words": corpus.n_words,
            "n_tokens": corpus.n_tokens,
            "seed": seed_of(self.random_state),
            "dtype": self.dtype,
        }

    def _train(
        self,
        algorithm: Any,
        corpus: Corpus,
        checkpoints: Checkpoints | None,
        settings: dict[str, Any],
        evaluator: Any = None,
        shards: Sequence[ShardRef] | None = None,
    ) -> Fitted:
        """Run an algorithm and set the fitted attributes of all models.

        A checkpoint of a run with different `settings` is not resumed. `shards` replace those of the corpus for algorithms
        that need more than counts.
        """
        engine, name = self._engine(), type(self).__name__
        bar_options = {
            "measure": algorithm.objective_name,
            "per_token": algorithm.per_token,
            "show": self.verbose and engine.is_root,
        }
        with progress_bar(name, max_iter=self.max_iter, n_tokens=corpus.n_tokens, **bar_options) as bar:
            if checkpoints:
                identity = {**settings, **identity_of(algorithm), "corpus": corpus.fingerprint}
                checkpoints = replace(checkpoints, identity=identity | checkpoints.identity)
            stop, watch = StopRule(self.max_iter, self.tol), compose(evaluator, bar)
            fitted = run(algorithm, shards or corpus.shards(), engine, stop=stop, watch=watch, checkpoints=checkpoints)
        if fitted.stopped_by == INTERRUPTED and engine.is_root:
            warnings.warn(
                f"Ctrl-C ended the fit after {len(fitted.history)} iterations{self._pending_phase(fitted.state)}; "
                "the model so far is kept.",
                InterruptedFitWarning,
                stacklevel=4,
            )
        self.n_iter_ = len(fitted.history)
        self.stopped_by_ = StopReason.of(fitted.stopped_by)
        return fitted

    def _pending_phase(self, state: Any) -> str:
        """Return a phrase for the phase that an interrupted fit had not reached, if any."""
        return ""

    # --- fitted attributes ---------------------------------------------------------------------------------------------------

    @property
    def vocabulary_(self) -> NDArray[np.object_]:
        """Words in the order of the columns of `components_`."""
        check_is_fitted(self)
        if self._lexicon is None:
            return np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object)
        return np.array(self._lexicon.words.to_list(), dtype=object)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def fitted_objective(self) -> tuple[Objective, list[float]]:
        """Return the objective of the fit and its values by iteration."""
        for objective in self.objectives:
            if len(steps := getattr(self, objective.attribute, ())):
                return objective, [float(step) for step in steps]
        return self.objectives[-1], []

    def describe_fit(self) -> str:
        """Describe the number of iterations of the fit."""
        counted = len(self.fitted_objective()[1])
        before = f"{self.n_iter_ - counted} first passes and " if self.n_iter_ > counted else ""
        return f"{before}{counted} iterations"

    def without_documents(self) -> Self:
        """Return a shallow copy without the data of the training documents."""
        lean = copy.copy(self)
        for name, array in self.saved_arrays.items():
            if array.shape and array.shape[0] == "n_documents":
                setattr(lean, name, getattr(self, name)[:0])
        return lean

    def coherence(self, X: Any, measure: str = "npmi", n: int = 10) -> NDArray[np.float64]:
        """Compute the coherence of the top words of each topic, or dimension; higher is better.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            Reference documents, for example the training documents.
        measure : {"npmi", "umass", "c_v"}, default="npmi"
            Coherence measure, see `semascope.evaluation.coherence`.
        n : int, default=10
            Number of top words per topic.

        Returns
        -------
        ndarray of shape (n_components,)
            Coherence of each topic.
        """
        corpus = self.to_corpus(X)
        return coherence(self.components_.T, corpus, measure, n)

    def diversity(self, n: int = 25) -> float:
        """Return the fraction of distinct words among the top n words of all topics."""
        check_is_fitted(self)
        return diversity(self.components_.T, n)

    # --- persistence ---------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Save the model to a directory, atomically; load it with `semascope.load`."""
        check_is_fitted(self)
        self._engine().run_on_root(lambda: self._write(path))

    def _write(self, path: str | Path) -> None:
        with writing(path, self._file_layout()) as draft:
            self._write_components(draft)
            for name in self.saved_arrays:
                draft.array(name.rstrip("_"), getattr(self, name))
            if self._lexicon is not None:
                draft.table("vocabulary", self._lexicon.to_frame())
                draft.facts["languages"] = list(self._lexicon.languages)
            draft.facts.update(
                model=type(self).__name__,
                analyzer=to_settings(self.analyzer_),
                fitted={name: getattr(self, name) for name in self.saved_facts},
                **self._extra_facts(),
            )
            write_settings(draft, self.get_params(deep=False))

    @classmethod
    def _layout(cls) -> Layout:
        """Return the layout of a model directory of this class."""
        layout = cls._file_layout()
        optional = {
            name: fact for name, fact in cls.saved_facts.items() if hasattr(cls, name)
        }  # missing in files of older versions
        required = {name: fact for name, fact in cls.saved_facts.items() if name not in optional}
        return layout.also(facts={"fitted": Record(required, optional)})

    @classmethod
    @abstractmethod
    def _file_layout(cls) -> Layout:
        """Return the arrays, tables and facts specific to this class."""

    @classmethod
    def _from_directory(cls, directory: Directory) -> Self:
        facts = directory.facts
        model = cls(**read_settings(directory, cls._get_param_names()))
        model._read_components(directory)
        for name in cls.saved_arrays:
            setattr(model, name, directory.array(name.rstrip("_")))
        for name in cls.saved_facts:
            if name in facts["fitted"]:
                setattr(model, name, facts["fitted"][name])
        if hasattr(model, "stopped_by_"):  # models of streams have none
            model.stopped_by_ = StopReason.of(model.stopped_by_)
        model._read_extra_facts(facts)
        model.analyzer_ = read_analyzers(directory)
        model._lexicon = read_lexicon(directory) if "vocabulary.arrow" in directory else None
        problem = _SEED.problem(model.random_state, "random_state") or model._problem_when_loaded()
        if problem:
            msg = f"{directory.path / MANIFEST}: {' '.join(problem.split())}."  # arrays are printed in several lines
            raise FormatError(msg)
        return model

    def _problem_when_loaded(self) -> str | None:
        """Return what makes a loaded model unusable, or None."""
        return self._problem_of_settings()

    def _write_components(self, draft: Draft) -> None:
        """Write the arrays that determine `components_`."""
        draft.array("topics", np.ascontiguousarray(self.components_.T))

    def _read_components(self, directory: Directory) -> None:
        """Read what `_write_components` wrote."""
        self.components_ = directory.array("topics").T

    def _extra_facts(self) -> dict[str, Any]:
        """Return additional facts for the manifest."""
        return {}

    def _read_extra_facts(self, facts: dict[str, Any]) -> None:
        """Set attributes from the additional facts of the manifest."""

    # --- scikit-learn --------------------------------------------------------------------------------------------------------

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickle of this or an older version; missing hyperparameters get their defaults."""
        parameters = signature(type(self).__init__).parameters
        defaults = {name: parameters[name].default for name in self._get_param_names() if name not in state}
        super().__setstate__({**defaults, **state})
        if "stopped_by_" in state:
            self.stopped_by_ = StopReason.of(state["stopped_by_"])

    def __sklearn_is_fitted__(self) -> bool:
        return "components_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []
        return tags
