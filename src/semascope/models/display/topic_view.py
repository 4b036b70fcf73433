"""Uniform view of topics and labels for display: names, shares and words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from semascope.corpus.lexicon import Lexicon
from semascope.corpus.text.analyzer import Analyzer, Analyzers
from semascope.errors import InputError
from semascope.models.registry import KINDS, LABELS, TOPICS

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from semascope.training.particle_state import LabelCounts

MAX_CHARACTERISTIC_TERMS = 20.0
"""Cap of P(word | topic) / P(word) when ranking characteristic words."""


class RelevantWord(NamedTuple):
    """Word of a topic.

    probability   P(word | topic)
    lift          P(word | topic) / P(word)
    relevance     λ log P(word | topic) + (1 − λ) log lift
    """

    word: str
    probability: float
    lift: float
    relevance: float


@dataclass(frozen=True, eq=False)
class TopicView:
    """Snapshot of the topics or labels of a model, created by `TopicView.of`. Tables are cached.

    kind        "topics" or "labels"
    names       names; "topic 3" for an unnamed topic
    named       whether each topic is named
    shares      float64[k], share of all tokens
    words       vocabulary
    languages   language codes, if there are several
    of_word     int32[v], index of the language of each word
    analyzer    analyzer of texts
    """

    kind: str
    names: list[str]
    named: list[bool]
    shares: NDArray[np.float64]
    words: pl.Series
    languages: tuple[str, ...]
    of_word: NDArray[np.int32]
    analyzer: Analyzers
    _known: NDArray[Any] | LabelCounts

    @classmethod
    def of(cls, model: Any) -> Self:
        """Create the view of a model with topics or labels."""
        if isinstance(model, cls):
            return model
        from semascope.models.sklearn_imports import check_is_fitted  # slow, and not always needed

        check_is_fitted(model)
        if not KINDS[model.kind].explore:
            msg = f"{type(model).__name__} has no topics; to find related words, run: semascope neighbors"
            raise InputError(msg)
        lexicon = model._lexicon or Lexicon.of([f"x{j}" for j in range(model.n_features_in_)])
        languages = lexicon.languages if len(lexicon.languages) > 1 else ()
        names, analyzer = model.topic_names_, model.analyzer_ or Analyzer()
        if model.kind == LABELS:
            named = [number < len(model.label_names_) for number in range(len(names))]
            return cls(
                LABELS,
                names,
                named,
                model.label_shares_,
                lexicon.words,
                languages,
                lexicon.of_word,
                analyzer,
                model.label_words_,
            )
        given = [*model._topic_names, *[None] * (len(names) - len(model._topic_names))]
        named, shares = [name is not None for name in given], np.asarray(model.topic_shares_, np.float64)
        topics = np.asarray(model.components_)
        return cls(TOPICS, names, named, shares, lexicon.words, languages, lexicon.of_word, analyzer, topics)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def main_language(self) -> str | None:
        """First of several languages, or None."""
        return self.languages[0] if self.languages else None

    def short_name(self, topic: int) -> tuple[str, ...]:
        """Return a short name of a topic, by lines: its name or its top two words."""
        return (
            (self.names[topic],)
            if self.named[topic]
            else tuple(self.top_words(topic, 2, self.main_language)) or (self.names[topic],)
        )

    # --- words ---------------------------------------------------------------------------------------------------------------

    def probabilities(self, topic: int) -> NDArray[np.float64]:
        """Return P(word | topic)."""
        known = self._known
        if isinstance(known, np.ndarray):
            return np.asarray(known[topic], np.float64)
        counts = self._by_label[[topic]].toarray().ravel()
        return np.asarray((counts + known.eta) * known.scale[topic])

    @cached_property
    def everywhere(self) -> NDArray[np.float64]:
        """P(word)."""
        known = self._known
        if isinstance(known, np.ndarray):
            return np.asarray(self.shares.astype(known.dtype) @ known, np.float64)
        totals = np.bincount(known.words(), known.counts, known.n_words) + known.eta
        return np.asarray(totals / max(float(totals.sum()), 1e-300))

    def telling(self, topic: int) -> NDArray[np.float64]:
        """Return log P(word | topic) / P(word), clipped so that single rare words do not dominate."""
        lift = self.probabilities(topic) / np.maximum(self.everywhere, 1e-300)
        return np.log(np.clip(lift, 1 / MAX_CHARACTERISTIC_TERMS, MAX_CHARACTERISTIC_TERMS))

    def relevant_words(
        self, topic: int, relevance: float = 1.0, n: int = 10, language: str | None = None
    ) -> list[RelevantWord]:
        """Return the most relevant words of a topic (Sievert and Shirley, 2014).

        Parameters
        ----------
        topic : int
            Index of the topic.
        relevance : float, default=1.0
            λ: 1 ranks by P(word | topic), 0 by lift.
        n : int, default=10
            Number of words.
        language : str, optional
            Language to restrict the words to.
        """
        p, chosen = self.probabilities(topic), self._own_words(topic, language)
        p, lift = p[chosen], p[chosen] / np.maximum(self.everywhere[chosen], 1e-300)
        worth = relevance * np.log(p) + (1 - relevance) * np.log(lift)
        best = _largest(worth, n)
        names = self.words.gather(chosen[best]).to_list()
        return [
            RelevantWord(*of_word)
            for of_word in zip(names, p[best].tolist(), lift[best].tolist(), worth[best].tolist(), strict=True)
        ]

    def top_words(self, topic: int, n: int = 10, language: str | None = None) -> list[str]:
        """Return the most probable words of a topic."""
        p, chosen = self.probabilities(topic), self._own_words(topic, language)
        return list(self.words.gather(chosen[_largest(p[chosen], n)]).to_list())

    def numbers_of(self, words: Sequence[str], language: str = "") -> NDArray[np.int64]:
        """Return the index of each word in the vocabulary, -1 if missing; multilingual models need `language`."""
        known = self._numbers[self._number_of(language) if self.languages else 0]
        return np.array([known.get(word, -1) for word in words], np.int64)

    @cached_property
    def _numbers(self) -> list[dict[str, int]]:
        """Indices of words, by language."""
        found: list[dict[str, int]] = [{} for _ in self.languages or ("",)]
        for number, (word, language) in enumerate(zip(self.words.to_list(), self.of_word.tolist(), strict=True)):
            found[language if self.languages else 0][word] = number
        return found

    def _own_words(self, topic: int, language: str | None) -> NDArray[np.int64]:
        """Return the words with tokens assigned to a topic, optionally of one language."""
        if isinstance(self._known, np.ndarray):
            found = np.flatnonzero(self._known[topic] > 0)
        else:
            row = self._by_label[[topic]]
            found = np.sort(row.indices[row.data > 0]).astype(np.int64)
        return found if language is None else found[self.of_word[found] == self._number_of(language)]

    def _number_of(self, language: str) -> int:
        if language not in self.languages:
            there = f"the languages are {', '.join(self.languages)}" if self.languages else "its words have no languages"
            msg = f"there is no language {language!r}; {there}."
            raise InputError(msg)
        return self.languages.index(language)

    # --- similarity ----------------------------------------------------------------------------------------------------------

    def likeness(self, some: NDArray[Any], others: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """Compute the Bhattacharyya coefficients Σ_w √(P(w | a) P(w | b)) of topics `some` and `others`, or all."""
        roots = self._roots
        everything = np.arange(roots.shape[0])
        some_roots, other_roots = (
            roots if which is None or np.array_equal(which, everything) else roots[which] for which in (some, others)
        )
        found = some_roots @ other_roots.T
        return np.minimum(np.asarray(found.toarray() if hasattr(found, "toarray") else found, np.float64), 1.0)

    @cached_property
    def _roots(self) -> Any:
        """√P(word | topic); for labels without the prior, so that it is sparse."""
        known = self._known
        if isinstance(known, np.ndarray):
            n_distributions = max(round(float(known[0].sum(dtype=np.float64))), 1)  # one, or one for each language
            return np.sqrt(known / n_distributions, dtype=np.float32)
        sizes = np.maximum(known.sizes, 1e-300)
        return (self._by_label * (1 / sizes)[:, None]).tocsr().maximum(0).sqrt()

    @cached_property
    def _by_label(self) -> Any:
        """Counts of words, a row for each label."""
        import scipy.sparse as sp  # likewise

        known = self._known
        assert not isinstance(known, np.ndarray)
        shape = (known.n_labels, known.n_words)
        return sp.csc_array((known.counts, known.labels, known.ends), shape=shape).tocsr()


def _largest(values: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Return the indices of the n largest values, largest first; ties go to the first."""
    if n < len(values):
        least = np.partition(values, len(values) - n)[len(values) - n]
        places = np.flatnonzero(values >= least)
    else:
        places = np.arange(len(values))
    return np.asarray(places[np.argsort(-values[places], kind="stable")][:n])
