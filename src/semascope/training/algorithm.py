"""What every batch algorithm is told of the corpus, beside its own settings, and what most of them answer alike."""

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
    """Facts of the corpus, and settings that all algorithms have.

    n_topics  topics or dimensions that are wanted
    seed      where random numbers start from
    dtype     precision of what is computed
    """

    per_token: ClassVar[bool] = True
    """Whether the objective is a sum over all tokens, of which people are told the mean."""

    state_arrays: ClassVar[Mapping[str, Array]]
    """Arrays of the state as checkpoints keep them, and what their entries may be."""
    state_numbers: ClassVar[Mapping[str, Fact]] = {}
    """The other fields of the state."""
    local_arrays: ClassVar[Mapping[str, Array]]
    """Arrays that stay with a shard of `shard_documents` documents, likewise."""

    n_topics: int
    n_documents: int
    n_words: int
    n_tokens: float
    seed: int
    dtype: str = "float32"

    def sizes(self) -> dict[str, int]:
        """Return the dimensions that arrays of checkpoints have."""
        return {"n_words": self.n_words, "n_topics": self.n_topics}

    def state_problem(self, state: Any, history: Sequence[float]) -> str | None:
        """Return what arrays of a state that was read are not to each other, if anything."""
        return None

    def local_problem(self, shard: ShardRef, local: Locals) -> str | None:
        """Return what arrays of a shard that were read are not to each other and to the shard, if anything."""
        missing = [name for name in self.local_arrays if name not in local]
        return f"there is no array {missing[0]!r}" if missing else None

    def convergence_history(self, state: Any, history: Sequence[float]) -> Sequence[float]:
        """All objectives."""
        return history

    def broadcast_view(self, state: Any) -> Any:
        """All of the state."""
        return state

    def final_state(self, state: Any) -> Any:
        """The last state."""
        return state

    def status(self, state: Any) -> str:
        """Nothing beside the objective."""
        return ""
