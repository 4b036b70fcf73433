"""What readers promise of any documents, any counts and any bytes."""

import csv
import gzip
import json
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semascope import Corpus, read, read_counts, read_qrels
from semascope.corpus.readers import files
from semascope.corpus.readers.sources import FORMATS
from semascope.errors import InputError

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.text(
    st.sampled_from(list("ab \t\r\n\"'\\,;|.IWT<>&\0\x0b\x1c\x1e\x85\u2028\u202e\ufeffé東😀א")), max_size=12
)
many_texts = st.lists(any_text, min_size=1, max_size=6)
block_sizes = st.sampled_from([1 << 23, 1, 7, 30])


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def write_delimited(path, texts, delimiter):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows([["id", "text"], *([str(n), text] for n, text in enumerate(texts))])


def write_json_lines(path, texts):
    lines = (json.dumps({"id": n, "text": text}, ensure_ascii=n % 2 == 0) + "\n" for n, text in enumerate(texts))
    path.write_text("".join(lines), encoding="utf-8", newline="")


def frame_of(texts):
    return pl.DataFrame({"id": range(len(texts)), "text": texts}, schema_overrides={"text": pl.String})


WRITERS = {
    "a.jsonl": write_json_lines,
    "a.csv": lambda path, texts: write_delimited(path, texts, ","),
    "b.csv": lambda path, texts: write_delimited(path, texts, ";"),
    "a.tsv": lambda path, texts: write_delimited(path, texts, "\t"),
    "a.parquet": lambda path, texts: frame_of(texts).write_parquet(path),
    "a.arrow": lambda path, texts: frame_of(texts).write_ipc(path),
}


def texts_of(source, **options):
    documents = read(source, **options).frame()
    assert documents["id"].to_list() == [str(n) for n in range(len(documents))]
    return documents["text"].fill_null("").to_list()


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=60, deadline=None)
@given(texts=many_texts, block_bytes=block_sizes)
@example(texts=["\r", "\n", "\r\n", '"', '""', "\0", "a\0b", ""], block_bytes=1 << 23)
@example(texts=["{", "[]", "null", "\ufeff"], block_bytes=1 << 23)
def test_any_text_survives_a_table_or_json_lines(folder, name, texts, block_bytes):
    WRITERS[name](folder / name, texts)
    with mock.patch.object(files, "BLOCK_BYTES", block_bytes):
        assert texts_of(folder / name) == texts


@settings(max_examples=60, deadline=None)
@given(texts=many_texts)
def test_any_text_survives_a_frame(texts):
    assert texts_of(frame_of(texts)) == texts
    assert texts_of(frame_of(texts).to_arrow()) == texts


@settings(max_examples=60, deadline=None)
@given(texts=many_texts)
@example(texts=["\n", "", "a\n\n", ".W of a line", " .W", ".i 1", ".Q"])
def test_any_text_without_section_lines_survives_smart(folder, texts):
    texts = [
        text.replace(".", ":") if any(line.startswith((".I", ".W", ".T")) for line in text.split("\n")) else text
        for text in texts
    ]
    written = "".join(f".I {n}\n.T\ntitle\n.W\n{text}\n" for n, text in enumerate(texts))
    (folder / "smart").write_text(written, encoding="utf-8", newline="")
    assert texts_of(folder / "smart", format="smart") == texts


@settings(max_examples=40, deadline=None)
@given(texts=many_texts)
def test_any_text_survives_a_folder_but_for_zero_bytes_and_a_mark_at_its_beginning(texts):
    texts = [text.replace("\0", "").lstrip("\ufeff") for text in texts]
    with tempfile.TemporaryDirectory() as name:
        for number, text in enumerate(texts):
            Path(name, str(number)).write_bytes(text.encode())
        assert texts_of(name) == texts


# --- counts ----------------------------------------------------------------------------------------------------------------


@st.composite
def entries(draw):
    """The shape of a matrix, and its entries in any order, some of them twice, not all of them zero."""
    n_rows, n_words = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    one = st.tuples(
        st.integers(0, n_rows - 1), st.integers(0, n_words - 1), st.integers(0, 9) | st.sampled_from([0.5, 1e-3, 1e9])
    )
    some = st.lists(one, min_size=1, max_size=20)
    return (n_rows, n_words), draw(some.filter(lambda triples: any(count for _, _, count in triples)))


def corpus_of(shape, triples):
    rows, words, counts = zip(*triples, strict=True)
    return Corpus.from_matrix(sp.coo_array((np.array(counts, dtype=float), (rows, words)), shape=shape))


@settings(max_examples=80, deadline=None)
@given(entries(), st.sampled_from([" ", "\t", "   "]), st.sampled_from(["\n", "\r\n", " \n\n"]), block_sizes)
def test_any_counts_survive_matrix_market_and_uci_in_any_order(folder, matrix, blank, end, block_bytes):
    (n_rows, n_words), triples = matrix
    lines = "".join(blank.join([str(row + 1), str(word + 1), repr(count)]) + end for row, word, count in triples)
    sizes = [n_rows, n_words, len(triples)]
    mtx = "%%MatrixMarket matrix coordinate real general\n" + " ".join(map(str, sizes)) + "\n" + lines
    (folder / "a.mtx").write_bytes(mtx.encode())
    (folder / "docword.a.txt.gz").write_bytes(gzip.compress(("\n".join(map(str, sizes)) + "\n" + lines).encode()))
    for name in ("a.mtx", "docword.a.txt.gz"):
        with mock.patch.object(files, "BLOCK_BYTES", block_bytes):
            assert Corpus.build(read_counts(folder / name)).fingerprint == corpus_of(*matrix).fingerprint


@settings(max_examples=60, deadline=None)
@given(entries())
def test_any_counts_survive_lda_c(folder, matrix):
    (n_rows, n_words), triples = matrix
    pairs = [[f"{word}:{count!r}" for at, word, count in triples if at == row] for row in range(n_rows)]
    (folder / "a.ldac").write_text("".join(" ".join([str(len(row)), *row]) + "\n" for row in pairs))
    words = [f"x{number}" for number in range(n_words)]
    assert Corpus.build(read_counts(folder / "a.ldac", vocabulary=words)).fingerprint == corpus_of(*matrix).fingerprint


@settings(max_examples=60, deadline=None)
@given(entries(), st.lists(any_text.filter(bool), min_size=6, max_size=6, unique=True))
def test_any_counts_survive_triples_of_any_names(folder, matrix, names):
    _, triples = matrix
    columns = {
        "row": [names[row] for row, _, _ in triples],
        "column": [names[word] for _, word, _ in triples],
        "count": [float(count) for _, _, count in triples],
    }
    frame = pl.DataFrame(columns, schema={"row": pl.String, "column": pl.String, "count": pl.Float64})
    rows, words = (list(dict.fromkeys(columns[name])) for name in ("row", "column"))
    numbered = [(rows.index(names[row]), words.index(names[word]), count) for row, word, count in triples]
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    for source in (frame, folder / "t.csv"):
        corpus = Corpus.build(read_counts(source))
        assert (corpus.ids.to_list(), corpus.vocabulary.tolist()) == (rows, words)
        expected = corpus_of((len(rows), len(words)), numbered)
        assert (corpus.counts != expected.counts).nnz == 0


# --- hostile files ---------------------------------------------------------------------------------------------------------

GOOD = {
    "jsonl": b'{"id": 1, "text": "some words"}\n{"id": 2, "text": "more", "labels": ["x"]}\n',
    "csv": b'id,text,labels\n1,"some\nwords",x\n2,more,y\n',
    "tsv": b"row\tcolumn\tcount\ttext\na\tb\t3\tx\na\tc\t1\ty\n",
    "smart": b".I 1\n.T\ntitle\n.W\nsome words\n.I 2\n.W\nmore\n",
    "trec": b"<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>\nsome words\n</TEXT>\n</DOC>\n<top><num> Number: 5 <title> t </top>\n",
    "ldac": b"2 0:1 3:2\n0\n1 2:5\n",
    "uci": b"2\n3\n3\n1 1 1\n1 3 2\n2 2 1\n",
    "mtx": b"%%MatrixMarket matrix coordinate real general\n% note\n2 3 3\n1 1 1\n1 3 2.5\n2 2 1\n",
}
hostile = st.sampled_from(
    [b"\0", b"\xff", b"\n", b"\r", b'"', b"-1", b"nan", b"9" * 12, b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b", b" ", b":"]
)


@st.composite
def damaged(draw, good):
    """A good file with some bytes cut out, put in, or cut off."""
    for _ in range(draw(st.integers(1, 3))):
        first = draw(st.integers(0, len(good)))
        last = draw(st.sampled_from([first, first + 1, first + 7, len(good)]))
        good = good[:first] + draw(hostile | st.binary(max_size=8) | st.just(b"")) + good[last:]
    return good


def small_table(kind):
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "table")
        frame = pl.DataFrame(
            {"text": ["some", "words", None], "row": ["a", "b", "c"], "column": list("xyz"), "count": [1, 2, 3]}
        )
        frame.write_parquet(path) if kind == "parquet" else frame.write_ipc(path)
        return path.read_bytes()


def read_somehow(path, format, skip_bad):
    known = FORMATS[format]
    for door in [read] * (known.documents is not None) + [read_counts] * (known.counts is not None):
        try:
            for _ in door(path, format=format, skip_bad=skip_bad):
                pass
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017 - documents are as good an end
            assert str(path) in str(error)  # noqa: PT017


@pytest.mark.parametrize("format", [name for name in FORMATS if name not in ("folder", "parquet", "arrow")])
@pytest.mark.parametrize("piece", [b" ", b"\r", b"\t", b'"', b"<", b"<a ", b".I ", b"1 ", b"&", b"</", b"[", b'{"', b":"])
def test_a_long_line_of_one_kind_takes_no_long_time(folder, format, piece):
    (folder / "hostile").write_bytes(b".I x" + piece * 200_000 + b"x\n")
    read_somehow(folder / "hostile", format, skip_bad=True)


def test_names_of_fields_stay_on_one_line(folder):
    (folder / "hostile").write_bytes(b'"a\nb"\n')
    read_somehow(folder / "hostile", "csv", skip_bad=False)
    (folder / "hostile").write_bytes(b'{"a\\nb": 1}\n')
    read_somehow(folder / "hostile", "jsonl", skip_bad=False)


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "folder"])
@settings(max_examples=60, deadline=None)
@given(data=st.data(), skip_bad=st.booleans())
def test_any_bytes_end_in_documents_or_a_sentence(folder, format, data, skip_bad):
    good = GOOD.get(format) or small_table(format)
    (folder / "hostile").write_bytes(data.draw(st.binary(max_size=60) | damaged(good)))
    read_somehow(folder / "hostile", format, skip_bad)


@settings(max_examples=60, deadline=None)
@given(content=st.binary(max_size=60) | damaged(b"1 0 d1 2\n2 0 d2 1\n"))
def test_any_bytes_end_in_judgments_or_a_sentence(folder, content):
    (folder / "qrels").write_bytes(content)
    try:
        read_qrels(folder / "qrels")
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017


@settings(max_examples=60, deadline=None)
@given(content=st.binary(max_size=60), skip_bad=st.booleans())
def test_a_folder_of_any_bytes_ends_in_documents_or_a_sentence(content, skip_bad):
    with tempfile.TemporaryDirectory() as name:
        Path(name, "file").write_bytes(content)
        read_somehow(name, "folder", skip_bad)
