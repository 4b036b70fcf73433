"""Topics over several languages: one mixture for a document, words in every language."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linear_sum_assignment

import semascope as ss
from semascope.errors import InputError

SIZES = {"en": 60, "de": 80, "fr": 50}


def planted(seed=0, n_documents=600, n_topics=5, missing=0.0):
    """Topics in three languages, mixtures of documents, and texts by language; some lack a language."""
    rng = np.random.default_rng(seed)
    topics = {code: rng.dirichlet(np.full(size, 0.1), n_topics) for code, size in SIZES.items()}
    mixtures = rng.dirichlet(np.full(n_topics, 0.2), n_documents)
    texts = []
    for mixture in mixtures:
        there = [code for code in SIZES if rng.random() >= missing] or ["en"]
        texts.append({code: text(rng, code, mixture @ topics[code]) for code in there})
    return topics, mixtures, texts


def text(rng, code, probabilities, length=100):
    # A word has the same letters in all languages, to see that it is three words.
    return " ".join(f"word{number}" for number in rng.choice(len(probabilities), size=length, p=probabilities))


def in_order(model, code):
    """P(word | topic) of one language, with the words in the order in which they were planted."""
    chosen = model._lexicon.of_word == model._lexicon.number_of(code)
    found = np.zeros((model.components_.shape[0], SIZES[code]))
    numbers = [int(word.removeprefix("word")) for word in model.vocabulary_[chosen]]
    found[:, numbers] = model.components_[:, chosen]
    return found


def distance(model, code, topics):
    return 0.5 * np.abs(in_order(model, code)[:, None] - topics[code][None]).sum(axis=2)


@pytest.mark.parametrize("inference", ["cvb0", "vb"])
def test_planted_topics_are_found_again_in_every_language(inference):
    topics, _, texts = planted(missing=0.2)
    fits = (
        ss.PolylingualLDA(5, inference=inference, max_iter=200, tol=1e-6, random_state=seed).fit(texts) for seed in range(3)
    )
    best = max(fits, key=lambda model: (model.elbo_ or model.log_likelihood_)[-1])
    rows, columns = linear_sum_assignment(sum(distance(best, code, topics) for code in SIZES))
    for code in SIZES:
        assert distance(best, code, topics)[rows, columns].max() < 0.1


def test_the_words_of_each_language_sum_to_one_in_every_topic():
    model = ss.PolylingualLDA(4, max_iter=10, random_state=0).fit(planted(n_documents=60)[2])
    assert model.languages_ == ("en", "de", "fr")
    for code in SIZES:
        assert_allclose(in_order(model, code).sum(axis=1), 1, rtol=1e-5)
    assert_allclose(model.doc_topics_.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("inference", ["cvb0", "vb"])
def test_a_document_in_one_language_finds_its_counterpart_in_another(inference):
    _, _, texts = planted(seed=1, n_topics=12)
    model = ss.PolylingualLDA(12, inference=inference, random_state=0).fit(texts[:500])
    english = ss.Corpus.from_texts([{"en": text["en"]} for text in texts[500:]], ids=[f"en{i}" for i in range(100)])
    german = [{"de": text["de"]} for text in texts[500:]]
    found = model.counterparts(english, german, n=3)
    assert found.columns == ["document", "rank", "counterpart", "likeness", "id"]
    assert found.height == 300
    assert found["id"][:3].to_list() == ["en0"] * 3
    first = found.filter(found["rank"] == 1)
    assert (first["document"] == first["counterpart"]).mean() > 0.5  # of a hundred
    assert found["likeness"].is_between(0, 1.00001).all()


def test_topics_can_be_read_side_by_side():
    model = ss.PolylingualLDA(2, random_state=0).fit([{"en": "dog cat", "de": "hund katze"}, {"en": "bond", "de": "aktie"}] * 5)
    both = model.top_words(1)
    assert {tuple(sorted(words)) for words in both} == {("de", "en")}
    assert [words["de"] for words in both] == model.top_words(1, language="de")
    ((word, p),) = model.top_words(1, weights=True, language="en")[0]
    assert word in ("dog", "cat", "bond")
    assert 0 < p <= 1
    with pytest.raises(InputError, match="there is no language 'it'; the languages are en, de"):
        model.top_words(1, language="it")


def test_priors_may_know_words_of_each_language():
    topics, _, texts = planted()
    known = {
        code: ss.InformedPrior({f"theme {k}": [f"word{j}" for j in np.argsort(-topics[code][k])[:3]] for k in range(5)})
        for code in ("en", "de")
    }
    model = ss.PolylingualLDA(6, eta=known, max_iter=200, random_state=0).fit(texts)
    assert model.topic_names_ == [*(f"theme {k}" for k in range(5)), "topic 5"]
    for code in SIZES:  # also in French, of which nothing was said
        assert np.diagonal(distance(model, code, topics)[:5]).max() < 0.15


def test_categories_of_one_name_are_one_topic_whatever_the_language():
    texts = [{"en": "dog cat bond", "de": "hund katze aktie"}] * 6
    prior = {"en": ss.InformedPrior({"pets": ["dog"], "money": ["bond"]}), "de": ss.InformedPrior({"money": ["aktie"]})}
    model = ss.PolylingualLDA(3, eta=prior, random_state=0).fit(texts)
    assert model.topic_names_ == ["pets", "money", "topic 2"]
    assert model.top_words(1)[1] == {"en": ["bond"], "de": ["aktie"]}


def test_a_saved_model_is_the_same_model(tmp_path):
    prior = {"en": ss.InformedPrior({"pets": ["dog"]})}
    texts = [{"en": "dog cat", "de": "hund katze"}, {"en": "bond stock", "de": "aktie"}, {"de": "katze"}] * 4
    model = ss.PolylingualLDA(2, eta=prior, random_state=0).fit(texts)
    model.save(tmp_path / "model")
    again = ss.load(tmp_path / "model")
    assert isinstance(again, ss.PolylingualLDA)
    assert again.eta == prior
    assert again.languages_ == ("en", "de")
    assert again.top_words(2) == model.top_words(2)
    assert again.transform([{"de": "katze"}]).tobytes() == model.transform([{"de": "katze"}]).tobytes()


@pytest.mark.parametrize(
    ("texts", "settings", "sentence"),
    [
        (
            ["one language", "only"],
            {},
            "PolylingualLDA needs documents in several languages, but the language is one without a name",
        ),
        ([{"en": "a dog"}, {"en": "a cat"}], {}, "PolylingualLDA needs documents in several languages, but the language is en"),
        (
            [{"en": "dog", "de": "hund"}] * 3,
            {"eta": {"it": ss.InformedPrior({"pets": ["cane"]})}},
            "PolylingualLDA: eta has a prior for 'it', but the languages are en, de",
        ),
        (
            [{"en": "dog", "de": "hund"}] * 3,
            {"eta": {"en": ss.InformedPrior({"a": ["dog"]}), "de": ss.InformedPrior({"b": ["hund"]}, base=0.1)}},
            "all languages share one base, but there are 0.03, 0.1",
        ),
        ([], {}, "PolylingualLDA: there are no documents to learn from"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(texts, settings, sentence):
    with pytest.raises(InputError) as problem:
        ss.PolylingualLDA(2, **settings).fit(texts)
    assert sentence in str(problem.value)


def test_a_stream_of_several_languages_is_refused():
    texts = [{"en": "dog cat", "de": "hund katze"}] * 4
    model = ss.PolylingualLDA(2, random_state=0).fit(texts)
    with pytest.raises(InputError, match="partial_fit learns from one language, but there are 2: en, de"):
        model.partial_fit(texts)
    with pytest.raises(InputError, match="partial_fit learns from one language"):
        ss.PolylingualLDA(2, random_state=0).partial_fit(texts)
