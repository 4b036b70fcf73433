"""How long does LSA take, and how near does it come to the best approximation?

20 Newsgroups, square roots of probabilities, rank 200, two cores: semascope's LSA with default settings, on two threads and on
one, against scikit-learn's TruncatedSVD, randomized with its defaults and by ARPACK, and against gensim's LsiModel in an
environment of its own. Theirs is double precision, and ours single, by default; the table has theirs in single precision, too.
All are given the matrix in memory and give vectors of words, and all but gensim those of documents. One evaluator judges the
words' vectors V: the residual ‖A − A V Vᵀ‖ / ‖A‖. All take turns, so that what disturbs the machine disturbs all.

gensim stops far sooner than the others. So it is compared twice: with our default settings, whose residual is much smaller, and
with the fewest passes that give an answer (`max_iter=1`), whose residual must still be no larger than gensim's.

Takes about four minutes; with --quick, Reuters, rank 100 and fewer repeats, less than one.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD

from benchmarks import data, environments, harness
from benchmarks.claims import Claim
from semascope import LSA, Analyzer, Corpus, ThreadEngine, read

RANK, QUICK_RANK = 200, 100
OURS, ONE, SOON = "semascope", "semascope, 1 thread", "semascope, fewest passes"
RANDOMIZED, ARPACK, GENSIM = "sklearn", "sklearn ARPACK", "gensim"
SINGLE = ", single precision"


def run(quick: bool) -> dict[str, Any]:
    """Measure times and residuals."""
    analyzer = Analyzer(stop_words="english", min_df=5, max_df=0.5)
    name, collection = ("Reuters", data.REUTERS) if quick else ("20 Newsgroups", data.NEWSGROUPS)
    rank = QUICK_RANK if quick else RANK
    corpus = Corpus.build(read(data.folder(collection) / data.FILE), analyzer)
    matrices = {"": square_roots(corpus), SINGLE: square_roots(corpus).astype(np.float32)}
    matrix = matrices[""]
    vectors: dict[str, Any] = {}

    def semascope(name: str, n: int, **settings: Any) -> Any:
        def fit() -> None:
            with harness.cores(n):
                vectors[name] = LSA(rank, random_state=0, engine=ThreadEngine(n), **settings).fit(corpus).components_.T

        return fit

    def scikit_learn(name: str, algorithm: str, precision: str) -> Any:
        def fit() -> None:
            model = TruncatedSVD(rank, algorithm=algorithm, random_state=0)
            model.fit_transform(matrices[precision])
            vectors[name + precision] = model.components_.T

        return fit

    ours = {OURS: semascope(OURS, 2)}
    randomized = {RANDOMIZED + kind: scikit_learn(RANDOMIZED, "randomized", kind) for kind in matrices}
    exact = {ARPACK + kind: scikit_learn(ARPACK, "arpack", kind) for kind in matrices}
    with harness.cores(2), ExitStack() as running:
        gensim = {GENSIM + kind: running.enter_context(Gensim.started(matrices[kind], rank)) for kind in matrices}
        quick_ones = {**ours, ONE: semascope(ONE, 1), SOON: semascope(SOON, 2, max_iter=1), **randomized, **gensim}
        fast = harness.compare(quick_ones, repeats=2 if quick else 7, clock=clock)
        slow = harness.compare({**ours, **exact}, repeats=1 if quick else 3)
        vectors |= {name: of_gensim.vectors() for name, of_gensim in gensim.items()}
    seconds = {name: run.median for name, run in {**slow.of, **fast.of}.items()}
    residuals = {name: residual(matrix, found) for name, found in vectors.items()}
    return {
        "goals": _goals(seconds, residuals, max(fast.others, slow.others)),
        "collection": name,
        "rank": rank,
        "shape": [*matrix.shape, matrix.nnz],
        "seconds": seconds,
        "residuals": residuals,
        "runs": {"fast": fast.to_dict(), "slow": slow.to_dict()},
    }


def _goals(seconds: dict[str, float], residuals: dict[str, float], others: float) -> list[dict[str, Any]]:
    def times(name: str, ours: str = OURS) -> float:
        return seconds[name] / seconds[ours]

    return [
        harness.goal("sklearn / semascope", times(RANDOMIZED), at_least=4, others=others),
        harness.goal("residual / sklearn's", residuals[OURS] / residuals[RANDOMIZED], at_most=1),
        harness.goal("ARPACK / semascope", times(ARPACK), at_least=8, others=others),
        harness.goal("residual / ARPACK's", residuals[OURS] / residuals[ARPACK], at_most=1.001),
        harness.goal("gensim / semascope", times(GENSIM), at_least=8, others=others),
        harness.goal("gensim / semascope, fewest passes", times(GENSIM, SOON), at_least=8, others=others),
        harness.goal("residual, fewest passes / gensim's", residuals[SOON] / residuals[GENSIM], at_most=1),
        harness.goal("1 thread / 2 threads", times(ONE), at_least=1.7, others=others),
    ]


def square_roots(corpus: Corpus) -> sp.csr_matrix:
    """√Q."""
    rows = corpus.rows
    values = np.sqrt(rows.counts.astype(np.float64) / corpus.n_tokens)
    return sp.csr_matrix((values, rows.words, rows.ends), shape=(corpus.n_documents, corpus.n_words))


def residual(matrix: sp.csr_matrix, vectors: Any) -> float:
    """‖A − A V Vᵀ‖ / ‖A‖, of orthonormal vectors."""
    basis, _ = np.linalg.qr(np.asarray(vectors, dtype=np.float64))
    whole = float((matrix.data.astype(np.float64) ** 2).sum())
    return float(np.sqrt(1 - (np.asarray(matrix @ basis) ** 2).sum() / whole))


class Gensim:
    """A process that fits gensim's LsiModel whenever it is asked to."""

    def __init__(self, home: Path, process: subprocess.Popen[str]) -> None:
        self._home, self._process = home, process

    @classmethod
    @contextmanager
    def started(cls, matrix: sp.csr_matrix, rank: int) -> Iterator[Gensim]:
        """Start it, in an environment of its own, and end it."""
        with tempfile.TemporaryDirectory(prefix="semascope-lsa-") as home:
            sp.save_npz(Path(home) / "matrix.npz", matrix)
            worker = Path(__file__).with_name("lsa_gensim.py")
            command = [str(environments.python_of("peers")), str(worker), home, str(rank)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                yield cls(Path(home), process)

    def seconds(self) -> float:
        """Fit once more, and tell how long it took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("gensim failed: see above.")
        return float(line)

    def vectors(self) -> Any:
        """Its vectors of words."""
        return np.load(self._home / "vectors.npy")


def clock(fit: Any) -> harness.Seconds:
    """Time a fit: those of gensim are timed where they are made, by the clock alone."""
    if isinstance(fit, Gensim):
        seconds = fit.seconds()
        return harness.Seconds(seconds, seconds)
    return harness.elapsed(fit)


def claims(result: dict[str, Any]) -> list[Claim]:
    """Times and residuals beside others'."""
    seconds, residuals, runs = result["seconds"], result["residuals"], result["runs"]
    others = max(runs["fast"]["others"], runs["slow"]["others"])
    found = []
    for peer, system, how in (("scikit-learn", RANDOMIZED, ""), ("scikit-learn", ARPACK, ", ARPACK"), ("gensim", GENSIM, "")):
        for precision in ("", SINGLE):
            name = system + precision
            found.append(Claim(f"fit{how}{precision}", seconds[OURS], seconds[name], peer, others=others))
        found.append(Claim(f"residual{how}", residuals[OURS], residuals[system], peer, unit=""))
    found.append(Claim("fit to its residual", seconds[SOON], seconds[GENSIM], "gensim", others=others))
    return found


def show(result: dict[str, Any]) -> None:
    """Print times and residuals."""
    harness.show_goals(result["goals"])
    documents, words, entries = result["shape"]
    rows = [(name, f"{result['seconds'][name]:.2f}", f"{result['residuals'][name]:.5f}") for name in result["seconds"]]
    title = f"LSA of {result['collection']}: {documents:,} × {words:,}, {entries:,} entries, rank {result['rank']}"
    harness.show(title, ("system", "s", "residual"), rows)


if __name__ == "__main__":
    harness.alone("lsa", run, show)
