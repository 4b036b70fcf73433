"""scikit-learn's own checks of what an estimator must do."""

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from semascope import LDA, LSA, PLSA


@parametrize_with_checks(
    [
        PLSA(2, random_state=0),
        PLSA(2, random_state=0, dtype="float64", algorithm="textbook"),
        LDA(2, random_state=0),
        LDA(2, random_state=0, inference="vb", alpha="auto", eta="auto"),
        LSA(2, random_state=0),
        LSA(2, random_state=0, solver="arpack", weighting="tfidf", dtype="float64"),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_a_model_stands_in_a_pipeline_after_a_vectorizer():
    texts = ["cats and dogs", "dogs and cats", "stocks and bonds", "bonds and stocks"]
    shares = make_pipeline(CountVectorizer(), PLSA(2, random_state=0)).fit_transform(texts)
    assert shares.shape == (4, 2)
    assert shares[0].argmax() == shares[1].argmax() != shares[2].argmax()
