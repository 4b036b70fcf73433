"""Labeled LDA, fitted online to a stream with new labels and words."""

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
"""Maximum number of rejuvenation passes: more would only take time."""

_COUNTED = {name: Whole() for name in ("record", "lines", "bad", "bad_bytes")}
STREAM = MaybeEmpty(Record({**_COUNTED, "positions": Record(others=Record())}))
"""Facts about the stream, stored by the caller: complete, or none."""

MAX_PARTICLES = np.iinfo(np.int16).max
"""Particle indices are stored as 16-bit integers."""


class OnlineLabeledLDA(OnlineLabelBase):
    """Labeled LDA, fitted online by a particle filter; new labels and words may appear at any time.

    Each particle is one assignment of all tokens to labels of their documents, weighted by the probability of the tokens.
    Particles are resampled when their effective sample size is low. Documents on which all particles agree are kept in a replay
    buffer, and their tokens are resampled from time to time given the current counts (rejuvenation). The same documents in the
    same order give the same model, bit for bit, however they are split into calls.

    Parameters
    ----------
    n_particles : int, default=10
        Number of particles.
    alpha, eta : float, default=0.1
        Dirichlet priors of the labels of a document and of the words of a label.
    weights : {"predictive", "published"}, default="predictive"
        Weight update of a particle for each token: its predictive probability or, as published, its probability given the
        sampled label, which is biased.
    ess_threshold : float, default=0.5
        Resample when the effective sample size is at most this fraction of `n_particles`.
    rejuvenation : int, default=6
        Number of passes over the replay buffer in each rejuvenation, which takes place whenever the new tokens are a fifth of
        those in the buffer. 0 disables rejuvenation.
    memory : int, default=1,000,000
        Capacity of the replay buffer in tokens, of about eight bytes for each token and label of its document. 0 is a plain
        particle filter.
    n_initial : int, default=200
        Number of initial documents, after which all particles restart from a single one refined by many passes.
    half_life : float, optional
        Number of documents after which counts lose half their weight, for drifting streams. By default, counts do not decay.
    analyzer : Analyzer, optional
        Analyzer of texts. Its frequency limits (min_df and so on) do not apply to streams.
    random_state : int, RandomState or None, default=None
        Seed of the sampler.

    Attributes
    ----------
    label_names_ : list of str
        Labels in order of first occurrence.
    label_words_ : LabelCounts
        Expected counts of the words of each label, averaged over particles.
    label_shares_ : ndarray of shape (n_labels,)
        Share of all tokens assigned to each label.
    label_documents_ : ndarray of shape (n_labels,)
        Number of documents with each label, without decay.
    components_ : ndarray of shape (n_labels, n_words)
        P(word | label), as a dense array.
    n_documents_seen_ : int
        Number of documents seen.
    n_documents_learned_ : int
        Number of documents with words and labels.
    last_log_likelihood_, last_tokens_ : float
        Σ log P(token | all previous ones) over the last call, and the number of its tokens. exp(−ratio) is the perplexity of
        documents before they are learned.
    stream_ : dict
        Plain facts about the stream, set by the caller and saved with the model.

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
    """Cache of `label_words_`, cleared by `partial_fit`."""

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

    # --- fitting -------------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model from scratch, as `partial_fit` does on the first call."""
        for name in vars(self).keys() - self.get_params(deep=False).keys():
            delattr(self, name)
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Update the model with one document, or several in order.

        Parameters
        ----------
        X : str, list of str, Corpus, or matrix of shape (n_documents, n_words)
            One text, or several documents. A matrix must have integer counts and the same columns in every call. All words of
            a corpus join the vocabulary at once, those of texts one by one.
        y : labels, optional
            Label or labels of a single text; otherwise as in `LabeledLDA.fit`, by default the labels of the corpus. Documents
            without labels or words count as seen but do not change the model.
        """
        if isinstance(X, str):
            X, y = [X], [[y] if isinstance(y, str) else y]
        self._check_settings()
        batch_data = self._to_batch(X, y)
        if not hasattr(self, "_particles"):
            self._init_particles()
        batch = LabeledBatch(batch_data.rows, batch_data.labels, len(self.label_names_))
        self._known = None
        run_stream(self._filter(), self._particles, [batch], self._record_scores)
        return self

    def _init_particles(self) -> None:
        """Initialize the particles."""
        self.seed_ = seed_of(self.random_state)
        self._particles = Particles.none(self.n_particles, self._n_initial_words())

    def _record_scores(self, particles: Particles) -> None:
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
            problem = (
                f"n_particles cannot change after the first call: the model has {n_known}, but it was {self.n_particles!r}"
            )
        return problem

    def _check_settings(self) -> None:
        if problem := self._problem_of_settings():
            msg = f"{type(self).__name__}: {problem}."
            raise InputError(msg)

    # --- fitted attributes ---------------------------------------------------------------------------------------------------

    @property
    def label_words_(self) -> LabelCounts:  # type: ignore[override]
        """Expected counts of the words of each label, averaged over particles."""
        check_is_fitted(self)
        if self._known is None:
            self._known = self._particles.label_words(self.n_features_in_, float(self.eta))
        return self._known

    @property
    def n_documents_learned_(self) -> int:
        """Number of documents with words and labels."""
        return int(self._particles.tables.numbers[N_DOCUMENTS])

    def _label_frequencies(self) -> Any:
        return self.label_documents_

    def snapshot(self) -> Self:
        """Return a read-only copy of the current state, for queries while the model continues to learn.

        Particles are shared, so `partial_fit` must not be called on the copy.

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
        """Save the model to a directory, atomically, even before the first document.

        Load it with `semascope.load`; continuing gives the same bits as an uninterrupted stream.
        """
        if not hasattr(self, "_particles"):
            self._check_settings()
            self._init_empty()
            self._init_particles()
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
