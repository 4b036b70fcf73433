"""Base class of online label models, which index words and labels in order of first occurrence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import polars as pl

from semascope.corpus.build.growing_vocabulary import GrowingWords
from semascope.corpus.build.pipeline import Source
from semascope.corpus.corpus import Corpus
from semascope.corpus.csr import CSR
from semascope.corpus.labels import LabelRows
from semascope.corpus.lexicon import Lexicon
from semascope.corpus.matrices import rows_of_matrix
from semascope.corpus.shards import as_read_only, read_only
from semascope.corpus.text.analyzer import Analyzer
from semascope.errors import FormatError, InputError
from semascope.kernels.csr import renumber
from semascope.kernels.heldout import MAX_COUNT
from semascope.models.labels.label_input import INDICATOR, LISTS, GivenLabels, read_labels
from semascope.models.labels.label_model_base import LabelModel
from semascope.models.layouts import LABEL_ARRAYS
from semascope.models.validation import coerce_input, is_splittable, is_texts
from semascope.storage import Directory, Draft
from semascope.storage.layout import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray


MAX_LABELS = np.iinfo(np.int16).max
"""Labels of a document are indexed by 16-bit integers."""


class NumberedBatch(NamedTuple):
    """Documents as indices of words and labels."""

    rows: CSR
    labels: LabelRows


class OnlineLabelBase(LabelModel):
    """Label model with a growing vocabulary and label set; subclasses implement `partial_fit`."""

    learns_from_streams: ClassVar[bool] = True
    saved_arrays: ClassVar[Mapping[str, Array]] = LABEL_ARRAYS

    label_documents_: NDArray[np.int64]
    n_documents_seen_: int = 0
    stream_: dict[str, Any]
    analyzer: Analyzer | None
    engine = None
    _words: GrowingWords | None = None
    """Growing vocabulary; None for matrices, whose columns are fixed."""
    _names_of_columns: Lexicon | None = None
    _label_numbers: dict[str, int]

    # --- documents -----------------------------------------------------------------------------------------------------------

    def _to_batch(self, X: Any, y: Any) -> NumberedBatch:
        """Validate and index documents and their labels; an error leaves the model unchanged."""
        begun, X = "label_names_" in vars(self), coerce_input(X)
        if isinstance(X, Source):
            X = Corpus.build(X, self.analyzer_ if begun else self.analyzer)
        if isinstance(X, list | tuple) and not X:
            X = pl.Series("text", [], dtype=pl.String)
        of_texts = isinstance(X, Corpus) or is_texts(X)
        problem = None
        if begun and of_texts and self._words is None:
            problem = "the model was fitted to a matrix without words, so it cannot learn from texts: pass a matrix"
        elif begun and not of_texts and self._words is not None:
            problem = "the model was fitted to texts, so it cannot learn from a matrix: pass texts or a corpus"
        if problem:
            msg = f"{type(self).__name__}: {problem}."
            raise InputError(msg)
        n_documents = X.n_documents if isinstance(X, Corpus) else len(X) if of_texts else np.shape(X)[0]
        given = self._parse_labels(X, y, n_documents)
        rows = self._count_words(X) if of_texts else self._rows_from_matrix(X, begun=begun)
        if not begun:
            self._init_empty(given.form)
        self.n_documents_seen_ += n_documents
        return NumberedBatch(rows, self._assign_label_ids(given))

    def _parse_labels(self, X: Any, y: Any, n_documents: int) -> GivenLabels:
        if y is None and isinstance(X, Corpus):
            return GivenLabels(X.labels, LISTS)
        given = read_labels([None] * n_documents if y is None else y, n_documents)
        if given.form == INDICATOR:  # later calls may have other columns
            return given._replace(form=LISTS)
        return given

    def _count_words(self, X: Any) -> CSR:
        """Count the words of texts or a corpus, and extend the vocabulary."""
        if self._words is None:
            own = X.analyzer if isinstance(X, Corpus) else None
            self._words = GrowingWords(self.analyzer or (own if isinstance(own, Analyzer) else Analyzer()))
            self.analyzer_ = self._words.analyzer
        if isinstance(X, Corpus):
            rows = self._check_whole_counts(X.rows)
            numbers = as_read_only(self._words.numbers_of(X.words), np.int32)
            rows = read_only(CSR(*renumber(*rows, numbers, len(self._words))))
        else:
            rows = self._words.count(list(X))
        self.n_features_in_ = len(self._words)
        return rows

    def _rows_from_matrix(self, X: Any, *, begun: bool) -> CSR:
        rows, _ = rows_of_matrix(self._validated(X, reset=not begun))
        if not begun:
            self.analyzer_ = None
            names = getattr(self, "feature_names_in_", None)
            self._names_of_columns = None if names is None else Lexicon.of(list(names))
        return self._check_whole_counts(read_only(rows))

    def _check_whole_counts(self, rows: CSR) -> CSR:
        if not is_splittable(rows.counts):
            msg = (
                f"{type(self).__name__}: tokens are processed one by one, so counts must be whole numbers up to "
                f"{MAX_COUNT:,}, but some are not."
            )
            raise InputError(msg)
        return rows

    def _assign_label_ids(self, given: GivenLabels) -> LabelRows:
        """Return label indices, and extend the label set."""
        rows: list[list[int]] = []
        if (given.lists.list.len() > MAX_LABELS).any():
            msg = f"{type(self).__name__}: a document may have at most {MAX_LABELS:,} labels, but one has more."
            raise InputError(msg)
        for labels in given.lists.to_list():
            mine = {self._label_numbers.setdefault(label, len(self._label_numbers)) for label in labels if label}
            rows.append(sorted(mine))
        self.label_names_ = list(self._label_numbers)
        numbers = np.array([number for row in rows for number in row], dtype=np.int32)
        counted = np.bincount(numbers, minlength=len(self.label_names_))
        counted[: len(self.label_documents_)] += self.label_documents_
        self.label_documents_ = counted
        return LabelRows(as_read_only(np.cumsum([0, *map(len, rows)]), np.int64), as_read_only(numbers, np.int32))

    def _init_empty(self, form: str = LISTS) -> None:
        """Initialize an empty label set and, for texts, an empty vocabulary."""
        if not hasattr(self, "n_features_in_"):
            self._words = GrowingWords(self.analyzer or Analyzer())
            self.analyzer_, self.n_features_in_ = self._words.analyzer, 0
        self.label_names_, self._label_numbers, self._label_form = [], {}, form
        self.label_documents_ = np.zeros(0, np.int64)
        self.stream_ = getattr(self, "stream_", {})

    def _n_initial_words(self) -> int:
        """Return the number of columns of a matrix; 0 for texts."""
        return 0 if self._words is not None else self.n_features_in_

    # --- words ---------------------------------------------------------------------------------------------------------------

    @property
    def _lexicon(self) -> Lexicon | None:
        """Vocabulary, rebuilt on access if it has grown."""
        if self._words is None:
            return self._names_of_columns
        if self._names_of_columns is None or len(self._names_of_columns) < len(self._words):
            self._names_of_columns = Lexicon.of(pl.Series("word", self._words.listed, dtype=pl.String))
        return self._names_of_columns

    @_lexicon.setter
    def _lexicon(self, lexicon: Lexicon | None) -> None:
        self._names_of_columns = lexicon

    # --- persistence ---------------------------------------------------------------------------------------------------------

    def _write_labels(self, draft: Draft) -> None:
        super()._write_labels(draft)
        draft.facts["from_texts"] = self._words is not None

    def _read_labels(self, directory: Directory) -> None:
        super()._read_labels(directory)
        self._label_numbers = {name: number for number, name in enumerate(self.label_names_)}

    @classmethod
    def _from_directory(cls, directory: Directory) -> Self:
        model = super()._from_directory(directory)
        if directory.facts["from_texts"]:
            analyzer = model.analyzer_ if isinstance(model.analyzer_, Analyzer) else Analyzer()
            words = [] if model._names_of_columns is None else model._names_of_columns.words.to_list()
            if len(set(words)) != model.n_features_in_:
                msg = f"{directory.path}: expected a vocabulary of {model.n_features_in_:,} different words."
                raise FormatError(msg)
            model._words = GrowingWords(analyzer, words)
            model.analyzer = analyzer
        return model
