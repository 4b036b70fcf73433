"""Topic coherence (do the top words of a topic co-occur?) and diversity (do topics have different top words?)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.build.counters import words_in_order
from semascope.corpus.corpus import Corpus
from semascope.corpus.shards import as_read_only
from semascope.corpus.text.analyzer import Analyzer
from semascope.errors import InputError
from semascope.kernels.cooccurrence import count_windows

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


EPSILON = 1e-12

# --- public API ------------------------------------------------------------------------------------------------------------


def coherence(topics: NDArray[Any], corpus: Corpus, measure: str = "npmi", n: int = 10) -> NDArray[np.float64]:
    """Compute the coherence of each topic in a reference corpus with the same vocabulary.

    Parameters
    ----------
    topics : ndarray of shape (n_words, n_topics)
        P(word | topic) in columns, or any other scores that rank words.
    corpus : Corpus
        The reference corpus.
    measure : {"npmi", "umass", "c_v"}, default="npmi"
        Coherence measure. "npmi" and "umass" count documents. "c_v" uses a sliding window of 110 words over the texts of a
        monolingual corpus without n-grams, and whole documents otherwise.
    n : int, default=10
        Number of top words per topic.

    Examples
    --------
    >>> corpus = Corpus.from_texts(["cat dog", "cat dog", "tax law", "tax law"])
    >>> corpus.vocabulary
    array(['cat', 'dog', 'law', 'tax'], dtype=object)
    >>> good, bad = [0.5, 0.5, 0, 0], [0.5, 0, 0.5, 0]
    >>> coherence(np.array([good, bad]).T, corpus, n=2).round(2)
    array([ 1.  , -0.95])
    """
    if measure not in MEASURES:
        msg = f"measure must be one of {', '.join(MEASURES)}, but was {measure!r}."
        raise InputError(msg)
    windows_of = sliding_windows if measure == "c_v" else documents_as_windows
    top = top_words(topics, n)
    return MEASURES[measure](count_cooccurrence(top, windows_of(corpus, np.unique(top[top >= 0]))))


def diversity(topics: NDArray[Any], n: int = 25) -> float:
    """Return the fraction of distinct words among the top n words of all topics (Dieng, Ruiz and Blei, 2020).

    Examples
    --------
    >>> diversity(np.array([[0.5, 0.5, 0, 0], [0.5, 0, 0.5, 0]]).T, n=2)
    0.75
    """
    top = top_words(topics, n)
    listed = top[top >= 0]
    return len(np.unique(listed)) / len(listed) if len(listed) else 0.0


def top_words(topics: NDArray[Any], n: int) -> NDArray[np.int32]:
    """Return the indices of the n most probable words of each topic, padded with -1.

    Examples
    --------
    >>> top_words(np.array([[0.2, 0.5, 0.3], [0.0, 1.0, 0.0]]).T, 2)
    array([[ 1,  2],
           [ 1, -1]], dtype=int32)
    """
    if n < 1:
        msg = f"the number of top words must be at least 1, but was {n}."
        raise InputError(msg)
    n_words, n_topics = topics.shape
    top = np.full((n_topics, min(n, n_words)), -1, dtype=np.int32)
    for number in range(n_topics):
        topic = np.asarray(topics[:, number])
        least = np.partition(topic, n_words - top.shape[1])[n_words - top.shape[1]]
        likely = np.flatnonzero((topic >= least) & (topic > 0))
        best = likely[np.argsort(-topic[likely], kind="stable")][: top.shape[1]]
        top[number, : len(best)] = best
    return top


# --- the measures ----------------------------------------------------------------------------------------------------------


def umass(stats: Cooccurrence) -> NDArray[np.float64]:
    """Return the mean log (D(i, j) + 1) / D(j) of each topic."""
    windows = stats.windows.astype(np.float64)
    of_word = np.diagonal(windows, axis1=1, axis2=2)
    lowest = -math.log(max(stats.n_windows, 1))
    with np.errstate(divide="ignore"):
        values = np.log(windows + 1) - np.log(of_word)[:, None, :]  # row i given column j
    never = of_word == 0
    values[never[:, :, None] | never[:, None, :]] = lowest
    lower = np.tril(np.ones(values.shape[1:], dtype=bool), k=-1)
    return _mean(values, lower & _pairs(stats.tops), otherwise=lowest)


def npmi(stats: Cooccurrence) -> NDArray[np.float64]:
    """Return the mean normalized pointwise mutual information (NPMI) of each topic."""
    values = npmi_of_pairs(stats)
    return _mean(values, _pairs(stats.tops) & ~np.eye(values.shape[1], dtype=bool), otherwise=0.0)


def c_v(stats: Cooccurrence) -> NDArray[np.float64]:
    """Return the mean cosine between the NPMI vector of each top word and their sum, for each topic."""
    vectors = npmi_of_pairs(stats) * _pairs(stats.tops)
    of_topic = vectors.sum(axis=1, keepdims=True)
    lengths = np.linalg.norm(vectors, axis=2) * np.linalg.norm(of_topic, axis=2)
    cosines = (vectors * of_topic).sum(axis=2) / np.where(lengths > 0, lengths, 1.0)
    n_words = (stats.tops >= 0).sum(axis=1)
    n_met = (np.diagonal(stats.windows, axis1=1, axis2=2) > 0).sum(axis=1)
    return np.where(n_met >= 2, cosines.sum(axis=1) / np.maximum(n_words, 1), 0.0)


MEASURES: dict[str, Callable[[Cooccurrence], NDArray[np.float64]]] = {"npmi": npmi, "umass": umass, "c_v": c_v}


def npmi_of_pairs(stats: Cooccurrence) -> NDArray[np.float64]:
    """Return the NPMI, from −1 to 1, of every pair of top words of each topic."""
    both = stats.windows / max(stats.n_windows, 1)
    of_word = np.diagonal(both, axis1=1, axis2=2)
    apart = of_word[:, :, None] * of_word[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log((both + EPSILON) / apart) / -np.log(both + EPSILON)
    values[apart == 0] = 0.0
    values[both == 1] = 1.0
    return np.clip(values, -1.0, 1.0)


def _pairs(tops: NDArray[np.int32]) -> NDArray[np.bool_]:
    there = tops >= 0
    return np.asarray(there[:, :, None] & there[:, None, :])


def _mean(values: NDArray[np.float64], counted: NDArray[np.bool_], *, otherwise: float) -> NDArray[np.float64]:
    """Return the mean of the masked values of each topic."""
    n = counted.sum(axis=(1, 2))
    sums = np.where(counted, values, 0.0).sum(axis=(1, 2))
    return np.where(n > 0, sums / np.maximum(n, 1), otherwise)


SLIDING = 110
"""Size of the sliding window of c_v, in words (Röder et al., 2015)."""
WHOLE_DOCUMENT = 2**62
TEXTS_AT_ONCE = 1 << 14
"""Number of texts held in memory at a time."""


class Cooccurrence(NamedTuple):
    """Co-occurrence counts of the top words of topics.

    n_windows   number of windows
    tops        int32[k, n]      indices of the top words, padded with -1
    windows     int64[k, n, n]   windows that contain both words; on the diagonal, windows that contain the word
    """

    n_windows: int
    tops: NDArray[np.int32]
    windows: NDArray[np.int64]


class Windowed(NamedTuple):
    """Documents restricted to the words of interest.

    ends     int64[d + 1]   offsets of the documents
    words    int32[t]       indices among the words of interest, -1 for all others
    window   int            window size in words
    """

    ends: NDArray[np.int64]
    words: NDArray[np.int32]
    window: int


def count_cooccurrence(top: NDArray[np.int32], blocks: Iterable[Windowed]) -> Cooccurrence:
    """Count the windows that contain the top words of each topic; blocks index the distinct top words in ascending order."""
    words, number = np.unique(top, return_inverse=True)
    tops = as_read_only(number.reshape(top.shape) - int(-1 in words), np.int32)  # -1 stays -1
    topics, ranks = np.nonzero(tops >= 0)
    order = np.argsort(tops[topics, ranks], kind="stable")
    ends = np.searchsorted(tops[topics, ranks][order], np.arange(tops.max(initial=-1) + 2))
    places = as_read_only(ends, np.int64), as_read_only(topics[order], np.int32), as_read_only(ranks[order], np.int32)
    together = np.zeros((*tops.shape, tops.shape[1]), dtype=np.int64)
    n_windows = sum(
        count_windows(
            as_read_only(block.ends, np.int64), as_read_only(block.words, np.int32), block.window, tops, *places, together
        )
        for block in blocks
    )
    return Cooccurrence(n_windows, top, together)


def documents_as_windows(corpus: Corpus, words: NDArray[np.int32]) -> Iterator[Windowed]:
    """Yield documents as single windows."""
    number = np.full(corpus.n_words, -1, dtype=np.int32)
    number[words] = np.arange(len(words))
    for shard in corpus.shards():
        rows = shard.open().rows
        yield Windowed(rows.ends, number[rows.words], WHOLE_DOCUMENT)


def sliding_windows(corpus: Corpus, words: NDArray[np.int32], window: int = SLIDING) -> Iterator[Windowed]:
    """Yield texts with a sliding window; without texts, documents as single windows."""
    readable = _readable(corpus)
    if readable is None:
        yield from documents_as_windows(corpus, words)
        return
    texts, analyzer = readable
    wanted = corpus.words.gather(words)
    for first in range(0, len(texts), TEXTS_AT_ONCE):
        block = texts.slice(first, TEXTS_AT_ONCE).fill_null("")
        yield Windowed(*words_in_order(block, analyzer, wanted), window)


def slides_over_texts(corpus: Corpus) -> bool:
    """Return whether c_v can use sliding windows over texts."""
    return _readable(corpus) is not None


def _readable(corpus: Corpus) -> tuple[pl.Series, Analyzer] | None:
    """Return the texts and their analyzer, for monolingual texts and single words only."""
    texts, analyzer = corpus.texts, corpus.analyzer
    if texts is None or len(corpus.languages) > 1 or not isinstance(analyzer, Analyzer) or analyzer.ngrams != (1, 1):
        return None
    return texts, analyzer
