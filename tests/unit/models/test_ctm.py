"""Correlated topics: as good as those of LDA where documents have them, with the signs of their correlations."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from semascope import LDA, CorrelatedTopicModel, load
from semascope.errors import FormatError, InputError
from semascope.training.checkpoint import Checkpoints

N_TOPICS = 8
BLOCKS = np.arange(N_TOPICS) // 2
COVARIANCE = 2.0 * (0.8 * (BLOCKS[:, None] == BLOCKS) + 0.2 * np.eye(N_TOPICS))


def planted(seed, n_documents=1500):
    """Documents in which topics come in pairs."""
    random = np.random.default_rng(seed)
    topics = random.dirichlet(np.full(400, 0.05), N_TOPICS)
    eta = random.multivariate_normal(np.zeros(N_TOPICS), COVARIANCE, n_documents)
    shares = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
    return np.array([random.multinomial(80, row @ topics) for row in shares]), topics, shares


def matched(model, topics):
    """The order of a model's topics in which they are most like the planted ones, and how far from them they are."""
    distances = abs(np.asarray(model.components_)[:, None] - topics).sum(axis=2) / 2
    found, wanted = linear_sum_assignment(distances)
    return found[np.argsort(wanted)], distances[found, wanted].mean()


@pytest.fixture(scope="module", params=[0, 1])
def of_pairs(request):
    counts, topics, shares = planted(request.param)
    return counts, topics, shares, CorrelatedTopicModel(N_TOPICS, random_state=1).fit(counts)


def test_topics_are_as_good_as_those_of_lda_and_their_shares_better(of_pairs):
    counts, topics, shares, model = of_pairs
    lda = LDA(N_TOPICS, alpha="auto", random_state=1).fit(counts)
    (order, distance), (of_lda, distance_of_lda) = matched(model, topics), matched(lda, topics)
    assert distance <= distance_of_lda
    error, error_of_lda = (abs(table - shares).sum() for table in (model.doc_topics_[:, order], lda.doc_topics_[:, of_lda]))
    assert error < 0.95 * error_of_lda


def test_the_signs_of_planted_correlations_are_found(of_pairs):
    _, topics, _, model = of_pairs
    order, _ = matched(model, topics)
    found = model.topic_correlations()[np.ix_(order, order)]
    assert ((found > 0) == (COVARIANCE > 0)).all()
    np.testing.assert_allclose(np.diag(found), 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_never_falls(seed):
    counts, _, _ = planted(seed, 100)
    model = CorrelatedTopicModel(4, random_state=seed, tol=0, max_iter=120, dtype="float64").fit(counts)
    assert len(model.elbo_) > 10
    assert (np.diff(model.elbo_) >= -1e-9 * abs(model.elbo_[0])).all()


def test_new_documents_have_the_topics_that_they_had_when_fitted(of_pairs):
    counts, _, _, model = of_pairs
    assert abs(model.transform(counts[:100]) - model.doc_topics_[:100]).sum(axis=1).mean() < 0.05
    without_words = model.transform(np.zeros((1, 400)))
    np.testing.assert_allclose(without_words, [np.exp(model.mean_) / np.exp(model.mean_).sum()], rtol=1e-5)


def test_merged_topics_are_saved_and_infer_the_sum_of_shares(of_pairs, tmp_path):
    counts, topics, _, model = of_pairs
    order, _ = matched(model, topics)
    pair = [int(order[0]), int(order[1])]
    merged = model.merge_topics(pair)
    merged.save(tmp_path / "merged")
    loaded = load(tmp_path / "merged")
    assert loaded.covariance_.shape == (N_TOPICS - 1, N_TOPICS - 1)
    assert np.array_equal(loaded.covariance_, merged.covariance_)
    assert np.linalg.eigvalsh(loaded.covariance_).min() > 0
    wanted, place = model.transform(counts[:200])[:, pair].sum(axis=1), min(pair)
    assert abs(loaded.transform(counts[:200])[:, place] - wanted).mean() < 0.05
    left = model.remove_topics([pair[0]])
    assert np.array_equal(left.covariance_, np.delete(np.delete(model.covariance_, pair[0], 0), pair[0], 1))


@pytest.mark.parametrize("cut", [3, 60])
def test_a_run_cut_off_in_either_phase_is_resumed_to_the_same_bits(cut, tmp_path):
    counts, _, _ = planted(0, 200)
    whole = CorrelatedTopicModel(4, random_state=0, tol=0, max_iter=70).fit(counts)
    checkpoints = Checkpoints(tmp_path / "unfinished", seconds=0)
    CorrelatedTopicModel(4, random_state=0, tol=0, max_iter=cut).fit(counts, checkpoints=checkpoints)
    resuming = Checkpoints(tmp_path / "unfinished", resume=True)
    resumed = CorrelatedTopicModel(4, random_state=0, tol=0, max_iter=70).fit(counts, checkpoints=resuming)
    assert whole.elbo_
    assert whole.elbo_ == resumed.elbo_
    for name in ("components_", "covariance_", "mean_", "doc_topics_"):
        assert getattr(whole, name).tobytes() == getattr(resumed, name).tobytes()


def test_bits_do_not_depend_on_where_memory_is():
    counts, _, _ = planted(0, 200)
    held, seen = [], set()
    for size in range(12):  # other allocations between fits move the arrays of the next one
        held.append([np.empty(1 + 97 * size * part) for part in range(5)])
        model = CorrelatedTopicModel(4, random_state=0, tol=0, max_iter=30).fit(counts)
        seen.add((tuple(model.elbo_), model.covariance_.tobytes()))
    assert len(seen) == 1


def test_a_covariance_that_is_none_is_refused(tmp_path):
    counts, _, _ = planted(0, 60)
    model = CorrelatedTopicModel(3, random_state=0, max_iter=5).fit(counts)
    model.covariance_ = -model.covariance_
    model.save(tmp_path / "model")
    with pytest.raises(FormatError, match="not symmetric and positive definite"):
        load(tmp_path / "model")
    with pytest.raises(InputError, match="eta must be a number above 0"):
        CorrelatedTopicModel(3, eta=0).fit(counts)
