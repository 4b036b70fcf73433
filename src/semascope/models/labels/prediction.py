"""Labels of documents that have none: candidates by a cheap score, their probabilities, and which of them are predicted."""

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
"""Labels of a document that are looked at more closely."""


class Scores(NamedTuple):
    """Candidates of documents.

    labels    int32[d, c]        best first; -1 where there are no more
    cosines   float64[d, c]
    theta     float64[d, c + b]  share of each, and of the background
    """

    labels: NDArray[np.int32]
    cosines: NDArray[np.float64]
    theta: NDArray[np.float64]


class Scorer(NamedTuple):
    """What a model needs to score documents.

    known      words and labels
    weights    float64[v]  of words
    squares    float64[k]  of the vectors of labels
    shares     float64[l]  how common each label is; the sum is one. Topics after these are the background
    alpha      prior of a label
    """

    known: LabelCounts
    weights: NDArray[np.float64]
    squares: NDArray[np.float64]
    shares: NDArray[np.float64]
    alpha: float

    @classmethod
    def of(cls, known: LabelCounts, common: NDArray[Any], alpha: float) -> Scorer:
        """Weigh the words: by how rare they are, times 1 − entropy of the labels they go with."""
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
        """Find the candidates of the documents of a shard, and the shares of these.

        Labels of a labeled shard are those that the model has learned from its documents.
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
        """Fold the documents of a shard in, restricted to their candidates; common labels have the larger prior."""
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
        """Score the documents of a shard, as a task of an engine."""
        return self.score(shard)._asdict(), Nothing()

    def score_all(self, shards: Any, engine: Engine) -> Scores:
        """Score the documents of all shards."""
        with engine.open(shards) as placed:
            placed.begin(self.task)
            return Scores(*(placed.documents(itemgetter(name)) for name in Scores._fields))


class Calibration(NamedTuple):
    """The logistic map from scores to P(a document has a label), and from what probability on it is taken to have it."""

    intercept: float
    cosine: float
    relative: float
    common: float
    threshold: float

    def probabilities(self, scores: Scores, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """P of each candidate; 0 where there is none."""
        logits = np.clip(np.einsum("dcf,f->dc", features(scores, shares), np.array(self[:4])), -500, 500)
        return np.where(scores.labels >= 0, 1 / (1 + np.exp(-logits)), 0.0)


DEFAULT = Calibration(-6.2, 15.5, 5.9, 0.54, 0.41)
"""What a model takes that has no documents to learn the map from: found on the training documents of Reuters (ModApte)."""

HOLD = np.array([1.0, 0.01, 0.1, 1.0])
"""How strongly each coefficient is held to the default: 1 / variance."""

FEW = 100
"""Documents that count as much as the default threshold does."""

NEWTON_STEPS = 20


def features(scores: Scores, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the map is linear in, for each candidate: 1, cosine, its share of the largest, log of how common the label is."""
    largest = np.maximum(scores.cosines[:, :1], 1e-300)
    common = np.log(np.maximum(shares[scores.labels], 1e-12))
    return np.stack([np.ones_like(scores.cosines), scores.cosines, scores.cosines / largest, common], axis=2)


def calibrate(scores: Scores, shares: NDArray[np.float64], labels: LabelRows) -> Calibration:
    """Learn the map from documents whose labels are known; few documents change the default little."""
    is_candidate = scores.labels >= 0
    keys = np.repeat(np.arange(len(scores.labels)), np.diff(labels.ends)) * len(shares) + labels.numbers
    candidates = np.arange(len(scores.labels))[:, None] * len(shares) + scores.labels
    truth = np.isin(candidates, keys)[is_candidate].astype(np.float64)
    beta = _logistic(features(scores, shares)[is_candidate], truth, np.array(DEFAULT[:4]))
    found = DEFAULT._replace(**dict(zip(Calibration._fields, beta.tolist(), strict=False)))
    best = _best_threshold(found.probabilities(scores, shares)[is_candidate], truth, len(labels.numbers))
    n = len(scores.labels)
    return found._replace(threshold=(n * best + FEW * DEFAULT.threshold) / (n + FEW))


def _best_threshold(p: NDArray[np.float64], truth: NDArray[np.float64], n_true: int) -> float:
    """The probability from which on labels are to be taken so that 2 · right / (taken + true), the F measure, is largest."""
    if not len(p):
        return DEFAULT.threshold
    order = np.argsort(-p, kind="stable")
    measure = 2 * np.cumsum(truth[order]) / (np.arange(1, len(p) + 1) + n_true)
    return float(p[order[int(np.argmax(measure))]])


def _logistic(table: NDArray[np.float64], truth: NDArray[np.float64], start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logistic regression by Newton's method, from coefficients to which it is held; steps that lose are halved."""

    def loss(beta: NDArray[np.float64]) -> float:
        logits = np.einsum("nf,f->n", table, beta)
        return float((np.logaddexp(0, logits) - truth * logits).sum() + HOLD @ (beta - start) ** 2 / 2)

    beta, now = start, loss(start)
    for _ in range(NEWTON_STEPS):
        p = 1 / (1 + np.exp(-np.clip(np.einsum("nf,f->n", table, beta), -500, 500)))
        gradient = np.einsum("nf,n->f", table, truth - p) - HOLD * (beta - start)
        curvature = np.einsum("nf,n,ng->fg", table, p * (1 - p), table) + np.diag(HOLD)
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
    """A model that knows the words of labels, and so the labels of documents."""

    label_words_: LabelCounts
    label_names_: list[str]
    alpha: float
    _label_form: str = LISTS
    """How labels were given, which is how they are predicted."""
    _calibration: Calibration = DEFAULT
    """From scores to probabilities."""

    @property
    def label_shares_(self) -> NDArray[np.float64]:
        """Share of all words that is due to each label, and to each topic of the background."""
        check_is_fitted(self)
        sizes = self.label_words_.sizes
        return sizes / max(float(sizes.sum()), 1e-300)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return how much of each document is due to each of `topic_names_`, whatever labels it has; rows sum to one.

        A few dozen candidates are found by how like the words of a document are to those of each label, and the document is
        folded in over these and the background. One without any known word has the shares of the corpus.
        """
        scores, _ = self._scored(self.to_corpus(X))
        n_candidates, n_labels = scores.labels.shape[1], len(self.label_names_)
        shares = np.zeros((len(scores.labels), self.label_words_.n_labels))
        documents, places = np.nonzero(scores.labels >= 0)
        shares[documents, scores.labels[documents, places]] = scores.theta[documents, places]
        shares[:, n_labels:] = scores.theta[:, n_candidates:]
        shares[(scores.labels < 0).all(axis=1)] = self.label_shares_
        return shares

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(a document has a label), for each of `label_names_`: a document may have several, so rows need not sum to one.

        It is logistic in how like the words are to those of the label, in itself and compared with the label most like them,
        and in how common the label is. The map is learned when the model is fitted, from its documents, with what each of them
        has taught taken out: nearly as if they were new. A model that learns from a stream has a map learned from news.
        """
        scores, common = self._scored(self.to_corpus(X))
        found = np.zeros((len(scores.labels), len(self.label_names_)))
        documents, places = np.nonzero(scores.labels >= 0)
        p = self._calibration.probabilities(scores, common)
        found[documents, scores.labels[documents, places]] = p[documents, places]
        return found

    def predict(self, X: Any) -> Any:
        """Return the labels of documents, in the form in which the model was given labels.

        They are those that are likely enough, the most likely first; and that one if there is no other. How likely that is, is
        learned when the model is fitted, so that as many as possible are right. A document without any known word has none,
        or the most common label where each has one.
        """
        return to_given_form(self.predicted_labels(X), self._label_form, self.label_names_)

    def predicted_labels(self, X: Any) -> list[list[str]]:
        """Return the labels that `predict` predicts as lists of names, whatever form labels were given in."""
        return self._predicted(self.to_corpus(X))

    def _predicted(self, corpus: Corpus) -> list[list[str]]:
        """Labels of documents, the most likely first."""
        return [[self.label_names_[label] for label in labels] for labels in self.choose_labels(*self._scored(corpus))]

    def choose_labels(self, scores: Scores, common: NDArray[np.float64]) -> list[list[int]]:
        """Return the numbers of the labels that are predicted for documents with these scores, the most likely first."""
        p = self._calibration.probabilities(scores, common)
        order, found = np.argsort(-p, axis=1, kind="stable"), []
        enough = self._calibration.threshold
        most_common = np.argsort(-common, kind="stable")[:1].tolist()  # there may be none yet
        for labels, likely, best in zip(scores.labels, p, order, strict=True):
            taken = [int(labels[i]) for i in best if labels[i] >= 0 and (likely[i] >= enough or i == best[0])]
            found.append(taken or ([] if self._label_form in (LISTS, INDICATOR) else most_common))
        return found

    def _scored(self, corpus: Corpus) -> tuple[Scores, NDArray[np.float64]]:
        """Candidates of documents, and how common each label is."""
        scorer = self.label_scorer()
        return scorer.score_all(corpus.shards(), self._engine()), scorer.shares

    @property
    def calibration_(self) -> Calibration:
        """How scores of labels become probabilities, and how probable a label must be to be predicted."""
        return self._calibration

    def label_scorer(self) -> Scorer:
        """Return what scores the labels of documents; made once, it serves for many."""
        return Scorer.of(self.label_words_, self._how_common(), self.alpha)

    def _how_common(self) -> NDArray[Any]:
        """How common each label is: its words, where nothing better is known."""
        return self.label_words_.sizes[: len(self.label_names_)]
