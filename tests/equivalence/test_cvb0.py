"""CVB0 gives the numbers of the dense reference, and LDA what it promises."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linear_sum_assignment

from helpers import collection, large_counts, random_counts
from reference.cvb0 import cvb0_dense, go_on_dense
from semascope import LDA, PLSA, Analyzer, Corpus, ThreadEngine, load
from semascope.engines.exact_sums import Accumulator
from semascope.training.cvb0 import CVB0, GUIDED, MOMENTUM
from semascope.training.hyperpriors import WordPrior, next_alpha, next_eta, statistics_of_alpha


def summed(stats):
    accumulator = Accumulator()
    accumulator.add(stats)
    return accumulator.total


def informed(rng, n_words, n_topics):
    """η = 0.05, and more for about a tenth."""
    return 0.05 + np.where(rng.random((n_words, n_topics)) < 0.1, rng.uniform(1, 10, (n_words, n_topics)), 0)


class Dense:
    """The same algorithm over dense arrays: N_dk, N_wk, what they were before, and how far to go on."""

    def __init__(self, algorithm, counts, local, state, eta):
        self.counts, self.alpha, self.eta = counts, algorithm.first_alpha, eta
        self.same = algorithm.languages[:, None] == algorithm.languages[None, :]
        lengths = counts.sum(axis=1, keepdims=True)
        size = lengths + self.alpha.sum()
        self.doc = self.old_doc = local["theta"] * size - self.alpha
        self.words = self.old_words = state.counts
        self.passes = 0

    def a_pass(self, momentum):
        rows = np.maximum(self.doc + self.alpha + momentum * (self.doc - self.old_doc), self.alpha)
        counts = go_on_dense(self.words, self.old_words, momentum)
        told = self.eta > self.eta.min()
        elsewhere = told.any(axis=1, keepdims=True) & ~told
        topics = np.where(elsewhere, counts * min(self.passes / GUIDED, 1), counts) + self.eta
        self.passes += 1
        sums = self.same @ topics
        doc, words, log_likelihood = cvb0_dense(self.counts, rows, topics, sums, self.alpha, self.eta.min())
        self.old_doc, self.old_words, self.doc, self.words = self.doc, self.words, doc, words
        return log_likelihood

    @property
    def theta(self):
        rows = self.doc + self.alpha
        return rows / rows.sum(axis=1, keepdims=True)

    @property
    def topics(self):
        topics = self.words + self.eta
        return topics / (self.same @ topics)


@pytest.mark.parametrize("n_languages", [1, 3])
@pytest.mark.parametrize("n_topics", [1, 2, 3, 8, 17])
def test_passes_give_the_numbers_of_the_dense_reference(n_topics, n_languages):
    """With momentum, an informed prior and normalizers of several languages."""
    rng = np.random.default_rng(n_topics)
    counts = random_counts(n_topics)
    counts[4] = 0
    eta = informed(rng, counts.shape[1], n_topics)
    eta.flat[0] = 0.05
    languages = np.sort(rng.integers(n_languages, size=counts.shape[1])).astype(np.int32)
    facts = (n_topics, *counts.shape, float(counts.sum()), 0, "float64")
    algorithm = CVB0(*facts, eta=replace(WordPrior.of_table(eta), guides=True), languages=languages)
    (shard,) = Corpus.from_matrix(counts).shards()
    local, stats = algorithm.init_shard(shard)
    state = algorithm.init_state(summed(stats))
    dense = Dense(algorithm, counts, local, state, eta)
    momenta = set()
    for _ in range(12):
        momenta.add(state.momentum)
        local, stats = algorithm.step(shard, local, state)
        log_likelihood = dense.a_pass(state.momentum)
        total = summed(stats)
        assert_allclose(algorithm.objective(state, total), log_likelihood, rtol=1e-9)
        state = algorithm.update(state, total)
        assert_allclose(local["theta"], dense.theta, rtol=1e-8)
        assert_allclose(algorithm.final_state(state).topics, dense.topics, rtol=1e-8)
    assert MOMENTUM in momenta


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
def test_any_number_of_threads_gives_the_same_bits(n_threads):
    counts = large_counts()
    one, many = (
        LDA(8, max_iter=15, tol=0, alpha="auto", random_state=3, engine=ThreadEngine(n)).fit(counts) for n in (1, n_threads)
    )
    assert one.components_.tobytes() == many.components_.tobytes()
    assert one.doc_topics_.tobytes() == many.doc_topics_.tobytes()
    assert one.alpha_.tobytes() == many.alpha_.tobytes()


@pytest.mark.parametrize("seed", range(20))
def test_topics_and_documents_are_distributions_whatever_the_counts(seed):
    counts = random_counts(seed)
    counts[1] = 0
    model = LDA(4, max_iter=20, random_state=seed, alpha="auto" if seed % 2 else 0.1).fit(counts)
    for rows in (model.components_, model.doc_topics_, model.transform(counts), model.topic_shares_[None]):
        assert np.all(rows > 0)
        assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)


def planted(seed=0, n_documents=500, alpha=(0.2, 0.2, 0.2, 0.2, 0.2)):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(80, 0.1), len(alpha))
    theta = rng.dirichlet(alpha, n_documents)
    return topics, np.array([rng.multinomial(100, row) for row in theta @ topics])


def test_planted_topics_are_found_again():
    topics, counts = planted()
    model = LDA(5, max_iter=200, tol=1e-6, random_state=0).fit(counts)
    distance = 0.5 * np.abs(model.components_[:, None] - topics[None]).sum(axis=2)
    found = distance[linear_sum_assignment(distance)]
    assert found.max() < 0.1


def test_priors_that_are_unequal_are_learned_to_be_so():
    """They come out larger than they are: expected counts are smoother than counts."""
    topics, counts = planted(1, 2000, alpha=(1.0, 0.5, 0.1, 0.1, 0.05))
    model = LDA(5, max_iter=300, tol=1e-7, random_state=0, alpha="auto").fit(counts)
    distance = 0.5 * np.abs(topics[:, None] - model.components_[None]).sum(axis=2)
    _, of_planted = linear_sum_assignment(distance)
    first, second, *others = model.alpha_[of_planted]
    assert first > 1.5 * second > 3 * max(others)


def test_certain_counts_are_given_the_prior_that_made_them():
    rng = np.random.default_rng(0)
    wanted = np.array([0.8, 0.3, 0.1])
    lengths = rng.integers(200, 800, 3000).astype(float)
    counts = np.array([rng.multinomial(int(n), p) for n, p in zip(lengths, rng.dirichlet(wanted, 3000), strict=True)])
    alpha = np.full(3, 0.5)
    for _ in range(100):
        theta = (counts + alpha) / (lengths + alpha.sum())[:, None]
        alpha = next_alpha(alpha, statistics_of_alpha(theta, lengths, alpha))
    assert_allclose(alpha, wanted, rtol=0.1)


def test_the_prior_of_words_is_learned_from_counts():
    rng = np.random.default_rng(0)
    counts = np.array([rng.multinomial(20_000, p) for p in rng.dirichlet(np.full(500, 0.2), 10)]).T.astype(float)
    eta = 0.01
    for _ in range(100):
        eta = next_eta(eta, counts, np.zeros(500, np.int32))
    assert_allclose(eta, 0.2, rtol=0.15)


def test_lda_predicts_new_documents_better_than_plsa_where_plsa_fits_too_closely():
    train, test = Corpus.from_texts(collection("ir/med"), analyzer=Analyzer(stop_words="english", min_df=2)).split(0.1)
    plsa, fixed, learned = (
        model.set_params(random_state=0).fit(train).perplexity(test, prior="common")
        for model in (PLSA(128), LDA(128), LDA(128, alpha="auto"))
    )
    assert fixed < 0.92 * plsa
    assert learned < 0.92 * plsa


def test_a_document_is_folded_in_alike_alone_and_in_a_batch():
    counts = random_counts(1)
    model = LDA(3, max_iter=10, random_state=0).fit(counts)
    alone = np.concatenate([model.transform(row[None]) for row in counts])
    assert model.transform(counts).tobytes() == alone.tobytes()


def test_a_saved_model_is_the_same_model(tmp_path):
    texts = ["cat and dog", "dog and cat", "stock and bond", "bond and stock"]
    model = LDA(2, random_state=0, alpha="auto").fit(texts)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert isinstance(again, LDA)
    assert again.transform(texts).tobytes() == model.transform(texts).tobytes()
    assert again.alpha_.tolist() == model.alpha_.tolist()
    assert again.top_words(2) == model.top_words(2)
    assert_allclose(model.transform(["nothing known"]), [model.alpha_ / model.alpha_.sum()], rtol=1e-5)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"alpha": 0}, 'alpha must be "auto" or a number above 0, but was 0'),
        ({"alpha": "learn"}, "alpha must be \"auto\" or a number above 0, but was 'learn'"),
        ({"alpha": float("nan")}, 'alpha must be "auto" or a number above 0, but was nan'),
        ({"eta": -1.0}, "eta must be a number above 0, an array of these or an InformedPrior, but was -1.0"),
        ({"n_components": 0}, "n_components must be a whole number of at least 1, but was 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_a_sentence(settings, sentence):
    with pytest.raises(ValueError, match="LDA") as problem:
        LDA(**{"n_components": 2, **settings}).fit([[1, 2], [2, 1]])
    assert str(problem.value) == f"LDA: {sentence}."
