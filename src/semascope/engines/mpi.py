"""MPI engine: each rank runs its own shards on threads; exact statistics are summed by Allreduce."""

from __future__ import annotations

import atexit
import os
import pickle
import shutil
import signal
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from semascope.corpus.shards import Shard, ShardRef
from semascope.engines.base import LocalProblem, Locals, Stats
from semascope.engines.exact_sums import CountTotal
from semascope.engines.fingerprint import fingerprint, fingerprint_difference
from semascope.engines.shard_store import RowMaker, new_row_file
from semascope.engines.threads import ThreadSession
from semascope.errors import InputError, MissingExtraError
from semascope.resources import usable_cores
from semascope.storage import Directory, Draft, Layout, writing

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

MAX_REDUCE_LENGTH = 1 << 28
"""Maximum length of one Allreduce, as MPI counts in 32 bits."""

ABORT_MESSAGE = (
    b"semascope: the run was aborted: a rank died, or mpirun was terminated. Resume from the last checkpoint with --resume.\n"
)


@dataclass(frozen=True)
class MPIEngine:
    """MPI ranks, started with ``mpirun``. Any number of ranks and threads gives the same bits as one thread.

    Every rank runs the same program and ends with the same model. Only rank 0 writes files. Without ``mpirun`` there is one
    rank.

    Parameters
    ----------
    threads_per_rank : int, optional
        Number of threads. By default the ranks on a machine share its cores.
    work_dir : path, optional
        Directory shared by all ranks, for the topics of documents. By default that of the checkpoints or the system's
        temporary directory, which suffices for ranks on one machine.
    spill : bool, default=False
        Keep per-document arrays in files there and close shards between iterations: slower, but memory does not grow with
        the corpus.

    Examples
    --------
    An engine only holds settings and connects when a model is fitted:

    >>> from semascope import PLSA
    >>> PLSA(20, engine=MPIEngine(threads_per_rank=4)).engine
    MPIEngine(threads_per_rank=4, work_dir=None, spill=False)
    """

    threads_per_rank: int | None = None
    work_dir: str | Path | None = None
    spill: bool = False

    @property
    def is_root(self) -> bool:
        """Whether this is rank 0."""
        return bool(world().rank == 0)

    @property
    def n_ranks(self) -> int:
        """Number of ranks."""
        return int(world().size)

    def run_on_all(self, action: Callable[[], T]) -> T:
        """Run an action on every rank; an error on one is raised on all."""
        return allgather_errors(world(), action)

    def run_on_root(self, action: Callable[[], None]) -> None:
        """Run an action on rank 0; the others wait for it and raise its errors."""
        self.run_on_all(action if self.is_root else lambda: None)

    @contextmanager
    def open(self, shards: Sequence[ShardRef], work_dir: Path | None = None) -> Iterator[MPISession]:
        """Open this rank's shards and start its threads."""
        comm = world()
        difference = fingerprint_difference([(f"rank {rank}", one) for rank, one in enumerate(comm.allgather(fingerprint()))])
        if difference:
            error = InputError(difference)
            error.on_all_ranks = True  # type: ignore[attr-defined]
            raise error
        first, last = (-(-rank * len(shards) // comm.size) for rank in (comm.rank, comm.rank + 1))  # rank 0 always has one
        mine = shards[first:last]
        n_ranks_on_machine()  # a collective call, cached while all ranks take part
        n_threads = self.threads_per_rank or default_threads()
        with (
            ThreadPoolExecutor(n_threads, thread_name_prefix="semascope") as pool,
            abort_on_error(comm),
            shared_directory(comm, self.work_dir or work_dir) as directory,
        ):
            threads = allgather_errors(comm, lambda: ThreadSession(pool, mine, directory if self.spill else None))
            yield MPISession(comm, threads, shards, directory)


class MPISession:
    """Shards opened on the ranks of a communicator.

    Attributes
    ----------
    bytes_reduced : int
        Bytes of statistics reduced across ranks so far: the tables, and the scalars of every shard.
    """

    def __init__(self, comm: Any, threads: ThreadSession, shards: Sequence[ShardRef], directory: Path) -> None:
        self._comm = comm
        self._threads = threads
        self._n_documents = sum(shard.n_documents for shard in shards)
        self._directory = directory
        self.bytes_reduced = 0

    def begin(self, task: Callable[[Shard], tuple[Locals, Stats]]) -> Stats:
        return self._reduce(allgather_errors(self._comm, lambda: self._threads.begin(task)))

    def step(self, task: Callable[[Shard, Locals, Any], tuple[Locals, Stats]], state: Any) -> Stats:
        return self._reduce(allgather_errors(self._comm, lambda: self._threads.step(task, state)))

    def _reduce(self, total: Stats) -> Stats:
        """Add the totals of all ranks; tables in place, so that no rank holds a second copy."""
        if self._comm.allreduce(total is None):  # more ranks than shards
            total = self._empty_like_first(total)
        for part in total:
            if isinstance(part, CountTotal):
                self._reduce_table(part.table)
            else:
                part.parts = [numbers for parts in self._comm.allgather(part.parts) for numbers in parts]
                self.bytes_reduced += 8 * sum(map(len, part.parts))
        return total

    def _reduce_table(self, table: NDArray[np.int64]) -> None:
        from mpi4py import MPI

        flat = table.reshape(-1)
        for start in range(0, len(flat), MAX_REDUCE_LENGTH):
            self._comm.Allreduce(MPI.IN_PLACE, flat[start : start + MAX_REDUCE_LENGTH], op=MPI.SUM)
        self.bytes_reduced += flat.nbytes

    def _empty_like_first(self, total: Stats) -> Stats:
        first = None if total is None else type(total)(*(part.empty_like() for part in total))
        first = self._comm.bcast(first, root=0)
        return first if total is None else total

    def documents(self, rows: RowMaker) -> NDArray[Any]:
        """Write the rows of every rank to one file and memory-map it: no rank holds or sends them all."""
        path = self._directory / f"rows-{uuid.uuid4().hex}.npy"
        path = self._comm.bcast(path, root=0)
        first = self._comm.bcast(self._threads.rows_of_first_shard(rows)[:1] if self._comm.rank == 0 else None, root=0)
        is_root = self._comm.rank == 0
        allgather_errors(self._comm, lambda: new_row_file(path, first, self._n_documents) if is_root else None)
        allgather_errors(self._comm, lambda: self._threads.write_rows(path, rows))
        return allgather_errors(self._comm, lambda: np.asarray(np.load(path, mmap_mode="r")))

    def save(self, target: Path, layout: Layout, fill: Callable[[Draft], None]) -> None:
        """Write the manifest on rank 0 and the locals of each rank's shards on that rank."""
        is_root = self._comm.rank == 0
        with ExitStack() as stack:
            draft = allgather_errors(self._comm, lambda: stack.enter_context(writing(target, layout)) if is_root else None)
            folder = self._comm.bcast(draft.folder if draft else None, root=0)
            draft = draft or Draft(folder, layout)
            allgather_errors(self._comm, lambda: fill(draft) if is_root else None)
            allgather_errors(self._comm, lambda: self._threads.save_locals(draft))
            allgather_errors(self._comm, stack.close)  # on rank 0 this syncs, and switches to the new manifest

    def load_locals(self, directory: Directory, problem: LocalProblem) -> None:
        allgather_errors(self._comm, lambda: self._threads.load_locals(directory, problem))

    def broadcast(self, value: T) -> T:
        agreed: T = self._comm.bcast(value, root=0)
        return agreed


@cache
def world() -> Any:
    """Return the communicator of all ranks; the first call starts MPI."""
    try:
        from mpi4py import MPI
    except ImportError as error:
        msg = f"the MPI engine needs mpi4py and an MPI library ({error}): pip install 'semascope[mpi]'"
        raise MissingExtraError(msg) from None
    return MPI.COMM_WORLD


@cache
def n_ranks_on_machine() -> int:
    """Return the number of ranks on this machine."""
    from mpi4py import MPI

    return int(world().Split_type(MPI.COMM_TYPE_SHARED).size)


def default_threads() -> int:
    """Return the cores this rank is bound to, or its fraction of the machine's if it is not bound."""
    cores = usable_cores()
    return cores if cores < (os.cpu_count() or 1) else max(1, cores // n_ranks_on_machine())


def allgather_errors(comm: Any, action: Callable[[], T]) -> T:
    """Run an action on every rank; an error on one is raised on all, so that no rank waits forever."""
    problem: Exception | None = None
    try:
        result = action()
    except Exception as error:
        problem = error
    problems = comm.allgather(_pickle_error(problem))
    if not any(problems):
        return result
    rank = next(rank for rank, pickled in enumerate(problems) if pickled)
    shared = pickle.loads(problems[rank])
    if rank > 0:  # rank 0 acts for all, so its errors need no rank
        shared = type(shared)(f"rank {rank}: {shared}")
    shared.on_all_ranks = True
    raise shared from problem


def _pickle_error(problem: Exception | None) -> bytes | None:
    if problem is None:
        return None
    try:
        kept = type(problem)(str(problem))
        return pickle.dumps(kept)
    except Exception:
        return pickle.dumps(RuntimeError(f"{type(problem).__name__}: {problem}"))


@contextmanager
def shared_directory(comm: Any, parent: str | Path | None) -> Iterator[Path]:
    """Create a temporary directory that all ranks see.

    On one machine, mapped files stay readable after it is removed; for ranks on several it is kept until exit.
    """
    is_root = comm.rank == 0

    def create() -> str:
        home = Path(parent or tempfile.gettempdir())
        home.mkdir(parents=True, exist_ok=True)
        return tempfile.mkdtemp(prefix=".semascope-", dir=home)

    path = Path(comm.bcast(allgather_errors(comm, lambda: create() if is_root else None), root=0))

    def check() -> None:
        if not path.is_dir():
            msg = f"cannot see {path}, created by rank 0: pass MPIEngine a work_dir that all ranks see."
            raise InputError(msg)

    try:
        allgather_errors(comm, check)
        yield path
    finally:
        if is_root and n_ranks_on_machine() == comm.size:
            shutil.rmtree(path, ignore_errors=True)
        elif is_root:
            atexit.register(shutil.rmtree, path, ignore_errors=True)


@contextmanager
def abort_on_error(comm: Any) -> Iterator[None]:
    """Print on rank 0 what happened when mpirun ends the ranks with SIGTERM because one died.

    Rank 0 may be waiting inside MPI, where Python runs no signal handlers. But the signal number is written to a pipe at
    once, and a thread that reads the pipe can print.
    """
    if comm.size == 1 or comm.rank != 0 or threading.current_thread() is not threading.main_thread():
        yield
        return
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)

    def listen() -> None:
        while number := os.read(read_end, 1):
            if number[0] == signal.SIGTERM:
                os.write(2, ABORT_MESSAGE)
                os._exit(128 + signal.SIGTERM)

    listener = threading.Thread(target=listen, name="semascope-last-words", daemon=True)
    listener.start()
    old_handler = signal.signal(signal.SIGTERM, lambda number, frame: None)
    old_pipe = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(old_pipe)
        signal.signal(signal.SIGTERM, old_handler)
        os.close(write_end)  # ends the listener
        listener.join()
        os.close(read_end)
