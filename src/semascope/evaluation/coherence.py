"""Coherence: do the top words of a topic stand together in texts? And diversity: are they other words in each topic?

Counted are windows: whole documents, or runs of words that slide over the texts. With p(i) the share of windows that have word
i, and p(i, j) of those that have both,

- ``umass`` (Mimno et al. 2011) is the mean of log (D(i, j) + 1) / D(j) over pairs, j being the more probable word and D a
  number of documents: about zero at best;
- ``npmi`` (Bouma 2009, Aletras and Stevenson 2013) is the mean of log [(p(i, j) + ε) / p(i) p(j)] / −log (p(i, j) + ε) over
  pairs, from −1 to 1, and 0 for words that have nothing to do with each other;
- ``c_v`` (Röder, Both and Hinneburg 2015) takes the npmi of a word with each top word as a vector, and is the mean cosine of
  these with their sum, from about 0 to 1. Of the measures known it agrees best with people.

ε = 1e-12 as in the last paper, so every value is a number. A word that no window has tells nothing: its npmi with others is 0,
and its pairs have the lowest value that pairs can have in umass, log 1 / D. Words that all windows have are always together: 1.
A topic with fewer than two words that any window has is not coherent: 0, in umass log 1 / D. Empty documents are no windows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.errors import InputError
from semascope.evaluation.windows import Together, count_together, documents_as_windows, sliding_windows

if TYPE_CHECKING:
    from numpy.typing import NDArray

EPSILON = 1e-12

# --- what people call ------------------------------------------------------------------------------------------------------


def coherence(topics: NDArray[Any], corpus: Corpus, measure: str = "npmi", n: int = 10) -> NDArray[np.float64]:
    """Give the coherence of each topic, judged by the documents of a corpus over the same words.

    Parameters
    ----------
    topics : ndarray of shape (n_words, n_topics)
        Column z is P(word | topic z), or anything else that ranks words.
    corpus : Corpus
        The documents to look for the words in.
    measure : {"npmi", "umass", "c_v"}, default="npmi"
        As the module says. The first two count documents. "c_v" slides windows of 110 words over the texts where the corpus
        has any in one language, unless its analyzer makes n-grams of them; otherwise its windows are the documents, too.
    n : int, default=10
        How many top words of each topic.

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
    return MEASURES[measure](count_together(top, windows_of(corpus, np.unique(top[top >= 0]))))


def diversity(topics: NDArray[Any], n: int = 25) -> float:
    """Give the share of distinct words among the top n words of all topics (Dieng, Ruiz and Blei 2020): 1 when none is twice.

    Examples
    --------
    >>> diversity(np.array([[0.5, 0.5, 0, 0], [0.5, 0, 0.5, 0]]).T, n=2)
    0.75
    """
    top = top_words(topics, n)
    listed = top[top >= 0]
    return len(np.unique(listed)) / len(listed) if len(listed) else 0.0


def top_words(topics: NDArray[Any], n: int) -> NDArray[np.int32]:
    """Give the numbers of the n most probable words of each topic, best first; -1 where it has no more.

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


def umass(found: Together) -> NDArray[np.float64]:
    """Give the mean log (D(i, j) + 1) / D(j) of each topic."""
    windows = found.windows.astype(np.float64)
    of_word = np.diagonal(windows, axis1=1, axis2=2)
    lowest = -math.log(max(found.n_windows, 1))
    with np.errstate(divide="ignore"):
        values = np.log(windows + 1) - np.log(of_word)[:, None, :]  # row i given column j
    never = of_word == 0
    values[never[:, :, None] | never[:, None, :]] = lowest
    lower = np.tril(np.ones(values.shape[1:], dtype=bool), k=-1)
    return _mean(values, lower & _pairs(found.tops), otherwise=lowest)


def npmi(found: Together) -> NDArray[np.float64]:
    """Give the mean normalised pointwise mutual information of each topic."""
    values = npmi_of_pairs(found)
    return _mean(values, _pairs(found.tops) & ~np.eye(values.shape[1], dtype=bool), otherwise=0.0)


def c_v(found: Together) -> NDArray[np.float64]:
    """Give the mean cosine of each word's vector of npmi with the sum of all, for each topic."""
    vectors = npmi_of_pairs(found) * _pairs(found.tops)
    of_topic = vectors.sum(axis=1, keepdims=True)
    lengths = np.linalg.norm(vectors, axis=2) * np.linalg.norm(of_topic, axis=2)
    cosines = (vectors * of_topic).sum(axis=2) / np.where(lengths > 0, lengths, 1.0)
    n_words = (found.tops >= 0).sum(axis=1)
    n_met = (np.diagonal(found.windows, axis1=1, axis2=2) > 0).sum(axis=1)
    return np.where(n_met >= 2, cosines.sum(axis=1) / np.maximum(n_words, 1), 0.0)


MEASURES: dict[str, Callable[[Together], NDArray[np.float64]]] = {"npmi": npmi, "umass": umass, "c_v": c_v}


def npmi_of_pairs(found: Together) -> NDArray[np.float64]:
    """Give the npmi of any two top words of each topic, from −1 to 1."""
    both = found.windows / max(found.n_windows, 1)
    of_word = np.diagonal(both, axis1=1, axis2=2)
    apart = of_word[:, :, None] * of_word[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log((both + EPSILON) / apart) / -np.log(both + EPSILON)
    values[apart == 0] = 0.0
    values[both == 1] = 1.0
    return np.clip(values, -1.0, 1.0)


def _pairs(tops: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Tell where a topic has both words."""
    there = tops >= 0
    return np.asarray(there[:, :, None] & there[:, None, :])


def _mean(values: NDArray[np.float64], counted: NDArray[np.bool_], *, otherwise: float) -> NDArray[np.float64]:
    """Give the mean of the values that count, topic by topic."""
    n = counted.sum(axis=(1, 2))
    sums = np.where(counted, values, 0.0).sum(axis=(1, 2))
    return np.where(n > 0, sums / np.maximum(n, 1), otherwise)
