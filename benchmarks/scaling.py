"""How does the time of a sweep of LDA grow with documents, words and topics, and what do threads and MPI ranks bring?

Counts are made (`data.ap89_like`), 150 words a document, so that one size can change while the others stay: 100 topics, 8,000
documents and 10,000 words but where they are what changes. semascope (CVB0), tomotopy (Gibbs sampling) and scikit-learn (batch
variational Bayes), two threads each but where threads are what changes, in fresh processes, which take turns. Seconds are those
of one sweep over all documents, start-up left out, medians over repeats; power is the slope of a line through the logarithms of
sizes and seconds. A sweep is not worth the same in all: how soon each is how good is told by `lda`. Ranks are MPI processes of
one thread each, semascope alone, since the others have none.

Takes about fifteen minutes on two cores; with --quick, smaller and fewer sizes and one repeat, about one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import scipy.sparse as sp

from benchmarks import data, environments, harness, scaling_figure
from benchmarks.claims import Claim
from benchmarks.lda import work
from benchmarks.lda_scaling import slope
from benchmarks.lda_worker import THREADS
from benchmarks.plsa_systems import System, ask
from semascope import Corpus

OURS, RANKS = "semascope", "semascope, ranks"
PEERS = {"tomotopy": (2, 12), "sklearn batch": (1, 3)}
"""Each with the sweeps whose difference is timed."""
PACKAGES = {"tomotopy": "tomotopy", "sklearn batch": "scikit-learn"}
SWEEPS = 12
WORDS_OF_A_DOCUMENT = 150
FULL = {
    "documents": (2_000, 4_000, 8_000, 16_000, 32_000),
    "words": (2_500, 5_000, 10_000, 20_000, 40_000),
    "topics": (25, 50, 100, 200, 400),
}
QUICK = {"documents": (1_000, 4_000), "words": (2_500, 10_000), "topics": (25, 100)}


@dataclass(frozen=True)
class Size:
    """What is fitted."""

    documents: int
    words: int
    topics: int

    def counts(self) -> sp.csr_array:
        return data.ap89_like(self.documents, self.words, WORDS_OF_A_DOCUMENT * self.documents)


class Case(NamedTuple):
    """A system with so many threads or ranks at one size."""

    system: str
    workers: int
    size: Size


def run(quick: bool) -> dict[str, Any]:
    """Time sweeps along all axes."""
    axes, base, repeats = (QUICK, Size(1_000, 2_500, 25), 1) if quick else (FULL, Size(8_000, 10_000, 100), 2)
    along = {axis: {str(n): replace(base, **{axis: n}) for n in numbers} for axis, numbers in axes.items()}
    sizes = list(dict.fromkeys(size for of_axis in along.values() for size in of_axis.values()))
    with tempfile.TemporaryDirectory(prefix="semascope-scaling-") as home, harness.cores(THREADS):
        bench = Bench(Path(home))
        others = harness.OthersWork()
        found = bench.seconds(bench.processes(sizes, base), repeats)
    workers = {str(n): n for n in range(1, THREADS + 1)}
    systems = (OURS, *PEERS)
    result = {
        "base": vars(base),
        "repeats": repeats,
        "others": others.cores(),
        "axes": {
            axis: {name: {n: found[Case(name, THREADS, size)] for n, size in of_axis.items()} for name in systems}
            for axis, of_axis in along.items()
        },
        "threads": {name: {said: found[Case(name, n, base)] for said, n in workers.items()} for name in systems},
        "ranks": {OURS: {said: found[Case(RANKS, n, base)] for said, n in workers.items()}},
    }
    return {**result, "figure": scaling_figure.draw(result, harness.RESULTS / "scaling.png")}


@dataclass(frozen=True)
class Bench:
    """Fits in fresh processes, and a directory for what they read."""

    home: Path

    def processes(self, sizes: Sequence[Size], base: Size) -> list[Callable[[], dict[Case, float]]]:
        """All that has to be run: each gives seconds of a sweep of some cases."""
        found = [partial(self._ours, OURS, System("cvb0", threads=THREADS), sizes)]
        found += [partial(self._theirs, name, THREADS, size) for size in sizes for name in PEERS]
        for n in range(1, THREADS):
            found.append(partial(self._ours, OURS, System("cvb0", threads=n), [base]))
            found += [partial(self._theirs, name, n, base) for name in PEERS]
        return [*found, *(partial(self._ours, RANKS, System("cvb0", mpi=True, ranks=n), [base]) for n in range(1, THREADS + 1))]

    def seconds(self, processes: Sequence[Callable[[], dict[Case, float]]], repeats: int) -> dict[Case, float]:
        """Run all in turn, every other round in reverse; medians over rounds."""
        rounds: list[dict[Case, float]] = []
        for number in range(repeats):
            order = processes if number % 2 == 0 else reversed(processes)
            rounds.append({case: seconds for process in order for case, seconds in process().items()})
        return {case: median(one[case] for one in rounds) for case in rounds[0]}

    def _ours(self, name: str, system: System, sizes: Sequence[Size]) -> dict[Case, float]:
        works = [{"corpus": str(self._written(size) / "corpus"), "topics": size.topics, "iterations": SWEEPS} for size in sizes]
        answers = ask(system, "time", works, self.home)
        return {Case(name, system.cores, size): fmean(answer["seconds"]) for size, answer in zip(sizes, answers, strict=True)}

    def _theirs(self, name: str, threads: int, size: Size) -> dict[Case, float]:
        order = {"system": name, "topics": size.topics, "seed": 0, "threads": threads, "limit": float("inf")}
        counts = {"counts": str(self._written(size) / "counts.npz"), "at": PEERS[name]}
        with tempfile.TemporaryDirectory(dir=self.home) as place:
            few, many = work(str(environments.python_of("peers")), {**order, **counts}, Path(place))["points"]
        more = many["iterations"] - few["iterations"]
        return {Case(name, threads, size): (many["seconds"] - few["seconds"]) / more}

    def _written(self, size: Size) -> Path:
        """Where the counts of a size lie, for all systems; made when they are first asked for."""
        home = self.home / f"{size.documents}-{size.words}"
        if not home.exists():
            counts = size.counts()
            Corpus.from_matrix(counts).save(home / "corpus")
            sp.save_npz(home / "counts.npz", counts, compressed=False)
        return home


# --- tables ------------------------------------------------------------------------------------------------------------------


def claims(result: dict[str, Any]) -> list[Claim]:
    """Sweeps of the largest sizes beside others', and what two threads bring."""
    found = []
    for axis, of_systems in result["axes"].items():
        size = [*of_systems[OURS]][-1]
        for name, package in PACKAGES.items():
            what = f"a sweep, {int(size):,} {axis}"
            found.append(Claim(what, of_systems[OURS][size], of_systems[name][size], package, others=result["others"]))
    for name, package in PACKAGES.items():
        ours, theirs = (_times_as_fast(result["threads"][system]) for system in (OURS, name))
        found.append(Claim("2 threads, times as fast as 1", ours, theirs, package, "×", True, others=result["others"]))
    return found


def _times_as_fast(by_number: Mapping[str, float]) -> float:
    return by_number["1"] / by_number[str(THREADS)]


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    base = ", ".join(f"{value:,} {what}" for what, value in result["base"].items())
    for axis, of_systems in result["axes"].items():
        sizes = [*of_systems[OURS]]
        rows = [
            (name, f"{slope(found):.2f}", *(f"{1e3 * found[size]:,.1f}" for size in sizes))
            for name, found in of_systems.items()
        ]
        columns = ("ms of a sweep", "power", *(f"{int(size):,}" for size in sizes))
        harness.show(f"By {axis}; {base} otherwise", columns, rows)
    for what in ("threads", "ranks"):
        rows = [
            (name, f"{_times_as_fast(found):.2f}", *(f"{1e3 * seconds:,.1f}" for seconds in found.values()))
            for name, found in result[what].items()
        ]
        harness.show(f"By {what}; {base}", ("ms of a sweep", "2 / 1, times as fast", "1", "2"), rows)
    harness.console.print(f"others kept {result['others']:.2f} cores busy; drawn in {result['figure']}")


if __name__ == "__main__":
    harness.alone("scaling", run, show)
