"""Latent Dirichlet allocation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.corpus.shards import frozen
from semascope.engines.base import Engine
from semascope.models.base import TopicModel
from semascope.models.folding import fold_in_shard, infer_shard
from semascope.training.checkpoint import Checkpoints
from semascope.training.cvb0 import CVB0
from semascope.training.em import EM
from semascope.training.vb import VB, VBState, table_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

AUTO = "auto"

START_ALPHA, START_ETA = 0.1, 0.01
"""Where the search for priors starts."""


class LDA(TopicModel):
    """Latent Dirichlet allocation (Blei, Ng and Jordan, 2003), fitted by CVB0 (Asuncion et al., 2009) or variational EM.

    As in PLSA every document is a mixture of topics and every topic a distribution over words, but both have priors, which
    keep them from fitting too closely. Both ways to fit it are deterministic: one seed gives one model, bit for bit, on any
    engine and any number of threads.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    inference : {"cvb0", "vb"}, default="cvb0"
        CVB0 predicts new documents better and is faster. Variational EM ("vb") raises a bound on the probability of the
        documents, which tells how far a fit has come.
    alpha : float, "auto" or array of shape (n_components,), default=0.1
        Prior of the topics in a document: small for documents of few topics. "auto" learns one value for each topic.
    eta : float or "auto", default=0.01
        Prior of the words in a topic. "auto" learns it, with "vb".
    max_iter : int, default=100
        Most iterations.
    tol : float, default=1e-4
        Stop when an iteration changes the log-likelihood, or the bound, by less than this share of itself.
    random_state : int, RandomState or None, default=None
        Seed of the start.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the topics. Sums and likelihoods are always added exactly or in double precision.
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
    alpha_ : ndarray of shape (n_components,)
        Prior of the topics in a document, as given or learned.
    eta_ : float
        Prior of the words in a topic, as given or learned.
    topic_sizes_ : ndarray of shape (1, n_components)
        How many words each topic is worth, those of its prior included: `components_` times these is what was added up.
    log_likelihood_ : list of float
        Σ n log P(word | document) before each iteration of "cvb0".
    elbo_ : list of float
        The bound after each iteration of "vb"; never falls beyond rounding.
    n_iter_ : int
        Number of iterations.
    stopped_by_ : {"settled", "iterations", "interrupted"}
        Why the fit ended.

    Examples
    --------
    >>> model = LDA(2, random_state=0).fit([[3, 1, 0], [2, 2, 0], [0, 0, 4]])
    >>> topic = model.doc_topics_.argmax(axis=1)
    >>> bool(topic[0] == topic[1]), bool(topic[0] == topic[2])
    (True, False)
    """

    saved_arrays: ClassVar[tuple[str, ...]] = (*TopicModel.saved_arrays, "alpha_", "topic_sizes_")
    saved_facts: ClassVar[tuple[str, ...]] = (*TopicModel.saved_facts, "eta_", "log_likelihood_", "elbo_")

    alpha_: NDArray[np.float64]
    eta_: float
    topic_sizes_: NDArray[np.float64]
    log_likelihood_: Sequence[float] = ()
    elbo_: Sequence[float] = ()

    def __init__(
        self,
        n_components: int = 10,
        *,
        inference: str = "cvb0",
        alpha: Any = 0.1,
        eta: float | str = 0.01,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
        dtype: str = "float32",
        engine: Engine | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.inference = inference
        self.alpha = alpha
        self.eta = eta
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.dtype = dtype
        self.engine = engine
        self.verbose = verbose

    def fit(self, X: Any, y: None = None, *, checkpoints: Checkpoints | None = None) -> Self:
        """Learn the topics of a corpus, of texts, or of a matrix of counts.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            What to learn from.
        y : None
            Ignored.
        checkpoints : Checkpoints, optional
            Save the run now and then, and resume one that was cut off.
        """
        corpus = self._engine().together(lambda: self._checked(X))
        fitted = self._train(self._algorithm_for(corpus), corpus, checkpoints, {"inference": self.inference})
        self.alpha_ = fitted.state.document_alpha
        self.eta_, self.topic_sizes_ = _eta_and_sizes(fitted.state, self.eta)
        self.log_likelihood_, self.elbo_ = (), ()
        setattr(self, INFERENCE[self.inference].history, fitted.history)
        return self

    def _algorithm_for(self, corpus: Corpus) -> EM:
        """The algorithm with its settings."""
        learn_alpha, learn_eta = _is_auto(self.alpha), _is_auto(self.eta)
        settings = {
            **self._facts_for(corpus),
            "alpha": START_ALPHA if learn_alpha else _as_floats(self.alpha),
            "eta": START_ETA if learn_eta else float(self.eta),
            "learn_alpha": learn_alpha,
        }
        if learn_eta:
            settings["learn_eta"] = True
        return INFERENCE[self.inference].algorithm(**settings)

    def transform(self, X: Any) -> NDArray[Any]:
        """Give P(topic | document) of new documents, by the same inference with the topics held fixed and the prior `alpha_`.

        Words the model does not know are left out; a document with no other words has the mean of the prior.
        """
        corpus = self._corpus_to_use(X)
        with self._engine().place(corpus.shards()) as placed:
            placed.begin(INFERENCE[self.inference].folding(self, corpus))
            return placed.documents("theta")

    def _checked(self, X: Any) -> Corpus:
        """Take the data, and say at once what is wrong with it or with the settings."""
        corpus = self._corpus_to_fit(X)
        self._see_that_it_makes_sense(corpus, self._problem())
        return corpus

    def _problem(self) -> str | None:
        """What is wrong with the settings, if anything."""
        if self.inference not in INFERENCE:
            return f"inference must be one of {', '.join(INFERENCE)}, but was {self.inference!r}"
        if np.ndim(self.alpha) == 1:
            if len(self.alpha) != self.n_components or not all(_is_positive(value) for value in _as_floats(self.alpha)):
                return f"alpha must be {self.n_components} numbers above 0, one for each topic, but was {self.alpha!r}"
        elif not _is_auto(self.alpha) and not _is_positive(self.alpha):
            return f'alpha must be "auto" or a number above 0, but was {self.alpha!r}'
        if _is_auto(self.eta) and self.inference != "vb":
            return 'eta can be "auto" with inference="vb" only'
        if not _is_auto(self.eta) and not _is_positive(self.eta):
            return f"eta must be a number above 0, but was {self.eta!r}"
        return None


def _folding(model: LDA, corpus: Corpus) -> Callable[..., Any]:
    """Folding in by EM with the priors of the documents."""
    dtype = model.components_.dtype
    prior, start = model.alpha_.astype(dtype), (model.alpha_ / model.alpha_.sum()).astype(dtype)
    topics = model._frozen_topics()
    return partial(fold_in_shard, topics=topics, start=start, beta=dtype.type(1), factors=prior, prior=prior)


def _inferring(model: LDA, corpus: Corpus) -> Callable[..., Any]:
    """Variational inference with fixed topics: exp(E[log β]) of the words that occur, made when they are asked for."""
    topics, languages = model._frozen_topics(), frozen(np.zeros(corpus.n_words), np.int32)
    table, _ = table_of(np.unique(corpus.rows.words), topics, np.array(model.topic_sizes_), languages)
    return partial(infer_shard, table=table, alpha=np.array(model.alpha_))


class Inference(NamedTuple):
    """A way to fit the model.

    algorithm  what runs in the loop
    history    attribute that holds its objective after the fit
    folding    makes the task that gives the topics of new documents
    """

    algorithm: type[EM]
    history: str
    folding: Callable[[LDA, Corpus], Callable[..., Any]]


INFERENCE = {
    "cvb0": Inference(CVB0, "log_likelihood_", _folding),
    "vb": Inference(VB, "elbo_", _inferring),
}


def _eta_and_sizes(state: Any, eta: Any) -> tuple[float, NDArray[np.float64]]:
    """η, and Σ_w (N_wk + η), of a fitted state."""
    if isinstance(state, VBState):
        return state.eta, state.sizes
    return float(eta), 1.0 / state.scale[None]


def _as_floats(value: Any) -> Any:
    """One float, or an array of them."""
    return np.asarray(value, dtype=np.float64) if np.ndim(value) else float(value)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == AUTO


def _is_positive(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and 0 < value < float("inf")
