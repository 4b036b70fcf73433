"""Latent Dirichlet allocation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.engines.base import Engine
from semascope.models.base import TopicModel
from semascope.models.folding import fold_in_shard
from semascope.training.checkpoint import Checkpoints
from semascope.training.cvb0 import CVB0
from semascope.training.priors import WordPrior

if TYPE_CHECKING:
    from numpy.typing import NDArray

AUTO = "auto"

START_ALPHA = 0.1
"""Where the search for α starts."""


class LDA(TopicModel):
    """Latent Dirichlet allocation (Blei, Ng and Jordan, 2003), fitted by CVB0 (Asuncion et al., 2009).

    As in PLSA every document is a mixture of topics and every topic a distribution over words, but both have priors, which
    keep them from fitting too closely. CVB0 is deterministic: one seed gives one model, bit for bit, on any engine and any
    number of threads.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    alpha : float or "auto", default=0.1
        Prior of the topics in a document: small for documents of few topics. "auto" learns one value for each topic.
    eta : float, default=0.01
        Prior of the words in a topic.
    max_iter : int, default=100
        Most iterations.
    tol : float, default=1e-4
        Stop when an iteration changes the log-likelihood by less than this share of itself.
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
    log_likelihood_ : list of float
        Σ n log P(word | document) before each iteration.
    heldout_path_ : list of [iteration, seconds, perplexity]
        How well the topics predicted the documents in `heldout` after iterations 1, 2, 3, 5, 8 and so on, and the last. Time
        spent on this does not count.
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

    saved_arrays: ClassVar[tuple[str, ...]] = (*TopicModel.saved_arrays, "alpha_")
    saved_facts: ClassVar[tuple[str, ...]] = (*TopicModel.saved_facts, "log_likelihood_")

    alpha_: NDArray[np.float64]
    log_likelihood_: list[float]

    def __init__(
        self,
        n_components: int = 10,
        *,
        alpha: float | str = 0.1,
        eta: float = 0.01,
        few_topics: bool = False,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
        dtype: str = "float32",
        engine: Engine | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.eta = eta
        self.few_topics = few_topics
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.dtype = dtype
        self.engine = engine
        self.verbose = verbose

    def fit(self, X: Any, y: None = None, *, checkpoints: Checkpoints | None = None, heldout: Any = None) -> Self:
        """Learn the topics of a corpus, of texts, or of a matrix of counts.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            What to learn from.
        y : None
            Ignored.
        checkpoints : Checkpoints, optional
            Save the run now and then, and resume one that was cut off.
        heldout : like X, optional
            Documents to judge the topics by while they are learned: see `heldout_path_`. Nothing is learned from them.
        """
        corpus = self._engine().together(lambda: self._checked(X))
        learn = self.alpha == AUTO
        alpha = np.full(self.n_components, START_ALPHA if learn else float(self.alpha))
        learn_eta = self.eta == AUTO
        algorithm = CVB0(
            **self._facts_for(corpus),
            alpha=alpha,
            prior=WordPrior.flat(0.01 if learn_eta else float(self.eta), corpus.n_words),
            languages=np.zeros(corpus.n_words, np.int32),
            learn_alpha=learn,
            learn_eta=learn_eta,
            few=bool(self.few_topics),
        )
        fitted = self._train(algorithm, corpus, checkpoints, {"algorithm": "cvb0"}, heldout)
        self.alpha_ = fitted.state.document_alpha
        self.log_likelihood_ = fitted.history
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Give P(topic | document) of new documents by folding in, with the topics held fixed and the prior `alpha_`.

        Words the model does not know are left out; a document with no other words has the mean of the prior.
        """
        corpus = self._corpus_to_use(X)
        dtype = self.components_.dtype
        prior = self.alpha_.astype(dtype)
        start = (self.alpha_ / self.alpha_.sum()).astype(dtype)
        task = partial(fold_in_shard, topics=self._frozen_topics(), start=start, beta=dtype.type(1), factors=prior, prior=prior)
        with self._engine().place(corpus.shards()) as placed:
            placed.begin(task)
            return placed.documents("theta")

    def _checked(self, X: Any) -> Corpus:
        """Take the data, and say at once what is wrong with it or with the settings."""
        corpus = self._corpus_to_fit(X)
        problem = None
        if self.alpha != AUTO and not _is_positive(self.alpha):
            problem = f'alpha must be "auto" or a number above 0, but was {self.alpha!r}'
        elif self.eta != AUTO and not _is_positive(self.eta):
            problem = f"eta must be a number above 0, but was {self.eta!r}"
        self._see_that_it_makes_sense(corpus, problem)
        return corpus


def _is_positive(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and 0 < value < float("inf")
