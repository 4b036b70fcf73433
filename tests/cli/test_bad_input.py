"""Bad input: one clear sentence, an exit code that is not 0, no traceback, and nothing lost."""

import gzip
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from semascope import PLSA, Corpus, load
from semascope.corpus.build.disk import LAYOUT
from semascope.errors import FormatError, InputError
from semascope.workflow import checkpoint_of

GOOD = {"text": "good words here"}
NOT_TAKEN_BY_POLARS = {"id": "last", "text": "{this makes the block be read line by line"}


@pytest.fixture
def build(run, tmp_path):
    """Build a corpus from the contents of a file."""

    def build_from(contents, *options):
        source = tmp_path / "documents.jsonl"
        source.write_bytes(contents.encode() if isinstance(contents, str) else contents)
        return run("build", source, tmp_path / "built", *options)

    return build_from


@pytest.fixture
def built(tmp_path):
    """Give what was built."""
    return lambda: Corpus.open(tmp_path / "built")


@pytest.fixture
def foreign(tmp_path):
    """Somebody's directory."""
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.txt").write_text("three years of work")
    return tmp_path / "foreign"


def files_in(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def data_file(directory: Path, name: str) -> Path:
    (path,) = directory.glob(f"data-*/{name}")
    return path


# --- sources ---------------------------------------------------------------------------------------------------------------


def test_a_source_that_does_not_exist_is_named(run, tmp_path):
    nowhere = tmp_path / "nowhere.jsonl"
    assert run("build", nowhere, tmp_path / "built").complaint == f"{nowhere}: no such file."
    assert not (tmp_path / "built").exists()


def test_a_corpus_is_not_built_inside_the_folder_that_it_is_built_from(run, tmp_path):
    complaint = run("build", tmp_path, tmp_path / "built").complaint
    assert complaint == f"{tmp_path / 'built'}: lies inside the source; write the corpus elsewhere."


def test_a_source_that_may_not_be_read_is_named(run, source, tmp_path, monkeypatch):
    open_path = Path.open

    def refuse(path, *arguments, **settings):
        if path == source:
            raise PermissionError(13, "Permission denied", str(path))
        return open_path(path, *arguments, **settings)

    monkeypatch.setattr(Path, "open", refuse)  # a file mode would not keep the superuser out
    assert run("build", source, tmp_path / "built").complaint == f"{source}: Permission denied."


@pytest.mark.parametrize("contents", ["", "\n\n\n", " \r\n\t\n", "\ufeff"], ids=["empty", "blank lines", "spaces", "a BOM"])
def test_a_source_without_documents_is_said_to_be_empty(build, tmp_path, contents):
    complaint = build(contents).complaint
    assert "documents.jsonl: there are no documents" in complaint
    assert not (tmp_path / "built").exists()


def test_a_source_may_begin_with_any_number_of_blank_lines(build, built, as_lines):
    assert build("\n" * (9 << 20) + as_lines(GOOD)).code == 0
    assert len(built()) == 1


def test_a_truncated_gzip_file_is_named(build, source, tmp_path):
    whole = gzip.compress(source.read_bytes())
    for length in (2, 15, len(whole) // 2, len(whole) - 1):
        complaint = build(whole[:length]).complaint
        assert "documents.jsonl: the gzip file is cut short or damaged" in complaint
    assert not (tmp_path / "built").exists()


def test_a_damaged_gzip_file_is_named(build, source):
    damaged = bytearray(gzip.compress(source.read_bytes()))
    damaged[len(damaged) // 2] ^= 0xFF
    assert "documents.jsonl: the gzip file is cut short or damaged" in build(bytes(damaged)).complaint


def test_a_source_in_utf_16_is_said_to_be_not_utf_8(build, as_lines):
    assert "not UTF-8" in build(as_lines(GOOD, GOOD).encode("utf-16")).complaint


def test_a_json_array_is_not_taken_for_json_lines(build):
    assert "line 1" in build(json.dumps([GOOD, GOOD], indent=1)).complaint


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="needs pipes with names")
@pytest.mark.parametrize("options", [[], ["--skip-bad"]])
def test_a_pipe_is_read_whole_or_refused_as_a_pipe(run, as_lines, tmp_path, options):
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "w") as pipe:
        pipe.write(as_lines(*[GOOD] * 1000))
    ran = run("build", f"/dev/fd/{read_end}", tmp_path / "built", *options)
    os.close(read_end)
    assert "1,000 documents" in ran.out or "pipe" in ran.complaint


def test_a_source_is_never_overwritten(run, source):
    before = source.read_bytes()
    assert str(source) in run("build", source, source, "--overwrite").complaint
    assert source.read_bytes() == before


def test_infer_refuses_what_build_refuses(run, model, build, tmp_path):
    assert "no such file" in run("infer", model, tmp_path / "nowhere.jsonl").complaint
    build("")
    assert "no documents" in run("infer", model, tmp_path / "documents.jsonl").complaint
    build("{broken\n")
    assert "line 1" in run("infer", model, tmp_path / "documents.jsonl").complaint


# --- the text field --------------------------------------------------------------------------------------------------------


def test_a_wrong_text_field_is_answered_with_the_fields_there_are(build, as_lines, tmp_path):
    complaint = build(as_lines({"body": "some words", "headline": "x"}, {"body": "more", "year": 1999})).complaint
    assert "no line has a field 'text'" in complaint
    assert "body, headline, year" in complaint
    assert not (tmp_path / "built").exists()


def test_a_value_that_reads_like_the_text_field_is_not_taken_for_it(build, as_lines):
    assert "the fields are kind, body" in build(as_lines({"kind": "text", "body": "some words"})).complaint


def test_a_document_without_the_text_field_is_an_empty_document(build, built, as_lines):
    assert build(as_lines({"id": "x"}, GOOD, {"text": None})).code == 0
    assert built().texts.to_list() == ["", GOOD["text"], ""]


@pytest.mark.parametrize(("text", "found"), [({"en": "words"}, "an object"), (["some", "words"], "a list")])
def test_a_text_that_is_not_a_string_is_named_by_its_line(build, built, as_lines, text, found):
    contents = as_lines(GOOD, {"text": text}, GOOD)
    assert f"line 2: field 'text' should be a string, but is {found}" in build(contents).complaint
    ran = build(contents, "--skip-bad")
    assert "Skipped 1 bad record" in ran.err
    assert len(built()) == 2


def test_documents_with_empty_text_keep_their_rows(run, build, built, as_lines, tmp_path):
    build(as_lines({"id": "a", "text": ""}, GOOD, {"id": "c", "text": ""}, {"text": "more words"}))
    (facts,) = run("info", tmp_path / "built", "--json").json
    assert (facts["documents"], facts["empty_documents"]) == (4, 2)
    assert built().ids.to_list() == ["a", "1", "c", "3"]
    assert run("fit", tmp_path / "built", tmp_path / "model", "--topics", 2).code == 0
    doc_topics = load(tmp_path / "model").doc_topics_
    assert doc_topics.shape == (4, 2)
    assert np.allclose(doc_topics.sum(axis=1), 1)


def test_documents_that_are_all_empty_make_no_corpus(build, as_lines, tmp_path):
    assert "no words in the 2 documents" in build(as_lines({"text": ""}, {"text": "  "})).complaint
    assert not (tmp_path / "built").exists()


# --- lines -----------------------------------------------------------------------------------------------------------------


BROKEN = (
    "{broken",
    '{"text": "cut sh',
    '{"text": "x",}',
    '{"text": "x"} {"text": "y"}',
    '{"text": "a\tb"}',
    '{"text": "\\q"}',
)


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_line_is_named_by_its_number(build, as_lines, tmp_path, line):
    assert "documents.jsonl, line 3: not JSON" in build(as_lines(GOOD, "", line, GOOD)).complaint
    assert not (tmp_path / "built").exists()


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_line_can_be_left_out_and_is_counted(build, built, as_lines, line):
    ran = build(as_lines({"id": "a", **GOOD}, line, {"id": "c", **GOOD}), "--skip-bad")
    assert ran.code == 0
    assert "Skipped 1 bad record" in ran.err
    assert "line 2" in ran.err
    assert built().ids.to_list() == ["a", "c"]


def test_a_broken_line_in_a_later_block_is_named_by_its_number(build, as_lines):
    megabyte = {"text": "word " * 200_000}
    assert "line 13: not JSON" in build(as_lines(*[megabyte] * 12, "{broken", megabyte)).complaint


def test_many_broken_lines_are_counted_but_not_all_listed(build, built, as_lines):
    ran = build(as_lines(GOOD, *["{broken"] * 1500), "--skip-bad")
    assert "Skipped 1,500 bad records" in ran.err
    assert len(ran.err.splitlines()) < 10
    assert len(built()) == 1


def test_a_broken_line_does_not_harm_the_corpus_to_be_overwritten(run, build, corpus, as_lines, tmp_path):
    before = files_in(corpus)
    build(as_lines(GOOD, "{broken"))
    assert "line 2" in run("build", tmp_path / "documents.jsonl", corpus, "--overwrite").complaint
    assert files_in(corpus) == before


def test_a_source_of_nothing_but_broken_lines_is_not_said_to_be_empty(build, as_lines, tmp_path):
    complaint = build(as_lines("{broken", '{"text": broken'), "--skip-bad").complaint
    assert "documents.jsonl" in complaint
    assert "empty" not in complaint, "the file is not empty: all its lines are bad"
    assert not (tmp_path / "built").exists()


@pytest.mark.parametrize("line", ["5", '"text"', "null", "true", "[1, 2]"])
def test_a_line_that_is_not_an_object_is_named_by_its_number(build, as_lines, line):
    assert "line 2: expected a JSON object" in build(as_lines(GOOD, line, GOOD)).complaint


@pytest.mark.parametrize("line", ["[" * 100_000, '{"text": "x", "more": ' + "[" * 50_000 + "]" * 50_000 + "}"])
def test_a_line_nested_too_deeply_is_named_by_its_number(build, as_lines, line):
    assert "line 2" in build(as_lines(GOOD, line, GOOD)).complaint


@pytest.mark.parametrize("field", ["text", "title", "unused"])
def test_a_line_that_is_not_utf_8_is_named_by_its_number(build, built, as_lines, field):
    contents = as_lines(GOOD).encode() + f'{{"text": "x", "{field}": "café"}}\n'.encode("latin-1") + as_lines(GOOD).encode()
    complaint = build(contents).complaint
    assert "line 2: not UTF-8" in complaint
    assert "0xe9" in complaint
    assert "Skipped 1 bad record" in build(contents, "--skip-bad").err
    assert len(built()) == 2


def test_lines_may_end_as_windows_ends_them(build, built, as_lines):
    build(as_lines({"text": "two\r\nlines"}, GOOD).replace("\n", "\r\n"))
    assert built().texts.to_list() == ["two\r\nlines", GOOD["text"]]


def test_the_last_line_needs_no_end(build, built, as_lines):
    build(as_lines(GOOD, {"text": "the last"}).rstrip("\n"))
    assert built().texts.to_list() == [GOOD["text"], "the last"]


def test_a_byte_order_mark_is_no_part_of_the_first_line(build, built, as_lines):
    build("\ufeff" + as_lines(GOOD, GOOD))
    assert built().texts.to_list() == [GOOD["text"]] * 2


@pytest.mark.large
def test_a_document_of_a_hundred_megabytes_is_built(run, built, tmp_path):
    """Takes about five seconds, a gigabyte of memory and 300 MB of disk."""
    source, n_words = tmp_path / "huge.jsonl", 1_000_000 // 6
    megabyte = "".join(f"w{number % 5000:04} " for number in range(n_words)).encode()
    with source.open("wb") as file:
        file.write(b'{"id": "huge", "text": "')
        file.writelines([megabyte] * 101)
        file.write(b'"}\n{"id": "small", "text": "w0001 other"}\n')
    assert source.stat().st_size > 100_000_000
    assert run("build", source, tmp_path / "built").code == 0
    assert built().ids.to_list() == ["huge", "small"]
    assert built().n_tokens == 101 * n_words + 2
    assert built().n_words == 5001
    shutil.rmtree(tmp_path / "built")  # do not fill the disk with what pytest keeps
    source.unlink()


# --- values ----------------------------------------------------------------------------------------------------------------


def test_numbers_as_text_and_ids_become_strings(build, built, as_lines):
    build(as_lines({"id": 7, "text": 1234}, {"id": 7.5, "text": "words"}, {"id": 12345678901234567890, "text": True}))
    assert built().ids.to_list() == ["7", "7.5", "12345678901234567890"]
    assert built().texts.to_list() == ["1234", "words", "true"]


@pytest.mark.parametrize(
    ("labels", "kept"),
    [("sport", ["sport"]), (["a", "b"], ["a", "b"]), (3, ["3"]), ([1, 2], ["1", "2"]), (None, []), ([], [])],
)
def test_labels_may_be_one_or_several(build, built, as_lines, labels, kept):
    build(as_lines({**GOOD, "labels": labels}))
    assert built().labels.to_list() == [kept]


def test_labels_that_first_appear_after_100_000_lines_are_kept(run, build, built, as_lines, tmp_path):
    line = as_lines({"text": "some words to fill the line, so that there are several blocks of lines before the labels"})
    build(line * 100_000 + as_lines({**GOOD, "labels": ["late"], "title": "also late"}))
    assert built().labels.to_list()[-1] == ["late"]
    assert built().documents["title"].to_list()[-1] == "also late"
    assert run("info", tmp_path / "built", "--json").json[0]["labels"] == 1


def test_surrogate_pairs_become_one_character(build, built, as_lines):
    build(as_lines('{"text": "smile \\ud83d\\ude00 now"}', '{"text": "𝒳 and 😀"}'))
    assert built().texts.to_list() == ["smile 😀 now", "𝒳 and 😀"]


@pytest.mark.parametrize("half", [chr(0xD800), chr(0xDC00), chr(0xDE00) + chr(0xD83D)], ids=["high", "low", "swapped"])
@pytest.mark.parametrize("neighbor", [GOOD, NOT_TAKEN_BY_POLARS], ids=["by block", "by line"])
@pytest.mark.parametrize("field", ["text", "id", "title", "labels"])
def test_a_lone_surrogate_becomes_a_replacement_character(build, built, as_lines, half, neighbor, field):
    assert build(as_lines({**GOOD, field: f"one{half} two"}, neighbor)).code == 0
    whole = "one" + "\ufffd" * len(half) + " two"
    assert built().documents[field].to_list()[0] == ([whole] if field == "labels" else whole)
    assert field != "text" or {"one", "two"} <= set(built().vocabulary)


@pytest.mark.parametrize(
    "fields",
    [
        {"text": 1e5},
        {"text": ["some", "words"]},
        {"id": {"$oid": "x"}},
        {"title": {"en": "x"}},
        {"title": ["x"]},
        {"labels": "x"},
        {"labels": True},
        {"labels": {"name": "x"}},
        {"labels": [1, None, "x"]},
        {"labels": [True, 1.0]},
        {"labels": [{"name": "x"}]},
    ],
    ids=str,
)
def test_a_document_is_read_alike_whatever_stands_beside_it(build, built, as_lines, fields):
    """A block with one odd line is read line by line; that must not change the others."""
    line = as_lines({**GOOD, **fields})
    alone = build(line)
    document = built().documents.row(0) if alone.code == 0 else None
    beside = build(line + as_lines(NOT_TAKEN_BY_POLARS), "--overwrite")
    assert beside.err == alone.err
    assert document is None or built().documents.row(0) == document


def test_duplicate_ids_are_named_with_their_documents(build, as_lines, tmp_path):
    complaint = build(as_lines({"id": "a", **GOOD}, GOOD, {"id": "a", **GOOD})).complaint
    assert "the id 'a' appears twice, at documents 1 and 3" in complaint
    assert not (tmp_path / "built").exists()


@pytest.mark.parametrize(
    "options", ["--labels title", "--labels tag --keep tag", "--keep labels", "--labels id", "--text title"]
)
def test_a_field_may_serve_two_purposes(build, built, as_lines, options):
    record = {"id": "x", "title": "a title", "tag": "t", "labels": ["l"], **GOOD}
    assert build(as_lines(record), *options.split()).code == 0
    assert built().documents.schema["labels"].is_nested()


# --- settings --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", ["--min-df 10", "--max-df 0.0", "--min-length 50", "--min-df 0.9 --max-df 0.1"])
def test_settings_that_prune_all_words_are_named(build, as_lines, tmp_path, options):
    complaint = build(as_lines(GOOD, {"text": "other things there"}), *options.split()).complaint
    assert "no words of the 2 documents are left" in complaint
    name, value = options.removeprefix("--").split()[:2]
    assert f"{name.replace('-', '_')}={value}" in complaint
    assert not (tmp_path / "built").exists()


@pytest.mark.parametrize("options", ["--min-df 1.5", "--max-df -1", "--min-df nan", "--stemmer klingon"])
def test_settings_that_make_no_sense_are_refused(build, as_lines, options):
    assert build(as_lines(GOOD), *options.split()).complaint


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", "--min-df", "many"],
        ["fit", "--topics", "0"],
        ["fit", "--topics", "few"],
        ["fit", "--tol", "-1"],
        ["fit", "--model", "lsi"],
        ["fit", "--typo"],
    ],
    ids=" ".join,
)
def test_options_a_command_does_not_take_are_answered_with_its_usage(run, tmp_path, arguments):
    command, *options = arguments
    ran = run(command, tmp_path / "one", tmp_path / "two", *options)
    assert ran.code == 2
    assert f"semascope {command}" in ran.err
    assert any(option in ran.err for option in options)
    assert ran.out == ""


def test_stop_words_that_are_not_utf_8_are_refused(build, as_lines, tmp_path):
    (tmp_path / "stop.txt").write_bytes("café\n".encode("latin-1"))
    complaint = build(as_lines(GOOD), "--stop-words", tmp_path / "stop.txt").complaint
    assert "stop.txt" in complaint
    assert "UTF-8" in complaint


@pytest.mark.parametrize("topics", [11, 61, 1_000_000_000])
def test_more_topics_than_the_data_can_carry_are_refused(run, corpus, tmp_path, topics):
    complaint = run("fit", corpus, tmp_path / "model", "--topics", topics).complaint
    assert f"{topics} topics are too many for the data" in complaint
    assert "at most 10" in complaint
    assert not (tmp_path / "model").exists()
    assert not checkpoint_of(tmp_path / "model").exists()


# --- counts ----------------------------------------------------------------------------------------------------------------


IMPOSSIBLE = (("not a number", np.nan), ("infinite", np.inf), ("infinite", -np.inf), ("negative", -1.0))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix])
@pytest.mark.parametrize(("what", "count"), IMPOSSIBLE)
def test_impossible_counts_are_named_by_row_and_column(form, what, count):
    matrix = form(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, count]]))
    with pytest.raises(InputError, match=f"row 1, column 2 is {what}"):
        Corpus.from_matrix(matrix)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("what", "count"), [("NaN", np.nan), ("infinity", np.inf), ("Negative", -1.0)])
def test_impossible_counts_are_not_fitted(form, what, count):
    matrix = form(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, count]]))
    with pytest.raises(ValueError, match=what):
        PLSA(2).fit(matrix)


def test_counts_that_single_precision_cannot_hold_are_refused():
    with pytest.raises(InputError, match="too large"):
        Corpus.from_matrix([[1.0, 1e300]])


@pytest.mark.parametrize("matrix", [np.zeros((0, 3)), np.zeros((3, 0)), sp.csr_array((0, 3))])
def test_a_matrix_of_nothing_is_refused(matrix):
    with pytest.raises(InputError, match="no counts"):
        Corpus.from_matrix(matrix)


def test_a_matrix_is_not_changed_by_making_a_corpus_of_it():
    matrix = sp.csr_array((np.array([1.0, 1.0, 0.0]), np.array([2, 2, 0]), np.array([0, 3])), shape=(1, 3))
    before = matrix.copy()
    assert Corpus.from_matrix(matrix).counts.toarray().tolist() == [[0, 0, 2]]
    assert matrix.nnz == before.nnz
    assert matrix.indices.tolist() == before.indices.tolist()


# --- directories to read ---------------------------------------------------------------------------------------------------


CORPUS_FILES = ("ends.npy", "words.npy", "counts.npy", "vocabulary.arrow", "documents.arrow")
MODEL_FILES = ("topics.npy", "doc_topics.npy", "topic_shares.npy", "vocabulary.arrow")


def test_a_model_is_not_taken_for_a_corpus(run, model, tmp_path):
    complaint = run("fit", model, tmp_path / "other", "--topics", 2).complaint
    assert f"{model}: expected a semascope corpus" in complaint
    assert "found a semascope model" in complaint


def test_a_corpus_is_not_taken_for_a_model(run, corpus, source):
    for arguments in (["topics", corpus], ["infer", corpus, source]):
        complaint = run(*arguments).complaint
        assert f"{corpus}: expected a semascope model" in complaint
        assert "found a semascope corpus" in complaint


@pytest.mark.parametrize("command", [["info"], ["topics"], ["fit"], ["infer"]], ids=" ".join)
def test_a_directory_that_is_not_there_is_named(run, source, tmp_path, command):
    more = {"fit": [tmp_path / "model"], "infer": [source]}.get(command[0], [])
    assert f"{tmp_path / 'nowhere'}: " in run(*command, tmp_path / "nowhere", *more).complaint


@pytest.mark.parametrize("command", ["info", "topics"])
def test_a_foreign_directory_is_named(run, foreign, command):
    assert str(foreign) in run(command, foreign).complaint
    (foreign / "manifest.json").write_text('{"name": "a web page"}')
    assert str(foreign / "manifest.json") in run(command, foreign).complaint
    (foreign / "manifest.json").write_text("not JSON")
    assert str(foreign / "manifest.json") in run(command, foreign).complaint


@pytest.mark.parametrize("command", ["info", "topics"])
def test_a_file_is_not_taken_for_a_directory(run, source, command):
    assert f"{source}: expected a semascope" in run(command, source).complaint


@pytest.mark.parametrize("name", CORPUS_FILES)
def test_a_cut_altered_or_missing_file_of_a_corpus_is_named(run, corpus, name):
    check_damage(run, corpus, name)


@pytest.mark.parametrize("name", MODEL_FILES)
def test_a_cut_altered_or_missing_file_of_a_model_is_named(run, model, name):
    check_damage(run, model, name)


def check_damage(run, directory, name):
    """See that the file is named for every kind of damage, and taken again once it is mended."""
    path = data_file(directory, name)
    whole = path.read_bytes()
    altered = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in (0, len(whole) // 2, len(whole) - 1)]
    for damaged in (whole[:-1], whole[: len(whole) // 2], b"", whole + b"\0", *altered):
        path.write_bytes(damaged)
        assert run("info", directory).complaint.startswith(f"{path}: ")
    path.unlink()
    assert run("info", directory).complaint.startswith(f"{path}: is missing")
    path.write_bytes(whole)
    assert run("info", directory).code == 0


def test_an_altered_manifest_is_named(run, corpus):
    manifest = corpus / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"n_documents": 60', '"n_documents": 61'))
    assert run("info", corpus).complaint.startswith(f"{manifest}: was altered")


def test_a_corpus_of_a_newer_version_is_refused(run, corpus):
    manifest = corpus / "manifest.json"
    manifest.write_text(manifest.read_text().replace(f'"version": {LAYOUT.version}', f'"version": {LAYOUT.version + 1}'))
    assert "newer" in run("info", corpus).complaint


def test_a_damaged_corpus_is_not_fitted(run, corpus, tmp_path):
    path = data_file(corpus, "counts.npy")
    contents = bytearray(path.read_bytes())
    contents[-1] ^= 1
    path.write_bytes(contents)
    assert run("fit", corpus, tmp_path / "model", "--topics", 2).complaint.startswith(f"{path}: was altered")
    assert not (tmp_path / "model").exists()


def test_python_refuses_what_the_command_line_refuses(corpus, model, foreign):
    for wrong in (corpus, foreign):
        with pytest.raises(FormatError, match=wrong.name):
            load(wrong)
    for wrong in (model, foreign):
        with pytest.raises(FormatError, match=wrong.name):
            Corpus.open(wrong)


# --- directories to write --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--overwrite"]])
def test_a_foreign_directory_is_never_written_over(run, source, corpus, foreign, options):
    before = files_in(foreign)
    assert str(foreign) in run("build", source, foreign, *options).complaint
    assert str(foreign) in run("fit", corpus, foreign, "--topics", 2, *options).complaint
    assert files_in(foreign) == before


@pytest.mark.parametrize("options", [[], ["--overwrite"]])
def test_a_corpus_and_a_model_never_replace_each_other(run, source, corpus, model, options):
    before = files_in(corpus), files_in(model)
    assert str(model) in run("build", source, model, *options).complaint
    assert str(corpus) in run("fit", corpus, corpus, "--topics", 2, *options).complaint
    assert (files_in(corpus), files_in(model)) == before


def test_a_target_that_cannot_be_written_is_refused_before_a_corpus_is_built(run, source, foreign, monkeypatch):
    monkeypatch.setattr(Corpus, "build", lambda *a, **k: pytest.fail("hours of work, in vain"))
    assert str(foreign) in run("build", source, foreign, "--overwrite").complaint


def test_a_target_that_cannot_be_written_is_refused_before_a_model_is_fitted(run, corpus, foreign, monkeypatch):
    monkeypatch.setattr(PLSA, "fit", lambda *a, **k: pytest.fail("hours of work, in vain"))
    assert str(foreign) in run("fit", corpus, foreign, "--topics", 2, "--overwrite").complaint


@pytest.mark.parametrize("options", [[], ["--overwrite"], ["--resume"]])
def test_a_foreign_directory_named_like_a_checkpoint_is_not_touched(run, corpus, foreign, options):
    target = foreign.with_name("model")
    mine = foreign.rename(checkpoint_of(target))
    before = files_in(mine)
    run("fit", corpus, target, "--topics", 2, *options)
    assert files_in(mine) == before


def test_a_target_below_a_file_is_refused(run, source, corpus):
    assert str(source) in run("build", source, source / "corpus").complaint
    assert str(source) in run("fit", corpus, source / "model", "--topics", 2).complaint


def test_the_demo_writes_over_nothing_foreign(run, tmp_path, foreign, monkeypatch):
    monkeypatch.setattr("semascope.corpus.corpus.Corpus.build", lambda *a, **k: Corpus.from_texts(["some words"]))
    mine = foreign.rename(tmp_path / "corpus")
    assert str(mine) in run("demo", tmp_path).complaint
    assert list(files_in(mine)) == ["thesis.txt"]


def test_a_file_where_a_directory_is_expected_is_told_with_what_makes_one(run, source, tmp_path):
    complaint = run("fit", source, tmp_path / "model").complaint
    assert complaint.startswith(f"{source}: expected a semascope corpus, but this is a file. Create one with: semascope build")
