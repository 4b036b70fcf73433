"""Fisher kernels of PLSI: how alike two documents are in what they would have the model changed to.

With p̂(w|d) = n(d,w) / |d|, P(w|d) = Σ_z P(z|d) P(w|z) and r(d,w) = p̂(w|d) / P(w|d), every kernel is a sum of two parts,

    K_z(d,q) = Σ_z x_d(z) x_q(z) m(z)
    K_w(d,q) = Σ_w r(d,w) r(q,w) Σ_z P(z|d) P(z|q) m(w,z)

one for the derivatives by P(z), one for those by P(w|z). Hofmann takes x_d(z) = P(z|d). Where all words of a document are
independent draws ("iid") it is x_d(z) = P(z|d) Σ_w r(d,w) P(w|z), the next iterate of EM. The metric m is the inverse of

                        by P(z)                               by P(w|z)
    ifim                P(z)                                  1 / P(w|z)
    dfim, hofmann       Σ_d P(z|d)²                           Σ_d r(d,w)² P(z|d)²
    dfim, iid           Σ_dw n(d,w) [P(w|z) P(z|d) / P(w|d)]²  Σ_d n(d,w) [P(z|d) / P(w|d)]²

that is of the identity in the coordinates 2√P, or of the diagonal of Fisher's information, added up over documents or over
their words. The factors of P(z) and P(d) that the paper's formulas have besides cancel.

Reference: Chappelier & Eckard, PLSI: the true Fisher kernel and beyond (ECML 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semascope.corpus.csr import CSR
from semascope.corpus.shards import as_read_only, read_only
from semascope.errors import InputError
from semascope.inference.topics import topic_shares
from semascope.kernels.fisher import add_information, add_shared_words
from semascope.kernels.sparse_products import entries_of_product, project_documents
from semascope.retrieval.topic_documents import TopicDocuments, inverse, lengths_of, numbers_of, shares_of
from semascope.training.linalg import multiply

if TYPE_CHECKING:
    from numpy.typing import NDArray

PROCESSES = ("hofmann", "iid")
INFORMATION = ("ifim", "dfim")
PARTS = ("both", "z", "w")

FLOOR = 1e-6
"""Least P(topic | document) for "dfim", which divides by its squares: far less than one word of any document, far more than
what EM lets underflow. It is worth up to three points of MAP. Without squares none is needed, and it would do harm: with many
topics most documents share none with a query, and the floor would rank them."""


class Fisher:
    """The twelve Fisher kernels between the documents of an index and queries.

    What does not depend on a query is computed once, when a kernel first needs it, and shared by all.

    Parameters
    ----------
    segments : sequence of TopicDocuments
        The documents. Their information is added up over all segments.
    topics : ndarray of shape (n_words, n_topics)
        P(word | topic).
    floor : float, default=1e-6
        Smaller values of P(topic | document) and P(topic | query) are raised to this before anything is made of them; rows are
        not divided by their new sums. Without it one document's vanishing topic can outweigh all else in "dfim", which divides
        by squares of P(topic | document).
    """

    def __init__(self, segments: Sequence[TopicDocuments], topics: NDArray[np.floating], *, floor: float = FLOOR) -> None:
        self._topics = as_read_only(topics, np.float64)
        self._floor = floor
        self._segments = [segment.ready() for segment in segments]
        self._texts = [_Texts(segment.rows, segment.theta, self._topics, floor) for segment in self._segments]
        pairs = zip(self._segments, self._texts, strict=True)
        self._ratios = [as_read_only(texts.ratios[segment.by_word.places], np.float64) for segment, texts in pairs]

    def scores(
        self,
        segment: int,
        queries: CSR,
        theta: NDArray[np.float64],
        *,
        process: str = "hofmann",
        information: str = "ifim",
        part: str = "both",
    ) -> NDArray[np.float64]:
        """Return the kernel between queries and the documents of a segment.

        Parameters
        ----------
        segment : int
            Which of the segments.
        queries : Rows
            Counts of the words of queries.
        theta : ndarray of shape (n_queries, n_topics)
            P(topic | query), as folding in gives it.
        process : {"hofmann", "iid"}, default="hofmann"
            Whether a document is one observation, as Hofmann has it, or each of its words is.
        information : {"ifim", "dfim"}, default="ifim"
            What stands for Fisher's information: the identity, in coordinates that are square roots, or its diagonal.
        part : {"both", "z", "w"}, default="both"
            The part of P(topic), that of P(word | topic), or their sum.

        Returns
        -------
        ndarray of shape (n_queries, n_documents)
            Never NaN or infinite. A document or query without words has zeros in the part of words.
        """
        _check_is_one_of(process=(process, PROCESSES), information=(information, INFORMATION), part=(part, PARTS))
        asked = _Texts(read_only(queries), theta, self._topics, self._floor)
        metric = self._identity if information == "ifim" else self._hofmann if process == "hofmann" else self._iid
        if part == "z":
            return self._by_topics(segment, asked, metric, process)
        if part == "w":
            return self._by_words(segment, asked, metric)
        return self._by_topics(segment, asked, metric, process) + self._by_words(segment, asked, metric)

    def _by_topics(self, segment: int, asked: _Texts, metric: _Metric, process: str) -> NDArray[np.float64]:
        mine, theirs = (one.theta if process == "hofmann" else one.next_theta for one in (self._texts[segment], asked))
        return np.ascontiguousarray(multiply(mine, (theirs * metric.topics).T).T)

    def _by_words(self, segment: int, asked: _Texts, metric: _Metric) -> NDArray[np.float64]:
        texts, by_word = self._texts[segment], self._segments[segment].by_word
        scores = np.zeros((len(asked.theta), len(texts.theta)))
        numbers = numbers_of(asked.rows.words, by_word)
        add_shared_words(
            asked.rows.ends, asked.rows.words, asked.ratios, asked.theta, metric.words,
            numbers, by_word.ends, by_word.documents, self._ratios[segment], texts.theta, scores,
        )  # fmt: skip
        return scores

    @cached_property
    def _identity(self) -> _Metric:
        lengths = [lengths_of(segment.rows) for segment in self._segments]
        shares = topic_shares([texts.theta for texts in self._texts], lengths)
        return _Metric(inverse(shares), self._topics)

    @cached_property
    def _hofmann(self) -> _Metric:
        by_topic = np.sum([np.einsum("dz,dz->z", texts.theta, texts.theta) for texts in self._texts], axis=0)
        return _Metric.of(by_topic, self._information(lambda texts: texts.ratios**2))

    @cached_property
    def _iid(self) -> _Metric:
        by_word = self._information(lambda texts: texts.rows.counts * texts.inverse**2)
        return _Metric.of(np.einsum("wz,wz,wz->z", self._topics, self._topics, by_word), by_word)

    def _information(self, weights_of: Callable[[_Texts], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Add up the information of each P(word | topic) over all documents, given the weights of their entries."""
        sums = np.zeros(self._topics.shape)
        for segment, texts in zip(self._segments, self._texts, strict=True):
            words, ends, documents, places = segment.by_word
            add_information(words, ends, documents, as_read_only(weights_of(texts)[places], np.float64), texts.theta, sums)
        return sums


class _Metric(NamedTuple):
    """What products of derivatives are weighted by: those by P(z), float64[k], and those by P(w|z), float64[v, k]."""

    topics: NDArray[np.float64]
    words: NDArray[np.float64]

    @classmethod
    def of(cls, topics: NDArray[np.float64], words: NDArray[np.float64]) -> _Metric:
        """Take the inverse of diagonal information."""
        return cls(inverse(topics), as_read_only(inverse(words), np.float64))


class _Texts:
    """Documents, or queries, with what every kernel makes of them.

    theta    float64[n, k]   P(topic | text), none below the floor
    inverse  float64[nnz]    1 / P(word | text) of each entry; zero for words that no topic has
    ratios   float64[nnz]    p̂(word | text) / P(word | text)
    """

    def __init__(self, rows: CSR, theta: NDArray[np.float64], topics: NDArray[np.float64], floor: float) -> None:
        self.rows = rows
        self.theta = as_read_only(np.maximum(theta, floor), np.float64)
        self._topics = topics
        expected = np.empty(len(rows.words))
        entries_of_product(rows.ends, rows.words, self.theta, topics, expected)
        self.inverse = inverse(expected)
        self.ratios = as_read_only(shares_of(rows) * self.inverse, np.float64)

    @cached_property
    def next_theta(self) -> NDArray[np.float64]:
        """P(topic | text) after one more pass of EM."""
        sums = np.empty(self.theta.shape)
        project_documents(self.rows.ends, self.rows.words, self.ratios, self._topics, sums)
        return self.theta * sums


def _check_is_one_of(**settings: tuple[str, tuple[str, ...]]) -> None:
    for name, (value, choices) in settings.items():
        if value not in choices:
            msg = f"{name} must be one of {', '.join(choices)}, but was {value!r}."
            raise InputError(msg)
