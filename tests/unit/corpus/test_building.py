"""A corpus that is written block by block is the one that is made in memory."""

import json
import os
import platform
import subprocess
import sys
from functools import partial

import numpy as np
import polars as pl
import pytest

from helpers import large_counts
from semascope import PLSA, Analyzer, Corpus, ThreadEngine, read, read_counts, workflow
from semascope import resources as machine
from semascope.corpus.build.counters import LanguageCounter
from semascope.corpus.build.pipeline import MemorySink, blocks_of, build_corpus
from semascope.corpus.build.spool import Piece, PieceFiles
from semascope.corpus.readers import files
from semascope.engines.shard_store import FOLDER, spill_folder
from semascope.errors import InputError, SourceError
from semascope.storage import GrowingArray, GrowingTable, open_table

ANALYZERS = {
    "default": Analyzer(),
    "limits": Analyzer(min_df=2, max_df=0.9, max_features=40),
    "stop words and stems": Analyzer(stop_words="english", stemmer="english", min_df=2),
    "n-grams": Analyzer(ngrams=(1, 3), stop_words=["word3"], max_features=300),
    "a pattern": Analyzer(token_pattern=r"\w\w+5"),
}


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Documents in several blocks, some without an id, some empty, with a title that only the last block has."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(files, "BLOCK_BYTES", 4000)
    records = []
    for number in range(300):
        words = [f"word{w}" for w in rng.zipf(1.5, 40) if w < 500]
        records.append({"text": " ".join(words), "labels": ["a"] if number % 3 else []})
        if number % 2:
            records[-1]["id"] = f"document {number}"
    records[7]["text"] = ""
    records[-1]["title"] = "the last"
    path = tmp_path / "source.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert len(list(read(path))) > 5
    return path


@pytest.mark.parametrize("analyzer", ANALYZERS.values(), ids=ANALYZERS)
def test_a_corpus_built_on_disk_is_the_one_built_in_memory(source, analyzer, tmp_path):
    in_memory, on_disk = Corpus.build(read(source), analyzer), Corpus.build(read(source), analyzer, path=tmp_path / "corpus")
    assert on_disk.path == tmp_path / "corpus"
    assert on_disk.fingerprint == in_memory.fingerprint
    assert on_disk.words.to_list() == in_memory.words.to_list()
    assert on_disk.documents.equals(in_memory.documents)
    assert on_disk.analyzer == in_memory.analyzer
    assert on_disk.n_tokens == in_memory.n_tokens
    assert (on_disk.counts != in_memory.counts).nnz == 0


@pytest.mark.parametrize(
    "analyzer", [None, Analyzer(min_df=20), Analyzer(stop_words=["x3", "x7"]), Analyzer(max_features=15)], ids=str
)
def test_counts_built_on_disk_are_those_built_in_memory(analyzer, tmp_path):
    counts = large_counts(n_documents=100, n_words=60)
    rows, columns = np.nonzero(counts)
    frame = pl.DataFrame({"row": rows, "column": [f"x{c}" for c in columns], "count": counts[rows, columns]})
    in_memory, on_disk = (Corpus.build(read_counts(frame), analyzer, path=path) for path in (None, tmp_path / "corpus"))
    assert on_disk.fingerprint == in_memory.fingerprint
    assert on_disk.n_words == {None: 60}.get(analyzer, on_disk.n_words)
    kept = [int(word[1:]) for word in in_memory.words]
    assert np.array_equal(in_memory.counts.toarray(), counts[counts.sum(axis=1) > 0][:, kept])


def test_counts_cannot_be_put_together_to_ngrams():
    frame = pl.DataFrame({"row": ["a"], "column": ["x"], "count": [1]})
    with pytest.raises(SourceError, match=r"^the frame: n-grams need texts, but these are counts\.$"):
        Corpus.build(read_counts(frame), Analyzer(ngrams=(1, 2)))


def test_counts_that_are_all_zero_are_refused():
    with pytest.raises(SourceError, match=r"^the frame: all counts are zero\.$"):
        Corpus.build(read_counts(pl.DataFrame({"row": ["a"], "column": ["x"], "count": [0]})))


def test_a_word_with_a_blank_and_a_run_that_is_spelled_alike_are_one():
    analyzer = Analyzer(ngrams=(1, 2), min_length=1)
    corpus = Corpus.from_tokens([["new york", "new", "york"]] * 2, analyzer=analyzer)
    assert sorted(corpus.vocabulary) == ["new", "new york", "new york new", "york"]
    assert corpus.counts[0, corpus.vocabulary.tolist().index("new york")] == 2


def test_saving_a_corpus_of_blocks_again_changes_nothing(source, tmp_path):
    on_disk = Corpus.build(read(source), path=tmp_path / "corpus")
    on_disk.save(tmp_path / "again")
    again = Corpus.open(tmp_path / "again")
    assert again.fingerprint == on_disk.fingerprint
    assert again.documents.equals(on_disk.documents)


@pytest.mark.parametrize("in_memory", [True, False])
def test_an_id_that_stands_twice_is_named_wherever_it_stands(source, in_memory, tmp_path):
    with source.open("a") as file:
        file.write('{"id": "document 5", "text": "once more"}\n')
    with pytest.raises(SourceError, match="the id 'document 5' appears twice, at documents 6 and 301: ids must be unique"):
        Corpus.build(read(source), path=None if in_memory else tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


def test_a_build_that_fails_leaves_the_corpus_that_was_there(source, tmp_path):
    before = Corpus.build(read(source), path=tmp_path / "corpus").fingerprint
    with source.open("a") as file:
        file.write("no JSON\n")
    with pytest.raises(SourceError, match="line 301"):
        Corpus.build(read(source), path=tmp_path / "corpus")
    assert Corpus.open(tmp_path / "corpus").fingerprint == before
    assert len(list((tmp_path / "corpus").iterdir())) == 2


def test_nothing_is_written_when_no_words_are_left(source, tmp_path):
    with pytest.raises(SourceError, match="no words of the 300 documents are left with"):
        Corpus.build(read(source), Analyzer(min_df=1000), path=tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


def test_a_corpus_on_disk_takes_no_other_vocabulary(source, tmp_path):
    with pytest.raises(InputError, match="give a path or a vocabulary, not both"):
        Corpus.build(read(source), path=tmp_path / "corpus", vocabulary=pl.Series(["word1"]))


@pytest.mark.parametrize("given", ["texts", "a source"])
def test_words_that_a_vocabulary_lacks_join_it_within_the_limits(given):
    texts = [{"en": "cats purr", "de": "Katzen"}, {"en": "dogs purr", "de": "Hunde, Hunde und Katzen"}, {"fr": "chats"}]
    known = Corpus.from_texts([{"de": "Katzen", "en": "cats"}]).lexicon
    make = Corpus.from_texts if given == "texts" else lambda t, **k: Corpus.build(pl.DataFrame({"text": t}), **k)
    corpus = make(texts, analyzer=Analyzer(min_df=2), vocabulary=known, extend=True)
    assert corpus.lexicon.to_frame().rows() == [("katzen", "de"), ("cats", "en"), ("purr", "en")]
    assert corpus.counts.toarray().tolist() == [[1, 1, 1], [1, 0, 1], [0, 0, 0]]
    again = make(texts, analyzer=Analyzer(min_df=2), vocabulary=corpus.lexicon, extend=True)
    assert again.lexicon.equals(corpus.lexicon)


@pytest.mark.parametrize("analyzer", [Analyzer(), Analyzer(ngrams=(1, 2))], ids=["words", "n-grams"])
def test_each_sink_receives_every_document_and_every_row_once(source, analyzer, tmp_path):
    received = {"documents": 0, "rows": 0}

    class Watching(MemorySink):
        def documents(self, frame):
            assert not received["rows"]
            received["documents"] += len(frame)
            super().documents(frame)

        def rows(self, rows):
            received["rows"] += len(rows.ends) - 1
            super().rows(rows)

        def pieces(self):
            self.waiting = super().pieces()
            return self.waiting

        def finish(self, lexicon, analyzers):
            assert not self.waiting  # what waited is let go of before all rows are joined
            super().finish(lexicon, analyzers)

    sink = Watching()
    assert build_corpus(blocks_of(read(source), None, None), partial(LanguageCounter, analyzer), sink, analyzer) is None
    assert received == {"documents": 300, "rows": 300}
    assert Corpus(*sink.contents).fingerprint == Corpus.build(read(source), analyzer, path=tmp_path / "corpus").fingerprint


def test_whoever_watches_is_told_how_many_documents_were_read(source):
    told = []
    Corpus.build(read(source), watch=told.append)
    assert told == sorted(told)
    assert told[-1] == 300


def test_arrays_and_tables_grow_to_what_numpy_and_arrow_would_write(tmp_path):
    parts = [np.arange(n, dtype=np.int32) for n in (3, 0, 100_000)]
    with GrowingArray(tmp_path / "a.npy", np.int32) as array, GrowingTable(tmp_path / "t.arrow") as table:
        for part in parts:
            array.append(part)
            table.append(pl.DataFrame({"n": part, "s": part.astype(str)}))
    np.save(tmp_path / "b.npy", np.concatenate(parts))
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    assert open_table(tmp_path / "t.arrow")["s"].to_list() == np.concatenate(parts).astype(str).tolist()


def test_pieces_in_files_are_gone_through_as_often_as_needed(tmp_path):
    given = [Piece(i, np.arange(i + 1), np.arange(i, dtype=np.int32), np.ones(i, np.float32)) for i in range(4)]
    with PieceFiles(tmp_path) as pieces:
        other = pieces.another()
        for piece in given:
            pieces.append(piece)
        other.append(given[2])
        for _ in range(2):
            for found, want in zip(pieces, given, strict=True):
                assert all(np.array_equal(a, b) for a, b in zip(found, want, strict=True))
        assert len(list(other)) == 1
    assert list(tmp_path.iterdir()) == []


# --- document state in files -----------------------------------------------------------------------------------------------


def test_a_fit_that_spills_gives_the_same_bits_and_leaves_no_files(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    counts = large_counts()
    in_memory, in_files = (
        PLSA(6, max_iter=12, tol=0, random_state=1, engine=ThreadEngine(2, spill=spill)).fit(counts) for spill in (False, True)
    )
    assert in_files.components_.tobytes() == in_memory.components_.tobytes()
    assert in_files.doc_topics_.tobytes() == in_memory.doc_topics_.tobytes()
    assert in_files.transform(counts).tobytes() == in_memory.transform(counts).tobytes()
    assert in_files.perplexity(counts) == in_memory.perplexity(counts)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_has_spilled_is_cleared_by_the_next(tmp_path):
    gone, alive = (tmp_path / f"{FOLDER}{platform.node()}-{number}-abc" for number in (2**30, os.getpid()))
    elsewhere, long_ago = (tmp_path / f"{FOLDER}another-machine-7-{name}" for name in ("abc", "old"))
    for folder in (gone, alive, elsewhere, long_ago):
        folder.mkdir()
    os.utime(long_ago, (0, 0))
    with spill_folder(tmp_path) as folder:
        assert folder.is_dir()
        assert sorted(tmp_path.iterdir()) == sorted([alive, elsewhere, folder])
    assert not folder.exists()
    (tmp_path / f"{FOLDER}another-machine-8-gone").symlink_to("nowhere")  # as when another run has just removed it
    for parent in (tmp_path, tmp_path / "not there yet"):
        with spill_folder(parent) as folder:
            assert folder.is_dir()


def test_documents_are_spilled_when_they_would_take_half_of_the_memory_left(monkeypatch):
    corpus = Corpus.from_matrix(large_counts())
    needed = 12 * corpus.n_documents * 10 + 8 * corpus.counts.nnz
    for left, spill in ((None, False), (2 * needed, False), (2 * needed - 2, True)):
        monkeypatch.setattr(machine, "free_memory", lambda left=left: left)
        assert workflow.should_spill(corpus, 10) is spill


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are read from /proc")
def test_the_memory_left_is_within_the_limit_on_the_process():
    limit = "import resource; resource.setrlimit(resource.RLIMIT_DATA, (600 << 20, 600 << 20))"
    script = f"{limit}\nfrom semascope.resources import free_memory\nprint(free_memory())"
    left = int(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout)
    assert 300 << 20 < left < 600 << 20
    assert machine.free_memory() > 0


def test_n_grams_need_a_range_that_makes_sense():
    for ngrams in ((0, 1), (2, 1), (1,), "2", (1, 2.5)):
        with pytest.raises(InputError, match="ngrams must be a pair of lengths from 1 to 100"):
            Analyzer(ngrams=ngrams)
