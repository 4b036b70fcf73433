"""The tokenizer gives the words of Python's regular expressions, and CountVectorizer's matrix."""

import re
import sys
from collections import Counter

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from helpers import collection
from reference.csr import by_word as reference_by_word
from reference.csr import renumber as reference_renumber
from reference.ngrams import number_ngrams
from reference.tokenizer import count_words
from semascope import Analyzer, Corpus
from semascope.corpus.build.counters import LanguageCounter
from semascope.corpus.build.spool import Piece, PieceList
from semascope.corpus.build.vocabulary import RunTable
from semascope.corpus.csr import concatenate
from semascope.corpus.text.analyzer import LAST_LETTER
from semascope.corpus.text.multilingual import in_list
from semascope.kernels.csr import by_word, renumber, renumber_few

COLLECTIONS = [
    *(f"ir/{name}" for name in ("cacm", "cisi", "cran", "med", "time")),
    *(f"labelled/{name}" for name in ("20newsgroups", "reuters21578")),
    *(f"poly/{name}" for name in ("bible_chapters", "debian")),
    "scale/cve",
]

NASTY = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from("ΣσςİıßẞⱥȺKſǅ_0٣ñ\u0307'\n ab")),
    max_size=30,
)


def counters(texts, analyzer):
    """Counter of words of each text, from the kernel."""
    with LanguageCounter(analyzer, PieceList()) as counter:
        counter.add(in_list(texts, None))
        counted = counter.finish()
    rows, words = concatenate(list(counted.rows())), counted.lexicon.words.to_list()
    return [
        Counter({words[w]: int(n) for w, n in zip(rows.words[a:b], rows.counts[a:b], strict=True)})
        for a, b in zip(rows.ends[:-1], rows.ends[1:], strict=True)
    ]


@settings(max_examples=300, deadline=None)
@given(st.lists(NASTY, min_size=1, max_size=6), st.integers(1, 3), st.booleans())
def test_words_are_those_of_pythons_regular_expressions_whatever_the_text(texts, min_length, lowercase):
    analyzer = Analyzer(min_length=min_length, lowercase=lowercase)
    assert counters(texts, analyzer) == count_words(texts, min_length, lowercase)


@settings(max_examples=50, deadline=None)
@given(st.lists(NASTY, min_size=1, max_size=6))
def test_one_text_is_analysed_as_many_are(texts):
    for analyzer in (Analyzer(stop_words=["ab"]), Analyzer(stop_words=["ab"], ngrams=(2, 3), min_length=1)):
        assert counters(texts, analyzer) == [Counter(analyzer.words(text)) for text in texts]


def test_every_character_is_a_letter_or_not_as_python_says():
    assert not any(re.match(r"\w", chr(point)) for point in range(LAST_LETTER, sys.maxunicode + 1))
    texts = [chr(point) * 2 for point in range(LAST_LETTER) if not 0xD800 <= point < 0xE000]
    assert counters(texts, Analyzer()) == count_words(texts)


def test_words_of_any_length_are_told_apart():
    words = [letter * n for n in (1, 2, 7, 8, 9, 15, 16, 17, 100, 5000) for letter in "aböß"]
    words += [word[:-1] + "z" for word in words]
    texts = [" ".join(words), " ".join(reversed(words))]
    assert counters(texts, Analyzer(min_length=1)) == count_words(texts, 1)


def test_a_table_of_words_grows_as_far_as_needed():
    texts = [" ".join(f"word{i}" for i in range(first, first + 50_000)) for first in (0, 25_000)]
    assert counters(texts, Analyzer()) == count_words(texts)


def test_a_custom_pattern_is_taken_as_it_is():
    analyzer = Analyzer(token_pattern=r"(?u)\b[a-z]+-[a-z]+\b")
    assert counters(["Well-known and half-baked, not known"], analyzer) == [Counter({"well-known": 1, "half-baked": 1})]


@pytest.mark.parametrize("name", COLLECTIONS)
def test_the_matrix_is_count_vectorizers_on_every_collection(name):
    texts = collection(name)
    vectorizer = CountVectorizer()
    theirs = vectorizer.fit_transform(texts)
    corpus = Corpus.from_texts(texts)
    assert sorted(corpus.vocabulary) == sorted(vectorizer.vocabulary_)
    columns = [vectorizer.vocabulary_[word] for word in corpus.vocabulary]
    assert (theirs[:, columns] != corpus.counts).nnz == 0


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 20))
def test_renumbering_gives_the_matrix_that_scipy_gives(seed, n_rows, n_words):
    rng = np.random.default_rng(seed)
    matrix = sp.random_array((n_rows, n_words), density=0.4, rng=rng, format="csr")
    matrix.data = rng.integers(1, 9, matrix.nnz).astype(np.float32)
    new_number = rng.integers(-1, 6, n_words).astype(np.int32)
    rows = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data
    want = reference_renumber(matrix, new_number, 6)
    for ends, words, counts in (renumber(*rows, new_number, 6), renumber_few(*rows, new_number)):
        assert ends.tolist() == want.indptr.tolist()
        assert words.tolist() == want.indices.tolist()
        assert counts.tolist() == want.data.tolist()


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 20))
def test_entries_by_word_are_all_entries_in_the_order_of_their_words(seed, n_rows, n_words):
    rng = np.random.default_rng(seed)
    matrix = sp.random_array((n_rows, n_words), density=0.3, rng=rng, format="csr")
    indices = matrix.indices.astype(np.int32)
    distinct, ends, documents, places = by_word(matrix.indptr.astype(np.int64), indices, n_words)
    want_distinct, want_documents = reference_by_word(matrix)
    assert distinct.tolist() == want_distinct
    assert [documents[a:b].tolist() for a, b in zip(ends[:-1], ends[1:], strict=True)] == want_documents
    assert indices[places].tolist() == np.repeat(distinct, np.diff(ends)).tolist()
    assert sorted(places.tolist()) == list(range(matrix.nnz))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), max_size=9), min_size=1, max_size=8), st.integers(1, 3), st.integers(0, 3))
def test_runs_of_words_are_numbered_as_the_reference_does(documents, shortest, more):
    ngrams = (shortest, shortest + more)
    left_out = np.array([0, 1, -1, 2, 3, 4], dtype=np.int32)  # word 2 is left out before runs are made
    table, found, ends = RunTable(5, capacity=1), [], np.cumsum([0, *map(len, documents)])
    half = len(documents) // 2
    for part in (slice(0, half), slice(half, None)):  # the table grows between the two
        words = np.concatenate([np.empty(0, np.int32), *(np.array(d, dtype=np.int32) for d in documents[part])])
        ends = np.cumsum([0, *map(len, documents[part])]).astype(np.int64)
        piece = table.number(Piece(0, ends, words, np.ones(len(words), np.int32)), left_out, ngrams)
        found += [piece.words[a:b].tolist() for a, b in zip(piece.ends[:-1], piece.ends[1:], strict=True)]
    kept = [[int(left_out[w]) for w in d if left_out[w] >= 0] for d in documents]
    want, pairs = number_ngrams(kept, *ngrams, 5)
    assert found == want
    names = list("abcde")
    for run, word in pairs:
        names.append(f"{names[run]} {names[word]}")
    spelled = table.words(pl.Series("word", list("abcde")))
    assert spelled.words.to_list() == names
    assert spelled.totals.tolist() == [sum(d.count(i) for d in want) for i in range(len(names))]


@pytest.mark.parametrize("ngrams", [(1, 2), (2, 2), (1, 3), (2, 4)])
def test_ngrams_are_those_of_count_vectorizer(ngrams):
    texts = collection("ir/med")[:200]
    stop = ["the", "of", "and"]
    vectorizer = CountVectorizer(ngram_range=ngrams, stop_words=stop, min_df=2, max_df=0.9)
    want = vectorizer.fit_transform(texts)
    corpus = Corpus.from_texts(texts, analyzer=Analyzer(ngrams=ngrams, stop_words=stop, min_df=2, max_df=0.9))
    order = [vectorizer.vocabulary_[word] for word in corpus.vocabulary]
    assert sorted(order) == list(range(want.shape[1]))
    assert (corpus.counts != want[:, order]).nnz == 0


def test_stems_are_taken_before_words_are_put_together():
    analyzer = Analyzer(ngrams=(1, 2), stemmer="english", stop_words=["the"])
    corpus = Corpus.from_texts(["running the dogs", "runs dog"], analyzer=analyzer)
    assert set(corpus.vocabulary) == {"run", "dog", "run dog"}
    assert corpus.counts.toarray().tolist() == [[1, 1, 1], [1, 1, 1]]
