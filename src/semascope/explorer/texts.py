"""What a model has to say of a text that people give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.analyzers import analyzer_of
from semascope.corpus.corpus import Corpus
from semascope.corpus.documents import described
from semascope.corpus.rows import Rows
from semascope.corpus.shards import frozen
from semascope.explorer import answers, results
from semascope.explorer.documents import shown
from semascope.explorer.due import Located, due_words, located
from semascope.explorer.errors import RefusedError
from semascope.explorer.state import Explored
from semascope.inference.labels import fold_in_words
from semascope.models.label_scores import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = 0.005
"""Topics with less of a text are left out."""
MOST_LABELS = 10


class Mixture(NamedTuple):
    """Topics of a text and their shares, the largest first.

    found    where its words are; runs of several words are not among them
    known    how many words the model knows
    shares   of all topics, whether large or small
    scores   of labels, where the model has these
    """

    topics: list[tuple[int, float]]
    found: Located
    known: int
    shares: NDArray[Any]
    scores: Scores | None = None


def mixture_of(explored: Explored, text: str, language: str | None) -> Mixture:
    """Fold a text in. Where the model knows none of its words, there are no topics."""
    languages = explored.themes.languages
    if explored.model.lexicon_ is None:
        msg = "the model was fitted to a table without words, so that it cannot read texts."
        raise RefusedError(msg)
    if languages and language not in languages:
        msg = f"say which language the text is in: {', '.join(languages)}."
        raise RefusedError(msg)
    found = located(explored, text, language or "", explored.themes.analyzer)
    corpus = _counted(explored, text, language, found)
    known = int(corpus.rows.counts.sum())
    if not known or not len(explored.themes):
        return Mixture([], found, 0, np.zeros(len(explored.themes)))
    scores = None
    if explored.is_of_labels:
        scores = explored.scorer.score(corpus.shards()[0].open())
        shares = _shares_of_labels(explored, scores)
    else:
        shares = np.asarray(explored.reader.transform(corpus))[0]
    order = np.argsort(-shares, kind="stable")
    topics = [(int(topic), float(shares[topic])) for topic in order if shares[topic] >= LEAST]
    return Mixture(topics, found, known, shares, scores)


def _counted(explored: Explored, text: str, language: str | None, found: Located) -> Corpus:
    """The text as counts of the model's words; those that were found need not be looked for again."""
    model, analyzer = explored.model, analyzer_of(explored.themes.analyzer, language or "")
    if analyzer.ngrams != (1, 1):
        counted: Corpus = model.to_corpus([{language: text}] if explored.themes.languages else [text])
        return counted
    words, counts = np.unique(found.numbers, return_counts=True)
    rows = Rows(frozen(np.array([0, len(words)]), np.int64), frozen(words, np.int32), frozen(counts, np.float32))
    return Corpus(rows, model.lexicon_, described(1, None, None, None), None)


def _shares_of_labels(explored: Explored, scores: Scores) -> NDArray[np.float64]:
    """How much is due to each label, and to the background."""
    n_labels, shares = len(explored.scorer.shares), np.zeros(len(explored.themes))
    (labels,), (theta,) = scores.labels, scores.theta
    shares[labels[labels >= 0]] = theta[: len(labels)][labels >= 0]
    shares[n_labels:] = theta[len(labels) :]
    return shares


def inferred(explored: Explored, text: str, language: str | None) -> results.Inferred:
    mixture, names = mixture_of(explored, text, language), explored.themes.names
    shares, labels = mixture.shares, []
    if mixture.scores is not None:
        (predicted,) = explored.model.choose_labels(mixture.scores, explored.scorer.shares)
        shares = _shares_of_predicted(explored, mixture.found.numbers, predicted)
        labels = _likely_labels(explored, mixture.scores, predicted)
    words = due_words(explored, mixture.found, text, shares)
    return results.Inferred(
        topics=[answers.TopicShare(topic=topic, name=names[topic], share=share) for topic, share in shown(mixture.topics)],
        words=[results.InferredWord(**word._asdict()) for word in words],
        known_words=mixture.known,
        labels=labels,
    )


def _shares_of_predicted(explored: Explored, words: NDArray[np.int32], predicted: list[int]) -> NDArray[np.float64]:
    """Infer how much of a text is due to the labels that are predicted and to the background, as `attribute` does."""
    labels = np.array(sorted([*predicted, *range(len(explored.scorer.shares), len(explored.themes))]), np.int32)
    shares = np.zeros(len(explored.themes))
    shares[labels] = fold_in_words(words, labels, explored.scorer.alpha, explored.model.label_words_)
    return shares


def _likely_labels(explored: Explored, scores: Scores, predicted: list[int]) -> list[results.LikelyLabel]:
    """The likeliest labels, and which of them are predicted."""
    calibration, names = explored.model.calibration_, explored.themes.names
    (p,), (labels,) = calibration.probabilities(scores, explored.scorer.shares), scores.labels
    best = [int(i) for i in np.argsort(-p, kind="stable")[:MOST_LABELS] if labels[i] >= 0]
    return [
        results.LikelyLabel(label=names[labels[i]], probability=float(p[i]), predicted=bool(labels[i] in predicted))
        for i in best
    ]
