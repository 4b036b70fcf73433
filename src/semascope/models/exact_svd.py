"""The decomposition to machine precision, by ARPACK, in memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import svd
from scipy.sparse.linalg import svds

from semascope.corpus.corpus import Corpus
from semascope.engines.base import Engine
from semascope.training.lanczos import BlockLanczos, Decomposition
from semascope.training.weighting import WEIGHTINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray


def decomposed(algorithm: BlockLanczos, corpus: Corpus, engine: Engine) -> Decomposition:
    """Decompose the matrix that an algorithm would."""
    with engine.place(corpus.shards()) as placed:
        state = algorithm.start(placed.begin(algorithm.begin))
    rows = corpus.rows
    values = WEIGHTINGS[algorithm.weighting].values(rows, algorithm.n_tokens, state.of_word, np.float64)
    matrix = sp.csr_array((values, rows.words, rows.ends), shape=(algorithm.n_documents, algorithm.n_words))
    found, right = _svd(matrix, algorithm.n_topics, algorithm.seed)
    signs = np.where(right[np.arange(len(found)), np.abs(right).argmax(axis=1)] < 0, -1, 1)
    total = math.fsum(values**2)
    residual = math.sqrt(max(1 - math.fsum(found**2) / total, 0.0))
    vectors = np.ascontiguousarray((right * signs[:, None]).T.astype(algorithm.dtype))
    return Decomposition(found, vectors, np.array([residual]), total, state.of_word, state.word_sums)


def _svd(matrix: Any, n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values and right vectors, the largest first. ARPACK wants fewer than there are."""
    if n < min(matrix.shape):
        start = np.random.default_rng(seed).standard_normal(min(matrix.shape))
        _, values, right = svds(matrix, n, v0=start, solver="arpack")
        order = np.argsort(-values, kind="stable")
        return values[order], right[order]
    _, values, right = svd(matrix.toarray(), full_matrices=False)
    return values[:n], right[:n]
