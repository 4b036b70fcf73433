"""Directories are written whole or not at all, and refused when they are not what they should be."""

import json
import mmap
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import directories
import semascope as ss
from directories import NEW, OLD, THING, holds, read, write
from semascope.errors import FormatError
from semascope.storage import Layout, is_directory_of, open_directory, writing
from semascope.storage.layout import ANY, numbers


def data_file(path, name):
    return next(path.glob(f"data-*/{name}"))


def test_what_is_written_is_read(tmp_path):
    write(tmp_path / "d", OLD)
    assert holds(tmp_path / "d", OLD)
    assert is_directory_of(tmp_path / "d") == "thing"
    assert_array_equal(open_directory(tmp_path / "d", THING).array("x", 10, 20), np.arange(10, 20))


def owner_of(array):
    while isinstance(array, np.ndarray | memoryview):
        array = array.base if isinstance(array, np.ndarray) else array.obj
    return array


def test_arrays_are_memory_mapped_and_cannot_be_written_to(tmp_path):
    write(tmp_path / "d", OLD)
    array = read(tmp_path / "d")["x"]
    assert isinstance(owner_of(array), mmap.mmap)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_an_opened_directory_is_pickled_as_little(tmp_path):
    write(tmp_path / "d", OLD)
    directory = open_directory(tmp_path / "d", THING)
    before = len(pickle.dumps(directory))
    directory.array("x")
    assert len(pickle.dumps(directory)) == before
    assert_array_equal(pickle.loads(pickle.dumps(directory)).array("x"), OLD["x"])


def test_a_new_version_takes_the_place_of_the_old_one_and_leaves_nothing_behind(tmp_path):
    write(tmp_path / "d", OLD)
    write(tmp_path / "d", NEW)
    assert holds(tmp_path / "d", NEW)
    assert len(list((tmp_path / "d").iterdir())) == 2
    (tmp_path / "d" / "data-of-mine").mkdir()
    write(tmp_path / "d", OLD)
    assert (tmp_path / "d" / "data-of-mine").is_dir()


@pytest.mark.parametrize("operation", ["fsync", "replace", "open"])
@pytest.mark.parametrize("moment", range(6))
def test_an_error_at_any_moment_of_writing_leaves_the_old_version_or_the_new_one(tmp_path, monkeypatch, operation, moment):
    write(tmp_path / "d", OLD)
    calls = iter(range(1000))
    home, real = (Path, Path.replace) if operation == "replace" else (os, getattr(os, operation))

    def fail(*args, **kwargs):
        if next(calls) == moment:
            raise OSError(28, "No space left on device")
        return real(*args, **kwargs)

    with monkeypatch.context() as patched, suppress(OSError):
        patched.setattr(home, operation, fail)
        write(tmp_path / "d", NEW)
    assert holds(tmp_path / "d", OLD) or holds(tmp_path / "d", NEW)


def test_an_error_in_the_first_writing_leaves_no_directory(tmp_path):
    with pytest.raises(RuntimeError), writing(tmp_path / "d", THING) as draft:
        draft.array("x", np.arange(3))
        raise RuntimeError
    assert not (tmp_path / "d").exists()


CRASHING = """
import sys; sys.path.insert(0, sys.argv[2])
from pathlib import Path
from directories import NEW, OLD, write
print("ready", flush=True)
while True:
    write(Path(sys.argv[1]), NEW)
    write(Path(sys.argv[1]), OLD)
"""


def test_a_process_killed_while_saving_leaves_the_old_version_or_the_new_one(tmp_path):
    write(tmp_path / "d", OLD)
    chance = random.Random(1)
    command = [sys.executable, "-c", CRASHING, str(tmp_path / "d"), str(Path(directories.__file__).parent)]
    for _ in range(6):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            timer = threading.Timer(chance.uniform(0.01, 0.3), process.kill)
            timer.start()
            process.wait()
        assert process.returncode == -signal.SIGKILL
        assert holds(tmp_path / "d", OLD) or holds(tmp_path / "d", NEW)
    write(tmp_path / "d", NEW)
    assert len(list((tmp_path / "d").iterdir())) == 2  # what the crashes left is cleared away


def refusal(path, layout=THING):
    with pytest.raises(FormatError) as caught:
        read(path) if layout is THING else open_directory(path, layout)
    sentence = str(caught.value)
    assert str(path) in sentence
    assert "\n" not in sentence
    return sentence


def test_a_truncated_file_is_refused_by_name(tmp_path):
    write(tmp_path / "d", OLD)
    file = data_file(tmp_path / "d", "x.npy")
    file.write_bytes(file.read_bytes()[:-8])
    assert "x.npy: expected 8,128 bytes, found 8,120" in refusal(tmp_path / "d")


def test_an_altered_byte_is_refused_by_name(tmp_path):
    write(tmp_path / "d", OLD)
    for position in (0, 100, 4000, -1):
        file = data_file(tmp_path / "d", "x.npy")
        content = bytearray(file.read_bytes())
        content[position] ^= 1
        file.write_bytes(content)
        assert "x.npy: was altered" in refusal(tmp_path / "d")
        content[position] ^= 1
        file.write_bytes(content)
    assert holds(tmp_path / "d", OLD)


def test_only_the_blocks_that_are_used_are_checked(tmp_path):
    write(tmp_path / "d", {"x": np.zeros(1 << 19)})
    file = data_file(tmp_path / "d", "x.npy")
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    directory = open_directory(tmp_path / "d", THING)
    assert directory.array("x", 0, 1000).sum() == 0
    with pytest.raises(FormatError, match="was altered"):
        directory.array("x", (1 << 19) - 10)


def test_a_missing_file_is_refused_by_name(tmp_path):
    write(tmp_path / "d", OLD)
    data_file(tmp_path / "d", "y.npy").unlink()
    assert "y.npy: is missing" in refusal(tmp_path / "d")


def test_an_altered_manifest_is_refused(tmp_path):
    write(tmp_path / "d", OLD)
    manifest = tmp_path / "d" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"names"', '"nomes"'))
    assert "manifest.json: was altered" in refusal(tmp_path / "d")
    manifest.write_text("{ not json")
    assert "not JSON" in refusal(tmp_path / "d")


@pytest.mark.parametrize("name", ["../outside.npy", "/etc/passwd", "..", ".hidden"])
def test_names_that_lead_out_of_the_directory_are_refused(tmp_path, name):
    write(tmp_path / "d", OLD)
    manifest = tmp_path / "d" / "manifest.json"
    from semascope.storage.manifest import _checksum

    body = json.loads(manifest.read_text())
    body["files"][name] = body["files"].pop("x.npy")
    del body["checksum"]
    manifest.write_text(json.dumps({**body, "checksum": _checksum(body)}))
    assert "expected plain file names" in refusal(tmp_path / "d")


def test_other_directories_are_refused(tmp_path):
    write(tmp_path / "d", OLD)
    assert "expected a semascope corpus (version 1), found a semascope thing" in refusal(tmp_path / "d", Layout("corpus", 1))
    assert "there is no such directory" in refusal(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    assert "this is a file" in refusal(tmp_path / "file")
    (tmp_path / "foreign").mkdir()
    assert "no manifest.json" in refusal(tmp_path / "foreign")
    (tmp_path / "foreign" / "manifest.json").write_text('{"name": "a browser extension"}')
    assert "another program" in refusal(tmp_path / "foreign")


def test_a_newer_version_is_refused_with_advice(tmp_path):
    with writing(tmp_path / "d", Layout("thing", 2)):
        pass
    assert "a newer semascope wrote it" in refusal(tmp_path / "d")


def test_nothing_else_is_ever_overwritten(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.txt").write_text("years of work")
    with pytest.raises(FormatError, match="will not write"):
        write(tmp_path / "thesis", OLD)
    (tmp_path / "file").write_text("x")
    with pytest.raises(FormatError, match="over a file"):
        write(tmp_path / "file", OLD)
    (tmp_path / "mine" / "data-2020").mkdir(parents=True)  # our own names have more to them than this
    with pytest.raises(FormatError, match="will not write"):
        write(tmp_path / "mine", OLD)
    with writing(tmp_path / "d", Layout("other", 1)):
        pass
    with pytest.raises(FormatError, match="will not write"):
        write(tmp_path / "d", OLD)


class Bomb:
    """Pickled, it would run code when loaded."""

    def __reduce__(self):
        return os.mkdir, ("exploded",)


def test_loading_never_runs_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with writing("d", Layout("model", 1)) as draft:
        np.save(draft.folder / "topics.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
        (draft.folder / "notes.npy").write_bytes(pickle.dumps(Bomb()))
        draft.facts.update(model="PLSA", settings={}, analyzer=None, fitted={})
    with pytest.raises((FormatError, ValueError)):
        ss.load("d")
    with pytest.raises((FormatError, ValueError)):
        open_directory("d", Layout("model", 1, arrays={"notes": numbers(ANY)})).array("notes")
    assert not Path("exploded").exists()


ARCHIVES = sorted((Path(__file__).parent / "archives").iterdir())


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name)
def test_archives_of_every_version_stay_readable(archive):
    corpus = ss.Corpus.open(archive / "corpus")
    assert corpus.ids.to_list() == ["a", "b", "c"]
    assert corpus.labels.to_list() == [["animals"], ["animals", "pets"], []]
    assert corpus.texts[0] == "The cat sees the dog."
    assert sorted(corpus.vocabulary) == ["bird", "cat", "dog", "sees"]
    assert corpus.counts.sum() == 7
    model = ss.load(archive / "model")
    assert model.n_components == 2
    assert model.transform(corpus).shape == model.doc_topics_.shape == (3, 2)
    assert len(model.top_words(2)) == 2
    assert model.analyzer_ == corpus.analyzer
    assert model.topic_names_ == ["topic 0", "topic 1"]
    assert model.merge_topics([0, 1], name="animals").transform(corpus).tolist() == [[1.0]] * 3


@pytest.mark.parametrize("archive", [path for path in ARCHIVES if path.name != "v1"], ids=lambda path: path.name)
def test_archives_of_indexes_stay_readable(archive):
    index = ss.Index.open(archive / "index")
    assert index.ids.to_list() == ["a", "b", None, "d"]
    assert [hit.id for hit in index.search("bird", by="bm25")] == ["b", "d"]
    for by in ("bm25", "cosine", "lsa", "kl", "lda", "fisher", "hybrid"):
        assert {hit.id for hit in index.search("a cat and a dog", by=by)} == {"a", "b", "d"}
    assert index.search("cat", k=1, where={"label": "pets"})[0].snippet.text == "The dog sees the bird."


@pytest.mark.parametrize("archive", [path for path in ARCHIVES if path.name != "v1"], ids=lambda path: path.name)
def test_archives_of_models_of_labels_stay_readable(archive):
    corpus = ss.Corpus.open(archive / "corpus")
    model = ss.load(archive / "labeled-model")
    assert model.topic_names_ == ["animals", "pets", "background 1"]
    assert model.predict(corpus)[0]
    assert model.perplexity(corpus) < 10
    online = ss.load(archive / "online-model").partial_fit("The horse sees the cat.", ["animals", "farm"])
    assert online.label_names_ == ["animals", "pets", "farm"]
    assert online.vocabulary_[-1] == "horse"
    assert online.n_documents_seen_ == 4


@pytest.mark.parametrize("archive", [path for path in ARCHIVES if path.name != "v1"], ids=lambda path: path.name)
def test_archives_of_several_languages_stay_readable(archive):
    corpus = ss.Corpus.open(archive / "polylingual-corpus")
    assert corpus.languages == ("en", "de")
    assert corpus.vocabulary.tolist() == ["is", "over", "war", "da", "war", "hund", "katze"]
    assert corpus.word_languages.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert corpus.texts.to_list()[1] == {"en": None, "de": "Die Katze war da."}
    assert corpus.analyzer["de"] == ss.Analyzer(stop_words=["der", "die"])
    model = ss.load(archive / "polylingual-model")
    assert model.analyzer_ == corpus.analyzer
    assert model.transform(corpus.in_language("de")).shape == (2, 2)
    assert model.transform([{"de": "Der Hund"}]).shape == (1, 2)
