"""Attribution of the words of a document to its topics or labels.

P(topic | word, document) is proportional to P(topic | document) P(word | topic). `most_probable` is the only implementation,
for topics and labels, counts and texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from semascope.corpus.csr import CSR
from semascope.corpus.shards import as_read_only
from semascope.corpus.text.token_spans import Token, best_window, passage
from semascope.inference.labels import fold_in_words, word_probabilities
from semascope.training.particle_state import LabelCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 1 << 20
"""Size of a block of entries × topics, small enough for the cache."""


class Attribution(NamedTuple):
    """Most probable topic of each word.

    topics   int32[n]    index of the topic, -1 if no topic of the document contains the word
    weights  float64[n]  P(topic | word, document)
    """

    topics: NDArray[np.int32]
    weights: NDArray[np.float64]


def most_probable(theta: NDArray[Any], p_words: NDArray[Any]) -> Attribution:
    """Compute the most probable topic of each word, and its P(topic | word, document).

    Parameters
    ----------
    theta : ndarray of shape (n_words, n_topics) or (1, n_topics)
        P(topic | document) for the document of each word, or for one document.
    p_words : ndarray of shape (n_words, n_topics)
        P(word | topic).
    """
    if not p_words.shape[1]:
        return Attribution(np.full(len(p_words), -1, np.int32), np.zeros(len(p_words)))
    joint = np.multiply(theta, p_words, dtype=np.float64)
    best, sums = joint.argmax(axis=1).astype(np.int32), joint.sum(axis=1)
    weights = joint.max(axis=1) / np.where(sums > 0, sums, 1)
    best[weights == 0] = -1
    return Attribution(best, weights)


# --- topics --------------------------------------------------------------------------------------------------------------


def topics_of_entries(rows: CSR, topics: NDArray[Any], theta: NDArray[Any]) -> Attribution:
    """Compute the most probable topic of each entry of a CSR matrix.

    Parameters
    ----------
    rows : CSR
        The documents.
    topics : ndarray of shape (n_words, n_topics)
        P(word | topic) in columns.
    theta : ndarray of shape (n_documents, n_topics)
        P(topic | document).
    """
    documents = documents_of_entries(rows)
    best, weights = np.empty(len(documents), np.int32), np.empty(len(documents))
    step = max(BLOCK // max(topics.shape[1], 1), 1)
    for first in range(0, len(documents), step):
        block = slice(first, first + step)
        best[block], weights[block] = most_probable(theta[documents[block]], topics[rows.words[block]])
    return Attribution(best, weights)


def documents_of_entries(rows: CSR) -> NDArray[np.int64]:
    """Return the document index of each entry."""
    return np.repeat(np.arange(len(rows.ends) - 1), np.diff(rows.ends))


def topics_of_words(words: NDArray[np.int32], topics: NDArray[Any], theta: NDArray[Any]) -> Attribution:
    """Compute the most probable topic of each token of one document with mixture `theta`."""
    distinct, places = np.unique(words, return_inverse=True)
    rows = CSR(np.array([0, len(distinct)]), distinct, np.ones(len(distinct), np.float32))
    found = topics_of_entries(rows, topics, theta[None])
    return Attribution(found.topics[places], found.weights[places])


def word_table(rows: CSR, words: pl.Series, topics: NDArray[Any], theta: NDArray[Any]) -> pl.DataFrame:
    """Return a table of the words of each document and their most probable topics, null if there is none."""
    best, weights = topics_of_entries(rows, topics, theta)
    table = pl.DataFrame(
        {
            "document": documents_of_entries(rows),
            "word": words.gather(rows.words),
            "count": rows.counts,
            "topic": best,
            "weight": weights,
        }
    )
    known = pl.col("topic") >= 0
    return table.with_columns(pl.when(known).then(pl.col(name)).alias(name) for name in ("topic", "weight"))


# --- labels --------------------------------------------------------------------------------------------------------------


def labels_of_words(
    words: NDArray[np.int32], labels: NDArray[np.int32], theta: NDArray[np.float64], known: LabelCounts
) -> Attribution:
    """Compute the most probable label of each token of one document.

    Parameters
    ----------
    labels : ndarray of int32
        Candidate labels of the document, ascending.
    theta : ndarray of shape (n_labels,)
        P(label | document) of the candidates.
    """
    distinct, places = np.unique(words, return_inverse=True)
    best, weights = most_probable(theta[None], word_probabilities(distinct, labels, known))
    numbers = np.where(best >= 0, labels[best], -1).astype(np.int32) if len(labels) else best
    return Attribution(numbers[places], weights[places])


class AttributedWord(NamedTuple):
    """Word of a text with its most probable label.

    word        as written in the text
    start, end  character offsets
    label       None for words that are unknown or ignored
    weight      P(label | word, text)
    """

    word: str
    start: int
    end: int
    label: str | None
    weight: float


def attribute_words(
    text: str, tokens: Sequence[Token], numbers: NDArray[np.int32], labels: NDArray[np.int32], alpha: float,
    known: LabelCounts, names: Sequence[str],
) -> list[AttributedWord]:  # fmt: skip
    """Compute the most probable label of each word of a text.

    Parameters
    ----------
    numbers : ndarray of int32
        Word index of each token, -1 if unknown.
    labels : ndarray of int32
        Candidate labels, ascending.
    """
    words = numbers[numbers >= 0]
    found = labels_of_words(words, labels, fold_in_words(words, labels, alpha, known), known)
    best, weights = np.full(len(numbers), -1), np.zeros(len(numbers))
    best[numbers >= 0], weights[numbers >= 0] = found
    return [
        AttributedWord(text[token.start : token.end], token.start, token.end, None if label < 0 else names[label], weight)
        for token, label, weight in zip(tokens, best.tolist(), weights.tolist(), strict=True)
    ]


def best_passage(
    text: str, tokens: Sequence[Token], numbers: NDArray[np.int32], label: int, known: LabelCounts, n_words: int
) -> str:
    """Return the passage of a text with the highest mean log P(word | label) / P(word)."""
    if not tokens:
        return ""
    lift = _log_lift(numbers, label, known) if known.n_words else np.zeros(len(numbers))
    start, end = passage(text, tokens, *best_window(lift, n_words))
    before, after = "… " if start > 0 else "", " …" if end < len(text) else ""
    return before + re.sub(r"\s+", " ", text[start:end]).strip() + after


def _log_lift(numbers: NDArray[np.int32], label: int, known: LabelCounts) -> NDArray[np.float64]:
    """Compute log P(word | label) / P(word) of each token; 0 for unknown words."""
    listed = as_read_only(np.where(numbers < 0, 0, numbers), np.int32)
    of_label = word_probabilities(listed, np.array([label]), known).ravel()
    of_all = np.add.reduceat(np.append(known.counts, 0.0), known.ends[:-1]) * (np.diff(known.ends) > 0)
    everywhere = (of_all[listed] + known.eta) / (of_all.sum() + known.n_words * known.eta)
    return np.where(numbers >= 0, np.log(of_label / everywhere), 0.0)


def numbers_of(words: Sequence[str], vocabulary: pl.Series) -> NDArray[np.int32]:
    """Return the index of each token in the vocabulary, -1 if it is missing."""
    places = vocabulary.is_in(list({word for word in words if word})).arg_true()
    numbers = dict(zip(vocabulary.gather(places).to_list(), places.to_list(), strict=True))
    return np.array([numbers.get(word, -1) for word in words], np.int32)
