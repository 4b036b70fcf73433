"""The guess of the language of texts."""

import random

import polars as pl
import pytest

from helpers import collection_by_language
from semascope.corpus.text.languages import UNKNOWN, guess_language, language_shares, stop_word_languages, stop_words_of

SENTENCES = {
    "arabic": "كان الولد في البيت مع امه وقد قال ان هذا الكتاب الذي على الطاولة له",
    "catalan": "Els nens van anar amb la seva mare a la platja perquè feia molt bon temps i també van menjar",
    "czech": "Děti šly s matkou na pláž, protože bylo velmi hezky, ale když přišly domů, byly už unavené",
    "danish": "Børnene gik ud til stranden med deres mor, fordi vejret var godt, og de blev der meget længe efter",
    "dutch": "De kinderen gingen met hun moeder naar het strand, omdat het mooi weer was, en zij bleven er niet lang",
    "english": "The children went to the beach with their mother, because the weather was fine, and they stayed there",
    "finnish": "Lapset menivät äitinsä kanssa rannalle, koska ilma oli hyvä, ja he olivat siellä kunnes tuli ilta",
    "french": "Les enfants sont allés à la plage avec leur mère, parce que le temps était beau, et ils y sont restés",
    "german": "Die Kinder gingen mit ihrer Mutter an den Strand, weil das Wetter schön war, und sie blieben dort",
    "hungarian": "A gyerekek az anyjukkal mentek a partra, mert szép idő volt, és ott maradtak, amíg nem lett este",
    "indonesian": "Anak itu pergi ke pantai dengan ibunya karena cuaca sangat baik dan mereka tidak pulang sampai malam",
    "italian": "I bambini sono andati alla spiaggia con la loro madre perché il tempo era bello e non volevano tornare",
    "norwegian": "Barna gikk ut til stranden med moren sin fordi været var godt, og de ble værende der så lenge noen så dem",
    "persian": "بچه ها با مادرشان به کنار دریا رفتند چون هوا خوب بود و آنها تا شب در آنجا ماندند",
    "polish": "Dzieci poszły z matką na plażę, ponieważ było bardzo ładnie, ale kiedy wróciły, były już zmęczone",
    "portuguese": "As crianças foram à praia com a sua mãe porque o tempo estava muito bom e não queriam voltar até à noite",
    "romanian": "Copiii au mers la plaja cu mama lor pentru ca vremea era foarte buna si nu au vrut sa mai plece de acolo",
    "russian": "Дети пошли с матерью на пляж, потому что была хорошая погода, и они были там до самого вечера",
    "spanish": "Los niños fueron a la playa con su madre porque hacía muy buen tiempo y no querían volver hasta la noche",
    "swedish": "Barnen gick till stranden med sin mamma eftersom vädret var fint, och de stannade där tills det blev kväll",
    "turkish": "Çocuklar anneleri ile plaja gitti çünkü hava çok güzel ve onlar için bu daha iyi ama sonra hepsi eve döndü",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_is_known_by_its_stop_words(language):
    assert guess_language(SENTENCES[language]) == language


@pytest.mark.parametrize("language", [language for language in stop_word_languages() if language != "hindi"])
def test_words_of_a_list_are_of_its_language(language):
    chance, words = random.Random(0), sorted(stop_words_of(language))
    guesses = [guess_language(chance.choices(words, k=40) + ["xyzzy"] * 40) for _ in range(20)]
    assert guesses.count(language) >= 18
    assert set(guesses) <= {language, UNKNOWN}


def test_what_does_not_tell_is_unknown():
    for text in ("", "?!", "Lorem ipsum", "x y z", "CPU GPU RAM " * 50, "the", "東京は日本の首都である", "a b c d e f " * 20):
        assert guess_language(text) == UNKNOWN, text


def test_two_languages_in_equal_parts_are_unknown():
    assert guess_language("nicht auch sind " * 5 + "the and with " * 5) == UNKNOWN


def test_shares_add_up_and_the_largest_comes_first():
    texts = [SENTENCES["german"]] * 3 + [SENTENCES["english"]] * 6 + [""]
    assert list(language_shares(texts).items()) == [("english", 0.6), ("german", 0.3), (UNKNOWN, 0.1)]
    assert language_shares(pl.Series(texts)) == language_shares(texts)


def test_a_large_corpus_is_sampled_from_its_beginning_to_its_end():
    texts = pl.Series([SENTENCES["german"]] * 7_000 + [SENTENCES["english"]] * 3_000)
    shares = language_shares(texts)
    assert shares["german"] == pytest.approx(0.7, abs=0.001)


def test_chapters_of_the_bible_are_guessed_in_four_languages():
    texts = collection_by_language("poly/bible_chapters")
    for code, language in {"en": "english", "de": "german", "fr": "french", "es": "spanish"}.items():
        shares = language_shares(texts[code])
        assert shares[language] > 0.999  # a chapter of names may be unknown
        assert set(shares) <= {language, UNKNOWN}


def test_short_descriptions_of_packages_are_guessed_in_three_languages():
    texts = collection_by_language("poly/debian")
    for code, language in {"en": "english", "de": "german", "fr": "french"}.items():
        shares = language_shares(texts[code])
        assert shares[language] > 0.97
        assert sum(share for other, share in shares.items() if other not in (language, UNKNOWN)) < 0.01
