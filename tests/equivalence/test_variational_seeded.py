"""Variational EM from the topics of CVB0 gives the numbers of the dense reference, and its bound never falls."""

import os
import signal
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_allclose

from helpers import large_counts, random_counts
from reference.variational import bound_dense, documents_bound_dense, vb_dense
from semascope import LDA, Checkpoints, Corpus, PolylingualLDA, ThreadEngine, load
from semascope.corpus import shards
from semascope.engines.exact_sums import Accumulator
from semascope.errors import InterruptedFitWarning
from semascope.training import variational_seeded as seeded_vb
from semascope.training.cvb0 import CVB0
from semascope.training.hyperpriors import WordPrior
from semascope.training.loop import run
from semascope.training.stopping import ITERATIONS, StopRule
from semascope.training.variational_seeded import COLLAPSED, RESTART, WARM, SeededVB


def summed(stats):
    accumulator = Accumulator()
    accumulator.add(stats)
    return accumulator.total


@contextmanager
def default_sigint():
    """Catch Ctrl-C as Python does by default; in the background of a shell it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def informed_prior(rng, n_words, n_topics):
    """A prior that knows a few words of each topic."""
    return 0.02 + rng.uniform(0.5, 10, (n_words, n_topics)) * (rng.random((n_words, n_topics)) < 0.05)


def algorithm_for(counts, n_topics, dtype="float64", seed=0, **settings):
    return SeededVB(n_topics, *counts.shape, float(counts.sum()), seed, dtype, **settings)


def fitted(counts, n_topics, n_iterations=25, **settings):
    algorithm = algorithm_for(counts, n_topics, **settings)
    done = run(algorithm, Corpus.from_matrix(counts).shards(), ThreadEngine(1), stop=StopRule(n_iterations, 0.0))
    return done, list(algorithm.convergence_history(done.state, done.history))


@pytest.mark.parametrize("n_languages", [1, 3])
@pytest.mark.parametrize("n_topics", [1, 2, 8])
def test_after_cvb0_documents_start_from_the_uniform_and_then_go_on(n_topics, n_languages):
    counts, rng = random_counts(n_topics), np.random.default_rng(n_topics)
    counts[4] = 0
    languages = (np.arange(counts.shape[1]) % n_languages).astype(np.int32)
    alpha, eta = rng.uniform(0.05, 1, n_topics), informed_prior(rng, counts.shape[1], n_topics)
    priors = {"alpha": alpha, "eta": WordPrior.of_table(eta), "languages": languages}
    algorithm = algorithm_for(counts, n_topics, **priors, collapsed_passes=4, max_passes=3, tolerance=0.0)
    collapsed = CVB0(n_topics, *counts.shape, float(counts.sum()), 0, "float64", **priors)
    (shard,) = Corpus.from_matrix(counts).shards()
    local, stats = algorithm.init_shard(shard)
    state = algorithm.init_state(summed(stats))
    while state.phase == COLLAPSED:
        local, stats = algorithm.step(shard, local, state)
        state = algorithm.update(state, summed(stats))
    reached = run(collapsed, [shard], ThreadEngine(1), stop=StopRule(state.passes, 0.0)).state
    assert state.passes == (3 if n_topics == 1 else 4)  # one topic converges at once
    assert_allclose(state.topics, reached.topics, rtol=1e-12)
    lengths = counts.sum(axis=1, keepdims=True)
    gamma, lam = alpha + np.tile(lengths / n_topics, n_topics), state.topics * state.sizes[languages]
    for phase in (RESTART, WARM, WARM):
        assert state.phase == phase
        local, stats = algorithm.step(shard, local, state)
        total = summed(stats)
        phi, gamma, expected = vb_dense(counts, gamma, lam, alpha, languages, 3)
        lam = eta + expected
        assert_allclose(
            algorithm.objective(state, total), bound_dense(counts, phi, gamma, lam, alpha, eta, languages), rtol=1e-11
        )
        state = algorithm.update(state, total)
        assert_allclose(local["theta"], gamma / (lengths + alpha.sum()), rtol=1e-9)
        assert_allclose(state.topics * state.sizes[languages], lam, rtol=1e-9)


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_bound_never_falls_whatever_the_priors(seed, dtype):
    counts, rng = random_counts(seed, n_documents=20, length=30), np.random.default_rng(seed)
    n_topics, learn = int(rng.integers(1, 7)), {"learn_alpha": bool(seed % 2), "learn_eta": bool(seed // 2 % 2)}
    eta = WordPrior.of_table(informed_prior(rng, counts.shape[1], n_topics)) if seed % 5 == 0 else rng.uniform(0.02, 1)
    languages = rng.integers(0, 1 + seed % 3, counts.shape[1]).astype(np.int32)
    settings = {"alpha": rng.uniform(0.05, 1, n_topics), "eta": eta, "languages": languages, **learn}
    settings |= {"collapsed_passes": int(rng.integers(1, 30)), "max_passes": int(rng.choice([1, 3, 100]))}
    _, bounds = fitted(counts, n_topics, dtype=dtype, seed=seed, **settings)
    assert len(bounds) == 25
    tolerance = {"float64": 1e-12, "float32": 1e-6}[dtype]
    assert np.diff(bounds).min() >= -tolerance * abs(bounds[-1])


@pytest.mark.parametrize(("iteration", "phase"), [(1, COLLAPSED), (3, RESTART), (4, WARM), (6, WARM)])
@pytest.mark.parametrize("n_topics", [5, 256])  # with many, CVB0 goes over few of them
def test_a_run_that_is_cut_off_in_any_phase_goes_on_to_the_same_bits(monkeypatch, tmp_path, iteration, phase, n_topics):
    monkeypatch.setattr(shards, "SMALL_SHARD", 256)
    monkeypatch.setattr(seeded_vb, "COLLAPSED_TOLERANCE", 0.0)  # there is nothing to learn from random counts
    counts, left = random_counts(6, 300, length=12), [iteration]
    corpus = Corpus.from_matrix(counts)
    assert len(corpus.shards()) > 1

    def cut_off(history, seconds):
        left[0] -= 1
        return ITERATIONS if left[0] < 0 else None

    algorithm = algorithm_for(counts, n_topics, dtype="float32", learn_alpha=True, collapsed_passes=3 if n_topics == 5 else 7)
    if n_topics == 256:
        left[0] += 4
    unfinished = tmp_path / "unfinished"
    whole = run(algorithm, corpus.shards(), ThreadEngine(2), stop=StopRule(6, 0.0))
    part = run(algorithm, corpus.shards(), ThreadEngine(1), stop=cut_off, checkpoints=Checkpoints(unfinished, 0.0))
    assert part.state.phase == phase
    assert_allclose(part.state.topics.sum(axis=0), 1, rtol=1e-4)
    assert_allclose(part.documents.sum(axis=1), 1, rtol=1e-4)
    going_on = Checkpoints(unfinished, resume=True)
    again = run(algorithm, corpus.shards(), ThreadEngine(3), stop=StopRule(6, 0.0), checkpoints=going_on)
    assert again.history == whole.history
    assert again.state.topics.tobytes() == whole.state.topics.tobytes()
    assert again.documents.tobytes() == whole.documents.tobytes()


@pytest.mark.parametrize("inference", ["vb", "cvb0"])
def test_the_bound_of_new_documents_is_that_of_the_dense_reference(inference):
    counts, new = random_counts(1), random_counts(2)
    new[3] = 0
    alpha = np.array([0.2, 0.5, 0.9])
    model = LDA(3, inference=inference, alpha=alpha, eta=0.3, random_state=0, dtype="float64").fit(counts)
    lam = (model.components_ * model.topic_sizes_.T).T
    languages = np.zeros(len(lam))
    gamma = alpha + np.tile(new.sum(axis=1, keepdims=True) / 3, 3)
    phi, gamma, _ = vb_dense(new, gamma, lam, alpha, languages, 200)
    assert_allclose(model.elbo(new), documents_bound_dense(new, phi, gamma, lam, alpha, languages), rtol=1e-6)
    assert model.elbo(np.zeros((2, counts.shape[1]))) == pytest.approx(0, abs=1e-9)
    assert model.elbo(np.concatenate([new, new])) == pytest.approx(2 * model.elbo(new), rel=1e-12)


def test_the_bound_of_new_documents_adds_up_over_languages():
    rng = np.random.default_rng(3)
    texts = [{code: " ".join(rng.choice([f"{code}{i}" for i in range(9)], 12)) for code in ("de", "en")} for _ in range(30)]
    model = PolylingualLDA(3, inference="vb", random_state=0, dtype="float64").fit(texts)
    corpus = Corpus.from_texts(texts)
    languages = corpus.word_languages
    counts, lam = corpus.counts.toarray(), model.components_.T * model.topic_sizes_[languages]
    gamma = model.alpha_ + np.tile(counts.sum(axis=1, keepdims=True) / 3, 3)
    phi, gamma, _ = vb_dense(counts, gamma, lam, model.alpha_, languages, 200)
    assert_allclose(model.elbo(texts), documents_bound_dense(counts, phi, gamma, lam, model.alpha_, languages), rtol=1e-6)


def test_any_number_of_threads_gives_the_same_bound_of_new_documents():
    model = LDA(5, inference="vb", random_state=0, max_iter=3).fit(large_counts())
    bounds = [model.set_params(engine=ThreadEngine(n)).elbo(large_counts()) for n in (1, 2, 5)]
    assert bounds[0] == bounds[1] == bounds[2]


def test_a_fit_interrupted_before_variational_em_is_a_model_without_bounds(monkeypatch, tmp_path):
    def press_in_second_pass(algorithm, state, stats, update=SeededVB.update):
        if state.passes == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return update(algorithm, state, stats)

    counts, settings = large_counts(), {"n_components": 4, "inference": "vb", "alpha": "auto", "random_state": 0}
    whole = LDA(**settings).fit(counts)
    unfinished = tmp_path / "unfinished"
    with monkeypatch.context() as patch, default_sigint():
        patch.setattr(SeededVB, "update", press_in_second_pass)
        with pytest.warns(InterruptedFitWarning, match="after 2 iterations, before variational EM began; the model"):
            model = LDA(**settings).fit(counts, checkpoints=Checkpoints(unfinished))
    assert (model.elbo_, model.n_iter_, model.stopped_by_) == ([], 2, "interrupted")
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").elbo(counts) == model.elbo(counts)
    assert model.elbo(counts) < whole.elbo(counts)
    assert model.partial_fit(counts[:50]).elbo_ == []
    resumed = LDA(**settings).fit(counts, checkpoints=Checkpoints(unfinished, resume=True))
    assert resumed.elbo_ == model.fit(counts).elbo_ == whole.elbo_


@pytest.mark.parametrize("X", [["stone unheard of"], [""], Corpus.from_texts(["stone unheard of", ""])], ids=type)
def test_the_bound_of_documents_without_known_words_is_zero(X):
    model = LDA(2, inference="vb", random_state=0).fit(["cats purr", "dogs bark", "", "dogs"])
    assert model.elbo(X) == pytest.approx(0, abs=1e-6)
    assert model.elbo(["cats and stone"]) == model.elbo(["cats"]) < 0


def test_documents_that_converge_further_give_a_higher_bound():
    counts = large_counts()
    rough, fine = (
        LDA(5, inference="vb", random_state=0, max_iter=1, max_doc_update_iter=n, doc_tol=0).fit(counts) for n in (1, 30)
    )
    assert fine.elbo_[0] > rough.elbo_[0]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"max_doc_update_iter": 0}, "max_doc_update_iter must be a whole number of at least 1, but was 0"),
        ({"doc_tol": -1}, "doc_tol must be a number of at least 0, but was -1"),
        ({"doc_tol": "1"}, "doc_tol must be a number of at least 0, but was '1'"),
    ],
)
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_settings_of_documents_that_make_no_sense_are_refused_in_a_sentence(settings, sentence, learn):
    with pytest.raises(ValueError, match="LDA") as problem:
        getattr(LDA(2, inference="vb", **settings), learn)([[1, 2], [2, 1]])
    assert str(problem.value) == f"LDA: {sentence}."
