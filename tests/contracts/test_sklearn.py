"""scikit-learn's own checks of what an estimator must do."""

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from semascope import LDA, LSA, PLSA, LabeledLDA


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
        LSA(2, random_state=0),
        LSA(2, random_state=0, solver="arpack", weighting="tfidf", dtype="float64"),
        RoundingLabeledLDA(max_iter=5, random_state=0),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_a_model_stands_in_a_pipeline_after_a_vectorizer():
    texts = ["cats and dogs", "dogs and cats", "stocks and bonds", "bonds and stocks"]
    shares = make_pipeline(CountVectorizer(), PLSA(2, random_state=0)).fit_transform(texts)
    assert shares.shape == (4, 2)
    assert shares[0].argmax() == shares[1].argmax() != shares[2].argmax()
