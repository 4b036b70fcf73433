"""The largest singular values of a sparse matrix A and their vectors, by randomised subspace iteration with shifts.

X is a block of orthonormal vectors, some more than are wanted; the first one is made of what Aᵀ makes of random vectors. A pass
over the corpus gives Y = A X and Z = Aᵀ Y, and these two small matrices: G = Xᵀ Z = Yᵀ Y and S = Zᵀ Z.

What a pass finds: with G = E Λ Eᵀ and W = E Λ^(−½), the columns of Q = Y W are orthonormal, and Qᵀ A = Wᵀ Zᵀ is all that they
see of A (Halko, Martinsson and Tropp, 2011). Its singular values and vectors are those of A as far as the block reaches: with
Wᵀ S W = P Σ² Pᵀ, right vectors are V = Z W P Σ^(−1), and left ones times their values are Y W P Σ.

The next block is made of (Aᵀ A − c) X, with c near the smallest value that the block has: what is not wanted dies out sooner
than with Aᵀ A alone. Its own small matrix, S − 2 c G + c², is known already.

Nothing is held but one block with the words, one with the documents, and small matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular

from semascope.corpus.shards import Shard, frozen, to_write_over
from semascope.engines.base import Locals
from semascope.engines.exact import Counts, CountTotal, LateCounts, Scalars, ScalarTotal
from semascope.kernels.lsa import project_documents, project_words
from semascope.training.dense import inner, less_and_times, one_thread_each, times
from semascope.training.facts import Facts
from semascope.training.weighting import WEIGHTINGS, WordFacts

if TYPE_CHECKING:
    from numpy.typing import NDArray

MORE = 5
"""One vector more in a block for every so many that are wanted: a wider block needs fewer passes."""

AT_LEAST_MORE = 8
"""But so many more at least."""

SHIFT, CAREFUL_SHIFT, BOLD_PASSES = 0.6, 0.4, 8
"""The shift, as a share s of the smallest value of Aᵀ A that the block has: a bold one in so many passes, then a careful one.
By how much the block is not orthonormal grows by (s / (1 − s))² with each pass, or shrinks."""


ROOM = 2.0**10
"""Sums are made of integers of so many times fewer than they could be: below 2^51 the kernel converts them sooner."""


class SubspaceState(NamedTuple):
    """What all shards share.

    block      X that the next pass starts from; none yet before the first
    product    Z of the last pass
    values     singular values found in it, of the whole block
    right      what Z is multiplied by to give the right singular vectors
    left       what Y is multiplied by to give the left ones times their values
    residuals  √(Σ a² − Σ σ²) over √Σ a² after each pass, with the wanted values
    total      Σ a²
    most       what Σ a² is at most
    of_word    factor of each word in the matrix, if words have any
    word_sums  Σ n of each word
    """

    block: NDArray[Any]
    product: NDArray[Any]
    values: NDArray[np.float64]
    right: NDArray[np.float64]
    left: NDArray[np.float64]
    residuals: NDArray[np.float64]
    total: float
    most: float
    of_word: NDArray[np.float64]
    word_sums: NDArray[np.float64]


class Decomposition(NamedTuple):
    """What is found.

    values     the singular values, largest first
    vectors    the right singular vectors, a row for each word
    left       what Y is multiplied by to give the left ones times their values
    residuals  √(Σ a² − Σ σ²) over √Σ a² after each pass
    total      Σ a²
    of_word    factor of each word in the matrix, if words have any
    word_sums  Σ n of each word
    """

    values: NDArray[np.float64]
    vectors: NDArray[Any]
    left: NDArray[np.float64]
    residuals: NDArray[np.float64]
    total: float
    of_word: NDArray[np.float64]
    word_sums: NDArray[np.float64]


class FactStats(NamedTuple):
    """What is known of words, and what Σ a² is at most."""

    words: Counts | CountTotal
    square: Scalars | ScalarTotal


class PassStats(NamedTuple):
    """What a pass adds up: Z, G, and in the first one Σ a²."""

    product: LateCounts | CountTotal
    small: Counts | CountTotal
    square: Scalars | ScalarTotal


@dataclass(frozen=True)
class SubspaceIteration(Facts):
    """Settings of the algorithm and facts of the corpus. Its methods are pure functions of their arguments.

    weighting  what the matrix has in place of counts
    """

    weighting: str = "hellinger"

    state_type: ClassVar[type] = SubspaceState
    objective_name: ClassVar[str] = "part explained"

    @property
    def width(self) -> int:
        """Vectors in a block: by eights, as processors work on them."""
        wanted = self.n_topics + max(self.n_topics // MORE, AT_LEAST_MORE)
        return min(8 * -(-wanted // 8), self.n_documents, self.n_words)

    def begin(self, shard: Shard) -> tuple[Locals, FactStats]:
        """Count what the weighting needs to know."""
        weighting = WEIGHTINGS[self.weighting]
        facts, square = weighting.facts_of(shard), weighting.square(shard.rows.counts.astype(np.float64), self.n_tokens)
        bound = max(self.n_tokens * math.log(max(self.n_tokens, 2.0)), self.n_tokens, 1.0)
        words = Counts(shard.by_word.words, facts, (self.n_words, facts.shape[1]), bound)
        return {"rows": np.zeros((shard.n_documents, 0), self.dtype)}, FactStats(words, Scalars((square,)))

    def start(self, stats: FactStats) -> SubspaceState:
        """Nothing is known yet but how counts are weighted."""
        assert isinstance(stats.words, CountTotal)
        assert isinstance(stats.square, ScalarTotal)
        facts, of_word = stats.words.values(np.float64), WEIGHTINGS[self.weighting].of_word
        factors = of_word(WordFacts(self.n_documents, *facts.T)) if of_word else np.empty(0)
        none, small, (most,) = np.empty((0, self.width), self.dtype), np.empty((0, 0)), stats.square.sums()
        return SubspaceState(none, none, np.empty(0), small, small, np.empty(0), 0.0, most, factors, facts[:, 0])

    def step(self, shard: Shard, local: Locals, state: SubspaceState) -> tuple[Locals, PassStats]:
        """One pass over a shard: Aᵀ A X; or Aᵀ times random vectors, where there is no X yet."""
        values = WEIGHTINGS[self.weighting].values(shard.rows, self.n_tokens, state.of_word, self.dtype)
        small, square = np.zeros((self.width, self.width), self.dtype), 0.0
        if len(state.block):
            rows, bound = np.empty((shard.n_documents, self.width), self.dtype), 2 * state.most
            project_documents(shard.rows.ends, shard.rows.words, values, state.block, rows)
            local = {"rows": rows}
            with one_thread_each():
                np.matmul(rows.T, rows, out=small)
        else:
            rows = self._random_rows(shard)
            bound = 8 * (self.n_documents * state.most) ** 0.5  # eight times what is to be expected will not be met
            square = float(np.sum(values.astype(np.float64) ** 2))
        work, numbers = partial(project_words, *shard.by_word, values, rows), np.arange(self.width, dtype=np.int32)
        product = LateCounts(shard.by_word.words, (self.n_words, self.width), ROOM * bound, work)
        return local, PassStats(product, Counts(numbers, small, small.shape, 2 * state.most), Scalars((square,)))

    def _random_rows(self, shard: Shard) -> NDArray[Any]:
        """Normal numbers; where there are no more documents than vectors, rows of the identity, which see all there is."""
        if self.width == self.n_documents:
            return np.eye(self.n_documents, dtype=self.dtype)[shard.first_document :][: shard.n_documents]
        generator = np.random.default_rng([self.seed, shard.number])
        return generator.standard_normal((shard.n_documents, self.width), np.float32).astype(self.dtype)

    def update(self, state: SubspaceState, stats: PassStats) -> SubspaceState:
        """Find singular values in what the pass saw, and make the next block."""
        assert isinstance(stats.product, CountTotal)
        assert isinstance(stats.small, CountTotal)
        assert isinstance(stats.square, ScalarTotal)
        product = stats.product.values(self.dtype, out=to_write_over(state.product))
        if len(state.block):
            with one_thread_each():
                return self._onward(state, product, stats.small.values(np.float64))
        (total,) = stats.square.sums()
        if self.width == self.n_words:
            block = np.eye(self.n_words, dtype=self.dtype)
        else:
            block = times(product, _whitening(inner(product, product), self.dtype))
        return state._replace(block=frozen(block, self.dtype), total=total)

    def _onward(self, state: SubspaceState, product: NDArray[Any], small: NDArray[np.float64]) -> SubspaceState:
        """What Z and G tell, and the block after X."""
        seen, root = inner(product, product), _whitening(small, self.dtype)
        squares, turn = eigh(root.T @ seen @ root)
        values, turn = np.sqrt(np.maximum(squares[::-1], 0)), turn[:, ::-1]
        right = root @ turn * _reciprocals(values)
        shift = values[-1] ** 2 * (SHIFT if len(state.residuals) < BOLD_PASSES else CAREFUL_SHIFT)
        moved = right.T @ (seen - 2 * shift * small + shift**2 * np.eye(self.width)) @ right
        block = to_write_over(state.block)
        less_and_times(product, shift, block, right @ _whitening(moved, self.dtype))
        explained = math.fsum(values[: self.n_topics] ** 2)
        unexplained = max(state.total - explained, 0.0) / state.total if state.total > 0 else 0.0
        return state._replace(
            block=frozen(block, self.dtype),
            product=product,
            values=values,
            right=right,
            left=root @ turn * values,
            residuals=np.append(state.residuals, math.sqrt(unexplained)),
        )

    def objective(self, state: SubspaceState, stats: PassStats) -> float:
        """Part of Σ a² that the wanted values had before this pass."""
        return 1 - float(state.residuals[-1]) ** 2 if len(state.residuals) else 0.0

    def to_judge(self, state: SubspaceState, history: Sequence[float]) -> Sequence[float]:
        """The residuals, that after the last pass included; what is below rounding errors is all one."""
        return np.maximum(state.residuals, np.finfo(self.dtype).eps ** 0.5).tolist()  # type: ignore[no-any-return]

    def to_send(self, state: SubspaceState) -> SubspaceState:
        """All but what only `update` needs."""
        return state._replace(product=state.product[:0])

    def to_keep(self, state: SubspaceState) -> Decomposition:
        """The wanted values and vectors, of which the largest entry in size is positive."""
        if not len(state.residuals):
            raise KeyboardInterrupt  # before anything was found
        vectors = times(state.product, state.right[:, : self.n_topics])
        signs = np.where(-vectors.min(axis=0) > vectors.max(axis=0), -1, 1)
        vectors *= signs.astype(self.dtype)
        return Decomposition(
            state.values[: self.n_topics],
            vectors,
            state.left[:, : self.n_topics] * signs,
            state.residuals,
            state.total,
            state.of_word,
            state.word_sums,
        )

    def document_rows(self, kept: Decomposition, local: Locals) -> NDArray[Any]:
        """Left singular vectors times their values."""
        return times(np.asarray(local["rows"]), kept.left)

    def note(self, state: SubspaceState) -> str:
        """Nothing beside the objective."""
        return ""


def _whitening(small: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
    """What a table with this small matrix is multiplied by for its columns to become orthonormal.

    Directions of which the table has nothing but rounding errors become zero.
    """
    noise = 10 * float(np.finfo(dtype).eps)
    with one_thread_each():
        try:
            root = cholesky(small)  # far sooner done than eigenvalues, where nothing needs to be left out
            if root.diagonal().min() ** 2 > noise * root.diagonal().max() ** 2:
                return np.asarray(solve_triangular(root, np.eye(len(root))))
        except LinAlgError:
            pass
        squares, turn = eigh(small)
    known = squares > noise * max(squares[-1], 0)
    return np.asarray(turn * _reciprocals(np.sqrt(np.where(known, squares, 0))))


def _reciprocals(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / values, and 0 for 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
