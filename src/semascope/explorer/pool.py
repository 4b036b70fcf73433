"""Work beside the event loop: a few threads, and a limit to how much may wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from semascope.explorer.errors import UnavailableError
from semascope.machine import usable_cores

T = TypeVar("T")

MOST_WAITING = 400
"""Requests that wait or are worked on. More are sent away at once, so that memory does not grow with those who ask."""


class Pool:
    """Threads that work out answers."""

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
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
