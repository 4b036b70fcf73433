"""What PLSA promises, on many seeds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from helpers import random_counts
from semascope import PLSA


@pytest.mark.parametrize("seed", range(100))
def test_the_log_likelihood_never_falls(seed):
    rng = np.random.default_rng(seed)
    counts = random_counts(seed, int(rng.integers(5, 60)), int(rng.integers(5, 60)), int(rng.integers(1, 6)))
    for dtype, rounding in (("float64", 1e-12), ("float32", 1e-6)):
        history = PLSA(int(rng.integers(1, 6)), max_iter=30, tol=0, random_state=seed, dtype=dtype).fit(counts).log_likelihood_
        assert np.all(np.diff(history) >= -rounding * np.abs(history[:-1]))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 5))
def test_topics_and_documents_are_distributions(seed, n_topics):
    counts = random_counts(seed)
    model = PLSA(n_topics, max_iter=10, random_state=seed).fit(counts)
    for rows in (model.components_, model.doc_topics_, model.transform(counts), model.topic_shares_[None]):
        assert np.all(rows >= 0)
        assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31))
def test_a_document_is_folded_in_alike_alone_and_in_a_batch(seed):
    counts = random_counts(seed)
    model = PLSA(3, max_iter=10, random_state=0).fit(counts)
    together = model.transform(counts)
    alone = np.concatenate([model.transform(row[None]) for row in counts])
    assert together.tobytes() == alone.tobytes()


def test_planted_topics_are_found_again():
    rng = np.random.default_rng(0)
    planted = np.kron(np.eye(4), np.full(10, 0.1))
    theta = rng.dirichlet(np.full(4, 0.1), 400)
    counts = np.array([rng.multinomial(80, row) for row in theta @ planted])
    model = PLSA(4, max_iter=300, tol=1e-7, random_state=0).fit(counts)
    distance = 0.5 * np.abs(model.components_[:, None] - planted[None]).sum(axis=2)
    assert sorted(distance.argmin(axis=1)) == [0, 1, 2, 3]
    assert distance.min(axis=1).max() < 0.1


def test_scaling_all_counts_changes_no_topic():
    counts = random_counts(2)
    one, many = (PLSA(3, max_iter=20, tol=0, random_state=0, dtype="float64").fit(counts * f) for f in (1, 1024))
    assert_allclose(one.components_, many.components_, atol=1e-9)


def test_one_seed_gives_one_model_and_another_gives_another():
    counts = random_counts(4)
    first, again, other = (PLSA(3, max_iter=5, random_state=seed).fit(counts).components_ for seed in (1, 1, 2))
    assert first.tobytes() == again.tobytes() != other.tobytes()
