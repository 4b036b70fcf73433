"""Texts in several languages on the command line."""

import pytest

from semascope import Analyzer, Corpus, load

RECORDS = [
    {"id": "a", "texts": {"en": "the dogs of war", "de": "die Hunde des Krieges"}},
    {"id": "b", "texts": {"en": "war and peace", "fr": "la guerre et la paix"}},
    {"id": "c", "texts": {"de": "die Katzen"}},
]


@pytest.fixture
def source(tmp_path, as_lines):
    path = tmp_path / "source.jsonl"
    path.write_text(as_lines(*RECORDS))
    return path


@pytest.fixture
def build(run, source, tmp_path):
    def build_with(*options):
        return run("build", source, tmp_path / "corpus", *options)

    return build_with


@pytest.fixture
def built(build, tmp_path):
    def corpus_with(*options):
        ran = build(*options)
        assert ran.code == 0, ran.err
        return Corpus.open(tmp_path / "corpus")

    return corpus_with


def test_build_takes_the_languages_asked_for(build, tmp_path):
    assert "3 documents, 11 words, 13 tokens in en, de." in build("--languages", "en,de").out
    corpus = Corpus.open(tmp_path / "corpus")
    assert corpus.languages == ("en", "de")
    assert corpus.texts.to_list()[1] == {"en": "war and peace", "de": None}


def test_build_takes_all_languages_of_a_field_without_being_told_which(built):
    corpus = built("--texts", "texts")
    assert corpus.languages == ("en", "de", "fr")
    kept = [{code: text for code, text in texts.items() if text} for texts in corpus.texts]
    assert kept == [record["texts"] for record in RECORDS]


def test_build_takes_texts_from_another_field(run, as_lines, tmp_path):
    (tmp_path / "other.jsonl").write_text(as_lines(*({"translation": record["texts"]} for record in RECORDS)))
    assert run("build", tmp_path / "other.jsonl", tmp_path / "c", "--texts", "translation", "--languages", "de,en").code == 0
    assert Corpus.open(tmp_path / "c").languages == ("de", "en")


def test_build_takes_a_column_for_each_language(run, tmp_path):
    (tmp_path / "a.csv").write_text("id,head,body_en,body_de\n1,war,and peace,Krieg\n2,,,Frieden\n")
    fields = ["--text", "en=head", "--text", "en=body_en", "--text", "de=body_de"]
    assert run("build", tmp_path / "a.csv", tmp_path / "c", "--languages", "en,de", *fields).code == 0
    corpus = Corpus.open(tmp_path / "c")
    assert corpus.texts.to_list() == [{"en": "war\nand peace", "de": "Krieg"}, {"en": None, "de": "Frieden"}]


def test_stop_words_and_stems_are_told_by_language(built, tmp_path):
    (tmp_path / "stop.txt").write_text("die des")
    corpus = built("--languages", "en,de", "--stop-words", f"en=english,de={tmp_path / 'stop.txt'}", "--stemmer", "en=en")
    assert corpus.analyzer == {
        "en": Analyzer(stop_words="english", stemmer="english"),
        "de": Analyzer(stop_words=["die", "des"]),
    }
    assert corpus.vocabulary.tolist() == ["war", "dog", "peac", "hunde", "katzen", "krieges"]


def test_stop_words_and_stems_are_found_by_the_codes_of_the_languages(built):
    corpus = built("--languages", "en,de", "--stop-words", "auto", "--stemmer", "auto")
    assert {language: (own.stop_words, own.stemmer) for language, own in corpus.analyzer.items()} == {
        "en": ("english", "english"),
        "de": ("german", "german"),
    }
    assert corpus.vocabulary.tolist() == ["war", "dog", "peac", "hund", "katz", "krieg"]


def test_one_analyzer_serves_all_languages_unless_told_otherwise(run, source, tmp_path):
    run("build", source, tmp_path / "c", "--languages", "en,de", "--stop-words", "de", "--min-length", 3)
    assert Corpus.open(tmp_path / "c").analyzer == Analyzer(stop_words="german", min_length=3)


def test_info_shows_the_size_of_each_language(run, build, tmp_path):
    build("--languages", "en,de", "--stop-words", "auto")
    out = run("info", tmp_path / "corpus").out
    assert "language en 2 documents, 3 words, 4 tokens\n" in out
    assert "language de 2 documents, 3 words, 3 tokens\n" in out
    assert "en: stop_words=english; de: stop_words=german" in out
    assert "guessed" not in out
    (facts,) = run("info", tmp_path / "corpus", "--json").json
    assert facts["by_language"]["de"] == {"documents": 2, "words": 3, "tokens": 3.0}
    assert facts["analyzer"]["by_language"]["en"]["stop_words"] == "english"


def test_info_shows_a_corpus_of_one_language_with_a_name(run, build, tmp_path):
    build("--languages", "de", "--skip-bad")
    assert "language de 2 documents, 5 words, 6 tokens\n" in run("info", tmp_path / "corpus").out


def test_a_model_of_several_languages_is_fitted_and_shown(run, build, tmp_path):
    build("--languages", "en,de")
    assert run("fit", tmp_path / "corpus", tmp_path / "model", "--topics", 2).code == 0
    assert "hunde" in run("topics", tmp_path / "model", "--words", 20).out


def test_records_in_other_languages_are_left_out_when_told_to(run, build, tmp_path):
    complaint = build("--languages", "de").complaint
    assert complaint == (
        f"{tmp_path / 'source.jsonl'}, line 2: the texts are in en, fr, but the requested languages are de. "
        "Fix it, or skip such lines with --skip-bad (skip_bad=True)."
    )
    ran = build("--languages", "de", "--skip-bad")
    assert ran.code == 0
    assert ran.err.startswith("Skipped 1 bad record:\n")


def test_a_language_that_is_not_there_is_named_with_those_that_are(build, tmp_path):
    assert build("--languages", "en,es").complaint == (
        f"{tmp_path / 'source.jsonl'}: no line has a text in 'es'; the languages are en, de, fr."
    )
    assert not (tmp_path / "corpus").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--languages", "en,tlh", "--stop-words", "auto"],
            "tlh: neither a file of stop words nor a language with built-in stop words (",
        ),
        (
            ["--languages", "en,de", "--texts", "text"],
            "no line has a field 'text'; the fields are id, texts. Name the field of the texts",
        ),
        (
            ["--languages", "en", "--stemmer", "auto", "--texts", "id"],
            "field 'id' should be an object of language and text, but",
        ),
    ],
)
def test_what_cannot_be_built_is_refused_in_a_sentence(build, options, sentence):
    assert sentence in build(*options).complaint


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--stop-words", "auto"], "--stop-words auto requires --languages."),
        (
            ["--languages", "en,de", "--stop-words", "fr=french"],
            "--stop-words takes LANGUAGE=… with one of the languages en, de",
        ),
        (["--languages", "en,de", "--text", "body"], "--text takes LANGUAGE=… with one of the languages en, de, not 'body'."),
        (["--languages", "en,de", "--text", "en=body"], "--text names no field for 'de'; add one for each language"),
        (["--text", "body", "--texts", "texts"], "--texts and --text are mutually exclusive"),
        (["--ngrams", "²"], "--ngrams takes one or two integers, e.g. 1,2, not '²'."),
    ],
)
def test_options_that_make_no_sense_are_answered(build, options, sentence):
    ran = build(*options)
    assert ran.code == 2
    assert sentence in " ".join(ran.err.replace("│", " ").split())


def test_sweep_tries_the_model_that_fit_would_fit(run, as_lines, tmp_path):
    pairs = [("dogs of war", "Hunde des Krieges"), ("stocks and bonds", "Aktien und Anleihen")] * 10
    (tmp_path / "many.jsonl").write_text(as_lines(*({"texts": {"en": en, "de": de}} for en, de in pairs)))
    assert run("build", tmp_path / "many.jsonl", tmp_path / "corpus", "--languages", "en,de").code == 0
    options = ["--model", "lda", "--topics", 2, "--max-iter", 3, "--out", tmp_path / "kept"]
    assert run("sweep", tmp_path / "corpus", *options).code == 0
    assert type(load(tmp_path / "kept" / "topics-2-seed-0")).__name__ == "PolylingualLDA"


def test_counts_are_in_no_languages(run, tmp_path):
    (tmp_path / "a.csv").write_text("row,column,count\na,x,1\n")
    options = ["--triples", "row,column,count", "--languages", "en,de"]
    complaint = run("build", tmp_path / "a.csv", tmp_path / "c", *options).complaint
    assert complaint == f"{tmp_path / 'a.csv'}: --languages and --texts do not apply to a source of counts."
