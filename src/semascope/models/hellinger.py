"""Distribution estimated by LSA of square-rooted probabilities, and its distance from the data."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.corpus.csr import CSR
from semascope.corpus.shards import Shard, as_read_only, read_only
from semascope.engines.base import Locals
from semascope.engines.exact_sums import Scalars, ScalarTotal
from semascope.engines.threads import ThreadEngine
from semascope.errors import InputError
from semascope.inference.lsa import HELLINGER, Parts, description_lengths, parts_of, positive_entries, positive_squares, project
from semascope.kernels.heldout import halve
from semascope.models.base import Model
from semascope.models.sklearn_imports import check_is_fitted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SMOOTHING = 0.5
"""Weight of P(word) in predictions: near the optimum in ``python -m benchmarks lsa_quality``."""


class HellingerEstimate(Model):
    """Decomposition with weighting "hellinger" as a distribution P̂ over document–word pairs."""

    weighting: str
    singular_values_: NDArray[np.float64]
    doc_vectors_: NDArray[Any]
    document_shares_: NDArray[np.float64]
    word_shares_: NDArray[np.float64]
    word_weights_: NDArray[np.float64]
    n_tokens_: float
    alignment_: float | None
    parts_: Sequence[float] | None
    _fitted_to: Corpus | None

    @property
    def frobenius_distance_(self) -> float:
        """‖Ξ − Ψ_Q‖ = √(1 − s²), where s² = Σ σ²."""
        return math.sqrt(max(1 - self._size() ** 2, 0.0))

    @property
    def bound_(self) -> float:
        """Upper bound √(2 (1 − s)) of the Hellinger distance."""
        return math.sqrt(max(2 * (1 - self._size()), 0.0))

    @property
    def hellinger_distance_(self) -> float:
        """Hellinger distance ‖Ψ_P − Ψ_Q‖ of P̂ from Q; costs O(documents × words × dimensions), once."""
        self._check_hellinger()
        return math.sqrt(max(2 - 2 * self._alignment() / math.sqrt(self._parts().positive), 0.0))

    @property
    def clipped_mass_(self) -> float:
        """Fraction of Σ ξ² in the negative entries of Ξ, which P̂ clips to zero."""
        parts = self._parts()
        return parts.negative / (parts.positive + parts.negative)

    def probability(self, rows: Any, columns: Any) -> NDArray[np.float64]:
        """Return P̂ for all pairs of the documents `rows` and the words `columns`, both given by index."""
        amplitudes = self._amplitudes(np.atleast_1d(rows)) @ self.components_[:, np.atleast_1d(columns)]
        probabilities: NDArray[np.float64] = np.maximum(amplitudes, 0).astype(np.float64) ** 2 / self._parts().positive
        return probabilities

    def probability_rows(self, documents: Any) -> NDArray[np.float64]:
        """Return full rows of P̂ for document indices."""
        return self.probability(documents, np.arange(self.n_features_in_))

    def log_likelihood(self, X: Any, *, smoothing: float = SMOOTHING) -> float:
        """Compute Σ n log P(word | document) of documents, which are folded in.

        P(word | document) is (1 − ε) (ξ⁺)² / Σ (ξ⁺)² + ε P(word). Without smoothing by ε, some words would have probability
        zero.
        """
        log_likelihood, _ = self._likelihood(X, all_words, smoothing)
        return log_likelihood

    def perplexity(self, X: Any, *, smoothing: float = SMOOTHING, seed: int = 0) -> float:
        """Compute the held-out perplexity of documents by document completion; lower is better.

        Half of the tokens of each document are folded in, and the other half are predicted: the same halves as for topic
        models. Smoothing by ε takes the place of a prior on topics.
        """
        log_likelihood, n_tokens = self._likelihood(X, partial(halves, known=self._known_words(), seed=seed), smoothing)
        return math.exp(-log_likelihood / n_tokens)

    def _likelihood(self, X: Any, divide: Any, smoothing: float) -> tuple[float, float]:
        self._check_hellinger()
        if not 0 < smoothing <= 1:
            msg = f"smoothing must be a number above 0 and at most 1, but was {smoothing!r}."
            raise InputError(msg)
        corpus = self.to_corpus(X)
        task = partial(score_shard, divide=divide, given=self.projection(), word_shares=self.word_shares_, smoothing=smoothing)
        with self._engine().open(corpus.shards()) as placed:
            found = placed.begin(task)
        log_likelihood, n_tokens = found.sums.sums() if found else (0.0, 0.0)
        if n_tokens == 0:
            msg = "no document has enough words that the model knows."
            raise InputError(msg)
        return log_likelihood, n_tokens

    def figure_of_merit(self, gamma: float = 0.5) -> NDArray[np.float64]:
        """Compute γ Mod + (1 − γ) Dist for each rank up to that of the model; select the rank with the minimum.

        Both terms are bits per observation: Mod for the parameters, Dist for the distance between model and data.
        """
        if not 0 <= gamma <= 1:
            msg = f"gamma must be a number from 0 to 1, but was {gamma!r}."
            raise InputError(msg)
        self._size()
        shape = len(self.document_shares_), len(self.word_shares_)
        model, distance = description_lengths(self.singular_values_, *shape, self.n_tokens_)
        merit: NDArray[np.float64] = gamma * model + (1 - gamma) * distance
        return merit

    def _known_words(self) -> NDArray[np.bool_]:
        self._check_hellinger()
        return np.asarray(self.word_shares_ > 0)

    def _size(self) -> float:
        """Return s = ‖Ξ‖."""
        self._check_hellinger()
        return math.sqrt(math.fsum(np.asarray(self.singular_values_, np.float64) ** 2))

    def _amplitudes(self, documents: NDArray[Any]) -> NDArray[Any]:
        """Return rows of U Σ."""
        self._check_hellinger()
        scales = np.sqrt(np.asarray(self.document_shares_)[documents])[:, None]
        return np.asarray(self.doc_vectors_[documents] * scales.astype(self.components_.dtype))

    def _parts(self) -> Parts:
        """Return Σ (ξ⁺)² and Σ (ξ⁻)², computed on first use."""
        self._check_hellinger()
        if self.parts_ is None:
            everything = np.arange(len(self.doc_vectors_))
            self.parts_ = list(parts_of(self._amplitudes(everything), self._basis()))
        return Parts(*self.parts_)

    def _alignment(self) -> float:
        """Return ⟨Ξ⁺, Ψ_Q⟩, computed from the training corpus on first use, at the latest when the model is saved."""
        if self.alignment_ is None:
            assert self._fitted_to is not None
            rows, basis = self._amplitudes(np.arange(len(self.doc_vectors_))), self._basis()
            task = partial(align_shard, rows=rows, basis=basis, n_tokens=self.n_tokens_)
            with ThreadEngine().open(self._fitted_to.shards()) as placed:
                (self.alignment_,) = placed.begin(task).sums.sums()
        return self.alignment_

    def _ensure_alignment(self) -> None:
        """Compute what needs the training corpus before it becomes unavailable."""
        if self.weighting == HELLINGER and hasattr(self, "components_"):
            self._alignment()

    def projection(self) -> dict[str, Any]:
        """Return the arguments of `semascope.inference.lsa.project`."""
        given = {"weighting": self.weighting, "of_word": self.word_weights_, "n_tokens": self.n_tokens_}
        return {"basis": self._basis(), **given}

    def _basis(self) -> NDArray[Any]:
        return as_read_only(self.components_.T, self.components_.dtype)

    def _check_hellinger(self) -> None:
        check_is_fitted(self, "components_")
        if self.weighting != HELLINGER:
            msg = f'only LSA(weighting="hellinger") estimates probabilities; this model has weighting={self.weighting!r}.'
            raise AttributeError(msg)


# --- tasks of an engine --------------------------------------------------------------------------------------------------


class Likelihood(NamedTuple):
    """Sums over documents: Σ n log P(word | document) and Σ n, or ⟨Ξ⁺, Ψ_Q⟩."""

    sums: Scalars | ScalarTotal


def align_shard(shard: Shard, rows: NDArray[Any], basis: NDArray[Any], n_tokens: float) -> tuple[Locals, Likelihood]:
    mine = as_read_only(rows[shard.first_document : shard.first_document + shard.n_documents], basis.dtype)
    observed = np.sqrt(shard.rows.counts.astype(np.float64) / n_tokens)
    return {}, Likelihood(Scalars((float(np.sum(positive_entries(shard.rows, mine, basis) * observed)),)))


def all_words(shard: Shard) -> tuple[CSR, CSR]:
    """Fold in and predict all words."""
    return shard.rows, shard.rows


def halves(shard: Shard, known: NDArray[np.bool_], seed: int) -> tuple[CSR, CSR]:
    """Fold in one half and predict the other."""
    seen, predicted = halve(*shard.rows, known, shard.first_document, seed)
    return read_only(CSR(*seen)), read_only(CSR(*predicted))


def score_shard(
    shard: Shard, divide: Any, given: dict[str, Any], word_shares: NDArray[np.float64], smoothing: float
) -> tuple[Locals, Likelihood]:
    seen, predicted = divide(shard)
    folded = Shard(shard.number, shard.first_document, shard.n_words, seen)
    rows, basis = project(seen, folded.lengths, **given), given["basis"]
    sizes = np.repeat(positive_squares(rows, basis), np.diff(predicted.ends))
    shares = word_shares[predicted.words]
    seen_at_all = (
        sizes > (10 * np.finfo(basis.dtype).eps) ** 2
    )  # amplitudes have length one: smaller values are rounding errors
    expected = np.divide(positive_entries(predicted, rows, basis) ** 2, sizes, out=shares.copy(), where=seen_at_all)
    with np.errstate(divide="ignore"):
        logs = np.log((1 - smoothing) * expected + smoothing * shares)
    counts = np.where(shares > 0, predicted.counts, 0).astype(np.float64)
    log_likelihood = np.sum(counts * np.where(shares > 0, logs, 0))
    return {}, Likelihood(Scalars((float(log_likelihood), float(np.sum(counts)))))
