"""How things are measured: interleaved times, memory of a fresh process, and tables with ratios first."""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import multiprocessing
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import psutil
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from benchmarks import facts

RESULTS = Path(__file__).parent / "results"
SAMPLE_SECONDS = 0.002
DISTURBED = 0.2
"""Cores that others may use before a time is no evidence."""

console = Console()


# --- time ------------------------------------------------------------------------------------------------------------------


class Seconds(NamedTuple):
    """Time on the clock, and time of this process on all cores, which other people's work disturbs less."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Measurement:
    """Seconds of each run."""

    seconds: list[float]
    cpu_seconds: list[float]

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def min(self) -> float:
        return min(self.seconds)

    def to_dict(self) -> dict[str, Any]:
        return {
            "median": self.median,
            "min": self.min,
            "cpu_median": median(self.cpu_seconds),
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
        }


@dataclass(frozen=True)
class Comparison:
    """Competitors measured in turn, so that what disturbs the machine disturbs all of them.

    `others` is how many cores other processes kept busy meanwhile: times are worth little unless it is near zero.
    """

    of: dict[str, Measurement]
    others: float

    def ratio(self, slow: str, fast: str) -> float:
        """How many times longer `slow` takes: ratio of medians."""
        return self.of[slow].median / self.of[fast].median

    def cpu_ratio(self, slow: str, fast: str) -> float:
        """How many times more processor time `slow` takes."""
        return median(self.of[slow].cpu_seconds) / median(self.of[fast].cpu_seconds)

    def spread(self, slow: str, fast: str) -> tuple[float, float]:
        """Least and largest ratio of two runs side by side."""
        ratios = [a / b for a, b in zip(self.of[slow].seconds, self.of[fast].seconds, strict=True)]
        return min(ratios), max(ratios)

    def to_dict(self) -> dict[str, Any]:
        return {"others": self.others, **{name: measurement.to_dict() for name, measurement in self.of.items()}}


def elapsed(function: Callable[[], Any]) -> Seconds:
    """Seconds that a call takes."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    function()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu)


@dataclass(frozen=True)
class Iterations:
    """A fit that takes its number of iterations; the difference of two numbers leaves start-up out."""

    fit: Callable[[int], Any]
    few: int
    many: int


def per_iteration(work: Iterations) -> Seconds:
    """Seconds of one iteration."""
    long, short = elapsed(lambda: work.fit(work.many)), elapsed(lambda: work.fit(work.few))
    more = work.many - work.few
    return Seconds((long.wall - short.wall) / more, (long.cpu - short.cpu) / more)


Clock = Callable[[Any], Seconds]


def measure(function: Any, *, warm_up: int = 1, repeats: int = 5, clock: Clock = elapsed) -> Measurement:
    """Time a function; the runs to warm up do not count."""
    return compare({"": function}, warm_up=warm_up, repeats=repeats, clock=clock).of[""]


def compare(competitors: Mapping[str, Any], *, warm_up: int = 1, repeats: int = 5, clock: Clock = elapsed) -> Comparison:
    """Time several functions in turn, every other round in reverse."""
    for function in competitors.values():
        for _ in range(warm_up):
            clock(function)
    seconds: dict[str, list[Seconds]] = {name: [] for name in competitors}
    others = OthersWork()
    for number in range(repeats):
        for name in competitors if number % 2 == 0 else reversed(competitors):
            seconds[name].append(clock(competitors[name]))
    busy = others.cores()
    return Comparison({name: Measurement(*map(list, zip(*runs, strict=True))) for name, runs in seconds.items()}, busy)


class OthersWork:
    """How many cores other people's processes keep busy meanwhile: times are worth little unless it is near zero.

    Processes that this one started are its own, and so are theirs; what a hypervisor took away is others' work.
    """

    def __init__(self) -> None:
        self._before = self._now()

    def cores(self) -> float:
        clock, busy, own = (now - before for now, before in zip(self._now(), self._before, strict=True))
        return max(0.0, (busy - own) / clock)

    @staticmethod
    def _now() -> tuple[float, float, float]:
        times, me = psutil.cpu_times(), psutil.Process()
        busy = sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0)
        return time.perf_counter(), busy, sum(map(_cpu_seconds, [me, *me.children(recursive=True)]))


def _cpu_seconds(process: psutil.Process) -> float:
    """What a process and those of its children that have ended took."""
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)


@contextmanager
def cores(n: int) -> Iterator[None]:
    """Let this process use only so many cores, where the system can be told; other people's thread pools too."""
    if not hasattr(os, "sched_setaffinity"):
        with threadpool_limits(n):
            yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:n])
    try:
        with threadpool_limits(n):
            yield
    finally:
        os.sched_setaffinity(0, before)


# --- memory ----------------------------------------------------------------------------------------------------------------


def peak_memory(prepare: Callable[[], Any], work: Callable[[Any], Any]) -> int:
    """Most bytes that ``work(prepare())`` holds at once beyond what is held when `work` begins, in a fresh process.

    Both are functions of a module: the process is spawned. `prepare` should warm up whatever compiles itself.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_watch_memory, args=(prepare, work, theirs))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        raise RuntimeError("the process whose memory is measured has failed; see above") from None
    finally:
        process.join()


def _watch_memory(prepare: Callable[[], Any], work: Callable[[Any], Any], result: Any) -> None:
    prepared = prepare()
    _give_back_freed_memory()
    baseline = peak = held_bytes()
    done = threading.Event()

    def sample() -> None:
        nonlocal peak
        while not done.wait(SAMPLE_SECONDS):
            peak = max(peak, held_bytes())

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        work(prepared)
    finally:
        done.set()
        sampler.join()
    result.send(peak - baseline)


def held_bytes() -> int:
    """Memory of this process that no file backs; all resident memory where the system does not tell."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return psutil.Process().memory_info().rss


def _give_back_freed_memory() -> None:
    """Make the C library return what is freed, or the work could use it again unseen."""
    gc.collect()
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


# --- goals, tables, files --------------------------------------------------------------------------------------------------


def goal(
    what: str, value: float, *, at_least: float | None = None, at_most: float | None = None, others: float = 0.0
) -> dict[str, Any]:
    """A number next to what was promised. A time taken while others kept cores busy neither meets nor fails it."""
    met = (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
    verdict = "disturbed" if others > DISTURBED else "yes" if met else "NO"
    return {"what": what, "value": value, "at_least": at_least, "at_most": at_most, "others": others, "met": verdict}


def show_goals(goals: Sequence[dict[str, Any]]) -> None:
    """Print what was promised and what came of it."""
    rows = []
    for g in goals:
        bounds = [f"{sign} {g[key]:g}" for sign, key in (("≥", "at_least"), ("≤", "at_most")) if g[key] is not None]
        rows.append((g["what"], f"{g['value']:.2f}", " ".join(bounds), g["met"]))
    show("Goals", ("ratio", "value", "target", "met"), rows)
    if any(g["met"] == "disturbed" for g in goals):
        console.print(f"disturbed: other processes used more than {DISTURBED} cores, so the time tells nothing. Run it again.")


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table; numbers to the right."""
    table = Table(title=title, title_justify="left")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, str) else f"{cell:,}" for cell in row))
    console.print(table)


def write(name: str, record: Mapping[str, Any]) -> Path:
    """Write what came of a benchmark, with the facts of the machine, to results/NAME.json."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    known = {"name": name, "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M}", "revision": facts.revision()}
    path.write_text(json.dumps({**known, "machine": facts.machine(), "peers": facts.peers(), **record}, indent=2) + "\n")
    return path


def run_and_show(name: str, run: Callable[[bool], dict[str, Any]], show_result: Callable[[dict], None], quick: bool) -> None:
    """Run one benchmark, print its tables and keep its numbers."""
    console.rule(name)
    before, others, began = facts.sources(), OthersWork(), time.perf_counter()
    result = run(quick)
    took = {"seconds": time.perf_counter() - began, "others": others.cores()}
    changed = facts.sources() != before
    show_result(result)
    if changed:
        console.print("The sources changed meanwhile: these numbers mix two versions. Run it again.")
    belongs = {"quick": quick, "sources": before, "sources_changed": changed}
    console.print(f"sources {before}, written to {write(name, {**took, 'result': {**belongs, **result}})}")


def alone(name: str, run: Callable[[bool], dict[str, Any]], show_result: Callable[[dict], None]) -> None:
    """Run one benchmark by itself: `python -m benchmarks.NAME [--quick]`."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, smaller collections")
    run_and_show(name, run, show_result, parser.parse_args().quick)
