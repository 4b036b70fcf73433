"""Correlated topic model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.corpus.shards import Shard
from semascope.engines.base import Engine, Locals
from semascope.models.base import Objective
from semascope.models.layouts import LOGSUMEXP, MEAN, over_topics
from semascope.models.topic_model import TopicModel
from semascope.models.validation import is_positive
from semascope.storage.facts import HISTORY, Fact
from semascope.storage.layout import Array, numbers
from semascope.training.checkpoint import Checkpoints
from semascope.training.ctm import CTM, Normal, infer_documents, normal_problem
from semascope.training.hyperpriors import ETA

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_PASSES = 100
TOLERANCE = 1e-4


class CorrelatedTopicModel(TopicModel):
    """Correlated topic model (Blei and Lafferty, 2007), fitted by variational EM initialized with CVB0.

    The topic proportions of a document are softmax(η), where η has a normal distribution with mean μ and covariance Σ, so
    topics may be correlated. The result depends only on the seed, bit for bit, not on the engine or the number of threads.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics. For short documents, time is cubic in this number.
    eta : float, default=0.03
        Dirichlet prior of the words of a topic.
    max_iter : int, default=100
        Maximum number of iterations, including those of CVB0.
    tol : float, default=1e-4
        Convergence tolerance: stop when the relative change of the bound in one iteration is smaller.
    random_state : int, RandomState or None, default=None
        Seed of the initialization.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the topics. The posterior of η is always in double precision.
    engine : Engine, optional
        Execution engine, local threads by default. It does not affect the results.
    verbose : bool, default=False
        Whether to show a progress bar on a terminal.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words)
        P(word | topic); rows sum to one.
    doc_topics_ : ndarray of shape (n_documents, n_components)
        P(topic | document) of the training documents; rows sum to one.
    topic_shares_ : ndarray of shape (n_components,)
        P(topic).
    mean_ : ndarray of shape (n_components,)
        Prior mean μ of η.
    covariance_ : ndarray of shape (n_components, n_components)
        Prior covariance Σ of η. Merging topics averages their entries, weighted by topic shares, which is the covariance of
        log Σ e^η to first order; the merged mean is log Σ e^μ.
    elbo_ : list of float
        Evidence lower bound after each iteration of variational EM, log-priors included; nondecreasing up to rounding. The
        initial iterations of CVB0 have no bound.
    heldout_path_ : list of [iteration, seconds, perplexity]
        `perplexity` of the `heldout` documents after iterations 1, 2, 3, 5, 8 and so on, and after the last one.
    n_iter_ : int
        Number of iterations.
    stopped_by_ : {"converged", "iterations", "interrupted"}
        Reason for the end of the fit.

    Examples
    --------
    >>> model = CorrelatedTopicModel(2, random_state=0).fit([[3, 1, 0], [2, 2, 0], [0, 0, 4]])
    >>> topic = model.doc_topics_.argmax(axis=1)
    >>> bool(topic[0] == topic[1]), bool(topic[0] == topic[2])
    (True, False)
    """

    objectives: ClassVar[Sequence[Objective]] = (Objective("elbo_", "evidence lower bound", "bound"),)
    saved_arrays: ClassVar[Mapping[str, Array]] = {
        **TopicModel.saved_arrays,
        "mean_": over_topics(numbers("n_topics"), LOGSUMEXP),
        "covariance_": over_topics(numbers("n_topics", "n_topics"), MEAN),
    }
    saved_facts: ClassVar[Mapping[str, Fact]] = {**TopicModel.saved_facts, "elbo_": HISTORY}

    mean_: NDArray[np.float64]
    covariance_: NDArray[np.float64]
    elbo_: Sequence[float]

    def __init__(
        self,
        n_components: int = 10,
        *,
        eta: float = ETA,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
        dtype: str = "float32",
        engine: Engine | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.eta = eta
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.dtype = dtype
        self.engine = engine
        self.verbose = verbose

    def fit(self, X: Any, y: None = None, *, checkpoints: Checkpoints | None = None, heldout: Any = None) -> Self:
        """Fit the model to a corpus, to texts, or to a matrix of counts.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            Training documents, or any source that `Corpus.build` accepts.
        y : None
            Ignored.
        checkpoints : Checkpoints, optional
            Save checkpoints during the fit, and resume an interrupted run.
        heldout : like X, optional
            Documents to evaluate the topics on during the fit, see `heldout_path_`. They do not affect the fit.
        """
        corpus = self._engine().run_on_all(lambda: self._validate_input(X))
        algorithm = CTM(**self._config_for(corpus), eta=float(self.eta))
        fitted = self._learn(algorithm, corpus, checkpoints, {}, heldout)
        self.mean_, self.covariance_ = fitted.state.mean, fitted.state.covariance
        self.elbo_ = list(algorithm.convergence_history(fitted.state, fitted.history))
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Infer P(topic | document) of new documents, with topics, μ and Σ held fixed.

        Unknown words are ignored; a document without known words gets softmax(μ).
        """
        corpus = self.to_corpus(X)
        prior = Normal(np.array(self.mean_), np.array(self.covariance_))
        with self._engine().open(corpus.shards()) as placed:
            placed.begin(partial(infer_shard, prior=prior, topics=self._frozen_topics()))
            return placed.documents(itemgetter("theta"))

    def topic_correlations(self) -> NDArray[np.float64]:
        """Return the correlations of the centered log-proportions of the topics.

        Centering over topics removes the shift of η that softmax ignores, so independent topics have −1 / (n_components − 1).

        Examples
        --------
        >>> model = CorrelatedTopicModel(2, random_state=0).fit([[3, 1, 0], [2, 2, 0], [0, 0, 4]])
        >>> model.topic_correlations().round(3).tolist()
        [[1.0, -1.0], [-1.0, 1.0]]
        """
        covariance = np.asarray(self.covariance_)
        centered = covariance - covariance.mean(axis=0) - covariance.mean(axis=1)[:, None] + covariance.mean()
        deviations = np.sqrt(np.maximum(np.diag(centered), 0.0))
        scale = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)
        return np.asarray(np.clip(centered * scale * scale[:, None], -1.0, 1.0), np.float64)

    def fitted_priors(self) -> dict[str, Any]:
        """Return the word prior η."""
        return {"eta": float(self.eta)}

    def _validate_input(self, X: Any) -> Corpus:
        """Validate input and hyperparameters."""
        corpus = self._corpus_to_fit(X)
        self._validate_settings(corpus, None)
        return corpus

    def _problem_of_settings(self) -> str | None:
        if not is_positive(self.eta):
            return f"eta must be a number above 0, but was {self.eta!r}"
        return super()._problem_of_settings()

    def _problem_when_loaded(self) -> str | None:
        if problem := normal_problem(self.mean_, self.covariance_):
            return f"covariance_: {problem}"
        return super()._problem_when_loaded()


class Nothing(NamedTuple):
    """Empty sufficient statistics of inference."""


def infer_shard(shard: Shard, prior: Normal, topics: NDArray[Any]) -> tuple[Locals, Nothing]:
    """Infer the topics of the documents of a shard, from the prior mean to convergence."""
    means = np.tile(prior.mean, (shard.n_documents, 1))
    inferred = infer_documents(shard, prior, topics, means, np.ones_like(means), MAX_PASSES, TOLERANCE)
    return {"theta": inferred.theta}, Nothing()
