"""One fit of one system of `lda`, in a process and an environment of its own.

``python -m benchmarks.lda_worker ORDER.json``; topics after each number of iterations asked for are written as NUMBER.npy
beside the order, words × topics, and answer.json says how many seconds each had taken.

The clock runs while a system learns from counts that it has in its own form. It stands still while topics are written down,
and while the data are turned into that form. Nothing is imported but what the system's own environment has.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

THREADS = 2
ALPHA, ETA = 0.1, 0.03


class TimeIsUpError(Exception):
    """A run has taken as long as it may."""


@dataclass
class Recorder:
    """Writes topics down while the clock stands still.

    at      iterations whose topics are wanted
    limit   seconds after which a run ends
    """

    home: Path
    at: tuple[int, ...]
    limit: float
    points: list[dict[str, Any]] = field(default_factory=list)
    _seconds: float = 0.0
    _began: float = 0.0

    def start(self) -> None:
        self._began = time.perf_counter()

    def take(self, iterations: int, topics: Callable[[], Any], alpha: Any = None) -> None:
        """Write down the topics after so many iterations, a row for each word; and α, where it is learned."""
        self._seconds += time.perf_counter() - self._began
        np.save(self.home / f"{iterations}.npy", np.ascontiguousarray(topics(), dtype=np.float32))
        self.points.append({"iterations": iterations, "seconds": self._seconds})
        if alpha is not None:
            self.points[-1]["alpha"] = np.asarray(alpha).tolist()
        if self._seconds > self.limit:
            raise TimeIsUpError
        self.start()

    def take_if_wanted(self, iterations: int, topics: Callable[[], Any]) -> None:
        if iterations in self.at:
            self.take(iterations, topics)

    @property
    def steps(self) -> list[int]:
        """Iterations from each snapshot to the next."""
        return np.diff(self.at, prepend=0).tolist()


@dataclass(frozen=True)
class Order:
    """What to fit."""

    counts: sp.csr_array
    topics: int
    seed: int
    threads: int


# --- systems ---------------------------------------------------------------------------------------------------------------


def semascope(order: Order, recorder: Recorder) -> None:
    """Default settings."""
    from benchmarks.observed import observed
    from semascope import LDA, Corpus, ThreadEngine

    engine = ThreadEngine(order.threads)
    LDA(2, max_iter=2, engine=engine).fit(order.counts[:500])  # compiles the kernels
    corpus = Corpus.from_matrix(order.counts)
    with observed(lambda info: recorder.take_if_wanted(info.iteration, lambda: info.outcome().topics)):
        recorder.start()
        model = LDA(order.topics, random_state=order.seed, engine=engine).fit(corpus)
    recorder.take(model.n_iter_, lambda: model.components_.T)


def semascope_vb(alpha: Any, order: Order, recorder: Recorder) -> None:
    """Variational EM, with a fixed or a learned α. Passes of CVB0, from which it starts, are iterations like others."""
    from benchmarks.observed import observed
    from semascope import LDA, Corpus, ThreadEngine

    settings = {"inference": "vb", "alpha": alpha, "eta": ETA, "engine": ThreadEngine(order.threads)}
    LDA(2, max_iter=2, **settings).fit(order.counts[:500])  # compiles the kernels
    corpus = Corpus.from_matrix(order.counts)

    def note(info: Any) -> None:
        if info.iteration in recorder.at:
            kept = info.outcome()
            recorder.take(info.iteration, lambda: kept.topics, kept.document_alpha)

    with observed(note):
        recorder.start()
        model = LDA(order.topics, random_state=order.seed, **settings).fit(corpus)
    recorder.take(model.n_iter_, lambda: model.components_.T, model.alpha_)


def tomotopy(order: Order, recorder: Recorder) -> None:
    """Collapsed Gibbs sampling, with α learned every ten iterations as is its default. Words are named by their numbers."""
    import tomotopy as tp

    model = tp.LDAModel(
        min_cf=0, min_df=0, rm_top=0, tw=tp.TermWeight.ONE, k=order.topics, alpha=ALPHA, eta=ETA, seed=order.seed
    )
    for words, counts in _documents(order.counts):
        model.add_doc(np.repeat(words, counts).astype(str).tolist())

    def topics() -> Any:
        found = np.zeros((order.counts.shape[1], order.topics), np.float32)  # words it has not seen stay at zero
        found[[int(word) for word in model.used_vocabs]] = np.transpose(
            [model.get_topic_word_dist(topic) for topic in range(order.topics)]
        )
        return found

    recorder.start()
    for iterations, more in zip(recorder.at, recorder.steps, strict=True):
        model.train(more, workers=order.threads)
        recorder.take(iterations, topics)


def bigartm(order: Order, recorder: Recorder) -> None:
    """EM with smoothed counts and ten passes over each document. It is its own LDA, but for scores that would cost time."""
    import artm

    def topics() -> Any:
        phi = model.phi_
        found = np.zeros((order.counts.shape[1], order.topics), np.float32)  # words it has not seen stay at zero
        found[[int(word) for _, word in phi.index]] = phi.to_numpy()
        return found

    with tempfile.TemporaryDirectory() as home:
        source = Path(home) / "documents.txt"
        with source.open("w") as file:
            for number, (words, counts) in enumerate(_documents(order.counts)):
                file.write(" ".join([f"d{number}", *(f"{word}:{n}" for word, n in zip(words, counts, strict=True))]) + "\n")
        data = artm.BatchVectorizer(data_path=str(source), data_format="vowpal_wabbit", target_folder=f"{home}/batches")
        recorder.start()
        model = artm.ARTM(
            num_topics=order.topics,
            num_processors=order.threads,
            dictionary=data.dictionary,
            regularizers=[artm.SmoothSparseThetaRegularizer(tau=ALPHA), artm.SmoothSparsePhiRegularizer(tau=ETA)],
            seed=order.seed,
        )
        for iterations, more in zip(recorder.at, recorder.steps, strict=True):
            model.fit_offline(data, num_collection_passes=more)
            recorder.take(iterations, topics)


def gensim(order: Order, recorder: Recorder) -> None:
    """Online variational Bayes in processes; topics are taken at the end of each pass."""
    from gensim.models import LdaMulticore

    class Watched(LdaMulticore):
        documents_seen = 0

        def do_mstep(self, rho: float, other: Any, extra_pass: bool = False) -> None:
            new = other.numdocs
            super().do_mstep(rho, other, extra_pass)
            self.documents_seen += new
            passes, rest = divmod(self.documents_seen, len(documents))
            if rest == 0:
                recorder.take_if_wanted(passes, lambda: self.get_topics().T)

    documents = [list(zip(words.tolist(), counts.tolist(), strict=True)) for words, counts in _documents(order.counts)]
    recorder.start()
    Watched(
        documents,
        num_topics=order.topics,
        id2word={word: str(word) for word in range(order.counts.shape[1])},
        workers=order.threads,
        passes=recorder.at[-1],
        alpha=ALPHA,
        eta=ETA,
        eval_every=None,
        random_state=order.seed,
    )


def scikit_learn(method: str, order: Order, recorder: Recorder) -> None:
    """Variational Bayes, in batches of 128 documents or of all; topics are taken at the end of each pass."""
    from joblib.externals.loky import get_reusable_executor
    from sklearn.decomposition import LatentDirichletAllocation

    class Watched(LatentDirichletAllocation):
        documents_seen = 0

        def _em_step(self, X: Any, *arguments: Any, **named: Any) -> None:
            super()._em_step(X, *arguments, **named)
            self.documents_seen += X.shape[0]
            passes, rest = divmod(self.documents_seen, order.counts.shape[0])
            if rest == 0:
                recorder.take_if_wanted(passes, lambda: (self.components_ / self.components_.sum(axis=1, keepdims=True)).T)

    model = Watched(
        order.topics,
        learning_method=method,
        n_jobs=order.threads,
        doc_topic_prior=ALPHA,
        topic_word_prior=ETA,
        max_iter=recorder.at[-1],
        random_state=order.seed,
    )
    try:
        recorder.start()
        model.fit(order.counts)
    finally:
        get_reusable_executor().shutdown(wait=True)  # or its processes would be taken for somebody else's


def mllib(optimizer: str, order: Order, recorder: Recorder) -> None:
    """Spark's own LDA on two cores, with its default settings. It cannot go on, so that every snapshot is a fit of its own."""
    from pyspark.ml.clustering import LDA
    from pyspark.ml.linalg import Vectors
    from pyspark.sql import SparkSession

    settings = {"spark.driver.memory": "8g", "spark.ui.enabled": "false", "spark.driver.maxResultSize": "0"}
    builder = SparkSession.builder.master(f"local[{order.threads}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    n_words = order.counts.shape[1]
    rows = [(number, Vectors.sparse(n_words, words, counts)) for number, (words, counts) in enumerate(_documents(order.counts))]
    documents = spark.createDataFrame(rows, ["id", "features"]).repartition(order.threads).cache()
    documents.count()
    LDA(k=2, maxIter=1, optimizer=optimizer, seed=0).fit(documents.limit(100))  # starts Java's compiler
    try:
        for iterations in recorder.at:
            began = time.perf_counter()
            model = LDA(k=order.topics, maxIter=iterations, optimizer=optimizer, seed=order.seed).fit(documents)
            seconds = time.perf_counter() - began
            topics = model.topicsMatrix().toArray()
            np.save(recorder.home / f"{iterations}.npy", (topics / topics.sum(axis=0)).astype(np.float32))
            recorder.points.append({"iterations": iterations, "seconds": seconds})
            if seconds > recorder.limit:
                raise TimeIsUpError
    finally:
        spark.stop()
        java = spark.sparkContext._gateway.proc
        java.stdin.close()
        java.wait()  # or its work would be taken for somebody else's


def _documents(counts: sp.csr_array) -> list[tuple[Any, Any]]:
    """Words and counts of the documents that have any."""
    bounds = zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    return [(counts.indices[a:b], counts.data[a:b].astype(int)) for a, b in bounds if a < b]


SYSTEMS: dict[str, Callable[[Order, Recorder], None]] = {
    "semascope": semascope,
    "semascope vb": lambda order, recorder: semascope_vb(ALPHA, order, recorder),
    "semascope vb, α learned": lambda order, recorder: semascope_vb("auto", order, recorder),
    "tomotopy": tomotopy,
    "BigARTM": bigartm,
    "gensim": gensim,
    "MLlib online": lambda order, recorder: mllib("online", order, recorder),
    "MLlib EM": lambda order, recorder: mllib("em", order, recorder),
    "sklearn batch": lambda order, recorder: scikit_learn("batch", order, recorder),
    "sklearn online": lambda order, recorder: scikit_learn("online", order, recorder),
}


def main() -> None:
    path = Path(sys.argv[1])
    wanted = json.loads(path.read_text())
    recorder = Recorder(path.parent, tuple(wanted["at"]), wanted["limit"])
    order = Order(sp.csr_array(sp.load_npz(wanted["counts"])), wanted["topics"], wanted["seed"], wanted["threads"])
    try:
        SYSTEMS[wanted["system"]](order, recorder)
        ended = "done"
    except TimeIsUpError:
        ended = "time is up"
    (path.parent / "answer.json").write_text(json.dumps({"points": recorder.points, "ended": ended}))


if __name__ == "__main__":
    main()
