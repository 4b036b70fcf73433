"""Labeled LDA from a stream: what it promises to people who feed it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import semascope as ss
from semascope import Analyzer, Corpus, InformedPrior, OnlineLabeledLDA
from semascope.corpus.build.growing_vocabulary import GrowingWords
from semascope.errors import InputError
from semascope.kernels.particle_filter import N_ROWS


def stream(n_documents=400, seed=0, n_labels=6, words_of=8):
    """Documents whose words are those of their labels, by name; the third label comes later."""
    generator = np.random.default_rng(seed)
    texts, labels = [], []
    for number in range(n_documents):
        known = n_labels if number > n_documents // 2 else n_labels // 2
        mine = generator.choice(known, generator.integers(1, 4), replace=False)
        drawn = [f"w{label}x{generator.integers(words_of)}" for label in generator.choice(mine, 12)]
        texts.append(" ".join([*drawn, "the"]))
        labels.append([f"label {label}" for label in mine])
    return texts, labels


def bits(model):
    return {name: array.tobytes() for name, array in model._particles.to_arrays().items()}


@pytest.fixture(scope="module")
def learned():
    return OnlineLabeledLDA(random_state=0).partial_fit(*stream())


def test_planted_labels_are_found(learned):
    for label in range(6):
        top = learned.top_words(f"label {label}", 8)
        assert sum(word.startswith(f"w{label}x") for word in top) >= 7


def test_labels_and_words_join_when_they_come():
    model = OnlineLabeledLDA(random_state=0).partial_fit(["cats purr"], [["cat"]])
    assert model.label_names_ == ["cat"]
    assert model.n_features_in_ == 2
    model.partial_fit("dogs bark and cats purr", ["dog", "cat"])
    assert model.label_names_ == ["cat", "dog"]
    assert model.vocabulary_.tolist() == ["cats", "purr", "dogs", "bark", "and"]
    assert model.components_.shape == (2, 5)
    assert_allclose(model.components_.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("size", [1, 7, 150])
def test_a_stream_may_be_cut_anywhere_and_saved_and_loaded_in_between(tmp_path, size):
    texts, labels = stream(300)
    settings = {"random_state": 3, "memory": 900, "n_initial": 40, "half_life": 170, "analyzer": Analyzer(stop_words=["the"])}
    whole = OnlineLabeledLDA(**settings).partial_fit(texts, labels)
    model = OnlineLabeledLDA(**settings)
    for number, first in enumerate(range(0, 300, size)):
        model.partial_fit(texts[first : first + size], labels[first : first + size])
        if number % 101 == 1:
            model.save(tmp_path / "model")
            model = ss.load(tmp_path / "model")
    assert bits(model) == bits(whole)
    assert model.label_names_ == whole.label_names_
    assert model.vocabulary_.tolist() == whole.vocabulary_.tolist()
    assert model.n_documents_seen_ == whole.n_documents_seen_ == 300
    assert_array_equal(model.label_documents_, whole.label_documents_)


def test_a_model_that_has_learned_nothing_can_be_saved(tmp_path):
    OnlineLabeledLDA(random_state=5, analyzer=Analyzer(stop_words=["the"])).save(tmp_path / "model")
    model = ss.load(tmp_path / "model").partial_fit(*stream(50))
    fresh = OnlineLabeledLDA(random_state=5, analyzer=Analyzer(stop_words=["the"])).partial_fit(*stream(50))
    assert bits(model) == bits(fresh)
    assert "the" not in model.vocabulary_


def test_documents_without_labels_or_words_are_counted_and_teach_nothing():
    texts, labels = stream(50)
    plain = OnlineLabeledLDA(random_state=0).partial_fit(texts, labels)
    more = OnlineLabeledLDA(random_state=0)
    for text, mine in zip(texts, labels, strict=True):
        more.partial_fit([text, "", "w1x1 w2x2"], [mine, ["label 1"], ["", None][:1]])
    assert more.n_documents_seen_ == 150
    assert more.n_documents_learned_ == plain.n_documents_learned_ == 50
    assert_allclose(more.label_words_.counts.sum(), plain.label_words_.counts.sum(), rtol=1e-6)


def test_fitting_again_begins_with_nothing_known():
    texts, labels = stream(50)
    fresh = OnlineLabeledLDA(random_state=0).fit(texts, labels)
    again = OnlineLabeledLDA(random_state=0).fit(["fish swim", "birds sing"], [["sea"], ["air"]])
    assert again.vocabulary_.tolist() == ["fish", "swim", "birds", "sing"]
    again.fit(["cats purr", "dogs bark"], [["cat"], ["dog"]])
    assert again.vocabulary_.tolist() == ["cats", "purr", "dogs", "bark"]
    assert bits(again.fit(texts, labels)) == bits(fresh)
    assert again.n_documents_seen_ == 50


def test_a_model_without_labels_or_words_finds_none():
    model = OnlineLabeledLDA(random_state=0).partial_fit(["hello"])
    assert model.predict(["hello there"]) == [[]]
    assert model.transform(["hello there"]).shape == (1, 0)
    assert [word.label for word in model.attribute("hello there")] == [None, None]
    without_words = OnlineLabeledLDA(random_state=0).partial_fit("", ["greeting"])
    assert without_words.predict(["hello there"]) == [[]]
    assert without_words.snippet("hello there, you", "greeting", 2) == "hello there …"


def test_documents_without_labels_do_not_decide_the_form_of_labels():
    model = OnlineLabeledLDA(random_state=0).partial_fit(["hello", "there"], [None, None]).partial_fit(["cats"], [["cat"]])
    assert model.predict(["cats"]) == [["cat"]]


def test_a_document_may_have_a_thousand_labels():
    model = OnlineLabeledLDA(random_state=0).partial_fit(*stream(30))
    model.partial_fit("some words of it all", [f"many {number}" for number in range(1000)])
    assert len(model.label_names_) > 1000
    assert_allclose(model.label_words_.counts.sum(), 30 * 13 + 5, rtol=1e-6)


def test_memory_is_bounded_and_particles_copy_only_where_they_differ(learned):
    small = OnlineLabeledLDA(random_state=0, memory=300, n_initial=10).partial_fit(*stream())
    kept = small._particles.to_arrays()
    assert kept["memory_firsts"][-1, 0] <= 300 + 13 * 60
    assert small._particles.tables.numbers[N_ROWS] < len(kept["pair_words"]) / 2


def test_with_a_half_life_old_meanings_fade():
    texts = ["old " * 5] * 300 + ["new " * 5] * 100
    labels = [["it"]] * 400
    keeping = OnlineLabeledLDA(random_state=0).partial_fit(texts, labels)
    fading = OnlineLabeledLDA(random_state=0, half_life=20).partial_fit(texts, labels)
    assert keeping.top_words("it", 1) == ["old"]
    assert fading.top_words("it", 1) == ["new"]
    assert_allclose(fading.label_words_.counts.sum(), 5 * 20 / np.log(2), rtol=0.1)


def test_words_are_predicted_better_the_more_was_learned():
    texts, labels = stream(600)
    model, perplexities = OnlineLabeledLDA(random_state=0), []
    for first in range(0, 600, 100):
        model.partial_fit(texts[first : first + 100], labels[first : first + 100])
        perplexities.append(np.exp(-model.last_log_likelihood_ / model.last_tokens_))
    assert perplexities[-1] < 0.9 * perplexities[0]
    assert model.last_tokens_ == 1300


def test_it_learns_from_a_corpus_and_from_counts():
    texts, labels = stream(100)
    corpus = Corpus.from_texts(texts, labels=labels)
    of_corpus = OnlineLabeledLDA(random_state=0).partial_fit(corpus)
    of_counts = OnlineLabeledLDA(random_state=0).partial_fit(corpus.counts, labels)
    assert of_corpus.vocabulary_.tolist() == corpus.vocabulary.tolist()
    assert of_counts.components_.shape == of_corpus.components_.shape
    assert of_counts.n_documents_learned_ == 100
    of_corpus.partial_fit("an unheard word", ["label 0"])
    assert of_corpus.vocabulary_[-1] == "word"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_particles": 0}, "n_particles must be a whole number of at least 1"),
        ({"n_particles": 40_000}, "n_particles must be at most 32,767"),
        ({"memory": -1}, "memory must be a whole number of at least 0"),
        ({"weights": "even"}, "weights must be one of predictive, published"),
        ({"ess_threshold": 1.5}, "ess_threshold must be above 0 and at most 1"),
        ({"half_life": 0}, "half_life must be a number of documents above 0"),
        ({"alpha": 0}, "alpha must be a number above 0"),
        ({"eta": InformedPrior({"a": ["b"]})}, "eta must be a number above 0"),
    ],
)
def test_settings_that_make_no_sense_are_named(settings, sentence):
    with pytest.raises(InputError, match=sentence):
        OnlineLabeledLDA(**settings).partial_fit("a text", "label")


def test_what_cannot_be_learned_is_refused_and_changes_nothing(learned):
    before = bits(learned)
    for X, y, sentence in (
        (["a text"], [["a"], ["b"]], "1 documents, but labels of 2"),
        (["a text"], [[1.5]], "labels must be strings or whole numbers"),
        (np.ones((2, 3)), ["a", "b"], "fitted to texts, so it cannot learn from a matrix"),
        (["fine", "a lone \ud800 surrogate"], [["a"], ["b"]], "lone surrogate"),
    ):
        with pytest.raises(InputError, match=sentence):
            learned.partial_fit(X, y)
    assert bits(learned) == before
    assert "a" not in learned.label_names_
    with pytest.raises(InputError, match="counts must be whole numbers"):
        OnlineLabeledLDA().partial_fit(np.array([[0.5, 1.0]]), ["a"])


def test_growing_words_are_those_of_the_analyzer():
    texts = ["Running runs the RACE", "a race of İstanbul", "the straße"]
    for analyzer in (
        Analyzer(),
        Analyzer(stop_words="english", stemmer="english"),
        Analyzer(ngrams=(1, 2)),
        Analyzer(token_pattern=r"[a-z]+"),
    ):
        growing = GrowingWords(analyzer)
        rows = growing.count(texts[:2])
        more = growing.count(texts[2:])
        for text, part, place in ((texts[0], rows, 0), (texts[1], rows, 1), (texts[2], more, 0)):
            own = slice(part.ends[place], part.ends[place + 1])
            found = [
                growing.listed[number]
                for number, n in zip(part.words[own], part.counts[own], strict=True)
                for _ in range(int(n))
            ]
            assert sorted(found) == sorted(analyzer.words(text))
