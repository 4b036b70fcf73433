"""Coherence counts the windows that the plain reference counts, gives what is worked out by hand, and is always a number."""

import math

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from helpers import collection, random_counts
from reference.cooccurrence import count_windows as reference_count_windows
from semascope import LDA, PLSA, Analyzer, Corpus
from semascope.corpus.build.counters import words_in_order
from semascope.errors import InputError
from semascope.evaluation.coherence import (
    EPSILON,
    MEASURES,
    Cooccurrence,
    Windowed,
    coherence,
    count_cooccurrence,
    diversity,
    documents_as_windows,
    slides_over_texts,
    sliding_windows,
    top_words,
)

LETTERS = list("abcdefghijklmno")


def random_documents(seed):
    """Documents of letters, short and long, some of them empty."""
    rng = np.random.default_rng(seed)
    return [list(rng.choice(LETTERS, n, p=rng.dirichlet(np.full(15, 0.3)))) for n in rng.integers(0, 40, 25)]


def random_tops(seed, n_topics=4, n=5):
    """Different letters for each topic, fewer in some of them."""
    rng = np.random.default_rng(seed)
    top = np.array([rng.permutation(15)[:n] for _ in range(n_topics)], dtype=np.int32)
    top[1, 3:] = -1
    top[2, 1:] = -1
    return top


def as_letters(top):
    return [[LETTERS[j] for j in row if j >= 0] for row in top]


def padded(top, found):
    """Leave out what a topic has no words for."""
    there = top >= 0
    return found * (there[:, :, None] & there[:, None, :])


# --- windows ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [1, 2, 3, 7, 110])
@pytest.mark.parametrize("seed", range(5))
def test_windows_are_those_of_the_reference(seed, window):
    documents, top = random_documents(seed), random_tops(seed)
    wanted = np.unique(top[top >= 0])
    number = {LETTERS[j]: i for i, j in enumerate(wanted)}
    words = np.array([number.get(letter, -1) for document in documents for letter in document], dtype=np.int32)
    ends = np.cumsum([0, *map(len, documents)])
    half = len(documents) // 2
    blocks = [  # the counts of blocks add up
        Windowed(ends[: half + 1], words[: ends[half]], window),
        Windowed(ends[half:] - ends[half], words[ends[half] :], window),
    ]
    found = count_cooccurrence(top, blocks)
    n_windows, together = reference_count_windows(documents, as_letters(top), window)
    assert found.n_windows == n_windows
    assert_array_equal(found.windows, padded(top, together))


@pytest.mark.parametrize("seed", range(3))
def test_documents_are_windows_of_a_corpus_of_counts(seed):
    documents, top = random_documents(seed), random_tops(seed)
    counts = np.array([[document.count(letter) for letter in LETTERS] for document in documents])
    corpus = Corpus.from_matrix(counts, LETTERS)
    assert not slides_over_texts(corpus)
    n_windows, together = reference_count_windows(documents, as_letters(top), 10**6)
    for windows in (documents_as_windows, sliding_windows):
        found = count_cooccurrence(top, windows(corpus, np.unique(top[top >= 0])))
        assert found.n_windows == n_windows
        assert_array_equal(found.windows, padded(top, together))


@pytest.mark.parametrize("analyzer", [Analyzer(min_length=1), Analyzer(min_length=1, token_pattern=r"[a-z]")])
def test_windows_slide_over_the_texts_of_a_corpus(analyzer):
    documents, top = random_documents(1), random_tops(1)
    corpus = Corpus.from_texts([" ".join(document) for document in documents], analyzer=analyzer)
    assert slides_over_texts(corpus)
    numbers = {word: j for j, word in enumerate(corpus.vocabulary)}
    mine = np.array([[numbers[LETTERS[j]] if j >= 0 else -1 for j in row] for row in top], dtype=np.int32)
    found = count_cooccurrence(mine, sliding_windows(corpus, np.unique(mine[mine >= 0]), window=6))
    n_windows, together = reference_count_windows(documents, as_letters(top), 6)
    assert found.n_windows == n_windows
    assert_array_equal(found.windows, padded(top, together))


def test_stop_words_take_no_place_in_a_window_and_words_that_limits_leave_out_do():
    analyzer = Analyzer(stop_words=["the"], stemmer="english", min_df=2)
    ends, words = words_in_order(["The cats, the rare dog", "", "dogs x cat"], analyzer, pl.Series(["dog", "cat"]))
    assert ends.tolist() == [0, 3, 3, 5]
    assert words.tolist() == [1, -1, 0, 0, 1]


def test_n_grams_have_no_windows_but_documents():
    assert not slides_over_texts(Corpus.from_texts(["new york is new"], analyzer=Analyzer(ngrams=(1, 2))))


# --- the measures ----------------------------------------------------------------------------------------------------------


def by_hand(measure):
    """Ten windows: words 0 and 1 are in five each and in four together; word 2 is in two, once with 0 and never with 1."""
    together = np.array([[[5, 4, 1], [4, 5, 0], [1, 0, 2]]])
    (value,) = MEASURES[measure](Cooccurrence(10, np.array([[0, 1, 2]], dtype=np.int32), together))
    return value


@pytest.mark.parametrize("analyzer", [Analyzer(), {"en": Analyzer(), "de": Analyzer()}], ids=["one analyzer", "one each"])
def test_texts_in_several_languages_have_no_windows_but_documents(analyzer):
    texts = [{"en": "the war", "de": "es war"}, {"en": None, "de": "war es"}]
    corpus = Corpus.from_texts(texts, analyzer=analyzer)
    topics = np.eye(corpus.n_words)[:, :1] + 0.1
    counted = Corpus.from_matrix(corpus.counts, corpus.lexicon)
    assert not slides_over_texts(corpus)
    assert_array_equal(coherence(topics, corpus, "c_v"), coherence(topics, counted, "c_v"))


def test_umass_is_what_is_worked_out_by_hand():
    assert by_hand("umass") == pytest.approx((math.log(5 / 5) + math.log(2 / 5) + math.log(1 / 5)) / 3)


def test_npmi_is_what_is_worked_out_by_hand():
    first = math.log(0.4 / 0.25) / -math.log(0.4)
    second = math.log(0.1 / 0.1) / -math.log(0.1)  # no more often together than chance would have it
    never = math.log(EPSILON / 0.1) / -math.log(EPSILON)
    assert second == 0
    assert by_hand("npmi") == pytest.approx((first + second + never) / 3)


def test_c_v_is_what_is_worked_out_by_hand():
    a, b = math.log(0.4 / 0.25) / -math.log(0.4), math.log(EPSILON / 0.1) / -math.log(EPSILON)
    vectors = np.array([[1, a, 0], [a, 1, b], [0, b, 1]])
    whole = vectors.sum(axis=0)
    cosines = [v @ whole / np.sqrt((v @ v) * (whole @ whole)) for v in vectors]
    assert by_hand("c_v") == pytest.approx(np.mean(cosines))


@pytest.mark.parametrize("measure", MEASURES)
def test_no_value_is_ever_anything_but_a_number(measure):
    counts = np.array([[1, 1, 0, 0, 1], [1, 0, 1, 0, 0], [1, 0, 0, 0, 0]])  # word 0 is everywhere, word 3 nowhere
    topics = [[3, 0, 0, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 2, 0], [0, 0, 1, 1, 0], [0, 1, 1, 0, 0], [2, 1, 0, 0, 1]]
    with np.errstate(all="raise", under="ignore"):
        values = coherence(np.array(topics).T, Corpus.from_matrix(counts), measure, n=3)
    assert np.isfinite(values).all()
    nothing = -math.log(3) if measure == "umass" else 0
    assert_allclose(values[:4], nothing)  # one word, none, and words that no document has


@pytest.mark.parametrize("measure", MEASURES)
def test_words_that_are_always_together_are_as_coherent_as_words_can_be(measure):
    best = coherence(np.array([[1, 1, 0]]).T, Corpus.from_matrix([[2, 1, 0], [0, 0, 1], [1, 1, 0]]), measure)
    everywhere = coherence(np.array([[1, 1]]).T, Corpus.from_matrix([[1, 1], [2, 1]]), measure)
    if measure == "umass":
        assert_allclose(best, math.log(3 / 2))
        assert_allclose(everywhere, math.log(3 / 2))
    else:
        assert_allclose([best, everywhere], 1, rtol=1e-9)


def test_an_unknown_measure_and_too_few_words_are_refused():
    corpus = Corpus.from_matrix([[1, 1]])
    with pytest.raises(InputError, match=r"^measure must be one of npmi, umass, c_v, but was 'uci'.$"):
        coherence(np.ones((2, 1)), corpus, "uci")
    with pytest.raises(InputError, match=r"^the number of top words must be at least 1, but was 0.$"):
        diversity(np.ones((2, 1)), 0)


# --- top words and models --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_top_words_are_those_that_a_model_shows_ties_included(seed):
    model = PLSA(3, max_iter=2, random_state=seed).fit(random_counts(seed))
    model.components_ = np.round(model.components_, 2)
    words = [[f"x{j}" for j in row if j >= 0] for row in top_words(model.components_.T, 8)]
    assert words == model.top_words(8)
    assert model.diversity(8) == len({w for row in words for w in row}) / sum(map(len, words))


def test_a_model_tells_the_coherence_of_each_of_its_topics():
    texts = ["cat dog bird", "dog cat", "bird cat dog", "tax law", "law tax bank", "bank law tax"] * 3
    model = LDA(2, random_state=0).fit(texts)
    for measure in MEASURES:
        assert_allclose(model.coherence(texts, measure, n=3), model.coherence(Corpus.from_texts(texts), measure, n=3))
    assert (model.coherence(texts, n=3) > 0.5).all()
    assert model.diversity(3) == 1


def test_real_topics_are_more_coherent_than_words_drawn_at_random():
    corpus = Corpus.from_texts(collection("ir/med"), analyzer=Analyzer(stop_words="english", min_df=5))
    model = LDA(20, random_state=0, max_iter=50).fit(corpus)
    chance = np.random.default_rng(0).random((corpus.n_words, 20))
    for measure in MEASURES:
        assert model.coherence(corpus, measure).mean() > coherence(chance, corpus, measure).mean()
