"""Held-out perplexity equals the plain reference, and means what it says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from helpers import large_counts, random_counts
from reference.heldout import halve as reference_halve
from reference.heldout import hold_out as reference_hold_out
from reference.heldout import perplexity as reference_perplexity
from semascope import PLSA, Corpus, ThreadEngine
from semascope.errors import InputError
from semascope.evaluation.heldout import perplexity
from semascope.kernels.heldout import halve, hold_out


@pytest.mark.parametrize("seed", range(5))
def test_halves_are_those_of_the_reference(seed):
    counts = random_counts(seed)
    known = np.random.default_rng(seed).random(counts.shape[1]) < 0.8
    corpus = Corpus.from_matrix(counts)
    halves = halve(*corpus.rows, known, 7, seed)
    for rows, want in zip(halves, reference_halve(counts, known, 7, seed), strict=True):
        dense = np.zeros_like(counts)
        for d in range(len(counts)):
            part = slice(rows[0][d], rows[0][d + 1])
            dense[d, rows[1][part]] = rows[2][part]
        assert_allclose(dense, want)


@pytest.mark.parametrize("seed", range(5))
def test_tokens_held_out_are_those_of_the_reference_whatever_the_shard(seed):
    counts = random_counts(seed)
    counts[3, :5] = [64, 65, 1000, 10**6, 70]  # too many to draw for each
    rows = Corpus.from_matrix(counts).rows
    held = reference_hold_out(counts, 7, seed, 0.3)
    assert_allclose(hold_out(*rows, 7, seed, 0.3), held[np.nonzero(counts)])
    few = counts <= 64
    assert 0.2 < held[few].sum() / counts[few].sum() < 0.4
    part = Corpus.from_matrix(counts[5:]).rows
    assert_allclose(hold_out(*part, 12, seed, 0.3), held[5:][np.nonzero(counts[5:])])


def test_halves_differ_by_one_token_at_most_and_lose_none():
    counts = random_counts(1)
    first, second = reference_halve(counts, np.ones(counts.shape[1], bool), 0, 3)
    used = counts.sum(axis=1) >= 2
    assert_allclose((first + second)[used], counts[used])
    assert np.all(np.isin((second - first).sum(axis=1), [0, 1]))


@pytest.mark.parametrize("seed", range(3))
def test_perplexity_is_that_of_the_reference(seed):
    counts = random_counts(seed)
    topics = np.random.default_rng(seed).dirichlet(np.full(counts.shape[1], 0.3), 4).T
    topics[0] = 0  # a word the model has never seen
    shards = Corpus.from_matrix(counts).shards()
    assert_allclose(
        perplexity(topics, shards, ThreadEngine(), seed=seed), reference_perplexity(counts, topics, seed), rtol=1e-4
    )


def test_perplexity_does_not_depend_on_the_number_of_threads():
    counts = large_counts()
    model = PLSA(4, max_iter=5, random_state=0).fit(counts)
    values = {model.set_params(engine=ThreadEngine(n)).perplexity(counts, seed=1) for n in (1, 2, 5)}
    assert len(values) == 1


def test_the_planted_model_predicts_better_than_one_topic():
    counts = large_counts()
    train, test = counts[:400], counts[400:]
    assert PLSA(8, random_state=0).fit(train).perplexity(test) < 0.9 * PLSA(1, random_state=0).fit(train).perplexity(test)


def test_perplexity_of_nothing_is_refused():
    model = PLSA(1, random_state=0).fit([[1, 1], [2, 0]])
    with pytest.raises(InputError, match="at least two words that the model knows"):
        model.perplexity([[1, 0], [0, 0]])
