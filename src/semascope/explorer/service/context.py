"""Shared context of the routes: the loaded model, and a bounded thread pool."""

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
"""Maximum number of concurrent requests; more are rejected at once, to bound memory."""


class Pool:
    """Bounded thread pool that computes responses."""

    def __init__(self, max_waiting: int = MAX_WAITING) -> None:
        self._threads = ThreadPoolExecutor(max(usable_cores(), 2), thread_name_prefix="answers")
        self._max = max_waiting
        self._n = 0

    async def run(self, work: Callable[..., T], *args: Any) -> T:
        """Run a function on a thread and wait for it."""
        if self._n >= self._max:
            msg = "server busy: too many concurrent requests; try again in a moment."
            raise UnavailableError(msg)
        self._n += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)
        finally:
            self._n -= 1

    def close(self) -> None:
        """Shut down the threads; pending work is canceled."""
        self._threads.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class Service:
    """Context of the routes.

    keeper    model on disk, reloaded when it changes
    learner   online learner of posted documents, if enabled; its model then replaces that of the keeper
    pool      threads
    """

    keeper: Keeper
    learner: Learner | None = None
    pool: Pool = field(default_factory=Pool)

    @property
    def worker(self) -> Keeper | Learner:
        """Provider of the model."""
        return self.keeper if self.learner is None else self.learner

    async def explored(self) -> Snapshot:
        """Return the current snapshot of the model."""
        return await self.worker.explored()

    async def overview(self) -> Overview:
        """Return the overview."""
        current = await self.worker.overview()
        return current if isinstance(current, Overview) else await self.pool.run(lambda: current.overview)

    async def answer(self, make: Callable[..., T], *args: Any) -> T:
        """Compute a response from the current snapshot, on a thread."""
        return await self.pool.run(make, await self.explored(), *args)
