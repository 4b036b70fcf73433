"""Which topic each word of a document is due to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from semascope.corpus.rows import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 1 << 20
"""Numbers to hold at a time, one for each entry and topic: they stay in the cache."""


def topics_of_entries(
    rows: Rows, topics: NDArray[Any], theta: NDArray[Any]
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
    """Give the most probable topic of each entry, P(topic | word, document) of it, and the entry's document.

    That is proportional to P(topic | document) P(word | topic). A word that no topic of its document can give has topic -1.

    Parameters
    ----------
    rows : Rows
        The documents.
    topics : ndarray of shape (n_words, n_topics)
        Column z is P(word | topic z).
    theta : ndarray of shape (n_documents, n_topics)
        P(topic | document).
    """
    documents = np.repeat(np.arange(len(rows.ends) - 1), np.diff(rows.ends))
    best, weight = np.empty(len(documents), np.int32), np.empty(len(documents))
    step = max(BLOCK // topics.shape[1], 1)
    for first in range(0, len(documents), step):
        block = slice(first, first + step)
        joint = np.multiply(theta[documents[block]], topics[rows.words[block]], dtype=np.float64)
        best[block] = joint.argmax(axis=1)
        sums = joint.sum(axis=1)
        weight[block] = joint.max(axis=1) / np.where(sums > 0, sums, 1)
    best[weight == 0] = -1
    return best, weight, documents


def word_table(rows: Rows, words: pl.Series, topics: NDArray[Any], theta: NDArray[Any]) -> pl.DataFrame:
    """Give a row for each word of each document, with the topic that it is due to; null where there is none."""
    best, weight, documents = topics_of_entries(rows, topics, theta)
    table = pl.DataFrame(
        {"document": documents, "word": words.gather(rows.words), "count": rows.counts, "topic": best, "weight": weight}
    )
    known = pl.col("topic") >= 0
    return table.with_columns(pl.when(known).then(pl.col(name)).alias(name) for name in ("topic", "weight"))
