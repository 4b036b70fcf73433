"""Labeled LDA on a whole corpus at once."""

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
"""Documents from which it is learned how likely a score makes a label."""


class LabeledLDA(LabelModel):
    """Labeled LDA (Ramage et al., 2009), fitted by Gibbs sampling: every word of a document is due to one of its labels.

    One seed gives one model, bit for bit, on any engine and any number of threads.

    Parameters
    ----------
    alpha : float, default=0.1
        Prior of the labels of a document: the smaller, the fewer of them most words are due to.
    eta : float, default=0.1
        Prior of the words of a label.
    background : int, default=0
        Topics that are open to every document beside its labels, for words that tell nothing of them. Documents without labels
        have no others then; without a background they may use all labels, which takes memory for each of their words with
        each label.
    max_iter : int, default=200
        Passes over the corpus.
    burn_in : int, optional
        Passes before the first that counts: the words of labels are means over the passes after it. By default half of all.
    tol : float, default=0.0
        Stop when a pass changes the log-likelihood by less than this share of itself. It goes up and down at random, so that
        two passes may well agree by chance; with 0 it never settles.
    random_state : int, RandomState or None, default=None
        Seed of the sampler.
    engine : Engine, optional
        Where to work; all cores of this machine by default.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    label_names_ : list of str
        The labels, in the order in which documents first have them; of an indicator matrix, its columns.
    topic_names_ : list of str
        The labels, then the topics of the background.
    label_words_ : LabelWords
        How often each word is due to each of them.
    label_shares_ : ndarray of shape (n_topics,)
        Share of all words that is due to each.
    label_documents_ : ndarray of shape (n_labels,)
        How many documents have each label.
    components_ : ndarray of shape (n_topics, n_words)
        P(word | label), as a dense table.
    log_likelihood_ : list of float
        Σ log P(word | all others), each as it was before it was sampled, of each pass.
    n_iter_ : int
        Number of passes.
    stopped_by_ : {"converged", "iterations", "interrupted"}
        Why the fit ended.

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
        """Learn the words of labels.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            What to learn from. Whatever `Corpus.build` takes will do, too. Counts must be whole numbers.
        y : labels of the documents, optional
            A list of labels for each document; or one label, or None; or an indicator matrix or frame of zeros and ones, with a
            column for each label. By default the labels of the corpus.
        checkpoints : Checkpoints, optional
            Save the run now and then, and resume one that was cut off.
        """
        learned = self._engine().run_on_all(lambda: self._checked(X, y))
        n_labels, corpus = len(learned.names), learned.corpus
        n_topics = n_labels + self.background
        shards = label_shards(corpus.shards(), learned.rows)
        pairs = Pairs.of(shards, corpus.n_words, n_topics)
        algorithm = self._algorithm_for(corpus, n_topics, pairs)
        settings = {"labels": plain(learned.rows), "label_names": plain(np.array(learned.names).astype("U"))}
        fitted = self._train(algorithm, corpus, checkpoints, settings, shards=shards)
        self._keep(learned, LabelCounts.of(*_met(pairs, fitted.state), n_topics, float(self.eta)))
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

    def _keep(self, learned: Learned, words: LabelCounts) -> None:
        self.label_words_, self.label_names_, self._label_form = words, learned.names, learned.form
        numbers = learned.rows.numbers[learned.rows.numbers < len(learned.names)]
        self.label_documents_ = np.bincount(numbers, minlength=len(learned.names))
        self._calibration = self._calibrated(learned)

    def _how_common(self) -> NDArray[Any]:
        return self.label_documents_

    def _calibrated(self, learned: Learned) -> Calibration:
        """Learn from some of the documents, spread evenly, how scores become probabilities."""
        n_labels = len(learned.names)
        rows = learned.rows
        n_given = np.diff(rows.ends) - self.background
        with_labels = np.flatnonzero(n_given > 0)
        some = with_labels[:: -(-len(with_labels) // MAX_CALIBRATION_DOCUMENTS)]
        own = rows.chosen(some)
        corpus, scorer = learned.corpus.filter(some), self.label_scorer()
        scores = scorer.score_all(label_shards(corpus.shards(), own), ThreadEngine())
        return calibrate(scores, scorer.shares, own.below(n_labels))

    def _checked(self, X: Any, y: Any) -> Learned:
        """Take the data, and say at once what is wrong with it or with the settings."""
        corpus = self._corpus_to_fit(X)
        given = GivenLabels(corpus.labels, LISTS) if y is None else read_labels(y, corpus.n_documents)
        self._validate_settings(corpus, self._problem(corpus, given))
        names = list(given.columns) if given.form == INDICATOR else names_in(given.lists)
        rows = rows_of_labels(given.lists, names)
        return Learned(corpus, names, rows.with_more(len(names), self.background), given.form)

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

    def _problem(self, corpus: Corpus, given: GivenLabels) -> str | None:
        """What is wrong with the data, if anything."""
        if not names_in(given.lists):
            return "no document has a label, and there is nothing to learn without any"
        if not is_splittable(corpus.rows.counts):
            return f"every word is sampled by itself, so counts must be whole numbers up to {MAX_COUNT:,}, but some are not"
        return None


class Learned(NamedTuple):
    """What a fit is given.

    corpus   the documents
    names    of labels
    rows     labels of each document, then the background
    form     how labels were given
    """

    corpus: Corpus
    names: list[str]
    rows: LabelRows
    form: str


def _met(pairs: Pairs, counts: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """The pairs that words and labels did come to have, and how often."""
    is_met = counts > 0
    ends = np.concatenate([[0], np.cumsum(is_met)])[pairs.ends]
    return as_read_only(ends, np.int64), pairs.labels[is_met], counts[is_met]
