"""How fast is Labeled LDA from all documents at once, and how good after equally many sweeps?

Descriptions of Debian's packages with their tags, semascope against tomotopy (PLDAModel without latent topics), α = η = 0.1,
two threads each. Every run is a fresh process (labeled_worker.py), one after the other, tomotopy's in an environment made for
it.

Speed is that of a sweep: the difference of fits of two numbers of sweeps, so that start-up is left out. A whole fit starts
with documents in the form that each system takes. Quality is the perplexity of documents held out, with their labels, by one
evaluator, from how often each word is due to each label, and nothing else.

tomotopy keeps the last sweep; semascope the mean of the later half of them, or the last one where that is said. Two samples
from the same posterior differ by chance, so that half a percent between last sweeps tells nothing. tomotopy learns α by
default: that is a row of its own. With α as it is both systems sample from the same model, and this is what speed is measured
against; the mean of semascope's sweeps has to be as good as either.

Takes about 25 minutes on two cores; with --quick, fewer sweeps and one seed, about one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any

import scipy.sparse as sp

from benchmarks import environments, harness
from benchmarks.claims import Claim
from benchmarks.labeled_data import Split, debian, words_of
from benchmarks.lda import worker_environment
from benchmarks.lda_worker import THREADS
from semascope import Corpus

OURS, LAST, ONE, PEER, LEARNED = "semascope", "  last sweep", "  one thread", "tomotopy", "  α learned"
CHANCE = 1.005
"""By how much samples of one posterior may differ."""


@dataclass(frozen=True)
class System:
    """A competitor.

    environment   where it is installed; None is the one that this runs in
    settings      what its worker is told
    seeds         how many of the seeds it is fitted with
    """

    environment: str | None
    settings: Mapping[str, Any] = field(default_factory=dict)
    seeds: int = 3


SYSTEMS = {
    OURS: System(None, {"system": "semascope", "threads": THREADS, "last_sample": False}),
    LAST: System(None, {"system": "semascope", "threads": THREADS, "last_sample": True}),
    ONE: System(None, {"system": "semascope", "threads": 1, "last_sample": False}),
    PEER: System("peers", {"system": "tomotopy", "learn_alpha": False}),
    LEARNED: System("peers", {"system": "tomotopy", "learn_alpha": True}, seeds=1),
}


def run(quick: bool) -> dict[str, Any]:
    """Fit all systems, and judge all."""
    at, seeds = ((5, 25), range(1)) if quick else ((50, 200), range(3))
    split = Split.of(debian().corpus)
    with tempfile.TemporaryDirectory(prefix="semascope-labeled-") as home, harness.cores(THREADS):
        runs = _runs(split, at, seeds, Path(home))
    systems = {name: summary(of_system, split.train.n_tokens) for name, of_system in runs.items()}
    return {
        **split.facts(),
        "seeds": len(seeds),
        "sweeps": at,
        "packages": environments.requirements("peers"),
        "goals": goals(systems, at),
        "systems": systems,
    }


# --- runs ------------------------------------------------------------------------------------------------------------------


def _runs(split: Split, at: Sequence[int], seeds: Sequence[int], home: Path) -> dict[str, list[dict[str, Any]]]:
    """Fit every system with every seed, never two at a time, every other round in reverse."""
    told = {**written(split.train, home, "train"), "n_words": split.train.n_words, "at": at}
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in SYSTEMS}
    for number, seed in enumerate(seeds):
        of_this_seed = [name for name, system in SYSTEMS.items() if number < system.seeds]
        for name in of_this_seed if number % 2 == 0 else reversed(of_this_seed):
            with tempfile.TemporaryDirectory(dir=home) as place:
                found = work(SYSTEMS[name].environment, {**told, **SYSTEMS[name].settings, "seed": seed}, Path(place))
                for point in found["points"]:
                    words = words_of(sp.csc_array(sp.load_npz(Path(place) / f"{point['sweeps']}.npz")))
                    point["perplexity"] = split.perplexity(words, found["names"])
            runs[name].append({"seed": seed, "points": found["points"], "others": found["others"]})
            last = found["points"][-1]
            harness.console.print(f"{name.strip()}, seed {seed}: {last['perplexity']:,.1f} in {last['seconds']:.1f} s")
    return runs


def written(corpus: Corpus, home: Path, name: str) -> dict[str, str]:
    """Write documents for workers, and say where."""
    counts, labels = home / f"{name}.npz", home / f"{name}.json"
    sp.save_npz(counts, corpus.counts, compressed=False)
    labels.write_text(json.dumps(corpus.labels.to_list()))
    return {"counts": str(counts), "labels": str(labels)}


def work(environment: str | None, order: Mapping[str, Any], home: Path) -> dict[str, Any]:
    """Have a fresh process do some work in a directory; give its answer, and how many cores others kept busy meanwhile."""
    python = str(environments.python_of(environment)) if environment else sys.executable
    path = home / "order.json"
    path.write_text(json.dumps(dict(order)))
    command = [python, "-m", "benchmarks.labeled_worker", str(path)]
    others = harness.OthersWork()
    done = subprocess.run(command, cwd=home, env=worker_environment(), capture_output=True, text=True, check=False)
    busy = others.cores()
    if done.returncode:
        raise RuntimeError(f"{order['system']} failed:\n{done.stdout}\n{done.stderr}")
    return {**json.loads((home / "answer.json").read_text()), "others": busy}


# --- what is made of them ----------------------------------------------------------------------------------------------------


def summary(runs: Sequence[Mapping[str, Any]], n_tokens: float) -> dict[str, Any]:
    """Tokens a second in sweeps, seconds of whole fits, and perplexities: medians of times, means of the others."""
    by_sweeps = [{point["sweeps"]: point for point in one["points"]} for one in runs]
    few, many = min(by_sweeps[0]), max(by_sweeps[0])
    sweep = median((one[many]["seconds"] - one[few]["seconds"]) / (many - few) for one in by_sweeps)
    return {
        "seconds_of_a_sweep": sweep,
        "tokens_a_second": n_tokens / sweep,
        "seconds": median(one[many]["seconds"] for one in by_sweeps),
        "perplexity": {str(sweeps): mean(one[sweeps]["perplexity"] for one in by_sweeps) for sweeps in by_sweeps[0]},
        "others": max(one["others"] for one in runs),
        "runs": list(runs),
    }


def goals(systems: Mapping[str, Any], at: Sequence[int]) -> list[dict[str, Any]]:
    ours, last, peer, learned = (systems[name] for name in (OURS, LAST, PEER, LEARNED))
    others = max(ours["others"], peer["others"])
    speed = ours["tokens_a_second"] / peer["tokens_a_second"]
    found = [harness.goal(f"tokens a second in sweeps, {OURS} / {PEER}", speed, at_least=10, others=others)]
    for sweeps in map(str, at):
        best = min(peer["perplexity"][sweeps], learned["perplexity"][sweeps])
        mean_ratio = 100 * ours["perplexity"][sweeps] / best
        last_ratio = 100 * last["perplexity"][sweeps] / peer["perplexity"][sweeps]
        found += [
            harness.goal(f"perplexity after {sweeps} sweeps, % of {PEER}'s, α learned or not", mean_ratio, at_most=100),
            harness.goal("the same, last sweeps of both, α as it is, %", last_ratio, at_most=100 * CHANCE),
        ]
    return found


def claims(result: dict[str, Any]) -> list[Claim]:
    """Speed and quality beside tomotopy's."""
    ours, last, peer, learned = (result["systems"][name] for name in (OURS, LAST, PEER, LEARNED))
    others, sweeps = max(ours["others"], peer["others"]), str(max(result["sweeps"]))
    found = [
        Claim("a sweep, 2 threads", ours["seconds_of_a_sweep"], peer["seconds_of_a_sweep"], PEER, others=others),
        Claim(f"fit of {sweeps} sweeps", ours["seconds"], peer["seconds"], PEER, others=others),
    ]
    for system, of, how in ((ours, peer, "α as it is"), (ours, learned, "α learned"), (last, peer, "last sweeps alone")):
        what = f"perplexity after {sweeps} sweeps, {how}"
        found.append(Claim(what, system["perplexity"][sweeps], of["perplexity"][sweeps], PEER, ""))
    return found


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    systems, peer = result["systems"], result["systems"][PEER]
    few, many = map(str, result["sweeps"])
    rows = [
        (
            name,
            f"{found['tokens_a_second'] / peer['tokens_a_second']:.1f}",
            f"{peer['seconds'] / found['seconds']:.1f}",
            f"{found['tokens_a_second'] / 1e6:.2f}",
            f"{found['seconds']:.1f}",
            f"{found['perplexity'][few]:,.1f}",
            f"{found['perplexity'][many]:,.1f}",
            f"{found['others']:.1f}{'*' if found['others'] > harness.DISTURBED else ''}",
        )
        for name, found in systems.items()
    ]
    title = (
        f"Debian: {result['documents']:,} documents, {result['words']:,} words, {result['tokens']:,.0f} tokens, "
        f"{result['labels']} labels; {result['held_out_documents']:,} documents held out; {result['seeds']} seeds"
    )
    columns = ("system", "sweep ×", "fit ×", "M/s", "fit s", f"at {few}", f"at {many}", "others")
    harness.show(title, columns, rows)
    threads = systems[OURS]["tokens_a_second"] / systems[ONE]["tokens_a_second"]
    harness.console.print(
        f"×: times as fast as {PEER}; fit: {many} sweeps, start-up included; M/s: million words a second, in sweeps; at: "
        "perplexity after so many. "
        f"Two threads are {threads:.2f} times as fast as one. "
        "*: a run was disturbed, its time tells little."
    )


if __name__ == "__main__":
    harness.alone("labeled", run, show)
