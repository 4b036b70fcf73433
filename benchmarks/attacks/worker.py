"""Processes that cases run in: each survives many of them, and is replaced when one kills it.

`python -m benchmarks.attacks.worker FOLDER` reads cases as JSON lines and answers each with its outcome.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from ctypes.util import find_library
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from benchmarks.attacks.arrays import BOMB
from benchmarks.attacks.cases import Case, mutated
from benchmarks.attacks.outcomes import FOREIGN, HANG, SIGNAL, Attempts, Outcome

SECONDS = 20.0
"""After so long a case hangs."""
FIRST_SECONDS = 900.0
"""The first case of all kinds may have to compile kernels."""
MAX_BYTES = 3 << 30
"""What a worker may take hold of, so that lengths that lie do not fill the memory of the machine."""
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
MEMORY = {
    "ARROW_DEFAULT_MEMORY_POOL": "system", "LD_PRELOAD": find_library("c_malloc_debug") or "", "MALLOC_CHECK_": "3",
    "MALLOC_PERTURB_": "165",
}  # fmt: skip
"""What was written beside an array shows when it is freed, where the GNU C library can look for that; new memory is noise."""
STACK = 1_800
"""Last characters of what a process that died has said."""


def attack(case: Case, folder: Path) -> Outcome:
    """Run a case in this process, in a folder of its own that is removed afterwards."""
    from benchmarks.attacks.use import use

    own = Path(tempfile.mkdtemp(prefix="case-", dir=folder))
    try:
        path = mutated(case, own)
        attempt = Attempts(path, has_twin="analyzer" not in case.mutation)
        use(case, path, attempt)
        gc.collect()  # what was written beside an array is found when that is freed
        if (own / BOMB).exists():
            return Outcome(FOREIGN, "", "a pickle in the directory was run")
        return attempt.outcome()
    finally:
        shutil.rmtree(own, ignore_errors=True)


def serve(folder: Path) -> None:
    """Answer cases until there are no more."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what commands print belongs elsewhere
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_BYTES, MAX_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    gc.freeze()
    for line in sys.stdin:
        outcome = attack(Case(**json.loads(line)), folder)
        answers.write(json.dumps(outcome.to_dict()) + "\n")


class Worker:
    """A process that answers cases, and a new one when it has died."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self._said = folder / f"worker-{id(self)}.txt"
        self._before: list[str] = []

    def ask(self, case: Case, seconds: float = SECONDS) -> Outcome:
        """Run a case; a process that dies or hangs is an outcome, too."""
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(case.to_dict()) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        if not ready:
            return self._hanging(process, seconds)
        line = process.stdout.readline()
        self._before = [*self._before[-4:], case.name]
        if line:
            return Outcome(**json.loads(line))
        return self._died(process)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        self._before = []

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "benchmarks.attacks.worker", str(self._folder)]
        places = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, **THREADS, "PYTHONPATH": os.pathsep.join(reversed(places)), **MEMORY}
        with self._said.open("w") as said:
            streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": said}
            self._process = subprocess.Popen(command, env=environment, text=True, **streams)
        return self._process

    def _hanging(self, process: subprocess.Popen[str], seconds: float) -> Outcome:
        process.send_signal(signal.SIGUSR1)
        select.select([process.stdout], [], [], 1.0)
        outcome = Outcome(HANG, "", f"more than {seconds:g} s: {self._last_words()}")
        self.close()
        return outcome

    def _died(self, process: subprocess.Popen[str]) -> Outcome:
        code = process.wait()
        name = signal.Signals(-code).name if code < 0 else f"exit {code}"
        before = f" | cases before it: {self._before[:-1]}" if len(self._before) > 1 else ""
        outcome = Outcome(SIGNAL, name, self._last_words() + before)
        self.close()
        return outcome

    def _last_words(self) -> str:
        said = self._said.read_text(errors="replace")
        start = max(said.rfind("Fatal Python error"), said.rfind("Current thread"), 0)
        return said[start : start + STACK].strip()


def run_all(cases: Iterable[Case], folder: Path, n_workers: int, seconds: float = SECONDS) -> Iterator[tuple[Case, Outcome]]:
    """Run cases in so many processes, and give each with its outcome as they come.

    A process that dies may have been hurt by a case before, and one that hangs may have waited for a busy machine: such a case
    is run again, in a new process.
    """
    waiting: SimpleQueue[Case] = SimpleQueue()
    done: SimpleQueue[tuple[Case, Outcome] | None] = SimpleQueue()
    for case in cases:
        waiting.put(case)

    def work() -> None:
        worker = Worker(folder)
        try:
            while True:
                case = waiting.get_nowait()
                outcome = worker.ask(case, seconds)
                if outcome.kind in (SIGNAL, HANG):
                    outcome = _again(outcome, worker.ask(case, seconds))
                done.put((case, outcome))
        except Empty:
            pass
        finally:
            worker.close()
            done.put(None)

    threads = [Thread(target=work, daemon=True) for _ in range(n_workers)]
    for thread in threads:
        thread.start()
    for _ in threads:
        while (found := done.get()) is not None:
            yield found


def _again(first: Outcome, second: Outcome) -> Outcome:
    """Return what counts of two runs: one that died counts, and tells those before it if it lives through the second."""
    if first.kind == SIGNAL and second.kind != SIGNAL:
        return replace(first, step=f"{first.step}, not alone")
    return second


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
