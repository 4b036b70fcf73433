"""Textbook EM for PLSA: the responsibilities P(z | word, document) of every entry are computed, then used.

Returns the numbers of the fused algorithm, in plain NumPy: slower, with memory for every entry times every topic, and easy to
read. It is the baseline in papers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.shards import Shard
from semascope.engines.base import Locals
from semascope.engines.exact_sums import Counts, Scalars
from semascope.training.plsa import EM, EMState, EMStats

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class TextbookEM(EM):
    """EM with the same start, statistics and update as the fused algorithm; only the step is written out."""

    def step(self, shard: Shard, local: Locals, state: EMState) -> tuple[Locals, EMStats]:
        """Run a pass over a shard."""
        rows, words, theta = shard.rows, shard.by_word, local["theta"]
        document_of = np.repeat(np.arange(shard.n_documents), np.diff(rows.ends))

        # E-step: P(z | w, d) = P(z | d) P(w | z) / Σ_z' P(z' | d) P(w | z')
        joint = theta[document_of] * state.topics[rows.words]
        p = joint.sum(axis=1)
        posterior = np.divide(joint, p[:, None], out=joint, where=p[:, None] > 0)

        # M-step: P(z | d) ∝ Σ_w n P(z | w, d), and P(w | z) ∝ Σ_d n P(z | w, d)
        expected = np.multiply(posterior, rows.counts[:, None], out=posterior)
        by_document = _sums(expected, rows.ends)
        lengths = by_document.sum(axis=1, keepdims=True)
        new_theta = np.divide(by_document, lengths, out=theta.copy(), where=lengths > 0)
        by_word = _sums(expected[words.places], words.ends)

        log_p = np.log(p, out=np.zeros(len(p)), where=p > 0)
        log_likelihood = float(rows.counts.astype(np.float64) @ log_p)
        counts = Counts(words.words, by_word, (self.n_words, self.n_topics), self.n_tokens)
        return {"theta": new_theta}, EMStats(counts, Scalars((log_likelihood,)))


def _sums(values: NDArray[Any], ends: NDArray[np.int64]) -> NDArray[Any]:
    """Sum the rows between the ends; zero for an empty range."""
    sums = np.zeros((len(ends) - 1, values.shape[1]), dtype=values.dtype)
    filled = np.flatnonzero(ends[1:] > ends[:-1])
    if len(filled):
        sums[filled] = np.add.reduceat(values, ends[filled], axis=0)
    return sums
