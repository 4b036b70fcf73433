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
    """Correlated topic model (Blei and Lafferty, 2007), fitted by variational EM from topics of CVB0.

    The topics of a document are softmax(η), where η has a normal distribution with mean μ and covariance Σ: topics that are
    often in the same documents are correlated. One seed gives one model, bit for bit, on any engine and any number of threads.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics. Time grows with its cube where documents are short.
    eta : float, default=0.03
        Prior of the words in a topic.
    max_iter : int, default=100
        Maximum number of iterations, passes of CVB0 included.
    tol : float, default=1e-4
        Stop when an iteration changes the bound by less than this share of itself.
    random_state : int, RandomState or None, default=None
        Seed of the start.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the topics. What is known of η is in double precision.
    engine : Engine, optional
        Where the work is done, local threads by default. It changes the time, not the topics.
    verbose : bool, default=False
        Show a progress bar, on a terminal.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words)
        P(word | topic); rows sum to one.
    doc_topics_ : ndarray of shape (n_documents, n_components)
        P(topic | document) of the documents it was fitted to; rows sum to one.
    topic_shares_ : ndarray of shape (n_components,)
        P(topic).
    mean_ : ndarray of shape (n_components,)
        μ.
    covariance_ : ndarray of shape (n_components, n_components)
        Σ. When topics are merged, their entries are averaged by how common the topics are, which is Σ of log Σ e^η to first
        order; μ of merged topics is log Σ e^μ.
    elbo_ : list of float
        The bound after each iteration, with the logarithms of the priors; never falls beyond rounding. Passes of CVB0 that come
        first have none.
    heldout_path_ : list of [iteration, seconds, perplexity]
        `perplexity` of the documents in `heldout`, after iterations 1, 2, 3, 5, 8 and so on, and the last.
    n_iter_ : int
        Number of iterations.
    stopped_by_ : {"converged", "iterations", "interrupted"}
        Why the fit ended.

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
            What to learn from. Whatever `Corpus.build` takes will do, too.
        y : None
            Ignored.
        checkpoints : Checkpoints, optional
            Save the run now and then, and resume one that was cut off.
        heldout : like X, optional
            Documents to judge the topics by while they are learned: see `heldout_path_`. Nothing is learned from them.
        """
        corpus = self._engine().run_on_all(lambda: self._checked(X))
        algorithm = CTM(**self._config_for(corpus), eta=float(self.eta))
        fitted = self._learn(algorithm, corpus, checkpoints, {}, heldout)
        self.mean_, self.covariance_ = fitted.state.mean, fitted.state.covariance
        self.elbo_ = list(algorithm.convergence_history(fitted.state, fitted.history))
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return P(topic | document) of new documents, with topics, μ and Σ held fixed.

        Words the model does not know are left out; a document with no other words has softmax(μ).
        """
        corpus = self._corpus_to_use(X)
        prior = Normal(np.array(self.mean_), np.array(self.covariance_))
        with self._engine().open(corpus.shards()) as placed:
            placed.begin(partial(infer_shard, prior=prior, topics=self._frozen_topics()))
            return placed.documents(itemgetter("theta"))

    def topic_correlations(self) -> NDArray[np.float64]:
        """Return the correlation of each pair of topics: of the logarithms of their shares, over the mean of all topics.

        Adding a number to all η changes no share, so it takes no part; independent topics have −1 / (n_components − 1).

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
        """Return η of the words."""
        return {"eta": float(self.eta)}

    def _checked(self, X: Any) -> Corpus:
        """Validate input and settings."""
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
    """Inference adds up nothing."""


def infer_shard(shard: Shard, prior: Normal, topics: NDArray[Any]) -> tuple[Locals, Nothing]:
    """Infer the topics of the documents of a shard, from the mean of the prior until convergence."""
    means = np.tile(prior.mean, (shard.n_documents, 1))
    inferred = infer_documents(shard, prior, topics, means, np.ones_like(means), MAX_PASSES, TOLERANCE)
    return {"theta": inferred.theta}, Nothing()
