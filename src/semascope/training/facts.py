"""What every batch algorithm is told of the corpus, beside its own settings, and what most of them answer alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class Facts:
    """Facts of the corpus, and settings that all algorithms have.

    n_topics  topics or dimensions that are wanted
    seed      where random numbers start from
    dtype     precision of what is computed
    """

    per_token: ClassVar[bool] = True
    """Whether the objective is a sum over all tokens, of which people are told the mean."""

    n_topics: int
    n_documents: int
    n_words: int
    n_tokens: float
    seed: int
    dtype: str = "float32"

    def to_judge(self, state: Any, history: Sequence[float]) -> Sequence[float]:
        """All objectives."""
        return history

    def to_send(self, state: Any) -> Any:
        """All of the state."""
        return state

    def to_keep(self, state: Any) -> Any:
        """The last state."""
        return state

    def note(self, state: Any) -> str:
        """Nothing beside the objective."""
        return ""
