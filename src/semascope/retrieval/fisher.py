"""Fisher kernels of PLSI: similarity of documents by the gradients of their log-likelihood.

With p̂(w|d) = n(d,w) / |d|, P(w|d) = Σ_z P(z|d) P(w|z) and r(d,w) = p̂(w|d) / P(w|d), every kernel is a sum of two parts,

    K_z(d,q) = Σ_z x_d(z) x_q(z) m(z)
    K_w(d,q) = Σ_w r(d,w) r(q,w) Σ_z P(z|d) P(z|q) m(w,z)

one for the derivatives by P(z), one for those by P(w|z). Hofmann takes x_d(z) = P(z|d). Where all words of a document are
independent draws ("iid") it is x_d(z) = P(z|d) Σ_w r(d,w) P(w|z), the next iterate of EM. The metric m is the inverse of

                        by P(z)                               by P(w|z)
    ifim                P(z)                                  1 / P(w|z)
    dfim, hofmann       Σ_d P(z|d)²                           Σ_d r(d,w)² P(z|d)²
    dfim, iid           Σ_dw n(d,w) [P(w|z) P(z|d) / P(w|d)]²  Σ_d n(d,w) [P(z|d) / P(w|d)]²

that is, of the identity in the coordinates 2√P, or of the diagonal of the Fisher information, summed over documents or over
their words. The other factors of P(z) and P(d) in the paper's formulas cancel.

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
"""Minimum P(topic | document) for "dfim", which divides by its squares: far below one word of any document, far above what
underflows in EM. It gains up to three points of MAP. "ifim" has no squares, so a floor would only do harm: with many topics
most documents share none with a query, and the floor would rank them."""


class Fisher:
    """The twelve Fisher kernels between the documents of an index and queries.

    Everything independent of a query is computed once, on first use, and shared by all kernels.

    Parameters
    ----------
    segments : sequence of TopicDocuments
        The documents. Information is summed over all segments.
    topics : ndarray of shape (n_words, n_topics)
        P(word | topic).
    floor : float, default=1e-6
        Minimum of P(topic | document) and P(topic | query); rows are not renormalized. Without it, a vanishing topic of one
        document can outweigh all else in "dfim", which divides by squares of P(topic | document).
    """

    def __init__(self, segments: Sequence[TopicDocuments], topics: NDArray[np.floating], *, floor: float = FLOOR) -> None:
        self._topics = as_read_only(topics, np.float64)
        self._floor = floor
        self._segments = [segment.ready() for segment in segments]
        self._texts = [_Texts(segment.rows, segment.theta, self._topics, floor) for segment in self._segments]
        both = zip(self._segments, self._texts, strict=True)
        self._ratios = [as_read_only(texts.ratios[segment.by_word.places], np.float64) for segment, texts in both]

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
            Number of the segment.
        queries : CSR
            Word counts of the queries.
        theta : ndarray of shape (n_queries, n_topics)
            P(topic | query) from folding in.
        process : {"hofmann", "iid"}, default="hofmann"
            Whether an observation is a document, as in Hofmann, or each of its words.
        information : {"ifim", "dfim"}, default="ifim"
            Approximation of the Fisher information: the identity in square-root coordinates, or its diagonal.
        part : {"both", "z", "w"}, default="both"
            The part of P(topic), that of P(word | topic), or their sum.

        Returns
        -------
        ndarray of shape (n_queries, n_documents)
            Always finite. The word part of a document or query without words is zero.
        """
        _check_is_one_of(process=(process, PROCESSES), information=(information, INFORMATION), part=(part, PARTS))
        query_texts = _Texts(read_only(queries), theta, self._topics, self._floor)
        metric = self._identity if information == "ifim" else self._hofmann if process == "hofmann" else self._iid
        if part == "z":
            return self._by_topics(segment, query_texts, metric, process)
        if part == "w":
            return self._by_words(segment, query_texts, metric)
        return self._by_topics(segment, query_texts, metric, process) + self._by_words(segment, query_texts, metric)

    def _by_topics(self, segment: int, query_texts: _Texts, metric: _Metric, process: str) -> NDArray[np.float64]:
        ours, theirs = (one.theta if process == "hofmann" else one.next_theta for one in (self._texts[segment], query_texts))
        return np.ascontiguousarray(multiply(ours, (theirs * metric.topics).T).T)

    def _by_words(self, segment: int, query_texts: _Texts, metric: _Metric) -> NDArray[np.float64]:
        texts, by_word = self._texts[segment], self._segments[segment].by_word
        scores = np.zeros((len(query_texts.theta), len(texts.theta)))
        numbers = numbers_of(query_texts.rows.words, by_word)
        add_shared_words(
            query_texts.rows.ends, query_texts.rows.words, query_texts.ratios, query_texts.theta, metric.words,
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
        """Sum the information of each P(word | topic) over all documents, with given weights of their entries."""
        sums = np.zeros(self._topics.shape)
        for segment, texts in zip(self._segments, self._texts, strict=True):
            words, ends, documents, places = segment.by_word
            add_information(words, ends, documents, as_read_only(weights_of(texts)[places], np.float64), texts.theta, sums)
        return sums


class _Metric(NamedTuple):
    """Weights of products of derivatives: by P(z), float64[k], and by P(w|z), float64[v, k]."""

    topics: NDArray[np.float64]
    words: NDArray[np.float64]

    @classmethod
    def of(cls, topics: NDArray[np.float64], words: NDArray[np.float64]) -> _Metric:
        """Return the inverse of diagonal information."""
        return cls(inverse(topics), as_read_only(inverse(words), np.float64))


class _Texts:
    """Documents or queries, with the quantities that all kernels need.

    theta    float64[n, k]   P(topic | text), at least the floor
    inverse  float64[nnz]    1 / P(word | text) of each entry; zero for words in no topic
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
        """P(topic | text) after one more iteration of EM."""
        sums = np.empty(self.theta.shape)
        project_documents(self.rows.ends, self.rows.words, self.ratios, self._topics, sums)
        return self.theta * sums


def _check_is_one_of(**settings: tuple[str, tuple[str, ...]]) -> None:
    for name, (value, choices) in settings.items():
        if value not in choices:
            msg = f"{name} must be one of {', '.join(choices)}, but was {value!r}."
            raise InputError(msg)
