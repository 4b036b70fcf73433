"""Mapper, combiner and reducer of an iteration, run on Spark's executors.

The *mapper* runs a task on a shard: it opens the shard from the corpus directory, reads its locals of the previous iteration
and writes the new ones to the same work directory. The *combiner* adds the statistics of a partition's shards before anything
is sent; the *reducer* adds those of two partitions. Sums are exact, so neither the order of shards nor a rerun changes a bit:
tasks write their files atomically, and the same ones each time.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from semascope.corpus.shards import Shard, ShardRef
from semascope.engines.base import Locals, Stats
from semascope.engines.exact_sums import Accumulator
from semascope.engines.fingerprint import fingerprint
from semascope.engines.shard_store import SpilledLocals
from semascope.errors import SemascopeError

REASONS = "reasons"
"""Folder in the work directory where failed tasks write their reasons."""


class Iteration(NamedTuple):
    """Location of an iteration's locals: a folder per iteration, so that rerun tasks can read the previous one."""

    work_dir: Path
    number: int

    @property
    def folder(self) -> Path:
        return self.work_dir / f"iteration-{self.number:06d}"

    @property
    def locals(self) -> SpilledLocals:
        return SpilledLocals(self.folder)

    @property
    def next(self) -> Iteration:
        return self._replace(number=self.number + 1)


@dataclass(frozen=True)
class Work:
    """Task to run on every shard.

    task    function of a shard, and of its locals and the shared state if there is one
    state   the broadcast of the shared state
    before  the iteration whose locals are read
    """

    task: Callable[..., tuple[Locals, Stats]]
    before: Iteration
    state: Any = None

    def __call__(self, shards: Iterable[ShardRef]) -> Iterator[Stats]:
        """Map the shards of a partition and combine their statistics."""
        combined = Accumulator()
        for ref in shards:
            try:
                combined.add(self._map(ref))
            except Exception as error:
                write_reason(self.before.work_dir, error)
                raise
        if combined.total is not None:
            yield combined.total

    def _map(self, ref: ShardRef) -> Stats:
        shard = open_shard(self.before.work_dir, ref)
        arguments = () if self.state is None else (self.before.locals[ref.number], self.state.value)
        new, stats = self.task(shard, *arguments)
        self.before.next.locals[ref.number] = new
        return stats


def merge_stats(one: Stats, other: Stats) -> Stats:
    """Merge two totals into one."""
    for total, more in zip(one, other, strict=True):
        total.merge(more)
    return one


_shards: dict[tuple[Path, int], Shard] = {}


def open_shard(work_dir: Path, ref: ShardRef) -> Shard:
    """Open a shard once per worker process, which serves many iterations of a run."""
    if (work_dir, ref.number) not in _shards:
        for key in [key for key in _shards if key[0] != work_dir]:
            del _shards[key]  # of another run
        _shards[work_dir, ref.number] = ref.open()
    return _shards[work_dir, ref.number]


def write_reason(work_dir: Path, error: Exception) -> None:
    """Write the reason of a failure for the driver, as Spark only passes on a whole traceback."""
    folder = work_dir / REASONS
    folder.mkdir(exist_ok=True)
    reason = str(error) if isinstance(error, SemascopeError) else f"{type(error).__name__}: {error}"
    (folder / f"{platform.node()}-{os.getpid()}").write_text(f"{reason.rstrip('.')}.", encoding="utf-8")


class WorkerContext(NamedTuple):
    """Environment of a worker.

    host         name of its machine
    fingerprint  versions and processor features that results depend on
    unseen       required paths that it does not see
    """

    host: str
    fingerprint: dict[str, str]
    unseen: list[str]


def worker_context(_: Any, paths: list[str]) -> WorkerContext:
    """Return the environment of a worker, and which of these paths it does not see."""
    return WorkerContext(platform.node(), fingerprint(), [path for path in paths if not Path(path).exists()])
