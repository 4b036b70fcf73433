"""How long does LSA take, and how near does it come to the best approximation?

20 Newsgroups, square roots of probabilities, rank 200, two cores: semascope's LSA with default settings, on two threads and on
one, against scikit-learn's TruncatedSVD, randomised with its defaults and by ARPACK, and against gensim's LsiModel in an
environment of its own. Theirs is double precision, and ours single, by default; the table has theirs in single precision, too.
All are given the matrix in memory and give vectors of words and of documents. One evaluator judges the words' vectors V: the
residual ‖A − A V Vᵀ‖ / ‖A‖.

Takes about four minutes; with --quick, fewer repeats, about two.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD

from benchmarks import data, environments, harness
from semascope import LSA, Analyzer, Corpus, ThreadEngine, read

RANK = 200
OURS, ONE, RANDOMISED, ARPACK, GENSIM = "semascope", "semascope, 1 thread", "sklearn", "sklearn ARPACK", "gensim"
SINGLE = ", single precision"


def run(quick: bool) -> dict[str, Any]:
    """Measure times and residuals."""
    analyzer = Analyzer(stop_words="english", min_df=5, max_df=0.5)
    corpus = Corpus.build(read(data.folder(data.NEWSGROUPS) / data.FILE), analyzer)
    matrices = {"": square_roots(corpus), SINGLE: square_roots(corpus).astype(np.float32)}
    matrix = matrices[""]
    vectors: dict[str, Any] = {}

    def semascope(name: str, n: int) -> Any:
        def fit() -> None:
            with harness.cores(n):
                vectors[name] = LSA(RANK, random_state=0, engine=ThreadEngine(n)).fit(corpus).components_.T

        return fit

    def scikit_learn(name: str, algorithm: str, precision: str) -> Any:
        def fit() -> None:
            model = TruncatedSVD(RANK, algorithm=algorithm, random_state=0)
            model.fit_transform(matrices[precision])
            vectors[name + precision] = model.components_.T

        return fit

    ours = {OURS: semascope(OURS, 2)}
    randomised = {RANDOMISED + kind: scikit_learn(RANDOMISED, "randomized", kind) for kind in matrices}
    exact = {ARPACK + kind: scikit_learn(ARPACK, "arpack", kind) for kind in matrices}
    with harness.cores(2):
        fast = harness.compare({**ours, ONE: semascope(ONE, 1), **randomised}, repeats=3 if quick else 7)
        slow = harness.compare({**ours, **exact}, repeats=1 if quick else 3)
        gensim = {GENSIM + kind: by_gensim(matrices[kind], repeats=1 if quick else 3) for kind in matrices}
    vectors |= {name: found.pop("vectors") for name, found in gensim.items()}
    seconds = {name: run.median for name, run in {**slow.of, **fast.of}.items()}
    seconds |= {name: found["seconds"] for name, found in gensim.items()}
    residuals = {name: residual(matrix, found) for name, found in vectors.items()}
    return {
        "goals": _goals(seconds, residuals, max(fast.others, slow.others)),
        "shape": [*matrix.shape, matrix.nnz],
        "seconds": seconds,
        "residuals": residuals,
        "runs": {"fast": fast.to_dict(), "slow": slow.to_dict(), "gensim": gensim},
    }


def _goals(seconds: dict[str, float], residuals: dict[str, float], others: float) -> list[dict[str, Any]]:
    def times(name: str) -> float:
        return seconds[name] / seconds[OURS]

    return [
        harness.goal("sklearn / semascope", times(RANDOMISED), at_least=4, others=others),
        harness.goal("residual / sklearn's", residuals[OURS] / residuals[RANDOMISED], at_most=1),
        harness.goal("ARPACK / semascope", times(ARPACK), at_least=8, others=others),
        harness.goal("residual / ARPACK's", residuals[OURS] / residuals[ARPACK], at_most=1.001),
        harness.goal("gensim / semascope", times(GENSIM), at_least=8, others=others),
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


def by_gensim(matrix: sp.csr_matrix, repeats: int) -> dict[str, Any]:
    """Median seconds of gensim's LsiModel, and its vectors of words."""
    python = environments.python_of("peers")
    with tempfile.TemporaryDirectory(prefix="semascope-lsa-") as home:
        sp.save_npz(Path(home) / "matrix.npz", matrix)
        worker = Path(__file__).with_name("lsa_gensim.py")
        command = [str(python), str(worker), home, str(RANK), str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"gensim failed:\n{done.stderr}")
        seconds = json.loads(done.stdout)
        return {"seconds": float(np.median(seconds)), "all": seconds, "vectors": np.load(Path(home) / "vectors.npy")}


def show(result: dict[str, Any]) -> None:
    """Print times and residuals."""
    harness.show_goals(result["goals"])
    documents, words, entries = result["shape"]
    rows = [(name, f"{result['seconds'][name]:.2f}", f"{result['residuals'][name]:.5f}") for name in result["seconds"]]
    title = f"LSA of 20 Newsgroups: {documents:,} × {words:,}, {entries:,} entries, rank {RANK}"
    harness.show(title, ("system", "s", "residual"), rows)


if __name__ == "__main__":
    harness.alone("lsa", run, show)
