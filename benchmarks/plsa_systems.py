"""The five systems of the paper on parallel PLSA: what they cost on its four collections, and two MPI ranks on larger ones.

Baseline is textbook EM on one thread; None the fused algorithm on one thread; OpenMP on two threads; MPI on two ranks; All on
two ranks with two threads each. The paper's Table 4 and Figures 2, 3 and 5 are drawn again with our numbers. Every fit is made
in a fresh process (plsa_systems_worker.py); systems take turns, so that what disturbs the machine disturbs all. The time
of an iteration is the median of its fit, from one iteration's end to the next, so that start-up is left out.

The larger collection is CVE. Takes about twenty minutes on two cores; with --quick, two of the collections, Reuters instead of
CVE, one repeat, and neither memory nor density, about one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import data, harness, plsa_systems_figures
from benchmarks.claims import Claim
from benchmarks.environments import NoEnvironmentError
from benchmarks.plsa_by_topics import bytes_by_documents, bytes_by_topics
from semascope import Analyzer, Corpus

TOPICS = 32
COLLECTIONS = {"MED": "ir/med", "CRAN": "ir/cran", "CISI": "ir/cisi", "CACM": "ir/cacm"}
FOR_DENSITY = "CRAN"
QUICK_COLLECTIONS = ("MED", "CRAN")
LARGE, QUICK_LARGE, LARGE_TOPICS = ("CVE", data.CVE), ("Reuters", data.REUTERS), 100
MANY_TOPICS = 100
FLOAT = 4


@dataclass(frozen=True)
class System:
    """A way to fit PLSA. Without MPI there is one process, and `ranks` is 1."""

    algorithm: str = "fused"
    mpi: bool = False
    ranks: int = 1
    threads: int = 1
    one_shard: bool = False

    @property
    def cores(self) -> int:
        return self.ranks * self.threads


SYSTEMS = {
    "Baseline": System("textbook"),
    "None": System(),
    "OpenMP": System(threads=2),
    "MPI": System(mpi=True, ranks=2),
    "All": System(mpi=True, ranks=2, threads=2),
}
ON_ONE = {"MPI": System(mpi=True), "All": System(mpi=True, threads=2)}
BY_TOPICS = System("by topics", mpi=True, ranks=2)


def run(quick: bool) -> dict[str, Any]:
    """Measure all of it."""
    with tempfile.TemporaryDirectory(prefix="semascope-systems-") as name:
        bench = Bench(Path(name), quick)
        result = {
            "systems": {name: asdict(system) for name, system in SYSTEMS.items()},
            "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
            "collections": (collections := bench.collections()),
            "memory_of_systems": {} if quick else bench.memory_of_systems(collections),
            "density": [] if quick else bench.density(),
            "large": bench.large(),
            "many_documents": {} if quick else bench.many_documents(),
        }
    result["goals"] = goals(result)
    result["figures"] = plsa_systems_figures.draw(result, harness.RESULTS)
    return result


def goals(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    collections, large, many = result["collections"], result["large"], result["many_documents"]
    on = large["collection"]
    same = [found["fused_bits_equal"] for found in collections.values()]
    baseline = max(found["baseline_difference"] for found in collections.values())
    by_topics = max(max(found["by_topics"]["components"], found["by_topics"]["doc_topics"]) for found in collections.values())
    found = [
        harness.goal("fused systems equal to the bit, share of collections", float(np.mean(same)), at_least=1),
        harness.goal("Baseline's log-likelihood a token, difference / 1e-4", baseline / 1e-4, at_most=1),
        harness.goal("division by topics, largest difference / 1e-6", by_topics / 1e-6, at_most=1),
        harness.goal(f"{on}: 2 ranks / 2 threads, time of an iteration", large["ratio"], at_most=1.2, others=large["others"]),
        harness.goal(f"{on}: bytes exchanged / formula", large["bytes"] / large["bytes_formula"], at_least=1, at_most=1),
    ]
    if not many:
        return found
    rank = {when: max(many["2 ranks"][when]) / many["1 process"][when][0] for when in ("whole", "iterating")}
    return [
        *found,
        harness.goal("many documents: peak memory, a rank / one process", rank["whole"], at_most=0.5),
        # One process ends by copying all documents' topics into one array, where ranks write a file that they map: the
        # whole fit flatters the ranks, so what is held while iterating is judged too.
        harness.goal("many documents: the same until the last iteration", rank["iterating"], at_most=0.5),
    ]


# --- fresh processes -------------------------------------------------------------------------------------------------------


def ask(system: System, what: str, works: Sequence[Mapping[str, Any]], home: Path) -> list[dict[str, Any]]:
    """Have a fresh process, or as many ranks as the system has, do the works one after the other."""
    order, answer = home / "order.json", home / "answer.json"
    answer.unlink(missing_ok=True)
    order.write_text(json.dumps({"system": asdict(system), "what": what, "works": list(works)}))
    command = [sys.executable, "-m", "benchmarks.plsa_systems_worker", str(order), str(answer)]
    environment = dict(os.environ)
    if system.mpi:
        command = [_mpirun(), "-n", str(system.ranks), "--oversubscribe", "--bind-to", "none", *command]
        if hasattr(os, "geteuid") and os.geteuid() == 0:  # Open MPI wants to be told twice
            environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(command, cwd=Path(__file__).parents[1], env=environment, capture_output=True, text=True, check=False)
    if done.returncode or not answer.exists():
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
    return json.loads(answer.read_text())


def _mpirun() -> str:
    beside = Path(sys.executable).with_name("mpirun")
    found = str(beside) if beside.exists() else shutil.which("mpirun")
    if not found:
        raise NoEnvironmentError("there is no mpirun: pip install 'semascope[mpi]'")
    return found


# --- measurements ----------------------------------------------------------------------------------------------------------


class Bench:
    """All measurements, and a directory for the corpora that the processes open."""

    def __init__(self, home: Path, quick: bool) -> None:
        self.home = home
        self.quick = quick
        self.names = QUICK_COLLECTIONS if quick else tuple(COLLECTIONS)
        self._analyzer = Analyzer(stop_words="english", stemmer="english")

    def take_turns(
        self, systems: Mapping[str, System], works: Sequence[Mapping[str, Any]], repeats: int
    ) -> tuple[list[dict[str, Any]], float]:
        """Time all works on every system, every other round in reverse; one dict of fits by system for each work."""
        fits: list[dict[str, Any]] = [{name: [] for name in systems} for _ in works]
        others = harness.OthersWork()
        for number in range(repeats):
            for name in systems if number % 2 == 0 else reversed(systems):
                answers = ask(systems[name], "time", works, self.home)
                for of_work, found in zip(fits, answers, strict=True):
                    of_work[name].append(found)
        return [{name: summary(found) for name, found in of_work.items()} for of_work in fits], others.cores()

    def corpus_of(self, name: str) -> tuple[Corpus, Path]:
        """A collection of the paper, without documents that have no text, in memory and on disk."""
        path = self.home / name
        if not path.exists():
            texts = [text for text in data.texts(COLLECTIONS[name])[""] if text.strip()]
            Corpus.from_texts(texts, analyzer=self._analyzer).save(path)
        return Corpus.open(path), path

    def collections(self) -> dict[str, Any]:
        """Times, bytes and models of all systems on the four collections."""
        corpora = {name: self.corpus_of(name) for name in self.names}
        iterations, repeats = (12, 1) if self.quick else (40, 5)
        works = [{"corpus": str(path), "topics": TOPICS, "iterations": iterations} for _, path in corpora.values()]
        on_one = {f"{name} on 1": system for name, system in ON_ONE.items()}
        fits, others = self.take_turns({**SYSTEMS, **on_one, "by topics": BY_TOPICS}, works, repeats)
        checks = ask(BY_TOPICS, "same model", [{**work, "iterations": 20} for work in works], self.home)
        return {
            name: {**facts(corpora[name][0], TOPICS), "others": others, **of_collection(fits, check, corpora[name][0])}
            for name, fits, check in zip(self.names, fits, checks, strict=True)
        }

    def memory_of_systems(self, collections: Mapping[str, Any]) -> dict[str, Any]:
        """Peak memory of every system; for Baseline also with all documents in one piece, as the paper's formula has it."""
        systems = {"Baseline, one piece": System("textbook", one_shard=True), **SYSTEMS}
        found: dict[str, Any] = {}
        for collection in self.names:
            work = [{"corpus": str(self.corpus_of(collection)[1]), "topics": TOPICS, "iterations": 5}]
            found[collection] = {
                name: {
                    "formula": memory_formula(system, collections[collection]),
                    "measured": self.peak(system, work),
                }
                for name, system in systems.items()
            }
        return found

    def peak(self, system: System, work: Sequence[Mapping[str, Any]]) -> int:
        """Peak of the rank that needs most."""
        (answer,) = ask(system, "memory", work, self.home)
        return max(rank["whole"] for rank in answer["ranks"])

    def density(self) -> list[dict[str, Any]]:
        """Baseline and OpenMP with fewer and with more of the cells filled."""
        corpus = self.corpus_of(FOR_DENSITY)[0]
        natural = facts(corpus, TOPICS)["density"]
        densities = [natural / 4, natural / 2, natural, 0.03, 0.06, 0.12]
        works = []
        for number, density in enumerate(densities):
            path = self.home / f"density-{number}"
            Corpus.from_matrix(with_density(corpus, density)).save(path)
            works.append({"corpus": str(path), "topics": TOPICS, "iterations": 10})
        systems = {name: SYSTEMS[name] for name in ("Baseline", "None", "OpenMP")}
        fits, others = self.take_turns(systems, works, 4)
        return [
            {"density": density, "others": others, **{name: fit["median"] for name, fit in of_density.items()}}
            for density, of_density in zip(densities, fits, strict=True)
        ]

    def large(self) -> dict[str, Any]:
        """A larger collection: two ranks against two threads, and both ways of dividing."""
        path = self.home / "large"
        name, collection = QUICK_LARGE if self.quick else LARGE
        texts = data.texts(collection)[""]
        Corpus.from_texts(texts, analyzer=Analyzer(stop_words="english", min_df=5)).save(path)
        corpus = Corpus.open(path)
        work = {"corpus": str(path), "topics": LARGE_TOPICS, "iterations": 5 if self.quick else 12}
        systems = {"2 threads": SYSTEMS["OpenMP"], "2 ranks": SYSTEMS["MPI"], "by topics": BY_TOPICS}
        (fits,), others = self.take_turns(systems, [work], 1 if self.quick else 7)
        table = {"rows": corpus.n_words, "columns": LARGE_TOPICS, "times": 10 if self.quick else 30}
        (alone,) = ask(SYSTEMS["MPI"], "allreduce", [table], self.home)
        return {
            "collection": name,
            **facts(corpus, LARGE_TOPICS),
            "others": others,
            "fits": fits,
            "ratio": fits["2 ranks"]["median"] / fits["2 threads"]["median"],
            "ratio_of_best": fits["2 ranks"]["best"] / fits["2 threads"]["best"],
            "side_by_side": side_by_side(fits["2 ranks"], fits["2 threads"]),
            "bits_equal": fits["2 ranks"]["digests"] == fits["2 threads"]["digests"],
            "allreduce_alone": {"median": median(alone["seconds"]), "best": min(alone["seconds"])},
            **exchanged(fits["2 ranks"], fits["by topics"], corpus, LARGE_TOPICS),
        }

    def many_documents(self) -> dict[str, Any]:
        """Peak memory of one process and of each of two ranks, where documents outweigh the vocabulary."""
        n_documents, path = 300_000, self.home / "many"
        counts = data.ap89_like(n_documents, n_words=5_000, n_tokens=25 * n_documents, n_topics=50, seed=7)
        Corpus.from_matrix(counts).save(path)
        work = [{"corpus": str(path), "topics": MANY_TOPICS, "iterations": 4}]
        ((one,), (two,)) = (ask(SYSTEMS[name], "memory", work, self.home) for name in ("None", "MPI"))
        corpus = facts(Corpus.open(path), MANY_TOPICS)
        return {
            **corpus,
            "1 process": {when: [rank[when] for rank in one["ranks"]] for when in ("iterating", "whole")},
            "2 ranks": {when: [rank[when] for rank in two["ranks"]] for when in ("iterating", "whole")},
            "formula": {name: memory_formula(SYSTEMS[name], corpus) for name in ("None", "MPI")},
        }


def with_density(corpus: Corpus, density: float) -> sp.coo_matrix:
    """Leave out entries at random, or put ones into empty cells at random as the paper does, until so many cells are filled."""
    random, shape = np.random.default_rng(5), (corpus.n_documents, corpus.n_words)
    rows, wanted = corpus.rows, round(density * np.prod(shape))
    cells = np.repeat(np.arange(shape[0]), np.diff(rows.ends)) * shape[1] + rows.words
    values = rows.counts
    if wanted <= len(cells):
        kept = random.choice(len(cells), wanted, replace=False)
        cells, values = cells[kept], values[kept]
    else:
        free = np.setdiff1d(np.arange(np.prod(shape)), cells, assume_unique=True)
        more = random.choice(free, wanted - len(cells), replace=False)
        cells, values = np.append(cells, more), np.append(values, np.ones(len(more), values.dtype))
    return sp.coo_matrix((values, np.divmod(cells, shape[1])), shape=shape)


# --- what is made of them ----------------------------------------------------------------------------------------------------


def facts(corpus: Corpus, topics: int) -> dict[str, Any]:
    entries = len(corpus.rows.words)
    return {
        "documents": corpus.n_documents,
        "words": corpus.n_words,
        "entries": entries,
        "tokens": corpus.n_tokens,
        "density": entries / (corpus.n_documents * corpus.n_words),
        "shards": len(corpus.shards()),
        "topics": topics,
    }


def summary(fits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """An iteration's seconds over all fits of one system, and what they agree in."""
    medians = [median(fit["seconds"]) for fit in fits]
    return {
        "median": median(medians),
        "best": min(min(fit["seconds"]) for fit in fits),
        "medians": medians,
        "bytes": sorted({number for fit in fits for number in fit["bytes"]}),
        "digests": sorted({fit["digest"] for fit in fits}),
        "log_likelihood": fits[0]["log_likelihood"][-1],
    }


def of_collection(fits: dict[str, Any], check: Mapping[str, Any], corpus: Corpus) -> dict[str, Any]:
    """Whether all systems found the same model, and what the two divisions exchange."""
    fused = [fit["digests"] for name, fit in fits.items() if name not in ("Baseline", "by topics")]
    difference = abs(fits["Baseline"]["log_likelihood"] - fits["None"]["log_likelihood"]) / corpus.n_tokens
    return {
        "fits": fits,
        "fused_bits_equal": len(fused[0]) == 1 and all(digests == fused[0] for digests in fused),
        "baseline_difference": difference,
        "by_topics": dict(check),
        **exchanged(fits["MPI"], fits["by topics"], corpus, TOPICS),
    }


def exchanged(by_documents: Mapping[str, Any], by_topics: Mapping[str, Any], corpus: Corpus, topics: int) -> dict[str, Any]:
    """Bytes that a rank puts into Allreduce in an iteration, counted and by formula, for both ways of dividing."""
    (counted,), (counted_by_topics,) = by_documents["bytes"], by_topics["bytes"]  # every iteration the same
    return {
        "bytes": counted,
        "bytes_formula": bytes_by_documents(corpus.n_words, topics, len(corpus.shards())),
        "bytes_by_topics": counted_by_topics,
        "bytes_by_topics_formula": bytes_by_topics(len(corpus.rows.words), FLOAT),
    }


def side_by_side(slow: Mapping[str, Any], fast: Mapping[str, Any]) -> dict[str, float]:
    """Ratios of the fits of each round."""
    ratios = [a / b for a, b in zip(slow["medians"], fast["medians"], strict=True)]
    return {"least": min(ratios), "median": median(ratios), "largest": max(ratios)}


def memory_formula(system: System, corpus: Mapping[str, Any]) -> dict[str, int]:
    """Bytes besides the counts: as the paper has it, and with the exact sums and the entries by word that semascope keeps too.

    A rank has its part of the documents, and all words.
    """
    K, V = corpus["topics"], corpus["words"]
    D, nnz = corpus["documents"] // system.ranks, corpus["entries"] // system.ranks
    numbers = nnz * K + K * (V + D + 1) if system.algorithm == "textbook" else 2 * K * (V + D + 1) + nnz
    return {"paper": FLOAT * numbers, "with_exact_sums": FLOAT * numbers + 8 * K * V + 8 * nnz}


# --- tables ------------------------------------------------------------------------------------------------------------------


def claims(result: Mapping[str, Any]) -> list[Claim]:
    """The systems beside textbook EM, and two ranks beside the division by topics."""
    found = []
    for name, c in result["collections"].items():
        fits = c["fits"]
        for system in ("None", "OpenMP", "MPI"):
            spread = side_by_side(fits["Baseline"], fits[system])
            found.append(
                Claim(
                    f"{name}, iteration of {system}",
                    fits[system]["median"],
                    fits["Baseline"]["median"],
                    "textbook EM, one thread",
                    spread=(spread["least"], spread["largest"]),
                    others=c["others"],
                )
            )
    large = result["large"]
    ranks, by_topics = (large["fits"][name]["median"] for name in ("2 ranks", "by topics"))
    what = f"{large['collection']}, iteration on 2 ranks"
    return [*found, Claim(what, ranks, by_topics, "division by topics, 2 ranks", others=large["others"])]


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    _show_times(result)
    _show_exchange(result)
    _show_large(result["large"])
    if result["many_documents"]:
        _show_memory(result)
    if result["density"]:
        _show_density(result["density"])
    harness.console.print("\n".join(result["figures"]))


def _show_density(points: Sequence[Mapping[str, Any]]) -> None:
    rows = [(f"{100 * p['density']:.2f} %", f"{p['Baseline'] / p['OpenMP']:.1f}", *_ms(p, SYSTEMS)) for p in points]
    title = f"Figure 5: an iteration against density, {FOR_DENSITY}"
    harness.show(title, ("cells filled", "Baseline / OpenMP", "Baseline ms", "None ms", "OpenMP ms"), rows)


def _ms(times: Mapping[str, Any], names: Any) -> list[str]:
    return [f"{1e3 * times[name]:.1f}" for name in names if name in times]


def _show_times(result: Mapping[str, Any]) -> None:
    collections = result["collections"]
    rows = [
        (name, *(f"{c['fits']['Baseline']['median'] / c['fits'][system]['median']:.1f}" for system in SYSTEMS))
        for name, c in collections.items()
    ]
    harness.show(f"Table 4: times as fast as Baseline, K = {TOPICS}", ("collection", *SYSTEMS), rows)
    rows = [(name, *_ms({s: c["fits"][s]["median"] for s in SYSTEMS}, SYSTEMS)) for name, c in collections.items()]
    harness.show("Table 4: an iteration, ms, median", ("collection", *SYSTEMS), rows)
    rows = [(name, *_ms({s: c["fits"][s]["best"] for s in SYSTEMS}, SYSTEMS)) for name, c in collections.items()]
    harness.show("Table 4: an iteration, ms, best", ("collection", *SYSTEMS), rows)
    rows = [
        (
            name,
            "yes" if c["fused_bits_equal"] else "NO",
            f"{c['baseline_difference']:.1e}",
            *(c[fact] for fact in ("documents", "words", "entries")),
            f"{100 * c['density']:.2f} %",
        )
        for name, c in collections.items()
    ]
    columns = (
        "collection",
        "fused: same bits",
        "Baseline: Δ log-likelihood a token",
        "documents",
        "words",
        "entries",
        "filled",
    )
    harness.show("Collections and models", columns, rows)
    others = next(iter(collections.values()))["others"]
    harness.console.print(
        f"Cores used by others meanwhile: {others:.2f}. "
        f"All has {SYSTEMS['All'].cores} threads on {result['usable_cores']} cores: "
        "it is there to show that its model is the same, not for its time."
    )


def _show_exchange(result: Mapping[str, Any]) -> None:
    cases = {**result["collections"], result["large"]["collection"]: result["large"]}
    ways = {name: (c["fits"].get("MPI") or c["fits"]["2 ranks"], c["fits"]["by topics"]) for name, c in cases.items()}
    rows = [
        (
            name,
            f"{documents['median'] / topics['median']:.2f}",
            f"{documents['best'] / topics['best']:.2f}",
            *(f"{1e3 * fit['median']:.1f}" for fit in (documents, topics)),
        )
        for name, (documents, topics) in ways.items()
    ]
    columns = ("2 ranks", "documents / topics", "of best", "by documents ms", "by topics ms")
    harness.show("Dividing by documents or by topics: time of an iteration", columns, rows)
    counted = ("bytes", "bytes_formula", "bytes_by_topics", "bytes_by_topics_formula")
    rows = [
        (name, f"{c['bytes'] / c['bytes_by_topics']:.2f}", *(f"{c[fact] / 1e6:.3f}" for fact in counted))
        for name, c in cases.items()
    ]
    columns = ("2 ranks", "documents / topics", "documents", "formula", "topics", "formula")
    harness.show("Dividing by documents or by topics: MB a rank exchanges in an iteration", columns, rows)


def _show_large(large: Mapping[str, Any]) -> None:
    pairs, alone = large["side_by_side"], large["allreduce_alone"]
    rows = [
        ("2 ranks / 2 threads, of medians", f"{large['ratio']:.2f}"),
        ("2 ranks / 2 threads, side by side", f"{pairs['median']:.2f} ({pairs['least']:.2f} to {pairs['largest']:.2f})"),
        ("2 ranks / 2 threads, of best", f"{large['ratio_of_best']:.2f}"),
        *(
            (f"{name}, ms: median, best", f"{1e3 * fit['median']:.1f}, {1e3 * fit['best']:.1f}")
            for name, fit in large["fits"].items()
        ),
        ("Allreduce alone, ms: median, best", f"{1e3 * alone['median']:.1f}, {1e3 * alone['best']:.1f}"),
        ("same bits", "yes" if large["bits_equal"] else "NO"),
        ("bytes an iteration", f"{large['bytes']:,}"),
        ("formula", f"{large['bytes_formula']:,}"),
        ("cores used by others", f"{large['others']:.2f}"),
    ]
    size = f"{large['documents']:,} documents, {large['words']:,} words, {large['entries']:,} entries"
    title = f"{large['collection']}: {size}, K = {large['topics']}"
    harness.show(title, ("what", "value"), rows)


def _show_memory(result: Mapping[str, Any]) -> None:
    rows = [
        (
            f"{collection}: {name}",
            f"{system['measured'] / system['formula']['paper']:.2f}",
            *(f"{number / 1e6:.1f}" for number in (system["measured"], *system["formula"].values())),
        )
        for collection, systems in result["memory_of_systems"].items()
        for name, system in systems.items()
    ]
    columns = ("a process or rank", "peak / formula", "peak MB", "formula MB", "formula with exact sums MB")
    harness.show("Figure 2: memory besides the counts", columns, rows)
    many = result["many_documents"]
    rows = [
        (
            "whole fit" if when == "whole" else "until the last iteration",
            f"{max(many['2 ranks'][when]) / many['1 process'][when][0]:.2f}",
            f"{many['1 process'][when][0] / 1e6:.0f}",
            " ".join(f"{rank / 1e6:.0f}" for rank in many["2 ranks"][when]),
        )
        for when in ("iterating", "whole")
    ]
    title = (
        f"Memory: {many['documents']:,} documents, {many['words']:,} words, {many['entries']:,} entries, K = {many['topics']}"
    )
    harness.show(title, ("peak", "a rank / one process", "one process MB", "each of 2 ranks MB"), rows)


if __name__ == "__main__":
    harness.alone("plsa_systems", run, show)
