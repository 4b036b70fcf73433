"""Segments of an index: adding, deleting and merging documents, with every change written to disk at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np
import polars as pl

from semascope.corpus.corpus import Corpus
from semascope.corpus.lexicon import NAMELESS, Lexicon, describe_languages
from semascope.corpus.text.analyzer import Analyzer, Analyzers, analyzer_of, for_vocabulary
from semascope.errors import FormatError, InputError
from semascope.models.base import Model
from semascope.models.loading import load
from semascope.models.registry import KINDS
from semascope.models.validation import coerce_input, is_texts
from semascope.retrieval.lexical import CollectionStats
from semascope.retrieval.lsa_space import SPACE, unit_vectors
from semascope.retrieval.queries import QueryReader
from semascope.retrieval.segments import Postings, Segment, merge_segments
from semascope.retrieval.topic_scorers import TOPICS
from semascope.storage import Layout, is_directory_of, open_directory, safe_filename, writing
from semascope.storage.facts import ListOf, Record, Text
from semascope.storage.layout import flags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semascope.models.lsa import LSA
    from semascope.models.topic_model import TopicModel

T = TypeVar("T")

INDEX = Layout(
    kind="index",
    version=1,
    facts=Record({"segments": ListOf(Text(), low=1, distinct=True), "models": ListOf(Text(), low=1, high=2, distinct=True)}),
    arrays={"alive_*": flags("n_documents")},
)
"""An index directory holds segments, models and masks of the documents that were not deleted."""

KNOWN_SHARE = 0.5
"""Minimum proportion of tokens that a model fitted to other documents must know."""


class IndexStats(NamedTuple):
    """Size of an index.

    documents          documents that were not deleted
    deleted_documents  deleted documents not yet removed by merging
    segments           number of segments
    words              distinct words of the documents
    dimensions         dimensions of the LSA space
    topic_model        class name of the topic model; None without one
    topics             its number of topics
    """

    documents: int
    deleted_documents: int
    segments: int
    words: int
    dimensions: int
    topic_model: str | None
    topics: int | None


class SegmentStore:
    """Documents of an index in immutable segments.

    Attributes
    ----------
    space : LSA
        LSA space of documents and queries.
    topics : TopicModel or None
        Topic model to search with, if any.
    path : Path or None
        Directory of the index, to which changes are written.
    """

    def __init__(
        self, segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]], space: LSA, topics: TopicModel | None
    ) -> None:
        self.space, self.topics = space, topics
        self.path: Path | None = None
        self._parts: dict[int, str] = {}  # file names of segments and models on disk, by identity
        self._version: str | None = None  # version on disk
        self._set_segments(segments, alive)

    @classmethod
    def _of(cls, corpus: Corpus, space: LSA, topics: TopicModel | None) -> Self:
        for model in (space, topics):
            if model is not None:
                _check_vocabulary(model, corpus)
        segment = _build_segment(corpus, space, topics)
        return cls([segment], [np.ones(corpus.n_documents, dtype=bool)], space, topics)

    # --- on disk -----------------------------------------------------------------------------------------------------------

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a saved index, memory-mapped."""
        directory = open_directory(path, INDEX)
        home = Path(path)
        names, models = ([safe_filename(name, home) for name in directory.facts[kind]] for kind in ("segments", "models"))
        segments = [Segment.open(home / name) for name in names]
        alive = [
            directory.array(f"alive_{number}", sizes={"n_documents": segment.corpus.n_documents})
            for number, segment in enumerate(segments)
        ]
        loaded = [load(home / name) for name in models]
        if problem := _find_inconsistency(segments, loaded) or (None if any(map(np.any, alive)) else "no document is left"):
            msg = f"{home}: the parts of the index are inconsistent: {problem}."
            raise FormatError(msg)
        index = cls(segments, alive, loaded[0], loaded[1] if len(loaded) > 1 else None)
        index.path, index._version = home, directory.manifest.data
        index._parts = {id(part): name for part, name in zip((*segments, *loaded), (*names, *models), strict=True)}
        return index

    def save(self, path: str | Path) -> None:
        """Write the index to a directory atomically. Later changes are written there, too."""
        home = Path(path)
        self._write(home, self._segments, self._alive, self._parts if self._is_at(home) else {})

    def _is_at(self, path: Path) -> bool:
        """Return whether a path holds the version that was opened or written last."""
        return is_directory_of(path) == INDEX.kind and open_directory(path, INDEX).manifest.data == self._version

    def _write(
        self, path: Path, segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]], there: Mapping[int, str]
    ) -> None:
        """Write a version of the index, keeping the parts that are on disk already."""
        parts: dict[int, str] = {}
        with writing(path, INDEX) as draft:
            models = [self.space] if self.topics is None else [self.space, self.topics]
            for part in (*segments, *models):
                name = there.get(id(part))
                home = draft.part(name)
                if name is None:
                    part.write(home) if isinstance(part, Segment) else part.without_documents().save(home)
                parts[id(part)] = home.name
            for number, kept in enumerate(alive):
                draft.array(f"alive_{number}", kept)
            draft.facts["segments"] = [parts[id(segment)] for segment in segments]
            draft.facts["models"] = [parts[id(model)] for model in models]
        self.path, self._parts, self._version = path, parts, draft.folder.name

    # --- changing ----------------------------------------------------------------------------------------------------------

    def add(self, documents: Any, *, ids: Sequence[str] | None = None, replace: bool = False) -> None:
        """Add documents: texts, the result of `semascope.read`, a frame or a corpus.

        They are folded into the space and the topics of the index, which do not change.

        Parameters
        ----------
        ids : sequence of str, optional
            Identifiers of texts; by default consecutive numbers.
        replace : bool, default=False
            Replace documents with the same ids, which are otherwise rejected.
        """
        corpus = self._read(documents, ids)
        self._check_same_languages(corpus.lexicon)
        known = [id for id in corpus.ids.to_list() if id in self._numbers]
        if known and not replace:
            msg = f"the index already has a document {known[0]!r}: choose another id, or replace it (replace=True, --replace)."
            raise InputError(msg)
        segments = [*self._segments, _build_segment(corpus, self.space, self.topics)]
        alive = [*self._without(known), np.ones(corpus.n_documents, dtype=bool)]
        while len(segments) > 1 and _size(alive[-1]) >= _size(alive[-2]) / 2:  # keeps the number of segments logarithmic
            last = merge_segments(segments[-2:], alive[-2:], CollectionStats.of(segments[-2:], alive[-2:]).lexicon)
            segments[-2:], alive[-2:] = [last], [np.ones(last.corpus.n_documents, dtype=bool)]
        self._change(segments, alive)

    def delete(self, ids: str | Iterable[str]) -> None:
        """Delete documents. If any id is unknown, none is deleted."""
        names = [ids] if isinstance(ids, str) else list(ids)
        for name in names:
            self.number_of(name)
        if len(set(names)) == len(self):
            msg = "an index must keep at least one document."
            raise InputError(msg)
        self._change(self._segments, self._without(names))

    def merge(self) -> None:
        """Merge all segments into one, and remove deleted documents."""
        if len(self._segments) > 1 or not self._allowed.all():
            segment = merge_segments(self._segments, self._alive, CollectionStats.of(self._segments, self._alive).lexicon)
            self._change([segment], [np.ones(segment.corpus.n_documents, dtype=bool)])

    def _change(self, segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]]) -> None:
        if self.path is not None:
            if not self._is_at(self.path):
                msg = f"{self.path}: was changed by another process since it was opened or saved; open it again."
                raise FormatError(msg)
            self._write(self.path, segments, alive, self._parts)
        self._set_segments(segments, alive)

    def _set_segments(self, segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]]) -> None:
        self._segments, self._alive = list(segments), list(alive)
        self._borders = np.cumsum([0, *(segment.corpus.n_documents for segment in segments)])
        self._allowed = np.concatenate(self._alive)
        self._cache: dict[str, Any] = {}

    def _without(self, ids: Sequence[str]) -> list[NDArray[np.bool_]]:
        alive = self._allowed.copy()
        alive[[self._numbers[id] for id in ids]] = False
        return np.split(alive, self._borders[1:-1])

    def _check_same_languages(self, theirs: Lexicon) -> None:
        """Check that both have named languages or both do not, as their words would never match."""
        mine = self._segments[0].corpus.lexicon
        if mine.is_named != theirs.is_named:
            ours, added = describe_languages(mine.languages), describe_languages(theirs.languages)
            msg = f"in the index {ours}, but in the documents to add {added}."
            raise InputError(msg)

    def _read(self, documents: Any, ids: Sequence[str] | None) -> Corpus:
        documents = coerce_input(documents)
        are_texts = not isinstance(documents, Corpus) and (isinstance(documents, list | tuple) or is_texts(documents))
        if ids is not None and not are_texts:
            msg = "ids can only be given with texts; other documents have their own."
            raise InputError(msg)
        if isinstance(documents, Corpus):
            return documents
        own = self._segments[0].corpus
        analyzer, language = for_vocabulary(own.analyzer), own.languages[0] if len(own.languages) == 1 else None
        if not are_texts:
            return Corpus.build(documents, analyzer, language=language or None)
        fresh = (str(number) for number in count(int(self._borders[-1])) if str(number) not in self._numbers)
        ids = [next(fresh) for _ in documents] if ids is None else ids
        return Corpus.from_texts(documents, ids=ids, analyzer=analyzer, language=language or None)

    # --- contents ----------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self._allowed.sum())

    def __repr__(self) -> str:
        stats = self.stats()
        return f"<{type(self).__name__}: {stats.documents:,} documents, {stats.words:,} words>"

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages of the words; a single one may be unnamed."""
        return self._words.lexicon.languages

    def stats(self) -> IndexStats:
        """Return the size of the index.

        Examples
        --------
        >>> from semascope import Corpus, Index
        >>> index = Index.build(Corpus.from_texts(["cats purr", "dogs bark"]))
        >>> index.stats().documents, index.stats().words, index.stats().topics
        (2, 4, None)
        """
        return IndexStats(
            documents=len(self),
            deleted_documents=int(np.count_nonzero(~self._allowed)),
            segments=len(self._segments),
            words=int(np.count_nonzero(self._words.documents)),
            dimensions=len(self.space.components_),
            topic_model=None if self.topics is None else type(self.topics).__name__,
            topics=None if self.topics is None else len(self.topics.components_),
        )

    def has(self, id: str) -> bool:
        """Return whether the index has a document with this id."""
        return id in self._numbers

    def number_of(self, id: str) -> int:
        """Return the number of a document by its id."""
        if id not in self._numbers:
            msg = f"the index has no document {id!r}."
            raise InputError(msg)
        return self._numbers[id]

    @property
    def ids(self) -> pl.Series:
        """Identifiers of the documents by number; null for deleted ones."""
        ids = pl.concat([segment.corpus.ids for segment in self._segments])
        return ids.set(pl.Series(~self._allowed), None)

    @property
    def _numbers(self) -> dict[str, int]:
        def numbers() -> dict[str, int]:
            return {id: number for number, id in enumerate(self.ids.to_list()) if id is not None}

        return self._cached("numbers", numbers)

    @property
    def _words(self) -> CollectionStats:
        models = (self.space,) if self.topics is None else (self.space, self.topics)
        more = [model.require_lexicon() for model in models]
        return self._cached("words", lambda: CollectionStats.of(self._segments, self._alive, more))

    @property
    def _reader(self) -> QueryReader:
        return self._cached("reader", lambda: QueryReader(self._words.lexicon, self._analyzers))

    @property
    def _analyzers(self) -> Analyzers | None:
        """Analyzers of the documents, and of the model for languages that no document has."""
        corpus, model = self._segments[0].corpus, self.topics or self.space
        if not isinstance(model.analyzer_, Mapping):
            return corpus.analyzer
        own = {language: analyzer_of(corpus.analyzer or Analyzer(), language) for language in corpus.languages}
        return {**model.analyzer_, **own}

    def _cached(self, name: str, create: Callable[[], T]) -> T:
        """Return a value cached for the current documents, or create it."""
        cache = self._cache
        if name not in cache:
            cache[name] = create()
        return cache[name]  # type: ignore[no-any-return]


def _find_inconsistency(segments: Sequence[Segment], models: Sequence[Any]) -> str | None:
    """Return how loaded segments and models are inconsistent, or None."""
    kinds = {SPACE: "LSA", TOPICS: "TopicModel"}
    for model, (name, kind) in zip(models, kinds.items(), strict=False):
        if vectors_by(model) != name or model.lexicon_ is None:
            return f"expected {kind} of words as a model, found {type(model).__name__}"
        for segment in segments:
            vectors = segment.vectors.get(name)
            if vectors is None or vectors.shape[1] != len(model.components_):
                return f"documents have no vectors {name!r} of {len(model.components_):,} dimensions"
    names = set(list(kinds)[: len(models)])
    if any(set(segment.vectors) != names for segment in segments):
        return "documents have vectors of a model that the index does not have"
    named = {segment.corpus.languages != NAMELESS for segment in segments}
    return "some of the words have languages, and some have none" if len(named) > 1 else None


def _size(alive: NDArray[np.bool_]) -> int:
    return int(alive.sum())


def _build_segment(corpus: Corpus, space: LSA, topics: TopicModel | None) -> Segment:
    """Build a segment with postings and vectors."""
    vectors: dict[str, NDArray[Any]] = {SPACE: unit_vectors(space.transform(corpus))}
    if topics is not None:
        vectors[TOPICS] = np.ascontiguousarray(_topics_of(topics, corpus), np.float32)
    return Segment(corpus, Postings.of(corpus), vectors)


def _topics_of(model: TopicModel, corpus: Corpus) -> NDArray[Any]:
    """Return the fitted topics of the documents, or fold them in if the model was fitted to others."""
    own = model.corpus_["fingerprint"] == corpus.fingerprint and len(model.doc_topics_) == corpus.n_documents
    return np.asarray(model.doc_topics_ if own else model.transform(corpus))


def _check_vocabulary(model: Any, corpus: Corpus) -> None:
    """Check that a model knows enough of the words of a corpus."""
    if model.corpus_["fingerprint"] == corpus.fingerprint:
        return
    known = corpus.reindexed(model.require_lexicon()).n_tokens / max(corpus.n_tokens, 1)
    if known < KNOWN_SHARE:
        msg = f"the model knows only {known:.0%} of the words of these documents: it belongs to another corpus."
        raise InputError(msg)


def vectors_by(model: Any) -> str | None:
    """Return the name of the document vectors of a model in an index; None if search does not use it."""
    return KINDS[model.kind].vectors if isinstance(model, Model) else None
