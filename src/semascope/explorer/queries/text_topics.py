"""Topics and labels of a text that people give, and of each of its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.corpus.csr import CSR
from semascope.corpus.fields import describe_documents
from semascope.corpus.shards import as_read_only
from semascope.corpus.text.analyzer import Analyzer, Analyzers, analyzer_of
from semascope.corpus.text.token_spans import Token, tokens_of
from semascope.explorer import schemas as answers
from semascope.explorer import schemas as results
from semascope.explorer.errors import RefusedError
from semascope.explorer.routes.documents import shown
from semascope.explorer.service.snapshot import Snapshot
from semascope.inference.attribution import labels_of_words, topics_of_words
from semascope.inference.labels import fold_in_words
from semascope.models.labels.prediction import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Due(NamedTuple):
    """A word of a text, from one character up to another, and the topic that it is due to."""

    start: int
    end: int
    word: str
    topic: int
    weight: float


class Located(NamedTuple):
    """The words of a text that a model knows, and their numbers."""

    tokens: list[Token]
    numbers: NDArray[np.int32]


def located(explored: Snapshot, text: str, language: str, analyzers: Analyzers | None) -> Located:
    """Find the words of a text that the model knows; runs of several words are not looked for."""
    themes = explored.themes
    if themes.languages and language not in themes.languages:
        return Located([], np.zeros(0, np.int32))
    tokens = tokens_of(text, analyzer_of(analyzers or Analyzer(), language))
    numbers = themes.numbers_of(tokens.words, language)
    known = [token for token, number in zip(tokens, numbers.tolist(), strict=True) if number >= 0]
    return Located(known, numbers[numbers >= 0].astype(np.int32))


def due_words(explored: Snapshot, found: Located, text: str, shares: NDArray[Any]) -> list[Due]:
    """Compute the topic that each word most probably comes from, given the shares of all topics in its document."""
    model, numbers = explored.model, found.numbers
    if explored.is_of_labels:
        labels = np.flatnonzero(shares).astype(np.int32)
        topics, weights = labels_of_words(numbers, labels, shares[labels], model.label_words_)
    else:
        topics, weights = topics_of_words(numbers, model.components_.T, shares)
    return [
        Due(token.start, token.end, text[token.start : token.end], topic, weight)
        for token, topic, weight in zip(found.tokens, topics.tolist(), weights.tolist(), strict=True)
        if topic >= 0
    ]


LEAST = 0.005
"""Topics with less of a text are left out."""
MAX_LABELS = 10


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


def mixture_of(explored: Snapshot, text: str, language: str | None) -> Mixture:
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


def _counted(explored: Snapshot, text: str, language: str | None, found: Located) -> Corpus:
    """The text as counts of the model's words; those that were found need not be looked for again."""
    model, analyzer = explored.model, analyzer_of(explored.themes.analyzer, language or "")
    if analyzer.ngrams != (1, 1):
        counted: Corpus = model.to_corpus([{language: text}] if explored.themes.languages else [text])
        return counted
    words, counts = np.unique(found.numbers, return_counts=True)
    rows = CSR(
        as_read_only(np.array([0, len(words)]), np.int64), as_read_only(words, np.int32), as_read_only(counts, np.float32)
    )
    return Corpus(rows, model.lexicon_, describe_documents(1, None, None, None), None)


def _shares_of_labels(explored: Snapshot, scores: Scores) -> NDArray[np.float64]:
    """How much is due to each label, and to the background."""
    n_labels, shares = len(explored.scorer.shares), np.zeros(len(explored.themes))
    (labels,), (theta,) = scores.labels, scores.theta
    shares[labels[labels >= 0]] = theta[: len(labels)][labels >= 0]
    shares[n_labels:] = theta[len(labels) :]
    return shares


def inferred(explored: Snapshot, text: str, language: str | None) -> results.Inferred:
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


def _shares_of_predicted(explored: Snapshot, words: NDArray[np.int32], predicted: list[int]) -> NDArray[np.float64]:
    """Infer how much of a text is due to the labels that are predicted and to the background, as `attribute` does."""
    labels = np.array(sorted([*predicted, *range(len(explored.scorer.shares), len(explored.themes))]), np.int32)
    shares = np.zeros(len(explored.themes))
    shares[labels] = fold_in_words(words, labels, explored.scorer.alpha, explored.model.label_words_)
    return shares


def _likely_labels(explored: Snapshot, scores: Scores, predicted: list[int]) -> list[results.LikelyLabel]:
    """The likeliest labels, and which of them are predicted."""
    calibration, names = explored.model.calibration_, explored.themes.names
    (p,), (labels,) = calibration.probabilities(scores, explored.scorer.shares), scores.labels
    best = [int(i) for i in np.argsort(-p, kind="stable")[:MAX_LABELS] if labels[i] >= 0]
    return [
        results.LikelyLabel(label=names[labels[i]], probability=float(p[i]), predicted=bool(labels[i] in predicted))
        for i in best
    ]
