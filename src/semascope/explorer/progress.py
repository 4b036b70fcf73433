"""How learning from a stream goes: how fast, and how well documents are predicted before they are learned."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

SPEED_SECONDS = 10.0
"""Speed is that of so many seconds."""
RECENT_DOCUMENTS = 1000
"""Perplexity is that of so many documents, or a few more."""
MOST_POINTS = 240
"""Of the path of the perplexity; when there are more, every other one is forgotten."""


class Learned(NamedTuple):
    """Documents that were learned together, their words, and Σ log P of these before they were learned."""

    documents: int
    tokens: float
    log_likelihood: float


class Progress:
    """Figures of a stream. All threads may ask."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._first_labels: int | None = None
        self._labels: Sequence[str] = ()
        self._times: deque[tuple[float, int]] = deque()
        self._recent: deque[Learned] = deque()
        self._points: list[tuple[int, float]] = []
        self._every = 1
        self._until_next = 0
        self.documents = 0

    def begin(self, documents: int, labels: Sequence[str]) -> None:
        """Note what was known at the start."""
        with self._lock:
            self.documents, self._labels, self._first_labels = documents, labels, len(labels)
            self._times.append((time.monotonic(), documents))

    def add(self, documents: int, labels: Sequence[str], learned: Learned) -> None:
        """Note what was learned: documents and labels in all, and the last of them."""
        with self._lock:
            self.documents, self._labels = documents, labels
            self._times.append((time.monotonic(), documents))
            self._forget_times()
            if learned.tokens > 0:
                self._recent.append(learned)
            while self._recent and sum(one.documents for one in self._recent) - self._recent[0].documents >= RECENT_DOCUMENTS:
                self._recent.popleft()
            self._note_point(documents)

    def _forget_times(self) -> float:
        """Forget what is too long ago to tell the speed, and give the time."""
        now = time.monotonic()
        while len(self._times) > 1 and now - self._times[1][0] > SPEED_SECONDS:
            self._times.popleft()
        return now

    def _note_point(self, documents: int) -> None:
        perplexity = self._perplexity()
        self._until_next -= 1
        if perplexity is None or self._until_next > 0:
            return
        self._points.append((documents, perplexity))
        if len(self._points) > MOST_POINTS:
            self._points, self._every = self._points[::2], self._every * 2
        self._until_next = self._every

    def _perplexity(self) -> float | None:
        tokens = sum(one.tokens for one in self._recent)
        return math.exp(min(-sum(one.log_likelihood for one in self._recent) / tokens, 700.0)) if tokens else None

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
    def new_labels(self) -> list[str]:
        """Labels met since the start, the newest first."""
        with self._lock:
            return list(reversed(self._labels[self._first_labels or 0 :]))

    @property
    def speed(self) -> float:
        """Documents a second in the last seconds."""
        with self._lock:
            now = self._forget_times()
            if not self._times or now - self._times[0][0] < 0.05:
                return 0.0
            began, documents = self._times[0]
            return (self.documents - documents) / (now - began)
