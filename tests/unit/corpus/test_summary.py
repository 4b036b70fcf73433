"""What a corpus is like, in numbers."""

import json

import numpy as np
import polars as pl
import pytest

from helpers import large_counts, random_counts
from semascope import Analyzer, Corpus
from semascope.corpus.summary import MAX_BINS, _binned, document_lengths, documents_by_year, summary, word_totals

TEXTS = ["The cat sat on the mat", "", "A dog, a cat and a mouse", "42 dogs"]


@pytest.mark.parametrize("seed", range(5))
def test_lengths_and_totals_are_the_sums_of_the_counts(seed, monkeypatch):
    monkeypatch.setattr("semascope.corpus.summary.PIECE", 7)  # several pieces
    counts = random_counts(seed)
    counts[-1] = 0  # the last document is empty, too
    corpus = Corpus.from_matrix(counts)
    assert document_lengths(corpus).tolist() == counts.sum(axis=1).tolist()
    totals, in_documents = word_totals(corpus)
    assert totals.tolist() == counts.sum(axis=0).tolist()
    assert in_documents.tolist() == (counts > 0).sum(axis=0).tolist()


def test_the_facts_of_a_small_corpus():
    about = summary(Corpus.from_texts(TEXTS, ids="abcd", labels=["x", None, ["x", "y"], None]))
    assert (about.documents, about.words, about.tokens, about.empty_documents) == (4, 10, 12.0, 1)
    assert (about.median_length, about.tokens_per_document, about.longest, about.longest_document) == (3.0, 3.0, 6.0, "a")
    assert about.density == 11 / 40
    assert about.most_frequent_words[:2] == [("cat", 2.0, 2), ("the", 2.0, 1)]
    assert about.hapaxes == 8
    assert [(one.first, one.n) for one in about.words_by_documents] == [(1, 9), (2, 1)]
    assert (about.labels, about.top_labels, about.unlabeled_documents) == (2, [("x", 2), ("y", 1)], 2)
    assert sum(about.languages.values()) == 1
    assert about.ranks == [(1, 2.0), (2, 2.0), *((rank, 1.0) for rank in range(3, 11))]


def test_a_summary_is_plain_json(tmp_path):
    corpus = Corpus.from_texts(TEXTS, analyzer=Analyzer(stop_words=["the"]))
    corpus.save(tmp_path / "c")
    facts = json.loads(json.dumps(summary(Corpus.open(tmp_path / "c")).to_dict()))
    assert facts["analyzer"]["stop_words"] == ["the"]
    assert facts["path"] == str(tmp_path / "c")
    assert sum(one["n"] for one in facts["lengths"]) == 3


@pytest.mark.parametrize(
    "corpus",
    [
        Corpus.from_texts(["word"]),
        Corpus.from_matrix([[0.25, 0.5], [0, 0]]),
        Corpus.from_matrix(np.zeros((3, 2))),
        Corpus.from_texts(TEXTS).filter([1]),
        Corpus.from_texts(TEXTS).filter([]),
        Corpus.from_matrix(large_counts()),
    ],
    ids=["one word", "fractions", "zeros", "one empty document", "no document", "large"],
)
def test_odd_corpora_are_summed_up(corpus):
    about = summary(corpus)
    assert sum(one.n for one in about.lengths) == about.documents - about.empty_documents
    assert sum(one.n for one in about.words_by_documents) == (word_totals(corpus)[0] > 0).sum()


@pytest.mark.parametrize("growing", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_bins_hold_every_value_once_and_are_few(seed, growing):
    rng = np.random.default_rng(seed)
    drawn = np.exp(rng.normal(rng.uniform(-3, 8), rng.uniform(0, 3), size=200))
    for values in (drawn, np.ceil(drawn), drawn[:1], np.ceil(drawn[:1])):
        bins = _binned(values, growing=growing)
        assert 1 <= len(bins) <= MAX_BINS
        for one in bins:
            assert one.n == ((values >= one.first) & (values < one.end)).sum()
        assert sum(one.n for one in bins) == len(values)
        assert [one.end for one in bins[:-1]] == [one.first for one in bins[1:]]


def test_years_are_read_from_dates_of_many_kinds_and_gaps_are_filled():
    dates = ["1987-02-26", "26-FEB-1987 15:01:01.79", "19900101", "1990", "1990-01-01T10:20:30", "3 May 1990", None]
    years = documents_by_year(pl.DataFrame({"date": dates}))
    assert years == {1987: 2, 1988: 0, 1989: 0, 1990: 4}
    assert documents_by_year(pl.DataFrame({"year": [2001, 2001]})) == {2001: 2}


@pytest.mark.parametrize("dates", [["soon", "late", "1999"], [None, None], ["123456", "99", "2999"]])
def test_dates_that_cannot_be_read_give_no_years(dates):
    assert documents_by_year(pl.DataFrame({"date": dates}, schema={"date": pl.String})) == {}
