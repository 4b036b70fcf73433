"""Label prediction: candidates by a cheap score, calibrated probabilities, and a threshold."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.corpus.labels import LabeledShard, LabelRows
from semascope.corpus.shards import Shard, as_read_only
from semascope.engines.base import Engine, Locals
from semascope.inference.labels import fold_in_labels
from semascope.inference.topics import Nothing
from semascope.kernels.label_inference import score_labels
from semascope.models.base import Model
from semascope.models.labels.label_input import INDICATOR, LISTS, to_given_form
from semascope.models.sklearn_imports import check_is_fitted
from semascope.training.particle_state import LabelCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray


CANDIDATES = 30
"""Maximum number of candidate labels per document."""


class Scores(NamedTuple):
    """Candidate labels of documents.

    labels    int32[d, c]        indices, best first, padded with -1
    cosines   float64[d, c]      similarity of document and label
    theta     float64[d, c + b]  P(label | document) of the candidates and the background
    """

    labels: NDArray[np.int32]
    cosines: NDArray[np.float64]
    theta: NDArray[np.float64]


class Scorer(NamedTuple):
    """Scorer of candidate labels.

    known      word counts of labels
    weights    float64[v]  term weights
    squares    float64[k]  squared norms of the label vectors
    shares     float64[l]  relative frequencies of the labels; later topics are the background
    alpha      Dirichlet prior of a label
    """

    known: LabelCounts
    weights: NDArray[np.float64]
    squares: NDArray[np.float64]
    shares: NDArray[np.float64]
    alpha: float

    @classmethod
    def of(cls, known: LabelCounts, common: NDArray[Any], alpha: float) -> Scorer:
        """Create a scorer with term weights: rarity times 1 − entropy over labels."""
        words, n = known.words(), np.maximum(known.counts, 0.0)
        totals = np.bincount(words, n, known.n_words)
        p = n / np.maximum(totals[words], 1e-300)
        logs = np.log(p, out=np.zeros_like(p), where=p > 0)
        entropies = -np.bincount(words, p * logs, known.n_words) / np.log(max(known.n_labels, 2))
        rarity = np.log1p((totals.max(initial=0.0) + 1) / (totals + 1))
        weights = rarity * np.maximum(1 - entropies, 0.0)
        squares = np.bincount(known.labels, (n * weights[words]) ** 2, known.n_labels)
        shares = np.asarray(common, np.float64) / max(float(np.sum(common)), 1e-300)
        return cls(
            known,
            as_read_only(weights, np.float64),
            as_read_only(squares, np.float64),
            as_read_only(shares, np.float64),
            float(alpha),
        )

    def score(self, shard: Shard) -> Scores:
        """Compute the candidates of the documents of a shard, and their proportions.

        A labeled shard has training documents: their contributions to their own labels are subtracted.
        """
        own = shard.labels if isinstance(shard, LabeledShard) else _no_labels(shard.n_documents)
        n_labels = len(self.shares)
        labels = np.empty((shard.n_documents, min(CANDIDATES, n_labels)), np.int32)
        cosines = np.empty(labels.shape)
        priors = as_read_only(np.full(len(own.numbers), self.alpha), np.float64)
        score_labels(
            *shard.rows, *own, priors, *self.known.for_kernels(), self.weights, self.squares, n_labels, labels, cosines
        )  # fmt: skip
        return Scores(labels, cosines, self._shares_of(shard, labels))

    def _shares_of(self, shard: Shard, labels: NDArray[np.int32]) -> NDArray[np.float64]:
        """Fold in the documents of a shard over their candidates; the prior is proportional to label frequency."""
        n_background = self.known.n_labels - len(self.shares)
        background = np.arange(len(self.shares), self.known.n_labels, dtype=np.int32)
        columns = np.concatenate([labels, np.tile(background, (len(labels), 1))], axis=1)
        common = np.where(labels >= 0, self.shares[labels] + 1e-12, 0.0)
        n_found = (labels >= 0).sum(axis=1, keepdims=True)
        priors = self.alpha * common * n_found / np.maximum(common.sum(axis=1, keepdims=True), 1e-300)
        priors = np.concatenate([priors, np.full((len(labels), n_background), self.alpha)], axis=1)
        order = np.argsort(columns, axis=1, kind="stable")
        ordered, rows = np.take_along_axis(columns, order, axis=1), np.arange(len(labels))[:, None]
        is_there = ordered >= 0
        ends = np.concatenate([[0], np.cumsum(is_there.sum(axis=1))])
        open_to = LabelRows(as_read_only(ends, np.int64), as_read_only(ordered[is_there], np.int32))
        theta = fold_in_labels(shard.rows, open_to, np.take_along_axis(priors, order, axis=1)[is_there], self.known)
        in_order = np.zeros(columns.shape)
        in_order[is_there] = theta
        shares = np.empty_like(in_order)
        shares[rows, order] = in_order
        return shares

    def task(self, shard: Shard) -> tuple[Locals, Nothing]:
        """Score the documents of a shard as an engine task."""
        return self.score(shard)._asdict(), Nothing()

    def score_all(self, shards: Any, engine: Engine) -> Scores:
        """Score the documents of all shards."""
        with engine.open(shards) as placed:
            placed.begin(self.task)
            return Scores(*(placed.documents(itemgetter(name)) for name in Scores._fields))


class Calibration(NamedTuple):
    """Coefficients of the logistic regression from scores to label probabilities, and the decision threshold."""

    intercept: float
    cosine: float
    relative: float
    common: float
    threshold: float

    def probabilities(self, scores: Scores, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each candidate; 0 for padding."""
        logits = np.clip(np.einsum("dcf,f->dc", features(scores, shares), np.array(self[:4])), -500, 500)
        return np.where(scores.labels >= 0, 1 / (1 + np.exp(-logits)), 0.0)


DEFAULT = Calibration(-6.2, 15.5, 5.9, 0.54, 0.41)
"""Calibration of models without training documents at hand, fitted to the training documents of Reuters (ModApte)."""

PRECISION = np.array([1.0, 0.01, 0.1, 1.0])
"""Precision of the Gaussian prior of each coefficient around its default."""

THRESHOLD_WEIGHT = 100
"""Weight of the default threshold, in documents."""

NEWTON_STEPS = 20


def features(scores: Scores, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the features of each candidate: 1, cosine, cosine relative to the largest, log label frequency."""
    largest = np.maximum(scores.cosines[:, :1], 1e-300)
    common = np.log(np.maximum(shares[scores.labels], 1e-12))
    return np.stack([np.ones_like(scores.cosines), scores.cosines, scores.cosines / largest, common], axis=2)


def calibrate(scores: Scores, shares: NDArray[np.float64], labels: LabelRows) -> Calibration:
    """Fit the calibration to labeled documents, with a prior centered at the default."""
    is_candidate = scores.labels >= 0
    keys = np.repeat(np.arange(len(scores.labels)), np.diff(labels.ends)) * len(shares) + labels.numbers
    candidates = np.arange(len(scores.labels))[:, None] * len(shares) + scores.labels
    truth = np.isin(candidates, keys)[is_candidate].astype(np.float64)
    beta = _logistic(features(scores, shares)[is_candidate], truth, np.array(DEFAULT[:4]))
    found = DEFAULT._replace(**dict(zip(Calibration._fields, beta.tolist(), strict=False)))
    best = _best_threshold(found.probabilities(scores, shares)[is_candidate], truth, len(labels.numbers))
    n = len(scores.labels)
    return found._replace(threshold=(n * best + THRESHOLD_WEIGHT * DEFAULT.threshold) / (n + THRESHOLD_WEIGHT))


def _best_threshold(p: NDArray[np.float64], truth: NDArray[np.float64], n_true: int) -> float:
    """Return the threshold that maximizes the F measure, 2 · correct / (predicted + true)."""
    if not len(p):
        return DEFAULT.threshold
    order = np.argsort(-p, kind="stable")
    measure = 2 * np.cumsum(truth[order]) / (np.arange(1, len(p) + 1) + n_true)
    return float(p[order[int(np.argmax(measure))]])


def _logistic(table: NDArray[np.float64], truth: NDArray[np.float64], start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fit a logistic regression by Newton's method with step halving; the prior is centered at `start`."""

    def loss(beta: NDArray[np.float64]) -> float:
        logits = np.einsum("nf,f->n", table, beta)
        return float((np.logaddexp(0, logits) - truth * logits).sum() + PRECISION @ (beta - start) ** 2 / 2)

    beta, now = start, loss(start)
    for _ in range(NEWTON_STEPS):
        p = 1 / (1 + np.exp(-np.clip(np.einsum("nf,f->n", table, beta), -500, 500)))
        gradient = np.einsum("nf,n->f", table, truth - p) - PRECISION * (beta - start)
        curvature = np.einsum("nf,n,ng->fg", table, p * (1 - p), table) + np.diag(PRECISION)
        step = np.linalg.solve(curvature, gradient)
        while (then := loss(beta + step)) > now and np.abs(step).max() > 1e-9:
            step = step / 2
        if not then < now:
            break
        beta, now = beta + step, then
    return beta


def _no_labels(n_documents: int) -> LabelRows:
    return LabelRows(as_read_only(np.zeros(n_documents + 1), np.int64), as_read_only(np.empty(0), np.int32))


class LabelPrediction(Model):
    """Base class of models that predict labels."""

    label_words_: LabelCounts
    label_names_: list[str]
    alpha: float
    _label_form: str = LISTS
    """Form of the labels in `fit`, and of predictions."""
    _calibration: Calibration = DEFAULT

    @property
    def label_shares_(self) -> NDArray[np.float64]:
        """Share of all tokens assigned to each label and background topic."""
        check_is_fitted(self)
        sizes = self.label_words_.sizes
        return sizes / max(float(sizes.sum()), 1e-300)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Infer P(topic | document) for each of `topic_names_`, ignoring the labels of the documents; rows sum to one.

        Each document is folded in over the background and the 30 labels whose words are most similar to its own. A document
        without known words gets `label_shares_`.
        """
        scores, _ = self._score_corpus(self.to_corpus(X))
        n_candidates, n_labels = scores.labels.shape[1], len(self.label_names_)
        shares = np.zeros((len(scores.labels), self.label_words_.n_labels))
        documents, places = np.nonzero(scores.labels >= 0)
        shares[documents, scores.labels[documents, places]] = scores.theta[documents, places]
        shares[:, n_labels:] = scores.theta[:, n_candidates:]
        shares[(scores.labels < 0).all(axis=1)] = self.label_shares_
        return shares

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability that a document has each of `label_names_`; rows need not sum to one.

        The probability is a logistic regression on the similarity of document and label, this similarity relative to the best
        label, and the frequency of the label. It is calibrated in `fit` on the training documents, after subtracting their own
        contributions. Online models use a default calibration from news.
        """
        scores, common = self._score_corpus(self.to_corpus(X))
        found = np.zeros((len(scores.labels), len(self.label_names_)))
        documents, places = np.nonzero(scores.labels >= 0)
        p = self._calibration.probabilities(scores, common)
        found[documents, scores.labels[documents, places]] = p[documents, places]
        return found

    def predict(self, X: Any) -> Any:
        """Predict the labels of documents, in the form of the labels in `fit`.

        These are all labels with a probability above a threshold, most probable first, and at least the most probable one. The
        threshold maximizes the F measure on the training documents. A document without known words gets no label, or the most
        frequent one if every document has exactly one.
        """
        return to_given_form(self.predicted_labels(X), self._label_form, self.label_names_)

    def predicted_labels(self, X: Any) -> list[list[str]]:
        """Return the predicted labels as lists of names, whatever the form of the labels in `fit`."""
        return self._predict_labels(self.to_corpus(X))

    def _predict_labels(self, corpus: Corpus) -> list[list[str]]:
        """Return the predicted labels of documents, most probable first."""
        return [[self.label_names_[label] for label in labels] for labels in self.choose_labels(*self._score_corpus(corpus))]

    def choose_labels(self, scores: Scores, common: NDArray[np.float64]) -> list[list[int]]:
        """Return the indices of the predicted labels for scored documents, most probable first."""
        p = self._calibration.probabilities(scores, common)
        order, found = np.argsort(-p, axis=1, kind="stable"), []
        enough = self._calibration.threshold
        most_common = np.argsort(-common, kind="stable")[:1].tolist()  # there may be none yet
        for labels, likely, best in zip(scores.labels, p, order, strict=True):
            taken = [int(labels[i]) for i in best if labels[i] >= 0 and (likely[i] >= enough or i == best[0])]
            found.append(taken or ([] if self._label_form in (LISTS, INDICATOR) else most_common))
        return found

    def _score_corpus(self, corpus: Corpus) -> tuple[Scores, NDArray[np.float64]]:
        """Return the scored candidates of documents, and the label frequencies."""
        scorer = self.label_scorer()
        return scorer.score_all(corpus.shards(), self._engine()), scorer.shares

    @property
    def calibration_(self) -> Calibration:
        """Calibration of label probabilities, and the decision threshold."""
        return self._calibration

    def label_scorer(self) -> Scorer:
        """Create the scorer of documents, which can be reused."""
        return Scorer.of(self.label_words_, self._label_frequencies(), self.alpha)

    def _label_frequencies(self) -> NDArray[Any]:
        """Return the frequency of each label, by default its number of tokens."""
        return self.label_words_.sizes[: len(self.label_names_)]
