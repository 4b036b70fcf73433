"""Stop words and stemmers, language by language."""

import re
import unicodedata

import pytest
import Stemmer
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from semascope import Analyzer, Corpus
from semascope.corpus.text.languages import stop_word_languages, stop_words_of
from semascope.errors import InputError

STOPPED_AND_KEPT = {
    "arabic": ("من في على", "كتاب"),
    "catalan": ("amb per els", "casa"),
    "czech": ("jako ale když", "dům"),
    "danish": ("og ikke hvor", "hus"),
    "dutch": ("het een niet", "huis"),
    "english": ("the of and", "house"),
    "finnish": ("ja että mutta", "talo"),
    "french": ("les dans avec qu l'", "maison"),
    "german": ("und der die", "haus"),
    "hindi": ("पर अपन", "मकान"),
    "hungarian": ("és hogy nem", "ház"),
    "indonesian": ("yang dan dengan", "rumah"),
    "italian": ("dell all nell gli che", "casa"),
    "norwegian": ("og ikke hvordan", "hus"),
    "persian": ("از که این", "کتاب"),
    "polish": ("jest nie oraz", "dom"),
    "portuguese": ("não para uma", "casa"),
    "romanian": ("este din pentru", "casa"),
    "russian": ("что как это", "дом"),
    "spanish": ("que los para", "casa"),
    "swedish": ("och att inte", "hus"),
    "turkish": ("ve bir için", "ev"),
}

WORDS = {
    "arabic": "كتابات", "armenian": "գրքերը", "basque": "etxeak", "catalan": "cases", "czech": "domy",
    "danish": "husene", "dutch": "huizen", "dutch_porter": "huizen", "english": "houses",
    "esperanto": "domoj", "estonian": "majadest", "finnish": "taloissa", "french": "maisons",
    "german": "häuser", "greek": "σπίτια", "hindi": "मकानों", "hungarian": "házak", "indonesian": "rumahnya",
    "irish": "tithe", "italian": "case", "lithuanian": "namai", "nepali": "घरहरू", "norwegian": "husene",
    "persian": "کتابها", "polish": "domami", "porter": "houses", "portuguese": "casas", "romanian": "casele",
    "russian": "домами", "serbian": "kućama", "sesotho": "matlo", "spanish": "casas", "swedish": "husen",
    "tamil": "வீடுகள்", "turkish": "evler", "yiddish": "הײַזער",
}  # fmt: skip


def test_every_language_with_a_list_is_tested_here():
    assert set(stop_word_languages()) == set(STOPPED_AND_KEPT)


@pytest.mark.parametrize("language", STOPPED_AND_KEPT)
def test_stop_words_go_and_words_of_meaning_stay(language):
    stopped, kept = STOPPED_AND_KEPT[language]
    analyzer = Analyzer(stop_words=language)
    assert analyzer.words(f"{stopped} {kept}") == Analyzer().words(kept) != []
    corpus = Corpus.from_texts([f"{stopped} {kept}"], analyzer=analyzer)
    assert corpus.vocabulary.tolist() == Analyzer().words(kept)


def test_the_english_words_are_those_of_scikit_learn():
    assert stop_words_of("english") == ENGLISH_STOP_WORDS


def test_elided_articles_are_stopped_and_what_they_stand_before_is_kept():
    assert Analyzer(stop_words="french").words("L'amour qu'il n'a pas d'abord") == ["amour", "abord"]
    assert Analyzer(stop_words="italian").words("L'arte dell'opera nell'isola c'è") == ["arte", "opera", "isola"]


def test_elided_articles_are_stopped_by_a_pattern_that_keeps_apostrophes_too():
    analyzer = Analyzer(stop_words="italian", token_pattern=r"\w+'?")
    assert analyzer.words("L'arte dell'opera") == ["arte", "opera"]


@pytest.mark.parametrize("language", sorted(STOPPED_AND_KEPT))
def test_the_lists_are_written_as_texts_are(language):
    words = stop_words_of(language)
    assert all(word == unicodedata.normalize("NFC", word) == word.lower() for word in words)
    assert not any(" " in word for word in words)


def test_no_list_but_the_english_one_holds_contractions():
    """Their pieces would be stopped on their own, "won" of "won't" for example."""
    for language in stop_word_languages():
        if language != "english":
            assert not [word for word in stop_words_of(language) if re.search(r"\w['’]\w", word)]


@pytest.mark.parametrize("language", ["nepali", "greek", "porter", "klingon", "German", ""])
def test_a_language_without_a_list_is_answered_with_those_that_have_one(language):
    with pytest.raises(InputError, match=f"no stop words for '{language}'.*one of arabic, .*german, .*turkish"):
        Analyzer(stop_words=language)


def test_an_analyzer_of_an_archive_still_loads():
    for stop_words in (None, "english", ["the", "of"], "german"):
        settings = Analyzer(stop_words=stop_words).to_dict()
        assert settings["stop_words"] == stop_words
        assert Analyzer.from_dict(settings) == Analyzer(stop_words=stop_words)


def test_every_stemmer_has_a_word_here():
    assert set(Stemmer.algorithms()) <= set(WORDS)


@pytest.mark.parametrize("language", Stemmer.algorithms())
def test_every_stemmer_takes_words_of_its_script(language):
    (stem,) = Analyzer(stemmer=language).stems([WORDS[language]])
    assert 0 < len(stem) <= len(WORDS[language])
