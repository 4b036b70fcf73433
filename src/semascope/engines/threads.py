"""Local engines: a thread pool (kernels release the GIL), and the calling thread alone for single documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from semascope.corpus.shards import Shard, ShardRef
from semascope.engines.base import LocalProblem, Locals, OneProcess, Stats
from semascope.engines.exact_sums import Accumulator
from semascope.engines.shard_store import (
    AllLocals,
    RowMaker,
    SpilledLocals,
    load_locals,
    rows_in_file,
    save_locals,
    spill_folder,
    write_rows,
)
from semascope.resources import usable_cores
from semascope.storage import Directory, Draft, Layout, writing

if TYPE_CHECKING:
    from numpy.typing import NDArray


T = TypeVar("T")


@dataclass(frozen=True)
class ThreadEngine(OneProcess):
    """Threads of this process. Any number of them gives the same bits.

    Parameters
    ----------
    n_threads : int, optional
        Number of threads. By default one per core available to this process.
    spill : bool, default=False
        Keep per-document arrays in files and close shards between iterations: slower, but memory does not grow with the
        corpus. Until the fit ends, the files are beside the checkpoints or in the system's temporary directory.

    Examples
    --------
    >>> from semascope import PLSA
    >>> texts = ["cats purr", "dogs bark", "cats", "dogs"]
    >>> one, two = (PLSA(2, random_state=0, engine=ThreadEngine(n)).fit(texts) for n in (1, 2))
    >>> (one.components_ == two.components_).all()
    np.True_
    """

    n_threads: int | None = None
    spill: bool = False

    @contextmanager
    def open(self, shards: Sequence[ShardRef], work_dir: Path | None = None) -> Iterator[ThreadSession]:
        """Open the shards and start the threads."""
        with ThreadPoolExecutor(self.n_threads or usable_cores(), thread_name_prefix="semascope") as pool:
            if not self.spill:
                yield ThreadSession(pool, shards)
                return
            with spill_folder(work_dir) as folder:
                yield ThreadSession(pool, shards, folder)


class ThreadSession:
    """Shards opened on threads of this process.

    Parameters
    ----------
    spill : path, optional
        Folder for the locals; shards are then reopened for each task.
    """

    def __init__(self, pool: ThreadPoolExecutor, shards: Sequence[ShardRef], spill: Path | None = None) -> None:
        self._pool = pool
        self._spill = spill
        self._shards = list(shards) if spill else list(pool.map(lambda ref: ref.open(), shards))
        self._locals: AllLocals = SpilledLocals(spill) if spill else {}
        self._last_total: Stats = None

    def begin(self, task: Callable[[Shard], tuple[Locals, Stats]]) -> Stats:
        return self._run(task)

    def step(self, task: Callable[[Shard, Locals, Any], tuple[Locals, Stats]], state: Any) -> Stats:
        return self._run(lambda shard: task(shard, self._locals[shard.number], state))

    def _run(self, task: Callable[[Shard], tuple[Locals, Stats]]) -> Stats:
        accumulator = Accumulator(spare=self._last_total)

        def work(shard: ShardRef) -> None:
            new_locals, stats = task(shard.open())
            accumulator.add(stats)
            self._locals[shard.number] = new_locals

        futures = [self._pool.submit(work, shard) for shard in self._shards]
        try:
            for future in futures:
                future.result()
        finally:
            for future in futures:
                future.cancel()  # after an error, skip the rest
        self._last_total = accumulator.total
        return accumulator.total

    def documents(self, rows: RowMaker) -> NDArray[Any]:
        if self._spill:
            return rows_in_file(self._spill / "all-rows.npy", self._shards, self._locals, rows)
        first, n_documents = self.rows_of_first_shard(rows), sum(shard.n_documents for shard in self._shards)
        table = np.empty((n_documents, *first.shape[1:]), first.dtype)
        table[: len(first)] = first

        def write(shard: ShardRef) -> None:
            table[shard.first_document : shard.first_document + shard.n_documents] = rows(self._locals[shard.number])

        for _ in self._pool.map(write, self._shards[1:]):
            pass
        return table

    def rows_of_first_shard(self, rows: RowMaker) -> NDArray[Any]:
        """Return the rows of the first shard."""
        return rows(self._locals[self._shards[0].number])

    def write_rows(self, path: Path, rows: RowMaker) -> None:
        """Write the rows of these shards to a file with the rows of all documents."""
        write_rows(path, self._shards, self._locals, rows)

    def save(self, target: Path, layout: Layout, fill: Callable[[Draft], None]) -> None:
        with writing(target, layout) as draft:
            fill(draft)
            self.save_locals(draft)

    def save_locals(self, draft: Draft) -> None:
        """Write the locals of these shards."""
        save_locals(draft, self._shards, self._locals)

    def load_locals(self, directory: Directory, problem: LocalProblem) -> None:
        load_locals(directory, self._shards, self._locals, problem)

    def broadcast(self, value: T) -> T:
        return value


class InlineEngine(OneProcess):
    """Engine on the calling thread. It sums no statistics, so it can infer but not fit."""

    @contextmanager
    def open(self, shards: Sequence[ShardRef], work_dir: Path | None = None) -> Iterator[Any]:
        """Open the shards."""
        yield _InlineSession(shards)


class _InlineSession:
    def __init__(self, shards: Sequence[ShardRef]) -> None:
        self._shards = shards
        self._locals: list[Locals] = []

    def begin(self, task: Callable[[Any], tuple[Locals, Any]]) -> None:
        self._locals = [task(shard.open())[0] for shard in self._shards]

    def documents(self, rows: Callable[[Locals], NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([rows(one) for one in self._locals])
