"""What all routes work with: the model at hand, and a bounded pool of threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from semascope.explorer.errors import UnavailableError
from semascope.explorer.service.overview import Overview
from semascope.explorer.service.reloader import Keeper
from semascope.resources import usable_cores

if TYPE_CHECKING:
    from semascope.explorer.service.learner import Learner
    from semascope.explorer.service.snapshot import Snapshot


T = TypeVar("T")

MAX_WAITING = 400
"""Requests that wait or are worked on. More are sent away at once, so that memory does not grow with those who ask."""


class Pool:
    """Threads that work out answers."""

    def __init__(self, most_waiting: int = MAX_WAITING) -> None:
        self._threads = ThreadPoolExecutor(max(usable_cores(), 2), thread_name_prefix="answers")
        self._most = most_waiting
        self._n = 0

    async def run(self, work: Callable[..., T], *given: Any) -> T:
        """Do some work on a thread, and wait for it."""
        if self._n >= self._most:
            msg = "too many ask at once; try again in a moment."
            raise UnavailableError(msg)
        self._n += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)
        finally:
            self._n -= 1

    def close(self) -> None:
        """Let the threads go; work that has not begun is not done."""
        self._threads.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class Service:
    """What routes work with.

    keeper    the model on disk
    learner   learns from what is posted, if that is allowed; the model is then the one that it learns
    pool      threads
    """

    keeper: Keeper
    learner: Learner | None = None
    pool: Pool = field(default_factory=Pool)

    @property
    def worker(self) -> Keeper | Learner:
        """Who has the model at hand."""
        return self.keeper if self.learner is None else self.learner

    async def explored(self) -> Snapshot:
        """The model as it is now, with all that is shown with it."""
        return await self.worker.explored()

    async def overview(self) -> Overview:
        """What is seen first."""
        found = await self.worker.overview()
        return found if isinstance(found, Overview) else await self.pool.run(lambda: found.overview)

    async def answer(self, make: Callable[..., T], *given: Any) -> T:
        """Work out an answer from the model as it is now, on a thread."""
        return await self.pool.run(make, await self.explored(), *given)
