"""Registry of similarities by name."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from semascope.errors import InputError
from semascope.models.lsa import LSA
from semascope.models.topic_model import TopicModel
from semascope.retrieval.fisher import INFORMATION, PARTS, PROCESSES
from semascope.retrieval.fusion import Hybrid
from semascope.retrieval.lexical import BM25, CollectionStats, Cosine
from semascope.retrieval.lsa_space import LSACosine
from semascope.retrieval.ranking import Scorer
from semascope.retrieval.segments import Segment
from semascope.retrieval.topic_scorers import Divergence, FisherKernel, Likelihood, TopicTables

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEFAULT = "hybrid"
BY_WORDS = ("bm25", "cosine")
BY_TOPICS = ("kl", "lda", "fisher")
NAMES = (*BY_WORDS, "lsa", *BY_TOPICS, DEFAULT)
PUBLISHED = "published"


class Similarities:
    """Similarities of an index by name, each created on first use."""

    def __init__(
        self,
        segments: Sequence[Segment],
        alive: Sequence[NDArray[np.bool_]],
        words: CollectionStats,
        space: LSA,
        topics: TopicModel | None,
    ) -> None:
        self._segments, self._alive, self._words = segments, alive, words
        self._space, self._topics = space, topics
        self._tables: TopicTables | None = None
        self._scorers: dict[str, Scorer] = {}
        self._lock = Lock()

    def __getitem__(self, name: str) -> Scorer:
        with self._lock:
            return self._get(name)

    def _get(self, name: str) -> Scorer:
        if name not in self._scorers:
            self._scorers[name] = self._create(name)
        return self._scorers[name]

    def _create(self, name: str) -> Scorer:
        kind, *details = str(name).split("-")
        if kind not in NAMES or (details and not self._are_known(kind, details)):
            variants = f"fisher with {', '.join((*PROCESSES, *INFORMATION, 'z, w'))} after dashes"
            known = f"{', '.join(NAMES)}; kl-published; {variants}"
            msg = f"unknown similarity {name!r}: choose one of {known}."
            raise InputError(msg)
        if kind in BY_TOPICS:
            return self._by_topics(name, kind, details)
        if kind == "bm25":
            return BM25(self._segments, self._words)
        if kind == "cosine":
            return Cosine(self._segments, self._words)
        if kind == "lsa":
            return LSACosine(self._segments, self._words.lexicon, self._space)
        return self._hybrid()

    def _are_known(self, kind: str, details: Sequence[str]) -> bool:
        """Return whether the details of a name are known and name each choice at most once."""
        if kind == "kl":
            return list(details) == [PUBLISHED]
        named = [[one for one in details if one in choices] for choices in (PROCESSES, INFORMATION, PARTS)]
        return kind == "fisher" and all(len(one) <= 1 for one in named) and sum(map(len, named)) == len(details)

    def _by_topics(self, name: str, kind: str, details: Sequence[str]) -> Scorer:
        if self._topics is None:
            msg = f"by={name!r} needs topics, but the index has none: build it with a topic model, or search by lsa or bm25."
            raise InputError(msg)
        tables = self._topic_tables(self._topics)
        if kind == "kl":
            return Divergence(tables, published=PUBLISHED in details)
        if kind == "lda":
            return Likelihood(tables)
        process, information, part = (
            next((one for one in details if one in choices), choices[0]) for choices in (PROCESSES, INFORMATION, PARTS)
        )
        return FisherKernel(tables, process=process, information=information, part=part)

    def _topic_tables(self, topics: TopicModel) -> TopicTables:
        if self._tables is None:
            self._tables = TopicTables(self._segments, self._alive, self._words.lexicon, topics)
        return self._tables

    def _hybrid(self) -> Scorer:
        words, space = self._get("bm25"), self._get("lsa")
        assert isinstance(words, BM25)
        assert isinstance(space, LSACosine)
        topics = None if self._topics is None else Likelihood(self._topic_tables(self._topics))
        return Hybrid(words, space, topics, [segment.corpus.n_documents for segment in self._segments])
