"""Labeled LDA that learns from a stream: document by document, with labels and words that nobody knew before."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from semascope.corpus.text.analyzer import Analyzer
from semascope.errors import InputError
from semascope.kernels.particle_filter import N_DOCUMENTS
from semascope.models.labels.online_base import OnlineLabelBase
from semascope.models.layouts import online_label_layout
from semascope.models.sklearn_imports import check_is_fitted
from semascope.models.validation import is_positive, is_share, is_whole, seed_of
from semascope.storage import Directory, Draft, Layout
from semascope.storage.facts import Fact, MaybeEmpty, Number, Record, Whole
from semascope.training.online_lda import run_stream
from semascope.training.particle_filter import LabeledBatch, ParticleFilter
from semascope.training.particle_state import ARRAYS, DIMENSIONS, LabelCounts, Particles

if TYPE_CHECKING:
    from pathlib import Path

WEIGHTS = ("predictive", "published")

MAX_REJUVENATION = 1_000
"""Passes over remembered words: no more would change anything, but take time."""

_COUNTED = {name: Whole() for name in ("record", "lines", "bad", "bad_bytes")}
STREAM = MaybeEmpty(Record({**_COUNTED, "positions": Record(others=Record())}))
"""What whoever feeds a stream notes in the model: all of it, or nothing."""

MAX_PARTICLES = np.iinfo(np.int16).max
"""They are numbered in few bits."""


class OnlineLabeledLDA(OnlineLabelBase):
    """Labeled LDA from a stream, by a particle filter: labels and words may join at any time.

    Several guesses which label every word is due to (particles) are followed at once. A word is weighed by how probable it was
    under each of them; when few carry all the weight, they take the place of the others. Documents on which all agree are kept
    for a while, and their words are shared out among their labels anew now and then, with all that is known by then.
    The same documents in the same order give the same model, bit for bit, however they are cut into calls.

    Parameters
    ----------
    n_particles : int, default=10
        Guesses that are followed at once.
    alpha, eta : float, default=0.1
        Priors of the labels of a document, and of the words of a label.
    weights : {"predictive", "published"}, default="predictive"
        What a word multiplies the weight of a particle by: its probability, or as published its probability given the label
        that was drawn for it, which is biased.
    ess_threshold : float, default=0.5
        Particles take others' places when they are worth no more than this share of them (effective sample size).
    rejuvenation : int, default=6
        How often to look at remembered words whenever they are shared out anew, which is when a fifth as many have come since.
        With 0 this never happens.
    memory : int, default=1,000,000
        Words to remember, in about eight bytes for each word and label of its document. With 0 it is a plain particle filter.
    n_initial : int, default=200
        Documents to begin with: after these, all particles start from one that is made good by many looks at them.
    half_life : float, optional
        Documents after which what was learned counts for half, for streams that drift. By default nothing is forgotten.
    analyzer : Analyzer, optional
        What counts as a word. Its limits (min_df and so on) are for whole corpora, and do not apply.
    random_state : int, RandomState or None, default=None
        Seed of the sampler.

    Attributes
    ----------
    label_names_ : list of str
        The labels, in the order in which documents first have them.
    label_words_ : LabelWords
        How often each word is due to each of them, in the mean of all particles.
    label_shares_ : ndarray of shape (n_labels,)
        Share of all words that is due to each.
    label_documents_ : ndarray of shape (n_labels,)
        How many documents had each label; half-life or not.
    components_ : ndarray of shape (n_labels, n_words)
        P(word | label), as a dense table.
    n_documents_seen_ : int
        All documents that were given.
    n_documents_learned_ : int
        Those among them with words and labels.
    last_log_likelihood_, last_tokens_ : float
        Of the last call: Σ log P(word | all before it), and the number of words. exp(−their ratio) is the perplexity of
        documents about to be learned.
    stream_ : dict
        Plain facts that are saved with the model, for whoever feeds it.

    Examples
    --------
    >>> model = OnlineLabeledLDA(random_state=0)
    >>> for text, labels in (("cats purr", ["cat"]), ("dogs bark", ["dog"]), ("cats purr and dogs bark", ["cat", "dog"])):
    ...     model = model.partial_fit(text, labels)
    >>> model.top_words("cat", 2), model.n_documents_seen_
    (['cats', 'purr'], 3)
    """

    saved_facts: ClassVar[Mapping[str, Fact]] = {
        "n_features_in_": Whole(0, 2**31 - 1), "n_documents_seen_": Whole(), "last_log_likelihood_": Number(finite=False),
        "last_tokens_": Number(), "stream_": STREAM, "seed_": Whole(high=2**128),
    }  # fmt: skip

    last_log_likelihood_: float = 0.0
    last_tokens_: float = 0.0
    seed_: int
    _particles: Particles
    _known: LabelCounts | None = None
    """What `label_words_` gives, until more is learned."""

    def __init__(
        self,
        n_particles: int = 10,
        *,
        alpha: float = 0.1,
        eta: float = 0.1,
        weights: str = "predictive",
        ess_threshold: float = 0.5,
        rejuvenation: int = 6,
        memory: int = 1_000_000,
        n_initial: int = 200,
        half_life: float | None = None,
        analyzer: Analyzer | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_particles = n_particles
        self.alpha = alpha
        self.eta = eta
        self.weights = weights
        self.ess_threshold = ess_threshold
        self.rejuvenation = rejuvenation
        self.memory = memory
        self.n_initial = n_initial
        self.half_life = half_life
        self.analyzer = analyzer
        self.random_state = random_state

    # --- learning ------------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from documents as `partial_fit` does, with nothing known before."""
        for name in vars(self).keys() - self.get_params(deep=False).keys():
            delattr(self, name)
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one more document, or from several in their order.

        Parameters
        ----------
        X : str, list of str, Corpus, or matrix of shape (n_documents, n_words)
            One text, or documents. A matrix has whole counts, and the same words every time. The words of a corpus join all at
            once, those of texts as they come.
        y : labels, optional
            Of one text, its labels or label. Of several documents as in `LabeledLDA.fit`; by default those of the corpus.
            Documents without labels, or without words, are counted, but nothing is learned from them.
        """
        if isinstance(X, str):
            X, y = [X], [[y] if isinstance(y, str) else y]
        self._check_settings()
        taken = self._taken(X, y)
        if not hasattr(self, "_particles"):
            self._begin()
        batch = LabeledBatch(taken.rows, taken.labels, len(self.label_names_))
        self._known = None
        run_stream(self._filter(), self._particles, [batch], self._note)
        return self

    def _begin(self) -> None:
        """Know nothing."""
        self.seed_ = seed_of(self.random_state)
        self._particles = Particles.none(self.n_particles, self._n_words_from_the_start())

    def _note(self, particles: Particles) -> None:
        self.last_log_likelihood_, self.last_tokens_ = particles.scores

    def _filter(self) -> ParticleFilter:
        return ParticleFilter(
            float(self.alpha), float(self.eta), self.weights == "published", self.ess_threshold * self.n_particles,
            self.rejuvenation, self.memory, self.n_initial, self.half_life, self.seed_,
        )  # fmt: skip

    def _problem_of_settings(self) -> str | None:
        whole = {"n_particles": 1, "rejuvenation": 0, "memory": 0, "n_initial": 0}
        problem = None
        for name, least in whole.items():
            if not is_whole(value := getattr(self, name)) or value < least:
                problem = f"{name} must be a whole number of at least {least}, but was {value!r}"
        for name in ("alpha", "eta"):
            if not is_positive(getattr(self, name)):
                problem = f"{name} must be a number above 0, but was {getattr(self, name)!r}"
        if problem is None and self.rejuvenation > MAX_REJUVENATION:
            problem = f"rejuvenation must be at most {MAX_REJUVENATION:,}, but was {self.rejuvenation:,}"
        if is_whole(self.n_particles) and self.n_particles > MAX_PARTICLES:
            problem = f"n_particles must be at most {MAX_PARTICLES:,}, but was {self.n_particles:,}"
        elif self.weights not in WEIGHTS:
            problem = f"weights must be one of {', '.join(WEIGHTS)}, but was {self.weights!r}"
        elif not is_share(self.ess_threshold):
            problem = f"ess_threshold must be above 0 and at most 1, but was {self.ess_threshold!r}"
        elif self.half_life is not None and not is_positive(self.half_life):
            problem = f"half_life must be a number of documents above 0, or None, but was {self.half_life!r}"
        elif hasattr(self, "_particles") and self.n_particles != len(self._particles.tables.logs):
            n_known = len(self._particles.tables.logs)
            problem = f"the model has {n_known} particles, so that n_particles cannot be {self.n_particles!r} from here on"
        return problem

    def _check_settings(self) -> None:
        if problem := self._problem_of_settings():
            msg = f"{type(self).__name__}: {problem}."
            raise InputError(msg)

    # --- what was learned ----------------------------------------------------------------------------------------------------

    @property
    def label_words_(self) -> LabelCounts:  # type: ignore[override]
        """How often each word is due to each label, in the mean of all particles."""
        check_is_fitted(self)
        if self._known is None:
            self._known = self._particles.label_words(self.n_features_in_, float(self.eta))
        return self._known

    @property
    def n_documents_learned_(self) -> int:
        """Documents with words and labels so far."""
        return int(self._particles.tables.numbers[N_DOCUMENTS])

    def _how_common(self) -> Any:
        return self.label_documents_

    def snapshot(self) -> Self:
        """Return a copy that knows what the model knows now, to be asked while the model learns on.

        Only what readers ask for is copied: the copy is not to learn.

        Examples
        --------
        >>> model = OnlineLabeledLDA(random_state=0).partial_fit("cats purr", ["cat"])
        >>> then = model.snapshot()
        >>> _ = model.partial_fit("cats and cats", ["cat"])
        >>> then.label_documents_.tolist(), model.label_documents_.tolist()
        ([1], [2])
        """
        words, known = self._lexicon, self.label_words_
        still = copy.copy(self)
        still._known, still._words, still._names_of_columns = known, None, words
        still.label_documents_ = self.label_documents_.copy()
        return still

    # --- on disk -------------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the model as a directory, also one that has learned nothing yet; a crash leaves what was there before.

        Read it with `semascope.load`, and go on: it comes to the same bits.
        """
        if not hasattr(self, "_particles"):
            self._check_settings()
            self._take_nothing()
            self._begin()
        super().save(path)

    @classmethod
    def _file_layout(cls) -> Layout:
        return online_label_layout(cls.saved_arrays, DIMENSIONS, ARRAYS)

    def _write_components(self, draft: Draft) -> None:
        for name, array in self._particles.to_arrays().items():
            draft.array(name, array)
        self._write_labels(draft)

    def _read_components(self, directory: Directory) -> None:
        self._read_labels(directory)
        self._particles = Particles.from_directory(directory)
