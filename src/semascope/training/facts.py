"""What every batch algorithm is told of the corpus, beside its own settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Facts:
    """Facts of the corpus, and settings that all algorithms have.

    n_topics  topics or dimensions that are wanted
    seed      where random numbers start from
    dtype     precision of what is computed
    """

    n_topics: int
    n_documents: int
    n_words: int
    n_tokens: float
    seed: int
    dtype: str = "float32"
