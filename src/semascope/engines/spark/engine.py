"""Spark: what MapReduce has become. Executors work on shards, and the driver runs the loop.

Nothing but sums and the shared state travels: shards are opened where they are worked on, and what stays with them lies in a
directory that all executors see. An executor that dies takes nothing along: its tasks run again elsewhere, from the files of
the iteration before, to the same bits.
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
from semascope.engines.spark.session import sentence_of, session_for
from semascope.engines.spark.worker import REASONS, Iteration, Work, merged, worker_context
from semascope.errors import InputError, TaskError
from semascope.storage import Directory, Draft, Layout, writing

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

KEPT = 2
"""Iterations whose locals are kept: the last one, and the one that a task which runs again starts from."""


@dataclass(frozen=True)
class SparkEngine(OneProcess):
    """Executors of a Spark cluster. Any number of them gives the same bits as one thread.

    The corpus must be saved where all executors see it, and so must the work directory be.

    Parameters
    ----------
    master : str, optional
        Where Spark runs: ``spark://host:7077``, ``yarn``, ``k8s://…``, ``local[4]``. By default the active session is used, or
        one is started as Spark is configured, by ``spark-submit`` for example.
    work_dir : path, optional
        A directory that all executors see, for the topics of documents while a fit runs. By default the one where checkpoints
        lie, or the system's for temporary files, which serves executors on one machine.

    Examples
    --------
    It is settings only, and connects when a model is fitted:

    >>> from semascope import PLSA
    >>> PLSA(20, engine=SparkEngine("local[2]")).engine
    SparkEngine(master='local[2]', work_dir=None)
    """

    master: str | None = None
    work_dir: str | Path | None = None

    @contextmanager
    def open(self, shards: Sequence[ShardRef], work_dir: Path | None = None) -> Iterator[ConnectedSpark]:
        """Connect to the cluster, and see that its workers can do the work."""
        context = session_for(self.master).sparkContext
        parent = Path(self.work_dir) if self.work_dir else work_dir
        with spill_folder(parent.resolve() if parent else None) as folder:
            placed = ConnectedSpark(context, shards, folder)
            placed.check_workers()
            yield placed


class ConnectedSpark:
    """Shards placed on the executors of a cluster.

    Attributes
    ----------
    bytes_sent : int
        Bytes of shared state sent to executors so far, once for each broadcast.
    bytes_reduced : int
        Bytes of statistics that partitions sent back so far.
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
        """Map, combine and reduce; then what the work left is what stays with the shards."""
        new = work.before.next
        new.folder.mkdir(exist_ok=True)
        shards = self._context.parallelize(self._shards, self._n_partitions)
        total = self._in_a_sentence(lambda: shards.mapPartitions(work).treeReduce(merged))
        self.bytes_reduced += self._n_partitions * sum(_size(part) for part in total)
        self._iteration = new
        shutil.rmtree(new._replace(number=new.number - KEPT).folder, ignore_errors=True)
        return total

    def _in_a_sentence(self, action: Callable[[], T]) -> T:
        """Run an action of Spark's; when it fails, say why: in the words of the worker, if it left any."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        reasons = self._iteration.work_dir / REASONS
        shutil.rmtree(reasons, ignore_errors=True)  # of tasks that succeeded when they ran again
        try:
            return action()
        except (Py4JError, PySparkException) as error:
            left = sorted(reasons.glob("*"), key=lambda path: path.stat().st_mtime)
            reason = left[-1].read_text(encoding="utf-8") if left else ""
            said = f"a task failed again and again: {reason}" if left else sentence_of(str(error))
            msg = f"{said} The log of Spark's application {self._context.applicationId} tells more."
            raise TaskError(msg) from error

    def check_workers(self) -> None:
        """See that workers are like the driver, and that they see the corpus and the work directory."""
        self._iteration.folder.mkdir(exist_ok=True)
        self.check_workers_see([str(self._iteration.folder), *{str(ref.path) for ref in self._shards if hasattr(ref, "path")}])

    def check_workers_see(self, paths: list[str]) -> None:
        """See that workers are like the driver, and that these paths are there for them."""
        many = range(4 * self._context.defaultParallelism)  # so that no executor is left out
        look = partial(worker_context, paths=paths)
        found = self._in_a_sentence(lambda: self._context.parallelize(many, len(many)).map(look).collect())
        for outlook in found:
            if outlook.unseen:
                msg = (
                    f"the worker on {outlook.host} does not see {outlook.unseen[0]}: corpus and work directory must lie where "
                    "all executors see them; give SparkEngine a work_dir there (--work-dir on the command line)."
                )
                raise InputError(msg)
        workers = [(f"the worker on {outlook.host}", outlook.likeness) for outlook in found]
        unlike = fingerprint_difference([("the driver", fingerprint()), *workers])
        if unlike:
            raise InputError(unlike)

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
    """Bytes of the arrays and numbers in a named tuple or a total."""
    if isinstance(parts, CountTotal):
        return int(parts.table.nbytes)
    if isinstance(parts, ScalarTotal):
        return sum(8 * len(numbers) for numbers in parts.parts)
    if isinstance(parts, np.ndarray):
        return int(parts.nbytes)
    return sum(_size(part) for part in parts) if isinstance(parts, tuple) else 8
