"""The fused kernels give the numbers of the dense reference."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from helpers import large_counts, random_counts
from reference.plsa import em_dense, fit_dense, fold_in_dense
from semascope import PLSA, Corpus, ThreadEngine
from semascope.corpus.shards import as_read_only
from semascope.engines.exact_sums import Accumulator
from semascope.kernels.plsa import fold_in, log_likelihoods
from semascope.training.plsa import EM


def algorithm_for(counts, n_topics, seed=0, dtype="float64"):
    n_documents, n_words = counts.shape
    return EM(n_topics, n_documents, n_words, float(counts.sum()), seed, dtype)


def started(counts, n_topics, seed=0, dtype="float64"):
    """The start of a fit over one shard: algorithm, shard, theta, state."""
    (shard,) = Corpus.from_matrix(counts).shards()
    algorithm = algorithm_for(counts, n_topics, seed, dtype)
    local, stats = algorithm.init_shard(shard.open())
    accumulator = Accumulator()
    accumulator.add(stats)
    return algorithm, shard.open(), local["theta"], algorithm.init_state(accumulator.total)


@pytest.mark.parametrize("n_topics", [1, 2, 3, 7, 8, 17])
def test_a_pass_gives_the_numbers_of_the_dense_reference(n_topics):
    counts = random_counts(n_topics)
    algorithm, shard, theta, state = started(counts, n_topics)
    new, stats = algorithm.step(shard, {"theta": theta}, state)
    accumulator = Accumulator()
    accumulator.add(stats)
    total = accumulator.total.word_topic
    want_theta, want_expected, want_likelihood = em_dense(counts, theta, state.topics)
    assert_allclose(new["theta"], want_theta, rtol=1e-10, atol=1e-300)
    assert_allclose(np.ldexp(total.table.astype(float), -total.exponent), want_expected, rtol=1e-10, atol=1e-12)
    assert_allclose(accumulator.total.log_likelihood.sums(), [want_likelihood], rtol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_a_whole_fit_in_double_precision_equals_the_dense_reference(seed):
    counts = random_counts(seed)
    _, _, theta, state = started(counts, 3, seed)
    model = PLSA(3, max_iter=25, tol=0, random_state=seed, dtype="float64").fit(counts)
    want_theta, want_topics, want_history = fit_dense(counts, theta, state.topics, 25)
    assert_allclose(model.log_likelihood_, want_history, rtol=1e-10)
    assert_allclose(model.components_.T, want_topics, atol=1e-10)
    assert_allclose(model.doc_topics_, want_theta, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_the_textbook_algorithm_gives_the_numbers_of_the_fused_one(seed):
    counts = large_counts(seed)
    settings = {"max_iter": 20, "tol": 0, "random_state": seed, "dtype": "float64"}
    fused, textbook = (PLSA(5, algorithm=algorithm, **settings).fit(counts) for algorithm in ("fused", "textbook"))
    assert_allclose(textbook.log_likelihood_, fused.log_likelihood_, rtol=1e-10)
    assert_allclose(textbook.components_, fused.components_, atol=1e-10)
    assert_allclose(textbook.doc_topics_, fused.doc_topics_, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_single_precision_stays_within_a_ten_thousandth_a_token_of_double(seed):
    counts = large_counts(seed)
    single, double = (
        PLSA(8, max_iter=40, tol=0, random_state=seed, dtype=dtype).fit(counts).log_likelihood_
        for dtype in ("float32", "float64")
    )
    assert_allclose(single, double, atol=1e-4 * counts.sum())


def test_the_cut_into_shards_changes_only_the_rounding():
    counts = large_counts()
    assert len(Corpus.from_matrix(counts).shards()) >= 4
    model = PLSA(4, max_iter=10, tol=0, random_state=0, dtype="float64").fit(counts)
    shards = Corpus.from_matrix(counts).shards()
    theta = np.concatenate([algorithm_for(counts, 4).init_shard(shard.open())[0]["theta"] for shard in shards])
    accumulator = Accumulator()
    for shard in shards:
        accumulator.add(algorithm_for(counts, 4).init_shard(shard.open())[1])
    state = algorithm_for(counts, 4).init_state(accumulator.total)
    want_theta, want_topics, _ = fit_dense(counts, theta, state.topics, 10)
    assert_allclose(model.doc_topics_, want_theta, atol=1e-10)
    assert_allclose(model.components_.T, want_topics, atol=1e-10)


@pytest.mark.parametrize("prior", [0.0, 0.1])
def test_folding_in_gives_the_numbers_of_the_dense_reference(prior):
    counts, rng = random_counts(5), np.random.default_rng(0)
    topics = rng.dirichlet(np.full(counts.shape[1], 0.3), 6).T.copy()
    start = rng.dirichlet(np.ones(6), len(counts))
    theta = start.copy()
    fold_in(
        *Corpus.from_matrix(counts).rows, as_read_only(topics, np.float64), theta, 1.0, np.ones(6), np.full(6, prior), 20, -1.0
    )
    assert_allclose(theta, fold_in_dense(counts, topics, start, prior, 20), rtol=1e-9, atol=1e-200)


def test_likelihoods_leave_out_words_the_model_cannot_produce():
    rows = Corpus.from_matrix([[2.0, 1.0, 4.0]]).rows
    topics = as_read_only(np.array([[0.5], [0.5], [0.0]]), np.float64)
    totals, tokens = np.empty(1), np.empty(1)
    log_likelihoods(*rows, topics, np.ones((1, 1)), totals, tokens)
    assert_allclose(totals, 3 * np.log(0.5))
    assert tokens.tolist() == [3.0]


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_any_number_of_threads_gives_the_same_bits(n_threads, dtype):
    counts = large_counts()
    one, many = (
        PLSA(8, max_iter=15, tol=0, random_state=3, dtype=dtype, engine=ThreadEngine(n)).fit(counts) for n in (1, n_threads)
    )
    assert one.components_.tobytes() == many.components_.tobytes()
    assert one.doc_topics_.tobytes() == many.doc_topics_.tobytes()
    assert one.log_likelihood_ == many.log_likelihood_
