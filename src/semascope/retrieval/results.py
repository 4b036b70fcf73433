"""What a search gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from semascope.retrieval.snippets import Snippet


@dataclass(frozen=True)
class Hit:
    """A document that was found.

    id       its identifier
    title    its title, "" where it has none
    score    how well it fits, by the similarity that was asked for
    snippet  the passage that shows best why, where the index has texts
    labels   its labels
    """

    id: str
    title: str
    score: float
    snippet: Snippet | None = None
    labels: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain values."""
        plain: dict[str, Any] = {"id": self.id, "title": self.title, "score": self.score, "labels": list(self.labels)}
        if self.snippet is not None:
            plain["snippet"] = self.snippet.text
            plain["marks"] = [[mark.start, mark.end, mark.kind] for mark in self.snippet.marks]
        return plain
