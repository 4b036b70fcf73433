"""Sampled topic assignments of the tokens of documents, with the topics of a fitted model held fixed.

Given the topics, documents are independent, so each is a separate Gibbs chain: it starts from the posterior mean θ_d, burns in
and yields a draw every few sweeps. Random numbers are keyed by seed, sweep and document, so draws do not depend on shards,
threads or the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.shards import Shard, ShardRef, as_read_only
from semascope.kernels.draws import choose_first, sweep_documents
from semascope.resources import usable_cores
from semascope.training.cvb0_sampled import padded

if TYPE_CHECKING:
    from numpy.typing import NDArray

BURN_IN = 5
"""Sweeps before the first draw; ``python -m benchmarks draws`` compares them with long chains."""

THIN = 2
"""Sweeps between draws."""


class Draw(NamedTuple):
    """Sampled topics of the tokens of a block of documents.

    draw             index of the draw
    first_document   index of the first document of the block
    ends             int64[d + 1]   the tokens of document i are [ends[i]:ends[i + 1]] of `words` and `topics`
    words            int32[t]       word index of each token, ascending within a document
    topics           int32[t]       topic of each token
    """

    draw: int
    first_document: int
    ends: NDArray[np.int64]
    words: NDArray[np.int32]
    topics: NDArray[np.int32]


class Chains(NamedTuple):
    """Settings of the Gibbs chains.

    topics    float32[v, k']       φ, zero-padded to a multiple of the SIMD width
    priors    float32[1 or d, k']  α of all documents, or of each
    n_draws   number of draws
    seed      seed of the random numbers
    """

    topics: NDArray[np.float32]
    priors: NDArray[np.float32]
    n_draws: int
    seed: int

    @classmethod
    def of(cls, topics: NDArray[Any], alpha: NDArray[Any], n_draws: int, seed: int) -> Chains:
        """Create chains from φ, with words in rows, and α, for all documents or one row for each."""
        return cls(_padded(topics), _padded(np.atleast_2d(alpha)), n_draws, seed)

    def keys(self, first: int, n: int) -> NDArray[np.uint64]:
        """Return the random keys of n sweeps."""
        seeds = [np.random.SeedSequence([self.seed, 22, number]) for number in range(first, first + n)]
        return np.array([seed.generate_state(1, np.uint64)[0] for seed in seeds])


def sample_shard(ref: ShardRef, theta: NDArray[Any], chains: Chains) -> list[Draw]:
    """Sample the assignments of a shard, starting from the mean mixtures `theta`."""
    shard = ref.open()
    priors = chains.priors
    if len(priors) > 1:
        priors = priors[shard.first_document : shard.first_document + shard.n_documents]
    chosen, rows = np.empty(int(shard.lengths.sum()), np.int32), shard.rows
    choose_first(*rows, chains.topics, _padded(theta), chains.keys(0, 1), shard.first_document, chosen)
    kept = np.arange(chains.n_draws) * THIN + BURN_IN - 1  # all sweeps of a document in a row keep its topics in the cache
    drawn, unused = np.empty((chains.n_draws, len(chosen)), np.int32), np.zeros((0, 1), np.int64)
    keys = chains.keys(1, int(kept[-1]) + 1)
    sweep_documents(*rows, chains.topics, priors, keys, shard.first_document, chosen, unused, kept, drawn)
    ends, words = _expand_tokens(shard)
    return [Draw(draw, shard.first_document, ends, words, as_read_only(one, np.int32)) for draw, one in enumerate(drawn)]


def sample_assignments(shards: Sequence[ShardRef], theta: NDArray[Any], chains: Chains) -> Iterator[Draw]:
    """Sample the assignments of all documents, shard by shard, computed ahead on all cores.

    Parameters
    ----------
    shards : sequence of shards
        The documents, with integer counts.
    theta : ndarray of shape (n_documents, n_topics)
        Mean mixtures that the chains start from.
    chains : Chains
        Topics, priors and number of draws.
    """
    n_ahead = usable_cores()
    with ThreadPoolExecutor(n_ahead) as threads:
        work = partial(_sample_own, theta=theta, chains=chains)
        waiting = [threads.submit(work, shard) for shard in shards[:n_ahead]]
        for number in range(len(shards)):
            if number + n_ahead < len(shards):
                waiting.append(threads.submit(work, shards[number + n_ahead]))
            yield from waiting.pop(0).result()


def _sample_own(shard: ShardRef, theta: NDArray[Any], chains: Chains) -> list[Draw]:
    own = theta[shard.first_document : shard.first_document + shard.n_documents]
    return sample_shard(shard, own, chains)


def _expand_tokens(shard: Shard) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the token offsets of the documents, and the word of each token."""
    counts = shard.rows.counts.astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(counts)])[shard.rows.ends]
    return as_read_only(ends, np.int64), as_read_only(np.repeat(shard.rows.words, counts), np.int32)


def _padded(table: NDArray[Any]) -> NDArray[np.float32]:
    """Return a table of topics, zero-padded to a multiple of the SIMD width."""
    filled = np.zeros((len(table), padded(table.shape[1])), np.float32)
    filled[:, : table.shape[1]] = table
    return as_read_only(filled, np.float32)
