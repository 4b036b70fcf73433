"""Latent semantic analysis as a statistical estimator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from semascope.corpus.corpus import Corpus
from semascope.corpus.rows import Rows
from semascope.corpus.shards import Shard, frozen, read_only
from semascope.engines.base import Engine, Locals
from semascope.engines.exact import Scalars, ScalarTotal
from semascope.engines.threads import ThreadEngine
from semascope.errors import InputError
from semascope.kernels.heldout import halve
from semascope.kernels.lsa import project_documents
from semascope.models.base import Model
from semascope.models.exact_svd import decomposed
from semascope.models.folding import Nothing
from semascope.models.given import is_whole
from semascope.models.hellinger import Parts, bits_of_ranks, parts_of, positive_entries, positive_squares
from semascope.training.checkpoint import Checkpoints
from semascope.training.dense import one_thread_each
from semascope.training.subspace import Decomposition, SubspaceIteration
from semascope.training.weighting import WEIGHTINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

HELLINGER = "hellinger"
SOLVERS = ("randomized", "arpack")
SMOOTHING = 0.5
"""Share of P(word) in predictions: near the best of those that ``python -m benchmarks lsa_quality`` compares."""


class Likelihood(NamedTuple):
    """Σ n log P(word | document), and Σ n."""

    sums: Scalars | ScalarTotal


class LSA(Model):
    """Latent semantic analysis: a collection seen in few dimensions, by truncated singular value decomposition.

    By default it is a statistical estimator. Counts over their sum are a distribution Q over pairs of documents and words; its
    square roots Ψ_Q are a point on the unit sphere, and the decomposition finds the nearest table Ξ of low rank. With negative
    entries taken for zero and the rest scaled to length one, its squares are again a distribution, P̂, near Q in Hellinger's
    distance.

    Parameters
    ----------
    n_components : int, default=10
        Number of dimensions.
    weighting : {"hellinger", "counts", "tfidf", "logentropy"}, default="hellinger"
        What the matrix has in place of counts: square roots of probabilities; counts themselves; counts times inverse document
        frequency, rows of length one; log(1 + n) times 1 − entropy. The last three are classic LSA.
    solver : {"randomized", "arpack"}, default="randomized"
        Subspace iteration from random vectors, which stops at a tolerance; or ARPACK to machine precision, in memory.
    max_iter : int, default=20
        Most passes of the randomised solver.
    tol : float, default=0.002
        It stops when a pass makes the residual smaller by less than this share. Further passes would gain less still.
    random_state : int, RandomState or None, default=None
        Seed. The same seed gives the same model, bit for bit, on every engine.
    dtype : {"float32", "float64"}, default="float32"
        Precision. Single precision tells values apart down to a thousandth of the largest.
    engine : Engine, optional
        Where to work; all cores of this machine by default.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words)
        Right singular vectors. The entry of each that is largest in size is positive.
    singular_values_ : ndarray of shape (n_components,)
        Largest first.
    doc_vectors_ : ndarray of shape (n_documents, n_components)
        Where the documents lie, as `transform` would put them.
    residuals_ : list of float
        ‖A − Ξ‖ / ‖A‖ after each pass.
    document_shares_, word_shares_ : ndarray
        P(document) and P(word) in the collection.
    n_iter_ : int
        Number of passes, that over random vectors included.
    stopped_by_ : {"settled", "iterations", "interrupted"}
        Why the fit ended.

    Examples
    --------
    >>> model = LSA(2, random_state=0).fit(["cats purr", "cats sleep", "dogs bark", "dogs sleep"])
    >>> [word for word, _ in model.similar_words("purr", 1)]
    ['cats']
    """

    noun: ClassVar[str] = "dimensions"
    saved_arrays: ClassVar[tuple[str, ...]] = (
        "singular_values_", "doc_vectors_", "document_shares_", "word_shares_", "word_weights_",
    )  # fmt: skip
    saved_facts: ClassVar[tuple[str, ...]] = (*Model.saved_facts, "residuals_", "n_tokens_", "alignment_", "parts_")

    singular_values_: NDArray[np.float64]
    doc_vectors_: NDArray[Any]
    document_shares_: NDArray[np.float64]
    word_shares_: NDArray[np.float64]
    word_weights_: NDArray[np.float64]
    residuals_: Sequence[float]
    n_tokens_: float
    alignment_: float | None
    parts_: Sequence[float] | None

    def __init__(
        self,
        n_components: int = 10,
        *,
        weighting: str = HELLINGER,
        solver: str = "randomized",
        max_iter: int = 20,
        tol: float = 2e-3,
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
        """Decompose a corpus, texts, or any matrix without negative entries.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            What to decompose.
        y : None
            Ignored.
        checkpoints : Checkpoints, optional
            Save the run now and then, and resume one that was cut off.
        """
        corpus = self._engine().together(lambda: self._checked(X))
        algorithm = SubspaceIteration(**self._facts_for(corpus), weighting=self.weighting)
        self._learn(algorithm, corpus, checkpoints)
        return self

    def _checked(self, X: Any) -> Corpus:
        """Take the data, and say at once what is wrong with it or with the settings."""
        corpus = self._corpus_to_fit(X)
        problem = None
        if self.weighting not in WEIGHTINGS:
            problem = f"weighting must be one of {', '.join(WEIGHTINGS)}, but was {self.weighting!r}"
        elif self.solver not in SOLVERS:
            problem = f"solver must be one of {', '.join(SOLVERS)}, but was {self.solver!r}"
        elif not corpus.n_tokens > 0:
            problem = "there is nothing to decompose: all counts are zero"
        self._see_that_it_makes_sense(corpus, problem)
        return corpus

    def _learn(self, algorithm: SubspaceIteration, corpus: Corpus, checkpoints: Checkpoints | None) -> None:
        if self.solver == "arpack":
            found, rows = decomposed(algorithm, corpus, self._engine())
            self.n_iter_, self.stopped_by_ = 1, "settled"
        else:
            with one_thread_each():  # libraries for matrices start and stop threads each time that they are told how many
                fitted = self._train(algorithm, corpus, checkpoints, {"solver": self.solver})
            found, rows = fitted.state, fitted.documents
        self._keep(found, rows, corpus)

    def _keep(self, found: Decomposition, rows: NDArray[Any], corpus: Corpus) -> None:
        self.n_tokens_ = float(corpus.n_tokens)
        self.components_ = found.vectors.T
        self.singular_values_ = found.values
        self.residuals_ = found.residuals.tolist()
        self.word_weights_ = found.of_word
        self.word_shares_ = found.word_sums / self.n_tokens_
        self.document_shares_ = np.concatenate([ref.open().lengths for ref in corpus.shards()]) / self.n_tokens_
        self.doc_vectors_ = rows
        self.alignment_ = self.parts_ = None
        self._fitted_to: Corpus | None = corpus
        if self.weighting == HELLINGER:
            self.doc_vectors_ = rows * self._document_scales()

    def _document_scales(self) -> NDArray[Any]:
        """1 / √P(document), by which rows of amplitudes become those of words given the document."""
        shares = self.document_shares_
        scales = np.divide(1.0, np.sqrt(shares), out=np.zeros_like(shares), where=shares > 0)
        return scales[:, None].astype(self.components_.dtype)

    def _alignment(self) -> float:
        """⟨Ξ⁺, Ψ_Q⟩, worked out from the corpus of the fit when it is first wanted, at the latest when the model is saved."""
        if self.alignment_ is None:
            assert self._fitted_to is not None
            rows, basis = self._amplitudes(np.arange(len(self.doc_vectors_))), self._basis()
            task = partial(_aligned_shard, rows=rows, basis=basis, n_tokens=self.n_tokens_)
            with ThreadEngine().place(self._fitted_to.shards()) as placed:
                (self.alignment_,) = placed.begin(task).sums.sums()
        return self.alignment_

    def _settle(self) -> None:
        """Work out what only the corpus of the fit can tell, before that is out of reach."""
        if self.weighting == HELLINGER and hasattr(self, "components_"):
            self._alignment()

    def _write(self, path: str | Path) -> None:
        self._settle()
        super()._write(path)

    def __getstate__(self) -> Any:
        self._settle()
        return {name: value for name, value in super().__getstate__().items() if name != "_fitted_to"}

    # --- using ---------------------------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> NDArray[Any]:
        """Give the place of new documents: their row of the matrix times the right singular vectors.

        Of the Hellinger model the row is √P(word | document). Words the model does not know are left out; a document without
        any others lies at the origin.
        """
        corpus = self._corpus_to_use(X)
        with self._engine().place(corpus.shards()) as placed:
            placed.begin(self._projection())
            return placed.documents(itemgetter("rows"))

    def _projection(self) -> Any:
        """A task that projects documents."""
        given: dict[str, Any] = {"weighting": self.weighting, "of_word": self.word_weights_, "n_tokens": self.n_tokens_}
        return partial(_projected_shard, basis=self._basis(), **given)

    def _basis(self) -> NDArray[Any]:
        return frozen(self.components_.T, self.components_.dtype)

    def similar_words(self, word: str, n: int = 10) -> list[tuple[str, float]]:
        """Give the words nearest to a word, with the cosines of their vectors, which are rows of V Σ."""
        check_is_fitted(self, "components_")
        words = self.vocabulary_.tolist()
        if word not in words:
            msg = f"the model does not know the word {word!r}."
            raise InputError(msg)
        place, vectors = words.index(word), self.components_.T * self.singular_values_
        return [(words[j], cosine) for j, cosine in _nearest(vectors[place], vectors, n, without=place)]

    def similar_documents(self, document: int | str, n: int = 10) -> list[tuple[int, float]]:
        """Give the fitted documents nearest to one of them, by its number, or to a text, with the cosines of their vectors."""
        check_is_fitted(self, "components_")
        if isinstance(document, str):
            return _nearest(self.transform([document])[0], self.doc_vectors_, n)
        if not is_whole(document) or not 0 <= document < len(self.doc_vectors_):
            msg = f"there is no document {document!r}: they are numbered from 0 to {len(self.doc_vectors_) - 1}."
            raise InputError(msg)
        return _nearest(self.doc_vectors_[document], self.doc_vectors_, n, without=int(document))

    # --- the distribution that it estimates ----------------------------------------------------------------------------------

    @property
    def frobenius_distance_(self) -> float:
        """‖Ξ − Ψ_Q‖ = √(1 − s²), where s² = Σ σ²."""
        return math.sqrt(max(1 - self._size() ** 2, 0.0))

    @property
    def bound_(self) -> float:
        """√(2 (1 − s)), which the Hellinger distance does not exceed."""
        return math.sqrt(max(2 * (1 - self._size()), 0.0))

    @property
    def hellinger_distance_(self) -> float:
        """‖Ψ_P − Ψ_Q‖, the Hellinger distance of P̂ from Q; takes a product of documents × words × dimensions, once."""
        self._see_that_it_is_hellinger()
        return math.sqrt(max(2 - 2 * self._alignment() / math.sqrt(self._parts().positive), 0.0))

    @property
    def clipped_mass_(self) -> float:
        """Σ ξ² of the negative entries over that of all: what P̂ leaves out of Ξ."""
        parts = self._parts()
        return parts.negative / (parts.positive + parts.negative)

    def probability(self, rows: Any, columns: Any) -> NDArray[np.float64]:
        """Give P̂ for the documents in `rows` and the words in `columns`, both by number: a table of both."""
        amplitudes = self._amplitudes(np.atleast_1d(rows)) @ self.components_[:, np.atleast_1d(columns)]
        probabilities: NDArray[np.float64] = np.maximum(amplitudes, 0).astype(np.float64) ** 2 / self._parts().positive
        return probabilities

    def probability_rows(self, documents: Any) -> NDArray[np.float64]:
        """Give whole rows of P̂ for documents by number."""
        return self.probability(documents, np.arange(self.n_features_in_))

    def log_likelihood(self, X: Any, *, smoothing: float = SMOOTHING) -> float:
        """Give Σ n log P(word | document) of documents, which are folded in.

        P(word | document) is (1 − ε) (ξ⁺)² / Σ (ξ⁺)² + ε P(word): without smoothing by ε a word that P̂ does not expect has no
        probability at all.
        """
        log_likelihood, _ = self._likelihood(X, partial(_same, known=self._known()), smoothing)
        return log_likelihood

    def perplexity(self, X: Any, *, smoothing: float = SMOOTHING, seed: int = 0) -> float:
        """Give the held-out perplexity of documents by document completion; lower is better.

        One half of the words of each is folded in, the other half predicted: the same halves that topic models are judged by.
        """
        log_likelihood, n_tokens = self._likelihood(X, partial(_halves, known=self._known(), seed=seed), smoothing)
        return math.exp(-log_likelihood / n_tokens)

    def _likelihood(self, X: Any, divide: Any, smoothing: float) -> tuple[float, float]:
        self._see_that_it_is_hellinger()
        if not 0 < smoothing <= 1:
            msg = f"smoothing must be a number above 0 and at most 1, but was {smoothing!r}."
            raise InputError(msg)
        corpus = self._corpus_to_use(X)
        task = partial(
            _likely_shard, divide=divide, project=self._projection(), word_shares=self.word_shares_, smoothing=smoothing
        )
        with self._engine().place(corpus.shards()) as placed:
            found = placed.begin(task)
        log_likelihood, n_tokens = found.sums.sums() if found else (0.0, 0.0)
        if n_tokens == 0:
            msg = "there is no document with words that the model knows, and enough of them."
            raise InputError(msg)
        return log_likelihood, n_tokens

    def figure_of_merit(self, gamma: float = 0.5) -> NDArray[np.float64]:
        """Give γ Mod + (1 − γ) Dist for each rank up to that of the model: the smallest tells which to take.

        Both are bits per observation: Mod of the parameters, Dist of the distance between the model and what was observed.
        """
        if not 0 <= gamma <= 1:
            msg = f"gamma must be a number from 0 to 1, but was {gamma!r}."
            raise InputError(msg)
        self._size()
        shape = len(self.document_shares_), len(self.word_shares_)
        model, distance = bits_of_ranks(self.singular_values_, *shape, self.n_tokens_)
        merit: NDArray[np.float64] = gamma * model + (1 - gamma) * distance
        return merit

    def _known(self) -> NDArray[np.bool_]:
        self._see_that_it_is_hellinger()
        return np.asarray(self.word_shares_ > 0)

    def _size(self) -> float:
        """The length of Ξ, s."""
        self._see_that_it_is_hellinger()
        return math.sqrt(math.fsum(np.asarray(self.singular_values_, np.float64) ** 2))

    def _amplitudes(self, documents: NDArray[Any]) -> NDArray[Any]:
        """Rows of U Σ."""
        self._see_that_it_is_hellinger()
        scales = np.sqrt(np.asarray(self.document_shares_)[documents])[:, None]
        return np.asarray(self.doc_vectors_[documents] * scales.astype(self.components_.dtype))

    def _parts(self) -> Parts:
        """Σ (ξ⁺)² and Σ (ξ⁻)², worked out when they are first wanted."""
        self._see_that_it_is_hellinger()
        if self.parts_ is None:
            everything = np.arange(len(self.doc_vectors_))
            self.parts_ = list(parts_of(self._amplitudes(everything), self._basis()))
        return Parts(*self.parts_)

    def _see_that_it_is_hellinger(self) -> None:
        check_is_fitted(self, "components_")
        if self.weighting != HELLINGER:
            msg = f'only LSA(weighting="hellinger") estimates probabilities; this model has weighting={self.weighting!r}.'
            raise AttributeError(msg)


# --- what is done with a shard -----------------------------------------------------------------------------------------------


def _project(
    rows: Rows, lengths: NDArray[np.float64], basis: NDArray[Any], weighting: str, of_word: NDArray[Any], n_tokens: float
) -> NDArray[Any]:
    """Rows of the matrix times the right singular vectors; of the Hellinger model, amplitudes of words given the document."""
    values = WEIGHTINGS[weighting].values(rows, n_tokens, of_word, basis.dtype)
    projected = np.empty((len(rows.ends) - 1, basis.shape[1]), basis.dtype)
    project_documents(rows.ends, rows.words, values, basis, projected)
    if weighting == HELLINGER:
        projected *= np.sqrt(n_tokens / np.where(lengths > 0, lengths, n_tokens))[:, None].astype(basis.dtype)
    return projected


def _projected_shard(shard: Shard, **given: Any) -> tuple[Locals, Nothing]:
    return {"rows": _project(shard.rows, shard.lengths, **given)}, Nothing()


def _aligned_shard(shard: Shard, rows: NDArray[Any], basis: NDArray[Any], n_tokens: float) -> tuple[Locals, Likelihood]:
    mine = frozen(rows[shard.first_document : shard.first_document + shard.n_documents], basis.dtype)
    observed = np.sqrt(shard.rows.counts.astype(np.float64) / n_tokens)
    return {}, Likelihood(Scalars((float(np.sum(positive_entries(shard.rows, mine, basis) * observed)),)))


def _same(shard: Shard, known: NDArray[np.bool_]) -> tuple[Rows, Rows]:
    """Fold in what is to be predicted."""
    return shard.rows, shard.rows


def _halves(shard: Shard, known: NDArray[np.bool_], seed: int) -> tuple[Rows, Rows]:
    """Fold in one half, and predict the other."""
    seen, predicted = halve(*shard.rows, known, shard.first_document, seed)
    return read_only(Rows(*seen)), read_only(Rows(*predicted))


def _likely_shard(
    shard: Shard, divide: Any, project: Any, word_shares: NDArray[np.float64], smoothing: float
) -> tuple[Locals, Likelihood]:
    seen, predicted = divide(shard)
    given, folded = project.keywords, Shard(shard.number, shard.first_document, shard.n_words, seen)
    rows, basis = _project(seen, folded.lengths, **given), given["basis"]
    sizes = np.repeat(positive_squares(rows, basis), np.diff(predicted.ends))
    shares = word_shares[predicted.words]
    expected = np.divide(positive_entries(predicted, rows, basis) ** 2, sizes, out=shares.copy(), where=sizes > 0)
    with np.errstate(divide="ignore"):
        logs = np.log((1 - smoothing) * expected + smoothing * shares)
    counts = np.where(shares > 0, predicted.counts, 0).astype(np.float64)
    log_likelihood = np.sum(counts * np.where(shares > 0, logs, 0))
    return {}, Likelihood(Scalars((float(log_likelihood), float(np.sum(counts)))))


def _nearest(vector: NDArray[Any], vectors: NDArray[Any], n: int, without: int | None = None) -> list[tuple[int, float]]:
    """Numbers of the n vectors with the largest cosines to a vector, and these; itself left out."""
    if not is_whole(n) or n < 1:
        msg = f"at least one neighbour must be asked for, but n was {n!r}."
        raise InputError(msg)
    sizes = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vector)
    cosines = np.divide(vectors @ vector, sizes, out=np.zeros(len(vectors), np.float64), where=sizes > 0)
    order = [int(j) for j in np.argsort(-cosines, kind="stable")[: n + 1] if j != without]
    return [(j, float(cosines[j])) for j in order[:n]]
