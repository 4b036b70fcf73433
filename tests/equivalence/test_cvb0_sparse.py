"""Passes over the few topics of each document give the numbers of the dense reference, and what all passes promise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from helpers import large_counts, random_counts
from reference.cvb0_sparse import chosen_dense, few_dense
from semascope import Corpus, ThreadEngine
from semascope.engines.exact_sums import Accumulator
from semascope.kernels.cvb0_sparse import MOST, counts_of_few
from semascope.kernels.simd import WIDTH
from semascope.training import cvb0_passes as few_pass
from semascope.training.cvb0 import CVB0, PASSES_OVER_ALL
from semascope.training.cvb0_passes import EVERY, LEAST, in_all_topics, in_groups, sparse_topics_of
from semascope.training.loop import run
from semascope.training.stopping import StopRule


def summed(stats):
    accumulator = Accumulator()
    accumulator.add(stats)
    return accumulator.total


def algorithm_for(counts, n_topics, few_from=WIDTH, dtype="float64", **settings):
    return CVB0(n_topics, *counts.shape, float(counts.sum()), 0, dtype, few_from=few_from, **settings)


def all_counts(local, name, n_topics):
    """N_dk in all topics, zero where they are not kept; and which are kept."""
    shape = (len(local["others"]), n_topics)
    counts, kept = np.zeros(shape), np.zeros(shape, dtype=bool)
    for d, (first, last) in enumerate(zip(local["group_ends"][:-1], local["group_ends"][1:], strict=True)):
        for group, values in zip(local["groups"][first:last], local[name][first:last], strict=True):
            topics = slice(group * WIDTH, min((group + 1) * WIDTH, n_topics))
            n = topics.stop - topics.start
            counts[d, topics], kept[d, topics] = values[WIDTH - n :], True
            assert (values[: WIDTH - n] == 0).all()
    return counts, kept


@pytest.mark.parametrize("n_languages", [1, 3])
@pytest.mark.parametrize("n_topics", [8, 9, 15, 16, 17, 27])
def test_passes_give_the_numbers_of_the_dense_reference(n_topics, n_languages):
    """With momentum, normalizers of several languages and a group of topics that overlaps the one before it."""
    rng = np.random.default_rng(n_topics)
    counts = random_counts(n_topics)
    counts[4] = 0
    lengths = counts.sum(axis=1)
    languages = np.sort(rng.integers(n_languages, size=counts.shape[1])).astype(np.int32)
    algorithm = algorithm_for(counts, n_topics, alpha=rng.uniform(0.05, 0.5, n_topics), eta=0.05, languages=languages)
    same = languages[:, None] == languages[None, :]
    (shard,) = Corpus.from_matrix(counts).shards()
    local, stats = algorithm.init_shard(shard)
    state, some_are_left_out = algorithm.init_state(summed(stats)), False
    for number in range(PASSES_OVER_ALL + 2 * EVERY):
        new, stats = algorithm.step(shard, local, state)
        total, objective = summed(stats), algorithm.objective(state, summed(stats))
        old = state._replace(topics=state.topics.copy())
        state = algorithm.update(state, total)
        if number >= PASSES_OVER_ALL:
            (now, kept), (before, _) = (all_counts(local, name, n_topics) for name in ("now", "before"))
            ahead = np.maximum(now + old.momentum * (now - before), 0)
            topics = old.topics / old.scale[languages]
            want, words, log_likelihood = few_dense(
                counts, kept, ahead, local["others"], topics, same @ topics, old.alpha, old.eta
            )
            assert_allclose(objective, log_likelihood, rtol=1e-9)
            assert_allclose(state.counts, words, rtol=1e-7, atol=1e-9)
            got, kept_then = all_counts(new, "now", n_topics)
            assert_allclose(got[kept_then], want[kept_then], rtol=1e-7, atol=1e-9)
            assert_allclose(got.sum(axis=1) + new["others"], lengths, rtol=1e-9, atol=1e-9)
            again = np.arange(len(counts)) % EVERY == number % EVERY
            assert (kept_then[~again] == kept[~again]).all()
            assert (kept_then[again] == chosen_dense(want, LEAST, WIDTH)[again]).all()
            some_are_left_out |= not kept.all()
        local = new
    assert some_are_left_out


@pytest.mark.parametrize("n_topics", [8, 13, 24])
def test_when_all_topics_are_kept_a_pass_is_one_over_all(n_topics, monkeypatch):
    monkeypatch.setattr(few_pass, "LEAST", -1.0)
    counts = random_counts(3)
    (shard,) = Corpus.from_matrix(counts).shards()
    few, dense = algorithm_for(counts, n_topics), algorithm_for(counts, n_topics, few_from=1000)
    found = []
    for algorithm in (few, dense):
        local, stats = algorithm.init_shard(shard)
        state = algorithm.init_state(summed(stats))
        for _ in range(PASSES_OVER_ALL + 10):
            local, stats = algorithm.step(shard, local, state)
            state = algorithm.update(state, summed(stats))
        found.append((algorithm.document_rows(state, local), algorithm.final_state(state).topics, state.objective))
    for of_few, of_all in zip(*found, strict=True):
        assert_allclose(of_few, of_all, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_topics_and_documents_are_distributions_whatever_the_counts(seed):
    counts = random_counts(seed)
    counts[1] = 0
    counts[2] *= 10.0 ** (seed % 5)
    algorithm = algorithm_for(counts, 20, dtype="float32", alpha=10.0 ** -(seed % 4), learn_alpha=bool(seed % 2))
    fitted = run(algorithm, Corpus.from_matrix(counts).shards(), ThreadEngine(2), stop=StopRule(25, 0.0))
    for rows in (fitted.documents, fitted.state.topics.T, fitted.state.topic_shares[None]):
        assert np.isfinite(rows).all()
        assert (rows >= 0).all()
        assert_allclose(rows.sum(axis=1), 1, rtol=2e-5)
    assert_allclose(fitted.state.counts.sum(), counts.sum(), rtol=1e-4)


def test_it_settles_where_passes_over_all_topics_do():
    """On documents that have one or two of forty topics."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(400, 0.02), size=40)
    counts = np.array([rng.multinomial(60, rng.dirichlet([1, 1]) @ topics[rng.integers(40, size=2)]) for _ in range(1500)])
    shards = Corpus.from_matrix(counts).shards()
    few, dense = (
        run(algorithm_for(counts, 40, few_from, "float32"), shards, ThreadEngine(2), stop=StopRule(60, 0.0))
        for few_from in (WIDTH, 1000)
    )
    assert few.history[-1] == pytest.approx(dense.history[-1], rel=0.01)
    apart = 0.5 * np.abs(few.state.topics - dense.state.topics).sum(axis=0)
    assert np.median(apart) < 0.05


@pytest.mark.parametrize("n_threads", [1, 3, 8])
def test_any_number_of_threads_gives_the_same_bits(n_threads):
    counts = large_counts()
    shards = Corpus.from_matrix(counts).shards()
    algorithm = algorithm_for(counts, 20, dtype="float32", learn_alpha=True, learn_eta=True)
    one, many = (run(algorithm, shards, ThreadEngine(n), stop=StopRule(15, 0.0)) for n in (2, n_threads))
    assert one.history == many.history
    assert one.state.topics.tobytes() == many.state.topics.tobytes()
    assert one.documents.tobytes() == many.documents.tobytes()


def test_few_topics_of_rows_become_rows_again():
    rng = np.random.default_rng(0)
    now = rng.gamma(0.1, size=(50, 19)) * (rng.random((50, 19)) < 0.3)
    now[7] = 0
    alpha, few = rng.uniform(0.01, 1, 19), sparse_topics_of(now, now)
    rows = in_all_topics(few, alpha)
    kept = chosen_dense(now, LEAST, WIDTH)
    assert_allclose(rows.sum(axis=1), 1)
    assert_allclose((rows * (now.sum(axis=1, keepdims=True) + alpha.sum()) - alpha)[kept], now[kept], atol=1e-12)
    assert few.groups.tolist() == [group for row in kept for group in range(3) if row[group * WIDTH]]


def test_what_the_prior_adds_to_a_word_goes_to_all_topics_in_proportion():
    topics = np.array([[0.5, 0.25], [0.125, 0.25]])
    alpha, totals = np.array([1.0, 2.0]), np.array([[8, 0, 16], [-4, 4, 4]], dtype=np.int64)
    prior_part = topics @ alpha
    counts_of_few(totals, 0.25, alpha, prior_part, topics)
    assert_allclose(topics, [[2 + 4 * 0.5, 4 * 0.5], [0, 1 + 0.5 / 0.625]])


def test_groups_of_topics_cover_each_topic_once():
    for n_topics in (8, 9, 100, 1000):
        values = np.arange(1.0, n_topics + 1)
        groups = in_groups(values)
        assert groups.shape == (-(-n_topics // WIDTH), WIDTH)
        assert sorted(groups[groups > 0]) == values.tolist()
    assert MOST >= 2**10
