"""Labels of documents that have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.models.base import Model
from semascope.models.given_labels import INDICATOR, LISTS, as_given
from semascope.models.label_scores import DEFAULT, Calibration, Scorer, Scores
from semascope.models.sklearn_imports import check_is_fitted
from semascope.training.labelwords import LabelWords

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PredictsLabels(Model):
    """A model that knows the words of labels, and so the labels of documents."""

    label_words_: LabelWords
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
        """Give how much of each document is due to each of `topic_names_`, whatever labels it has; rows sum to one.

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
        """Give P(a document has a label), for each of `label_names_`: a document may have several, so rows need not sum to one.

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
        """Give the labels of documents, in the form in which the model was given labels.

        They are those that are likely enough, the most likely first; and that one if there is no other. How likely that is, is
        learned when the model is fitted, so that as many as possible are right. A document without any known word has none,
        or the most common label where each has one.
        """
        return as_given(self.predicted_labels(X), self._label_form, self.label_names_)

    def predicted_labels(self, X: Any) -> list[list[str]]:
        """Give the labels that `predict` predicts as lists of names, whatever form labels were given in."""
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
