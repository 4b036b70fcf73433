"""What runs on Spark's executors: the mapper, the combiner and the reducer of an iteration.

The *mapper* runs a task on a shard: it opens the shard from the corpus directory, takes up what stayed with it after the last
iteration, and leaves what stays after this one in the same work directory. The *combiner* adds up the statistics of a
partition's shards before anything is sent; the *reducer* adds those of two partitions. Sums are exact, so that neither the
order of shards nor a task that runs twice changes a bit: a task writes its files whole, and the same ones each time.
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
"""Folder of the work directory where tasks that fail leave their reasons."""


class Iteration(NamedTuple):
    """Where the locals of an iteration lie: in a folder of its own, so that what the one before left can be read again."""

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
    """A task for every shard.

    task    what to do with a shard; with its locals and the shared state too, if there is one
    state   the broadcast of the shared state
    before  where the locals are taken from
    """

    task: Callable[..., tuple[Locals, Stats]]
    before: Iteration
    state: Any = None

    def __call__(self, shards: Iterable[ShardRef]) -> Iterator[Stats]:
        """Map the shards of a partition, and combine their statistics into one."""
        combined = Accumulator()
        for ref in shards:
            try:
                combined.add(self._map(ref))
            except Exception as error:
                leave_reason(self.before.work_dir, error)
                raise
        if combined.total is not None:
            yield combined.total

    def _map(self, ref: ShardRef) -> Stats:
        shard = opened(self.before.work_dir, ref)
        given = () if self.state is None else (self.before.locals[ref.number], self.state.value)
        new, stats = self.task(shard, *given)
        self.before.next.locals[ref.number] = new
        return stats


def merged(one: Stats, other: Stats) -> Stats:
    """Reduce two totals to one."""
    for total, more in zip(one, other, strict=True):
        total.merge(more)
    return one


_opened: dict[tuple[Path, int], Shard] = {}


def opened(work_dir: Path, ref: ShardRef) -> Shard:
    """Open a shard once in the life of a worker process, which serves many iterations of a run."""
    if (work_dir, ref.number) not in _opened:
        for key in [key for key in _opened if key[0] != work_dir]:
            del _opened[key]  # of another run
        _opened[work_dir, ref.number] = ref.open()
    return _opened[work_dir, ref.number]


def leave_reason(work_dir: Path, error: Exception) -> None:
    """Write what went wrong where the driver finds it: Spark hands on the text of a whole traceback only."""
    folder = work_dir / REASONS
    folder.mkdir(exist_ok=True)
    said = str(error) if isinstance(error, SemascopeError) else f"{type(error).__name__}: {error}"
    (folder / f"{platform.node()}-{os.getpid()}").write_text(f"{said.rstrip('.')}.", encoding="utf-8")


class WorkerContext(NamedTuple):
    """What a worker is like and can see.

    host      name of its machine
    likeness  versions and processor that the bits depend on
    unseen    paths that it should see but does not
    """

    host: str
    likeness: dict[str, str]
    unseen: list[str]


def worker_context(_: Any, paths: list[str]) -> WorkerContext:
    """Tell what a worker is like, and which of these paths it does not see."""
    return WorkerContext(platform.node(), fingerprint(), [path for path in paths if not Path(path).exists()])
