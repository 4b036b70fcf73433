"""Configuration shared by all batch algorithms, and default methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from semascope.corpus.shards import ShardRef
from semascope.engines.base import Locals
from semascope.storage.facts import Fact
from semascope.storage.layout import Array


@dataclass(frozen=True)
class AlgorithmConfig:
    """Corpus dimensions and hyperparameters common to all algorithms.

    n_topics  number of topics or dimensions
    seed      random seed
    dtype     precision of the computation
    """

    per_token: ClassVar[bool] = True
    """Whether the objective is a sum over all tokens, displayed per token."""

    state_arrays: ClassVar[Mapping[str, Array]]
    """Arrays of the state in checkpoints, with their allowed values."""
    state_numbers: ClassVar[Mapping[str, Fact]] = {}
    """The other fields of the state."""
    local_arrays: ClassVar[Mapping[str, Array]]
    """Arrays stored with a shard of `shard_documents` documents, likewise."""

    n_topics: int
    n_documents: int
    n_words: int
    n_tokens: float
    seed: int
    dtype: str = "float32"

    def sizes(self) -> dict[str, int]:
        """Return the dimensions of the arrays in checkpoints."""
        return {"n_words": self.n_words, "n_topics": self.n_topics}

    def state_problem(self, state: Any, history: Sequence[float]) -> str | None:
        """Return how the arrays of a loaded state are inconsistent, or None."""
        return None

    def local_problem(self, shard: ShardRef, local: Locals) -> str | None:
        """Return how the loaded arrays of a shard are inconsistent with each other or the shard, or None."""
        missing = [name for name in self.local_arrays if name not in local]
        return f"the array {missing[0]!r} is missing" if missing else None

    def convergence_history(self, state: Any, history: Sequence[float]) -> Sequence[float]:
        """Return all objectives."""
        return history

    def broadcast_view(self, state: Any) -> Any:
        """Return the whole state."""
        return state

    def final_state(self, state: Any) -> Any:
        """Return the last state."""
        return state

    def status(self, state: Any) -> str:
        """Return nothing beside the objective."""
        return ""
