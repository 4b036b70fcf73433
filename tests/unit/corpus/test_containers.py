"""What other packages hold documents in goes in as it is: Bunches, columns, tables, datasets, and gensim's bags of words."""

import pickle
from collections import UserDict

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from sklearn.datasets import load_files
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import Bunch

from semascope import LDA, Corpus, Index, LabeledLDA, OnlineLabeledLDA, read, read_counts
from semascope.errors import InputError, SourceError

TEXTS = ["cats and dogs", "dogs and cats", "stocks and bonds", "bonds and stocks"]
LABELS = ["pets", "pets", "money", "money"]
TARGET = np.array([1, 1, 0, 0])


def bunch(**changes):
    files = np.array([f"/home/somebody/data/news/{label}/{number}" for number, label in enumerate(LABELS)])
    return Bunch(**{"data": TEXTS, "target": TARGET, "target_names": ["money", "pets"], "filenames": files, **changes})


def whole(corpus):
    return corpus.fingerprint, corpus.labels.to_list()


# --- scikit-learn ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("take", [Corpus.build, lambda given: Corpus.build(read(given))], ids=["build", "read"])
def test_a_bunch_is_texts_with_the_names_of_their_targets_and_files(take):
    corpus = take(bunch())
    assert whole(corpus) == whole(Corpus.from_texts(TEXTS, labels=LABELS))
    assert corpus.ids.to_list() == ["pets/0", "pets/1", "money/2", "money/3"]


def test_a_bunch_may_be_texts_alone():
    corpus = Corpus.build(Bunch(data=np.array(TEXTS)))
    assert whole(corpus) == whole(Corpus.from_texts(TEXTS))
    assert corpus.ids.to_list() == ["0", "1", "2", "3"]
    for nothing in ({}, {"target_names": None}):
        assert Corpus.build(Bunch(data=TEXTS, target=TARGET, **nothing)).labels.to_list() == [["1"], ["1"], ["0"], ["0"]]


def test_what_load_files_gives_is_the_corpus_of_the_folder(tmp_path):
    for number, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True)):
        (tmp_path / label).mkdir(exist_ok=True)
        (tmp_path / label / f"{number}.txt").write_text(text)
    loaded = Corpus.build(load_files(tmp_path, encoding="utf-8", shuffle=False))
    own = Corpus.build(read(tmp_path))
    assert loaded.ids.to_list() == own.ids.to_list()
    assert whole(loaded) == whole(own)
    with pytest.raises(SourceError, match="text 0 is bytes; load them with an encoding"):
        read(load_files(tmp_path))


def test_models_and_indexes_take_a_bunch():
    given = bunch()
    assert np.array_equal(LDA(2, random_state=0).fit(given).transform(given), LDA(2, random_state=0).fit_transform(TEXTS))
    assert LabeledLDA(random_state=0, max_iter=20).fit(given).predict(given) == [[label] for label in LABELS]
    live = OnlineLabeledLDA(random_state=0).partial_fit(given).partial_fit(given)
    assert (live.label_names_, live.n_documents_seen_) == (["pets", "money"], 8)
    index = Index.build(Corpus.from_texts(["a bird sang"]))
    index.add(given)
    assert index.search("stocks", by="bm25")[0].id.startswith("money/")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"data": np.eye(4)}, "the data are a matrix, not texts; use Corpus.from_matrix"),
        ({"data": [*TEXTS[:3], None]}, "text 3 is not a string, but NoneType"),
        ({"target": TARGET[:3]}, "there are 4 texts, but 3 targets"),
        ({"target": TARGET + 1}, "there is a target 2, but target_names has 2 names"),
        ({"target": TARGET / 3}, "expected a whole number or a string for each text as its target"),
        ({"filenames": ["a"]}, "there are 4 texts, but 1 filenames"),
    ],
)
def test_a_bad_bunch_is_answered_with_a_sentence(changes, sentence):
    with pytest.raises(SourceError) as refusal:
        Corpus.build(bunch(**changes))
    assert str(refusal.value) == f"the Bunch: {sentence}."


# --- columns and tables ------------------------------------------------------------------------------------------------------

COLUMNS = {
    "pandas": pd.Series,
    "pandas, objects": lambda values: pd.Series(values, dtype=object),
    "polars": pl.Series,
    "numpy": np.array,
    "arrow": pa.array,
    "arrow, chunked": lambda values: pa.chunked_array([values[:1], values[1:]]),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_a_column_of_texts_is_texts_and_a_column_of_labels_is_labels(column):
    assert whole(Corpus.from_texts(column(TEXTS))) == whole(Corpus.from_texts(TEXTS))
    lda = LDA(2, random_state=0).fit(column(TEXTS))
    assert np.array_equal(lda.transform(column(TEXTS)), lda.transform(TEXTS))
    lda.partial_fit(column(TEXTS))
    labeled = LabeledLDA(random_state=0, max_iter=20).fit(column(TEXTS), column(LABELS))
    assert list(labeled.predict(column(TEXTS))) == LABELS


def test_a_column_that_has_no_text_somewhere_is_refused():
    with pytest.raises(InputError, match="text 1"):
        Corpus.from_texts(pd.Series(["a cat", None], dtype=object))


TABLE = pa.table({"text": TEXTS, "labels": LABELS})


@pytest.mark.parametrize("take", [Corpus.build, lambda given: Corpus.build(read(given))], ids=["build", "read"])
@pytest.mark.parametrize(
    "make",
    [
        lambda folder: pl.from_arrow(TABLE).lazy(),
        lambda folder: pyarrow.dataset.dataset(TABLE),
        lambda folder: pyarrow.dataset.dataset(folder),
        lambda folder: pyarrow.dataset.dataset(TABLE).scanner().to_reader(),
    ],
    ids=["lazy frame", "dataset in memory", "dataset of files", "reader"],
)
def test_lazy_tables_are_the_same_corpus(tmp_path, make, take):
    for part in range(2):
        pa.parquet.write_table(TABLE.slice(2 * part, 2), tmp_path / f"{part}.parquet")
    assert whole(take(make(tmp_path))) == whole(Corpus.from_texts(TEXTS, labels=LABELS))


@pytest.mark.parametrize(
    "make",
    [
        pl.from_arrow,
        pa.Table.to_pandas,
        lambda table: pl.from_arrow(table).lazy(),
        lambda table: table,
        pyarrow.dataset.dataset,
    ],
    ids=["polars", "pandas", "lazy", "arrow", "dataset"],
)
def test_models_take_a_frame_that_has_a_column_of_texts(make):
    given = make(TABLE)
    lda = LDA(2, random_state=0).fit(given)
    assert np.array_equal(lda.transform(given), lda.transform(TEXTS))
    assert LabeledLDA(random_state=0, max_iter=20).fit(given).predict(given) == [[label] for label in LABELS]


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame, pa.table])
def test_a_frame_of_numbers_is_counts_even_if_text_is_one_of_its_words(frame):
    lda = LDA(2, random_state=0).fit(frame({"text": [1, 2, 3], "book": [3, 2, 1]}))
    assert lda.components_.shape == (2, 2)
    assert np.array_equal(lda.components_, LDA(2, random_state=0).fit([[1, 3], [2, 2], [3, 1]]).components_)


# --- gensim: what it has, in its shapes --------------------------------------------------------------------------------------


class Dictionary(UserDict):
    """A mapping of numbers to words, as gensim's is."""


VECTORIZER = CountVectorizer().fit(TEXTS)
WORDS = Dictionary({int(number): word for word, number in VECTORIZER.vocabulary_.items()})
COUNTS = VECTORIZER.transform(TEXTS)
BAGS = [list(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in COUNTS]


class Streamed:
    """Documents that are made anew each time they are gone through."""

    def __init__(self, bags):
        self.bags, self.times = bags, 0

    def __iter__(self):
        self.times += 1
        yield from self.bags


@pytest.mark.parametrize("hold", [list, tuple, iter, Streamed], ids=["list", "tuple", "generator", "stream"])
@pytest.mark.parametrize("words", [WORDS, VECTORIZER.vocabulary_, VECTORIZER.get_feature_names_out()])
def test_bags_of_words_with_a_dictionary_are_the_corpus_of_the_matrix(hold, words):
    expected = Corpus.from_matrix(COUNTS, VECTORIZER.get_feature_names_out())
    assert Corpus.build(read_counts(hold(BAGS), vocabulary=words)).fingerprint == expected.fingerprint


def test_a_corpus_that_knows_its_dictionary_names_its_words():
    streamed = Streamed(BAGS)
    streamed.id2word = WORDS
    assert Corpus.build(read_counts(streamed)).vocabulary.tolist() == VECTORIZER.get_feature_names_out().tolist()


def test_bags_without_a_dictionary_have_numbered_words_and_documents_may_be_empty():
    corpus = Corpus.build(read_counts([[(0, 1)], [], [(2, 0.5), (2, 1)]]))
    assert corpus.vocabulary.tolist() == ["x0", "x1", "x2"]
    assert corpus.counts.toarray().tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1.5]]


def test_bags_come_in_blocks(monkeypatch):
    monkeypatch.setattr("semascope.corpus.readers.gensim_bow.MAX_DOCUMENTS", 3)
    many = BAGS * 5
    assert Corpus.build(read_counts(many, vocabulary=WORDS)).counts.toarray().tolist() == COUNTS.toarray().tolist() * 5


def test_models_take_counts_of_documents_that_others_made():
    counted = read_counts(BAGS, vocabulary=WORDS)
    lda = LDA(2, random_state=0).fit(counted)
    assert np.array_equal(lda.transform(counted), lda.transform(TEXTS))
    lda.partial_fit(read_counts([[(0, 1), (5, 1)]], vocabulary={**WORDS, 5: "parrots"}))
    assert lda.vocabulary_[-1] == "parrots"


def test_a_dictionary_may_have_more_words_than_the_documents_and_numbers_without_words():
    corpus = Corpus.build(read_counts([[(0, 2)], [(2, 1)]], vocabulary={0: "cat", 3: "dog"}))
    assert corpus.vocabulary.tolist() == ["cat", "x1", "x2", "dog"]


def test_a_matrix_market_file_goes_with_the_text_file_of_a_dictionary(tmp_path):
    header = "%%MatrixMarket matrix coordinate real general\n4 5 12".ljust(96) + "\n"
    entries = [f"{row + 1} {word + 1} {count}\n" for row, bag in enumerate(BAGS) for word, count in bag]
    (tmp_path / "corpus.mm").write_text(header + "".join(entries))
    for head in ("4\n", ""):
        lines = [f"{number}\t{word}\t2\n" for number, word in sorted({**WORDS, 5: "of no document"}.items(), reverse=True)]
        (tmp_path / "words.txt").write_text(head + "".join(lines))
        corpus = Corpus.build(read_counts(tmp_path / "corpus.mm", vocabulary=tmp_path / "words.txt"))
        assert corpus.vocabulary.tolist() == [*VECTORIZER.get_feature_names_out(), "of no document"]
        assert corpus.counts.toarray()[:, :5].tolist() == COUNTS.toarray().tolist()


@pytest.mark.parametrize(
    ("bags", "words", "sentence"),
    [
        ([[(0, 1)], [(5, 1)]], WORDS, "document 1: expected .*, found \\(5, 1\\); the vocabulary has numbers from 0 to 4"),
        ([[(-1, 1)]], None, "document 0: expected pairs of a word's number and its count, found \\(-1, 1\\)"),
        ([[(0.5, 1)]], None, "document 0: .*found \\(0.5, 1\\)"),
        ([[(0, 1), (1, -2)]], None, "document 0: .*found \\(1, -2\\)"),
        ([[(0, float("nan"))]], None, "document 0: .*nan"),
        ([["cat", "dog"]], None, "document 0: .*found cat"),
        ([[(0, 1, 2)]], None, "document 0: .*found \\(0, 1, 2\\)"),
        ([7], None, "document 0: expected pairs of a word's number and its count\\."),
        (TEXTS, None, "document 0 is a text; Corpus.from_texts takes texts, Corpus.from_tokens lists of words"),
        (COUNTS, None, "expected lists of pairs, found a matrix; use Corpus.from_matrix"),
        (BAGS, {0: "cat", 1: "cat"}, "the word 'cat' is already at 1"),
        (BAGS, {"cat": 0, "dog": 0}, "each word needs its own number"),
        (BAGS, {0: 1}, "expected words and their numbers"),
        (BAGS, {0: "cat", 10**8: "dog"}, "the numbers go to 100,000,000, but there are 2 words"),
    ],
)
def test_bad_bags_and_dictionaries_are_answered_with_a_sentence(bags, words, sentence):
    with pytest.raises(SourceError, match=sentence):
        Corpus.build(read_counts(bags, vocabulary=words))


def test_bad_bags_can_be_left_out_and_are_noted(monkeypatch):
    monkeypatch.setattr("semascope.corpus.readers.gensim_bow.MAX_DOCUMENTS", 2)
    counted = read_counts([*BAGS, [(0, -1)], *BAGS], vocabulary=WORDS, skip_bad=True)
    assert Corpus.build(counted).counts.toarray().tolist() == COUNTS.toarray().tolist() * 2
    assert len(counted.bad) == 1
    assert "document 4:" in counted.bad[0]


def test_a_pickled_dictionary_is_not_opened(tmp_path):
    (tmp_path / "words.dict").write_bytes(pickle.dumps(dict(WORDS)))
    with pytest.raises(
        SourceError, match="is a pickle, which could run any code; write the dictionary again with save_as_text"
    ):
        Corpus.build(read_counts(BAGS, vocabulary=tmp_path / "words.dict"))


def test_what_is_neither_a_path_nor_a_table_nor_documents_is_refused():
    for take in (read, read_counts, Corpus.build):
        with pytest.raises(InputError, match="expected a path or a frame, found int"):
            take(7)
