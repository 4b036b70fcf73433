"""Local threads that let somebody look at the state between two iterations of a fit, through the engine's own interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from semascope import ThreadEngine

Observer = Callable[[int, Callable[[], Any]], None]
"""Told the number of iterations so far and how to have the state they came to, before each further one."""


class ObservedEngine:
    """A `ThreadEngine` whose steps are observed."""

    def __init__(self, n_threads: int, observe: Observer) -> None:
        self._threads = ThreadEngine(n_threads)
        self._observe = observe

    def __getattr__(self, name: str) -> Any:
        return getattr(self._threads, name)

    @contextmanager
    def place(self, *arguments: Any) -> Iterator[Any]:
        with self._threads.place(*arguments) as placed:
            yield _ObservedShards(placed, self._observe)


class _ObservedShards:
    """Placed shards that show what each step begins with."""

    def __init__(self, placed: Any, observe: Observer) -> None:
        self._placed = placed
        self._observe = observe
        self._iterations = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._placed, name)

    def step(self, task: Any, state: Any) -> Any:
        self._observe(self._iterations, lambda: task.__self__.to_keep(state))  # what a fit that ended here would keep
        self._iterations += 1
        return self._placed.step(task, state)
