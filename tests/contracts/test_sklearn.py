"""scikit-learn's own checks of what an estimator must do, and what people do with one."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from semascope import LDA, LSA, PLSA, Corpus, CorrelatedTopicModel, LabeledLDA
from semascope.errors import InputError

TEXTS = ["cats and dogs", "dogs and cats", "stocks and bonds", "bonds and stocks"]
LABELS = ["pets", "pets", "money", "money"]
MODELS = [PLSA(2, random_state=0), LDA(2, random_state=0), LSA(2, random_state=0), LabeledLDA(max_iter=20, random_state=0)]


class RoundingLabeledLDA(LabeledLDA):
    """Labeled LDA needs whole numbers, which the data of scikit-learn's checks are not."""

    def _validated(self, X, *, reset):
        checked = super()._validated(X, reset=reset)
        return checked.ceil() if sp.issparse(checked) else np.ceil(checked)


@parametrize_with_checks(
    [
        PLSA(2, random_state=0),
        PLSA(2, random_state=0, dtype="float64", algorithm="textbook"),
        LDA(2, random_state=0),
        LDA(2, random_state=0, inference="vb", alpha="auto", eta="auto"),
        CorrelatedTopicModel(2, random_state=0),
        LSA(2, random_state=0),
        LSA(2, random_state=0, solver="arpack", weighting="tfidf", dtype="float64"),
        RoundingLabeledLDA(max_iter=5, random_state=0),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_a_model_stands_in_a_pipeline_after_a_vectorizer():
    shares = make_pipeline(CountVectorizer(), PLSA(2, random_state=0)).fit_transform(TEXTS)
    assert shares.shape == (4, 2)
    assert shares[0].argmax() == shares[1].argmax() != shares[2].argmax()


@pytest.mark.parametrize("estimator", MODELS, ids=lambda estimator: type(estimator).__name__)
def test_what_comes_out_of_a_pipeline_is_a_frame_with_a_column_for_each_dimension_where_one_is_asked_for(estimator):
    pipeline = make_pipeline(CountVectorizer(), clone(estimator)).fit(TEXTS, LABELS)
    names = pipeline.get_feature_names_out().tolist()
    assert len(set(names)) == 2
    plain = pipeline.transform(TEXTS)
    for kind, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        pipeline[-1].set_output(transform=kind)
        given = pipeline.transform(TEXTS)
        assert isinstance(given, frame)
        assert list(given.columns) == names
        assert np.array_equal(given.to_numpy(), plain)


@pytest.mark.parametrize("estimator", MODELS, ids=lambda estimator: type(estimator).__name__)
def test_a_clone_fits_the_same_model(estimator):
    once, again = (clone(estimator).fit(TEXTS, LABELS) for _ in range(2))
    assert np.array_equal(once.components_, again.components_)
    assert clone(once).get_params() == estimator.get_params()
    assert not hasattr(clone(once), "n_features_in_")


@pytest.mark.parametrize("model", [LDA(random_state=0), PLSA(random_state=0)], ids=["LDA", "PLSA"])
def test_a_grid_goes_by_the_words_held_out(model):
    grid = GridSearchCV(
        make_pipeline(CountVectorizer(), model), {f"{type(model).__name__.lower()}__n_components": [1, 2]}, cv=2
    )
    grid.fit(["cat dog cat dog", "tax law tax law"] * 10)
    assert grid.best_estimator_[-1].n_components == 2
    scores = grid.cv_results_["mean_test_score"]
    assert scores[1] > scores[0] + 0.5  # two of four words, in place of all four, would be log 2 better


@pytest.mark.parametrize("model", [LDA(2, random_state=0), PLSA(2, random_state=0)], ids=["LDA", "PLSA"])
def test_the_score_is_the_mean_log_probability_of_words_held_out(model):
    model.fit(TEXTS)
    assert model.score(TEXTS) == -math.log(model.perplexity(TEXTS, prior="own")) == -math.log(model.perplexity(TEXTS))


def test_a_grid_finds_the_alpha_of_the_documents_by_the_own_prior():
    random = np.random.default_rng(0)
    topics, mixtures = random.dirichlet(np.full(200, 0.05), 20), random.dirichlet(np.full(20, 0.02), 400)
    counts = np.array([random.multinomial(40, mixture @ topics) for mixture in mixtures])
    alphas = [0.02, 1.0, 5.0]
    grid = GridSearchCV(LDA(20, random_state=0, max_iter=30), {"alpha": alphas}, cv=2, refit=False).fit(counts)
    scores = []
    for alpha in alphas:
        model = LDA(20, alpha=alpha, random_state=0, max_iter=30)
        halves = (counts[200:], counts[:200]), (counts[:200], counts[200:])
        scores.append(np.mean([-math.log(model.fit(train).perplexity(test, prior="own")) for train, test in halves]))
    assert np.allclose(grid.cv_results_["mean_test_score"], scores)
    assert grid.best_params_ == {"alpha": 0.02}


def test_the_vectorizer_names_the_words_of_topics_and_labels():
    for model in (LDA(2, random_state=0), LabeledLDA(max_iter=20, random_state=0)):
        pipeline = make_pipeline(CountVectorizer(), model).fit(TEXTS, LABELS)
        names = pipeline[0].get_feature_names_out()
        topics = {frozenset(words) for words in model.top_words(n=2, feature_names=names)}
        assert topics == {frozenset(words) for words in clone(model).fit(TEXTS, LABELS).top_words(n=2)}
        assert model.top_words(n=1)[0][0].startswith("x")
        with pytest.raises(InputError, match="the model has 5 words, but there are 4 feature_names"):
            model.top_words(feature_names=names[:4])


def test_a_frame_of_counts_names_the_words_itself():
    vectorizer = CountVectorizer()
    counts = vectorizer.fit_transform(TEXTS).toarray()
    frame = pd.DataFrame(counts, columns=vectorizer.get_feature_names_out())
    assert {*LDA(2, random_state=0).fit(frame).top_words(5)[0]} == {*vectorizer.get_feature_names_out()}


@pytest.mark.parametrize("model", [LDA(2, random_state=0), PLSA(2, random_state=0)], ids=["LDA", "PLSA"])
def test_pyldavis_is_given_distributions_and_counts_over_the_words_of_the_documents(model):
    corpus = Corpus.from_texts([*TEXTS, "", "cats cats"])
    arguments = model.fit(corpus).to_pyldavis(corpus)
    assert [*arguments] == ["topic_term_dists", "doc_topic_dists", "doc_lengths", "vocab", "term_frequency"]
    assert arguments["topic_term_dists"].shape == (2, 5)
    assert arguments["doc_topic_dists"].shape == (6, 2)
    for name in ("topic_term_dists", "doc_topic_dists"):
        assert arguments[name].min() > 0
        np.testing.assert_allclose(arguments[name].sum(axis=1), 1, rtol=1e-12)
    assert arguments["vocab"].tolist() == corpus.vocabulary.tolist()
    assert arguments["doc_lengths"].tolist() == [3, 3, 3, 3, 0, 2]
    assert arguments["term_frequency"].tolist() == corpus.counts.toarray().sum(axis=0).tolist()
    np.testing.assert_allclose(arguments["doc_topic_dists"], model.transform(corpus), atol=1e-6)

    some = model.to_pyldavis(["cats and unknown dogs"])
    assert sorted(some["vocab"]) == ["and", "cats", "dogs"]
    np.testing.assert_allclose(some["topic_term_dists"].sum(axis=1), 1, rtol=1e-12)
    with pytest.raises(InputError, match="no word that the model knows"):
        model.to_pyldavis(["quark"])


def test_pyldavis_is_given_the_columns_of_a_matrix():
    counts = CountVectorizer().fit_transform(TEXTS)
    arguments = LDA(2, random_state=0).fit(counts).to_pyldavis(counts)
    assert arguments["vocab"].tolist() == ["x0", "x1", "x2", "x3", "x4"]
