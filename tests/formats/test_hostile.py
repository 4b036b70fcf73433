"""A directory whose checksums are right but whose contents are not is refused before anything is done with it."""

import io
import os
import struct
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from benchmarks import hostile
from benchmarks.attacks.sealing import arrays_of, replace_file, reseal
from benchmarks.attacks.worker import FIRST_SECONDS, Worker

import semascope as ss
from semascope.errors import FormatError
from semascope.storage import Layout, open_directory, writing
from semascope.storage.facts import Flag, Items, ListOf, Maybe, MaybeEmpty, Never, Number, Record, Text, Whole
from semascope.storage.layout import (
    ANY,
    Array,
    AxisOf,
    Column,
    InFacts,
    Table,
    flags,
    indices,
    numbers,
    pointers,
    probabilities,
)
from semascope.streaming.model_folder import open_own

ROWS = Layout(
    "rows",
    1,
    facts=Record({"n": Whole(), "total": Number(0)}),
    dimensions={"n_rows": AxisOf("ends"), "n_columns": InFacts(("n",)), "n_entries": AxisOf("columns")},
    arrays={
        "ends": Array(("int64",), (ANY,), low=0, high="n_entries", pointers=True),
        "columns": indices("n_entries", "n_columns", rows="ends"),
        "counts": Array(("float32",), ("n_entries",), low=0, total="total"),
        "mask": flags(ANY),
        "shares": probabilities("n_columns", 2, may_be_empty=True),
    },
    tables={"names": Table("n_columns", {"name": Column(), "note": Column(("plain",), nullable=True, required=False)})},
)
GOOD = {
    "ends": np.array([0, 2, 2, 5]),
    "columns": np.array([0, 3, 0, 1, 3], np.int32),
    "counts": np.array([1, 2, 1, 1, 5], np.float32),
    "mask": np.array([True, False]),
    "shares": np.full((4, 2), 0.5),
}


def written(path, arrays=None, facts=None, names=("a", "b", "c", "d")):
    """Write a directory through the package, then put other arrays in place of its own."""
    with writing(path, ROWS) as draft:
        for name, values in {**GOOD, **(arrays or {})}.items():
            np.save(draft.folder / f"{name}.npy", values)
        draft.table("names", names if isinstance(names, pl.DataFrame) else pl.DataFrame({"name": names}))
        draft.facts.update({"n": 4, "total": 10.0} | (facts or {}))
    return path


def refusal(path, name, layout=ROWS):
    with pytest.raises(FormatError) as caught:
        directory = open_directory(path, layout)
        directory.table(name) if name in layout.tables else directory.array(name)
    sentence = str(caught.value)
    assert str(path) in sentence
    assert "\n" not in sentence
    return sentence


def test_what_is_as_declared_is_read(tmp_path):
    directory = open_directory(written(tmp_path / "d"), ROWS)
    for name, values in GOOD.items():
        np.testing.assert_array_equal(directory.array(name), values)
    assert directory.table("names")["name"].to_list() == ["a", "b", "c", "d"]


def test_what_is_not_declared_can_be_neither_read_nor_written(tmp_path):
    path = written(tmp_path / "d", {"other": np.arange(3)})
    assert "has no array 'other'" in refusal(path, "other")
    with pytest.raises(ValueError, match="declares no array 'other'"), writing(tmp_path / "e", ROWS) as draft:
        draft.array("other", np.arange(3))
    with pytest.raises(ValueError, match="declares no array 'ends' of type float64"), writing(tmp_path / "e", ROWS) as draft:
        draft.array("ends", np.arange(3.0))


WRONG = [
    ("columns", np.array([0, 3, 0, 1, 4], np.int32), "expected no entry above 3, found 4"),
    ("columns", np.array([0, -3, 0, 1, 3], np.int32), "expected no entry below 0, found -3"),
    ("columns", np.array([3, 0, 0, 1, 3], np.int32), "ascend within each row"),
    ("columns", np.array([0, 3, 1, 1, 3], np.int32), "ascend within each row"),
    ("columns", np.array([0, 3, 0, 1, 3], np.int64), "expected numbers of type int32, found <i8"),
    ("columns", np.array([0, 3, 0, 1, 3], ">i4"), "expected an array of numbers"),
    ("columns", np.array([[0, 3, 0, 1, 3]], np.int32), "expected"),
    ("ends", np.array([0, 3, 2, 5]), "expected entries that ascend"),
    ("ends", np.array([1, 2, 2, 5]), "expected 0 as the first entry, found 1"),
    ("ends", np.array([0, 2, 2, 4]), "expected 5 as the last entry, found 4"),
    ("ends", np.array([0, 2, 2, 2**62]), "expected no entry above 5"),
    ("counts", np.array([1, 2, 1, 1, np.nan], np.float32), "expected finite numbers"),
    ("counts", np.array([1, 2, 1, 1, np.inf], np.float32), "expected finite numbers"),
    ("counts", np.array([1, 2, 1, 1], np.float32), "expected an array of shape (5), found (4)"),
    ("counts", np.array([1, 2, 1, 1, 6], np.float32), "add up to 10.0, found a sum of 11.0"),
    ("counts", np.array([1, 2, 1, 1, 4], np.float32), "add up to 10.0, found a sum of 9.0"),
    ("mask", np.array([1, 7], np.uint8).view(bool), "expected no entry above 1, found 7"),
    ("shares", np.full((3, 2), 0.5), "expected an array of shape (4, 2), found (3, 2)"),
    ("shares", np.full((4, 2), 1.5), "expected no entry above 1.001"),
    ("shares", np.float64(0.5), "expected an array of shape (4, 2), found ()"),
    ("shares", np.array([["a", "b"]] * 4), "expected an array of numbers"),
]


@pytest.mark.parametrize(
    ("name", "values", "sentence"), WRONG, ids=[f"{name}-{number}" for number, (name, *_) in enumerate(WRONG)]
)
def test_entries_shapes_and_types_are_validated_before_anyone_sees_them(tmp_path, name, values, sentence):
    path = written(tmp_path / "d", {name: values})
    assert sentence in refusal(path, name)
    directory = open_directory(path, ROWS)
    for _ in range(2):  # also when it is asked for again
        with pytest.raises(FormatError):
            directory.array(name)


def test_every_block_of_a_large_array_is_validated_when_it_is_touched(tmp_path):
    n = 1 << 20
    layout = Layout("large", 1, arrays={"ends": pointers("n", "m")}, dimensions={"n": AxisOf("rows"), "m": AxisOf("values")})
    layout = layout.also(arrays={"rows": numbers(ANY), "values": numbers(ANY, dtypes=("int64",))})
    ends = np.arange(n + 1)
    for place in ((1 << 17) - 16, 1 << 17, 3 * (1 << 17) - 16, n - 1):  # a header is worth sixteen entries
        wrong = ends.copy()
        wrong[place] = wrong[place - 1] - 1  # within a block, and at the borders of two
        with writing(tmp_path / f"{place}", layout) as draft:
            draft.array("ends", wrong)
            draft.array("rows", np.zeros(n))
            draft.array("values", ends[:-1])
        directory = open_directory(tmp_path / f"{place}", layout)
        np.testing.assert_array_equal(directory.array("ends", 0, 1000), ends[:1000])
        with pytest.raises(FormatError, match="ascend"):
            directory.array("ends", place - 5, place + 5)


def arrow_bytes(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytearray(sink.getvalue().to_pybytes())


def swapped_offsets():
    content = arrow_bytes(pa.table({"name": pa.array(["first", "second", "third", "fourth"])}))
    at = content.find(struct.pack("<5i", 0, 5, 11, 16, 22))
    content[at + 4 : at + 8] = struct.pack("<i", 1 << 30)
    return content


def broken_text():
    content = arrow_bytes(pa.table({"name": pa.array(["first", "second", "third", "fourth"])}))
    content[content.find(b"first")] = 0xFF
    return content


TABLES = {
    "offsets that lead elsewhere": (swapped_offsets, "cannot be read"),
    "text that is none": (broken_text, "cannot be read"),
    "no table": (lambda: b"not Arrow at all", "cannot be read"),
    "nothing": (lambda: b"", "cannot be read"),
    "another column": (lambda: arrow_bytes(pa.table({"nome": ["a"] * 4})), "expected a column 'name', found none"),
    "numbers": (lambda: arrow_bytes(pa.table({"name": [1, 2, 3, 4]})), "expected string, found int64"),
    "nulls": (lambda: arrow_bytes(pa.table({"name": ["a", None, "c", "d"]})), "expected no missing entries"),
    "too few rows": (lambda: arrow_bytes(pa.table({"name": ["a"]})), "expected 4 rows, found 1"),
    "codes": (
        lambda: arrow_bytes(pa.table({"name": pa.array(list("abab")).dictionary_encode()})),
        "expected string, found dictionary",
    ),
    "a strange column": (lambda: arrow_bytes(pa.table({"name": list("abcd"), "x": [b"1"] * 4})), "found another, 'x'"),
    "bytes": (lambda: arrow_bytes(pa.table({"name": list("abcd"), "note": [b"1"] * 4})), "found binary"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_are_validated_in_full_before_they_are_read(tmp_path, kind):
    path = written(tmp_path / "d")
    make, sentence = TABLES[kind]
    replace_file(path, "names.arrow", bytes(make()))
    assert sentence in refusal(path, "names")


HEADERS = {
    "a version that nobody knows": (b"\x93NUMPY\x09\x09", slice(0, 8)),
    "a length that lies": (b"\xff\xff", slice(8, 10)),
    "brackets": (b"{" * 100, slice(10, 110)),
    "a shape that is larger than the file": (b"(9999999999999999999,), }", None),
    "a shape below zero": (b"(-5,), }", None),
}


@pytest.mark.parametrize("kind", HEADERS)
def test_headers_are_read_by_a_pattern_and_must_tell_the_truth(tmp_path, kind):
    path = written(tmp_path / "d")
    file = next(path.glob("data-*/columns.npy"))
    content, (patch, place) = bytearray(file.read_bytes()), HEADERS[kind]
    if place is None:
        start = content.index(b"(5,), }")
        place = slice(start, start + len(patch))
    content[place] = patch
    replace_file(path, file.name, bytes(content))
    assert "columns.npy: " in refusal(path, "columns")


@pytest.mark.parametrize("what", ["fifo", "directory", "gone"])
def test_files_that_are_none_are_refused_at_once(tmp_path, what):
    path = written(tmp_path / "d")
    file = next(path.glob("data-*/columns.npy"))
    file.unlink()
    if what == "fifo":
        os.mkfifo(file)
    elif what == "directory":
        file.mkdir()
    with pytest.raises(FormatError, match=r"columns\.npy: (is missing|expected)"):
        open_directory(path, ROWS)


MANIFESTS = {
    "null": b"null",
    "brackets": b"[" * 100_000,
    "deep": b'{"format": "semascope rows", "version": 1, "checksum": 1, "x": ' + b"[" * 900 + b"]" * 900 + b"}",
    "digits": b'{"format": "semascope rows", "version": ' + b"9" * 5000 + b"}",
    "no version": b'{"format": "semascope rows"}',
    "half a character": b'{"format": "semascope rows", "version": 1, "checksum": 0, "x": "\\ud800"}',
    "not text": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("kind", MANIFESTS)
def test_manifests_of_any_bytes_are_answered_with_one_sentence(tmp_path, kind):
    path = written(tmp_path / "d")
    (path / "manifest.json").write_bytes(MANIFESTS[kind])
    assert "manifest.json" in refusal(path, "ends")


FACTS = [
    (Whole(1, 5), [1, 5], [0, 6, True, 2.0, "3", None, 10**400]),
    (Number(0, 1), [0, 0.5, 1], [-0.1, float("nan"), float("inf"), True, "0.5", None, 10**400]),
    (Number(finite=False), [float("-inf"), 3], ["3", None]),
    (Text(), ["", "a"], [None, 1, ["a"]]),
    (Text(("a", "b")), ["a"], ["c", 1]),
    (Flag(), [True, False], [0, 1, None, "true"]),
    (Maybe(Whole()), [None, 0], ["x", -1]),
    (MaybeEmpty(Record({"a": Whole()})), [{}, {"a": 1}], [{"b": 1}, [], None, 0]),
    (ListOf(Whole(), 1, 2), [[1], [1, 2]], [[], [1, 2, 3], ["a"], {}, None]),
    (ListOf(Text(), distinct=True), [[], ["a", "b"]], [["a", "a"]]),
    (Items(Whole(), Text()), [[1, "a"]], [[1], ["a", 1], [1, "a", 2], None]),
    (Record({"a": Whole()}, {"b": Text()}), [{"a": 1}, {"a": 1, "b": "x", "c": None}], [{}, {"a": None}, {"a": 1, "b": 2}, []]),
    (Record(others=Never()), [{}], [{"a": 1}]),
]  # fmt: skip


@pytest.mark.parametrize(("fact", "good", "bad"), FACTS, ids=[type(fact).__name__ for fact, *_ in FACTS])
def test_facts_are_what_they_are_declared_to_be(fact, good, bad):
    for value in good:
        assert fact.problem(value, "facts") is None
    for value in bad:
        assert len(fact.problem(value, "facts")) < 300


def test_a_model_takes_no_attributes_or_engines_from_its_manifest(tmp_path):
    ss.PLSA(2, random_state=0).fit(["cats purr", "dogs bark", "cats", "dogs"]).save(tmp_path / "m")
    reseal(tmp_path / "m", lambda manifest: manifest["facts"]["fitted"].update(transform="owned", components_=[[1]]))
    assert callable(ss.load(tmp_path / "m").transform)
    reseal(tmp_path / "m", lambda manifest: manifest["facts"]["settings"].update(engine="owned"))
    with pytest.raises(FormatError, match=r"manifest\.json: facts\.settings: an engine"):
        ss.load(tmp_path / "m")


MODELS = {
    "singular_values": lambda: ss.LSA(2, random_state=0),
    "topic_sizes": lambda: ss.LDA(2, inference="vb", max_iter=2, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_numbers_whose_products_would_overflow_are_refused(tmp_path, name):
    MODELS[name]().fit(["cats purr", "dogs bark", "cats sleep", "dogs sleep"]).save(tmp_path / "m")
    values = arrays_of(tmp_path / "m")[name]
    content = io.BytesIO()
    np.save(content, np.full_like(values, np.finfo(values.dtype).max))
    replace_file(tmp_path / "m", f"{name}.npy", content.getvalue())
    with pytest.raises(FormatError, match=name):
        ss.load(tmp_path / "m")


WITH_SIZES = {
    "cvb0": lambda: ss.LDA(2, max_iter=2, random_state=0).fit(["cats purr", "dogs bark", "cats sleep"]),
    "vb": lambda: ss.LDA(2, inference="vb", max_iter=2, random_state=0).fit(["cats purr", "dogs bark", "cats sleep"]),
    "languages": lambda: ss.PolylingualLDA(2, max_iter=2, random_state=0).fit([{"en": "cat dog", "de": "katze hund"}] * 3),
}


@pytest.mark.parametrize("name", WITH_SIZES)
def test_topics_that_are_not_as_large_as_they_state_are_refused(tmp_path, name):
    WITH_SIZES[name]().save(tmp_path / "m")
    ss.load(tmp_path / "m")
    topics = arrays_of(tmp_path / "m")["topics"].copy()
    topics[0, 1] += 0.01
    topics[-1, 1] -= 0.01 * (name == "languages")  # the sum over all words stays, those of each language do not
    content = io.BytesIO()
    np.save(content, topics)
    replace_file(tmp_path / "m", "topics.npy", content.getvalue())
    with pytest.raises(FormatError, match=r"manifest\.json: the word probabilities of each topic do not sum to one"):
        ss.load(tmp_path / "m")


def test_an_index_without_the_model_of_its_vectors_is_refused(tmp_path):
    corpus = ss.Corpus.from_texts(["cats purr", "dogs bark", "cats sleep", "dogs sleep"])
    ss.Index.build(corpus, ss.PLSA(2, random_state=0).fit(corpus), path=tmp_path / "i")
    reseal(tmp_path / "i", lambda manifest: manifest["facts"]["models"].pop())
    with pytest.raises(FormatError, match="vectors of a model that the index does not have"):
        ss.Index.open(tmp_path / "i")


def test_a_stream_notes_all_that_it_needs_to_go_on_or_nothing(tmp_path):
    ss.OnlineLabeledLDA(2, random_state=0).partial_fit(["cats purr"], [["pets"]]).save(tmp_path / "m")
    reseal(tmp_path / "m", lambda manifest: manifest["facts"]["fitted"].update(stream_={"record": 1}))
    with pytest.raises(FormatError, match=r"stream_: has no 'lines'"):
        ss.load(tmp_path / "m")


def test_nothing_is_written_through_a_link_in_the_folder_of_a_stream(tmp_path):
    (tmp_path / "thesis").write_text("years of work")
    (tmp_path / "lock").symlink_to(tmp_path / "thesis")
    with pytest.raises(FormatError, match="is a link"):
        open_own(tmp_path / "lock", "a+")
    assert (tmp_path / "thesis").read_text() == "years of work"


def test_a_sample_of_hostile_directories_is_refused_or_equals_the_slow_twins(tmp_path):
    worker = Worker(tmp_path)
    try:
        for case in hostile.sample(20, seed=1, home=tmp_path / "made"):
            outcome = worker.ask(case, FIRST_SECONDS)
            assert not outcome.failed, f"{case.name}: {outcome.kind} in {outcome.step}: {outcome.detail}"
    finally:
        worker.close()
    assert not list(Path(tmp_path).glob("**/exploded"))
