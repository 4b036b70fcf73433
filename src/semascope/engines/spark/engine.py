"""Spark engine: executors process shards, and the driver runs the loop.

Only sums and the shared state are sent. Executors open their shards themselves and keep the locals in a shared directory. If
an executor dies, its tasks rerun elsewhere from the files of the previous iteration, to the same bits.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from semascope.corpus.shards import Shard, ShardRef
from semascope.engines.base import LocalProblem, Locals, OneProcess, Stats
from semascope.engines.exact_sums import CountTotal, ScalarTotal
from semascope.engines.fingerprint import fingerprint, fingerprint_difference
from semascope.engines.shard_store import RowMaker, load_locals, rows_in_file, save_locals, spill_folder
from semascope.engines.spark.session import describe_failure, session_for
from semascope.engines.spark.worker import REASONS, Iteration, Work, merge_stats, worker_context
from semascope.errors import InputError, TaskError
from semascope.storage import Directory, Draft, Layout, writing

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

KEPT = 2
"""Iterations whose locals are kept: the last one, and the one that rerun tasks start from."""


@dataclass(frozen=True)
class SparkEngine(OneProcess):
    """Executors of a Spark cluster. Any number of them gives the same bits as one thread.

    The saved corpus and the work directory must be visible to all executors.

    Parameters
    ----------
    master : str, optional
        Spark master: ``spark://host:7077``, ``yarn``, ``k8s://…``, ``local[4]``. By default the active session is used, or a
        new one as Spark is configured, for example by ``spark-submit``.
    work_dir : path, optional
        Directory shared by all executors, for the topics of documents during a fit. By default that of the checkpoints or the
        system's temporary directory, which suffices for executors on one machine.

    Examples
    --------
    An engine only holds settings and connects when a model is fitted:

    >>> from semascope import PLSA
    >>> PLSA(20, engine=SparkEngine("local[2]")).engine
    SparkEngine(master='local[2]', work_dir=None)
    """

    master: str | None = None
    work_dir: str | Path | None = None

    @contextmanager
    def open(self, shards: Sequence[ShardRef], work_dir: Path | None = None) -> Iterator[ConnectedSpark]:
        """Connect to the cluster and check its workers."""
        context = session_for(self.master).sparkContext
        parent = Path(self.work_dir) if self.work_dir else work_dir
        with spill_folder(parent.resolve() if parent else None) as folder:
            session = ConnectedSpark(context, shards, folder)
            session.check_workers()
            yield session


class ConnectedSpark:
    """Shards opened on the executors of a cluster.

    Attributes
    ----------
    bytes_sent : int
        Bytes of shared state broadcast so far.
    bytes_reduced : int
        Bytes of statistics returned by partitions so far.
    """

    def __init__(self, context: Any, shards: Sequence[ShardRef], folder: Path) -> None:
        self._context = context
        self._shards = list(shards)
        self._iteration = Iteration(folder, 0)
        self._n_partitions = max(1, min(len(self._shards), context.defaultParallelism))
        self._broadcasts: list[Any] = []
        self.bytes_sent = 0
        self.bytes_reduced = 0

    def begin(self, task: Callable[[Shard], tuple[Locals, Stats]]) -> Stats:
        return self._run(Work(task, self._iteration))

    def step(self, task: Callable[[Shard, Locals, Any], tuple[Locals, Stats]], state: Any) -> Stats:
        broadcast = self._context.broadcast(state)
        self._broadcasts.append(broadcast)
        self.bytes_sent += _size(state)
        total = self._run(Work(task, self._iteration, broadcast))
        while len(self._broadcasts) > KEPT:
            self._broadcasts.pop(0).destroy()
        return total

    def _run(self, work: Work) -> Stats:
        """Map, combine and reduce; then advance to the locals just written."""
        new = work.before.next
        new.folder.mkdir(exist_ok=True)
        shards = self._context.parallelize(self._shards, self._n_partitions)
        total = self._run_action(lambda: shards.mapPartitions(work).treeReduce(merge_stats))
        self.bytes_reduced += self._n_partitions * sum(_size(part) for part in total)
        self._iteration = new
        shutil.rmtree(new._replace(number=new.number - KEPT).folder, ignore_errors=True)
        return total

    def _run_action(self, action: Callable[[], T]) -> T:
        """Run a Spark action; on failure raise the reason that the worker wrote, or else Spark's own."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        reasons = self._iteration.work_dir / REASONS
        shutil.rmtree(reasons, ignore_errors=True)  # of tasks that succeeded on a later attempt
        try:
            return action()
        except (Py4JError, PySparkException) as error:
            reports = sorted(reasons.glob("*"), key=lambda path: path.stat().st_mtime)
            reason = reports[-1].read_text(encoding="utf-8") if reports else ""
            summary = f"a task failed on every attempt: {reason}" if reports else describe_failure(str(error))
            msg = f"{summary} See the log of Spark application {self._context.applicationId}."
            raise TaskError(msg) from error

    def check_workers(self) -> None:
        """Check that workers match the driver and see the corpus and the work directory."""
        self._iteration.folder.mkdir(exist_ok=True)
        self.check_workers_see([str(self._iteration.folder), *{str(ref.path) for ref in self._shards if hasattr(ref, "path")}])

    def check_workers_see(self, paths: list[str]) -> None:
        """Check that workers match the driver and see these paths."""
        many = range(4 * self._context.defaultParallelism)  # enough tasks to reach every executor
        inspect = partial(worker_context, paths=paths)
        contexts = self._run_action(lambda: self._context.parallelize(many, len(many)).map(inspect).collect())
        for worker in contexts:
            if worker.unseen:
                msg = (
                    f"the worker on {worker.host} does not see {worker.unseen[0]}: corpus and work directory must be "
                    "visible to all executors; pass SparkEngine a shared work_dir (--work-dir on the command line)."
                )
                raise InputError(msg)
        workers = [(f"the worker on {worker.host}", worker.fingerprint) for worker in contexts]
        difference = fingerprint_difference([("the driver", fingerprint()), *workers])
        if difference:
            raise InputError(difference)

    def documents(self, rows: RowMaker) -> NDArray[Any]:
        return rows_in_file(self._iteration.work_dir / "all-rows.npy", self._shards, self._iteration.locals, rows)

    def save(self, target: Path, layout: Layout, fill: Callable[[Draft], None]) -> None:
        with writing(target, layout) as draft:
            fill(draft)
            save_locals(draft, self._shards, self._iteration.locals)

    def load_locals(self, directory: Directory, problem: LocalProblem) -> None:
        self._iteration.folder.mkdir(exist_ok=True)
        load_locals(directory, self._shards, self._iteration.locals, problem)

    def broadcast(self, value: T) -> T:
        return value


def _size(parts: Any) -> int:
    """Return the size in bytes of the arrays and numbers in a named tuple or a total."""
    if isinstance(parts, CountTotal):
        return int(parts.table.nbytes)
    if isinstance(parts, ScalarTotal):
        return sum(8 * len(numbers) for numbers in parts.parts)
    if isinstance(parts, np.ndarray):
        return int(parts.nbytes)
    return sum(_size(part) for part in parts) if isinstance(parts, tuple) else 8
