"""An index answers wrong questions in a sentence, and is whole on disk whatever happens while it changes."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from semascope import LDA, LSA, PLSA, Corpus, Index
from semascope.errors import FormatError, InputError
from semascope.retrieval.segment_store import INDEX
from semascope.storage import Layout, open_directory, writing

TEXTS = {
    "cats": "cats purr and sleep in the sun",
    "kittens": "kittens are small cats that play and purr",
    "dogs": "dogs bark at night and sleep all day",
    "wolves": "wolves are dogs that never bark",
    "shares": "shares rise when money is cheap",
    "bonds": "bonds fall when shares rise",
    "money": "money buys shares and bonds",
}
LABELS = ["pets", "pets", "pets", None, "money", "money", "money"]
EVERY_KIND = ["bm25", "cosine", "lsa", "kl", "lda", "fisher", "hybrid"]


def corpus():
    return Corpus.from_texts(list(TEXTS.values()), ids=list(TEXTS), labels=LABELS)


@pytest.fixture(scope="module")
def index():
    """An index with topics, for questions only."""
    documents = corpus()
    return Index.build(documents, LDA(2, max_iter=20, random_state=0).fit(documents))


def ids(hits):
    return [hit.id for hit in hits]


# --- questions -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("", "the query is empty; enter some words"),
        (" \n\t", "the query is empty; enter some words"),
        (None, "a query must be a text, but was NoneType"),
        (7, "a query must be a text, but was int"),
        (["cats", 7], "a query must be a text, but was int"),
        (["cats", ""], "the query is empty; enter some words"),
        (b"cats", "a query must be a text, but was int"),
    ],
)
def test_what_is_no_query_is_refused(index, query, sentence):
    with pytest.raises(InputError, match=sentence):
        index.search(query)


@pytest.mark.parametrize("by", EVERY_KIND)
def test_a_query_of_words_that_nobody_knows_finds_nothing(index, by):
    for query in ("zebra", "zebra okapi", "!?", "🙂", "a"):
        assert index.search(query, by=by) == []
    assert index.read(["zebra cats okapi"]).unknown == [["zebra", "okapi"]]


def test_no_queries_have_no_answers_and_one_in_a_list_has_a_list(index):
    assert index.search([]) == []
    (found,) = index.search(["cats"], by="bm25")
    assert found == index.search("cats", by="bm25")


@pytest.mark.parametrize("by", EVERY_KIND)
def test_a_query_longer_than_any_document_finds_what_a_short_one_finds_first(index, by):
    short = "wolves never bark"
    assert index.search(f"{short} " * 300, by=by)[0].id == index.search(short, by=by)[0].id


@pytest.mark.parametrize("by", EVERY_KIND)
def test_where_no_document_is_wanted_none_is_found(index, by):
    assert index.search("cats", by=by, where={"label": "weather"}) == []
    assert index.search("cats", by=by, where=pl.col("id") == "nobody") == []
    assert index.similar("cats", by=by, where={"label": []}) == []


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        ({"color": "red"}, "no field 'color' to filter by; the fields are label, language, id, text, labels"),
        ({"language": "de"}, "there is no language 'de'"),
        ({"id": ("a",)}, "limits must be a pair, of which either may be None, but 'id' has 1"),
        (pl.col("color") == "red", "the filter does not fit the documents: unable to find column"),
        (pl.col("id"), "a filter must be true or false for each document"),
        (pl.col("id").first() == "cats", "a filter must be true or false for each document"),
        ("label", "a filter must be a mapping of field to value or a polars expression, but was str"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(index, where, sentence):
    with pytest.raises(InputError, match=sentence) as problem:
        index.search("cats", where=where)
    assert "\n" not in str(problem.value)


def test_numbers_are_not_compared_with_other_things():
    frame = pl.DataFrame({"text": ["cats", "dogs"], "year": [1999, 2001]})
    index = Index.build(Corpus.build(frame))
    for where in ({"year": ("long ago", None)}, {"year": "long ago"}):
        with pytest.raises(InputError, match="the field holds numbers and cannot be compared with 'long ago'"):
            index.search("cats", where=where)


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", None, True])
def test_at_least_one_document_must_be_asked_for(index, k):
    for ask in (index.search, index.similar):
        with pytest.raises(InputError, match=f"k must be a whole number of at least 1, but was {k!r}"):
            ask("cats", k)


@pytest.mark.parametrize(
    "by",
    [
        "", "BM25", "bm25-x", "bm25-", "cosine-z", "hybrid-lda", "kl-hofmann", "kl-published-published", "lda-z", "lsa-w",
        "fisher-iid-iid", "fisher-iid-hofmann", "fisher-x", "fisher-", "plsa", None, 7,
    ],
)  # fmt: skip
def test_an_unknown_similarity_is_refused_with_those_there_are(index, by):
    with pytest.raises(InputError, match=f"unknown similarity {by!r}: choose one of bm25, cosine, lsa, kl, lda, fisher"):
        index.search("cats", by=by)


def test_details_of_a_kernel_may_stand_in_any_order(index):
    assert index.search("cats", by="fisher-w-dfim-iid") == index.search("cats", by="fisher-iid-dfim-w")
    assert index.search("cats", by="fisher-both-ifim-hofmann") == index.search("cats", by="fisher")


@pytest.mark.parametrize("by", ["kl", "kl-published", "lda", "fisher", "fisher-iid-z"])
def test_topics_are_asked_of_an_index_that_has_them(by):
    with pytest.raises(InputError, match=f"by='{by}' needs topics, but the index has none: build it with a topic model"):
        Index.build(corpus()).search("cats", by=by)


def test_what_is_not_there_is_told(index):
    with pytest.raises(InputError, match="the index has no document 'nobody'"):
        index.similar("nobody")
    with pytest.raises(InputError, match="the index has a single unnamed language; omit language='de'"):
        index.search("cats", language="de")


def test_documents_without_texts_are_found_without_a_passage():
    counts = Corpus.from_matrix(np.eye(3), ["cat", "dog", "bird"], ids=["a", "b", "c"])
    for index in (Index.build(counts), Index.build(Corpus.from_tokens([["cat"], ["dog"], ["bird"]], ids=["a", "b", "c"]))):
        (hit,) = index.search("dog", by="bm25")
        assert (hit.id, hit.snippet) == ("b", None)
        assert "snippet" not in hit.to_dict()


# --- models ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (LSA(1, random_state=0).fit(["one text", "another text"]), "the model knows only 0% of the words of these documents"),
        (
            PLSA(1, random_state=0).fit(["cats purr", "dogs bark", "shares and bonds"]),
            r"the model knows only \d\d% of the words of these documents: it belongs to another corpus",
        ),
        (LDA(2, random_state=0).fit(np.eye(3)), "this model was fitted on a matrix without words"),
        (LSA(2, random_state=0).fit(np.eye(3)), "this model was fitted on a matrix without words"),
        ("lda", "a model to search by must be a topic model or LSA, but was str"),
        (LDA, "a model to search by must be a topic model or LSA"),
    ],
)
def test_a_model_of_something_else_is_refused(model, sentence):
    with pytest.raises(InputError, match=sentence):
        Index.build(corpus(), model)


@pytest.mark.parametrize("model", [LDA(2), LSA(2)])
def test_a_model_that_is_not_fitted_is_refused(model):
    with pytest.raises(NotFittedError):
        Index.build(corpus(), model)


@pytest.mark.parametrize("make", [LDA, PLSA, LSA])
def test_documents_are_folded_into_a_model_of_others_that_knows_most_of_their_words(make):
    others = [f"{one} {other}" for one, other in zip(TEXTS.values(), [*TEXTS.values()][1:], strict=False)]
    model, documents = make(2, random_state=0).fit([*others, "a few more words"]), corpus()
    index = Index.build(documents, model)
    name = "space" if make is LSA else "topics"
    places = model.transform(documents)
    wanted = places / np.linalg.norm(places, axis=1, keepdims=True) if make is LSA else places
    assert_allclose(index._segments[0].vectors[name], wanted, rtol=1e-5)
    assert getattr(index, name) is model


@pytest.mark.parametrize(
    ("documents", "settings", "sentence"),
    [
        (["cats", "dogs"], {}, "expected a Corpus, found list"),
        (corpus(), {"n_dimensions": 0}, "n_dimensions must be a whole number of at least 1, but was 0"),
        (corpus(), {"n_dimensions": 2.0}, "n_dimensions must be a whole number of at least 1, but was 2.0"),
        (corpus().filter([]), {}, "there are no documents to index"),
    ],
)
def test_what_cannot_be_indexed_is_refused(documents, settings, sentence):
    with pytest.raises(InputError, match=sentence):
        Index.build(documents, **settings)


def test_a_small_corpus_has_as_many_dimensions_as_it_can():
    index = Index.build(corpus(), n_dimensions=1000)
    assert index.space.n_components == len(TEXTS)
    assert ids(index.search("purr", k=2, by="lsa")) == ["cats", "kittens"]


# --- changes ---------------------------------------------------------------------------------------------------------------


def growing():
    return Index.build(corpus(), n_dimensions=3)


def texts_of(index):
    """The texts by id, of which each must be found by its own words."""
    found = index.documents([number for number, id in enumerate(index.ids) if id is not None])
    texts = dict(zip(found["id"], found["text"], strict=True))
    hits = index.search(list(texts.values()), k=1, by="cosine", snippets=False)
    assert [hit.id for (hit,) in hits] == list(texts)
    return texts


@pytest.mark.parametrize(
    ("documents", "how", "sentence"),
    [
        (["more about cats"], {"ids": ["cats"]}, "the index already has a document 'cats': choose another id, or replace it"),
        (["one", "two"], {"ids": ["new", "new"]}, "the id 'new' appears twice"),
        (["one", "two"], {"ids": ["new"]}, "there are 2 documents, but 1 ids"),
        ([], {}, "there are no documents"),
        ("cats", {}, "expected several texts; put the one text into a list"),
        ([7], {}, "text 0 is not a string but int"),
        (["!!!", ""], {}, "there are no words in the 2 documents"),
        (corpus(), {}, "the index already has a document 'cats'"),
        (corpus(), {"ids": list("abcdefg")}, "ids can only be given with texts; other documents have their own"),
        (pl.DataFrame({"id": ["a"], "text": ["cats"]}), {"ids": ["b"]}, "ids can only be given with texts"),
        ([{"en": "cats", "de": "katzen"}], {}, "but in the documents to add the languages are en, de"),
    ],
)
def test_what_cannot_be_added_is_refused_and_changes_nothing(documents, how, sentence):
    index = growing()
    with pytest.raises(InputError, match=sentence):
        index.add(documents, **how)
    assert texts_of(index) == TEXTS


def test_documents_are_replaced_by_those_with_their_ids():
    index = growing()
    index.add(["cats chase mice", "mice eat cheese"], ids=["cats", "mice"], replace=True)
    assert texts_of(index) == TEXTS | {"cats": "cats chase mice", "mice": "mice eat cheese"}
    assert ids(index.search("sun", by="bm25")) == []
    index.add(corpus(), replace=True)
    assert texts_of(index) == TEXTS | {"mice": "mice eat cheese"}


def test_texts_without_an_id_are_numbered_on():
    index = growing()
    index.add(["birds sing", "fish swim"])
    index.add(["bees hum"], ids=["9"])
    index.add(["ants walk", "snails creep"])
    assert index.ids.to_list()[7:] == ["7", "8", "9", "10", "11"]


def test_texts_without_any_known_word_are_found_by_their_own(tmp_path):
    documents = corpus()
    index = Index.build(documents, LDA(2, max_iter=20, random_state=0).fit(documents), path=tmp_path / "index")
    index.add(["zebras graze", "okapis hide", ""], ids=["zebras", "okapis", "nothing"])
    for opened in (index, Index.open(tmp_path / "index")):
        assert ids(opened.search("zebras", by="hybrid")) == ["zebras"]
        assert ids(opened.search("okapis zebras", by="bm25")) == ["zebras", "okapis"]
        assert opened.search("zebras", by="lsa") == opened.search("zebras", by="lda") == []
        assert opened.similar("nothing") == []
        assert len(opened.search("cats", k=20, by="lsa")) == 10


def test_all_that_is_to_be_deleted_must_be_there_or_nothing_is():
    index = growing()
    with pytest.raises(InputError, match="the index has no document 'nobody'"):
        index.delete(["cats", "nobody"])
    assert texts_of(index) == TEXTS
    index.delete(["cats", "cats"])
    index.delete("dogs")
    assert texts_of(index) == {id: text for id, text in TEXTS.items() if id not in ("cats", "dogs")}
    assert ids(index.search("cats dogs sleep", by="bm25")) == ["wolves", "kittens"]
    with pytest.raises(InputError, match="the index has no document 'cats'"):
        index.similar("cats")
    index.add([TEXTS["cats"]], ids=["cats"])
    index.delete([])
    assert "cats" in texts_of(index)


def test_an_index_keeps_at_least_one_document():
    index = growing()
    with pytest.raises(InputError, match="an index must keep at least one document"):
        index.delete(TEXTS)
    assert texts_of(index) == TEXTS
    index.delete(list(TEXTS)[1:])
    index.merge()
    assert texts_of(index) == {"cats": TEXTS["cats"]}


# --- on disk ---------------------------------------------------------------------------------------------------------------

MORE = {"mice": "mice eat cheese", "birds": "birds sing at dawn", "fish": "fish swim in the sea"}
CHANGES = {
    "add": lambda index: index.add(["mice eat cheese"], ids=["mice"]),
    "add and merge": lambda index: index.add(list(MORE.values()), ids=list(MORE)),
    "replace": lambda index: index.add(["cats chase mice"], ids=["cats"], replace=True),
    "delete": lambda index: index.delete(["cats", "bonds"]),
    "merge": lambda index: index.merge(),
    "save": lambda index: index.save(index.path),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """An index of two segments, from which a document was deleted."""
    path = tmp_path_factory.mktemp("saved") / "index"
    documents = corpus()
    index = Index.build(documents, LDA(2, max_iter=20, random_state=0).fit(documents), path=path)
    index.add(["ants walk in line"], ids=["ants"])
    index.delete("wolves")
    assert len(index._segments) == 2
    return path


@pytest.fixture
def path(saved, tmp_path):
    """A copy of it that may be changed."""
    shutil.copytree(saved, tmp_path / "index")
    return tmp_path / "index"


def no_strays(path):
    """Tell whether there is nothing but what the index needs."""
    index = Index.open(path)
    needed = {"manifest.json", *index._parts.values(), index._version}
    return {entry.name for entry in path.iterdir()} == needed


def contents(path):
    return texts_of(Index.open(path))


@pytest.mark.parametrize(("home", "name", "step"), [(np, "save", 2), (os, "fsync", 4), (Path, "replace", 1)])
@pytest.mark.parametrize("change", [change for change in CHANGES if change != "replace"])
def test_a_full_disk_leaves_the_index_as_it_was_or_as_it_was_to_be(saved, tmp_path, monkeypatch, change, home, name, step):
    before = contents(saved)
    changed = Index.open(shutil.copytree(saved, tmp_path / "changed"))
    CHANGES[change](changed)
    after = texts_of(changed)
    real, failed = getattr(home, name), 0
    for moment in count(step=step):
        calls, path = iter(range(1000)), tmp_path / str(moment)
        index = Index.open(shutil.copytree(saved, path))

        def fail(*args, calls=calls, moment=moment, **kwargs):
            if next(calls) == moment:
                raise OSError(28, "No space left on device")
            return real(*args, **kwargs)

        with monkeypatch.context() as patched, suppress(OSError):
            patched.setattr(home, name, fail)
            CHANGES[change](index)
            break
        failed += 1
        assert texts_of(index) == before  # and can still be searched
        assert name != "save" or no_strays(path)
        again = Index.open(path)
        assert texts_of(again) == before or (name == "fsync" and texts_of(again) == after)
        again.delete("money")
        assert no_strays(path)
    assert failed >= 1
    assert contents(path) == after
    assert no_strays(path)


def test_after_a_full_disk_the_same_index_can_be_changed_again(path, monkeypatch):
    index = Index.open(path)

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    for change in CHANGES.values():
        with monkeypatch.context() as patched, pytest.raises(OSError, match="No space left"):
            patched.setattr(np, "save", full)
            change(index)
    for change in CHANGES.values():
        with suppress(InputError):  # mice are there by then
            change(index)
    assert contents(path) == texts_of(index)
    assert no_strays(path)


def test_a_full_disk_while_saving_elsewhere_leaves_the_index_where_it_was(path, tmp_path, monkeypatch):
    index = Index.open(path)

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space left"):
        patched.setattr(np, "save", full)
        index.save(tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()
    index.add(["bees hum"], ids=["bees"])
    assert "bees" in contents(path)


@pytest.mark.parametrize("change", CHANGES)
def test_ctrl_c_when_all_is_written_leaves_the_new_index(path, tmp_path, monkeypatch, change):
    changed = Index.open(shutil.copytree(path, tmp_path / "changed"))
    CHANGES[change](changed)
    index, real = Index.open(path), Path.replace

    def pressed(self, target):
        real(self, target)
        if target.parent == path:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "replace", pressed)
        CHANGES[change](index)
    assert contents(path) == texts_of(changed)


ADDING = """
import sys
from pathlib import Path
from semascope import Index
index = Index.open(Path(sys.argv[1]))
while True:
    n = len(index)
    index.add([f"text number{n}"], ids=[str(n)])
    print("added", flush=True)
    if n % 5 == 0:
        index.merge()
"""


def test_a_process_killed_while_adding_leaves_an_index_of_what_was_added_first(tmp_path):
    path, chance, n_before = tmp_path / "index", random.Random(3), 1
    Index.build(Corpus.from_texts(["text number0"], ids=["0"]), path=path)
    for _ in range(2):
        with subprocess.Popen([sys.executable, "-c", ADDING, str(path)], stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"added\n"
            timer = threading.Timer(chance.uniform(0.05, 0.4), process.kill)
            timer.start()
            process.wait()
        assert process.returncode == -signal.SIGKILL
        texts = contents(path)
        assert texts == {str(number): f"text number{number}" for number in range(len(texts))}
        assert len(texts) > n_before
        n_before = len(texts)
    Index.open(path).add(["the last"])
    assert no_strays(path)


def used_in_every_way(path):
    index = Index.open(path)
    for by in EVERY_KIND:
        index.search("cats and money", by=by)
    index.merge()


def test_an_altered_byte_in_any_file_is_refused_by_name(saved, tmp_path):
    files = [file.relative_to(saved) for file in saved.rglob("*") if file.is_file()]
    assert len(files) > 30
    for number, file in enumerate(files):
        path = shutil.copytree(saved, tmp_path / str(number))
        content = bytearray((path / file).read_bytes())
        content[len(content) // 2] ^= 1
        (path / file).write_bytes(content)
        with pytest.raises(FormatError) as problem:
            used_in_every_way(path)
        assert str(path / file) in str(problem.value)
        assert "\n" not in str(problem.value)


def test_a_missing_part_is_refused_by_name(saved, tmp_path):
    parts = [part.name for part in saved.glob("part-*")]
    assert len(parts) == 4  # two segments and two models
    for part in parts:
        path = shutil.copytree(saved, tmp_path / part)
        shutil.rmtree(path / part)
        with pytest.raises(FormatError, match=f"{part}: expected a semascope .*, but there is no such directory"):
            Index.open(path)


def test_an_index_of_a_newer_version_and_other_directories_are_refused(tmp_path):
    with writing(tmp_path / "newer", Layout("index", 2)):
        pass
    with pytest.raises(
        FormatError, match=r"newer: expected a semascope index \(version 1\), found version 2: a newer semascope"
    ):
        Index.open(tmp_path / "newer")
    corpus().save(tmp_path / "corpus")
    with pytest.raises(FormatError, match=r"expected a semascope index .*, found a semascope corpus"):
        Index.open(tmp_path / "corpus")
    with pytest.raises(FormatError, match="there is no such directory"):
        Index.open(tmp_path / "nowhere")


def test_an_index_is_never_saved_over_something_else(path, tmp_path):
    corpus().save(tmp_path / "corpus")
    (tmp_path / "file").write_text("mine")
    index = Index.open(path)
    for place in (tmp_path / "corpus", tmp_path / "file", tmp_path):
        with pytest.raises(FormatError, match="will not write a semascope index over"):
            index.save(place)
    assert Corpus.open(tmp_path / "corpus").ids.to_list() == list(TEXTS)
    index.delete("cats")
    assert "cats" not in contents(path)


def test_indexes_saved_to_other_places_do_not_disturb_each_other(path, tmp_path):
    before = contents(path)
    one, other = Index.open(path), Index.open(path)
    other.save(tmp_path / "other")
    one.add(list(MORE.values()), ids=list(MORE))
    one.merge()
    other.delete("cats")
    assert texts_of(other) == contents(tmp_path / "other") == {id: text for id, text in before.items() if id != "cats"}
    assert texts_of(one) == contents(path) == before | MORE
    shutil.rmtree(path)
    other.merge()
    assert contents(tmp_path / "other").keys() == before.keys() - {"cats"}
    assert no_strays(tmp_path / "other")


def test_an_index_that_others_changed_is_not_changed_from_what_it_was(path):
    one, other = Index.open(path), Index.open(path)
    assert texts_of(one) == texts_of(other)
    one.add(["bees hum"], ids=["bees"])
    for change in CHANGES.values():
        if change is not CHANGES["save"]:
            with pytest.raises(FormatError, match="was changed by another process since it was opened or saved; open it again"):
                change(other)
    assert "bees" in contents(path)
    other.save(path)  # which says that it is to be this one
    assert "bees" not in contents(path)
    assert no_strays(path)


def test_an_index_can_be_saved_again_where_it_was_removed(path):
    index = Index.open(path)
    before = texts_of(index)
    index.save(path.parent / "elsewhere")
    shutil.rmtree(path.parent / "elsewhere")
    index.save(path.parent / "elsewhere")
    assert contents(path.parent / "elsewhere") == before


def test_an_index_is_saved_over_another(path, tmp_path):
    Index.build(Corpus.from_texts(["bees hum"], ids=["bees"]), path=tmp_path / "other")
    index = Index.open(path)
    index.save(tmp_path / "other")
    assert contents(tmp_path / "other") == texts_of(index)
    assert no_strays(tmp_path / "other")


@pytest.mark.parametrize("kind", ["segments", "models"])
def test_an_index_that_names_parts_outside_itself_is_refused(tmp_path, kind):
    Index.build(corpus()).save(tmp_path / "index")
    shutil.copytree(tmp_path / "index", tmp_path / "hostile")
    with writing(tmp_path / "hostile", INDEX) as draft:
        facts = open_directory(tmp_path / "index", INDEX).facts
        draft.facts.update({**facts, kind: [f"../index/{name}" for name in facts[kind]]})
        draft.array("alive_0", np.ones(len(TEXTS), dtype=bool))
    with pytest.raises(FormatError, match=r"expected plain file names, found '\.\./index/"):
        Index.open(tmp_path / "hostile")


# --- what there is to know of an index -------------------------------------------------------------------------------------


@pytest.fixture
def pets():
    return Index.build(Corpus.from_texts(["cats purr, cats sleep", "dogs bark", "cats and dogs"], ids=["a", "b", "c"]))


def test_stats_count_what_is_left_after_deletions(pets):
    pets.delete("b")
    stats = pets.stats()
    assert (stats.documents, stats.deleted_documents, stats.segments) == (2, 1, 1)
    assert (stats.words, stats.topic_model, stats.topics) == (5, None, None)  # "bark" is gone
    assert pets.has("a")
    assert not pets.has("b")


def test_a_filter_matches_documents_that_were_not_deleted(pets):
    assert pets.matches({"id": ["a", "b"]}) == 2
    pets.delete("b")
    assert pets.matches({"id": ["a", "b"]}) == 1


def test_hits_tell_which_words_of_the_query_are_known(pets):
    hits = pets.search("sleeping cats sleep", by="bm25")
    assert (sorted(hits.known_words), hits.unknown_words) == (["cats", "sleep"], ["sleeping"])
    assert pets.search("parrots").known_words == []


@pytest.mark.parametrize("by", ["bm25", "hybrid"])
def test_explain_gives_common_words_most_frequent_first(pets, by):
    hits = pets.search("sleep, cats", by=by, snippets=False)
    explained = dict(zip([hit.id for hit in hits], pets.explain(hits), strict=True))
    assert explained["a"] == ["cats", "sleep"]
    assert explained["c"] == ["cats"]
    assert max(len(words) for words in pets.explain(hits, n=1)) == 1


def test_explain_finds_words_in_every_segment(pets):
    pets.add(["purring cats, cats, cats purr"], ids=["d"])
    assert pets.stats().segments == 2
    hits = pets.search("cats purr", by="bm25")
    assert dict(zip([hit.id for hit in hits], pets.explain(hits), strict=True))["d"] == ["cats", "purr"]


def test_hits_of_an_index_that_has_changed_are_not_explained(pets):
    hits = pets.search("cats")
    pets.delete("c")
    with pytest.raises(InputError, match="these hits are from an earlier state of the index; search again"):
        pets.explain(hits)
