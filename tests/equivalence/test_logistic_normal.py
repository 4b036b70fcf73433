"""Inference of correlated topics gives the numbers of its slow twin."""

import numpy as np
import pytest

from reference import logistic_normal as slow
from semascope import Corpus
from semascope.kernels.logistic_normal import inverse
from semascope.training.ctm import Normal, infer_documents
from semascope.training.plsa import expected_counts


def problem(seed, n_topics=4, n_words=40, n_documents=25):
    random = np.random.default_rng(seed)
    counts = random.poisson(random.choice([0.1, 1.0, 5.0]), (n_documents, n_words)).astype(float)
    counts[3], counts[:, :2] = 0, 0
    topics = random.dirichlet(np.full(n_words, 0.3), n_topics).T + 1e-9
    root = random.normal(size=(n_topics, n_topics))
    return counts, topics, random.normal(size=n_topics), root @ root.T + 0.2 * np.eye(n_topics)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("max_passes", [1, 4])
def test_topics_moments_and_bound_are_those_of_the_slow_twin(seed, max_passes):
    counts, topics, mean, covariance = problem(seed)
    (ref,) = Corpus.from_matrix(counts).shards()
    shard = ref.open()
    means, variances = np.zeros((len(counts), 4)), np.ones((len(counts), 4))
    wanted = slow.infer(counts, topics, mean, covariance, means, variances, max_passes)
    found = infer_documents(shard, Normal(mean, covariance), topics, means, variances, max_passes, 0.0)
    expected = expected_counts(shard.by_word, found.weights, found.theta, topics, counts.sum())
    table = np.zeros(topics.shape, np.int64)
    expected.add_to(table, 2.0**40, 0, len(expected.rows))
    for mine, theirs in zip((means, variances, table / 2.0**40, found.moments), wanted[:-1], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(found.bound, wanted[-1], rtol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_every_pass_raises_the_bound(seed):
    counts, topics, mean, covariance = problem(seed)
    shard = Corpus.from_matrix(counts).shards()[0].open()
    prior, bounds = Normal(mean, covariance), []
    for passes in range(8):
        means, variances = np.zeros((len(counts), 4)), np.ones((len(counts), 4))
        bounds.append(infer_documents(shard, prior, topics, means, variances, passes, 0.0).bound)
    assert (np.diff(bounds) >= -1e-9 * abs(bounds[0])).all()


def test_a_matrix_is_inverted_or_said_not_to_be_definite():
    matrix = problem(0)[3]
    inverted = np.empty_like(matrix)
    np.testing.assert_allclose(inverse(matrix, inverted), np.linalg.slogdet(matrix)[1], rtol=1e-10)
    np.testing.assert_allclose(inverted, np.linalg.inv(matrix), rtol=1e-9)
    assert np.isnan(inverse(-matrix, inverted))
