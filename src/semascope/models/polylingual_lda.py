"""Polylingual LDA: topics with one distribution over words per language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from semascope.corpus.corpus import Corpus
from semascope.corpus.lexicon import describe_languages
from semascope.errors import InputError
from semascope.models.layouts import additive_over_topics
from semascope.models.lda import LDA
from semascope.models.sklearn_imports import check_is_fitted
from semascope.storage.layout import ANY, HUGE, Array, numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semascope.models.validation import FeatureNames


class PolylingualLDA(LDA):
    """Latent Dirichlet allocation over documents in several languages (Mimno et al., 2009).

    A document has texts in some or all of the languages and one mixture of topics for all of them. Each topic has a separate
    distribution over the words of each language, so topics can be compared across languages, and documents matched.

    Parameters and attributes are those of `LDA`, with the following differences.

    Parameters
    ----------
    eta : float, "auto", array, InformedPrior or dict of language to InformedPrior, default=0.03
        A dict has separate word lists for each language; categories of the same name are one topic. A single `InformedPrior`
        applies to all languages.

    Attributes
    ----------
    languages_ : tuple of str
        Language codes.
    components_ : ndarray of shape (n_components, n_words)
        P(word | topic, language); each row sums to one over the words of each language.

    Examples
    --------
    >>> texts = [{"en": "dog cat", "de": "hund katze"}, {"en": "bond stock", "de": "aktie fonds"}, {"en": "cat dog"}] * 5
    >>> model = PolylingualLDA(2, random_state=0).fit(texts)
    >>> model.languages_
    ('en', 'de')
    >>> english, german = model.transform([{"en": "cat and dog"}]), model.transform([{"de": "katze und hund"}])
    >>> bool(english.argmax() == german.argmax())
    True
    """

    saved_arrays: ClassVar[Mapping[str, Array]] = {
        **LDA.saved_arrays, "topic_sizes_": additive_over_topics(numbers(ANY, "n_topics", low=0.0, high=HUGE)),
    }  # fmt: skip

    def _problem_when_loaded(self) -> str | None:
        if self._lexicon is None or len(self._lexicon.languages) < 2:
            return "expected words in several languages, found those of one"
        if len(self.topic_sizes_) <= self._lexicon.of_word.max():
            return f"topic_sizes_ has {len(self.topic_sizes_)} languages, but the vocabulary has more"
        return super()._problem_when_loaded()

    @property
    def languages_(self) -> tuple[str, ...]:
        """Language codes; each topic has one distribution per language."""
        check_is_fitted(self, "components_")
        return self.require_lexicon().languages

    def top_words(
        self,
        n: int = 10,
        *,
        weights: bool = False,
        language: str | None = None,
        feature_names: FeatureNames | None = None,
    ) -> list[Any]:
        """Return the most probable words of each topic, for one language or as a dict by language.

        Parameters
        ----------
        n : int, default=10
            Number of words per language.
        weights : bool, default=False
            Whether to return pairs of word and probability.
        language : str, optional
            Language code.
        feature_names : sequence of str, optional
            Names to use instead of `vocabulary_`.
        """
        options: dict[str, Any] = {"weights": weights, "feature_names": feature_names}
        if language is None:
            of_all = {code: self.top_words(n, language=code, **options) for code in self.languages_}
            return [dict(zip(of_all, words, strict=True)) for words in zip(*of_all.values(), strict=True)]
        return super().top_words(n, language=language, **options)

    def counterparts(self, X: Any, among: Any, n: int = 10) -> pl.DataFrame:
        """Find the documents with the most similar topics, in any language.

        Parameters
        ----------
        X : Corpus or list of dict
            Query documents.
        among : Corpus or list of dict
            Candidate documents.
        n : int, default=10
            Number of counterparts per document.

        Returns
        -------
        polars.DataFrame
            ``document`` (index in X), ``rank`` from 1, ``counterpart`` (index in `among`) and ``likeness``, the Bhattacharyya
            coefficient Σ √(p q) of their topics, which is 1 for equal mixtures. For a corpus, also the document ids.
        """
        queries, candidates = np.sqrt(self.transform(X)), np.sqrt(self.transform(among))
        n = min(n, len(candidates))
        parts = [_nearest(queries[first : first + 1024], candidates, n) for first in range(0, len(queries), 1024)]
        found, likeness = (np.concatenate(part) for part in zip(*parts, strict=True))
        table = {
            "document": np.repeat(np.arange(len(queries)), n),
            "rank": np.tile(np.arange(1, n + 1), len(queries)),
            "counterpart": found.ravel(),
            "likeness": likeness.ravel().astype(np.float64),
        }
        frame = pl.DataFrame(table)
        for name, column, corpus in (("id", "document", X), ("counterpart_id", "counterpart", among)):
            if isinstance(corpus, Corpus):
                frame = frame.with_columns(corpus.ids.gather(frame[column]).alias(name))
        return frame

    def _languages(self, corpus: Corpus) -> NDArray[np.int32]:
        return corpus.word_languages

    def _word_languages(self) -> NDArray[np.int32]:
        return self.require_lexicon().of_word

    def _corpus_to_learn(self, X: Any) -> Corpus:
        languages = self.languages_ if hasattr(self, "components_") else self._corpus_to_fit(X).languages
        msg = f"partial_fit learns from one language, but there are {len(languages)}: {', '.join(languages)}; use LDA."
        raise InputError(msg)

    def _corpus_to_fit(self, X: Any) -> Corpus:
        corpus = super()._corpus_to_fit(X)
        if len(corpus.languages) < 2:
            msg = (
                f"{type(self).__name__} needs documents in several languages, but {describe_languages(corpus.languages)}; "
                "give texts as dicts of language to text, or a corpus built with languages."
            )
            raise InputError(msg)
        return corpus


def _nearest(queries: NDArray[Any], candidates: NDArray[Any], n: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the n most similar rows with their similarities, best first; ties go to the first."""
    likeness = queries @ candidates.T
    best = np.argsort(-likeness, axis=1, kind="stable")[:, :n]
    return best, np.take_along_axis(likeness, best, axis=1)
