"""What corpora of several languages promise of any texts."""

import json
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semascope import Analyzer, Corpus, Lexicon, read
from semascope.corpus.build import counters as count
from semascope.corpus.readers import files

LANGUAGES = ("en", "de", "zh-TW")
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.text(st.sampled_from("ab [{\n\0é東"), max_size=8)
many_texts = st.lists(st.dictionaries(st.sampled_from(LANGUAGES), any_text | st.none(), max_size=3), min_size=1, max_size=6)
some_words = st.lists(st.sampled_from(["war", "die", "hat", "Gift", "the", "und"]), min_size=1, max_size=6).map(" ".join)
worded_texts = st.lists(st.dictionaries(st.sampled_from(LANGUAGES), some_words, min_size=1), min_size=1, max_size=9)


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def write_json_lines(path, texts):
    path.write_text("".join(json.dumps({"texts": one}) + "\n" for one in texts), encoding="utf-8")


def frame_of(texts):
    struct = pl.Struct(dict.fromkeys(LANGUAGES, pl.String))
    return pl.DataFrame({"texts": texts}, schema={"texts": struct})


WRITERS = {
    "a.jsonl": write_json_lines,
    "a.parquet": lambda path, texts: frame_of(texts).write_parquet(path),
    "a.arrow": lambda path, texts: frame_of(texts).write_ipc(path),
}


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=60, deadline=None)
@given(texts=many_texts, block_bytes=st.sampled_from([1 << 23, 1, 30]))
def test_any_texts_by_language_survive_a_source(folder, name, texts, block_bytes):
    texts = [*texts, dict.fromkeys(LANGUAGES, "all there")]
    WRITERS[name](folder / name, texts)
    with mock.patch.object(files, "BLOCK_BYTES", block_bytes):
        found = read(folder / name, texts="texts", languages=LANGUAGES).frame()["text"]
    want = [{language: text.get(language) or "" for language in LANGUAGES} for text in texts]
    assert [{language: text or "" for language, text in one.items()} for one in found] == want


@settings(max_examples=60, deadline=None)
@given(texts=worded_texts, block=st.sampled_from([1, 10, 1 << 21]), ngrams=st.sampled_from([(1, 1), (1, 2)]))
def test_each_language_is_counted_as_if_it_were_alone(texts, block, ngrams):
    analyzer = Analyzer(ngrams=ngrams)
    with mock.patch.object(count, "BLOCK_CHARACTERS", block):
        corpus = Corpus.from_texts(texts, analyzer=analyzer)
    assert set(corpus.languages) == {language for text in texts for language in text}
    for number, language in enumerate(corpus.languages):
        alone = Corpus.from_texts([text.get(language, "") for text in texts], analyzer=analyzer, language=language)
        columns = np.flatnonzero(corpus.word_languages == number)
        assert corpus.vocabulary[columns].tolist() == alone.vocabulary.tolist()
        assert (corpus.counts[:, columns] != alone.counts).nnz == 0
        assert len(corpus.in_language(language)) == sum(language in text for text in texts)
    assert corpus.rows.counts.all()


@settings(max_examples=60, deadline=None)
@given(texts=worded_texts, order=st.permutations(LANGUAGES))
def test_a_corpus_aligned_to_the_same_words_in_another_order_has_the_same_counts(texts, order):
    corpus = Corpus.from_texts(texts)
    words = {language: corpus.lexicon.only(language).words.reverse() for language in order if language in corpus.languages}
    turned = corpus.reindexed(Lexicon.of(words))
    for language in corpus.languages:
        ours, theirs = corpus.in_language(language), turned.in_language(language)
        assert ours.texts.to_list() == theirs.texts.to_list()
        assert (ours.counts[:, ::-1] != theirs.counts).nnz == 0
    assert turned.reindexed(corpus.lexicon).fingerprint == corpus.fingerprint
