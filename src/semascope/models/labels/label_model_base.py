"""Base class of label models: words of labels, and labels of documents and words."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from semascope.corpus.corpus import Corpus
from semascope.corpus.labels import LabelRows, label_shards, rows_of_labels
from semascope.corpus.text.analyzer import Analyzer
from semascope.corpus.text.token_spans import Tokens, tokens_of
from semascope.errors import FormatError, InputError
from semascope.evaluation.heldout import COMMON, COMMON_ALPHA, OWN, check_prior, perplexity_with_labels
from semascope.inference.attribution import AttributedWord, attribute_words, best_passage, numbers_of
from semascope.models.display.notebook import NotebookRepr
from semascope.models.display.plots import Plots
from semascope.models.labels.label_input import ONE_NUMBER, is_whole_number, read_labels
from semascope.models.labels.prediction import Calibration, LabelPrediction
from semascope.models.registry import LABELS
from semascope.models.sklearn_imports import ClassifierTags, check_is_fitted
from semascope.models.validation import is_positive, is_whole, names_of_features
from semascope.storage import Directory, Draft
from semascope.training.particle_state import LabelCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semascope.models.validation import FeatureNames

FILES = {"ends": "pair_ends", "labels": "pair_labels", "counts": "pair_counts", "sizes": "label_sizes"}
"""File names of the arrays of `LabelCounts`."""


class LabelModel(Plots, NotebookRepr, LabelPrediction):
    """Base class of models in which every label is a topic. Subclasses set `label_words_` and `label_names_`.

    Topics of `label_words_` beyond the labels are the background, available to every document.
    """

    kind: ClassVar[str] = LABELS

    eta: float

    # --- fitted attributes ---------------------------------------------------------------------------------------------------

    @property
    def components_(self) -> NDArray[np.float32]:  # type: ignore[override]
        """P(word | label), with one row per topic; a large dense array, computed on each access."""
        check_is_fitted(self)
        return self.label_words_.dense()

    @property
    def n_background_(self) -> int:
        """Number of background topics."""
        return self.label_words_.n_labels - len(self.label_names_)

    @property
    def topic_names_(self) -> list[str]:
        """Label names, followed by "background 1" and so on."""
        check_is_fitted(self)
        return [*self.label_names_, *(f"background {number + 1}" for number in range(self.n_background_))]

    def top_words(
        self,
        label: str | None = None,
        n: int = 10,
        *,
        weights: bool = False,
        feature_names: FeatureNames | None = None,
    ) -> list[Any]:
        """Return the most probable words of one label or of all topics.

        Parameters
        ----------
        label : str, optional
            One label; by default, return one list for each of `topic_names_`.
        n : int, default=10
            Maximum number of words per label. Words without any token assigned to the label are left out.
        weights : bool, default=False
            Whether to return pairs of word and probability.
        feature_names : sequence of str, optional
            Column names of the training matrix. Not needed for models fitted to a corpus, texts or a frame.
        """
        check_is_fitted(self)
        if not is_whole(n) or n < 1:
            msg = f"n must be a whole number of at least 1, but was {n!r}."
            raise InputError(msg)
        known, words = self.label_words_, self.label_words_.words()
        wanted = [*range(known.n_labels)] if label is None else [self._number_of(label)]
        places = np.flatnonzero((known.counts > 0) & ((known.labels == wanted[0]) | (label is None)))
        order = places[np.lexsort((words[places], -known.counts[places], known.labels[places]))]
        ends = np.searchsorted(known.labels[order], np.arange(known.n_labels + 1))
        top: list[list[Any]] = []
        named = None if feature_names is None else names_of_features(feature_names, known.n_words)
        for number in wanted:
            best = order[ends[number] : ends[number + 1]][:n]
            names = [self._word(int(word)) if named is None else str(named[word]) for word in words[best]]
            p = (known.counts[best] + known.eta) * known.scale[number]
            top.append(list(zip(names, p.tolist(), strict=True)) if weights else names)
        return top if label is None else top[0]

    def _word(self, number: int) -> str:
        return f"x{number}" if self._lexicon is None else str(self._lexicon.words[number])

    def _number_of(self, label: str) -> int:
        """Return the index of a label or background topic; errors suggest similar names."""
        names = self.topic_names_
        if label in names:
            return names.index(label)
        near = get_close_matches(str(label), names, 3)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
        msg = f"the model does not know the label {label!r}{hint}"
        raise InputError(msg)

    # --- labels of words -----------------------------------------------------------------------------------------------------

    def attribute(self, text: str, labels: str | Sequence[str] | None = None) -> list[AttributedWord]:
        """Assign each word of a text to its most probable label.

        Parameters
        ----------
        text : str
            The text.
        labels : str or list of str, optional
            Labels of the text; by default, the predicted labels. The background is available in either case.

        Returns
        -------
        list of AttributedWord
            The ``word``, its offsets ``start`` and ``end``, its ``label`` (None for unknown words) and ``weight``, which is
            P(label | word, text); in reading order.

        Examples
        --------
        >>> from semascope import LabeledLDA
        >>> texts = ["cats purr", "cats purr and dogs bark", "dogs bark"]
        >>> model = LabeledLDA(random_state=0).fit(texts, [["cat"], ["cat", "dog"], ["dog"]])
        >>> [(found.word, found.label) for found in model.attribute("Dogs bark, cats yawn.", ["cat", "dog"])]
        [('Dogs', 'dog'), ('bark', 'dog'), ('cats', 'cat'), ('yawn', None)]
        """
        tokens, numbers = self._locate_tokens(text)
        if labels is None:
            labels = self.predicted_labels([text])[0]
        chosen = {self._number_of(label) for label in ([labels] if isinstance(labels, str) else labels)}
        chosen |= {*range(len(self.label_names_), self.label_words_.n_labels)}
        mine = np.array(sorted(chosen), np.int32)
        return attribute_words(text, tokens, numbers, mine, self.alpha, self.label_words_, self.topic_names_)

    def snippet(self, text: str, label: str, n_words: int = 30) -> str:
        """Return the passage of a text most typical of a label: with the highest mean log P(word | label) / P(word).

        Parameters
        ----------
        text : str
            The text.
        label : str
            The label.
        n_words : int, default=30
            Number of words of the passage; "…" marks omitted text.
        """
        number = self._number_of(label)
        if not is_whole(n_words) or n_words < 1:
            msg = f"n_words must be a whole number of at least 1, but was {n_words!r}."
            raise InputError(msg)
        tokens, numbers = self._locate_tokens(text)
        return best_passage(text, tokens, numbers, number, self.label_words_, n_words)

    def _locate_tokens(self, text: str) -> tuple[Tokens, NDArray[np.int32]]:
        """Return the tokens of a text and their word indices."""
        check_is_fitted(self)
        lexicon, analyzer = self.require_lexicon(), self.analyzer_ or Analyzer()
        if not isinstance(analyzer, Analyzer) or analyzer.ngrams != (1, 1):
            msg = "attribution needs a model of single words in one language, but this one has n-grams or several languages."
            raise InputError(msg)
        tokens = tokens_of(text, analyzer)
        return tokens, numbers_of(tokens.words, lexicon.words)

    # --- evaluation ----------------------------------------------------------------------------------------------------------

    def perplexity(self, X: Any, y: Any = None, *, prior: str = OWN, seed: int = 0) -> float:
        """Compute the held-out perplexity of documents with labels, by document completion; lower is better.

        The label proportions of each document are estimated from a random half of its tokens, and the other half is
        predicted. Unknown words are ignored. An unknown label has the same probability for every word.

        Parameters
        ----------
        X : Corpus, list of str, or matrix of shape (n_documents, n_words)
            The documents.
        y : labels of the documents, optional
            As in `fit`; by default, the labels of the corpus. A document without labels may use the background if there is
            one, and all labels otherwise.
        prior : {"own", "common"}, default="own"
            Prior of the labels of a document: `alpha`, or 0.1 for all models.
        seed : int, default=0
            Seed of the split into halves.
        """
        check_prior(prior)
        corpus = self.to_corpus(X)
        given = corpus.labels if y is None else read_labels(y, corpus.n_documents).lists
        new = [name for name in given.explode().drop_nulls().unique(maintain_order=True) if name]
        unknown = sorted({*new} - {*self.label_names_})
        known, rows = self.label_words_.with_unknown(len(unknown)), self.label_rows(given, unknown)
        shards, alpha = label_shards(corpus.shards(), rows), COMMON_ALPHA if prior == COMMON else self.alpha
        return perplexity_with_labels(known, shards, self._engine(), alpha=alpha, seed=seed)

    def label_rows(self, given: pl.Series, unknown: Sequence[str] = ()) -> LabelRows:
        """Return the label indices of each document, followed by the background; unknown labels have indices after it."""
        n_labels, n_background = len(self.label_names_), self.n_background_
        names = [*self.label_names_, *self.topic_names_[n_labels:], *unknown]
        rows = rows_of_labels(given, names)
        return rows if n_background == 0 else rows.with_more(n_labels, n_background)

    # --- fitting -------------------------------------------------------------------------------------------------------------

    def _problem_of_settings(self) -> str | None:
        for name in ("alpha", "eta"):
            if not is_positive(getattr(self, name)):
                return f"{name} must be a number above 0, but was {getattr(self, name)!r}"
        return None

    def _problem_of_size(self, corpus: Corpus) -> str | None:
        """Return None: the documents determine the number of labels."""
        return None

    # --- persistence ---------------------------------------------------------------------------------------------------------

    def _write_components(self, draft: Draft) -> None:
        known = self.label_words_
        for name, file in FILES.items():
            draft.array(file, getattr(known, name))
        self._write_labels(draft)
        draft.facts["eta"] = known.eta

    def _write_labels(self, draft: Draft) -> None:
        draft.table("labels", pl.DataFrame({"label": pl.Series(self.label_names_, dtype=pl.String)}))

    def _read_components(self, directory: Directory) -> None:
        self._read_labels(directory)
        arrays = {name: directory.array(file) for name, file in FILES.items()}
        self.label_words_ = LabelCounts(**arrays, eta=directory.facts["eta"])

    def _read_labels(self, directory: Directory) -> None:
        self.label_names_ = directory.table("labels")["label"].to_list()
        if len(set(self.label_names_)) < len(self.label_names_):
            msg = f"{directory.path}: two labels have the same name."
            raise FormatError(msg)
        if directory.facts["label_form"] == ONE_NUMBER and not all(map(is_whole_number, self.label_names_)):
            msg = f"{directory.path}: expected label names that are whole numbers, but some are not."
            raise FormatError(msg)

    def _problem_when_loaded(self) -> str | None:
        if problem := super()._problem_when_loaded():
            return problem
        if self.label_words_.n_labels < len(self.label_names_):
            return f"there are {len(self.label_names_):,} label names, but word counts of {self.label_words_.n_labels:,} labels"
        return None

    def _extra_facts(self) -> dict[str, Any]:
        return {"label_form": self._label_form, "calibration": list(self._calibration)}

    def _read_extra_facts(self, facts: dict[str, Any]) -> None:
        self._label_form, self._calibration = facts["label_form"], Calibration(*facts["calibration"])

    # --- scikit-learn --------------------------------------------------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return self.label_words_.n_labels

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the output feature names of `transform`: labels, then background topics."""
        return np.array(self.topic_names_, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return "label_names_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=True, multi_label=True)
        return tags
