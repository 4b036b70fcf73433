"""Latent semantic analysis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.engines.base import Engine
from semascope.errors import InputError
from semascope.inference.lsa import HELLINGER, project_and_measure_shard, project_shard, rows_in_order
from semascope.models.base import Model, Objective
from semascope.models.hellinger import HellingerEstimate
from semascope.models.layouts import space_layout
from semascope.models.registry import DIMENSIONS
from semascope.models.sklearn_imports import check_is_fitted
from semascope.models.validation import is_whole
from semascope.storage import Layout
from semascope.storage.facts import Fact, ListOf, Maybe, Number
from semascope.storage.layout import HUGE, TINY, Array, numbers, probabilities
from semascope.training.checkpoint import Checkpoints
from semascope.training.lanczos import BlockLanczos, Decomposition, arpack_svd
from semascope.training.linalg import one_thread_each, reorder
from semascope.training.stopping import CONVERGED
from semascope.training.weighting import WEIGHTINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

SOLVERS = ("randomized", "arpack")


class LSA(HellingerEstimate):
    """Latent semantic analysis, a truncated singular value decomposition of a weighted document–word matrix.

    By default it is a statistical estimator. Normalized counts are a distribution Q over document–word pairs; its square roots
    Ψ_Q are a point on the unit sphere, and Ξ is the nearest matrix of low rank. The squares of Ξ, with negative entries clipped
    and the rest normalized, are a distribution P̂ close to Q in Hellinger distance.

    Parameters
    ----------
    n_components : int, default=10
        Number of dimensions.
    weighting : {"hellinger", "counts", "tfidf", "logtfidf", "logentropy"}, default="hellinger"
        Term weighting: square roots of probabilities ("hellinger"); plain counts; counts times inverse document frequency,
        with rows of unit length ("tfidf"); log(1 + n) instead of counts, with weight zero for words in all documents
        ("logtfidf"); log(1 + n) times 1 − entropy ("logentropy"). The last four are classic LSA; "logtfidf" is best for search.
    solver : {"randomized", "arpack"}, default="randomized"
        "randomized" is the block Lanczos method from random vectors, stopped by `tol`; "arpack" iterates to machine precision,
        in memory.
    max_iter : int, default=20
        Maximum number of passes of the randomized solver, counted from the first that has enough dimensions.
    tol : float, default=0.0015
        Convergence tolerance of the randomized solver: stop when the relative decrease of the residual in one pass is smaller.
    random_state : int, RandomState or None, default=None
        Seed. The same seed gives the same model, bit for bit, on every engine.
    dtype : {"float32", "float64"}, default="float32"
        Precision. Single precision resolves singular values down to 1e-3 of the largest, double precision to 1e-6.
    engine : Engine, optional
        Execution engine, local threads by default. It does not affect the results.
    verbose : bool, default=False
        Whether to show a progress bar on a terminal.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words)
        Right singular vectors. The entry of largest magnitude in each row is positive.
    singular_values_ : ndarray of shape (n_components,)
        Singular values in descending order.
    doc_vectors_ : ndarray of shape (n_documents, n_components)
        Vectors of the training documents, as returned by `transform`.
    residuals_ : list of float
        Estimate of ‖A − Ξ‖ / ‖A‖ after each pass of the solver, and finally the value measured on the documents.
    document_shares_, word_shares_ : ndarray
        P(document) and P(word) in the training corpus.
    n_iter_ : int
        Number of passes, including the initial one over random vectors.
    stopped_by_ : {"converged", "iterations", "interrupted"}
        Reason for the end of the fit.

    Examples
    --------
    >>> model = LSA(2, random_state=0).fit(["cats purr", "cats sleep", "dogs bark", "dogs sleep"])
    >>> [word for word, _ in model.similar_words("purr", 1)]
    ['cats']
    """

    kind: ClassVar[str] = DIMENSIONS
    objectives: ClassVar[Sequence[Objective]] = (Objective("residuals_", "residual"),)
    saved_arrays: ClassVar[Mapping[str, Array]] = {
        "singular_values_": numbers("n_topics", low=0.0, high=HUGE),
        "doc_vectors_": numbers("n_documents", "n_topics"),
        "document_shares_": probabilities("n_documents"),
        "word_shares_": probabilities("n_words"),
        "word_weights_": numbers("n_words", may_be_empty=True),
    }
    saved_facts: ClassVar[Mapping[str, Fact]] = {
        **Model.saved_facts, "residuals_": ListOf(Number(0), low=1), "n_tokens_": Number(TINY), "alignment_": Maybe(Number()),
        "parts_": Maybe(ListOf(Number(0), 2, 2)),
    }  # fmt: skip

    residuals_: list[float]

    def __init__(
        self,
        n_components: int = 10,
        *,
        weighting: str = HELLINGER,
        solver: str = "randomized",
        max_iter: int = 20,
        tol: float = 1.5e-3,
        random_state: Any = None,
        dtype: str = "float32",
        engine: Engine | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.weighting = weighting
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.dtype = dtype
        self.engine = engine
        self.verbose = verbose

    # --- fitting -------------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: None = None, *, checkpoints: Checkpoints | None = None) -> Self:
        """Fit the model to a corpus, texts or a nonnegative matrix.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            Training documents.
        y : None
            Ignored.
        checkpoints : Checkpoints, optional
            Save checkpoints during the fit, and resume an interrupted run.
        """
        corpus = self._engine().run_on_all(lambda: self._validate_input(X))
        algorithm = BlockLanczos(**self._config_for(corpus), weighting=self.weighting)
        self._learn(algorithm, corpus, checkpoints)
        return self

    def _validate_input(self, X: Any) -> Corpus:
        """Validate input and hyperparameters."""
        corpus = self._corpus_to_fit(X)
        nothing = None if corpus.n_tokens > 0 else "there is nothing to decompose: all counts are zero"
        self._validate_settings(corpus, nothing)
        return corpus

    def _problem_of_settings(self) -> str | None:
        problem = super()._problem_of_settings()
        if problem is None and self.weighting not in tuple(WEIGHTINGS):
            problem = f"weighting must be one of {', '.join(WEIGHTINGS)}, but was {self.weighting!r}"
        elif problem is None and self.solver not in SOLVERS:
            problem = f"solver must be one of {', '.join(SOLVERS)}, but was {self.solver!r}"
        return problem

    def _problem_when_loaded(self) -> str | None:
        if problem := super()._problem_when_loaded():
            return problem
        if self.weighting == HELLINGER and self.alignment_ is None:
            return "facts.fitted.alignment_: expected a number, found None"
        if (WEIGHTINGS[self.weighting].of_word is not None) != (len(self.word_weights_) > 0):
            return f"the word weights do not match the weighting {self.weighting!r}"
        return None

    @classmethod
    def _file_layout(cls) -> Layout:
        return space_layout(cls.saved_arrays)

    def _learn(self, algorithm: BlockLanczos, corpus: Corpus, checkpoints: Checkpoints | None) -> None:
        if self.solver == "arpack":
            found = arpack_svd(algorithm, corpus, self._engine())
            self.n_iter_, self.stopped_by_ = 1, CONVERGED
        else:
            with one_thread_each():  # setting the number of threads restarts the thread pools of BLAS
                found = self._train(algorithm, corpus, checkpoints, {"solver": self.solver}).state
        self._store_results(found, corpus)

    def _store_results(self, found: Decomposition, corpus: Corpus) -> None:
        self.n_tokens_ = float(corpus.n_tokens)
        self.components_ = found.vectors.T
        self.word_weights_ = found.of_word
        self.word_shares_ = found.word_sums / self.n_tokens_
        self.document_shares_ = np.concatenate([ref.open().lengths for ref in corpus.shards()]) / self.n_tokens_
        self._measure(corpus, found)
        self.alignment_ = self.parts_ = None
        self._fitted_to = corpus

    def _measure(self, corpus: Corpus, found: Decomposition) -> None:
        """Project the documents; the singular values are measured on their projection, as the solver only estimates them."""
        with self._engine().open(corpus.shards()) as placed:
            squares = np.array(placed.begin(partial(project_and_measure_shard, **self.projection())).sums.sums())
            order = np.arange(len(squares)) if len(found.values) else np.argsort(-squares, kind="stable")
            self.doc_vectors_ = placed.documents(partial(rows_in_order, order=order))
        self.residuals_ = found.residuals.tolist()
        if len(found.values):
            self.singular_values_ = found.values
            return
        reorder(found.vectors, order)  # nearly equal values may be in a different order
        self.singular_values_ = np.sqrt(squares[order])
        left = max(1 - math.fsum(squares) / found.total, 0.0) if found.total > 0 else 0.0
        self.residuals_.append(math.sqrt(left))

    def _write(self, path: str | Path) -> None:
        self._ensure_alignment()
        super()._write(path)

    def describe_fit(self) -> str:
        """Describe the number of passes of the fit."""
        return f"{self.n_iter_} passes"

    def without_documents(self) -> Self:
        """Return a shallow copy without the data of the training documents."""
        self._ensure_alignment()
        return super().without_documents()

    def __getstate__(self) -> Any:
        self._ensure_alignment()
        return {name: value for name, value in super().__getstate__().items() if name != "_fitted_to"}

    # --- using ---------------------------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> NDArray[Any]:
        """Project new documents: rows of the weighted matrix times the right singular vectors.

        With weighting "hellinger" the rows are √P(word | document). Unknown words are ignored; a document without known words
        is projected to the origin.
        """
        corpus = self.to_corpus(X)
        with self._engine().open(corpus.shards()) as placed:
            placed.begin(partial(project_shard, **self.projection()))
            return placed.documents(itemgetter("rows"))

    def similar_words(self, word: str, n: int = 10) -> list[tuple[str, float]]:
        """Find the nearest neighbors of a word, with the cosines of their vectors, rows of V Σ."""
        check_is_fitted(self, "components_")
        words = self.vocabulary_.tolist()
        if word not in words:
            msg = f"the model does not know the word {word!r}."
            raise InputError(msg)
        place, vectors = words.index(word), self.components_.T * self.singular_values_
        return [(words[j], cosine) for j, cosine in _nearest(vectors[place], vectors, n, without=place)]

    def similar_documents(self, document: int | str, n: int = 10) -> list[tuple[int, float]]:
        """Find the training documents nearest to one of them, given by index, or to a text, with cosines."""
        check_is_fitted(self, "components_")
        if isinstance(document, str):
            return _nearest(self.transform([document])[0], self.doc_vectors_, n)
        if not is_whole(document) or not 0 <= document < len(self.doc_vectors_):
            msg = f"there is no document {document!r}: they are numbered from 0 to {len(self.doc_vectors_) - 1}."
            raise InputError(msg)
        return _nearest(self.doc_vectors_[document], self.doc_vectors_, n, without=int(document))


def _nearest(vector: NDArray[Any], vectors: NDArray[Any], n: int, without: int | None = None) -> list[tuple[int, float]]:
    """Return the indices and cosines of the n nearest vectors, excluding row `without`."""
    if not is_whole(n) or n < 1:
        msg = f"n must be a whole number of at least 1, but was {n!r}."
        raise InputError(msg)
    sizes = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vector)
    cosines = np.divide(vectors @ vector, sizes, out=np.zeros(len(vectors), np.float64), where=sizes > 0)
    order = [int(j) for j in np.argsort(-cosines, kind="stable")[: n + 1] if j != without]
    return [(j, float(cosines[j])) for j in order[:n]]
