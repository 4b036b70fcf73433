"""Readers: one collection, written in every format, is one corpus."""

import csv
import datetime
import gzip
import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse as sp

from helpers import collection_path, random_counts
from semascope import Corpus, read, read_counts, read_qrels
from semascope.corpus.readers import files
from semascope.corpus.readers.record_fields import document_schema
from semascope.errors import SourceError

RECORDS = [
    {"id": "one", "text": 'He said "yes, no; perhaps | maybe"\tand went', "labels": ["speech", "motion"]},
    {"id": "two", "text": "Grüße aus 東京 und Αθήνα\nin two lines", "labels": ["places"]},
    {"id": "three", "text": "", "labels": []},
    {"id": "four", "text": "\n  שלום and blanks at both ends  \n", "labels": ["places"]},
]
FRAME = pl.DataFrame(RECORDS)


def write_json_lines(path, records=RECORDS):
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")


def write_delimited(path, delimiter=",", encoding="utf-8", records=RECORDS):
    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["id", "text", "labels"])
        writer.writerows([record["id"], record["text"], "+".join(record["labels"])] for record in records)


def write_smart(path, records=RECORDS):
    text = "".join(f".I {record['id']}\n.K\n{'+'.join(record['labels'])}\n.W\n{record['text']}\n" for record in records)
    path.write_text(text, encoding="utf-8", newline="")


def write_trec(path):
    fields = "<DOCNO> {id} </DOCNO>\n<KEYWORDS>{labels}</KEYWORDS>\n<TEXT>{text}</TEXT>"
    text = "".join(
        f"<DOC>\n{fields.format(**{**record, 'labels': '+'.join(record['labels'])})}\n</DOC>\n" for record in RECORDS
    )
    path.write_text(text, encoding="utf-8")


def zipped(write):
    def write_zipped(path):
        write(path)
        path.write_bytes(gzip.compress(path.read_bytes()))

    return write_zipped


WRITERS = {
    "a.jsonl": write_json_lines,
    "a.ndjson.gz": zipped(write_json_lines),
    "commas.csv": write_delimited,
    "semicolons.csv": lambda path: write_delimited(path, ";"),
    "bars.csv": lambda path: write_delimited(path, "|"),
    "tabs.csv": lambda path: write_delimited(path, "\t"),
    "zipped.csv.gz": zipped(write_delimited),
    "of-windows.csv": lambda path: write_delimited(path, ",", "utf-8-sig"),
    "of-excel.csv": lambda path: write_delimited(path, "\t", "utf-16"),
    "a.tsv": lambda path: write_delimited(path, "\t"),
    "a.tab": lambda path: write_delimited(path, "\t"),
    "a.parquet": lambda path: FRAME.write_parquet(path),
    "a.pq": lambda path: FRAME.to_pandas().to_parquet(path),
    "a.arrow": lambda path: FRAME.write_ipc(path),
    "stream.arrow": lambda path: FRAME.write_ipc_stream(path),
    "a.feather": lambda path: FRAME.write_ipc(path, compression="lz4"),
    "parquet-without-a-name": lambda path: FRAME.write_parquet(path),
    "arrow-without-a-name": lambda path: FRAME.write_ipc(path),
    "json-without-a-name": write_json_lines,
}


def same(corpus, other=None):
    other = Corpus.build(FRAME) if other is None else other
    assert corpus.fingerprint == other.fingerprint
    assert corpus.documents.equals(other.documents)
    return True


@pytest.mark.parametrize("name", WRITERS)
def test_one_collection_in_every_format_is_one_corpus(tmp_path, name):
    WRITERS[name](tmp_path / name)
    assert same(Corpus.build(read(tmp_path / name, label_separator="+")))


def test_smart_records_are_the_same_corpus(tmp_path):
    write_smart(tmp_path / "cran.all")
    assert same(Corpus.build(read(tmp_path / "cran.all", labels="keywords", label_separator="+")))


def test_trec_documents_are_the_same_corpus_but_for_blanks_at_the_ends(tmp_path):
    write_trec(tmp_path / "ap88")
    corpus = Corpus.build(read(tmp_path / "ap88", labels="keywords", label_separator="+"))
    assert corpus.fingerprint == Corpus.build(FRAME).fingerprint
    assert corpus.ids.to_list() == FRAME["id"].to_list()
    assert corpus.labels.to_list() == FRAME["labels"].to_list()


def test_a_folder_is_the_same_corpus_in_the_order_of_paths(tmp_path):
    for record in RECORDS:
        folder = tmp_path / "folder" / "/".join(record["labels"])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / record["id"]).write_bytes(record["text"].encode())
    corpus = Corpus.build(read(tmp_path / "folder", label_separator="/"))
    order = corpus.ids.str.split("/").list.last()
    assert corpus.ids.to_list() == ["places/four", "places/two", "speech/motion/one", "three"]
    expected = pl.DataFrame({"id": order}).join(FRAME, on="id", maintain_order="left")
    assert corpus.texts.to_list() == expected["text"].to_list()
    assert corpus.labels.to_list() == expected["labels"].to_list()


@pytest.mark.parametrize(
    "make",
    [
        lambda frame: frame,
        lambda frame: pd.DataFrame(frame.to_dicts()),
        lambda frame: pd.DataFrame(frame.to_dicts()).set_index("id"),
        lambda frame: frame.to_arrow(),
        lambda frame: frame.to_arrow().to_batches()[0],
        lambda frame: frame.to_arrow().to_reader(),
        lambda frame: pa.Table.from_batches(frame.to_arrow().to_batches(max_chunksize=1)),
    ],
    ids=["polars", "pandas", "pandas with an index", "Arrow", "a batch", "a reader", "chunks"],
)
def test_frames_of_any_kind_are_the_same_corpus(make):
    assert same(Corpus.build(read(make(FRAME))))
    assert same(Corpus.build(make(FRAME)))


def test_every_reader_gives_the_same_columns(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("words")
    for write in (write_smart, write_trec):
        write(tmp_path / write.__name__)
    for name, write in WRITERS.items():
        write(tmp_path / name)
    sources = [FRAME, "stdlib:", *(tmp_path / name for name in ("folder", "write_smart", "write_trec", *WRITERS))]
    for source in sources:
        for block in read(source, keep=["year", "title"]):
            assert dict(block.schema) == document_schema(["year", "title"]), source


def test_blocks_are_of_bounded_size_and_lose_nothing(tmp_path, monkeypatch):
    for module in ("files", "tables"):
        monkeypatch.setattr(f"semascope.corpus.readers.{module}.BLOCK_BYTES", 50)
    assert files.BLOCK_BYTES == 50
    for name, write in {**WRITERS, "smart": write_smart}.items():
        write(tmp_path / name)
        documents = read(tmp_path / name, labels="keywords" if name == "smart" else "labels", label_separator="+")
        assert len(list(documents)) > 1, name
        assert same(Corpus.build(documents)), name


def test_the_med_collection_is_the_same_from_smart_as_from_json_lines(tmp_path):
    path = collection_path("ir/med")
    documents = Corpus.build(read(path, keep=()))
    write_smart(tmp_path / "MED.ALL", read(path).frame().with_columns(labels=[]).to_dicts())
    assert same(Corpus.build(read(tmp_path / "MED.ALL")), documents)
    assert len(documents) == 1033
    qrels = read_qrels(path.parent / "qrels.txt")
    assert set(qrels["document"]) <= set(documents.ids)


# --- values ----------------------------------------------------------------------------------------------------------------


def test_numbers_dates_and_truth_become_strings_as_people_write_them(tmp_path):
    frame = pl.DataFrame(
        {
            "id": [1.0, 2.5],
            "text": pl.Series(["one", "two"], dtype=pl.Categorical),
            "labels": [7, None],
            "day": [datetime.date(2020, 1, 2), None],
            "midnight": [datetime.datetime(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 600000)],
            "true": [True, False],
            "missing": [float("nan"), 1e300],
            "nothing": [None, None],
        }
    )
    frame.write_parquet(tmp_path / "a.parquet")
    keep = ["day", "midnight", "true", "missing", "nothing"]
    for source in (frame, tmp_path / "a.parquet", frame.to_arrow()):
        assert read(source, keep=keep).frame().rows() == [
            ("1", "one", ["7"], "2020-01-02", "2020-01-02", "true", None, None),
            ("2.5", "two", [], None, "2020-01-02T03:04:05.600", "false", "1e+300", None),
        ]


def test_columns_of_pandas_that_are_not_wanted_may_hold_anything():
    frame = pd.DataFrame({"text": ["one", "two"], "odd": [1, "x"], 5: [{}, object()]}, index=pd.Index([7, 8], name="id"))
    assert read(frame).frame().select("id", "text").rows() == [("7", "one"), ("8", "two")]


def test_columns_of_a_frame_that_a_corpus_is_built_from_keep_their_types():
    corpus = Corpus.build(pl.DataFrame({"text": ["one", "two"], "id": [7, 8], "year": [1999, 2005]}))
    assert corpus.ids.to_list() == ["7", "8"]
    assert corpus.filter(pl.col("year") > 2000).texts.to_list() == ["two"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_several_fields_are_joined_to_the_text(tmp_path, name):
    frame = pl.DataFrame({"head": ["Title", None, None], "body": ["the text", "only text", None]})
    {"a.jsonl": frame.write_ndjson, "a.csv": frame.write_csv, "a.parquet": frame.write_parquet}[name](tmp_path / name)
    texts = read(tmp_path / name, text=["head", "body"]).frame()["text"].fill_null("").to_list()
    assert texts == ["Title\nthe text", "only text", ""]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_labels_in_one_string_are_taken_apart_where_asked_for(tmp_path, name):
    frame = pl.DataFrame({"text": ["one", "two", "three"], "tags": ["a; b;", ";", None]})
    {"a.jsonl": frame.write_ndjson, "a.csv": frame.write_csv}[name](tmp_path / name)
    assert Corpus.build(read(tmp_path / name, labels="tags", label_separator=";")).labels.to_list() == [["a", "b"], [], []]
    assert Corpus.build(read(tmp_path / name, labels="tags")).labels.to_list() == [["a; b;"], [";"], []]


@pytest.mark.parametrize("neighbor", ["plain", "[such as goes line by line"])
def test_of_a_field_that_stands_twice_on_a_line_the_first_counts_whatever_is_on_others(tmp_path, neighbor):
    lines = '{"text": "one", "id": "a", "text": "two"}', json.dumps({"text": neighbor})
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, ""]))
    assert read(tmp_path / "a.jsonl").frame()["text"].to_list() == ["one", neighbor]


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_an_empty_text_in_a_language_that_is_not_wanted_is_none(tmp_path, name):
    frame = pl.DataFrame({"texts": [{"en": "a cat", "fr": "un chat"}, {"en": None, "fr": ""}]})
    (frame.write_ndjson if name == "a.jsonl" else frame.write_parquet)(tmp_path / name)
    assert read(tmp_path / name, languages=["en"]).frame()["text"].struct.field("en").to_list() == ["a cat", None]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "smart", "folder"])
def test_texts_in_other_encodings_are_read_where_they_are_named(tmp_path, name, encoding):
    path = tmp_path / name
    text = {"a.jsonl": '{"text": "café"}\n', "a.csv": "text\ncafé\n", "smart": ".I 1\n.W\ncafé\n", "folder": "café"}[name]
    if name == "folder":
        path.mkdir()
    (path / "file" if name == "folder" else path).write_bytes(text.encode(encoding))
    assert read(path, format=name.removeprefix("a."), encoding=encoding).frame()["text"].to_list() == ["café"]


def test_a_cell_longer_than_pythons_limit_is_read(tmp_path):
    (tmp_path / "a.csv").write_text(f"text\n{'word ' * 50_000}\n")
    assert len(read(tmp_path / "a.csv").frame()["text"][0]) == 250_000


def test_hidden_files_and_linked_folders_are_left_out_of_a_folder(tmp_path):
    folder = tmp_path / "folder"
    for name in ("b.txt", ".hidden", ".git/config", "sub/a.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("words")
    (folder / "linked").symlink_to(folder / "sub", target_is_directory=True)
    Corpus.build(read(folder)).save(folder / "corpus")
    documents = read(folder).frame()
    assert documents["id"].to_list() == ["b.txt", "sub/a.txt"]
    assert documents["labels"].to_list() == [[], ["sub"]]


# --- SMART and TREC --------------------------------------------------------------------------------------------------------


def test_sections_of_smart_records_are_fields(tmp_path):
    (tmp_path / "cacm").write_text(
        ".I 1\n.T \nA title\n.W\nFirst .W line\n.Windy\n .W\n.A\nPerlis, A.\n.W\nagain\n.X\n1\t5\n.I 2 \r\n.T\nOnly a title\n"
    )
    fields = ["title", "author", "references"]
    assert read(tmp_path / "cacm", keep=fields).frame().rows() == [
        ("1", "First .W line\n.Windy\n .W\nagain", [], "A title", "Perlis, A.", "1\t5"),
        ("2", None, [], "Only a title", None, None),
    ]


def test_trec_topics_need_no_closing_tags(tmp_path):
    (tmp_path / "topics").write_text(
        "<top>\n<head> Tipster\n<num> Number:  051\n<title> Topic:  Airbus Subsidies\n\n<desc> Description:\nA document\n\n"
        "<narr> Narrative:\nIt tells.\n</top>\n<top><num>52</num><title>AT&amp;T</title></top>\n"
    )
    assert read(tmp_path / "topics", keep=["title", "description", "narrative"]).frame().rows() == [
        ("051", "Airbus Subsidies", [], "Airbus Subsidies", "A document", "It tells."),
        ("52", "AT&T", [], "AT&T", None, None),
    ]


def test_tags_of_trec_documents_are_fields(tmp_path):
    (tmp_path / "docs").write_text(
        "<DOC>\n<DOCNO>A-1</DOCNO><Headline>Big\nnews</Headline>\n<text>one <p>two</p></text><TEXT>three</TEXT>\n"
        "<Byline>me</Byline></DOC><doc><docno>A-2</docno></doc>"
    )
    assert read(tmp_path / "docs", keep=["title", "byline"]).frame().rows() == [
        ("A-1", "one  two\nthree", [], "Big\nnews", "me"),
        ("A-2", None, [], None, None),
    ]


def test_judgments_of_relevance_are_a_frame(tmp_path):
    (tmp_path / "qrels").write_text("1 0 d1 2\n\n1\t0\td2  -1\n02 Q0 d1 0\n")
    qrels = read_qrels(tmp_path / "qrels")
    assert qrels.rows() == [("1", "d1", 2), ("1", "d2", -1), ("02", "d1", 0)]
    assert qrels.columns == ["query", "document", "relevance"]


# --- counts ----------------------------------------------------------------------------------------------------------------

COUNTS = sp.csr_array(
    np.hstack([random_counts(0), np.ones((30, 1))])
)  # LDA-C does not tell of words at the end that are unused
WORDS = [f"word{number}" for number in range(COUNTS.shape[1])]


def write_ldac(path, counts=COUNTS):
    rows = [counts[[row]] for row in range(counts.shape[0])]
    pairs = [" ".join(f"{w}:{c:g}" for w, c in zip(row.indices, row.data, strict=True)) for row in rows]
    path.write_text("".join(f"{row.nnz} {line}\n" for row, line in zip(rows, pairs, strict=True)))


def write_mtx(path, counts=COUNTS, **options):
    content = io.BytesIO()
    scipy.io.mmwrite(content, counts, **options)
    path.write_bytes(content.getvalue())


def write_uci(path, counts=COUNTS):
    entries = counts.tocoo()
    numbers = zip(entries.row + 1, entries.col + 1, entries.data, strict=True)
    sizes = "\n".join(map(str, (*counts.shape, counts.nnz)))
    path.write_text(sizes + "\n" + "".join(f"{row} {word} {count:g}\n" for row, word, count in numbers))


COUNT_WRITERS = {
    "a.ldac": write_ldac,
    "a.ldac.gz": zipped(write_ldac),
    "docword.a.txt": write_uci,
    "docword.a.txt.gz": zipped(write_uci),
    "real.mtx": write_mtx,
    "integer.mtx.gz": zipped(lambda path: write_mtx(path, COUNTS.astype(np.int64))),
    "by-column.mtx": lambda path: write_mtx(path, COUNTS.tocsc()),
    "without-a-name": lambda path: write_mtx(path, comment="made by hand\nin two lines"),
}


@pytest.mark.parametrize("name", COUNT_WRITERS)
@pytest.mark.parametrize("block_bytes", [1 << 23, 64], ids=["in one block", "in many blocks"])
def test_counts_in_every_format_are_the_corpus_of_the_matrix(tmp_path, monkeypatch, name, block_bytes):
    monkeypatch.setattr(files, "BLOCK_BYTES", block_bytes)
    COUNT_WRITERS[name](tmp_path / name)
    (tmp_path / "words").write_text("\n".join(WORDS) + "\n")
    assert same(Corpus.build(read_counts(tmp_path / name, vocabulary=tmp_path / "words")), Corpus.from_matrix(COUNTS, WORDS))
    assert same(Corpus.build(read_counts(tmp_path / name, vocabulary=WORDS)), Corpus.from_matrix(COUNTS, WORDS))
    counted = read_counts(tmp_path / name)
    assert same(Corpus.build(counted), Corpus.from_matrix(COUNTS))
    blocks = list(counted)
    if block_bytes == 64 and name != "by-column.mtx":
        assert len(blocks) > 5
    for frame, rows in blocks:
        assert frame.schema == {"id": pl.String, "labels": pl.List(pl.String)}
        assert len(frame) == len(rows.ends) - 1 > 0
        assert [part.dtype for part in rows] == [np.int64, np.int32, np.float32]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet", "a.arrow", "frame", "reader"])
@pytest.mark.parametrize("by_row", [True, False])
def test_triples_are_the_corpus_of_the_matrix(tmp_path, name, by_row):
    entries = (COUNTS if by_row else COUNTS.tocsc()).tocoo()
    frame = pl.DataFrame(
        {"doc": [f"d{row}" for row in entries.row], "what": [WORDS[w] for w in entries.col], "n": entries.data}
    )
    write = {
        "a.csv": frame.write_csv,
        "a.tsv": lambda path: frame.write_csv(path, separator="\t"),
        "a.parquet": frame.write_parquet,
        "a.arrow": frame.write_ipc,
    }
    source = tmp_path / name if name in write else {"frame": frame, "reader": frame.to_arrow().to_reader()}[name]
    write.get(name, id)(tmp_path / name)
    corpus = Corpus.build(read_counts(source, rows="doc", columns="what", counts="n"))
    assert corpus.ids.to_list() == frame["doc"].unique(maintain_order=True).to_list()
    assert corpus.vocabulary.tolist() == frame["what"].unique(maintain_order=True).to_list()
    chosen = [int(name[1:]) for name in corpus.ids], [WORDS.index(word) for word in corpus.vocabulary]
    assert (corpus.counts.toarray() == COUNTS.toarray()[np.ix_(*chosen)]).all()


def test_the_vocabulary_beside_a_uci_file_is_found(tmp_path):
    write_uci(tmp_path / "docword.kos.txt")
    (tmp_path / "vocab.kos.txt").write_text("\n".join(WORDS) + "\n")
    assert Corpus.build(read_counts(tmp_path / "docword.kos.txt")).vocabulary.tolist() == WORDS
    zipped(write_uci)(tmp_path / "docword.nips.txt.gz")
    (tmp_path / "vocab.nips.txt").write_text("\n".join(WORDS) + "\n")
    assert Corpus.build(read_counts(tmp_path / "docword.nips.txt.gz")).vocabulary.tolist() == WORDS


def test_counts_of_the_same_word_are_added_and_zeros_dropped(tmp_path):
    (tmp_path / "a.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 2 1.5\n1 2 2\n 3\t1   0\n\n1 1 1e0\n3 3 +2\r\n"
    )
    assert Corpus.build(read_counts(tmp_path / "a.mtx")).counts.toarray().tolist() == [[1, 3.5, 0], [0, 0, 0], [0, 0, 2]]


def test_a_pattern_counts_everything_once(tmp_path):
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n")
    assert Corpus.build(read_counts(tmp_path / "a.mtx")).counts.toarray().tolist() == [[0, 1], [1, 0]]


def test_bad_lines_of_counts_can_be_left_out(tmp_path):
    (tmp_path / "a.ldac").write_text("1 0:2\n2 0:1\n1 1:-1\nx\n0\n")
    counted = read_counts(tmp_path / "a.ldac", skip_bad=True)
    assert Corpus.build(counted).counts.toarray().tolist() == [[2], [0]]
    assert [sentence.split(":")[0].split()[-1] for sentence in counted.bad] == ["2", "3", "4"]
    with pytest.raises(SourceError, match="line 2"):
        list(read_counts(tmp_path / "a.ldac"))


def test_the_columns_of_a_frame_of_counts_name_its_words():
    counts = {"dog": [1, 0], "cat": [2, 3]}
    for frame in (pl.DataFrame(counts), pd.DataFrame(counts)):
        corpus = Corpus.from_matrix(frame)
        assert corpus.vocabulary.tolist() == ["dog", "cat"]
        assert corpus.counts.toarray().tolist() == [[1, 2], [0, 3]]
    assert Corpus.from_matrix(pl.DataFrame(counts), ["a", "b"]).vocabulary.tolist() == ["a", "b"]
