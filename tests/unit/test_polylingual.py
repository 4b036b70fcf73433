"""Corpora of several languages: one matrix, and each language as if it were alone."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from helpers import collection_path
from semascope import PLSA, Analyzer, Corpus, Lexicon, load, read
from semascope.corpus.readers import files
from semascope.corpus.rows import Rows, joined, side_by_side
from semascope.errors import InputError, SourceError

TEXTS = [
    {"en": "The war is over and the dog sleeps", "de": "Der Hund war da und die Katze war da"},
    {"de": "Die Katze schläft"},
    {"en": "A dog, a cat: die, war!", "de": None},
    {},
    {"en": "peace", "de": ""},
]
ANALYZERS = {
    "one": Analyzer(),
    "by language": {
        "en": Analyzer(stop_words="english", stemmer="english"),
        "de": Analyzer(stop_words="german", stemmer="german"),
    },
    "of different kinds": {
        "en": Analyzer(token_pattern=r"[a-z]{3,}"),
        "de": Analyzer(ngrams=(1, 2), max_features=7),
    },
    "limits": Analyzer(min_df=2, max_df=0.9),
}


def own(texts, language):
    """The texts of the documents that have a language."""
    return [text[language] for text in texts if text.get(language)]


def analyzer_of(analyzer, language):
    return analyzer[language] if isinstance(analyzer, dict) else analyzer


def same(corpus, other):
    assert corpus.fingerprint == other.fingerprint
    assert corpus.languages == other.languages
    assert corpus.words.to_list() == other.words.to_list()
    assert corpus.word_languages.tolist() == other.word_languages.tolist()
    assert corpus.documents.equals(other.documents)
    assert corpus.analyzer == other.analyzer
    assert (corpus.counts != other.counts).nnz == 0
    return True


# --- what is in it ---------------------------------------------------------------------------------------------------------


def test_the_same_letters_in_two_languages_are_two_words():
    corpus = Corpus.from_texts(TEXTS)
    assert corpus.languages == ("en", "de")
    war = np.flatnonzero(corpus.vocabulary == "war")
    assert corpus.word_languages[war].tolist() == [0, 1]
    assert corpus.counts[:, war].toarray().tolist() == [[1, 2], [0, 0], [1, 0], [0, 0], [0, 0]]


def test_a_language_is_a_range_of_columns_most_frequent_word_first():
    corpus = Corpus.from_texts(TEXTS)
    assert corpus.word_languages.tolist() == sorted(corpus.word_languages)
    totals = np.asarray(corpus.counts.sum(axis=0)).ravel()
    for number in range(2):
        of_language = totals[corpus.word_languages == number]
        assert of_language.tolist() == sorted(of_language, reverse=True)


def test_texts_are_structs_of_the_languages_and_null_where_there_is_none():
    texts = Corpus.from_texts(TEXTS).texts
    assert texts[0] == TEXTS[0]
    assert texts.struct.field("en").is_null().to_list() == [False, True, False, True, False]
    assert texts.struct.field("de").is_null().to_list() == [False, False, True, True, True]


def test_a_corpus_without_languages_has_one_without_a_name():
    corpus = Corpus.from_texts(["some words", "more words"])
    assert corpus.languages == ("",)
    assert corpus.word_languages.tolist() == [0, 0, 0]
    assert corpus.word_languages.dtype == np.int32
    assert not corpus.word_languages.flags.writeable


@pytest.mark.parametrize("analyzer", ANALYZERS.values(), ids=ANALYZERS)
def test_each_language_is_counted_as_if_it_were_alone(analyzer):
    texts = TEXTS * 3
    corpus = Corpus.from_texts(texts, analyzer=analyzer)
    for language in corpus.languages:
        part = corpus.in_language(language)
        alone = Corpus.from_texts(own(texts, language), analyzer=analyzer_of(analyzer, language))
        assert part.languages == (language,)
        assert part.words.to_list() == alone.words.to_list()
        assert (part.counts != alone.counts).nnz == 0
        assert part.texts.to_list() == alone.texts.to_list()
        assert part.analyzer == alone.analyzer
        assert part.in_language(language) is part


def test_limits_are_shares_of_the_documents_that_have_the_language():
    texts = [{"en": "rare common"}, {"en": "common"}, *[{"de": "häufig"}] * 8, {"de": "selten häufig"}]
    corpus = Corpus.from_texts(texts, analyzer=Analyzer(min_df=0.5))
    assert corpus.vocabulary.tolist() == ["common", "rare", "häufig"]  # "rare" is in half of the English documents
    corpus = Corpus.from_texts(texts, analyzer=Analyzer(max_df=0.5))
    assert corpus.vocabulary.tolist() == ["rare", "selten"]
    assert Corpus.from_texts(texts, analyzer=Analyzer(max_features=1)).vocabulary.tolist() == ["common", "häufig"]


def test_rows_side_by_side_need_not_be_cut_alike():
    rng = np.random.default_rng(0)
    matrices = [rng.integers(0, 3, (40, width)) for width in (3, 1, 5)]

    def rows_of(matrix):
        corpus = Corpus.from_matrix(matrix)
        return corpus.rows

    def pieces(matrix):
        cuts = [0, *sorted(rng.integers(0, 41, 6)), 40]
        for first, last in zip(cuts[:-1], cuts[1:], strict=True):
            yield rows_of(matrix[first:last]) if last > first else joined([])

    found = joined(list(side_by_side([pieces(matrix) for matrix in matrices], [3, 1, 5])))
    want = rows_of(np.hstack(matrices))
    assert all(np.array_equal(a, b) for a, b in zip(Rows(*found), want, strict=True))


def test_parts_keep_their_languages():
    corpus = Corpus.from_texts(TEXTS * 4)
    train, test = corpus.split(0.3, seed=1)
    for part in (train, test, corpus.filter([0, 2]), corpus.filter(pl.col("text").struct.field("de").is_not_null())):
        assert part.languages == corpus.languages
        assert part.lexicon is corpus.lexicon
    assert len(corpus.filter(pl.col("text").struct.field("de").is_not_null())) == len(corpus.in_language("de"))
    assert sum(shard.n_documents for shard in corpus.shards()) == 20


def test_the_fingerprint_covers_the_languages():
    words, counts = {"en": ["a", "b"], "de": ["c"]}, [[1, 2, 3]]
    prints = {
        Corpus.from_matrix(counts, vocabulary).fingerprint
        for vocabulary in (["a", "b", "c"], Lexicon.of(words), Lexicon.of({"en": ["a"], "de": ["b", "c"]}),
                           Lexicon.of({"en": ["a", "b"], "fr": ["c"]}), Lexicon.of({"en": ["a", "b", "c"]}))
    }  # fmt: skip
    assert len(prints) == 5


def test_a_matrix_may_have_words_of_several_languages():
    corpus = Corpus.from_matrix([[1, 0, 2], [0, 0, 1]], Lexicon.of({"en": ["war", "die"], "de": ["war"]}))
    assert corpus.languages == ("en", "de")
    assert corpus.in_language("en").ids.to_list() == ["0"]
    assert corpus.in_language("de").counts.toarray().tolist() == [[2], [1]]


# --- vocabularies of models ------------------------------------------------------------------------------------------------


def test_words_are_aligned_by_language_and_letters():
    lexicon = Lexicon.of({"de": ["war", "die", "neu"], "en": ["die"]})
    corpus = Corpus.from_texts(TEXTS).aligned(lexicon)
    assert corpus.languages == ("de", "en")
    assert corpus.counts.toarray()[:3].tolist() == [[2, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    assert corpus.texts[0] == {"de": TEXTS[0]["de"], "en": TEXTS[0]["en"]}


def test_new_texts_of_one_language_are_put_on_a_lexicon_of_several():
    lexicon = Corpus.from_texts(TEXTS).lexicon
    new = Corpus.from_texts(["war war die", "unknown"], language="de", vocabulary=lexicon)
    assert new.lexicon is lexicon
    assert {(w, int(lang), n) for w, lang, n in zip(new.vocabulary, new.word_languages, new.counts.toarray()[0], strict=True) if n} == {
        ("war", 1, 2.0), ("die", 1, 1.0)}  # fmt: skip
    assert new.texts.to_list()[0] == {"en": None, "de": "war war die"}
    assert new.in_language("de").texts.to_list() == ["war war die", "unknown"]
    frame = pl.DataFrame({"text": ["war war die", "unknown"]})
    assert Corpus.build(frame, language="de", vocabulary=lexicon).fingerprint == new.fingerprint


def test_new_texts_may_have_languages_that_the_lexicon_does_not_know():
    lexicon = Corpus.from_texts(TEXTS).lexicon
    new = Corpus.from_texts([{"en": "war", "fr": "guerre"}, {"fr": "guerre"}], vocabulary=lexicon)
    assert new.languages == ("en", "de")
    assert new.counts.sum() == 1
    frame = pl.DataFrame({"text": [{"en": "war", "fr": "guerre"}, {"en": None, "fr": "guerre"}]})
    assert Corpus.build(frame, vocabulary=lexicon).fingerprint == new.fingerprint


def test_one_language_without_a_name_may_be_any_one_language():
    german = Corpus.from_texts(TEXTS).in_language("de")
    assert Corpus.from_texts(["war"], vocabulary=german.lexicon).counts.sum() == 1
    assert Corpus.from_texts(["war"]).aligned(german.lexicon).counts.sum() == 1
    assert german.aligned(pl.Series(["war"])).counts.sum() == 2


@pytest.mark.parametrize("named", [True, False])
def test_a_model_of_several_languages_reads_them_again_after_saving(tmp_path, named):
    analyzer = ANALYZERS["by language"] if named else None
    corpus = Corpus.from_texts(TEXTS * 3, analyzer=analyzer)
    model = PLSA(2, random_state=0).fit(corpus)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.analyzer_ == corpus.analyzer
    for new in (TEXTS, Corpus.from_texts(TEXTS, analyzer=analyzer), corpus.in_language("de")):
        assert np.array_equal(model.transform(new), loaded.transform(new))
    with pytest.raises(InputError, match="it is not said which language the texts are in"):
        loaded.transform(["war"])


def test_a_lexicon_is_what_it_was_after_becoming_a_table():
    for lexicon in (Lexicon.of(["a", "b"]), Lexicon.of({"en": ["a"], "xx": [], "de": ["a", "b"]})):
        assert Lexicon.from_frame(lexicon.to_frame(), lexicon.languages).equals(lexicon)
    grown = Lexicon(pl.Series(["a", "b", "a"]), ("en", "de"), np.array([0, 1, 1], dtype=np.int32))
    assert grown.numbers_in(Lexicon.of({"de": ["a", "b"]})).tolist() == [-1, 1, 0]


# --- reading and writing ---------------------------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Documents in two languages in several blocks; German starts late and is rare."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(files, "BLOCK_BYTES", 4000)
    records = []
    for number in range(200):
        words = [f"word{w}" for w in rng.zipf(1.5, 40) if w < 500]
        texts = {"en": " ".join(words)} if number % 4 else {}
        if number > 60 and number % 3 == 0:
            texts["de"] = " ".join(words[:10])
        records.append({"id": f"d{number}", "texts": texts, "labels": ["a"]})
    path = tmp_path / "source.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert len(list(read(path, texts="texts"))) > 5
    return path


@pytest.mark.parametrize("analyzer", ANALYZERS.values(), ids=ANALYZERS)
def test_a_corpus_built_on_disk_is_the_one_built_in_memory(source, analyzer, tmp_path):
    in_memory = Corpus.build(read(source, texts="texts"), analyzer)
    assert same(Corpus.build(read(source, languages=["en", "de"]), analyzer, path=tmp_path / "corpus"), in_memory)
    in_memory.save(tmp_path / "saved")
    assert same(Corpus.open(tmp_path / "saved"), in_memory)
    records = [json.loads(line) for line in source.read_text().splitlines()]
    ids, labels, texts = ([record[name] for record in records] for name in ("id", "labels", "texts"))
    assert same(Corpus.from_texts(texts, ids=ids, labels=labels, analyzer=analyzer), in_memory)


def test_one_language_of_several_is_read_as_a_corpus_of_that_language(source, tmp_path):
    both = Corpus.build(read(source, texts="texts"))
    german = Corpus.build(read(source, languages=["de"], skip_bad=True), path=tmp_path / "corpus")
    part = german.filter(pl.col("text") != "")
    assert part.fingerprint == both.in_language("de").fingerprint
    assert part.documents.equals(both.in_language("de").documents)
    assert german.analyzer == Analyzer()


RECORDS = [{"id": "a", "texts": {"en": "war and peace", "de": "es war"}}, {"id": "b", "texts": {"en": None, "de": "war es"}}]
FRAME = pl.DataFrame(RECORDS)
FLAT = pl.DataFrame(
    {"id": ["a", "b"], "t": ["war", ""], "body_en": ["and peace", None], "body_de": ["es war", "war es"]},
)
BY_COLUMN = {"en": ["t", "body_en"], "de": "body_de"}
WRITERS = {
    "a.jsonl": lambda path: path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS)),
    "a.parquet": lambda path: FRAME.write_parquet(path),
    "a.arrow": lambda path: FRAME.write_ipc(path),
}
FLAT_WRITERS = {
    "a.csv": lambda path: FLAT.write_csv(path),
    "a.tsv": lambda path: FLAT.write_csv(path, separator="\t"),
    "a.parquet": lambda path: FLAT.write_parquet(path),
    "a.jsonl": lambda path: FLAT.write_ndjson(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_objects_of_language_and_text_are_one_corpus_in_every_format(tmp_path, name):
    WRITERS[name](tmp_path / name)
    for languages in (None, ["en", "de"]):
        assert same(
            Corpus.build(read(tmp_path / name, texts="texts", languages=languages)), Corpus.build(read(FRAME, texts="texts"))
        )


def test_columns_of_a_language_each_are_the_same_corpus_in_every_format(tmp_path):
    want = Corpus.build(read(FRAME, texts="texts"))
    assert Corpus.build(read(FLAT, text=BY_COLUMN)).fingerprint == want.fingerprint
    for name, write in FLAT_WRITERS.items():
        write(tmp_path / name)
        assert Corpus.build(read(tmp_path / name, text=BY_COLUMN)).fingerprint == want.fingerprint, name


def test_frames_may_hold_texts_by_language():
    want = Corpus.build(read(FRAME, texts="texts"))
    assert same(Corpus.build(FRAME.rename({"texts": "text"})), want)
    assert same(Corpus.build(FRAME.rename({"texts": "text"}).to_arrow()), want)
    assert same(Corpus.build(pd.DataFrame(RECORDS).rename(columns={"texts": "text"})), want)


def test_languages_are_those_asked_for_in_the_order_asked_for():
    assert Corpus.build(read(FRAME, languages=["de", "en"])).languages == ("de", "en")
    assert Corpus.build(read(FRAME, languages="de")).languages == ("de",)


def test_lines_that_polars_cannot_read_give_the_same_texts(tmp_path):
    odd = [
        {"texts": {"en": 5, "de": "{x"}},
        {"texts": {"en": "a\ud800", "de": None}},
        {"texts": {}},
        {},
        {"texts": {"de": 1.0}},
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in odd))
    texts = read(tmp_path / "a.jsonl", texts="texts").frame()["text"]
    assert texts.to_list() == [
        {"en": "5", "de": "{x"}, {"en": "a\ufffd", "de": None}, {"en": None, "de": None}, {"en": None, "de": None}, {"en": None, "de": "1"},
    ]  # fmt: skip


def test_real_collections_are_counted_language_by_language(tmp_path):
    path = collection_path("poly/bible_chapters")
    corpus = Corpus.build(read(path, texts="texts"), Analyzer(min_df=5), path=tmp_path / "corpus")
    assert corpus.languages == ("en", "de", "fr", "es")
    assert corpus.n_documents == 1189
    for language in corpus.languages:
        alone = Corpus.build(read(path, languages=[language]), Analyzer(min_df=5))
        assert corpus.in_language(language).fingerprint == alone.fingerprint


# --- what cannot be used ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Corpus.from_texts({"en": "x"}), "put the one text into a list"),
        (lambda: Corpus.from_texts([{"en": "one"}, "two"]), "text 1 is not a mapping of language to text, as others are, but str"),
        (lambda: Corpus.from_texts(["one", {"en": "two"}]), "text 1 is not a string but dict"),
        (lambda: Corpus.from_texts([{"en": "one"}, {"en": 3.5}]), "text 1 is not a string but float"),
        (lambda: Corpus.from_texts([{"": "one"}]), "text 0: a language must have a name, but is ''"),
        (lambda: Corpus.from_texts([{}, {"en": None}]), "no text is in a language."),
        (lambda: Corpus.from_texts([{"en": "one two", "de": "?"}]), "de: there are no words in the 1 documents"),
        (lambda: Corpus.from_texts([{"en": "one", "de": "zwei"}], analyzer={"en": Analyzer()}), "there is no analyzer for the language 'de'; the language is en."),
        (lambda: Corpus.from_texts(["one"], analyzer={"en": Analyzer(), "de": Analyzer()}), "there is an analyzer for each of en, de, but it is not said which language the texts are in."),
        (lambda: Corpus.from_texts([{"en": "one"}], language="en"), "the texts name their languages themselves, so leave out language='en'."),
        (lambda: Corpus.from_texts(["x y"], language="fr", vocabulary=Lexicon.of({"en": ["a"], "de": ["b"]})), "there is no language 'fr'; the languages are en, de."),
        (lambda: Corpus.from_texts(["one"], vocabulary=Lexicon.of({"en": ["a"], "de": ["b"]})), "it is not said which language the texts are in; in the vocabulary the languages are en, de: name one with language=."),
        (lambda: Corpus.from_texts([{"fr": "un"}], vocabulary=Lexicon.of({"en": ["a"], "de": ["b"]})), "no text is in a language of the vocabulary; there the languages are en, de."),
        (lambda: Corpus.from_texts(TEXTS).aligned(pl.Series(["war"])), "the vocabulary is of one language only; take that language of the corpus with in_language."),
        (lambda: Corpus.from_texts(TEXTS).aligned(Lexicon.of({"fr": ["un"]})), "no language in common: in the vocabulary the language is fr."),
        (lambda: Corpus.from_texts(TEXTS).in_language("fr"), "there is no language 'fr'; the languages are en, de."),
        (lambda: Corpus.from_texts(["one"]).in_language("fr"), "there is no language 'fr'; the language is one without a name."),
        (lambda: Corpus.from_matrix([[1, 1]], Lexicon.of({"en": ["a", "a"]})), "names a word twice"),
        (lambda: read(FRAME, text={"en": "x"}, languages=["en"]), "text names the fields of each language already"),
        (lambda: read(FRAME, languages=[]), "languages must name one at least"),
        (lambda: read(FRAME, languages=["en", ""]), "languages must name one at least"),
        (lambda: read(FRAME, text={}), "text must name a field at least"),
        (lambda: read("stdlib:", languages=["en"]), "stdlib: the docstrings have no field 'texts' with texts in several languages."),
        (lambda: Corpus.build(read(FRAME, languages=["en", "fr"])), "the frame: column 'texts' has no texts in 'fr'; the languages are en, de."),
        (lambda: Corpus.build(read(FRAME, texts="id")), "the frame: column 'id' holds values of the kind String; expected objects of language and text."),
        (lambda: Corpus.build(read(FRAME, texts="nix")), "the frame: there is no column 'nix'; the columns are id, texts. Say which are the texts with --texts (texts=)."),
        (lambda: Corpus.build(read(FLAT.with_columns(x=pl.lit(None)), text={"en": "t", "de": "body_de", "fr": "x"})), "the frame: no document has a text in 'fr'; there are texts in en, de."),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_in_a_sentence(make, sentence):
    with pytest.raises(InputError) as caught:
        make()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


MEND = "Mend it, or leave such lines out with --skip-bad (skip_bad=True)."
BAD_LINES = {
    "a string": ('{"texts": "war"}', "field 'texts' should be an object of language and text, but is a string"),
    "a list": ('{"texts": ["war"]}', "field 'texts' should be an object of language and text, but is a list"),
    "an object in it": ('{"texts": {"en": {"x": 1}}}', "field 'texts.en' should be a string, but is an object"),
    "another language": ('{"texts": {"fr": "guerre", "es": "guerra"}}', "the texts are in fr, es, but wanted are en, de"),
    "no JSON": ("{", "not JSON (Expecting property name enclosed in double quotes at character 1)"),
}


@pytest.mark.parametrize(("line", "sentence"), BAD_LINES.values(), ids=BAD_LINES)
def test_lines_without_wanted_texts_are_named_or_left_out(tmp_path, line, sentence):
    path = tmp_path / "a.jsonl"
    good = '{"texts": {"en": "war", "de": "war es", "fr": "guerre"}}\n'
    path.write_text(good + line + "\n" + good)
    with pytest.raises(SourceError) as caught:
        read(path, languages=["en", "de"]).frame()
    assert str(caught.value) == f"{path}, line 2: {sentence}. {MEND}"
    documents = read(path, languages=["en", "de"], skip_bad=True)
    assert Corpus.build(documents).n_documents == 2
    assert documents.bad == [f"{path}, line 2: {sentence}."]


def test_rows_without_wanted_texts_are_named_or_left_out(tmp_path):
    frame = pl.DataFrame({"texts": [{"en": "war", "fr": None}, {"en": "", "fr": "guerre"}, {"en": None, "fr": None}]})
    frame.write_parquet(tmp_path / "a.parquet")
    for source, name in ((frame, "the frame"), (tmp_path / "a.parquet", tmp_path / "a.parquet")):
        with pytest.raises(
            SourceError, match=rf"^{name}, row 2: the texts are in fr, but wanted are en\. Mend it, or leave such"
        ):
            read(source, languages=["en"]).frame()
        documents = read(source, languages=["en"], skip_bad=True)
        assert documents.frame()["text"].to_list() == [{"en": "war"}, {"en": None}]
        assert len(documents.bad) == 1


def test_a_language_that_no_line_has_is_named_with_those_there_are(tmp_path):
    path = tmp_path / "a.jsonl"
    WRITERS["a.jsonl"](path)
    with pytest.raises(SourceError) as caught:
        read(path, languages=["en", "fr"]).frame()
    assert str(caught.value) == f"{path}: no line has a text in 'fr'; the languages are en, de."
    path.write_text('{"texts": {"en": "war"}, "fr": "a key elsewhere"}\n')
    with pytest.raises(SourceError) as caught:
        Corpus.build(read(path, languages=["en", "fr"]))
    assert str(caught.value) == f"{path}: no document has a text in 'fr'; there are texts in en."
    path.write_text('{"texts": "war"}\n')
    with pytest.raises(SourceError, match="the field 'texts' holds no objects of language and text"):
        read(path, texts="texts").frame()
