"""PLSA divided by topics, as the paper on parallel PLSA does it: `mpirun -n 2 python -m benchmarks.plsa_by_topics`.

Every rank holds the counts of all documents and owns some of the topics: their columns of P(word | topic) and of
P(topic | document). An iteration works out this rank's part of P(word | document) for every entry, adds the parts of all ranks,
and then moves the rank's own topics, for which it needs nothing more from the others. semascope divides by documents instead:
what is exchanged is then a table of words times topics, and documents need not be everywhere.

Run by itself, it checks that both ways give the same model, and says what each exchanges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from benchmarks import data, harness
from semascope import PLSA, Analyzer, Corpus, ThreadEngine
from semascope.corpus.shards import Shard
from semascope.engines.exact_sums import Accumulator, CountTotal, LazyCounts
from semascope.kernels.jit import kernel
from semascope.kernels.plsa import add, add_four, dot, dot_four, log_part, weight
from semascope.training.plsa import EM, EMState, expected_counts

COLLECTION = "ir/med"
TOPICS = 32
ITERATIONS = 20
TOLERANCE = 1e-6


# --- kernels ---------------------------------------------------------------------------------------------------------------


@kernel
def add_up_own_topics(ends, words, theta, topics, p):
    """Each entry's P(word | document), as far as it comes from these topics."""
    for d in range(ends.shape[0] - 1):
        j, end = ends[d], ends[d + 1]
        while j + 4 <= end:
            a, b, c, e = words[j], words[j + 1], words[j + 2], words[j + 3]
            p[j], p[j + 1], p[j + 2], p[j + 3] = dot_four(theta, d, topics, a, b, c, e)
            j += 4
        while j < end:
            p[j] = dot(theta, d, topics, words[j])
            j += 1


@kernel
def move_documents(ends, words, counts, p, theta, topics, new_theta, weights):
    """New shares of these topics in each document, the weight n / P(word | document) of each entry, and Σ n log P.

    The sum over all topics that the shares are divided by is the number of the document's tokens: no need to ask the others.
    """
    log_likelihood = 0.0
    for d in range(ends.shape[0] - 1):
        for k in range(theta.shape[1]):
            new_theta[d, k] = 0
        length = 0.0
        for j in range(ends[d], ends[d + 1]):
            weights[j] = weight(counts[j], p[j])
            log_likelihood += log_part(counts[j], p[j])
            if p[j] > 0:
                length += counts[j]
        j, end = ends[d], ends[d + 1]
        while j + 4 <= end:
            a, b, c, e = words[j], words[j + 1], words[j + 2], words[j + 3]
            add_four(new_theta, d, topics, weights[j], a, weights[j + 1], b, weights[j + 2], c, weights[j + 3], e)
            j += 4
        while j < end:
            add(new_theta, d, weights[j], topics, words[j])
            j += 1
        for k in range(theta.shape[1]):
            new_theta[d, k] = new_theta[d, k] * theta[d, k] / length if length > 0 else theta[d, k]
    return log_likelihood


# --- one rank --------------------------------------------------------------------------------------------------------------


@dataclass
class Piece:
    """A shard of the documents with its entries' place among all, and the shares of this rank's topics in them."""

    shard: Shard
    entries: slice
    theta: np.ndarray


class ByTopics(NamedTuple):
    """What a fit came to, on every rank."""

    components: np.ndarray
    doc_topics: np.ndarray
    log_likelihood: list[float]


class Rank:
    """The topics of one rank, and all documents."""

    def __init__(self, comm: Any, corpus: Corpus, n_topics: int, seed: int, dtype: str) -> None:
        if comm.size > n_topics:
            raise ValueError(f"{n_topics} topics cannot be divided among {comm.size} ranks")
        self._comm = comm
        self._em = EM(n_topics, corpus.n_documents, corpus.n_words, corpus.n_tokens, seed, dtype)
        bounds = np.linspace(0, n_topics, comm.size + 1).round().astype(int)
        self._mine = slice(bounds[comm.rank], bounds[comm.rank + 1])
        self._pieces, state = self._start([reference.open() for reference in corpus.shards()])
        self.topics = np.ascontiguousarray(state.topics[:, self._mine])
        self._document_part = state.document_part
        self._p = np.empty(len(corpus.rows.words), dtype)
        self.bytes_reduced = 0

    def _start(self, shards: list[Shard]) -> tuple[list[Piece], EMState]:
        """The start of semascope's PLSA for this seed; every rank makes the whole of it, and keeps its columns."""
        pieces, first, statistics = [], 0, Accumulator()
        for shard in shards:
            local, stats = self._em.init_shard(shard)
            statistics.add(stats)
            last = first + len(shard.rows.words)
            pieces.append(Piece(shard, slice(first, last), np.ascontiguousarray(local["theta"][:, self._mine])))
            first = last
        return pieces, self._em.init_state(statistics.total)

    def iterate(self) -> float:
        """One iteration; the log-likelihood before it."""
        from mpi4py import MPI

        for piece in self._pieces:
            rows = piece.shard.rows
            add_up_own_topics(rows.ends, rows.words, piece.theta, self.topics, self._p[piece.entries])
        self._comm.Allreduce(MPI.IN_PLACE, self._p, op=MPI.SUM)
        self.bytes_reduced += self._p.nbytes
        return self._move_own_topics() + self._document_part

    def _move_own_topics(self) -> float:
        counts, log_likelihood = CountTotal.for_part(self._expected(self._pieces[0], self._p)), 0.0
        for piece in self._pieces:
            new_theta, weights = np.empty_like(piece.theta), np.empty_like(self._p[piece.entries])
            log_likelihood += move_documents(
                *piece.shard.rows, self._p[piece.entries], piece.theta, self.topics, new_theta, weights
            )
            counts.add(self._expected(piece, weights))
            piece.theta = new_theta
        self.topics = counts.columns_normalized(self._em.dtype)  # a topic's words are all here
        return log_likelihood

    def _expected(self, piece: Piece, weights: np.ndarray) -> LazyCounts:
        return expected_counts(piece.shard.by_word, weights, piece.theta, self.topics, self._em.n_tokens)

    def gather(self) -> tuple[np.ndarray, np.ndarray]:
        """P(word | topic) and P(topic | document) of all topics."""
        topics = np.concatenate(self._comm.allgather(self.topics), axis=1)
        theta = np.concatenate([piece.theta for piece in self._pieces])
        return topics.T, np.concatenate(self._comm.allgather(theta), axis=1)


def fit(
    comm: Any,
    corpus: Corpus,
    n_topics: int,
    iterations: int,
    *,
    seed: int = 0,
    dtype: str = "float32",
    watch: Callable[[Rank], None] | None = None,
) -> ByTopics:
    """Fit PLSA on the ranks of a communicator; `watch` is called after each iteration."""
    rank, history = Rank(comm, corpus, n_topics, seed, dtype), []
    for _ in range(iterations):
        history.append(rank.iterate())
        if watch:
            watch(rank)
    return ByTopics(*rank.gather(), history)


# --- is it the same model? -------------------------------------------------------------------------------------------------


def bytes_by_topics(n_entries: int, itemsize: int) -> int:
    """What a rank puts into Allreduce in an iteration when topics are divided."""
    return n_entries * itemsize


def bytes_by_documents(n_words: int, n_topics: int, n_scalars: int) -> int:
    """What a rank puts into Allreduce in an iteration when documents are divided: exact sums have 64 bits."""
    return 8 * n_words * n_topics + 8 * n_scalars


def check(comm: Any, corpus: Corpus, n_topics: int = TOPICS, iterations: int = ITERATIONS, seed: int = 0) -> dict[str, Any]:
    """Largest difference from semascope's own PLSA in double precision, and the bytes of an iteration."""
    taken: list[int] = []
    ours = fit(
        comm, corpus, n_topics, iterations, seed=seed, dtype="float64", watch=lambda rank: taken.append(rank.bytes_reduced)
    )
    model = PLSA(n_topics, max_iter=iterations, tol=0, random_state=seed, dtype="float64", engine=ThreadEngine(1)).fit(corpus)
    return {
        "ranks": comm.size,
        "topics": n_topics,
        "iterations": iterations,
        "components": float(np.abs(ours.components - model.components_).max()),
        "doc_topics": float(np.abs(ours.doc_topics - model.doc_topics_).max()),
        "log_likelihood": float(np.abs(np.divide(ours.log_likelihood, model.log_likelihood_) - 1).max()),
        "bytes": taken[-1] // iterations,
        "bytes_formula": bytes_by_topics(len(corpus.rows.words), 8),
        "bytes_by_documents": bytes_by_documents(corpus.n_words, n_topics, len(corpus.shards())),
    }


def main() -> None:
    from mpi4py import MPI

    try:
        texts = [text for text in data.texts(COLLECTION)[""] if text.strip()]
        corpus = Corpus.from_texts(texts, analyzer=Analyzer(stop_words="english", stemmer="english"))
    except data.NoDataError:
        corpus = Corpus.from_matrix(data.ap89_like(1_000, 5_000, 80_000))
    found = check(MPI.COMM_WORLD, corpus)
    if MPI.COMM_WORLD.rank == 0:
        rows = [(name, f"{value:.3g}" if isinstance(value, float) else value) for name, value in found.items()]
        harness.show(f"Division by topics against semascope, {corpus!r}", ("what", "value"), rows)
    if max(found["components"], found["doc_topics"]) > TOLERANCE or found["bytes"] != found["bytes_formula"]:
        raise SystemExit("the division by topics does not give the model of semascope, or not for these bytes")


if __name__ == "__main__":
    main()
