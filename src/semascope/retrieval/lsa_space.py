"""The space of an index: documents and queries as vectors of length one, near each other if they mean the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.corpus.csr import CSR
from semascope.corpus.lexicon import Lexicon
from semascope.corpus.shards import Shard, as_read_only
from semascope.inference.lsa import project
from semascope.kernels.csr import renumber
from semascope.models.lsa import LSA
from semascope.retrieval.segments import Segment
from semascope.training.linalg import one_thread_each

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPACE = "space"
"""What the vectors of documents in the space are called in a segment."""

DIMENSIONS = 64
"""Of the space that an index makes for itself."""


NOISE = 1e-6
"""Vectors so much shorter than the longest are none."""


def space_of(corpus: Corpus, n_dimensions: int = DIMENSIONS) -> LSA:
    """Fit the space of an index: of the weightings of LSA, this one finds most."""
    n_dimensions = min(n_dimensions, corpus.n_documents, corpus.n_words)
    return LSA(n_dimensions, weighting="logtfidf", random_state=0).fit(corpus)


def unit_vectors(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Rows of length one; one of zeros, or of nothing but rounding errors beside the others, becomes zeros."""
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    some = sizes > NOISE * sizes.max(initial=0)
    return as_read_only(np.divide(vectors, sizes, out=np.zeros(vectors.shape, np.float32), where=some), np.float32)


class InSpace:
    """Scores by the cosine of vectors."""

    together = 64
    least = -np.inf

    def __init__(self, segments: Sequence[Segment], lexicon: Lexicon, space: LSA) -> None:
        self._vectors = [segment.vectors[SPACE] for segment in segments]
        self._projection = space.projection()
        self._numbers = as_read_only(lexicon.numbers_in(space.require_lexicon()), np.int32)
        self._n_words = len(self._projection["basis"])

    def place(self, queries: CSR) -> NDArray[np.float32]:
        """Return the vectors of queries, of length one."""
        rows = CSR(*renumber(*queries, self._numbers, self._n_words))
        lengths = Shard(0, 0, self._n_words, rows).lengths
        return unit_vectors(project(rows, lengths, **self._projection))

    def fill(self, queries: CSR, scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> None:
        places = self.place(queries)
        self.fill_near(places, scores)
        scores[~places.any(axis=1)] = -np.inf  # a query of which the space knows no word finds nothing

    def fill_near(self, places: NDArray[np.float32], scores: NDArray[np.float32]) -> None:
        """Write the cosines of all documents with some vectors."""
        first = 0
        with one_thread_each():
            for vectors in self._vectors:
                last = first + len(vectors)
                np.matmul(places, vectors.T, out=scores[:, first:last])
                first = last
