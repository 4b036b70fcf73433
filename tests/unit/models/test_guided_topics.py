"""LDA with informed priors: topics follow the words they are told, and carry the names of their categories."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import semascope as ss
from semascope.errors import InputError, MissingWordsWarning


def planted(seed=0, n_topics=5, n_words=80, n_documents=500):
    """Topics, and texts made of them."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.1), n_topics)
    mixtures = rng.dirichlet(np.full(n_topics, 0.2), n_documents)
    texts = [" ".join(f"word{j}" for j in rng.choice(n_words, size=80, p=p)) for p in mixtures @ topics]
    return topics, texts


def categories(topics, n=3):
    return {f"theme {k}": [f"word{j}" for j in np.argsort(-topic)[:n]] for k, topic in enumerate(topics)}


def found(model, n_words=80):
    """P(word | topic) with the words in the order in which they were planted."""
    rows = np.zeros((len(model.components_), n_words))
    rows[:, [int(word.removeprefix("word")) for word in model.vocabulary_]] = model.components_
    return rows


@pytest.mark.parametrize("inference", ["cvb0", "vb"])
@pytest.mark.parametrize("seed", range(3))
def test_planted_topics_are_found_where_the_prior_puts_them(seed, inference):
    topics, texts = planted(seed)
    model = ss.LDA(5, eta=ss.InformedPrior(categories(topics)), inference=inference, max_iter=200, random_state=seed).fit(texts)
    assert (0.5 * np.abs(found(model) - topics).sum(axis=1)).max() < 0.1


def test_topics_carry_the_names_of_their_categories_and_others_stay_free():
    topics, texts = planted()
    known = dict(list(categories(topics).items())[:2])
    model = ss.LDA(5, eta=ss.InformedPrior(known), random_state=0).fit(texts)
    assert model.topic_names_ == ["theme 0", "theme 1", "topic 2", "topic 3", "topic 4"]
    apart = 0.5 * np.abs(found(model)[:, None] - topics[None]).sum(axis=2)
    assert apart[0].argmin() == 0
    assert apart[1].argmin() == 1
    assert set(apart[2:].argmin(axis=1)) == {2, 3, 4}


@pytest.mark.parametrize("inference", ["cvb0", "vb"])
def test_an_array_is_a_prior_and_no_more(inference):
    """Words that are more probable in all topics alike do not make the topics start alike."""
    topics, texts = planted()
    corpus = ss.Corpus.from_texts(texts)
    eta = np.linspace(0.01, 0.02, corpus.n_words)
    fits = [ss.LDA(5, eta=eta, inference=inference, max_iter=200, random_state=seed).fit(corpus) for seed in range(3)]
    apart = [0.5 * np.abs(found(model)[:, None] - topics[None]).sum(axis=2) for model in fits]
    assert min(one[linear_sum_assignment(one)].max() for one in apart) < 0.1


def test_words_that_the_corpus_does_not_have_are_named_and_counted():
    prior = ss.InformedPrior({"pets": ["dog", "unicorn", "griffin*"], "money": ["bond"]})
    with pytest.warns(MissingWordsWarning, match=r"2 of 4 words are not in the vocabulary: unicorn, griffin\*"):
        ss.LDA(2, eta=prior, random_state=0).fit(["dog cat", "bond stock", "dog dog"])


@pytest.mark.parametrize(
    ("prior", "sentence"),
    [
        ({"a": ["dog"], "b": ["cat"], "c": ["bond"]}, "3 categories need as many topics, but n_components is 2"),
        ({"a": ["dog"], "b": ["unicorn"]}, "no word of category 'b' is in the vocabulary: unicorn"),
    ],
)
def test_a_prior_that_cannot_be_followed_is_refused_in_a_sentence(prior, sentence):
    with pytest.raises(InputError, match=sentence):
        ss.LDA(2, eta=ss.InformedPrior(prior), random_state=0).fit(["dog cat", "bond stock", "dog dog"])


def test_a_matrix_without_words_cannot_be_guided():
    with pytest.raises(InputError, match="LDA: an InformedPrior needs the names of the words"):
        ss.LDA(2, eta=ss.InformedPrior({"a": ["dog"]})).fit([[1, 2], [2, 1], [1, 1]])


def test_a_stream_can_be_guided_too():
    topics, texts = planted()
    model = ss.LDA(5, eta=ss.InformedPrior(categories(topics)), random_state=0, batch_size=64)
    for first in range(0, 500, 100):
        model.partial_fit(texts[first : first + 100])
    apart = 0.5 * np.abs(found(model)[:, None] - topics[None]).sum(axis=2)
    assert apart.argmin(axis=1).tolist() == [0, 1, 2, 3, 4]
    assert model.topic_names_ == [f"theme {k}" for k in range(5)]
