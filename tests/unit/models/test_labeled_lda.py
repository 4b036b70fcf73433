"""Labeled LDA as people use it: what it takes, what it gives, and what it says when something is wrong."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from semascope import Analyzer, Checkpoints, Corpus, LabeledLDA, ThreadEngine, load
from semascope.errors import InputError

SENTENCES = {
    "cat": ["the cat purrs on the mat", "a kitten and a cat purr", "cats meow and kittens purr"],
    "dog": ["the dog barks at night", "a puppy and a dog bark", "dogs howl and puppies bark"],
    "money": ["the bank lends money", "stocks and bonds pay interest", "money in the bank earns interest"],
}


def some_texts(n=60, seed=0):
    """Texts of one or two labels each, and these."""
    generator, texts, labels = np.random.default_rng(seed), [], []
    for _ in range(n):
        mine = generator.choice([*SENTENCES], generator.integers(1, 3), replace=False).tolist()
        texts.append(". ".join(generator.choice(SENTENCES[label]) for label in mine for _ in range(2)))
        labels.append(mine)
    return texts, labels


TEXTS, LABELS = some_texts()


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_texts(TEXTS, labels=LABELS, analyzer=Analyzer(stop_words="english"))


@pytest.fixture(scope="module")
def model(corpus):
    return LabeledLDA(max_iter=40, random_state=0).fit(corpus)


def indicators(labels, names):
    return np.array([[name in mine for name in names] for mine in labels], dtype=int)


# --- labels in ---------------------------------------------------------------------------------------------------------------


def test_labels_mean_the_same_in_every_form_they_come_in(corpus, model):
    names = model.label_names_
    table = indicators(LABELS, names)
    forms = [
        LABELS,
        [tuple(mine) for mine in LABELS],
        pl.Series(LABELS),
        table,
        table.astype(bool),
        sp.csr_matrix(table),
        pd.DataFrame(table, columns=names),
        pl.DataFrame(table, schema=names),
    ]
    for y in forms:
        other = LabeledLDA(max_iter=40, random_state=0).fit(corpus, y)
        assert_array_equal(other.components_, model.components_)


def test_one_label_each_may_be_a_word_a_number_or_none():
    counts = np.array([[3, 0], [0, 3], [2, 0], [1, 1]])
    words = LabeledLDA(max_iter=5, random_state=0).fit(counts, ["a", "b", "a", None])
    numbers = LabeledLDA(max_iter=5, random_state=0).fit(counts, [7, 3, 7, None])
    assert words.label_names_ == ["a", "b"]
    assert numbers.label_names_ == ["7", "3"]
    assert words.predict(counts[:2]).tolist() == ["a", "b"]
    assert numbers.predict(counts[:2]).tolist() == [7, 3]
    assert words.label_documents_.tolist() == [2, 1]


def test_an_empty_name_is_no_label():
    assert LabeledLDA(max_iter=2).fit([[1, 2], [2, 1]], [["", "a"], ["a"]]).label_names_ == ["a"]


def test_an_indicator_column_that_no_document_has_stays_in_its_place():
    model = LabeledLDA(max_iter=5, random_state=0).fit([[3, 0], [0, 3]], np.array([[1, 0, 0], [0, 0, 1]]))
    assert model.label_names_ == ["0", "1", "2"]
    assert_allclose(model.components_[1], 0.5)
    assert model.predict([[3, 0], [0, 3]]).tolist() == [[1, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        ([["a"]], "there are 2 documents, but labels of 1."),
        ([["a"], [float("nan")]], "labels must be strings or whole numbers, but one of document 1 is nan."),
        ([0.5, 1.0], "labels must be strings or whole numbers, but one of document 0 is 0.5."),
        (
            np.array([[0, 1], [-1, 1]]),
            "an indicator matrix of labels must contain only zeros and ones, but row 1, column 0 is -1",
        ),
        (
            np.array([[0, 2], [1, 1]]),
            "an indicator matrix of labels must contain only zeros and ones, but row 0, column 1 is 2",
        ),
        (np.array([["x", "y"], ["z", "z"]]), "an indicator matrix of labels must contain only zeros and ones"),
        ("ab", "expected the labels of several documents"),
        ([[], None], "LabeledLDA: no document has a label"),
        (None, "LabeledLDA: no document has a label"),
    ],
)
def test_what_is_wrong_with_labels_is_said_in_a_sentence(y, sentence):
    with pytest.raises(InputError) as said:
        LabeledLDA().fit([[1, 2], [2, 1]], y)
    assert sentence in str(said.value)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"alpha": 0}, "alpha must be a number above 0, but was 0."),
        ({"eta": "auto"}, "eta must be a number above 0, but was 'auto'."),
        ({"background": -1}, "background must be a whole number of at least 0, but was -1."),
        ({"burn_in": 0.5}, "burn_in must be a whole number of at least 0, or None, but was 0.5."),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1, but was 0."),
        ({"tol": -1}, "tol must be a number of at least 0, but was -1."),
    ],
)
def test_what_is_wrong_with_settings_is_said_in_a_sentence(settings, sentence):
    with pytest.raises(InputError) as said:
        LabeledLDA(**settings).fit([[1, 2], [2, 1]], ["a", "b"])
    assert str(said.value) == f"LabeledLDA: {sentence}"


def test_counts_that_are_not_whole_are_refused():
    with pytest.raises(InputError, match="counts must be whole numbers up to 16,777,216, but some are not"):
        LabeledLDA().fit([[1, 0.5], [2, 1]], ["a", "b"])


# --- what is learned ---------------------------------------------------------------------------------------------------------


def test_labels_find_their_words(model):
    assert {"cat", "purr"} <= {*model.top_words("cat", 6)}
    assert {"dog", "bark"} <= {*model.top_words("dog", 6)}
    assert {"money", "bank"} <= {*model.top_words("money", 6)}
    every = model.top_words(n=3)
    assert every == [model.top_words(label, 3) for label in model.label_names_]


def test_top_words_have_their_probabilities(model):
    words = model.vocabulary_.tolist()
    row = model.components_[model.label_names_.index("dog")]
    for word, p in model.top_words("dog", 4, weights=True):
        assert_allclose(p, row[words.index(word)], rtol=1e-5)
    assert_allclose([p for _, p in model.top_words("dog", 4, weights=True)], np.sort(row)[::-1][:4], rtol=1e-5)
    assert_allclose(model.components_.sum(axis=1), 1, rtol=1e-5)


def test_a_label_that_is_not_known_is_said_with_those_that_are_near(model):
    with pytest.raises(InputError, match=r"does not know the label 'mony'; did you mean 'money'\?"):
        model.top_words("mony")
    with pytest.raises(InputError, match=r"does not know the label 'zebra'\.$"):
        model.snippet("a text", "zebra")


def test_shares_and_documents_of_labels_are_told(corpus, model):
    assert_allclose(model.label_shares_.sum(), 1)
    assert_allclose(model.label_words_.sizes.sum(), corpus.n_tokens)
    assert model.label_documents_.tolist() == [sum(name in mine for mine in LABELS) for name in model.label_names_]
    assert len(model.log_likelihood_) == model.n_iter_ == 40
    assert model.log_likelihood_[-1] > model.log_likelihood_[0]
    assert model.stopped_by_ == "iterations"


def test_documents_without_labels_may_use_all(corpus):
    labels = [mine if number % 3 else [] for number, mine in enumerate(LABELS)]
    model = LabeledLDA(max_iter=40, random_state=0).fit(corpus, labels)
    assert_allclose(model.label_words_.sizes.sum(), corpus.n_tokens)
    assert {"money", "bank"} <= {*model.top_words("money", 6)}


def test_a_background_is_open_to_all_and_documents_without_labels_have_no_other():
    texts = [text + " said said said" for text in TEXTS] + ["said said"]
    model = LabeledLDA(background=1, max_iter=60, random_state=0).fit(texts, [*LABELS, []])
    assert model.topic_names_ == [*model.label_names_, "background 1"]
    assert model.components_.shape[0] == 4
    assert model.top_words("background 1", 1) == ["said"]
    assert model.transform(["said said said"]).shape == (1, 4)
    assert {found.label for found in model.attribute("the cat said", "cat") if found.label} <= {"cat", "background 1"}


# --- what it is used for -----------------------------------------------------------------------------------------------------


def test_labels_of_new_documents_are_found(model):
    texts, labels = some_texts(40, seed=1)
    predicted = model.predict(texts)
    right = [sorted(found) == sorted(mine) for found, mine in zip(predicted, labels, strict=True)]
    assert np.mean(right) > 0.9
    likely = model.predict_proba(texts)
    assert likely.shape == (40, 3)
    assert ((likely >= 0) & (likely <= 1)).all()
    assert model.label_names_[likely[0].argmax()] == predicted[0][0]


def test_probabilities_of_labels_nearly_hold_for_documents_that_were_not_seen():
    generator = np.random.default_rng(0)
    topics = generator.dirichlet(np.full(300, 0.1), 12)
    labels = [generator.choice(12, generator.integers(1, 4), replace=False) for _ in range(1000)]
    noise = topics.mean(axis=0)
    counts = np.array([generator.multinomial(15, 0.6 * topics[mine].mean(axis=0) + 0.4 * noise) for mine in labels])
    table = indicators(labels, range(12))
    model = LabeledLDA(max_iter=30, random_state=0).fit(counts[:500], table[:500])
    likely, truth = model.predict_proba(counts[500:]), table[500:]
    assert_allclose(likely.sum(), truth.sum(), rtol=0.1)
    for first, last in ((0.1, 0.4), (0.4, 0.7), (0.7, 1.0)):
        inside = (likely >= first) & (likely < last)
        assert abs(likely[inside].mean() - truth[inside].mean()) < 0.15


def test_shares_of_labels_in_new_documents_sum_to_one(model):
    shares = model.transform(["cats purr and purr", "money in the bank. dogs bark", "qqq"])
    assert_allclose(shares.sum(axis=1), 1)
    names = model.label_names_
    assert shares[0, names.index("cat")] > 0.9
    assert shares[1, [names.index("money"), names.index("dog")]].min() > 0.3
    assert_allclose(shares[2], model.label_shares_)
    assert model.predict(["qqq"]) == [[]]
    assert model.get_feature_names_out().tolist() == names


def test_indicators_come_back_as_indicators(corpus):
    names = ["money", "cat", "dog"]
    model = LabeledLDA(max_iter=40, random_state=0).fit(corpus, pd.DataFrame(indicators(LABELS, names), columns=names))
    texts, labels = some_texts(20, seed=2)
    predicted = model.predict(texts)
    assert predicted.shape == (20, 3)
    assert (predicted == indicators(labels, names)).mean() > 0.9


def test_every_word_of_a_text_is_told_its_label_where_it_stands(model):
    text = "The CAT purrs;  the bank\nlends money to zebras."
    found = model.attribute(text, ["cat", "money"])
    assert [one.word for one in found] == ["The", "CAT", "purrs", "the", "bank", "lends", "money", "to", "zebras"]
    assert all(text[one.start : one.end] == one.word for one in found)
    assert [one.label for one in found] == [None, "cat", "cat", None, "money", "money", "money", None, None]
    assert all(one.weight > 0.5 for one in found if one.label)
    assert [one.label for one in model.attribute(text)] == [one.label for one in found]
    assert {one.label for one in model.attribute(text, "dog")} == {None, "dog"}


def test_a_snippet_is_the_passage_that_shows_the_label(model):
    text = "The dog barks at night. " * 5 + "Money in the bank earns interest. " + "The cat purrs. " * 5
    assert "Money in the bank earns" in model.snippet(text, "money", 6)
    assert model.snippet(text, "money", 6).startswith("… ")
    assert model.snippet(text, "money", 6).endswith(" …")
    assert model.snippet("dogs bark", "dog", 30) == "dogs bark"
    assert model.snippet("", "dog") == ""


def test_models_that_do_not_count_single_words_say_so():
    pairs = LabeledLDA(max_iter=2).fit(Corpus.from_texts(TEXTS, labels=LABELS, analyzer=Analyzer(ngrams=(1, 2))))
    with pytest.raises(InputError, match="n-grams or several languages"):
        pairs.attribute("a text")
    without_words = LabeledLDA(max_iter=2).fit([[1, 2], [2, 1]], ["a", "b"])
    with pytest.raises(InputError, match="fitted on a matrix without words"):
        without_words.attribute("a text")


def test_perplexity_is_lower_with_the_right_labels(corpus, model):
    texts, labels = some_texts(40, seed=3)
    right = model.perplexity(texts, labels)
    wrong = model.perplexity(texts, [labels[-1 - place] for place in range(40)])
    assert right < model.perplexity(texts) < wrong
    assert right == model.perplexity(Corpus.from_texts(texts, labels=labels))
    assert model.perplexity(corpus) != model.perplexity(corpus, seed=1)


def test_a_label_that_is_not_known_gives_every_word_the_same_probability(model):
    assert_allclose(model.perplexity(TEXTS, ["unheard of"] * len(TEXTS)), len(model.vocabulary_), rtol=1e-9)


def test_coherence_and_diversity_work_on_labels(corpus, model):
    assert model.coherence(corpus, n=4).shape == (3,)
    assert 0 < model.diversity(5) <= 1


def test_nothing_works_before_fit():
    for use in (lambda m: m.top_words(), lambda m: m.predict(["a"]), lambda m: m.attribute("a"), lambda m: m.components_):
        with pytest.raises(NotFittedError):
            use(LabeledLDA())


# --- kept, resumed, reproduced -----------------------------------------------------------------------------------------------


def test_a_saved_model_is_the_same_model(model, tmp_path):
    model.save(tmp_path / "model")
    back = load(tmp_path / "model")
    texts, labels = some_texts(10, seed=4)
    assert isinstance(back, LabeledLDA)
    assert_array_equal(back.components_, model.components_)
    assert back.predict(texts) == model.predict(texts)
    assert_array_equal(back.predict_proba(texts), model.predict_proba(texts))
    assert_array_equal(back.transform(texts), model.transform(texts))
    assert back.perplexity(texts, labels) == model.perplexity(texts, labels)
    assert back.label_documents_.tolist() == model.label_documents_.tolist()
    assert back.attribute(texts[0]) == model.attribute(texts[0])


def test_any_number_of_threads_gives_the_same_model(corpus, model):
    other = LabeledLDA(max_iter=40, random_state=0, engine=ThreadEngine(1)).fit(corpus)
    assert_array_equal(other.components_, model.components_)
    assert other.log_likelihood_ == model.log_likelihood_


def test_a_run_is_resumed_to_the_same_bits_and_not_with_other_labels(corpus, model, tmp_path):
    short = LabeledLDA(max_iter=25, burn_in=20, random_state=0)
    short.fit(corpus, checkpoints=Checkpoints(tmp_path / "run", 0.0))
    resumed = LabeledLDA(max_iter=40, burn_in=20, random_state=0)
    resumed.fit(corpus, checkpoints=Checkpoints(tmp_path / "run", 1e9, resume=True))
    assert_array_equal(resumed.components_, model.components_)
    with pytest.raises(InputError, match="cannot resume: the checkpoint is of a run with labels"):
        resumed.fit(corpus, LABELS[::-1], checkpoints=Checkpoints(tmp_path / "run", 1e9, resume=True))
