"""Variational EM gives the numbers of the dense reference, raises the bound, and LDA by it keeps what it promises."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import LatentDirichletAllocation

from helpers import large_counts, random_counts
from reference.variational import bound_dense, expected_log_topics, phi_of, vb_dense
from semascope import LDA, Checkpoints, Corpus, ThreadEngine, load
from semascope.engines.exact_sums import Accumulator
from semascope.errors import InputError
from semascope.training.hyperpriors import WordPrior
from semascope.training.loop import run
from semascope.training.stopping import StopRule
from semascope.training.variational import VB


def algorithm_for(counts, n_topics, dtype="float64", seed=0, **settings):
    return VB(n_topics, *counts.shape, float(counts.sum()), seed, dtype, **settings)


def summed(stats):
    accumulator = Accumulator()
    accumulator.add(stats)
    return accumulator.total


def started(counts, n_topics, **settings):
    """The start of a fit over one shard: algorithm, shard, locals, state."""
    (shard,) = Corpus.from_matrix(counts).shards()
    algorithm = algorithm_for(counts, n_topics, **settings)
    local, stats = algorithm.init_shard(shard)
    return algorithm, shard, local, algorithm.init_state(summed(stats))


def informed_prior(rng, n_words, n_topics):
    """A prior that knows a few words of each topic."""
    return 0.02 + rng.uniform(0.5, 10, (n_words, n_topics)) * (rng.random((n_words, n_topics)) < 0.05)


def fitted(counts, n_topics, n_iterations=25, **settings):
    algorithm = algorithm_for(counts, n_topics, **settings)
    return run(algorithm, Corpus.from_matrix(counts).shards(), ThreadEngine(1), stop=StopRule(n_iterations, 0.0))


@pytest.mark.parametrize("n_topics", [1, 2, 3, 8, 17])
@pytest.mark.parametrize("n_languages", [1, 3])
@pytest.mark.parametrize("n_passes", [1, 4])
def test_iterations_give_the_numbers_of_the_dense_reference(n_topics, n_languages, n_passes):
    counts, rng = random_counts(n_topics), np.random.default_rng(n_topics)
    counts[4] = 0
    languages = (np.arange(counts.shape[1]) % n_languages).astype(np.int32)
    alpha, eta = rng.uniform(0.05, 1, n_topics), informed_prior(rng, counts.shape[1], n_topics)
    settings = {"languages": languages, "max_passes": n_passes, "tolerance": 0.0}
    algorithm, shard, local, state = started(counts, n_topics, alpha=alpha, eta=WordPrior.of_table(eta), **settings)
    lengths = counts.sum(axis=1, keepdims=True)
    gamma, lam = local["theta"] * (lengths + alpha.sum()), state.topics * state.sizes[languages]
    for _ in range(4):
        local, stats = algorithm.step(shard, local, state)
        total = summed(stats)
        phi, gamma, expected = vb_dense(counts, gamma, lam, alpha, languages, n_passes)
        lam = eta + expected
        bound = bound_dense(counts, phi, gamma, lam, alpha, eta, languages)
        assert_allclose(algorithm.objective(state, total), bound, rtol=1e-11)
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
    history = fitted(counts, n_topics, dtype=dtype, seed=seed, **settings).history
    tolerance = {"float64": 1e-12, "float32": 1e-6}[dtype]
    assert np.diff(history).min() >= -tolerance * abs(history[-1])


def bound_of_scikit_learn(counts, theta, state):
    """The bound that scikit-learn works out for the same γ, λ, α and η."""
    alpha, eta = float(state.document_alpha[0]), state.topic_eta
    theirs = LatentDirichletAllocation(len(state.alpha), doc_topic_prior=alpha, topic_word_prior=eta)
    theirs.partial_fit(counts)
    theirs.components_ = (state.topics * state.sizes).T
    gamma = theta * (counts.sum(axis=1, keepdims=True) + state.document_alpha.sum())
    return theirs._approx_bound(counts, gamma, sub_sampling=False), gamma


@pytest.mark.parametrize("seed", range(10))
def test_the_bound_is_the_one_of_scikit_learn(seed):
    """Theirs is with the best φ for γ and λ, ours with the φ that both follow from: the same once the fit has settled."""
    counts = random_counts(seed)
    counts = counts[counts.sum(axis=1) > 0]
    early, late = (fitted(counts, 3, n, seed=seed, alpha=0.4, eta=0.2) for n in (3, 400))
    learned = fitted(counts, 3, 400, seed=seed, alpha=0.4, eta=0.2, learn_eta=True)
    for settled in (late, learned):
        theirs, _ = bound_of_scikit_learn(counts, settled.documents, settled.state)
        assert_allclose(settled.history[-1], theirs, rtol=1e-6)
    theirs, gamma = bound_of_scikit_learn(counts, early.documents, early.state)
    languages, lam = np.zeros(counts.shape[1]), early.state.topics * early.state.sizes
    phi = phi_of(gamma, expected_log_topics(lam, languages))
    assert_allclose(bound_dense(counts, phi, gamma, lam, np.full(3, 0.4), np.full_like(lam, 0.2), languages), theirs, rtol=1e-9)
    assert early.history[-1] <= theirs


def planted(seed=0, n_documents=500, n_topics=5, n_words=80):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.1), n_topics)
    theta = rng.dirichlet(np.full(n_topics, 0.2), n_documents)
    return topics, np.array([rng.multinomial(100, row) for row in theta @ topics], dtype=float)


def distances(components, topics):
    """Total variation between each found topic and each planted one."""
    return 0.5 * np.abs(components[:, None] - topics[None]).sum(axis=2)


@pytest.mark.parametrize("seed", range(4))
def test_of_a_few_starts_the_one_with_the_best_bound_finds_planted_topics_again(seed):
    """With α above its true value by the half that variational inference wants."""
    topics, counts = planted(seed)
    models = [LDA(5, inference="vb", alpha=0.7, eta=0.1, max_iter=300, tol=1e-6, random_state=n).fit(counts) for n in range(4)]
    best = max(models, key=lambda model: model.elbo_[-1])
    distance = distances(best.components_, topics)
    assert distance[linear_sum_assignment(distance)].max() < 0.1


def test_a_prior_that_knows_a_few_words_of_each_topic_says_which_topic_is_which():
    topics, counts = planted(7)
    eta = np.full((80, 5), 0.01)
    for topic, row in enumerate(topics):
        eta[np.argsort(-row)[:4], topic] = 10.0
    state = fitted(counts, 5, 200, dtype="float32", alpha=0.7, eta=replace(WordPrior.of_table(eta), guides=True)).state
    assert np.diag(distances(state.topics.T, topics)).max() < 0.1


def test_a_language_without_words_does_no_harm():
    counts = random_counts(4)
    gaps, none = (fitted(counts, 3, languages=language * (np.arange(25) % 2).astype(np.int32)) for language in (2, 1))
    assert gaps.history == none.history


@pytest.mark.parametrize("n_threads", [2, 8])
def test_any_number_of_threads_gives_the_same_bits(n_threads):
    settings = {"inference": "vb", "max_iter": 10, "tol": 0, "alpha": "auto", "eta": "auto", "random_state": 3}
    one, many = (LDA(8, **settings, engine=ThreadEngine(n)).fit(large_counts()) for n in (1, n_threads))
    assert one.components_.tobytes() == many.components_.tobytes()
    assert one.doc_topics_.tobytes() == many.doc_topics_.tobytes()
    assert (one.elbo_, one.eta_, one.alpha_.tolist()) == (many.elbo_, many.eta_, many.alpha_.tolist())


def test_a_fit_goes_on_from_its_checkpoint(tmp_path):
    settings = {"n_components": 4, "inference": "vb", "tol": 0, "random_state": 0, "alpha": np.array([0.1, 0.2, 0.3, 0.4])}
    whole = LDA(**settings, max_iter=8).fit(large_counts())
    LDA(**settings, max_iter=5).fit(large_counts(), checkpoints=Checkpoints(tmp_path / "c", 0.0))
    again = LDA(**settings, max_iter=8).fit(large_counts(), checkpoints=Checkpoints(tmp_path / "c", resume=True))
    assert again.elbo_ == whole.elbo_
    assert again.components_.tobytes() == whole.components_.tobytes()
    settings["alpha"] = settings["alpha"] + 0.1
    with pytest.raises(InputError, match="cannot resume: the checkpoint is of a run with alpha ="):
        LDA(**settings).fit(large_counts(), checkpoints=Checkpoints(tmp_path / "c", resume=True))


def test_documents_are_inferred_alike_alone_and_in_a_batch_and_as_in_the_fit():
    counts = random_counts(1)
    model = LDA(3, inference="vb", alpha=1.0, max_iter=300, tol=0, random_state=0, dtype="float64").fit(counts)
    together = model.transform(counts)
    assert together.tobytes() == np.concatenate([model.transform(row[None]) for row in counts]).tobytes()
    assert_allclose(together.sum(axis=1), 1)
    assert_allclose(together, model.doc_topics_, atol=2e-3)


def test_a_saved_model_is_the_same_model(tmp_path):
    texts = ["cat and dog", "dog and cat", "stock and bond", "bond and stock"]
    model = LDA(2, inference="vb", random_state=0, alpha="auto", eta="auto").fit(texts)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.transform(texts).tobytes() == model.transform(texts).tobytes()
    assert (again.eta_, again.elbo_) == (model.eta_, model.elbo_)
    assert_allclose(model.transform(["nothing known"]), [model.alpha_ / model.alpha_.sum()], rtol=1e-5)


def test_words_that_no_topic_has_seen_and_tiny_priors_do_no_harm():
    counts = random_counts(2)
    counts[:, 3] = 0
    model = LDA(3, inference="vb", alpha=1e-4, eta=1e-4, random_state=0).fit(counts)
    assert np.isfinite(model.elbo_).all()
    new = np.zeros((1, counts.shape[1]))
    new[0, 3] = 5
    assert_allclose(model.transform(new).sum(), 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"inference": "gibbs"}, "inference must be one of cvb0, vb, but was 'gibbs'"),
        ({"alpha": [0.1, 0.2, 0.3]}, "alpha must be 2 numbers above 0, one for each topic, but was [0.1, 0.2, 0.3]"),
        ({"alpha": [0.1, -0.2]}, "alpha must be 2 numbers above 0, one for each topic, but was [0.1, -0.2]"),
        ({"eta": 0.0}, "eta must be a number above 0, an array of these or an InformedPrior, but was 0.0"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_a_sentence(settings, sentence):
    with pytest.raises(ValueError, match="LDA") as problem:
        LDA(**{"n_components": 2, "inference": "vb", **settings}).fit([[1, 2], [2, 1]])
    assert str(problem.value) == f"LDA: {sentence}."
