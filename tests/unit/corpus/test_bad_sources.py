"""Bad sources: one sentence that names file and line, says what is wrong and what to do."""

import gzip

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from semascope import Corpus, read, read_counts, read_qrels
from semascope.corpus.readers.sources import FORMATS
from semascope.errors import InputError

MEND = "Fix it, or skip such records with --skip-bad (skip_bad=True)."
MEND_LINE = "Fix it, or skip such lines with --skip-bad (skip_bad=True)."
NOT_UTF_8 = "name the encoding with --encoding (encoding=), latin-1 for example."
HEADER = "%%MatrixMarket matrix coordinate integer general\n"
TRIPLES = "Name the three columns with --triples (rows=, columns=, counts=)."
NOT_A_COUNT = "is not a finite, non-negative number."


def complaint(make):
    with pytest.raises(InputError) as caught:
        make()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


DOCUMENTS = {
    "CSV without the text": ("a.csv", "id;body\n1;x\n", {}, "{}: there is no column 'text'; the columns are id, body. Name the column of the text with --text (text=)."),
    "CSV without the id": ("a.csv", "id,text\n1,x\n", {"id": "nr"}, "{}: there is no column 'nr'; the columns are id, text. Name the column of the id with --id (id=)."),
    "CSV without the labels": ("a.csv", "id,text\n1,x\n", {"labels": "tags"}, "{}: there is no column 'tags'; the columns are id, text. Name the column of the labels with --labels (labels=)."),
    "CSV of two texts": ("a.csv", "text,text\nx,y\n", {}, "{}: two columns are named 'text'; give each its own name."),
    "a short row": ("a.csv", "\nid,text\n1,x\n\n2\n", {}, f"{{}}, line 5: expected 2 cells as in the header, found 1. {MEND}"),
    "a long row": ("a.tsv", "id\ttext\n1\tx\ty\n", {}, f"{{}}, line 2: expected 2 cells as in the header, found 3. {MEND}"),
    "an open quotation mark": ("a.csv", 'id,text\n1,"x\ny"\n2,"z\n3,u\n', {}, f"{{}}, line 4: a quotation mark opened here is never closed. {MEND}"),
    "a quotation mark in a cell": ("a.csv", 'id,text\n1,"5" long"\n', {}, f"{{}}, line 2: a quoted cell contains a quotation mark; double it. {MEND}"),
    "CSV of an old Mac": ("a.csv", "id,text\r1,x\r", {}, "{}, line 1: a line ends with a carriage return alone; convert the file to line feeds first."),
    "CSV in latin-1": ("a.csv", b"id,text\n1,x\n2,caf\xe9\n", {}, f"{{}}, line 3: the cell of 'text' is not UTF-8 (byte 0xe9 at position 3); {NOT_UTF_8} {MEND}"),
    "a header in latin-1": ("a.csv", b"id,caf\xe9\n1,x\n", {}, f"{{}}, line 1: not UTF-8 (byte 0xe9 at position 6); {NOT_UTF_8}"),
    "CSV that is not ASCII": ("a.csv", "id,text\n1,café\n", {"encoding": "ascii"}, "{}: not ASCII (ordinal not in range(128)); name another encoding with --encoding (encoding=)."),
    "an empty CSV": ("a.csv", "\n\n", {}, "{}: there are no documents: the file is empty."),
    "a header alone": ("a.csv", "id,text\n", {}, "{}: there are no documents."),
    "a cut gzip file": ("a.csv.gz", gzip.compress(b"id,text\n1,x\n", mtime=0)[:-9], {}, "{}: the gzip file is cut short or damaged (Compressed file ended before the end-of-stream marker was reached)."),
    "Parquet that is none": ("a.parquet", "PAR1 and more", {}, "{}: cannot be read as Parquet; it is cut short, damaged or something else (Parquet magic bytes not found in footer. Either the file is corrupted or this is not a parquet file)."),
    "Arrow that is none": ("a.arrow", "ARROW1 and more and more", {}, "{}: cannot be read as Arrow; it is cut short, damaged or something else (Not an Arrow file)."),
    "JSON lines without the id": ("a.jsonl", '{"text": "x"}\n', {"id": "nr"}, "{}: no line has a field 'nr'; the fields are text. Name the field of the id with --id (id=)."),
    "JSON lines without the second text": ("a.jsonl", '{"text": "x"}\n', {"text": ["text", "body"]}, "{}: no line has a field 'body'; the fields are text. Name the field of the text with --text (text=)."),
    "JSON lines in latin-1": ("a.jsonl", '{"text": "café"}\n'.encode("latin-1"), {}, f"{{}}, line 1: not UTF-8 (byte 0xe9 at position 13); {NOT_UTF_8} {MEND_LINE}"),
    "SMART without a beginning": ("a", "words\n.I 1\n.W\nx\n", {"format": "smart"}, f"{{}}, line 1: expected a record to begin with .I and an identifier. {MEND}"),
    "SMART without a section": ("a", ".I 1\n.W\nx\n.I 2\nwords\n", {}, f"{{}}, line 4: the record 2 has text before its first section, a line such as .W or .T. {MEND}"),
    "SMART in latin-1": ("a", b".I 1\n.W\ncaf\xe9\n", {}, f"{{}}, line 1: not UTF-8 (byte 0xe9 at position 11); {NOT_UTF_8} {MEND}"),
    "SMART without texts": ("a", ".I 1\n.T\nx\n", {}, "{}: no document has a field 'text'; the fields are id, title. Name the field of the text with --text (text=)."),
    "TREC without a beginning": ("a", "\nwords\n<DOC></DOC>", {"format": "trec"}, f"{{}}, line 2: expected <DOC> or <top>. {MEND}"),
    "TREC without an end": ("a", "<DOC></DOC>\n\n<DOC>\n<TEXT>x</TEXT>\n", {}, f"{{}}, line 3: <DOC> is never closed by </DOC>. {MEND}"),
    "a TREC document in another": ("a", "<DOC><TEXT>x</TEXT>\n<DOC>\n</DOC>", {}, f"{{}}, line 1: <DOC> is not closed before the next begins. {MEND}"),
    "a TREC tag that is open": ("a", "<DOC><TEXT>x</DOC>", {}, f"{{}}, line 1: <TEXT> is never closed by </TEXT>. {MEND}"),
    "TREC without texts": ("a", "<DOC><DOCNO>1</DOCNO><BODY>x</BODY></DOC>", {}, "{}: no document has a field 'text'; the fields are id, body. Name the field of the text with --text (text=)."),
    "a file of no known kind": ("a.txt", "words", {}, f"{{}}: its name and first bytes do not tell the format; name it with --format (format=): {', '.join(FORMATS)}."),
    "an empty file of no known kind": ("a.txt", " \n", {}, "{}: there are no documents: the file is empty."),
    "counts": ("a.mtx", "", {}, "{}: the format mtx holds counts, not texts; use read_counts, or semascope build."),
    "a file as a folder": ("a.txt", "x", {"format": "folder"}, "{}: is a file; expected a folder of text files."),
    "a wrong format": ("a.txt", "x", {"format": "docx"}, f"there is no format 'docx'; choose one of {', '.join(FORMATS)}."),
    "a wrong encoding": ("a.csv", "x", {"encoding": "klingon"}, "there is no encoding 'klingon'; common ones are utf-8, utf-16, latin-1 and cp1252."),
    "an encoding that is none of text": ("a.csv", "x", {"encoding": "hex"}, "there is no encoding 'hex'; common ones are utf-8, utf-16, latin-1 and cp1252."),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "options", "sentence"), DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_bad_documents_are_answered_with_a_sentence(tmp_path, name, content, options, sentence):
    path = written(tmp_path, name, content)
    assert complaint(lambda: Corpus.build(read(path, **options))) == sentence.format(path)


COUNTS = {
    "a header of another kind": ("a.mtx", "1 1 1\n", {}, "{}, line 1: expected %%MatrixMarket matrix coordinate …; this is not a MatrixMarket file."),
    "a symmetric matrix": ("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n1 1 0\n", {}, "{}, line 1: expected coordinate, then real, integer or pattern, then general; found coordinate real symmetric: save the matrix again in that form."),
    "an array": ("a.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n", {}, "{}, line 1: expected coordinate, then real, integer or pattern, then general; found array real general: save the matrix again in that form."),
    "no sizes": ("a.mtx", HEADER + "% note\n", {}, "{}, line 2: expected the numbers of rows, columns and entries."),
    "two sizes": ("a.mtx", HEADER + "% note\n2 2\n", {}, "{}, line 3: expected the numbers of rows, columns and entries."),
    "sizes that are words": ("a.mtx", HEADER + "2 two 2\n", {}, "{}, line 2: expected three whole numbers in the header, found '2 two 2'."),
    "sizes beyond all bounds": ("a.mtx", HEADER + "1 3000000000 0\n", {}, "{}, line 2: 3,000,000,000 are too many rows or columns; the maximum is 2,147,483,647."),
    "rows without entries": ("a.mtx", HEADER + "100000000 1 0\n", {}, "{}, line 2: most of 100,000,000 documents would be empty, with 0 entries; fix the numbers."),
    "columns without names": ("a.mtx", HEADER + "1 100000000 1\n1 1 1\n", {}, "{}: 100,000,000 words without names are too many; give a vocabulary, or fix the number."),
    "LDA-C with a giant word": ("a.ldac", "1 999999999:1\n", {}, "{}: 1,000,000,000 words without names are too many; give a vocabulary, or fix the number."),
    "a row beyond the header": ("a.mtx", HEADER + "2 2 2\n1 1 1\n3 1 1\n", {}, f"{{}}, line 4: there is no row 3; the numbers go from 1 to 2. {MEND_LINE}"),
    "a column from 0": ("a.mtx", HEADER + "2 2 1\n1 0 1\n", {}, f"{{}}, line 3: there is no column 0; the numbers go from 1 to 2. {MEND_LINE}"),
    "a negative count": ("a.mtx", HEADER + "2 2 2\n\n1 1 -1\n1 1 1\n", {}, f"{{}}, line 4: the count '-1' {NOT_A_COUNT} {MEND_LINE}"),
    "a count that is none": ("a.mtx", HEADER + "2 2 1\n1 1 nan\n", {}, f"{{}}, line 3: the count 'nan' {NOT_A_COUNT} {MEND_LINE}"),
    "an infinite count": ("a.mtx", HEADER + "2 2 1\n1 1 1e999\n", {}, f"{{}}, line 3: the count '1e999' {NOT_A_COUNT} {MEND_LINE}"),
    "a row that is no number": ("a.mtx", HEADER + "2 2 1\n1.5 1 1\n", {}, f"{{}}, line 3: the row number '1.5' is not a whole number. {MEND_LINE}"),
    "too few values": ("a.mtx", HEADER + "2 2 1\n1 1\n", {}, f"{{}}, line 3: expected a row, a column and a count, found 2 values. {MEND_LINE}"),
    "too many values": ("a.mtx", HEADER.replace("integer", "pattern") + "2 2 1\n1 1 1\n", {}, f"{{}}, line 3: expected a row and a column, found 3 values. {MEND_LINE}"),
    "fewer entries than stated": ("a.mtx", HEADER + "2 2 3\n1 1 1\n", {}, "{}: the header says 3 entries, but there are 1: the file is cut short."),
    "more entries than stated": ("a.mtx", HEADER + "2 2 1\n1 1 1\n1 2 1\n", {}, "{}: the header says 1 entries, but there are 2: the header belongs to another file."),
    "a vocabulary of another matrix": ("a.mtx", HEADER + "2 2 1\n1 1 1\n", {"vocabulary": ["a"]}, "{}: the header says 2 words, but the vocabulary has 1."),
    "a vocabulary with a word twice": ("a.mtx", HEADER + "2 2 1\n1 1 1\n", {"vocabulary": ["a", "a"]}, "the vocabulary, word 2: the word 'a' is already at 1; each column needs its own word."),
    "a vocabulary that is not there": ("a.mtx", HEADER + "2 2 1\n1 1 1\n", {"vocabulary": "nowhere.txt"}, "nowhere.txt: no such vocabulary file; expected one word per line."),
    "an empty matrix": ("a.mtx", HEADER + "0 2 0\n", {}, "{}: there are no documents."),
    "UCI that is cut": ("docword.a.txt", "2\n3\n", {}, "{}: expected the numbers of documents, words and entries on the first three lines; the file is cut short."),
    "UCI with a word too many": ("docword.a.txt", "2\n2\n1\n1 3 1\n", {}, f"{{}}, line 4: there is no word 3; the numbers go from 1 to 2. {MEND_LINE}"),
    "UCI without a count": ("docword.a.txt", "2\n2\n1\n1 2\n", {}, f"{{}}, line 4: expected a document, a word and a count, found 2 values. {MEND_LINE}"),
    "LDA-C with a word missing": ("a.ldac", "1 0:1\n2 0:1\n", {}, f"{{}}, line 2: the line says 2 words, but there are 1. {MEND_LINE}"),
    "LDA-C without a colon": ("a.ldac", "1 5\n", {}, f"{{}}, line 1: expected word:count, found '5'. {MEND_LINE}"),
    "LDA-C without a length": ("a.ldac", "0:1\n", {}, f"{{}}, line 1: the first number '0:1' is not a whole number. {MEND_LINE}"),
    "LDA-C with a negative word": ("a.ldac", "1 -1:1\n", {}, f"{{}}, line 1: there is no word -1; the numbers go from 0 to 2,147,483,646. {MEND_LINE}"),
    "LDA-C beyond its vocabulary": ("a.ldac", "1 2:1\n", {"vocabulary": ["a", "b"]}, f"{{}}, line 1: there is no word 2; the numbers go from 0 to 1. {MEND_LINE}"),
    "LDA-C with a bad count": ("a.ldac", "1 2:x\n", {}, f"{{}}, line 1: the count 'x' {NOT_A_COUNT} {MEND_LINE}"),
    "triples without a column": ("a.csv", "row,word,count\na,b,1\n", {}, f"{{}}: there is no column 'column'; the columns are row, word, count. {TRIPLES}"),
    "triples with a bad count": ("a.csv", "row,column,count\na,b,1\na,c,many\n", {}, f"{{}}, line 3: the count 'many' {NOT_A_COUNT} {MEND}"),
    "triples with a negative count": ("a.csv", "row,column,count\na,b,-1\n", {}, f"{{}}, line 2: the count '-1' {NOT_A_COUNT} {MEND}"),
    "triples without a name": ("a.csv", "row,column,count\na,,1\n", {}, f"{{}}, line 2: there is no value in the column 'column'. {MEND}"),
    "triples with a vocabulary": ("a.csv", "row,column,count\na,b,1\n", {"vocabulary": ["b"]}, "{}: a table of triples names its own words; leave out the vocabulary."),
    "texts": ("a.jsonl", "", {}, "{}: the format jsonl holds texts, not counts; use read."),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "options", "sentence"), COUNTS.values(), ids=COUNTS.keys())
def test_bad_counts_are_answered_with_a_sentence(tmp_path, name, content, options, sentence):
    path = written(tmp_path, name, content)
    assert complaint(lambda: Corpus.build(read_counts(path, **options))) == sentence.format(path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("cat\n\ndog\n", "{}, line 2: expected a word, found nothing."),
        ("cat\ndog\ncat\n", "{}, line 3: the word 'cat' is already at 1; each column needs its own word."),
        (b"cat\ncaf\xe9\n", f"{{}}, line 2: not UTF-8 (byte 0xe9 at position 3); {NOT_UTF_8}"),
    ],
)
def test_a_bad_vocabulary_is_answered_with_a_sentence(tmp_path, content, sentence):
    path, words = written(tmp_path, "a.ldac", "1 0:1\n"), written(tmp_path, "words", content)
    assert complaint(lambda: Corpus.build(read_counts(path, vocabulary=words))) == sentence.format(words)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("1 0 d1\n", "{}, line 1: expected query, iteration, document and relevance, found 3 values."),
        ("1 0 d1 1\n\n1 0 d2 high\n", "{}, line 3: the relevance 'high' is not a whole number."),
        ("1 0 d1 1\n2 0 d1 1\n1 0 d1 0\n", "{}, line 3: query 1 and document d1 were already judged on line 1."),
        (b"1 0 caf\xe9 1\n", f"{{}}, line 1: not UTF-8 (byte 0xe9 at position 7); {NOT_UTF_8}"),
        ("\n", "{}: the file is empty; expected relevance judgments."),
    ],
)
def test_bad_judgments_are_answered_with_a_sentence(tmp_path, content, sentence):
    path = written(tmp_path, "qrels", content)
    assert complaint(lambda: read_qrels(path)) == sentence.format(path)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.bin", b"\x89PNG\0\xff", "is not a text file: it contains null bytes."),
        ("a.txt", b"caf\xe9", f"not UTF-8 (byte 0xe9 at position 3); {NOT_UTF_8}"),
        ("a.gz", gzip.compress(b"words", mtime=0)[:-9], "the gzip file is cut short or damaged (Compressed file ended before the end-of-stream marker was reached)."),
    ],
)  # fmt: skip
def test_a_bad_file_in_a_folder_is_named_or_left_out(tmp_path, name, content, sentence):
    path = written(tmp_path, name, content)
    written(tmp_path, "good", "words")
    assert complaint(lambda: read(tmp_path).frame()) == f"{path}: {sentence} {MEND}"
    documents = read(tmp_path, skip_bad=True)
    assert documents.frame()["id"].to_list() == ["good"]
    assert documents.bad == [f"{path}: {sentence}"]


def test_a_corpus_is_not_taken_for_a_folder_of_texts(tmp_path):
    Corpus.from_texts(["some words"]).save(tmp_path / "corpus")
    sentence = "is already a semascope corpus; expected documents, a file or a folder of text files."
    assert complaint(lambda: read(tmp_path / "corpus").frame()) == f"{tmp_path / 'corpus'}: {sentence}"


def test_a_folder_is_not_taken_for_a_file(tmp_path):
    assert complaint(lambda: read(tmp_path, format="csv")) == f"{tmp_path}: is a directory; expected a file of the format csv."
    assert complaint(lambda: read(tmp_path).frame()) == f"{tmp_path}: there are no text files in this directory."


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: read(pl.DataFrame({"body": ["x"]})).frame(), "the frame: there is no column 'text'; the columns are body. Name the column of the text with --text (text=)."),
        (lambda: Corpus.build(pl.DataFrame({"body": ["x"]})), "the frame: there is no column 'text'; the columns are body. Name the column of the text with --text (text=)."),
        (lambda: read(pl.DataFrame({"text": [["x"]]})).frame(), "the frame: column 'text' holds values of type List(String); expected strings, numbers or dates."),
        (lambda: read(pa.table({"text": pa.array([b"\xff"])})).frame(), "the frame: a column holds bytes that are not UTF-8; convert them to strings first."),
        (lambda: Corpus.build(read(pl.DataFrame({"text": []}))), "the frame: there are no documents."),
        (lambda: Corpus.build(pl.DataFrame({"text": []})), "the frame: there are no documents."),
        (lambda: read(["a text"]), "expected a path or a frame, found list; read(path) reads files, and Corpus.from_texts takes lists of texts."),
        (lambda: Corpus.build(["a text"]), "expected a path or a frame, found list; read(path) reads files, and Corpus.from_texts takes lists of texts."),
        (lambda: Corpus.build(pd.DataFrame({"text": ["x", 1]})), "the frame: cannot be read as a table ((\"Expected bytes, got a 'int' object\", 'Conversion failed for column text with type object'))."),
        (lambda: read("stdlib:", text=[]), "text must name at least one field, and label_separator must not be empty."),
        (lambda: list(read_counts(pl.DataFrame({"row": ["a"], "column": ["b"], "count": [float("inf")]}))), f"the frame, row 1: the count inf {NOT_A_COUNT} {MEND}"),
        (lambda: read_counts("stdlib:"), "stdlib:: the format stdlib holds texts, not counts; use read."),
    ],
)  # fmt: skip
def test_bad_frames_are_answered_with_a_sentence(make, sentence):
    assert complaint(make) == sentence


@pytest.mark.parametrize(
    ("name", "content", "n_bad"),
    [
        ("a.csv", b'id,text\n1,x\n2\n3,"y" z\n4,caf\xe9\n5,u\n', 3),
        ("a.smart", b".I 1\n.W\nx\n.I 2\nwords\n.I 3\n.W\ncaf\xe9\n.I 4\n.W\ny\n", 2),
        ("a.trec", b"<DOC><TEXT>x</TEXT></DOC>\n<DOC><TEXT>caf\xe9</TEXT></DOC>\n<top><title>z</top>\n<DOC>", 2),
    ],
    ids=["csv", "smart", "trec"],
)
def test_bad_records_can_be_left_out_and_are_noted(tmp_path, name, content, n_bad):
    documents = read(written(tmp_path, name, content), format=name.removeprefix("a."), skip_bad=True)
    assert len(documents.frame()) == 2
    assert len(documents.bad) == n_bad
    assert all(sentence.startswith(f"{tmp_path / name}, line ") for sentence in documents.bad)
