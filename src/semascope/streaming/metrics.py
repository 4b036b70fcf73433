"""The figures that people see of a stream while it is learned: how far, how fast, and how well documents are predicted."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPEED_SECONDS = 10.0
"""Speed is that of so many seconds."""
RECENT_DOCUMENTS = 1000
"""Perplexity is that of so many documents, or a few more."""
MAX_POINTS = 240
"""Of the path of the perplexity; when there are more, every other one is forgotten."""
_MIN_SECONDS = 0.05
"""Nothing is said of the speed before."""


class LearnedBatch(NamedTuple):
    """Documents that were learned together.

    documents        how many
    tokens           words in them
    log_likelihood   of these words, by what was known before each document
    """

    documents: int
    tokens: float
    log_likelihood: float


class StreamMetrics:
    """Figures of a stream, for all who show them. All threads may ask."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._labels: Sequence[str] = ()
        self._n_first_labels = self._first_documents = 0
        self._times: deque[tuple[float, int]] = deque()
        self._recent: deque[LearnedBatch] = deque()
        self._n_recent = 0
        self._points: list[tuple[int, float]] = []
        self._every = 1
        self._until_next = 0
        self.documents = 0
        self.bad_lines = 0

    def begin(self, documents: int, labels: Sequence[str], bad_lines: int = 0) -> None:
        """Note what was known at the start."""
        with self._lock:
            self.documents = self._first_documents = documents
            self.bad_lines, self._labels, self._n_first_labels = bad_lines, labels, len(labels)
            self._times.append((time.monotonic(), documents))

    def add(self, documents: int, labels: Sequence[str], batch: LearnedBatch, bad_lines: int = 0) -> None:
        """Note what was learned: documents, labels and bad lines in all, and the last of the documents."""
        with self._lock:
            self.documents, self._labels, self.bad_lines = documents, labels, bad_lines
            self._times.append((time.monotonic(), documents))
            self._forget_times()
            self._note_recent(batch)
            self._note_point()

    def _note_recent(self, batch: LearnedBatch) -> None:
        if batch.tokens > 0:
            self._recent.append(batch)
            self._n_recent += batch.documents
        while self._recent and self._n_recent - self._recent[0].documents >= RECENT_DOCUMENTS:
            self._n_recent -= self._recent.popleft().documents

    def _forget_times(self) -> float:
        """Forget what is too long ago to tell the speed, and return the time."""
        now = time.monotonic()
        while len(self._times) > 1 and now - self._times[1][0] > SPEED_SECONDS:
            self._times.popleft()
        return now

    def _note_point(self) -> None:
        self._until_next -= 1
        if self._until_next > 0 or (perplexity := self._perplexity()) is None:
            return
        self._points.append((self.documents, perplexity))
        if len(self._points) > MAX_POINTS:
            self._points, self._every = self._points[::2], self._every * 2
        self._until_next = self._every

    def _perplexity(self) -> float | None:
        tokens = sum(one.tokens for one in self._recent)
        return math.exp(min(-sum(one.log_likelihood for one in self._recent) / tokens, 700.0)) if tokens else None

    @property
    def documents_now(self) -> int:
        """Documents that were learned since the start."""
        return self.documents - self._first_documents

    @property
    def perplexity(self) -> float | None:
        """Of recent documents, each before it was learned; None when there were none."""
        with self._lock:
            return self._perplexity()

    @property
    def path(self) -> list[tuple[int, float]]:
        """Perplexities as they were after so many documents."""
        with self._lock:
            return list(self._points)

    @property
    def n_labels(self) -> int:
        """All labels that were met, ever."""
        return len(self._labels)

    @property
    def new_labels(self) -> list[str]:
        """Labels met since the start, the newest first."""
        with self._lock:
            return list(reversed(self._labels[self._n_first_labels :]))

    @property
    def speed(self) -> float:
        """Documents a second in the last seconds."""
        with self._lock:
            now = self._forget_times()
            if not self._times or now - self._times[0][0] < _MIN_SECONDS:
                return 0.0
            began, documents = self._times[0]
            return (self.documents - documents) / (now - began)


def heaviest(shares: NDArray[Any], n_labels: int) -> NDArray[Any]:
    """Return the numbers of the labels that most words are due to, the heaviest first."""
    return (-shares).argsort(kind="stable")[:n_labels]
