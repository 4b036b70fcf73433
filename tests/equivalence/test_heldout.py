"""Held-out perplexity equals the plain reference, and means what it says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from helpers import large_counts, random_counts
from reference.heldout import halve as reference_halve
from reference.heldout import hold_out as reference_hold_out
from reference.heldout import perplexity as reference_perplexity
from reference.heldout import perplexity_without_prior
from semascope import LDA, PLSA, Corpus, LabeledLDA, PolylingualLDA, ThreadEngine
from semascope.errors import InputError
from semascope.evaluation.heldout import LOG_SMALLEST, Completion, perplexity
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


# --- the model's own prior -------------------------------------------------------------------------------------------------


def planted(alpha, n_topics=20, n_words=200, n_documents=600, length=60, seed=0):
    """Counts of documents whose topics are drawn from a Dirichlet with this α."""
    random = np.random.default_rng(seed)
    topics = random.dirichlet(np.full(n_words, 0.05), n_topics)
    return np.array(
        [random.multinomial(length, mix @ topics) for mix in random.dirichlet(np.full(n_topics, alpha), n_documents)]
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha", [1e-3, 0.1, 2.0, (0.02, 0.5, 1.0, 3.0)])
def test_perplexity_with_any_alpha_is_that_of_the_reference(seed, alpha):
    counts, alpha = random_counts(seed), np.array(alpha)
    topics = np.random.default_rng(seed).dirichlet(np.full(counts.shape[1], 0.3), 4).T
    ours = perplexity(topics, Corpus.from_matrix(counts).shards(), ThreadEngine(), prior=alpha, seed=seed)
    assert_allclose(ours, reference_perplexity(counts, topics, seed, alpha), rtol=1e-4)


@pytest.mark.parametrize("inference", ["cvb0", "vb"])
@pytest.mark.parametrize("alpha", [0.01, "auto", (0.1, 0.2, 0.7)])
def test_own_perplexity_of_lda_is_by_its_alpha(inference, alpha):
    counts = random_counts(3)
    model = LDA(3, alpha=alpha, inference=inference, random_state=0).fit(counts)
    topics = model.components_.T.astype(np.float64)
    assert_allclose(model.perplexity(counts), reference_perplexity(counts, topics, 0, model.alpha_), rtol=1e-4)
    assert_allclose(model.perplexity(counts, prior="common"), reference_perplexity(counts, topics, 0), rtol=1e-4)


@pytest.mark.parametrize("tempering", [None, 0.9, 0.6])
@pytest.mark.parametrize("seed", range(3))
def test_own_perplexity_of_plsa_is_tempered_and_has_a_floor(tempering, seed):
    counts = random_counts(seed)
    model = PLSA(3, tempering=tempering, random_state=0, max_iter=30).fit(counts)
    topics = model.components_.T.astype(np.float64)
    expected = perplexity_without_prior(counts, topics, seed, model.topic_shares_, tempering or 1.0, 0.1)
    assert_allclose(model.perplexity(counts, seed=seed), expected, rtol=1e-4)


def test_own_perplexity_of_several_languages_is_by_alpha():
    texts = [{"en": "dog cat dog", "de": "hund katze"}, {"en": "bond stock bond", "de": "aktie fonds"}, {"en": "cat dog"}] * 5
    model = PolylingualLDA(2, alpha=0.01, random_state=0).fit(texts)
    shards = model.to_corpus(texts).shards()
    assert model.perplexity(texts) == perplexity(model.components_.T, shards, ThreadEngine(), prior=np.full(2, 0.01))
    assert model.perplexity(texts) < model.perplexity(texts, prior="common")


def test_own_perplexity_of_labels_is_by_their_alpha():
    texts, labels = ["dog cat dog cat", "bond stock bond", "cat dog bond stock"] * 5, [["a"], ["b"], ["a", "b"]] * 5
    models = [LabeledLDA(alpha=alpha, max_iter=20, random_state=0).fit(texts, labels) for alpha in (0.1, 5.0)]
    own, common = ([model.perplexity(texts, labels, prior=prior) for model in models] for prior in ("own", "common"))
    assert own[0] == common[0]
    assert own[1] != common[1]
    assert own == [model.perplexity(texts, labels) for model in models]


def test_a_word_of_topics_that_the_first_half_does_not_use_has_the_probability_of_the_floor():
    topics, shares = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.75, 0.25])
    shards = Corpus.from_matrix([[1, 1]]).shards()
    found = perplexity(topics, shards, ThreadEngine(), prior=Completion.maximum_likelihood(shares))
    assert any(found == pytest.approx(1 / (0.1 * share), rel=1e-5) for share in shares)


def test_a_word_whose_probability_underflows_counts_and_costs():
    topics, shards = np.array([[1.0, 0.0], [0.0, 1.0]]), Corpus.from_matrix([[1, 1]]).shards()
    found = perplexity(topics, shards, ThreadEngine(), prior=Completion.maximum_likelihood(np.full(2, 0.5))._replace(floor=0.0))
    assert np.log(found) == pytest.approx(-LOG_SMALLEST)


def test_a_thousand_true_topics_are_penalized_by_the_common_prior_and_not_by_their_own():
    for seed in range(3):
        random = np.random.default_rng(seed)
        topics, mixtures = random.dirichlet(np.full(2000, 0.02), 1000), random.dirichlet(np.full(1000, 0.005), 100)
        shards = Corpus.from_matrix(np.array([random.multinomial(117, mixture @ topics) for mixture in mixtures])).shards()
        own, common = (perplexity(topics.T, shards, ThreadEngine(), prior=prior) for prior in (np.full(1000, 0.005), 0.1))
        assert own < 0.8 * common


def test_many_fitted_topics_are_penalized_by_the_common_prior():
    counts = planted(0.05)
    model = LDA(200, alpha=0.01, random_state=0, max_iter=50).fit(counts[:500])
    assert model.perplexity(counts[500:]) < 0.95 * model.perplexity(counts[500:], prior="common")


@pytest.mark.parametrize("true_alpha", [0.02, 1.0])
def test_own_perplexity_prefers_the_alpha_that_documents_were_drawn_with(true_alpha):
    for seed in range(3):
        random = np.random.default_rng(seed)
        topics = random.dirichlet(np.full(200, 0.05), 20)
        mixtures = random.dirichlet(np.full(20, true_alpha), 500)
        counts = np.array([random.multinomial(40, mix @ topics) for mix in mixtures])
        shards = Corpus.from_matrix(counts).shards()
        found = {a: perplexity(topics.T, shards, ThreadEngine(), prior=np.full(20, a)) for a in (0.0002, 0.02, 1.0, 20.0)}
        assert min(found, key=found.get) == true_alpha


def test_a_model_with_a_smaller_alpha_that_is_truly_better_is_seen_by_its_own_prior():
    counts = planted(0.02, length=30)
    train, test = counts[:500], counts[500:]
    right, wrong = (LDA(20, alpha=alpha, random_state=0).fit(train) for alpha in (0.02, 1.0))
    assert right.perplexity(test) < 0.8 * wrong.perplexity(test)
    assert right.perplexity(test) < right.perplexity(test, prior="common")


@pytest.mark.parametrize("prior", ["Own", "", None, 0.1, ["own"]])
def test_an_unknown_prior_is_refused(prior):
    for model in (PLSA(1), LDA(1), LabeledLDA(max_iter=2)):
        model.fit(["a word", "a text"], ["x", "y"])
        with pytest.raises(InputError, match=r'^prior must be "own" or "common", but was .*\.$'):
            model.perplexity(["a word"], prior=prior)
