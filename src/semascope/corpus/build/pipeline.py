"""The one path by which documents become a corpus: blocks → counter → pieces → vocabulary → rows.

What is made is handed to a sink: documents as they come, rows once all words are known, and the words at last. There are two
sinks, `MemorySink` here and `CorpusWriter` for a directory; nothing else tells a corpus in memory from one on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import polars as pl

from semascope.corpus.build.counters import CorpusCounter, LanguageCounter, RowCounter
from semascope.corpus.build.spool import PieceList, Pieces
from semascope.corpus.build.vocabulary import CountedLanguages, prune
from semascope.corpus.csr import CSR, concatenate
from semascope.corpus.fields import check_unique, default_ids, without_empty_columns
from semascope.corpus.lexicon import Lexicon, describe_languages
from semascope.corpus.readers.counts import CountedDocuments
from semascope.corpus.readers.sklearn_bunch import is_bunch
from semascope.corpus.readers.sources import Documents, read
from semascope.corpus.readers.tables import IN_MEMORY, whole_frame
from semascope.corpus.text.analyzer import Analyzer, Analyzers, analyzer_of, analyzers_of, for_vocabulary
from semascope.corpus.text.multilingual import ByLanguage, as_column, in_column
from semascope.errors import InputError, SourceError

Source = Documents | CountedDocuments


class Block(NamedTuple):
    """Documents that come together.

    content    what is counted of them: texts by language, lists of words, or rows of counts
    documents  what else is known of them, for the sink; None where the sink knows it already
    """

    content: Any
    documents: pl.DataFrame | None = None


class Sink(Protocol):
    """Receives a corpus in the order in which it is made: documents, rows, then the words."""

    def pieces(self) -> AbstractContextManager[Pieces]:
        """Open the place where pieces wait for their final word numbers."""

    def documents(self, frame: pl.DataFrame, /) -> None:
        """Receive documents."""

    def rows(self, rows: CSR, /) -> None:
        """Receive the rows of documents, in the order of these."""

    def finish(self, lexicon: Lexicon, analyzers: Analyzers | None) -> None:
        """Receive the words, and what made them of the texts."""


class Contents(NamedTuple):
    """A corpus in memory, as the constructor of `Corpus` takes it."""

    rows: CSR
    lexicon: Lexicon
    documents: pl.DataFrame | Mapping[str, Any]
    analyzer: Analyzers | None


class MemorySink:
    """Keeps a corpus in memory.

    Parameters
    ----------
    documents : mapping, optional
        Columns of what is known of the documents, validated, where that is not in the blocks; no frame is made of them yet.
    """

    contents: Contents
    """What was received, once it is finished."""

    def __init__(self, documents: Mapping[str, Any] | None = None) -> None:
        self._columns = documents
        self._frames: list[pl.DataFrame] = []
        self._rows: list[CSR] = []

    def pieces(self) -> PieceList:
        return PieceList()

    def documents(self, frame: pl.DataFrame, /) -> None:
        self._frames.append(frame)

    def rows(self, rows: CSR, /) -> None:
        self._rows.append(rows)

    def finish(self, lexicon: Lexicon, analyzers: Analyzers | None) -> None:
        rows = concatenate(self._rows)
        self._rows.clear()  # before ids are compared, which takes memory, too
        self.contents = Contents(rows, lexicon, self._all_documents(), analyzers)

    def _all_documents(self) -> pl.DataFrame | Mapping[str, Any]:
        if self._columns is not None:
            return self._columns
        frame = without_empty_columns(pl.concat(self._frames))
        check_unique(frame["id"])
        return frame


def build_corpus(
    blocks: Iterable[Block],
    counter: Callable[[Pieces], CorpusCounter],
    sink: Sink,
    analyzers: Analyzers,
    *,
    vocabulary: Lexicon | None = None,
    extend: bool = False,
    watch: Callable[[int], None] | None = None,
) -> Lexicon | None:
    """Build a corpus of blocks of documents, and hand it to a sink.

    Without a `vocabulary`, the words are those within the limits of the analyzers, and there must be some. With one all words
    that were met are handed over, to be looked up in it.

    Returns
    -------
    Lexicon or None
        The vocabulary that was given; to `extend` it, the words it lacks join it at its end, as far as they are within the
        limits of the analyzers.
    """
    with sink.pieces() as pieces:
        counted = _count(blocks, counter, pieces, sink, watch)
        if vocabulary is None:
            counted = _within_limits(counted, analyzers)
            check_has_words(counted, analyzers)
        elif extend:
            vocabulary = vocabulary.extended(_within_limits(counted, analyzers).lexicon)
        for rows in counted.rows():
            sink.rows(rows)
    lexicon = counted.lexicon
    kept = analyzers if vocabulary is None else for_vocabulary(analyzers)
    sink.finish(lexicon, analyzers_of(kept, lexicon.languages) if counted.of_texts else None)
    return vocabulary


def _count(
    blocks: Iterable[Block],
    counter: Callable[[Pieces], CorpusCounter],
    pieces: Pieces,
    sink: Sink,
    watch: Callable[[int], None] | None,
) -> CountedLanguages:
    """Hand the documents of each block to the sink, and what they hold to a counter, which is gone afterwards."""
    n_documents = 0
    with counter(pieces) as counting:
        for content, documents in blocks:
            if documents is not None:
                sink.documents(documents)
                n_documents += len(documents)
                if watch:
                    watch(n_documents)
            counting.add(content)
            del content, documents  # before the next block is read
        return counting.finish()


def _within_limits(counted: CountedLanguages, analyzers: Analyzers) -> CountedLanguages:
    """Apply the limits of each language to its words."""
    parts = counted.by_language.items()
    limited = {language: prune(part, analyzer_of(analyzers, language)) for language, part in parts}
    return replace(counted, by_language=limited)


# --- sources ---------------------------------------------------------------------------------------------------------------


def blocks_of(source: Source, language: str | None, wanted: Collection[str] | None) -> Iterator[Block]:
    """Return the documents of a source, numbered where they have no id; there must be some.

    Plain texts are in `language`; of texts by language those that are `wanted` are taken.
    """
    given: Iterator[tuple[Any, pl.DataFrame]]
    given = _counts_in(source) if isinstance(source, CountedDocuments) else _texts_in(source, language, wanted)
    n_documents = 0
    for content, documents in given:
        yield Block(content, default_ids(documents, n_documents))
        n_documents += len(documents)
        del content, documents
    if n_documents == 0:
        raise SourceError(_nothing_in(source))


def _texts_in(
    source: Documents, language: str | None, wanted: Collection[str] | None
) -> Iterator[tuple[ByLanguage, pl.DataFrame]]:
    for frame in source:
        texts = in_column(frame["text"], language, wanted)
        check_has_languages(texts, wanted)
        yield texts, frame.with_columns(as_column(texts))
        del texts, frame


def _counts_in(source: CountedDocuments) -> Iterator[tuple[CSR, pl.DataFrame]]:
    for frame, rows in source:
        yield rows, frame


def counter_for(source: Source, analyzers: Analyzers, language: str | None) -> Callable[[Pieces], CorpusCounter]:
    """Return what makes a counter of the documents of a source."""
    if isinstance(source, CountedDocuments):
        return lambda pieces: RowCounter(analyzers, pieces, lambda: source.words, language)
    return lambda pieces: LanguageCounter(analyzers, pieces)


def in_memory(given: Any) -> Documents:
    """Take a frame in memory, or what scikit-learn's loaders of texts give, for a source."""
    if is_bunch(given):
        return read(given)
    whole = whole_frame(given)
    return Documents(IN_MEMORY, lambda bad: iter([whole] if len(whole) else []))


# --- what is wrong ---------------------------------------------------------------------------------------------------------


@contextmanager
def naming(source: Source) -> Iterator[None]:
    """Say which source it is that cannot be used."""
    try:
        yield
    except SourceError:
        raise
    except InputError as error:
        msg = f"{source.source}: {error}"
        raise SourceError(msg) from None


def _nothing_in(source: Source) -> str:
    if source.bad:
        return f"{source.source}: none of its {len(source.bad):,} records can be read; the first: {source.bad[0]}"
    return f"{source.source}: there are no documents."


def check_has_languages(by_language: ByLanguage, wanted: Collection[str] | None) -> None:
    """Say that there is nothing to count where texts are in no language at all."""
    if not by_language:
        wanted_here = "" if wanted is None else f" of the vocabulary; there {describe_languages(tuple(wanted))}"
        msg = f"no text is in a language{wanted_here}."
        raise InputError(msg)


def check_has_words(counted: CountedLanguages, analyzers: Analyzers) -> None:
    """Say of which language no word is left, and why."""
    parts = counted.by_language
    for language, part in parts.items():
        where = f"{language}: " if language and len(parts) > 1 else ""
        if part.n_documents == 0:
            others = [other for other in parts if parts[other].n_documents]
            msg = f"no document has a text in {language!r}; there are texts in {', '.join(others) or 'no other language'}."
            raise InputError(msg)
        if len(part.vocabulary) == 0:
            raise InputError(where + _no_words(part.n_documents, analyzer_of(analyzers, language)))


def _no_words(n_documents: int, analyzer: Analyzer) -> str:
    if analyzer == Analyzer():
        return f"there are no words in the {n_documents:,} documents: the texts are empty or have no word long enough."
    limits = [f"min_length={analyzer.min_length}", f"min_df={analyzer.min_df}", f"max_df={analyzer.max_df}"]
    limits += [f"max_features={analyzer.max_features}"] if analyzer.max_features else []
    limits += [f"ngrams={analyzer.ngrams}"] if analyzer.ngrams != (1, 1) else []
    limits += ["the stop words"] if analyzer.stop_words else []
    return f"no words of the {n_documents:,} documents are left within {', '.join(limits)}: loosen one of these."
