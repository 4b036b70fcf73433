"""Stochastic CVB0 for LDA (Foulds et al. 2013): the E-step on one batch of a stream, with the topics held fixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from semascope.corpus.shards import Shard
from semascope.kernels.variational import e_step_documents
from semascope.training.variational import VB, VBState

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class SCVB0(VB):
    """Variational EM with counts in place of expected logarithms: φ ∝ (N_dk + α_k) (N_wk + η) / (N_k + Vη).

    For small counts this is much closer to the true probabilities. No token is excluded from its own counts: those of a batch
    are not among N_wk yet. There is no bound.
    """

    inner_iterations: ClassVar[int] = 3  # measured by benchmarks/streams.py
    learns_from_draws: ClassVar[bool] = True

    def e_step(self, shard: Shard, state: VBState, gamma: NDArray[Any], shares: NDArray[Any], weights: NDArray[Any]) -> float:
        """Run the E-step of a shard."""
        e_step_documents(*shard.rows, state.alpha, state.table, self.max_passes, self.tolerance, gamma, shares, weights)
        return 0.0

    def table(
        self, topics: NDArray[Any], sizes: NDArray[np.float64], words: NDArray[np.int32] | None = None
    ) -> tuple[NDArray[Any], float]:
        """Return P(word | topic)."""
        return topics, 0.0
