"""The corpus: what goes in comes out."""

import gzip
import json
import shutil

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from helpers import large_counts, random_counts
from semascope import Analyzer, Corpus, read
from semascope.corpus.shards import FULL_SHARD, cut_shards
from semascope.errors import FormatError, InputError, SourceError

TEXTS = ["The cat sat on the mat", "", "A dog, a cat and a mouse", "42 dogs"]


def test_words_are_numbered_by_frequency_then_spelling():
    corpus = Corpus.from_texts(["b a b", "c a", "b"], analyzer=Analyzer(min_length=1))
    assert corpus.vocabulary.tolist() == ["b", "a", "c"]


def test_empty_documents_keep_their_rows():
    corpus = Corpus.from_texts(TEXTS, ids="abcd")
    assert corpus.counts.shape[0] == 4
    assert corpus.counts[1].sum() == 0
    assert corpus.ids.to_list() == list("abcd")


def test_texts_ids_and_labels_are_kept_through_saving(tmp_path):
    corpus = Corpus.from_texts(TEXTS, ids=range(4), labels=["x", None, ["y", "z"], 7])
    corpus.save(tmp_path / "c")
    opened = Corpus.open(tmp_path / "c")
    assert opened.texts.to_list() == TEXTS
    assert opened.ids.to_list() == ["0", "1", "2", "3"]
    assert opened.labels.to_list() == [["x"], [], ["y", "z"], ["7"]]
    assert opened.vocabulary.tolist() == corpus.vocabulary.tolist()
    assert (opened.counts != corpus.counts).nnz == 0
    assert opened.fingerprint == corpus.fingerprint
    assert opened.analyzer == corpus.analyzer
    assert opened.path == (tmp_path / "c").resolve()
    assert repr(opened) == repr(corpus)


@pytest.mark.parametrize("make", [list, np.array, pl.Series, pa.array, pd.Series])
def test_labels_may_be_numbers_of_any_kind(make):
    assert Corpus.from_texts(["one", "two"], labels=make([0, 12])).labels.to_list() == [["0"], ["12"]]


def test_settings_of_an_analyzer_may_be_numpy_numbers(tmp_path):
    analyzer = Analyzer(min_length=np.int64(2), min_df=np.int32(1), max_df=np.float64(1.0), max_features=np.int64(9))
    Corpus.from_texts(TEXTS, analyzer=analyzer).save(tmp_path / "corpus")
    assert Corpus.open(tmp_path / "corpus").analyzer == analyzer == Analyzer(max_features=9)


def test_the_analyzers_limits_prune_once_all_documents_are_counted():
    texts = ["one two three", "one two", "one"]
    assert Corpus.from_texts(texts, analyzer=Analyzer(min_df=2)).vocabulary.tolist() == ["one", "two"]
    assert Corpus.from_texts(texts, analyzer=Analyzer(max_df=2)).vocabulary.tolist() == ["two", "three"]
    assert Corpus.from_texts(texts, analyzer=Analyzer(max_df=0.5)).vocabulary.tolist() == ["three"]
    assert Corpus.from_texts(texts, analyzer=Analyzer(max_features=1)).vocabulary.tolist() == ["one"]
    assert Corpus.from_texts(texts, analyzer=Analyzer(min_df=2, max_features=1)).counts.sum() == 3


def test_stop_words_and_stems_act_on_words():
    analyzer = Analyzer(stop_words="english", stemmer="english")
    corpus = Corpus.from_texts(["the connection of the connected", "connect it"], analyzer=analyzer)
    assert corpus.vocabulary.tolist() == ["connect"]
    assert corpus.counts.toarray().tolist() == [[2], [1]]


def test_tokens_of_any_kind_are_taken_as_they_are():
    corpus = Corpus.from_tokens([["東京", "大阪", "東京"], [], ["A", "a"]])
    assert corpus.vocabulary.tolist() == ["東京", "A", "a", "大阪"]
    assert corpus.counts.toarray().tolist() == [[2, 0, 0, 1], [0, 0, 0, 0], [0, 1, 1, 0]]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, sp.csc_array, sp.coo_matrix, lambda x: x.tolist()])
def test_any_matrix_gives_the_same_corpus(make):
    counts = random_counts(0)
    assert Corpus.from_matrix(make(counts)).fingerprint == Corpus.from_matrix(counts).fingerprint


def test_duplicate_and_zero_entries_of_a_matrix_are_settled():
    matrix = sp.coo_matrix(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert Corpus.from_matrix(matrix).rows.counts.tolist() == [3.0]


def test_counts_too_small_for_single_precision_are_none():
    corpus = Corpus.from_matrix([[1e-50, 1.0], [2.0, 0.0]])
    assert corpus.rows.counts.tolist() == [1.0, 2.0]
    assert corpus.rows.words.tolist() == [1, 0]


def test_the_counts_are_a_scipy_matrix_like_any_other():
    counts = random_counts(0)
    matrix = Corpus.from_matrix(counts).counts
    assert (matrix.tocoo().toarray() == counts).all()
    assert len(matrix.nonzero()[0]) == (counts > 0).sum()
    assert (matrix.T @ matrix).shape == (counts.shape[1],) * 2


def test_filter_takes_expressions_masks_and_numbers():
    corpus = Corpus.from_texts(TEXTS, labels=["x", "x", "y", "y"])
    for keep in (pl.col("labels").list.contains("y"), np.array([False, False, True, True]), [2, 3]):
        part = corpus.filter(keep)
        assert part.texts.to_list() == TEXTS[2:]
        assert part.vocabulary.tolist() == corpus.vocabulary.tolist()
        assert (part.counts != corpus.counts[2:]).nnz == 0


def test_a_split_loses_nothing_and_depends_on_the_seed():
    corpus = Corpus.from_matrix(random_counts(0))
    train, test = corpus.split(0.2, seed=3)
    assert sorted([*train.ids, *test.ids], key=int) == corpus.ids.to_list()
    assert len(test) == 6
    assert corpus.split(0.2, seed=3)[1].ids.to_list() == test.ids.to_list() != corpus.split(0.2, seed=4)[1].ids.to_list()


def test_a_corpus_is_put_on_another_vocabulary():
    corpus = Corpus.from_texts(["a cat and a dog", "no known word"], vocabulary=pl.Series(["dog", "bird", "cat"]))
    assert corpus.counts.toarray().tolist() == [[1, 0, 1], [0, 0, 0]]


def test_shards_cover_all_documents_in_order_and_are_of_like_size():
    for lengths in ([], [0] * 9, [5] * 100, [10**7], [0, 10**6, 0, 3] * 50, list(range(20_000)), [100] * 300_000):
        ends = np.concatenate([[0], np.cumsum(np.array(lengths, dtype=np.int64))]).astype(np.int64)
        bounds = cut_shards(ends)
        assert [first for first, _ in bounds] == [0, *(last for _, last in bounds)][: len(bounds)]
        assert not lengths or bounds[-1][1] == len(lengths)
        work = [int(ends[last] - ends[first]) + last - first for first, last in bounds]
        assert max(work, default=0) <= FULL_SHARD + 1 + max(lengths, default=0)


def test_a_stored_shard_is_the_shard_in_memory(tmp_path):
    corpus = Corpus.from_matrix(large_counts())
    corpus.save(tmp_path / "c")
    for mine, stored in zip(corpus.shards(), Corpus.open(tmp_path / "c").shards(), strict=True):
        opened = stored.open()
        assert (opened.number, opened.first_document, opened.n_words) == (mine.number, mine.first_document, mine.n_words)
        for a, b in zip(opened.rows, mine.open().rows, strict=True):
            assert a.tolist() == b.tolist()
            assert not a.flags.writeable
            assert not b.flags.writeable


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Corpus.from_texts([]), "there are no documents"),
        (lambda: Corpus.from_texts("one text"), "put the one text into a list"),
        (lambda: Corpus.from_texts(["", "?"]), "no words in the 2 documents"),
        (lambda: Corpus.from_texts(["a b"], analyzer=Analyzer(min_df=2)), "relax one of these"),
        (lambda: Corpus.from_texts(["x y", 3.5]), "text 1 is not a string but float"),
        (lambda: Corpus.from_texts(["fine", "bad \ud800"]), "text 1 is not valid Unicode"),
        (lambda: Corpus.from_texts(["one two"], ids=["a", "b"]), "1 documents, but 2 ids"),
        (lambda: Corpus.from_texts(["one", "two"], ids=["a", "a"]), "the id 'a' appears twice, at documents 1 and 2"),
        (lambda: Corpus.from_texts(["one", "two"], labels=["a", np.nan]), "whole numbers, but one of document 1 is nan"),
        (lambda: Corpus.from_texts(["one two"], vocabulary=pl.Series(["one", "one"])), "'one' appears twice"),
        (lambda: Corpus.from_tokens(["oops"]), "takes a list of words"),
        (lambda: Corpus.from_tokens([["one"], ["two", 3]]), "document 1 has 3, which is not a string but int"),
        (lambda: Corpus.from_tokens([["one", None]]), "document 0 has None, which is not a string but NoneType"),
        (lambda: Corpus.from_tokens([["one", "bad \ud800"]]), "document 0 has 'bad \\ud800', which is not valid Unicode"),
        (lambda: Corpus.from_matrix([[1, -2]]), "row 0, column 1 is negative"),
        (lambda: Corpus.from_matrix([[1, 2], [np.nan, 0]]), "row 1, column 0 is not a number"),
        (lambda: Corpus.from_matrix([[np.inf, 2]]), "row 0, column 0 is infinite"),
        (lambda: Corpus.from_matrix([[1e300]]), "too large for single precision"),
        (lambda: Corpus.from_matrix([[1, 2]], ["a"]), "2 columns, but the vocabulary has 1"),
        (lambda: Corpus.from_matrix([[1, 2]], ["a", "a"]), "has a duplicate word"),
        (lambda: Corpus.from_matrix(np.empty((0, 3))), "no counts in a matrix"),
        (lambda: Corpus.from_texts(TEXTS).split(1.5), "a fraction between 0 and 1"),
        (lambda: Corpus.from_texts(TEXTS).filter([True]), "1 booleans for 4 documents"),
        (lambda: Corpus.from_texts(TEXTS).filter([0, 4]), "there is no document 4: the corpus has 4, numbered from 0"),
        (lambda: Corpus.from_texts(TEXTS).filter([0.5]), "takes integers or booleans, not float64"),
        (lambda: Corpus.from_texts(TEXTS).in_language("de"), "there is no language 'de'; no languages were named"),
        (lambda: Analyzer(min_length=0), "min_length must be a whole number of at least 1, but was 0"),
        (lambda: Analyzer(min_length="2"), "min_length must be a whole number of at least 1, but was '2'"),
        (lambda: Analyzer(stop_words="klingon"), "no stop words for 'klingon'; give a list of words, or one of arabic, "),
        (lambda: Analyzer(min_df=-1), "min_df and max_df must be"),
        (lambda: Analyzer(max_df=1.5), "min_df and max_df must be"),
        (lambda: Analyzer(max_df=None), "min_df and max_df must be"),
        (lambda: Analyzer(max_features=0), "max_features must be a whole number of at least 1, but was 0"),
        (lambda: Analyzer(max_features=1.5), "max_features must be a whole number of at least 1, but was 1.5"),
        (lambda: Analyzer(stemmer="klingon"), "there is no stemmer 'klingon'; choose one of"),
        (lambda: Analyzer(token_pattern="("), "is not a regular expression"),
        (lambda: Analyzer(token_pattern="(a)(b)"), "has 2 groups"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(make, sentence):
    with pytest.raises(InputError) as caught:
        make()
    assert sentence in str(caught.value)


def test_a_corpus_that_is_gone_is_named_when_its_shards_are_opened(tmp_path):
    Corpus.from_texts(TEXTS).save(tmp_path / "corpus")
    shards = Corpus.open(tmp_path / "corpus").shards()
    shutil.rmtree(tmp_path / "corpus")
    with pytest.raises(FormatError, match=r"corpus: expected a semascope corpus .*, but there is no such directory"):
        shards[0].open()


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def test_json_lines_are_read_plain_and_gzipped_alike(tmp_path):
    content = lines(
        {"id": 1, "text": "one", "labels": ["a"], "title": "T"}, {"id": "b", "text": "two 😀", "labels": "c", "year": 1999}, {}
    )
    (tmp_path / "plain.jsonl").write_bytes(content)
    (tmp_path / "zipped.jsonl.gz").write_bytes(gzip.compress(content))
    plain, zipped = (read(tmp_path / name, keep=["title", "year"]).frame() for name in ("plain.jsonl", "zipped.jsonl.gz"))
    assert plain.equals(zipped)
    assert plain["id"].to_list() == ["1", "b", None]
    assert plain["text"].to_list() == ["one", "two 😀", None]
    assert plain["labels"].to_list() == [["a"], ["c"], None]
    assert plain["year"].to_list() == [None, "1999", None]


def test_documents_without_an_id_are_numbered(tmp_path):
    (tmp_path / "d.jsonl").write_bytes(lines({"text": "one"}, {"text": "two", "id": "x"}, {"text": "three"}))
    assert Corpus.build(read(tmp_path / "d.jsonl")).ids.to_list() == ["0", "x", "2"]


def test_a_block_that_polars_cannot_read_is_read_line_by_line_to_the_same_end(tmp_path):
    good = [{"id": str(i), "text": f"word{i} text", "labels": ["l"]} for i in range(100)]
    (tmp_path / "good.jsonl").write_bytes(lines(*good))
    (tmp_path / "bad.jsonl").write_bytes(lines(*good[:50]) + b'{"id": "x", "text"\n\xff\xfe\n[1]\n' + lines(*good[50:]))
    documents = read(tmp_path / "bad.jsonl", skip_bad=True)
    assert documents.frame().equals(read(tmp_path / "good.jsonl").frame())
    assert [sentence.split(": ")[0].split()[-1] for sentence in documents.bad] == ["51", "52", "53"]
    with pytest.raises(SourceError, match="line 51: not JSON"):
        read(tmp_path / "bad.jsonl").frame()


def test_the_standard_library_is_read_with_modules_as_labels():
    documents = read("stdlib:").frame()
    assert documents["id"].n_unique() == len(documents) > 1000
    assert documents.filter(pl.col("id") == "json.loads")["labels"].to_list() == [["json"]]


def test_aligned_is_reindexed_with_a_warning():
    corpus = Corpus.from_texts(["cats and dogs", "dogs and birds"])
    with pytest.warns(DeprecationWarning, match="reindexed"):
        old = corpus.aligned(corpus.vocabulary[:2])
    assert (old.counts != corpus.reindexed(corpus.vocabulary[:2]).counts).nnz == 0
