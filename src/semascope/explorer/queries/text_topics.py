"""Topics or labels of a new text, and the topic of each of its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.corpus.csr import CSR
from semascope.corpus.fields import describe_documents
from semascope.corpus.shards import as_read_only
from semascope.corpus.text.analyzer import analyzer_of
from semascope.explorer import schemas as answers
from semascope.explorer import schemas as results
from semascope.explorer.errors import RefusedError
from semascope.explorer.queries.word_topics import Located, assign_topics, locate_words
from semascope.explorer.routes.documents import main_topics
from semascope.explorer.service.snapshot import Snapshot
from semascope.inference.labels import fold_in_words
from semascope.models.labels.prediction import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray


MIN_SHARE = 0.005
"""Minimum share of a topic to be listed."""
MAX_LABELS = 10


class Mixture(NamedTuple):
    """Topics of a text with their shares, largest first.

    found    located words, without n-grams
    known    number of words in the vocabulary
    shares   shares of all topics
    scores   scores of labels, for label models
    """

    topics: list[tuple[int, float]]
    found: Located
    known: int
    shares: NDArray[Any]
    scores: Scores | None = None


def infer_mixture(explored: Snapshot, text: str, language: str | None) -> Mixture:
    """Fold in a text. The result has no topics if no word is in the vocabulary."""
    languages = explored.themes.languages
    if explored.model.lexicon_ is None:
        msg = "the model was fitted to a matrix without a vocabulary and cannot read texts."
        raise RefusedError(msg)
    if languages and language not in languages:
        msg = f"set the language of the text, one of {', '.join(languages)}."
        raise RefusedError(msg)
    found = locate_words(explored, text, language or "", explored.themes.analyzer)
    corpus = _to_corpus(explored, text, language, found)
    known = int(corpus.rows.counts.sum())
    if not known or not len(explored.themes):
        return Mixture([], found, 0, np.zeros(len(explored.themes)))
    scores = None
    if explored.is_of_labels:
        scores = explored.scorer.score(corpus.shards()[0].open())
        shares = _label_shares(explored, scores)
    else:
        shares = np.asarray(explored.reader.transform(corpus))[0]
    order = np.argsort(-shares, kind="stable")
    topics = [(int(topic), float(shares[topic])) for topic in order if shares[topic] >= MIN_SHARE]
    return Mixture(topics, found, known, shares, scores)


def _to_corpus(explored: Snapshot, text: str, language: str | None, found: Located) -> Corpus:
    """Return the text as a corpus of one document, reusing the located words."""
    model, analyzer = explored.model, analyzer_of(explored.themes.analyzer, language or "")
    if analyzer.ngrams != (1, 1):
        counted: Corpus = model.to_corpus([{language: text}] if explored.themes.languages else [text])
        return counted
    words, counts = np.unique(found.numbers, return_counts=True)
    rows = CSR(
        as_read_only(np.array([0, len(words)]), np.int64), as_read_only(words, np.int32), as_read_only(counts, np.float32)
    )
    return Corpus(rows, model.lexicon_, describe_documents(1, None, None, None), None)


def _label_shares(explored: Snapshot, scores: Scores) -> NDArray[np.float64]:
    """Return the shares of the labels and of the background."""
    n_labels, shares = len(explored.scorer.shares), np.zeros(len(explored.themes))
    (labels,), (theta,) = scores.labels, scores.theta
    shares[labels[labels >= 0]] = theta[: len(labels)][labels >= 0]
    shares[n_labels:] = theta[len(labels) :]
    return shares


def infer_text(explored: Snapshot, text: str, language: str | None) -> results.Inferred:
    mixture, names = infer_mixture(explored, text, language), explored.themes.names
    shares, labels = mixture.shares, []
    if mixture.scores is not None:
        (predicted,) = explored.model.choose_labels(mixture.scores, explored.scorer.shares)
        shares = _infer_predicted_shares(explored, mixture.found.numbers, predicted)
        labels = _likely_labels(explored, mixture.scores, predicted)
    words = assign_topics(explored, mixture.found, text, shares)
    return results.Inferred(
        topics=[
            answers.TopicShare(topic=topic, name=names[topic], share=share) for topic, share in main_topics(mixture.topics)
        ],
        words=[results.InferredWord(**word._asdict()) for word in words],
        known_words=mixture.known,
        labels=labels,
    )


def _infer_predicted_shares(explored: Snapshot, words: NDArray[np.int32], predicted: list[int]) -> NDArray[np.float64]:
    """Infer the shares of the predicted labels and of the background, like `attribute`."""
    labels = np.array(sorted([*predicted, *range(len(explored.scorer.shares), len(explored.themes))]), np.int32)
    shares = np.zeros(len(explored.themes))
    shares[labels] = fold_in_words(words, labels, explored.scorer.alpha, explored.model.label_words_)
    return shares


def _likely_labels(explored: Snapshot, scores: Scores, predicted: list[int]) -> list[results.LikelyLabel]:
    """Return the likeliest labels, and whether each is predicted."""
    calibration, names = explored.model.calibration_, explored.themes.names
    (p,), (labels,) = calibration.probabilities(scores, explored.scorer.shares), scores.labels
    best = [int(i) for i in np.argsort(-p, kind="stable")[:MAX_LABELS] if labels[i] >= 0]
    return [
        results.LikelyLabel(label=names[labels[i]], probability=float(p[i]), predicted=bool(labels[i] in predicted))
        for i in best
    ]
