"""Probabilistic latent semantic analysis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.corpus.shards import as_read_only
from semascope.engines.base import Engine
from semascope.evaluation.heldout import Completion
from semascope.inference.topics import fold_in_shard
from semascope.models.layouts import PATH
from semascope.models.topic_model import TopicModel
from semascope.models.validation import is_share
from semascope.storage.facts import HISTORY, Fact, Number
from semascope.storage.layout import TINY
from semascope.training.checkpoint import Checkpoints
from semascope.training.plsa import EM
from semascope.training.plsa_tempered import AUTO, NO_SEARCH, Search, TemperedEM, power, shares_factor
from semascope.training.plsa_textbook import TextbookEM

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALGORITHMS: dict[str, type[EM]] = {"fused": EM, "textbook": TextbookEM}


class PLSA(TopicModel):
    """Probabilistic latent semantic analysis (Hofmann, 1999), fitted by EM.

    Every document is a mixture of topics, and every topic is a distribution over words. The result depends only on the seed,
    bit for bit, not on the engine or the number of threads.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-4
        Convergence tolerance: stop when the relative change of the log-likelihood in one iteration is smaller.
    random_state : int, RandomState or None, default=None
        Seed of the initialization.
    tempering : None, float or "auto", default=None
        Exponent β of tempered EM, between 0 and 1. Values below 1 reduce overfitting, which helps with few documents, many
        topics, and search. "auto" selects β by predicting a held-out tenth of the tokens, then trains on all of them; passes
        of this search do not count towards `max_iter`. None is plain EM.
    algorithm : {"fused", "textbook"}, default="fused"
        Implementation of EM. Both give the same results up to rounding. "textbook" stores P(topic | word, document) for every
        entry of a shard, for reading and comparison.
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
        P(topic | document) of the training documents; rows sum to one.
    topic_shares_ : ndarray of shape (n_components,)
        P(topic).
    log_likelihood_ : list of float
        Σ n log P(document, word) before each iteration; nondecreasing up to rounding. With tempering, P is the unnormalized
        tempered probability, for iterations after β was selected.
    tempering_ : float
        Exponent β; 1 for plain EM.
    tempering_path_ : list of pairs of float
        Values of β tried by "auto", with the perplexity of the held-out tokens.
    heldout_path_ : list of [iteration, seconds, perplexity]
        `perplexity` of the `heldout` documents, under the model's own prior, after iterations 1, 2, 3, 5, 8 and so on, and
        after the last one. Seconds exclude this evaluation.
    n_iter_ : int
        Number of iterations.
    stopped_by_ : {"converged", "iterations", "interrupted"}
        Reason for the end of the fit.

    Examples
    --------
    >>> model = PLSA(2, random_state=0).fit([[3, 1, 0], [2, 2, 0], [0, 0, 4]])
    >>> topic = model.doc_topics_.argmax(axis=1)
    >>> bool(topic[0] == topic[1]), bool(topic[0] == topic[2])
    (True, False)
    """

    saved_facts: ClassVar[Mapping[str, Fact]] = {
        **TopicModel.saved_facts, "log_likelihood_": HISTORY, "tempering_": Number(TINY, 1), "tempering_path_": PATH,
    }  # fmt: skip

    log_likelihood_: list[float]
    tempering_: float = 1.0  # missing in models of older versions
    tempering_path_: Sequence[Sequence[float]] = ()
    n_iter_: int
    stopped_by_: str

    def __init__(
        self,
        n_components: int = 10,
        *,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
        tempering: float | str | None = None,
        algorithm: str = "fused",
        dtype: str = "float32",
        engine: Engine | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.tempering = tempering
        self.algorithm = algorithm
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
        algorithm = self._algorithm_for(corpus)
        settings = {"algorithm": self.algorithm, "tempering": self.tempering}
        fitted = self._learn(algorithm, corpus, checkpoints, settings, heldout)
        self.log_likelihood_ = list(algorithm.convergence_history(fitted.state, fitted.history))
        self.tempering_ = getattr(fitted.state, "beta", 1.0)
        tried = Search(*getattr(fitted.state, "search", NO_SEARCH)).tried
        self.tempering_path_ = [(beta, math.exp(-score)) for beta, score in tried]
        return self

    def describe_fit(self) -> str:
        """Describe the number of iterations of the fit, and of the search for β."""
        counted = len(self.log_likelihood_)
        searched = f"{self.n_iter_ - counted} passes to find β and " if self.n_iter_ > counted else ""
        tempered = f" with β = {self.tempering_:.3g}" if self.tempering_ < 1 else ""
        return f"{searched}{counted} iterations{tempered}"

    def _algorithm_for(self, corpus: Corpus) -> EM:
        facts = self._config_for(corpus)
        if self.tempering is None:
            return ALGORITHMS[self.algorithm](**facts)
        return TemperedEM(**facts, tempering=self.tempering)

    def transform(self, X: Any) -> NDArray[Any]:
        """Infer P(topic | document) of new documents by folding in: EM, tempered like the fit, with the topics held fixed.

        Unknown words are ignored; a document without known words gets `topic_shares_`.
        """
        corpus = self.to_corpus(X)
        dtype, beta = self.components_.dtype, self.tempering_
        topics = as_read_only(power(self._frozen_topics(), beta), dtype)
        start, factors = self.topic_shares_.astype(dtype), shares_factor(self.topic_shares_, beta, dtype)
        no_prior = np.zeros_like(start)
        task = partial(fold_in_shard, topics=topics, start=start, beta=dtype.type(beta), factors=factors, prior=no_prior)
        with self._engine().open(corpus.shards()) as placed:
            placed.begin(task)
            return placed.documents(itemgetter("theta"))

    def _completion_prior(self, state: Any = None) -> Completion:
        """Return the completion without a prior, tempered as in `transform`."""
        if state is None:
            return Completion.maximum_likelihood(self.topic_shares_, self.tempering_)
        return Completion.maximum_likelihood(state.topic_shares, getattr(state, "beta", 1.0))

    def _validate_input(self, X: Any) -> Corpus:
        """Validate input and hyperparameters."""
        corpus = self._corpus_to_fit(X)
        self._validate_settings(corpus, None)
        return corpus

    def _problem_of_settings(self) -> str | None:
        problem = super()._problem_of_settings()
        if problem is None and not (self.tempering is None or self.tempering == AUTO or is_share(self.tempering)):
            problem = f'tempering must be "auto" or a number above 0 and at most 1, but was {self.tempering!r}'
        elif self.tempering is not None and self.algorithm != "fused":
            problem = f'tempering needs algorithm="fused", but the algorithm was {self.algorithm!r}'
        elif self.algorithm not in tuple(ALGORITHMS):
            problem = f"algorithm must be one of {', '.join(ALGORITHMS)}, but was {self.algorithm!r}"
        return problem
