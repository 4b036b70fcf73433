"""One process or MPI rank of `plsa_systems` and `scaling`: fits what it is asked to fit, and says what it took.

``[mpirun -n RANKS] python -m benchmarks.plsa_systems_worker ORDER.json ANSWER.json``; rank 0 writes the answer. It is a process
of its own because MPI needs ranks, and because memory is measured best in a fresh process.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import json
import platform
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data, harness, plsa_by_topics
from semascope import Corpus, MPIEngine, ThreadEngine
from semascope.corpus.shards import ShardRef, shard_of
from semascope.engines.mpi import world
from semascope.training.cvb0 import CVB0
from semascope.training.loop import run
from semascope.training.plsa import EM
from semascope.training.plsa_textbook import TextbookEM
from semascope.training.stopping import StopRule

ALGORITHMS = {"textbook": TextbookEM, "fused": EM, "cvb0": CVB0}
SEED = 0


class Watch:
    """Notes the clock, the bytes exchanged and, when asked, the memory after every iteration."""

    def __init__(self, memory: PeakMemory | None) -> None:
        self.clock: list[float] = []
        self.bytes: list[int] = []
        self.peak_iterating = 0
        self._memory = memory

    def note(self, placed: Any) -> None:
        self.clock.append(time.perf_counter())
        self.bytes.append(getattr(placed, "bytes_reduced", 0))
        self.peak_iterating = self._memory.peak if self._memory else 0


class PeakMemory:
    """Most memory that no file backs, beyond what was held at the beginning."""

    def __init__(self) -> None:
        self.peak = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        _give_back_freed_memory()
        start, done = harness.held_bytes(), threading.Event()

        def sample() -> None:
            while not done.wait(harness.SAMPLE_SECONDS):
                self.peak = max(self.peak, harness.held_bytes() - start)

        sampler = threading.Thread(target=sample)
        sampler.start()
        try:
            yield
        finally:
            done.set()
            sampler.join()


def _give_back_freed_memory() -> None:
    """Make the C library return what is freed, or the fit could use it again unseen."""
    gc.collect()
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


# --- fits ------------------------------------------------------------------------------------------------------------------


@dataclass
class Engine:
    """An engine whose placed shards can be asked for the bytes they exchanged."""

    inner: Any
    placed: Any = None

    @contextmanager
    def open(self, shards: Sequence[ShardRef], work_dir: Path | None = None) -> Iterator[Any]:
        with self.inner.open(shards, work_dir) as self.placed:
            yield self.placed


@dataclass(frozen=True)
class Model:
    """What a fit gives, in whichever way it was divided."""

    topics: Any
    documents: Any
    log_likelihood: list[float]

    def digest(self) -> str:
        """A hash of all its bits."""
        parts = (np.ascontiguousarray(self.topics), np.ascontiguousarray(self.documents), np.array(self.log_likelihood))
        return hashlib.blake2b(b"".join(hashlib.blake2b(part).digest() for part in parts), digest_size=16).hexdigest()


def fit(system: dict[str, Any], corpus: Corpus, topics: int, iterations: int, watch: Watch) -> Model:
    """Fit as the system says."""
    if system["algorithm"] == "by topics":
        fitted = plsa_by_topics.fit(world(), corpus, topics, iterations, seed=SEED, watch=watch.note)
        return Model(fitted.components, fitted.doc_topics, fitted.log_likelihood)
    kind = ALGORITHMS[system["algorithm"]]
    algorithm = kind(topics, corpus.n_documents, corpus.n_words, corpus.n_tokens, SEED)
    engine = Engine(MPIEngine(system["threads"]) if system["mpi"] else ThreadEngine(system["threads"]))
    shards = [_one_shard(corpus)] if system.get("one_shard") else corpus.shards()
    done = run(algorithm, shards, engine, stop=StopRule(iterations, 0), watch=lambda info: watch.note(engine.placed))
    return Model(done.state.topics.T, done.documents, done.history)


def _one_shard(corpus: Corpus) -> ShardRef:
    """All documents in one piece, as the papers have it. It starts elsewhere than the same corpus in several pieces."""
    return shard_of(corpus.rows, 0, 0, corpus.n_documents, corpus.n_words)


def warm_up(system: dict[str, Any]) -> None:
    """Have everything compiled and connected."""
    small = Corpus.from_matrix(data.ap89_like(n_documents=200, n_words=500, n_tokens=20_000))
    fit(system, small, 8, 2, Watch(None))


# --- what can be ordered -----------------------------------------------------------------------------------------------------


def timed(system: dict[str, Any], work: dict[str, Any], comm: Any) -> dict[str, Any]:
    """Seconds and bytes of each iteration but the first, and the model's hash."""
    watch, corpus = Watch(None), Corpus.open(work["corpus"])
    gc.collect()
    model = fit(system, corpus, work["topics"], work["iterations"], watch)
    return {
        "seconds": np.diff(watch.clock).tolist(),
        "bytes": sorted({int(more) for more in np.diff(watch.bytes)}),
        "log_likelihood": model.log_likelihood,
        "digest": model.digest(),
    }


def memory(system: dict[str, Any], work: dict[str, Any], comm: Any) -> dict[str, Any]:
    """Peak memory of each rank, up to the last iteration and of the whole fit."""
    used = PeakMemory()
    watch = Watch(used)
    with used.watching():
        fit(system, Corpus.open(work["corpus"]), work["topics"], work["iterations"], watch)
    mine = {"iterating": watch.peak_iterating, "whole": used.peak}
    return {"ranks": comm.allgather(mine) if comm else [mine]}


def allreduce(system: dict[str, Any], work: dict[str, Any], comm: Any) -> dict[str, Any]:
    """Seconds of adding a table of 64-bit integers over the ranks, with nothing else going on."""
    from mpi4py import MPI

    table, seconds = np.ones((work["rows"], work["columns"]), np.int64), []
    for _ in range(work["times"]):
        comm.Barrier()
        began = time.perf_counter()
        comm.Allreduce(MPI.IN_PLACE, table, op=MPI.SUM)
        seconds.append(time.perf_counter() - began)
    return {"seconds": seconds[1:]}


def same_model(system: dict[str, Any], work: dict[str, Any], comm: Any) -> dict[str, Any]:
    """How far the division by topics is from semascope."""
    return plsa_by_topics.check(comm, Corpus.open(work["corpus"]), work["topics"], work["iterations"], SEED)


WHAT: dict[str, Callable[[dict[str, Any], dict[str, Any], Any], dict[str, Any]]] = {
    "time": timed,
    "memory": memory,
    "allreduce": allreduce,
    "same model": same_model,
}


def main() -> None:
    order, answer = (Path(argument) for argument in sys.argv[1:])
    wanted = json.loads(order.read_text())
    system = wanted["system"]
    comm = world() if system["mpi"] else None
    warm_up(system)
    answers = [WHAT[wanted["what"]](system, work, comm) for work in wanted["works"]]
    if comm is None or comm.rank == 0:
        answer.write_text(json.dumps(answers))


if __name__ == "__main__":
    main()
