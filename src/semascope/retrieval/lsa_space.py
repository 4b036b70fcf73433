"""LSA space of an index: documents and queries as unit vectors, close to each other if similar in meaning."""

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
"""Name of the document vectors of the space in a segment."""

DIMENSIONS = 64
"""Default number of dimensions of the space."""


NOISE = 1e-6
"""Relative length below which a vector counts as zero."""


def space_of(corpus: Corpus, n_dimensions: int = DIMENSIONS) -> LSA:
    """Fit the LSA space of an index, with the term weighting that retrieves best."""
    n_dimensions = min(n_dimensions, corpus.n_documents, corpus.n_words)
    return LSA(n_dimensions, weighting="logtfidf", random_state=0).fit(corpus)


def unit_vectors(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Normalize rows to length one; zero rows and rows of mere rounding errors become zero."""
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    some = sizes > NOISE * sizes.max(initial=0)
    return as_read_only(np.divide(vectors, sizes, out=np.zeros(vectors.shape, np.float32), where=some), np.float32)


class LSACosine:
    """Cosine similarity in LSA space."""

    batch_size = 64
    min_score = -np.inf

    def __init__(self, segments: Sequence[Segment], lexicon: Lexicon, space: LSA) -> None:
        self._vectors = [segment.vectors[SPACE] for segment in segments]
        self._projection = space.projection()
        self._numbers = as_read_only(lexicon.numbers_in(space.require_lexicon()), np.int32)
        self._n_words = len(self._projection["basis"])

    def vectors(self, queries: CSR) -> NDArray[np.float32]:
        """Return the unit vectors of queries."""
        rows = CSR(*renumber(*queries, self._numbers, self._n_words))
        lengths = Shard(0, 0, self._n_words, rows).lengths
        return unit_vectors(project(rows, lengths, **self._projection))

    def fill(self, queries: CSR, scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> None:
        query_vectors = self.vectors(queries)
        self.fill_cosines(query_vectors, scores)
        scores[~query_vectors.any(axis=1)] = -np.inf  # the space knows no word of these queries

    def fill_cosines(self, query_vectors: NDArray[np.float32], scores: NDArray[np.float32]) -> None:
        """Write the cosines of all documents with query vectors."""
        first = 0
        with one_thread_each():
            for vectors in self._vectors:
                last = first + len(vectors)
                np.matmul(query_vectors, vectors.T, out=scores[:, first:last])
                first = last
