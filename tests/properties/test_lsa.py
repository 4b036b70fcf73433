"""What holds of the Hellinger model, whatever the counts: P̂ is a distribution, and its distance from Q has a bound."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from helpers import collection, random_counts
from reference import lsa as reference
from semascope import LDA, LSA, Analyzer, Corpus
from semascope.errors import InputError

SHAPES = [(1, 1), (1, 9), (9, 1), (2, 2), (3, 50), (50, 3), (12, 12), (40, 25), (25, 40), (100, 20)]


def any_counts(seed):
    """A matrix of some shape with entries of some kind, among them empty rows and columns."""
    generator = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    rate = generator.gamma(0.5, 1.0, size=shape) * generator.choice([0.3, 1.0, 20.0])
    counts = generator.poisson(rate) if seed % 3 else rate * (generator.random(shape) < 0.5)
    counts = counts.astype(float)
    counts[generator.integers(shape[0]), generator.integers(shape[1])] += 1
    return counts


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_the_hellinger_distance_keeps_the_bound_on_any_matrix(first):
    for seed in range(first, first + 20):
        counts = any_counts(seed)
        rank = int(np.random.default_rng(seed).integers(1, min(counts.shape) + 1))
        model = LSA(rank, dtype="float64", random_state=seed).fit(counts)
        assert model.hellinger_distance_ <= model.bound_ + 1e-6, seed
        assert model.bound_ <= math.sqrt(2) * model.frobenius_distance_ + 1e-6, seed


@pytest.mark.parametrize("seed", range(8))
def test_what_is_estimated_is_the_papers_distribution(seed):
    counts = random_counts(seed)
    model = LSA(4, dtype="float64", tol=1e-13, max_iter=60, random_state=seed).fit(counts)
    wanted, observed = reference.estimate(counts, 4), counts / counts.sum()
    found = model.probability_rows(np.arange(len(counts)))
    assert_allclose(found, wanted, atol=1e-7)
    assert (found >= 0).all()
    assert_allclose(found.sum(), 1)
    assert_allclose(model.probability([3, 1], [2, 0, 7]), wanted[np.ix_([3, 1], [2, 0, 7])], atol=1e-7)
    assert_allclose(model.hellinger_distance_, reference.hellinger(wanted, observed), rtol=1e-6)
    whole = reference.truncated(reference.amplitudes(counts), 4)
    assert_allclose(model.frobenius_distance_, np.linalg.norm(whole - reference.amplitudes(counts)), rtol=1e-6)
    assert_allclose(model.clipped_mass_, (np.minimum(whole, 0) ** 2).sum() / (whole**2).sum(), atol=1e-7)


def test_the_papers_inequality_19_is_false():
    model = LSA(1, dtype="float64", random_state=0).fit([[3, 1], [1, 3]])
    assert_allclose(model.frobenius_distance_, 0.2588, atol=5e-5)
    assert_allclose(model.hellinger_distance_, 0.2611, atol=5e-5)
    assert model.hellinger_distance_ > model.frobenius_distance_


def test_rank_one_takes_documents_and_words_for_independent():
    counts = random_counts(2)
    table = LSA(1, dtype="float64", random_state=0).fit(counts).probability_rows(np.arange(len(counts)))
    assert_allclose(table, np.outer(table.sum(axis=1), table.sum(axis=0)), atol=1e-12)


def test_full_rank_gives_back_what_was_observed():
    counts = random_counts(2, n_documents=12)
    model = LSA(12, dtype="float64", random_state=0).fit(counts)
    assert_allclose(model.probability_rows(np.arange(12)), counts / counts.sum(), atol=1e-12)
    assert model.hellinger_distance_ < 1e-6


@pytest.mark.parametrize("name", ["ir/med", "ir/cran", "ir/cisi", "ir/time", "ir/cacm"])
def test_the_bound_holds_on_real_collections(name):
    corpus = Corpus.from_texts(collection(name), analyzer=Analyzer(stop_words="english", min_df=2))
    model = LSA(20, random_state=0).fit(corpus)
    assert model.hellinger_distance_ <= model.bound_ <= math.sqrt(2) * model.frobenius_distance_
    assert 0 < model.clipped_mass_ < 0.5


def test_the_likelihood_is_that_of_the_smoothed_rows():
    counts = random_counts(6)
    counts = counts[counts.sum(axis=1) > 0]
    model = LSA(3, dtype="float64", random_state=0).fit(counts)
    positive = np.maximum(model.transform(counts) @ model.components_, 0) ** 2
    rows = 0.8 * positive / positive.sum(axis=1, keepdims=True) + 0.2 * counts.sum(axis=0) / counts.sum()
    met = counts > 0
    assert_allclose(model.log_likelihood(counts, smoothing=0.2), (counts[met] * np.log(rows[met])).sum())


def test_a_model_of_some_rank_predicts_new_words_better_than_independence():
    corpus = Corpus.from_matrix(random_counts(1, n_documents=400, n_topics=4, length=60))
    train, new = corpus.split(0.2, seed=0)
    some, none = LSA(4, random_state=0).fit(train), LSA(1, random_state=0).fit(train)
    assert some.perplexity(new) < 0.9 * none.perplexity(new)
    assert some.perplexity(new) < 1.3 * LDA(4, random_state=0).fit(train).perplexity(new, prior="common")


def test_the_figure_of_merit_weighs_bits_of_parameters_against_bits_of_distance():
    counts = random_counts(3, n_documents=60, n_topics=3, length=200)
    model = LSA(10, random_state=0).fit(counts)
    assert model.figure_of_merit(0).argmin() == 9
    assert model.figure_of_merit(1).argmin() == 0
    assert 0 < model.figure_of_merit(0.5).argmin() < 9
    assert_allclose(model.figure_of_merit(1)[1], 2 * (60 + 25 - 2) * np.log2(counts.sum()) / 2 / counts.sum())


@pytest.mark.parametrize(
    ("counts", "settings", "sentence"),
    [
        (np.zeros((3, 4)), {}, "LSA: there is nothing to decompose: all counts are zero."),
        (
            np.eye(3),
            {"n_components": 4},
            "LSA: 4 dimensions are too many for the data: with 3 documents and 3 words",
        ),
        (np.eye(3), {"n_components": 0}, "LSA: n_components must be a whole number of at least 1, but was 0."),
        (
            np.eye(3),
            {"weighting": "bm25"},
            "LSA: weighting must be one of hellinger, counts, tfidf, logtfidf, logentropy, but was 'bm25'.",
        ),
        (np.eye(3), {"solver": "magic"}, "LSA: solver must be one of randomized, arpack, but was 'magic'."),
        (-np.eye(3), {}, "Negative values in data passed to LSA.fit"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(counts, settings, sentence):
    with pytest.raises(ValueError, match="^" + sentence.replace(".", r"\.")):
        LSA(**{"n_components": 2, **settings}).fit(counts)


def test_only_the_hellinger_model_has_probabilities():
    model = LSA(1, weighting="tfidf", random_state=0).fit(np.eye(3))
    for wanted in ("bound_", "hellinger_distance_", "clipped_mass_", "frobenius_distance_"):
        with pytest.raises(AttributeError, match="estimates probabilities"):
            getattr(model, wanted)
    with pytest.raises(AttributeError, match="estimates probabilities"):
        model.log_likelihood(np.eye(3))


def test_empty_rows_and_columns_lie_at_the_origin():
    counts = random_counts(0)
    counts[3], counts[:, 5] = 0, 0
    model = LSA(4, random_state=0).fit(counts)
    assert not model.doc_vectors_[3].any()
    assert not model.components_[:, 5].any()
    assert np.isfinite(model.transform(counts)).all()
    assert np.isfinite(model.perplexity(counts))


def test_wrong_questions_are_answered_in_a_sentence():
    model = LSA(1, random_state=0).fit(["one text", "another text"])
    with pytest.raises(InputError, match="does not know the word 'nowhere'"):
        model.similar_words("nowhere")
    with pytest.raises(InputError, match="there is no document 2: they are numbered from 0 to 1"):
        model.similar_documents(2)
    with pytest.raises(InputError, match="n must be a whole number of at least 1"):
        model.similar_words("text", 0)
    with pytest.raises(InputError, match="smoothing must be"):
        model.log_likelihood(["one text"], smoothing=0)
    with pytest.raises(InputError, match="gamma must be"):
        model.figure_of_merit(2)
