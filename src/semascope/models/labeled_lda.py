"""Labeled LDA, fitted to a whole corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.corpus.labels import LabelRows, label_shards, names_in, rows_of_labels
from semascope.corpus.shards import as_read_only
from semascope.engines.base import Engine
from semascope.engines.threads import ThreadEngine
from semascope.kernels.heldout import MAX_COUNT
from semascope.models.base import Model
from semascope.models.labels.label_input import INDICATOR, LISTS, GivenLabels, read_labels
from semascope.models.labels.label_model_base import LabelModel
from semascope.models.labels.prediction import Calibration, calibrate
from semascope.models.layouts import LABEL_ARRAYS, label_layout
from semascope.models.validation import is_splittable, is_whole, seed_of
from semascope.storage import Layout
from semascope.storage.facts import HISTORY, Fact
from semascope.storage.layout import Array
from semascope.training.checkpoint import Checkpoints, plain
from semascope.training.labeled_gibbs import LabeledGibbs, Pairs
from semascope.training.particle_state import LabelCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_CALIBRATION_DOCUMENTS = 4096
"""Maximum number of documents for calibration."""


class LabeledLDA(LabelModel):
    """Labeled LDA (Ramage et al., 2009), fitted by Gibbs sampling.

    Every token is assigned to one of the document's labels. The result depends only on the seed, bit for bit, not on the
    engine or the number of threads.

    Parameters
    ----------
    alpha : float, default=0.1
        Dirichlet prior of the labels of a document. Smaller values concentrate its tokens on fewer labels.
    eta : float, default=0.1
        Dirichlet prior of the words of a label.
    background : int, default=0
        Number of background topics, available to every document besides its labels, for words unrelated to them. A document
        without labels uses only these; with ``background=0`` it may use all labels, which needs memory for each of its words
        with each label.
    max_iter : int, default=200
        Maximum number of passes over the corpus.
    burn_in : int, optional
        Number of passes to discard; word counts of labels are averaged over the later passes. By default, half of `max_iter`.
    tol : float, default=0.0
        Convergence tolerance: stop when the relative change of the log-likelihood in one pass is smaller. It fluctuates, so
        that two passes may agree by chance; 0 disables the test.
    random_state : int, RandomState or None, default=None
        Seed of the sampler.
    engine : Engine, optional
        Execution engine, local threads by default. It does not affect the results.
    verbose : bool, default=False
        Whether to show a progress bar on a terminal.

    Attributes
    ----------
    label_names_ : list of str
        Labels in order of first occurrence, or the columns of an indicator matrix.
    topic_names_ : list of str
        Labels, followed by the background topics.
    label_words_ : LabelCounts
        Expected counts of the words of each topic.
    label_shares_ : ndarray of shape (n_topics,)
        Share of all tokens assigned to each topic.
    label_documents_ : ndarray of shape (n_labels,)
        Number of documents with each label.
    components_ : ndarray of shape (n_topics, n_words)
        P(word | topic), as a dense array.
    log_likelihood_ : list of float
        Σ log P(token | all other tokens) of each pass, each evaluated before the token is resampled.
    n_iter_ : int
        Number of passes.
    stopped_by_ : {"converged", "iterations", "interrupted"}
        Reason for the end of the fit.

    Examples
    --------
    >>> texts = ["cats purr", "cats purr and dogs bark", "dogs bark"]
    >>> model = LabeledLDA(random_state=0).fit(texts, [["cat"], ["cat", "dog"], ["dog"]])
    >>> model.top_words("dog", 2)
    ['bark', 'dogs']
    """

    saved_arrays: ClassVar[Mapping[str, Array]] = LABEL_ARRAYS
    saved_facts: ClassVar[Mapping[str, Fact]] = {**Model.saved_facts, "log_likelihood_": HISTORY}

    label_documents_: NDArray[np.int64]
    log_likelihood_: Sequence[float]

    def __init__(
        self,
        *,
        alpha: float = 0.1,
        eta: float = 0.1,
        background: int = 0,
        max_iter: int = 200,
        burn_in: int | None = None,
        tol: float = 0.0,
        random_state: Any = None,
        engine: Engine | None = None,
        verbose: bool = False,
    ) -> None:
        self.alpha = alpha
        self.eta = eta
        self.background = background
        self.max_iter = max_iter
        self.burn_in = burn_in
        self.tol = tol
        self.random_state = random_state
        self.engine = engine
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, checkpoints: Checkpoints | None = None) -> Self:
        """Fit the model to labeled documents.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            Training documents, or any source that `Corpus.build` accepts. Counts must be integers.
        y : labels of the documents, optional
            For each document a list of labels, one label or None; or an indicator matrix or frame with one column per label.
            By default, the labels of the corpus.
        checkpoints : Checkpoints, optional
            Save checkpoints during the fit, and resume an interrupted run.
        """
        data = self._engine().run_on_all(lambda: self._validate_input(X, y))
        n_labels, corpus = len(data.names), data.corpus
        n_topics = n_labels + self.background
        shards = label_shards(corpus.shards(), data.rows)
        pairs = Pairs.of(shards, corpus.n_words, n_topics)
        algorithm = self._algorithm_for(corpus, n_topics, pairs)
        settings = {"labels": plain(data.rows), "label_names": plain(np.array(data.names).astype("U"))}
        fitted = self._train(algorithm, corpus, checkpoints, settings, shards=shards)
        self._store_results(data, LabelCounts.of(*_observed_pairs(pairs, fitted.state), n_topics, float(self.eta)))
        self.log_likelihood_ = fitted.history
        return self

    def _algorithm_for(self, corpus: Corpus, n_topics: int, pairs: Pairs) -> LabeledGibbs:
        return LabeledGibbs(
            n_topics=n_topics,
            n_documents=corpus.n_documents,
            n_words=corpus.n_words,
            n_tokens=corpus.n_tokens,
            seed=seed_of(self.random_state),
            pairs=pairs,
            alpha=float(self.alpha),
            eta=float(self.eta),
            burn_in=self.max_iter // 2 if self.burn_in is None else self.burn_in,
        )

    def _store_results(self, data: TrainingData, words: LabelCounts) -> None:
        self.label_words_, self.label_names_, self._label_form = words, data.names, data.form
        numbers = data.rows.numbers[data.rows.numbers < len(data.names)]
        self.label_documents_ = np.bincount(numbers, minlength=len(data.names))
        self._calibration = self._calibrate(data)

    def _label_frequencies(self) -> NDArray[Any]:
        return self.label_documents_

    def _calibrate(self, data: TrainingData) -> Calibration:
        """Calibrate scores to probabilities on an evenly spaced sample of the documents."""
        n_labels = len(data.names)
        rows = data.rows
        n_given = np.diff(rows.ends) - self.background
        with_labels = np.flatnonzero(n_given > 0)
        some = with_labels[:: -(-len(with_labels) // MAX_CALIBRATION_DOCUMENTS)]
        own = rows.chosen(some)
        corpus, scorer = data.corpus.filter(some), self.label_scorer()
        scores = scorer.score_all(label_shards(corpus.shards(), own), ThreadEngine())
        return calibrate(scores, scorer.shares, own.below(n_labels))

    def _validate_input(self, X: Any, y: Any) -> TrainingData:
        """Validate input and hyperparameters."""
        corpus = self._corpus_to_fit(X)
        given = GivenLabels(corpus.labels, LISTS) if y is None else read_labels(y, corpus.n_documents)
        self._validate_settings(corpus, self._problem_of_data(corpus, given))
        names = list(given.columns) if given.form == INDICATOR else names_in(given.lists)
        rows = rows_of_labels(given.lists, names)
        return TrainingData(corpus, names, rows.with_more(len(names), self.background), given.form)

    @classmethod
    def _file_layout(cls) -> Layout:
        return label_layout(cls.saved_arrays)

    def _problem_of_settings(self) -> str | None:
        problem = super()._problem_of_settings() or self._problem_of_stopping()
        if problem is None and (not is_whole(self.background) or self.background < 0):
            return f"background must be a whole number of at least 0, but was {self.background!r}"
        if problem is None and self.burn_in is not None and (not is_whole(self.burn_in) or self.burn_in < 0):
            return f"burn_in must be a whole number of at least 0, or None, but was {self.burn_in!r}"
        return problem

    def _problem_of_data(self, corpus: Corpus, given: GivenLabels) -> str | None:
        """Return what is wrong with the data, or None."""
        if not names_in(given.lists):
            return "no document has a label; at least one is needed"
        if not is_splittable(corpus.rows.counts):
            return f"tokens are sampled one by one, so counts must be whole numbers up to {MAX_COUNT:,}, but some are not"
        return None


class TrainingData(NamedTuple):
    """Validated input of a fit.

    corpus   training documents
    names    label names
    rows     labels of each document, followed by the background
    form     form in which the labels were passed
    """

    corpus: Corpus
    names: list[str]
    rows: LabelRows
    form: str


def _observed_pairs(
    pairs: Pairs, counts: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Select the word–label pairs with nonzero counts."""
    is_observed = counts > 0
    ends = np.concatenate([[0], np.cumsum(is_observed)])[pairs.ends]
    return as_read_only(ends, np.int64), pairs.labels[is_observed], counts[is_observed]
