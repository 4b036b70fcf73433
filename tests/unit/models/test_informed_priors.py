"""Informed priors: what they take, how their words are found, and how they are kept."""

import json
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import semascope as ss
from semascope.errors import InputError, MissingWordsWarning
from semascope.models.priors.informed import word_prior

WORDS = ["god", "nasa", "orbit", "nasas", "the"]


def table_of(resolved, n_topics):
    """η of every word in every topic, written out."""
    prior = resolved.prior
    table = np.full((len(prior.ends) - 1, n_topics), prior.base)
    table[prior.words, prior.topics] += prior.extra
    return table


def refusal(*arguments, **settings):
    with pytest.raises(InputError) as caught:
        ss.InformedPrior(*arguments, **settings)
    return str(caught.value)


# --- in memory -----------------------------------------------------------------------------------------------------------


def test_a_category_is_a_topic_and_topics_beyond_are_free():
    resolved = ss.InformedPrior({"space": ["orbit", "nasa*"], "faith": ["god"]}, strength=5, base=0.5).resolve(WORDS, 3)
    assert resolved.names == ("space", "faith")
    assert resolved.missing == ()
    assert table_of(resolved, 3).T.tolist() == [[0.5, 5, 5, 5, 0.5], [5, 0.5, 0.5, 0.5, 0.5], [0.5] * 5]


def test_a_word_may_be_in_several_categories_and_its_topics_ascend():
    resolved = ss.InformedPrior({"b": ["the", "orbit"], "a": ["the", "god"]}).resolve(pl.Series(WORDS), 2)
    assert resolved.prior.topics.tolist() == [1, 0, 0, 1]
    assert resolved.prior.words.tolist() == [0, 2, 4, 4]
    assert resolved.prior.topics.dtype == np.int32
    assert resolved.prior.ends.dtype == np.int64


def test_a_word_that_is_listed_twice_counts_once():
    resolved = ss.InformedPrior({"space": ["nasa", "nasa*", "nasa"]}).resolve(WORDS, 1)
    assert resolved.prior.extra.tolist() == [10 - 0.03] * 2


def test_a_category_may_have_a_strength_of_its_own():
    resolved = ss.InformedPrior({"a": ["god"], "b": ["the"]}, base=1, strengths={"b": 3}).resolve(WORDS, 2)
    assert resolved.prior.extra.tolist() == [9, 2]


def test_words_that_the_vocabulary_does_not_have_are_counted_and_named():
    prior = ss.InformedPrior({"space": ["orbit", "moon", "mars*"], "faith": ["god", "moon"]})
    with pytest.warns(MissingWordsWarning, match=r"^prior: 2 of 4 words are not in the vocabulary: moon, mars\*$"):
        assert prior.resolve(WORDS, 2).missing == ("moon", "mars*")
    with pytest.warns(MissingWordsWarning, match="1 of 2 words is not in the vocabulary: moon$"):
        ss.InformedPrior({"space": ["orbit", "moon"]}).resolve(WORDS, 2)
    many = ss.InformedPrior({"x": ["god", *(f"w{n}" for n in range(15))]})
    with pytest.warns(MissingWordsWarning, match="15 of 16 .*: w0, w1, .* w9 and 5 more$"):
        many.resolve(WORDS, 1)


def test_a_category_of_which_no_word_is_known_is_refused():
    with pytest.raises(InputError, match=r"no word of category 'moons' is in the vocabulary: io, europa\*\."):
        ss.InformedPrior({"faith": ["god"], "moons": ["io", "europa*"]}).resolve(WORDS, 2)


def test_more_categories_than_topics_are_refused():
    with pytest.raises(InputError, match="2 categories need as many topics, but n_components is 1"):
        ss.InformedPrior({"a": ["god"], "b": ["the"]}).resolve(WORDS, 1)


def test_words_are_found_as_the_analyzer_writes_them():
    corpus = ss.Corpus.from_texts(["NASA orbits Happily, new Yorkers"], analyzer=ss.Analyzer(stemmer="english", ngrams=(1, 2)))
    prior = ss.InformedPrior({"a": ["Orbiting", "happy*"], "b": ["NEW yorker", "Nas*"]})
    resolved = prior.resolve(corpus.words, 2, corpus.analyzer)
    found = [set(corpus.vocabulary[resolved.prior.words[resolved.prior.topics == topic]]) for topic in (0, 1)]
    assert found == [{"orbit", "happili new", "happili"}, {"new yorker", "nasa", "nasa orbit"}]


def test_case_counts_where_the_analyzer_keeps_it():
    analyzer = ss.Analyzer(lowercase=False)
    assert ss.InformedPrior({"a": ["God"]}).resolve(["God", "god"], 1, analyzer).prior.words.tolist() == [0]
    assert ss.InformedPrior({"a": ["God"]}).resolve(["God", "god"], 1, None).prior.words.tolist() == [0]


@pytest.mark.parametrize(
    ("categories", "settings", "sentence"),
    [
        ({}, {}, "categories must map at least one name"),
        (["god"], {}, "categories must map at least one name"),
        ({"a": []}, {}, "category 'a' has no words"),
        ({"a": "god"}, {}, "category 'a' must be a list of words, but was 'god'"),
        ({"a": ["god", 3]}, {}, "but has 3 in it"),
        ({"a": (word for word in ["god"])}, {}, "category 'a' must be a list of words, but was <generator"),
        ({"a": ["god", " "]}, {}, "but has ' ' in it"),
        ({"a": ["*"]}, {}, "'*' must have letters before a single *"),
        ({"a": ["na*sa"]}, {}, "'na*sa' must have letters before a single * at its end"),
        ({"a": ["\ud800"]}, {}, "is not valid Unicode"),
        ({"a": ["x", "y"], "b": ["y", "x"]}, {}, "categories 'a' and 'b' have the same words"),
        ({"": ["x"]}, {}, "a topic's name must not be empty"),
        ({7: ["x"]}, {}, "a topic's name must be a string, but was 7"),
        ({"topic 7": ["x"]}, {}, "is the default name of an unnamed topic"),
        ({"a\nb": ["x"]}, {}, "a single line of printable characters"),
        ({"a": ["x"]}, {"strength": 0}, "strength must be a number above 0, but was 0"),
        ({"a": ["x"]}, {"strength": float("nan")}, "strength must be a number above 0"),
        ({"a": ["x"]}, {"strength": "10"}, "strength must be a number above 0, but was '10'"),
        ({"a": ["x"]}, {"strength": 0.03}, "strength must be above the base of 0.03, but was 0.03"),
        ({"a": ["x"]}, {"base": -1}, "base must be a number above 0, but was -1"),
        ({"a": ["x"]}, {"base": 10**400}, "base must be a number above 0"),
        ({"a": ["x"]}, {"strengths": {"a": 0.001}}, "strength must be above the base"),
        ({"a": ["x"]}, {"strengths": {"b": 1}}, "strengths has an unknown category 'b'"),
    ],
)
def test_contradictions_are_refused_in_a_sentence(categories, settings, sentence):
    said = refusal(categories, **settings)
    assert said.startswith("InformedPrior: ")
    assert sentence in said
    assert said.count("\n") == 0


def test_priors_are_compared_by_value_and_the_order_of_categories_counts():
    one, same = (ss.InformedPrior({"a": ("x",), "b": ["y"]}, strength=5) for _ in range(2))
    assert one == same
    assert hash(one) == hash(same)
    assert ss.InformedPrior({"a": {"x", "y"}}) == ss.InformedPrior({"a": np.array(["y", "x", "x"])})
    assert one != ss.InformedPrior({"b": ["y"], "a": ["x"]}, strength=5)
    assert one != ss.InformedPrior({"a": ["x"], "b": ["y"]})
    assert eval(repr(one), {"InformedPrior": ss.InformedPrior}) == one
    assert len(repr(ss.InformedPrior({"a": [f"w{n}" for n in range(5000)]}))) < 100


def test_a_prior_is_a_setting_of_an_estimator():
    prior = ss.InformedPrior({"a": ["x"], "b": ["y"]}, strengths={"b": 20})
    model = ss.LDA(2, eta=prior)
    assert clone(model).eta == prior
    assert model.set_params(eta=prior).get_params()["eta"] is prior


# --- any η ---------------------------------------------------------------------------------------------------------------


def test_a_number_an_array_and_a_prior_are_all_taken_for_eta():
    by_word = np.array([1, 2, 3, 4, 5.0])
    by_topic = np.array([by_word, 2 * by_word])
    assert word_prior(0.5, None, None, 5, 2).prior.is_flat
    assert word_prior(np.float32(0.5), None, None, 5, 2).prior.base == 0.5
    assert (table_of(word_prior(by_word, None, None, 5, 2), 2) == np.array([by_word, by_word]).T).all()
    assert (table_of(word_prior(by_topic.tolist(), None, None, 5, 2), 2) == by_topic.T).all()
    assert word_prior(ss.InformedPrior({"a": ["god"]}), ss.Lexicon.of(WORDS), None, 5, 2).names == ("a",)


@pytest.mark.parametrize(
    ("eta", "sentence"),
    [
        (0, "eta must be a number above 0, an array of these or an InformedPrior, but was 0."),
        (float("inf"), "eta must be a number above 0"),
        (True, "but was True"),
        ("auto", "but was 'auto'"),
        (None, "but was None"),
        ([[1, 2], [1]], "eta must be a number above 0"),
        ([1, 2, 3], "for each of the 5 words, or a row of them for each of the 2 topics, but its shape is (3,)."),
        (np.ones((5, 2)), "but its shape is (5, 2)."),
        ([1, 2, 3, 4, np.nan], "eta must be above 0 and finite everywhere, but at [4] it is nan."),
        ([[1, 1, 1, 1, 1], [1, 1, -3, 1, 1]], "but at [1, 2] it is -3.0."),
        (ss.InformedPrior({"a": ["god"]}), "an InformedPrior needs the names of the words"),
    ],
)
def test_any_other_eta_is_refused_in_a_sentence(eta, sentence):
    with pytest.raises(InputError) as caught:
        word_prior(eta, None, None, 5, 2)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


# --- from files ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def from_file(tmp_path):
    """Write a file and read a prior from it."""

    def read(name, contents, **settings):
        path = tmp_path / name
        path.write_bytes(contents.encode() if isinstance(contents, str) else contents)
        return ss.InformedPrior.from_file(path, **settings)

    return read


LIWC = "\ufeff%\r\n\r\n1\tspace\r\n\t02\tfaith (of all kinds)\r\n%\r\norbit\t1\r\nnasa*\t1\t\r\n\r\ngod\t01 02\r\norbit\t1\r\n"


def test_json_lists_words_by_category(from_file):
    body = {"space": ["orbit", "nasa*"], "faith": {"words": ["god"], "strength": 3}}
    expected = ss.InformedPrior({"space": ["orbit", "nasa*"], "faith": ["god"]}, strength=5, base=1, strengths={"faith": 3})
    assert from_file("a.json", json.dumps(body), strength=5, base=1) == expected
    assert from_file("lists", "\ufeff " + json.dumps(body), strength=5, base=1) == expected


def test_a_liwc_dictionary_lists_categories_by_word(from_file):
    expected = ss.InformedPrior({"space": ["orbit", "nasa*", "god"], "faith (of all kinds)": ["god"]})
    assert from_file("a.dic", LIWC) == expected
    assert from_file("dictionary.txt", LIWC) == expected
    assert from_file("blanks.dic", LIWC.replace("\t", "  ").replace("\r", "")) == expected


def test_what_real_liwc_dictionaries_have_more_is_passed_over_and_counted(from_file):
    entries = "like\t(02 134)125/464\t(02 134)126\t1\nkind\t<of>131/125\t<of>135/126\nf**k*\t1\nlate\t2\t466\nso so 2\n"
    with pytest.warns(MissingWordsWarning) as caught:
        prior = from_file("a.dic", LIWC + entries)
    assert prior.categories == {"space": ["orbit", "nasa*", "god", "like"], "faith (of all kinds)": ["god", "late", "so so"]}
    (warning,) = caught
    assert str(warning.message).startswith("prior: skipped 4 entries with conditions or unknown categories, the first in ")
    assert "a.dic, line 11: like" in str(warning.message)


def test_plain_text_has_a_list_of_words_on_each_line(from_file):
    prior = from_file("a.txt", "space: orbit nasa*, moon\n\n  god,faith\r\ncar* motor\nname with blanks:x\n")
    assert prior == ss.InformedPrior(
        {"space": ["orbit", "nasa*", "moon"], "god": ["god", "faith"], "car": ["car*", "motor"], "name with blanks": ["x"]}
    )


def test_files_in_other_encodings_are_read_when_they_are_named(from_file):
    latin = "été: neige\n".encode("latin-1")
    assert from_file("a.txt", latin, encoding="latin-1").categories == {"été": ["neige"]}
    with pytest.raises(InputError, match=r"a\.txt, line 2: is not UTF-8; specify its encoding"):
        from_file("a.txt", b"a b\n" + latin)
    with pytest.raises(InputError, match="is not UTF-16; specify its encoding"):
        from_file("a.txt", b"abc", encoding="utf-16")
    with pytest.raises(InputError, match="there is no encoding 'klingon'"):
        from_file("a.txt", latin, encoding="klingon")


@pytest.mark.parametrize(
    ("name", "contents", "sentence"),
    [
        ("a.txt", "", "a.txt: there are no categories."),
        ("a.txt", "\n \n", "a.txt: there are no categories."),
        ("a.txt", "a: x\n\nb:\n", "a.txt, line 3: there are no words after 'b:'."),
        ("a.txt", "a: x\na: y\n", "a.txt, line 2: there are two categories 'a'; rename one of them."),
        ("a.txt", "a: x\n: y\n", "a.txt, line 2: a topic's name must not be empty"),
        ("a.txt", "a: x y\nb: y, x\n", "a.txt, line 2: categories 'a' and 'b' have the same words."),
        ("a.txt", "a: x\nb: *\n", "a.txt, line 2: in category 'b', '*' must have letters before a single *"),
        ("a.txt", b"\x00\x01\x02", "a.txt, line 1: a topic's name must be a single line of printable characters"),
        ("a.json", "", "a.json, line 1: is not valid JSON (Expecting value)."),
        ("a.json", '{"a":\n ["x",]}', "a.json, line 2: is not valid JSON ("),
        ("a.json", "[1]", "a.json: expected an object of lists of words"),
        ("a.json", "{}", "a.json: there are no categories."),
        ("a.json", '{"a": ["x"], "a": ["y"]}', "a.json: there are two categories 'a'"),
        ("a.json", '{"a": "x"}', "a.json: category 'a' must be a list of words, or"),
        ("a.json", '{"a": {"weight": 3}}', "a.json: category 'a' must be a list of words, or"),
        ("a.json", '{"a": {}}', "a.json: category 'a' must be a list of words, or"),
        ("a.json", '{"a": [["x"]]}', "a.json: category 'a' must be a list of words, or"),
        ("a.json", '{"a": []}', "a.json: category 'a' has no words."),
        ("a.json", '{"a": {"words": ["x"], "strength": NaN}}', "a.json: strength must be a number above 0"),
        ("a.json", '{"a": ["\\ud800"]}', "a.json: in category 'a', '\\ud800' is not valid Unicode"),
        ("a.json", "[" * 100_000, "a.json: is not valid JSON"),
        ("a.json", '{"a": ' + "1" * 5000 + "}", "a.json: is not valid JSON"),
        ("a.dic", "", "a.dic, line 1: expected a line of % before the categories, found ''."),
        ("a.dic", "\n1\ta\n", "a.dic, line 2: expected a line of % before the categories, found '1\\ta'."),
        ("a.dic", "%\n1\ta\n", "a.dic, line 2: expected a line of % after the categories."),
        ("a.dic", "%\n1 a\n2\n%\n", "a.dic, line 3: expected the number of a category and its name, found '2'."),
        ("a.dic", "%\na b\n%\n", "a.dic, line 2: expected the number of a category and its name"),
        ("a.dic", "%\n1\ta\n01\tb\n%\n", "a.dic, line 3: there are two categories of number 1."),
        ("a.dic", "%\n1\ta\n2\ta\n%\nx\t1\t2\n", "a.dic, line 3: there are two categories 'a'"),
        ("a.dic", "%\n1\ta\n2\tb\n%\nx\t1\n", "a.dic, line 3: category 'b' has no words."),
        ("a.dic", "%\n1\ta\n%\nx\t1\ny\n", "a.dic, line 5: the word 'y' has no category."),
        ("a.dic", "%\n%\n", "a.dic: there are no categories."),
    ],
)
def test_bad_files_are_answered_with_file_and_line(from_file, name, contents, sentence):
    with pytest.raises(InputError) as caught:
        from_file(name, contents)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_not_a_file_is_named(tmp_path):
    for path in (tmp_path / "nowhere.json", tmp_path):
        with pytest.raises(InputError, match=f"{path}: no such file"):
            ss.InformedPrior.from_file(path)


def test_wrong_settings_are_not_laid_on_the_file(from_file):
    with pytest.raises(InputError, match=r"^InformedPrior: strength must be above the base"):
        from_file("a.txt", "a: x", strength=0.001)


def test_no_bytes_whatever_are_answered_with_anything_but_a_sentence(from_file):
    rng = np.random.default_rng(0)
    signs = np.frombuffer(b'%\n\t 12,:*"[]{}()<>/ab\xff\xc3', dtype=np.uint8)
    sentences = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingWordsWarning)
        for number in range(600):
            contents = b"%\n1\ta\n%\n" * (number % 2) + rng.choice(signs, rng.integers(0, 40)).tobytes()
            try:
                from_file(["a.json", "a.dic", "a.txt"][number % 3], contents)
            except InputError as error:
                sentences.append(str(error))
    assert len(sentences) > 300
    assert not any("\n" in sentence for sentence in sentences)
