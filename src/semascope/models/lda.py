"""Latent Dirichlet allocation."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.corpus.shards import as_read_only
from semascope.engines.base import Engine
from semascope.errors import ExpectedCountsWarning, InputError
from semascope.evaluation.heldout import Completion
from semascope.inference.draws import Chains, Draw, sample_assignments
from semascope.inference.topics import fold_in_shard, infer_shard
from semascope.kernels.heldout import MAX_COUNT
from semascope.models.base import Objective
from semascope.models.editing import are_distributions
from semascope.models.layouts import additive_over_topics
from semascope.models.online_topic_model import OnlineTopicModel
from semascope.models.priors.informed import Resolved, word_prior
from semascope.models.topic_model import TopicModel
from semascope.models.validation import is_number, is_positive, is_splittable, is_whole, seed_of
from semascope.storage.facts import HISTORY, Fact, Number
from semascope.storage.layout import HUGE, TINY, Array, numbers
from semascope.training.checkpoint import Checkpoints
from semascope.training.cvb0 import CVB0
from semascope.training.cvb0_sampled import SampledCVB0
from semascope.training.hyperpriors import ALPHA, ETA
from semascope.training.lda_base import LDASettings
from semascope.training.online_lda import OnlineLDA, OnlineState
from semascope.training.stochastic_cvb0 import SCVB0
from semascope.training.variational import DOC_TOL, MAX_DOC_UPDATE_ITER, VB, expected_topics
from semascope.training.variational_seeded import COLLAPSED, SeededState, SeededVB

if TYPE_CHECKING:
    from numpy.typing import NDArray

AUTO = "auto"
COLLAPSED_BATCHES = 40
"""Initial batches of a "vb" stream that use stochastic CVB0, unless the stream continues a fit.
``python -m benchmarks vb_optima`` compares other numbers, on the collections that this one was chosen on."""


class LDA(OnlineTopicModel):
    """Latent Dirichlet allocation (Blei, Ng and Jordan, 2003), fitted by CVB0 (Asuncion et al., 2009) or variational EM.

    As in PLSA, every document is a mixture of topics and every topic is a distribution over words, but Dirichlet priors on
    both reduce overfitting. Both algorithms are deterministic: the result depends only on the seed, bit for bit, not on the
    engine or the number of threads.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    inference : {"cvb0", "vb"}, default="cvb0"
        Inference algorithm. "cvb0" is faster and predicts new documents better. "vb" is variational EM, which maximizes the
        evidence lower bound (ELBO). It is initialized with CVB0, because the bound has many poor local maxima.
    alpha : float, "auto" or array of shape (n_components,), default=0.1
        Dirichlet prior of the topics of a document; small values favor few topics per document. "auto" learns one value per
        topic: with "cvb0" from sampled assignments, which need integer counts; with "vb" by Newton's method on the bound,
        which is biased because expected counts are smooth (see the page on LDA).
    eta : float, "auto", InformedPrior or array of shape (n_words,) or (n_components, n_words), default=0.03
        Dirichlet prior of the words of a topic. "auto" learns a single value in the same way. An `InformedPrior` assigns words
        to topics and names these topics after its categories.
    alpha_init : float or array of shape (n_components,), default=0.1
        Initial value for ``alpha="auto"``.
    max_doc_update_iter : int, default=100
        Maximum number of passes over a document in an E-step of "vb" or `partial_fit`.
    doc_tol : float, default=1e-3
        Convergence tolerance of a document in such an E-step: fraction of its tokens reassigned by a pass.
    batch_size : int, default=256
        Number of documents per batch of `partial_fit`.
    learning_offset, learning_decay : float, default=10 and 0.7
        τ and κ of `partial_fit`: after t batches, the weight of the next one is (τ + t)^−κ. κ must be above 0.5, to ensure
        convergence, and at most 1.
    total_samples : int, optional
        Total number of documents of the stream in `partial_fit`; by default, the number seen so far.
    max_iter : int, default=100
        Maximum number of iterations. For "vb", iterations of CVB0 for initialization do not count.
    tol : float, default=1e-4
        Convergence tolerance: stop when the relative change of the log-likelihood, or the bound, in one iteration is smaller.
    random_state : int, RandomState or None, default=None
        Seed of the initialization.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the topics. Sums and likelihoods are always accumulated exactly or in double precision.
    engine : Engine, optional
        Execution engine, local threads by default. It does not affect the results.
    verbose : bool, default=False
        Whether to show a progress bar on a terminal.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words)
        P(word | topic); rows sum to one.
    doc_topics_ : ndarray of shape (n_documents, n_components)
        P(topic | document) of the training documents, or those of the last call of `partial_fit`; rows sum to one.
    topic_shares_ : ndarray of shape (n_components,)
        P(topic).
    alpha_ : ndarray of shape (n_components,)
        Dirichlet prior of the topics of a document, as given or learned.
    eta_ : float
        Dirichlet prior of the words of a topic, as given or learned; the minimum if it differs between words or topics.
    topic_sizes_ : ndarray of shape (1, n_components)
        Expected number of tokens of each topic plus its prior: `components_` times these are the pseudo-counts.
    log_likelihood_ : list of float
        Σ n log P(word | document) before each iteration of "cvb0".
    heldout_path_ : list of [iteration, seconds, perplexity]
        `perplexity` of the `heldout` documents, under the model's own prior, after iterations 1, 2, 3, 5, 8 and so on, and
        after the last one. Seconds exclude this evaluation.
    elbo_ : list of float
        Evidence lower bound after each iteration of "vb"; nondecreasing up to rounding. The initial iterations of CVB0 have no
        bound: a fit interrupted during these keeps the topics of CVB0 and an empty list.
    n_documents_seen_ : int
        Number of nonempty documents learned from.
    n_iter_ : int
        Number of iterations, including those of CVB0 for initialization, and of batches.
    stopped_by_ : {"converged", "iterations", "interrupted", "stream"}
        Reason for the end of the fit.

    Examples
    --------
    >>> model = LDA(2, random_state=0).fit([[3, 1, 0], [2, 2, 0], [0, 0, 4]])
    >>> topic = model.doc_topics_.argmax(axis=1)
    >>> bool(topic[0] == topic[1]), bool(topic[0] == topic[2])
    (True, False)
    """

    objectives: ClassVar[Sequence[Objective]] = (
        Objective("log_likelihood_", "log-likelihood"), Objective("elbo_", "evidence lower bound", "bound"),
    )  # fmt: skip
    saved_arrays: ClassVar[Mapping[str, Array]] = {
        **TopicModel.saved_arrays,
        "alpha_": additive_over_topics(numbers("n_topics", low=TINY)),
        "topic_sizes_": additive_over_topics(numbers(1, "n_topics", low=0.0, high=HUGE)),
    }
    saved_facts: ClassVar[Mapping[str, Fact]] = {
        **OnlineTopicModel.saved_facts, "eta_": Number(TINY), "log_likelihood_": HISTORY, "elbo_": HISTORY,
    }  # fmt: skip

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
        alpha: Any = ALPHA,
        eta: Any = ETA,
        alpha_init: Any = ALPHA,
        max_doc_update_iter: int = MAX_DOC_UPDATE_ITER,
        doc_tol: float = DOC_TOL,
        batch_size: int = 256,
        learning_offset: float = 10.0,
        learning_decay: float = 0.7,
        total_samples: int | None = None,
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
        self.alpha_init = alpha_init
        self.max_doc_update_iter = max_doc_update_iter
        self.doc_tol = doc_tol
        self.batch_size = batch_size
        self.learning_offset = learning_offset
        self.learning_decay = learning_decay
        self.total_samples = total_samples
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.dtype = dtype
        self.engine = engine
        self.verbose = verbose

    def fit(self, X: Any, y: None = None, *, checkpoints: Checkpoints | None = None, heldout: Any = None) -> Self:
        """Fit the model to a corpus, texts or a count matrix.

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
        words = self._engine().run_on_all(lambda: self._word_prior(corpus))
        algorithm = self._algorithm_for(corpus, words)
        fitted = self._learn(algorithm, corpus, checkpoints, {"inference": self.inference}, heldout)
        self._topic_names = words.names
        self.alpha_ = fitted.state.document_alpha
        self.eta_, self.topic_sizes_ = _eta_and_sizes(fitted.state)
        self.log_likelihood_, self.elbo_ = (), ()
        setattr(self, INFERENCE[self.inference].history, list(algorithm.convergence_history(fitted.state, fitted.history)))
        self.n_documents_seen_ = int(np.count_nonzero(np.diff(corpus.rows.ends)))
        return self

    def _pending_phase(self, state: Any) -> str:
        return ", before variational EM began" if getattr(state, "phase", None) == COLLAPSED and self.inference == "vb" else ""

    def describe_fit(self) -> str:
        """Describe the number of iterations of each phase of the fit."""
        counted = len(self.elbo_ or self.log_likelihood_)
        purpose = "of CVB0" if self.elbo_ else "to learn the priors"
        before = f"{self.n_iter_ - counted} passes {purpose} and " if self.n_iter_ > counted else ""
        return f"{before}{counted} iterations"

    def fitted_priors(self) -> dict[str, Any]:
        """Return α and η, as given or learned; a summary if η differs between words."""
        alpha, eta = [float(value) for value in self.alpha_], float(self.eta_)
        of_words = isinstance(self.eta, float | int | str)
        eta_summary = eta if of_words else f"at least {eta:.4g}; larger for some words, see the parameter eta"
        return {"alpha": alpha[0] if len(set(alpha)) == 1 else alpha, "alpha_sum": sum(alpha), "eta": eta_summary}

    def _word_prior(self, corpus: Corpus) -> Resolved:
        """Resolve the word prior and the topic names that it defines."""
        eta = ETA if _is_auto(self.eta) else self.eta
        try:
            return word_prior(eta, self._lexicon, self.analyzer_, corpus.n_words, self.n_components)
        except InputError as problem:
            msg = f"{type(self).__name__}: {problem}"
            raise InputError(msg) from None

    def _algorithm_for(self, corpus: Corpus, words: Resolved) -> LDASettings:
        """Create the algorithm."""
        kind, priors = INFERENCE[self.inference], self._priors(words)
        settings = {**self._config_for(corpus), **priors, "languages": self._languages(corpus), **kind.settings_of(self)}
        if kind.sampled is None or not _learns_priors(priors) or not _can_be_sampled(corpus):
            return kind.algorithm(**settings)
        return kind.sampled(**settings)

    def _languages(self, corpus: Corpus) -> NDArray[np.int32] | None:
        """Return the language of each word if topics are normalized per language; None here."""
        return None

    def _word_languages(self) -> NDArray[np.int32]:
        """Return the language of each word of the fitted model."""
        return np.zeros(self.n_features_in_, np.int32)

    def _priors(self, words: Resolved) -> dict[str, Any]:
        """Return the priors, and which of them are learned."""
        learn_alpha, learn_eta = _is_auto(self.alpha), _is_auto(self.eta)
        alpha = _as_floats(self.alpha_init if learn_alpha else self.alpha)
        return {"alpha": alpha, "eta": words.prior, "learn_alpha": learn_alpha, "learn_eta": learn_eta}

    def _online_algorithm(self, corpus: Corpus) -> OnlineLDA:
        words = self._word_prior(corpus)
        if not hasattr(self, "components_"):
            self._topic_names = words.names
        facts = {"n_topics": self.n_components, "seed": seed_of(self.random_state), "dtype": self.dtype}
        kind, priors = INFERENCE[self.inference], self._priors(words)
        return OnlineLDA(
            kind.online,
            {**facts, **priors, **_e_step_settings(self)},
            self.learning_offset,
            self.learning_decay,
            self.batch_size,
            self.total_samples,
            self._engine(),
            kind.sampled is None or not _learns_priors(priors) or _can_be_sampled(corpus),
            0 if self.elbo_ else kind.collapsed_batches * self.batch_size,
        )

    def _online_state(self) -> OnlineState:
        topics, (sizes,) = np.array(self.components_.T, dtype=self.dtype), np.array(self.topic_sizes_)
        return OnlineState(topics, sizes, np.array(self.alpha_), self.eta_, self.n_documents_seen_, self.doc_topics_)

    def _set_state(self, state: OnlineState, corpus: Corpus, doc_topics: NDArray[Any]) -> None:
        super()._set_state(state, corpus, doc_topics)
        self.alpha_, self.eta_, self.topic_sizes_ = state.alpha, state.eta, state.sizes[None]

    def _corpus_to_learn(self, X: Any) -> Corpus:
        corpus, known = super()._corpus_to_learn(X), len(getattr(self, "components_", ()))
        problem = self._problem_of_settings()
        if known and known != self.n_components:
            problem = (
                f"n_components cannot change after the first call: the model has {known}, but it was {self.n_components!r}"
            )
        if problem or not known:
            self._validate_settings(corpus, problem)
        return corpus

    def _problem_when_loaded(self) -> str | None:
        languages = self._word_languages() if len(self.topic_sizes_) > 1 else None
        if not are_distributions(self.components_.T, languages):
            return "the word probabilities of each topic do not sum to one"
        return super()._problem_when_loaded()

    def transform(self, X: Any) -> NDArray[Any]:
        """Infer P(topic | document) of new documents under the prior `alpha_`, with the topics held fixed.

        Unknown words are ignored; a document without known words gets the prior mean.
        """
        corpus = self.to_corpus(X)
        with self._engine().open(corpus.shards()) as placed:
            placed.begin(INFERENCE[self.inference].folding(self, corpus))
            return placed.documents(itemgetter("theta"))

    def elbo(self, X: Any) -> float:
        """Compute the variational bound on the log-likelihood of documents, with the topics held fixed.

        This is the document part of the evidence lower bound, Σ_d E_q[log P(words, z, θ | β)] − E_q[log q(z, θ)], with q(θ_d)
        and q(z_d) fitted to each document and q(β) taken from the model. It also bounds the log-likelihood of new documents:
        divided by their number of known tokens, it is the held-out likelihood of papers on variational inference.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            The documents. Unknown words are ignored.

        Returns
        -------
        float
            The bound in nats, summed over all documents.

        Examples
        --------
        >>> model = LDA(2, inference="vb", random_state=0).fit(["cats purr", "dogs bark", "cats cats", "dogs"])
        >>> model.elbo(["cats purr"]) > model.elbo(["cats bark"])
        True
        """
        corpus = self.to_corpus(X)
        with self._engine().open(corpus.shards()) as placed:
            stats = placed.begin(_inference_task(self, corpus))
        return math.fsum(stats.bound.sums()) if stats else 0.0

    def sample_assignments(self, X: Any, n_draws: int = 1, *, seed: int = 0) -> Iterator[Draw]:
        """Sample topic assignments of the tokens of documents, with the topics and the prior `alpha_` held fixed.

        Every document is a Gibbs chain that starts from `transform`, burns in and yields a draw every few sweeps. Draws are
        generated lazily, in blocks of documents.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            The documents, with integer counts. Unknown words are ignored.
        n_draws : int, default=1
            Number of draws per document.
        seed : int, default=0
            Seed of the draws, which do not depend on the number of threads.

        Yields
        ------
        Draw
            Index of the ``draw``, the ``first_document`` of a block, and ``ends``, ``words`` and ``topics`` of its tokens.

        Examples
        --------
        >>> model = LDA(2, random_state=0).fit(["cats purr", "dogs bark", "cats cats", "dogs"])
        >>> [(draw.draw, len(draw.topics)) for draw in model.sample_assignments(["dogs bark at dogs"], n_draws=2)]
        [(0, 3), (1, 3)]
        """
        if not is_whole(n_draws) or n_draws < 1:
            msg = f"n_draws must be a whole number of at least 1, but was {n_draws!r}."
            raise InputError(msg)
        if not is_whole(seed) or seed < 0:
            msg = f"seed must be a whole number of at least 0, but was {seed!r}."
            raise InputError(msg)
        corpus = self.to_corpus(X)
        if not is_splittable(corpus.rows.counts):
            msg = f"every token is assigned to a topic, so counts must be whole numbers up to {MAX_COUNT:,}."
            raise InputError(msg)
        theta = np.asarray(self.transform(X if self._lexicon is None else corpus))
        chains = Chains.of(self._frozen_topics(), np.asarray(self.alpha_), n_draws, seed)
        return sample_assignments(corpus.shards(), theta, chains)

    def _completion_prior(self, state: Any = None) -> Completion:
        """Return the completion with α, as fitted or at a training state."""
        alpha = self.alpha_ if state is None else state.document_alpha
        return Completion.dirichlet(alpha, len(alpha))

    def _validate_input(self, X: Any) -> Corpus:
        """Validate input and hyperparameters."""
        corpus = self._corpus_to_fit(X)
        self._validate_settings(corpus, None)
        return corpus

    def _problem_of_settings(self) -> str | None:
        if problem := super()._problem_of_settings():
            return problem
        if self.inference not in tuple(INFERENCE):
            return f"inference must be one of {', '.join(INFERENCE)}, but was {self.inference!r}"
        if np.ndim(self.alpha) == 1:
            if not self._is_prior(self.alpha):
                return f"alpha must be {self.n_components} numbers above 0, one for each topic, but was {self.alpha!r}"
        elif not _is_auto(self.alpha) and not is_positive(self.alpha):
            return f'alpha must be "auto" or a number above 0, but was {self.alpha!r}'
        if not self._is_prior(self.alpha_init):
            return f"alpha_init must be a number above 0, or {self.n_components} of them, but was {self.alpha_init!r}"
        if not is_whole(self.max_doc_update_iter) or self.max_doc_update_iter < 1:
            return f"max_doc_update_iter must be a whole number of at least 1, but was {self.max_doc_update_iter!r}"
        if not is_number(self.doc_tol) or self.doc_tol < 0:
            return f"doc_tol must be a number of at least 0, but was {self.doc_tol!r}"
        return self._problem_of_streams()

    def _is_prior(self, value: Any) -> bool:
        """Return whether a value is a positive number, or one for each topic."""
        if isinstance(value, list | tuple) and not all(is_positive(one) for one in value):
            return False  # rows of different lengths, for example, which are no array
        if np.ndim(value) != 1:
            return np.ndim(value) == 0 and is_positive(value)
        return len(value) == self.n_components and all(is_positive(one) for one in value)

    def _problem_of_streams(self) -> str | None:
        """Return what is wrong with the hyperparameters of `partial_fit`, or None."""
        if not is_whole(self.batch_size) or self.batch_size < 1:
            return f"batch_size must be a whole number of at least 1, but was {self.batch_size!r}"
        if not is_positive(self.learning_offset):
            return f"learning_offset must be a number above 0, but was {self.learning_offset!r}"
        if not is_number(self.learning_decay) or not 0.5 < self.learning_decay <= 1:
            return f"learning_decay must be above 0.5 and at most 1, but was {self.learning_decay!r}"
        if self.total_samples is not None and (not is_whole(self.total_samples) or self.total_samples < 1):
            return f"total_samples must be a whole number of at least 1, or None, but was {self.total_samples!r}"
        return None


def _fold_in_task(model: LDA, corpus: Corpus) -> Callable[..., Any]:
    """Build the task that folds in documents by EM with the prior `alpha_`."""
    dtype = model.components_.dtype
    prior, start = model.alpha_.astype(dtype), (model.alpha_ / model.alpha_.sum()).astype(dtype)
    topics = model._frozen_topics()
    return partial(fold_in_shard, topics=topics, start=start, beta=dtype.type(1), factors=prior, prior=prior)


def _inference_task(model: LDA, corpus: Corpus) -> Callable[..., Any]:
    """Build the task of variational inference; exp(E[log β]) is computed for words that occur."""
    topics, languages = model._frozen_topics(), as_read_only(model._word_languages(), np.int32)
    known = expected_topics(np.unique(corpus.rows.words), topics, np.array(model.topic_sizes_), languages)
    return partial(infer_shard, topics=known, alpha=np.array(model.alpha_))


class Inference(NamedTuple):
    """Inference algorithm of LDA.

    algorithm     batch algorithm
    sampled       variant that learns the priors from sampled assignments, if any
    online        algorithm for batches of a stream
    collapsed_batches   initial batches of a stream that use collapsed inference
    settings_of   function that returns settings besides the priors
    history       attribute that holds the objective after the fit
    folding       function that builds the inference task for new documents
    """

    algorithm: type[LDASettings]
    sampled: type[SampledCVB0] | None
    online: type[VB]
    collapsed_batches: int
    settings_of: Callable[[LDA], dict[str, Any]]
    history: str
    folding: Callable[[LDA, Corpus], Callable[..., Any]]


def _e_step_settings(model: LDA) -> dict[str, Any]:
    """Return the convergence criteria of documents in an E-step."""
    return {"max_passes": model.max_doc_update_iter, "tolerance": float(model.doc_tol)}


INFERENCE = {
    "cvb0": Inference(CVB0, SampledCVB0, SCVB0, 0, lambda model: {}, "log_likelihood_", _fold_in_task),
    "vb": Inference(SeededVB, None, VB, COLLAPSED_BATCHES, _e_step_settings, "elbo_", _inference_task),
}


def _learns_priors(priors: dict[str, Any]) -> bool:
    """Return whether any prior is learned."""
    return bool(priors["learn_alpha"] or (priors["learn_eta"] and priors["eta"].is_flat))


def _can_be_sampled(corpus: Corpus) -> bool:
    """Return whether assignments can be sampled; warn if priors must be learned from expected counts instead."""
    if is_splittable(corpus.rows.counts):
        return True
    warnings.warn(
        "counts are not whole numbers, so assignments cannot be sampled: the priors are learned from expected counts, "
        "which overestimates alpha.",
        ExpectedCountsWarning,
        stacklevel=4,
    )
    return False


def _eta_and_sizes(state: Any) -> tuple[float, NDArray[np.float64]]:
    """Return η, and Σ_w (N_wk + η) of each language, from a fitted state."""
    if isinstance(state, SeededState):
        return state.topic_eta, state.sizes
    return state.eta, np.divide(1.0, state.scale, out=np.zeros_like(state.scale), where=state.scale > 0)


def _as_floats(value: Any) -> Any:
    return np.asarray(value, dtype=np.float64) if np.ndim(value) else float(value)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == AUTO
