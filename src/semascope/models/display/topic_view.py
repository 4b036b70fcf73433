"""Topics and labels alike: their names, shares and words, for whoever shows them."""

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
"""A word that is this many times more probable in a topic than everywhere is worth no less than one that is still more so."""


class RelevantWord(NamedTuple):
    """A word of a topic.

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
    """What there is to show of the topics or labels of a model.

    Made by `Themes.of`, and worth keeping: tables are put together once. It does not change when the model learns more.

    kind        "topics" or "labels"
    names       of each; "topic 3" for one without a name of its own
    named       whether each has a name of its own
    shares      float64[k], how much of all words is due to each
    words       the vocabulary
    languages   codes of the languages of words, where there are several
    of_word     int32[v], number of the language of each word
    analyzer    what makes words of texts
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
        """Look at a model that has topics or labels, or say that it has neither."""
        if isinstance(model, cls):
            return model
        from semascope.models.sklearn_imports import check_is_fitted  # takes long, and not all who show topics need it

        check_is_fitted(model)
        if not KINDS[model.kind].explore:
            msg = f"{type(model).__name__} has no topics to show; see what is near a word with: semascope neighbors"
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
        """The first of several languages."""
        return self.languages[0] if self.languages else None

    def short_name(self, topic: int) -> tuple[str, ...]:
        """Return what to call a topic where there is little room: its name, or its first two words."""
        return (
            (self.names[topic],)
            if self.named[topic]
            else tuple(self.top_words(topic, 2, self.main_language)) or (self.names[topic],)
        )

    # --- words ---------------------------------------------------------------------------------------------------------------

    def probabilities(self, topic: int) -> NDArray[np.float64]:
        """P(word | topic)."""
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
        """Return log P(word | topic) / P(word), within limits, so that no single rare word decides."""
        lift = self.probabilities(topic) / np.maximum(self.everywhere, 1e-300)
        return np.log(np.clip(lift, 1 / MAX_CHARACTERISTIC_TERMS, MAX_CHARACTERISTIC_TERMS))

    def relevant_words(
        self, topic: int, relevance: float = 1.0, n: int = 10, language: str | None = None
    ) -> list[RelevantWord]:
        """Return the most relevant words of a topic (Sievert and Shirley, 2014).

        Parameters
        ----------
        topic : int
            Its number.
        relevance : float, default=1.0
            λ: 1 ranks by P(word | topic), 0 by how much more probable the topic makes the word than it is everywhere.
        n : int, default=10
            How many.
        language : str, optional
            Only words of this language.
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
        """Return the number of each word in the vocabulary, -1 for one that is not in it; `language` where there are several."""
        known = self._numbers[self._number_of(language) if self.languages else 0]
        return np.array([known.get(word, -1) for word in words], np.int64)

    @cached_property
    def _numbers(self) -> list[dict[str, int]]:
        """Numbers of words, by language."""
        found: list[dict[str, int]] = [{} for _ in self.languages or ("",)]
        for number, (word, language) in enumerate(zip(self.words.to_list(), self.of_word.tolist(), strict=True)):
            found[language if self.languages else 0][word] = number
        return found

    def _own_words(self, topic: int, language: str | None) -> NDArray[np.int64]:
        """Words that are ever due to a topic, perhaps only those of one language."""
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

    # --- likeness ------------------------------------------------------------------------------------------------------------

    def likeness(self, some: NDArray[Any], others: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """Return Σ_w √(P(w | a) P(w | b)) of some topics a and others b, or all: 1 for equal ones, 0 without a word in common."""
        roots = self._roots
        everything = np.arange(roots.shape[0])
        some_roots, other_roots = (
            roots if which is None or np.array_equal(which, everything) else roots[which] for which in (some, others)
        )
        found = some_roots @ other_roots.T
        return np.minimum(np.asarray(found.toarray() if hasattr(found, "toarray") else found, np.float64), 1.0)

    @cached_property
    def _roots(self) -> Any:
        """√P(word | topic), of labels without what the prior gives to words they never had."""
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
    """Places of the n largest values, largest first; ties go to the first."""
    if n < len(values):
        least = np.partition(values, len(values) - n)[len(values) - n]
        places = np.flatnonzero(values >= least)
    else:
        places = np.arange(len(values))
    return np.asarray(places[np.argsort(-values[places], kind="stable")][:n])
