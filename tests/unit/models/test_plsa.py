"""PLSA as people use it."""

import numpy as np
import pytest
from sklearn.base import clone

import semascope as ss
from helpers import random_counts
from semascope.errors import FormatError, InputError

TEXTS = ["cats purr and dogs bark", "dogs bark at cats", "bonds fall when stocks rise", "stocks rise and bonds fall"] * 3


@pytest.fixture(scope="module")
def model():
    return ss.PLSA(2, random_state=1).fit(TEXTS)


def test_no_words_of_a_topic_cannot_be_shown():
    model = ss.PLSA(2, random_state=0, max_iter=2).fit(["cat dog", "tax law"])
    for n in (0, -1, 2.5):
        with pytest.raises(InputError, match="n must be a whole number of at least 1"):
            model.top_words(n)


def test_topics_are_shown_by_their_words(model):
    topics = [set(words) for words in model.top_words(4)]
    assert {"stocks", "bonds"} <= topics[0] | topics[1]
    assert any({"cats", "dogs"} <= words for words in topics)
    word, probability = model.top_words(1, weights=True)[0][0]
    assert word in model.vocabulary_
    assert probability == model.components_[0].max()


def test_new_texts_are_folded_in(model):
    shares = model.transform(["the dogs purr", "stocks fall"])
    assert shares[0].argmax() != shares[1].argmax()


def test_a_text_without_known_words_has_the_overall_shares(model):
    np.testing.assert_allclose(model.transform(["quark", ""]), [model.topic_shares_] * 2, rtol=1e-6)


def test_a_corpus_with_other_words_is_aligned(model):
    other = ss.Corpus.from_texts(["dogs chase zebras", "bonds"])
    assert model.transform(other).tobytes() == model.transform(["dogs chase", "bonds"]).tobytes()


def test_a_saved_model_is_the_same_model(model, tmp_path):
    model.save(tmp_path / "m")
    loaded = ss.load(tmp_path / "m")
    assert loaded.get_params() == model.get_params()
    assert loaded.top_words(5) == model.top_words(5)
    assert loaded.log_likelihood_ == model.log_likelihood_
    assert loaded.transform(TEXTS).tobytes() == model.transform(TEXTS).tobytes()
    assert loaded.perplexity(TEXTS) == model.perplexity(TEXTS)
    loaded.save(tmp_path / "again")
    assert ss.load(tmp_path / "again").components_.tobytes() == model.components_.tobytes()


def test_a_corpus_is_not_loaded_as_a_model(tmp_path):
    ss.Corpus.from_texts(TEXTS).save(tmp_path / "c")
    with pytest.raises(FormatError, match=r"expected a semascope model \(version 2\), found a semascope corpus"):
        ss.load(tmp_path / "c")


def test_fractional_counts_are_taken():
    counts = random_counts(0)
    whole, halves = (ss.PLSA(2, random_state=0, tol=0, max_iter=10, dtype="float64").fit(x) for x in (counts, counts / 2))
    np.testing.assert_allclose(halves.components_, whole.components_, atol=1e-8)


def test_words_no_document_has_get_no_probability():
    model = ss.PLSA(2, random_state=0).fit([[1, 0, 2], [3, 0, 1], [0, 0, 5]])
    assert model.components_[:, 1].tolist() == [0, 0]
    assert np.isfinite(model.transform([[1, 7, 0], [0, 9, 0]])).all()


def test_a_matrix_of_zeros_is_no_disaster():
    model = ss.PLSA(2, random_state=0).fit(np.zeros((3, 4)))
    assert np.isfinite(model.doc_topics_).all()
    assert np.isfinite(model.log_likelihood_).all()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1, but was 0"),
        ({"n_components": 2.5}, "n_components must be a whole number"),
        ({"n_components": 50}, "50 topics are too many for the data"),
        ({"n_components": 2, "max_iter": 0}, "max_iter must be"),
        ({"n_components": 2, "tol": -1}, "tol must be"),
        ({"n_components": 2, "tol": None}, "tol must be a number of at least 0, but was None"),
        ({"n_components": 2, "dtype": "float16"}, 'dtype must be "float32" or "float64"'),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_a_sentence(settings, sentence):
    with pytest.raises(InputError) as caught:
        ss.PLSA(**settings).fit(random_counts(0))
    assert sentence in str(caught.value)


def test_texts_need_a_model_that_knows_words():
    model = ss.PLSA(2, random_state=0).fit(random_counts(0))
    with pytest.raises(InputError, match="fitted on a matrix without words"):
        model.transform(["a text"])


def test_one_text_alone_is_not_taken_for_many(model):
    with pytest.raises(InputError, match="put the one text into a list"):
        model.transform("a text")


def test_lists_of_words_are_sent_where_they_are_taken(model):
    for ask in (clone(model).fit, model.transform):
        with pytest.raises(InputError, match=r"found lists of words; convert them by Corpus\.from_tokens"):
            ask([["cats", "purr"], ["dogs"]])
