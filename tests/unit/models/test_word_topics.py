"""Which topic each word of a document is due to."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

import semascope as ss
from helpers import large_counts, random_counts
from semascope.inference import attribution

TEXTS = ["cats purr and dogs bark", "dogs bark at cats", "bonds fall when stocks rise", "stocks rise and bonds fall"] * 3


@pytest.mark.parametrize("kind", [ss.PLSA, ss.LDA])
@pytest.mark.parametrize("seed", range(5))
def test_the_topic_of_a_word_is_the_most_probable_given_word_and_document(kind, seed, monkeypatch):
    counts = random_counts(seed)
    model = kind(3, random_state=seed, dtype="float64").fit(counts)
    monkeypatch.setattr(attribution, "BLOCK", 50)  # many blocks
    table = model.word_topics(counts)
    theta = model.transform(counts)
    expected = []
    for d, w in np.argwhere(counts):
        joint = theta[d] * model.components_[:, w]
        expected.append((d, f"x{w}", counts[d, w], joint.argmax(), joint.max() / joint.sum()))
    assert table.columns == ["document", "word", "count", "topic", "weight"]
    *same, weight = zip(*expected, strict=True)
    assert [table[name].to_list() for name in table.columns[:4]] == [list(column) for column in same]
    assert_allclose(table["weight"].to_numpy(), weight, rtol=1e-9)


def test_texts_are_told_by_word():
    model = ss.LDA(2, random_state=0).fit(TEXTS)
    table = model.word_topics(["Dogs and stocks: dogs, zebras", "", "bonds"])
    assert set(table.filter(document=0)["word"]) == {"dogs", "and", "stocks"}
    assert table.filter(document=0, word="dogs")["count"].to_list() == [2]
    assert table["document"].unique().to_list() == [0, 2]
    topic = dict(table.select("word", "topic").iter_rows())
    assert topic["dogs"] != topic["stocks"] == topic["bonds"]
    assert table["weight"].is_between(0.5, 1).all()


def test_a_corpus_with_other_words_is_told_by_those_of_the_model():
    model = ss.PLSA(2, random_state=0).fit(TEXTS)
    other = ss.Corpus.from_texts(["zebras chase dogs", "bonds"])
    assert model.word_topics(other).equals(model.word_topics(["chase dogs", "bonds"]))


def test_a_word_that_no_topic_can_give_has_none():
    model = ss.PLSA(2, random_state=0).fit([[1, 0, 2], [3, 0, 1], [0, 0, 5]])
    table = model.word_topics([[1, 7, 0]])
    assert table["topic"].is_null().to_list() == [False, True]
    assert table["weight"].is_null().to_list() == [False, True]
    assert table.schema["topic"] == pl.Int32


def test_no_documents_with_words_give_no_rows():
    model = ss.PLSA(2, random_state=0).fit(TEXTS)
    table = model.word_topics(["", "quark"])
    assert table.height == 0
    assert table.columns == ["document", "word", "count", "topic", "weight"]


def test_merged_topics_get_the_words_of_their_parts():
    counts = large_counts()[:100]
    model = ss.LDA(6, random_state=0).fit(counts)
    table, merged = model.word_topics(counts), model.merge_topics([0, 1]).word_topics(counts)
    was = table["topic"].replace_strict(range(6), [0, 0, 1, 2, 3, 4])
    assert (was == merged["topic"]).mean() > 0.9
