"""Models as other packages take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def pyldavis_arguments(
    words: NDArray[np.object_], topics: NDArray[Any], doc_topics: NDArray[Any], corpus: Corpus
) -> dict[str, NDArray[Any]]:
    """Give what `pyLDAvis.prepare` takes; it does not bear words that no document has, nor probabilities of 0.

    Parameters
    ----------
    words : ndarray of shape (n_words,)
        The vocabulary of the model.
    topics : ndarray of shape (n_topics, n_words)
        P(word | topic).
    doc_topics : ndarray of shape (n_documents, n_topics)
        P(topic | document).
    corpus : Corpus
        The documents, over the same words.
    """
    frequency = np.bincount(corpus.rows.words, corpus.rows.counts, corpus.n_words)
    there = frequency > 0
    if not there.any():
        msg = "the documents have no word that the model knows."
        raise InputError(msg)
    return {
        "topic_term_dists": _distributions(np.asarray(topics)[:, there]),
        "doc_topic_dists": _distributions(doc_topics),
        "doc_lengths": np.asarray(corpus.counts.sum(axis=1), np.float64).ravel(),
        "vocab": words[there],
        "term_frequency": frequency[there],
    }


def _distributions(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Rows that sum to one in double precision."""
    positive = np.maximum(np.asarray(rows, np.float64), np.finfo(np.float32).tiny)
    return np.asarray(positive / positive.sum(axis=1, keepdims=True))
