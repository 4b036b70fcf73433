"""The largest singular values of a sparse matrix A and their vectors, by the block Lanczos method from random vectors.

Blocks X₀, X₁, … of few vectors are orthonormal, each in itself and to all before it; the first is computed from Aᵀ times
random vectors. A pass over the corpus computes Z = Aᵀ A X of the last block. Its projections on the blocks so far, C = Xᵀ Z
of each, are a column of the small matrix G = Xᵀ Aᵀ A X of all blocks together; the remainder, W = Z − X C, is orthonormalized
to become the next block. So every pass over a narrow block enlarges the space, where other methods revisit wide ones.

The decomposition from k vectors so far: with G = Hᵀ H, columns of A X H⁻¹ are orthonormal, and their projection of A (Halko,
Martinsson and Tropp, 2011) has the small matrix H Hᵀ, plus H⁻ᵀ Wᵀ W H⁻¹ in the corner of the last block. Its eigenvalues Σ²
approximate those of Aᵀ A; with its eigenvectors P, right singular vectors are V = (X G + W) H⁻¹ P Σ⁻¹.

Rounding errors along converged vectors would grow with every pass. So blocks are orthogonalized against all before them,
where without rounding the last two would suffice; and again if little was left of Z. What consists of rounding errors only is
set to zero.

Entries are divided by the root of an upper bound of Σ a², so that fourth powers are within the range of single precision.

Only the blocks of words, the statistics of a pass, and small matrices are stored; nothing of the documents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.linalg import eigh, eigvalsh
from scipy.linalg import svd
from scipy.sparse.linalg import svds

from semascope.corpus.corpus import Corpus
from semascope.corpus.shards import Shard, as_read_only
from semascope.engines.base import Engine, Locals
from semascope.engines.exact_sums import Counts, CountTotal, LazyCounts, Scalars, ScalarTotal
from semascope.kernels.csr import facts_of_words
from semascope.kernels.linalg import eigenvalues
from semascope.kernels.sparse_products import project_documents, project_words
from semascope.storage.facts import Fact, Number
from semascope.storage.layout import ANY, TINY, Array, numbers
from semascope.training.algorithm import AlgorithmConfig
from semascope.training.linalg import (
    append_column,
    bordered,
    combine,
    deflate,
    fix_signs,
    gram,
    multiply,
    multiply_blocks,
    noise_level,
    one_thread_each,
    reciprocals,
    split_halves,
    whitening,
)
from semascope.training.weighting import WEIGHTINGS, WordFacts

if TYPE_CHECKING:
    from numpy.typing import NDArray


PASSES = 4.5
"""Number of blocks that hold as many vectors as requested. Narrow blocks need fewer products in all, but more passes."""

WIDTHS = (24, 48)
"""Efficient widths of a block for the kernels: one of these, or a multiple of the last."""

MORE = 1.75
"""The first residual is computed after this many times the requested number of vectors."""

MIN_REMAINDER, TRIES = 0.1, 3
"""A block of which less than this fraction is left has lost digits, and is orthogonalized again, this many times at most."""

MAX_ENTRY = 8.0
"""Upper bound on entries of a state: columns of blocks have length one, and the matrix has norm at most one."""

ROOM = 2.0**10
"""Factor by which integers in sums are smaller than they could be: below 2^51 the kernel converts them faster."""

QUANTUM = 2.0**-44
"""Error of integer sums, times the root of the number of words: squares of the smallest values are no less."""


class LanczosState(NamedTuple):
    """State broadcast to all shards.

    blocks     X₀, X₁, …: the last is that of the next pass; none before the first
    rest       W of the last pass
    small      G of all blocks but the last
    square     Wᵀ W
    residuals  √(Σ a² − Σ σ²) over √Σ a² after each pass, from the first computed one on
    total      Σ a², relative to its upper bound
    most       upper bound of Σ a²
    of_word    factor of each word in the matrix, if the weighting has any
    word_sums  Σ n of each word
    """

    blocks: NDArray[Any]
    rest: NDArray[Any]
    small: NDArray[np.float64]
    square: NDArray[np.float64]
    residuals: NDArray[np.float64]
    total: float
    most: float
    of_word: NDArray[np.float64]
    word_sums: NDArray[np.float64]


class Decomposition(NamedTuple):
    """Singular value decomposition.

    values     the singular values, largest first, where they are above the noise
    vectors    right singular vectors, a row for each word, those of the largest values first
    residuals  √(Σ a² − Σ σ²) over √Σ a² after each pass, from the first computed one on
    total      Σ a²
    of_word    factor of each word in the matrix, if the weighting has any
    word_sums  Σ n of each word
    """

    values: NDArray[np.float64]
    vectors: NDArray[Any]
    residuals: NDArray[np.float64]
    total: float
    of_word: NDArray[np.float64]
    word_sums: NDArray[np.float64]


class WordStats(NamedTuple):
    """Statistics of words for the weighting, and the upper bound of Σ a²."""

    words: Counts | CountTotal
    square: Scalars | ScalarTotal


class PassStats(NamedTuple):
    """Statistics of a pass: Z, and in the first one Σ a²."""

    product: LazyCounts | CountTotal
    square: Scalars | ScalarTotal


@dataclass(frozen=True)
class BlockLanczos(AlgorithmConfig):
    """Block Lanczos method, as pure functions of their arguments.

    weighting  term weighting of the matrix
    """

    weighting: str = "hellinger"

    state_type: ClassVar[type] = LanczosState
    state_arrays: ClassVar[Mapping[str, Array]] = {
        "blocks": numbers(ANY, "n_words", "width", low=-MAX_ENTRY, high=MAX_ENTRY),
        "rest": numbers("n_words", "width", low=-MAX_ENTRY, high=MAX_ENTRY, may_be_empty=True),
        "small": numbers(ANY, ANY, low=-MAX_ENTRY, high=MAX_ENTRY),
        "square": numbers("width", "width", low=-MAX_ENTRY, high=MAX_ENTRY, may_be_empty=True),
        "residuals": numbers(ANY, low=0.0, high=MAX_ENTRY),
        "of_word": numbers("n_words", low=0.0, high=1e6, may_be_empty=True),
        "word_sums": numbers("n_words", low=0.0),
    }
    state_numbers: ClassVar[Mapping[str, Fact]] = {"total": Number(0, MAX_ENTRY), "most": Number(TINY)}
    local_arrays: ClassVar[Mapping[str, Array]] = {"nothing": numbers("shard_documents", 0)}
    objective_name: ClassVar[str] = "residual"
    per_token: ClassVar[bool] = False

    @property
    def width(self) -> int:
        """Number of vectors of a block."""
        wanted, widest = math.ceil(self.n_topics / PASSES), WIDTHS[-1]
        fitting = next((width for width in WIDTHS if width >= wanted), widest * -(-wanted // widest))
        return min(fitting, self.n_documents, self.n_words)

    def sizes(self) -> dict[str, int]:
        return {**super().sizes(), "width": self.width}

    def state_problem(self, state: LanczosState, history: Sequence[float]) -> str | None:
        n_done = max(len(state.blocks) - 1, 0)
        if state.small.shape != (n_done * self.width,) * 2 or len(state.residuals) > n_done:
            return f"the state has {len(state.blocks)} blocks, but a small matrix of shape {state.small.shape}"
        if n_done and not (len(state.rest) and len(state.square)):
            return "the arrays 'rest' and 'square' of the last pass are missing"
        if (len(state.of_word) > 0) != (WEIGHTINGS[self.weighting].of_word is not None) or not state.most > 0:
            return f"the word factors do not match the weighting {self.weighting!r}"
        return None

    def init_shard(self, shard: Shard) -> tuple[Locals, WordStats]:
        """Count the word statistics that the weighting needs."""
        facts = facts_of_words(shard.by_word.ends, shard.counts_by_word)
        square = WEIGHTINGS[self.weighting].square(shard.rows.counts.astype(np.float64), self.n_tokens)
        bound = max(self.n_tokens * math.log(max(self.n_tokens, 2.0)), self.n_tokens, 1.0)
        words = Counts(shard.by_word.words, facts, (self.n_words, facts.shape[1]), bound)
        return {"nothing": np.zeros((shard.n_documents, 0), self.dtype)}, WordStats(words, Scalars((square,)))

    def init_state(self, stats: WordStats) -> LanczosState:
        """Return the state before the first pass, with the factors of the weighting."""
        assert isinstance(stats.words, CountTotal)
        assert isinstance(stats.square, ScalarTotal)
        facts, of_word = stats.words.values(np.float64), WEIGHTINGS[self.weighting].of_word
        factors = of_word(WordFacts(self.n_documents, *facts.T)) if of_word else np.empty(0)
        none, (most,) = np.empty((0, 0)), stats.square.sums()
        blocks = np.empty((0, self.n_words, self.width), self.dtype)
        return LanczosState(blocks, none, none, none, np.empty(0), 0.0, most, factors, facts[:, 0])

    def step(self, shard: Shard, local: Locals, state: LanczosState) -> tuple[Locals, PassStats]:
        """Run a pass over a shard: Aᵀ A X; or Aᵀ times random vectors, before there is an X."""
        values, values_by_word = WEIGHTINGS[self.weighting].both_orders(shard, self.n_tokens, state.of_word, self.dtype)
        for entries in (values, values_by_word):
            entries *= entries.dtype.type(1 / math.sqrt(state.most))
        if len(state.blocks):
            rows, bound, square = np.empty((shard.n_documents, self.width), self.dtype), 2.0, 0.0
            project_documents(shard.rows.ends, shard.rows.words, values, as_read_only(state.blocks[-1], self.dtype), rows)
        else:
            rows, bound = self._random_rows(shard), 8 * self.n_documents**0.5  # eight times the expected value
            square = float(np.sum(values.astype(np.float64) ** 2))
        words, ends, documents, _ = shard.by_word
        work = partial(project_words, words, ends, documents, values_by_word, rows)
        product = LazyCounts(words, (self.n_words, self.width), ROOM * bound, work)
        return local, PassStats(product, Scalars((square,)))

    def _random_rows(self, shard: Shard) -> NDArray[Any]:
        """Draw normal numbers; with no more documents than vectors, return rows of the identity, which span everything."""
        if self.width == self.n_documents:
            return np.eye(self.n_documents, dtype=self.dtype)[shard.first_document :][: shard.n_documents]
        generator = np.random.default_rng([self.seed, shard.number])
        return generator.standard_normal((shard.n_documents, self.width), np.float32).astype(self.dtype)

    @one_thread_each()  # the bits of small matrices depend on the threads of linear algebra libraries
    def update(self, state: LanczosState, stats: PassStats) -> LanczosState:
        """Compute the next block, orthogonal to the blocks so far."""
        assert isinstance(stats.product, CountTotal)
        assert isinstance(stats.square, ScalarTotal)
        product, projection, square = combine(stats.product.fill, state.blocks)
        if len(state.blocks):
            return self._append_block(state, product, projection, square)
        (total,) = stats.square.sums()
        blocks = append_column(state.blocks)
        if self.width == self.n_words:
            blocks[-1] = np.eye(self.n_words)
        else:
            self._make_orthonormal(product, square, blocks, float(square.diagonal().max()))
        return state._replace(blocks=as_read_only(blocks, self.dtype), total=total)

    def _append_block(
        self, state: LanczosState, product: NDArray[Any], projection: NDArray[np.float64], whole: NDArray[np.float64]
    ) -> LanczosState:
        """Update the small matrix from Z, given C and Zᵀ Z, and append the block after X."""
        small, blocks, longest = bordered(state.small, projection), append_column(state.blocks), float(whole.diagonal().max())
        judge, square = partial(self._residuals, small, total=state.total), whole - projection.T @ projection
        with one_thread_each() as threads:
            if soon := eigvalsh(square)[0] >= MIN_REMAINDER**2 * longest:  # enough digits to decide, so one core begins with it
                judging = threads.submit(judge, square)
            square = deflate(product, state.blocks, projection)
            if not soon:
                judging = threads.submit(judge, square)
            self._make_orthonormal(product, square, blocks, longest)
            residuals = np.append(state.residuals, judging.result())
        return state._replace(
            blocks=as_read_only(blocks, self.dtype), rest=product, small=small, square=square, residuals=residuals
        )

    def _residuals(self, small: NDArray[np.float64], square: NDArray[np.float64], total: float) -> list[float]:
        """Compute the residual after a pass, once the space is large enough; otherwise return none."""
        if len(small) < min(MORE * self.n_topics, self.n_documents, self.n_words):
            return []
        _, projected = self._projection(small, square, (self.dtype, "float64"), self.width)
        explained = math.fsum(eigenvalues(projected)[-self.n_topics :])
        return [math.sqrt(max(total - explained, 0.0) / total) if total > 0 else 0.0]

    def _make_orthonormal(self, table: NDArray[Any], square: NDArray[np.float64], blocks: NDArray[Any], whole: float) -> None:
        """Orthonormalize a remainder into the last block of `table`: `square` is its own small matrix.

        `whole` is the square of its longest column before. Columns that have lost digits are orthogonalized again.
        """
        noise, others, block = noise_level(self.dtype), blocks[:-1], blocks[-1]
        floor = max(noise * float(square.diagonal().max()), noise**2 * whole)
        for turn in range(TRIES):
            root, shortest = whitening(square, floor, keep_noise=turn == 0)
            multiply(table, root, out=block)
            if shortest >= MIN_REMAINDER**2 * whole or turn + 1 == TRIES:
                break
            square = deflate(block, others, gram(others, block))
            table, floor, whole = block, noise, 1.0  # its columns have length one by now, up to noise

    def objective(self, state: LanczosState, stats: PassStats) -> float:
        """Return the fraction of Σ a² explained by the requested values before this pass."""
        return 1 - float(state.residuals[-1]) ** 2 if len(state.residuals) else 0.0

    def convergence_history(self, state: LanczosState, history: Sequence[float]) -> Sequence[float]:
        """Return the residuals, including that after the last pass, clipped at the level of rounding errors."""
        return np.maximum(state.residuals, np.finfo(self.dtype).eps ** 0.5).tolist()  # type: ignore[no-any-return]

    def broadcast_view(self, state: LanczosState) -> LanczosState:
        """Return the last block, and the factors of the weighting."""
        none = np.empty((0, 0))
        return state._replace(blocks=state.blocks[-1:], rest=none, small=none)

    @one_thread_each()
    def final_state(self, state: LanczosState) -> Decomposition:
        """Return the requested vectors, each with a positive entry of largest magnitude."""
        if not len(state.residuals):
            raise KeyboardInterrupt  # before there is any result
        inverse, projected = self._projection(state.small, state.square, ("float64",), len(state.small))
        squares, turn = eigh(projected)
        values = np.sqrt(np.maximum(squares[::-1][: self.n_topics], 0))
        factors = inverse @ turn[:, ::-1][:, : self.n_topics] * reciprocals(values)
        parts = np.concatenate([state.small @ factors, factors[-self.width :]])
        vectors = multiply_blocks([*state.blocks[:-1], state.rest], parts)
        fix_signs(vectors)
        total = state.total * state.most
        return Decomposition(np.empty(0), vectors, state.residuals, total, state.of_word, state.word_sums)

    def _projection(
        self, small: NDArray[np.float64], square: NDArray[np.float64], precisions: Sequence[str], last: int
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the last rows of H⁻¹, and the small matrix of the projection of A on the space so far.

        Computed in the first precision that suffices: for a residual, single takes half the time.
        """
        half, inverse = split_halves(small, noise_level(self.dtype) ** 2, QUANTUM * self.n_words**0.5, precisions, last)
        of_rest = inverse[-self.width :]
        return inverse, half @ half.T + of_rest.T @ square.astype(inverse.dtype) @ of_rest

    def document_rows(self, kept: Decomposition, local: Locals) -> NDArray[Any]:
        """Return nothing: documents are projected on demand."""
        return np.asarray(local["nothing"])


def arpack_svd(algorithm: BlockLanczos, corpus: Corpus, engine: Engine) -> Decomposition:
    """Compute the decomposition of an algorithm's matrix by ARPACK."""
    with engine.open(corpus.shards()) as placed:
        state = algorithm.init_state(placed.begin(algorithm.init_shard))
    rows = corpus.rows
    values = WEIGHTINGS[algorithm.weighting].values(rows, algorithm.n_tokens, state.of_word, np.float64)
    matrix = sp.csr_array((values, rows.words, rows.ends), shape=(algorithm.n_documents, algorithm.n_words))
    values, right = _svd(matrix, algorithm.n_topics, algorithm.seed)
    signs = np.where(right[np.arange(len(values)), np.abs(right).argmax(axis=1)] < 0, -1, 1)
    total = math.fsum(values**2)
    residual = math.sqrt(max(1 - math.fsum(values**2) / total, 0.0))
    vectors = np.ascontiguousarray((right * signs[:, None]).T.astype(algorithm.dtype))
    return Decomposition(values, vectors, np.array([residual]), total, state.of_word, state.word_sums)


def _svd(matrix: Any, n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute values and right vectors, the largest first. ARPACK requires fewer than there are."""
    if n < min(matrix.shape):
        start = np.random.default_rng(seed).standard_normal(min(matrix.shape))
        _, values, right = svds(matrix, n, v0=start, solver="arpack")
        order = np.argsort(-values, kind="stable")
        return values[order], right[order]
    _, values, right = svd(matrix.toarray(), full_matrices=False)
    return values[:n], right[:n]
