"""Tempered EM gives the numbers of the dense reference, and finds β by itself."""

from operator import itemgetter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equivalence.test_plsa import started
from helpers import collection, large_counts, random_counts
from reference.heldout import hold_out as reference_hold_out
from reference.plsa import fit_dense, fold_in_dense, heldout_dense
from semascope import PLSA, Analyzer, Checkpoints, Corpus, ThreadEngine
from semascope.kernels.plsa import heldout_likelihood
from semascope.training import plsa_tempered as tempering
from semascope.training.loop import run
from semascope.training.plsa_tempered import Search, TemperedEM, TemperedState, power
from semascope.training.stopping import StopRule


def facts(corpus, n_topics, seed=0):
    return {
        "n_topics": n_topics,
        "n_documents": corpus.n_documents,
        "n_words": corpus.n_words,
        "n_tokens": corpus.n_tokens,
        "seed": seed,
    }


@pytest.mark.parametrize("beta", [1.0, 0.9, 0.6, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_a_whole_tempered_fit_equals_the_dense_reference(seed, beta):
    counts = random_counts(seed)
    _, _, theta, state = started(counts, 3, seed)
    model = PLSA(3, max_iter=15, tol=0, random_state=seed, dtype="float64", tempering=beta).fit(counts)
    want_theta, want_topics, want_history = fit_dense(counts, theta, state.topics, 15, beta)
    assert_allclose(model.log_likelihood_, want_history, rtol=1e-10)
    assert_allclose(model.components_.T, want_topics, atol=1e-10)
    assert_allclose(model.doc_topics_, want_theta, atol=1e-10)


def test_tempering_by_one_is_plain_em_bit_for_bit():
    counts = large_counts()
    plain, tempered = (PLSA(5, max_iter=10, tol=0, random_state=0, tempering=t).fit(counts) for t in (None, 1.0))
    assert plain.components_.tobytes() == tempered.components_.tobytes()
    assert plain.transform(counts).tobytes() == tempered.transform(counts).tobytes()


@pytest.mark.parametrize("seed", range(40))
def test_the_tempered_log_likelihood_never_falls(seed):
    rng = np.random.default_rng(seed)
    counts = random_counts(seed, int(rng.integers(5, 60)), int(rng.integers(5, 60)), int(rng.integers(1, 6)))
    beta = float(rng.uniform(0.3, 1.0))
    history = PLSA(4, max_iter=30, tol=0, random_state=seed, dtype="float64", tempering=beta).fit(counts).log_likelihood_
    assert np.all(np.diff(history) >= -1e-12 * np.abs(history[:-1]))


def test_new_documents_are_folded_in_with_the_tempering_of_the_model():
    counts = random_counts(3)
    model = PLSA(4, max_iter=20, random_state=0, dtype="float64", tempering=0.7).fit(counts[:-5])
    start = np.tile(model.topic_shares_, (5, 1))
    want = fold_in_dense(counts[-5:], model.components_.T, start, 0.0, 2000, 0.7, model.topic_shares_)
    assert_allclose(model.transform(counts[-5:]), want, atol=5e-3)  # transform stops when nothing moves by 1e-4
    plain = PLSA(4, max_iter=20, random_state=0, dtype="float64").fit(counts[:-5])
    plain.components_, plain.topic_shares_ = model.components_, model.topic_shares_
    assert np.abs(plain.transform(counts[-5:]) - want).max() > 0.02


def test_documents_without_words_keep_topics_that_sum_to_one():
    counts = random_counts(1)
    counts[3] = 0
    for tempered in (0.6, "auto"):
        model = PLSA(3, random_state=0, tempering=tempered).fit(counts)
        assert_allclose(model.doc_topics_.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_are_those_of_numpy(dtype):
    values = np.random.default_rng(0).dirichlet(np.full(1000, 0.05), 300).astype(dtype)
    values[0, :10] = 0
    assert_allclose(power(values, 0.7), values**0.7, rtol=2e-5 if dtype == np.float32 else 1e-12)


def test_the_likelihood_of_words_held_out_is_that_of_the_reference():
    counts, rng = random_counts(2), np.random.default_rng(0)
    rows = Corpus.from_matrix(counts).rows
    held = reference_hold_out(counts, 0, 1, 0.3)
    topics, theta = rng.dirichlet(np.full(counts.shape[1], 0.3), 4).T.copy(), rng.dirichlet(np.ones(4), len(counts))
    background = (counts - held).sum(axis=0) / (counts - held).sum()
    background[0] = 0
    found = heldout_likelihood(
        rows.ends, rows.words, held[np.nonzero(counts)].astype(np.float32), topics, theta, background, 0.1
    )
    assert_allclose(found, heldout_dense(held, topics, theta, background, 0.1), rtol=1e-10)


def test_nothing_is_learned_from_words_held_out_while_beta_is_searched_for():
    """Two corpora that differ only in words that are held out take the same way."""
    counts = random_counts(0, n_documents=40)
    held = reference_hold_out(counts, 0, 0, tempering.HELD_OUT)
    only_held = (held == counts) & (counts > 0)
    assert only_held.sum() >= 5
    whole, less = Corpus.from_matrix(counts), Corpus.from_matrix(np.where(only_held, 0, counts))
    algorithm = TemperedEM(**facts(whole, 4), dtype="float64")
    found = []
    for corpus in (whole, less):
        with ThreadEngine(1).open(corpus.shards()) as placed:
            state = algorithm.init_state(placed.begin(algorithm.init_shard))
            for _ in range(5):
                state = algorithm.update(state, placed.step(algorithm.step, state))
            assert state.searching
            found.append((state.topics, placed.documents(itemgetter("theta"))))
    assert_allclose(found[0][0], found[1][0], atol=1e-9)
    assert_allclose(found[0][1], found[1][1], atol=1e-9)


def test_words_that_were_all_held_out_are_learned_in_the_end():
    rng = np.random.default_rng(0)
    counts = np.hstack([rng.poisson(0.3, (60, 200)), np.eye(60, dtype=int)])  # sixty words stand once
    model = PLSA(5, random_state=0, tempering="auto").fit(counts)
    held = reference_hold_out(counts, 0, 0, tempering.HELD_OUT)
    assert np.any((held.sum(axis=0) == counts.sum(axis=0)) & (counts.sum(axis=0) > 0))
    assert np.all(model.components_.sum(axis=0)[counts.sum(axis=0) > 0] > 0)


@pytest.fixture(scope="module")
def overfitted():
    """Few documents for so many topics."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(400, 0.1), 5)
    return np.array([rng.multinomial(60, row) for row in rng.dirichlet(np.full(5, 0.3), 200) @ topics])


def test_auto_predicts_words_that_it_has_not_seen_better_than_plain_em(overfitted):
    held = reference_hold_out(overfitted, 0, 9, 0.2)
    seen = overfitted - held
    background = seen.sum(axis=0) / seen.sum()

    def per_word(model):
        total, n_words = heldout_dense(held, model.components_.T, model.doc_topics_, background, 0.1)
        return total / n_words

    plain, auto = (PLSA(60, random_state=0, tempering=t).fit(seen) for t in (None, "auto"))
    assert per_word(auto) > per_word(plain) + 0.3
    betas, perplexities = zip(*auto.tempering_path_, strict=True)
    assert betas[0] == 1.0
    assert auto.tempering_ in betas[1:]
    assert perplexities[betas.index(auto.tempering_)] < 1.02 * min(perplexities)
    assert auto.n_iter_ > len(auto.log_likelihood_)


def test_auto_predicts_the_other_half_of_new_documents_better_than_plain_em():
    train, test = Corpus.from_texts(collection("ir/med"), analyzer=Analyzer(stop_words="english", min_df=2)).split(0.1)
    plain, auto = (PLSA(128, random_state=0, tempering=t).fit(train).perplexity(test) for t in (None, "auto"))
    assert auto < 0.95 * plain


def test_auto_lets_be_when_plain_em_does_not_fit_too_well():
    counts = large_counts(n_documents=400, n_words=40, n_topics=2)
    assert PLSA(2, random_state=0, tempering="auto").fit(counts).tempering_ > 0.8


def test_auto_is_cut_off_in_its_search_and_resumed_to_the_same_bits(overfitted, tmp_path):
    corpus = Corpus.from_matrix(overfitted)
    algorithm, stop = TemperedEM(**facts(corpus, 10)), StopRule(20, 1e-4)

    def cut_off(moment):
        if moment.status.startswith("β = 0.81"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(algorithm, corpus.shards(), ThreadEngine(), stop=stop, watch=cut_off, checkpoints=Checkpoints(tmp_path / "c", 0.0))
    resumed = run(
        algorithm, corpus.shards(), ThreadEngine(), stop=stop, checkpoints=Checkpoints(tmp_path / "c", 9.0, resume=True)
    )
    whole = run(algorithm, corpus.shards(), ThreadEngine(), stop=stop)
    assert resumed.state.topics.tobytes() == whole.state.topics.tobytes()
    assert resumed.documents.tobytes() == whole.documents.tobytes()
    assert resumed.history == whole.history


def test_a_search_that_is_ended_early_gives_the_best_topics_so_far(overfitted):
    corpus = Corpus.from_matrix(overfitted)
    algorithm = TemperedEM(**facts(corpus, 40))
    with ThreadEngine(1).open(corpus.shards()) as placed:
        state = algorithm.init_state(placed.begin(algorithm.init_shard))
        assert algorithm.final_state(state) is state  # nothing is known yet
        while state.beta > 0.6:
            state = algorithm.update(state, placed.step(algorithm.step, state))
    kept = algorithm.final_state(state)
    assert state.searching
    assert kept.beta == Search(*state.search).best_beta > state.beta
    assert_allclose(kept.topics.sum(axis=0), 1, rtol=1e-5)


def test_a_score_counts_for_the_beta_that_made_the_topics():
    """The first score at a lower β is of topics made with the one before."""
    before = tempering.NO_SEARCH._replace(tried=[[1.0, -7.0]], best_score=-7.0, best_beta=1.0)
    at_lower = TemperedState(*[np.zeros((1, 1))] * 7, 0.9, True, before)
    after = tempering._search_on(at_lower, at_lower, -3.0).search
    assert (after.here, after.best_score, after.passes) == (None, -7.0, 1)
    then = tempering._search_on(at_lower._replace(search=after), at_lower, -6.5).search
    assert (then.here, then.best_score, then.best_beta) == (-6.5, -6.5, 0.9)
