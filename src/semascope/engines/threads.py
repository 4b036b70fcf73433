"""Local threads: the kernels release the GIL, so plain threads use all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from semascope.corpus.shards import Shard, ShardRef
from semascope.engines.base import Locals, Stats
from semascope.engines.exact import Accumulator
from semascope.machine import usable_cores
from semascope.storage import Directory, Draft, writing

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")


@dataclass(frozen=True)
class ThreadEngine:
    """Threads of this process. Any number of them gives the same bits.

    Parameters
    ----------
    n_threads : int, optional
        By default one for each core this process may use.
    """

    n_threads: int | None = None
    leads: ClassVar[bool] = True

    def together(self, action: Callable[[], T]) -> T:
        """Run an action: there is one process only."""
        return action()

    def once(self, action: Callable[[], None]) -> None:
        """Run an action: there is one process only."""
        action()

    @contextmanager
    def place(self, shards: Sequence[ShardRef], work_dir: Path | None = None) -> Iterator[OnThreads]:
        """Open the shards and start the threads."""
        with ThreadPoolExecutor(self.n_threads or usable_cores(), thread_name_prefix="semascope") as pool:
            yield OnThreads(pool, shards)


class OnThreads:
    """Shards placed on threads of this process."""

    def __init__(self, pool: ThreadPoolExecutor, shards: Sequence[ShardRef]) -> None:
        self._pool = pool
        self._shards = list(pool.map(lambda ref: ref.open(), shards))
        self._locals: dict[int, Locals] = {}
        self._last_total: Stats = None

    def begin(self, task: Callable[[Shard], tuple[Locals, Stats]]) -> Stats:
        return self._run(task)

    def step(self, task: Callable[[Shard, Locals, Any], tuple[Locals, Stats]], state: Any) -> Stats:
        return self._run(lambda shard: task(shard, self._locals[shard.number], state))

    def _run(self, task: Callable[[Shard], tuple[Locals, Stats]]) -> Stats:
        accumulator = Accumulator(spare=self._last_total)

        def work(shard: Shard) -> None:
            new_locals, stats = task(shard)
            accumulator.add(stats)
            self._locals[shard.number] = new_locals

        futures = [self._pool.submit(work, shard) for shard in self._shards]
        try:
            for future in futures:
                future.result()
        finally:
            for future in futures:
                future.cancel()  # after an error the rest need not run
        self._last_total = accumulator.total
        return accumulator.total

    def documents(self, name: str) -> NDArray[np.floating[Any]]:
        return np.concatenate([array for _, array in self.rows_by_shard(name)])

    def rows_by_shard(self, name: str) -> Iterator[tuple[int, NDArray[Any]]]:
        """Give the first document of each shard and the shard's local array `name`."""
        return ((shard.first_document, self._locals[shard.number][name]) for shard in self._shards)

    def save(self, target: Path, kind: str, version: int, fill: Callable[[Draft], None]) -> None:
        with writing(target, kind, version) as draft:
            fill(draft)
            self.save_locals(draft)

    def save_locals(self, draft: Draft) -> None:
        """Write the locals of these shards."""
        for shard in self._shards:
            for name, array in self._locals[shard.number].items():
                draft.array(local_name(name, shard.number), array)
                draft.facts["locals"] = list(self._locals[shard.number])

    def load_locals(self, directory: Directory) -> None:
        names = directory.facts["locals"]
        for shard in self._shards:
            stored = {name: directory.array(local_name(name, shard.number)) for name in names}
            self._locals[shard.number] = {name: np.array(array) for name, array in stored.items()}

    def agree(self, value: T) -> T:
        return value


def local_name(name: str, number: int) -> str:
    """Name of the file that holds a local array of a shard."""
    return f"{name}-{number:06d}"
