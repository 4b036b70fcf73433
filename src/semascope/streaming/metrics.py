"""Metrics of a stream: progress, speed and predictive perplexity."""

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
"""Window of the speed in seconds."""
RECENT_DOCUMENTS = 1000
"""Approximate window of the perplexity in documents."""
MAX_POINTS = 240
"""Maximum length of the perplexity path; when exceeded, every other point is dropped."""
_MIN_SECONDS = 0.05
"""Minimum time for a speed in seconds."""


class LearnedBatch(NamedTuple):
    """Documents learned together.

    documents        number of documents
    tokens           their tokens
    log_likelihood   of these tokens, each document predicted before it was learned
    """

    documents: int
    tokens: float
    log_likelihood: float


class StreamMetrics:
    """Thread-safe metrics of a stream."""

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
        """Set the totals at the start."""
        with self._lock:
            self.documents = self._first_documents = documents
            self.bad_lines, self._labels, self._n_first_labels = bad_lines, labels, len(labels)
            self._times.append((time.monotonic(), documents))

    def add(self, documents: int, labels: Sequence[str], batch: LearnedBatch, bad_lines: int = 0) -> None:
        """Update the totals of documents, labels and bad lines, and add the last batch."""
        with self._lock:
            self.documents, self._labels, self.bad_lines = documents, labels, bad_lines
            self._times.append((time.monotonic(), documents))
            self._drop_old_times()
            self._add_recent(batch)
            self._add_point()

    def _add_recent(self, batch: LearnedBatch) -> None:
        if batch.tokens > 0:
            self._recent.append(batch)
            self._n_recent += batch.documents
        while self._recent and self._n_recent - self._recent[0].documents >= RECENT_DOCUMENTS:
            self._n_recent -= self._recent.popleft().documents

    def _drop_old_times(self) -> float:
        """Drop times before the speed window, and return the current time."""
        now = time.monotonic()
        while len(self._times) > 1 and now - self._times[1][0] > SPEED_SECONDS:
            self._times.popleft()
        return now

    def _add_point(self) -> None:
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
        """Number of documents learned since the start."""
        return self.documents - self._first_documents

    @property
    def perplexity(self) -> float | None:
        """Perplexity of recent documents, each predicted before it was learned; None without documents."""
        with self._lock:
            return self._perplexity()

    @property
    def path(self) -> list[tuple[int, float]]:
        """Pairs of document count and perplexity."""
        with self._lock:
            return list(self._points)

    @property
    def n_labels(self) -> int:
        """Number of labels seen in total."""
        return len(self._labels)

    @property
    def new_labels(self) -> list[str]:
        """Labels first seen since the start, newest first."""
        with self._lock:
            return list(reversed(self._labels[self._n_first_labels :]))

    @property
    def speed(self) -> float:
        """Recent documents per second."""
        with self._lock:
            now = self._drop_old_times()
            if not self._times or now - self._times[0][0] < _MIN_SECONDS:
                return 0.0
            began, documents = self._times[0]
            return (self.documents - documents) / (now - began)


def heaviest(shares: NDArray[Any], n_labels: int) -> NDArray[Any]:
    """Return the numbers of the labels with most tokens, heaviest first."""
    return (-shares).argsort(kind="stable")[:n_labels]
