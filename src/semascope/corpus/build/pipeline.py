"""Pipeline from documents to a corpus: blocks → counter → pieces → vocabulary → rows.

The result goes to a sink: documents as they arrive, rows once all words are known, and finally the words. There are two sinks,
`MemorySink` here and `CorpusWriter` for a directory; nothing else differs between a corpus in memory and one on disk.
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
    """Batch of documents.

    content    what is counted: texts by language, lists of words, or rows of counts
    documents  their metadata, for the sink; None if the sink has it already
    """

    content: Any
    documents: pl.DataFrame | None = None


class Sink(Protocol):
    """Receiver of a corpus: documents, rows, then the words."""

    def pieces(self) -> AbstractContextManager[Pieces]:
        """Open the spool in which pieces await their final word ids."""

    def documents(self, frame: pl.DataFrame, /) -> None:
        """Add documents."""

    def rows(self, rows: CSR, /) -> None:
        """Add rows, in the order of the documents."""

    def finish(self, lexicon: Lexicon, analyzers: Analyzers | None) -> None:
        """Add the words, and the analyzers that produced them."""


class Contents(NamedTuple):
    """The arguments of the constructor of `Corpus`."""

    rows: CSR
    lexicon: Lexicon
    documents: pl.DataFrame | Mapping[str, Any]
    analyzer: Analyzers | None


class MemorySink:
    """Sink for a corpus in memory.

    Parameters
    ----------
    documents : mapping, optional
        Validated columns of metadata, if not in the blocks; the frame is built on demand.
    """

    contents: Contents
    """The corpus, once finished."""

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
        self._rows.clear()  # before the check of ids, which takes memory too
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
    """Build a corpus from blocks of documents into a sink.

    Without a `vocabulary`, words are pruned by the limits of the analyzers, and some must be left. With one, all words
    are passed to the sink, to be looked up in the vocabulary.

    Returns
    -------
    Lexicon or None
        The given vocabulary; with `extend`, new words within the limits of the analyzers are appended to it.
    """
    with sink.pieces() as pieces:
        counted = _count(blocks, counter, pieces, sink, watch)
        if vocabulary is None:
            counted = _prune_languages(counted, analyzers)
            check_has_words(counted, analyzers)
        elif extend:
            vocabulary = vocabulary.extended(_prune_languages(counted, analyzers).lexicon)
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
    """Add the documents of each block to the sink, and count their contents."""
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


def _prune_languages(counted: CountedLanguages, analyzers: Analyzers) -> CountedLanguages:
    """Prune the words of each language by its limits."""
    parts = counted.by_language.items()
    limited = {language: prune(part, analyzer_of(analyzers, language)) for language, part in parts}
    return replace(counted, by_language=limited)


# --- sources ---------------------------------------------------------------------------------------------------------------


def blocks_of(source: Source, language: str | None, wanted: Collection[str] | None) -> Iterator[Block]:
    """Iterate over the documents of a source, numbering those without an id; raise SourceError if there are none.

    Plain texts are in `language`; of texts by language, those in `wanted` are kept.
    """
    given: Iterator[tuple[Any, pl.DataFrame]]
    given = _counts_in(source) if isinstance(source, CountedDocuments) else _texts_in(source, language, wanted)
    n_documents = 0
    for content, documents in given:
        yield Block(content, default_ids(documents, n_documents))
        n_documents += len(documents)
        del content, documents
    if n_documents == 0:
        raise SourceError(_describe_empty(source))


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
    """Return a factory of counters for the documents of a source."""
    if isinstance(source, CountedDocuments):
        return lambda pieces: RowCounter(analyzers, pieces, lambda: source.words, language)
    return lambda pieces: LanguageCounter(analyzers, pieces)


def in_memory(given: Any) -> Documents:
    """Convert a frame in memory, or a Bunch from scikit-learn's text loaders, to a source."""
    if is_bunch(given):
        return read(given)
    whole = whole_frame(given)
    return Documents(IN_MEMORY, lambda bad: iter([whole] if len(whole) else []))


# --- errors ----------------------------------------------------------------------------------------------------------------


@contextmanager
def name_source_in_errors(source: Source) -> Iterator[None]:
    """Add the name of the source to errors."""
    try:
        yield
    except SourceError:
        raise
    except InputError as error:
        msg = f"{source.source}: {error}"
        raise SourceError(msg) from None


def _describe_empty(source: Source) -> str:
    if source.bad:
        return f"{source.source}: none of its {len(source.bad):,} records can be read; the first: {source.bad[0]}"
    return f"{source.source}: there are no documents."


def check_has_languages(by_language: ByLanguage, wanted: Collection[str] | None) -> None:
    """Check that texts are in at least one language."""
    if not by_language:
        wanted_here = "" if wanted is None else f" of the vocabulary, where {describe_languages(tuple(wanted))}"
        msg = f"no text is in a language{wanted_here}."
        raise InputError(msg)


def check_has_words(counted: CountedLanguages, analyzers: Analyzers) -> None:
    """Check that each language has words left; the error gives the reason."""
    parts = counted.by_language
    for language, part in parts.items():
        where = f"{language}: " if language and len(parts) > 1 else ""
        if part.n_documents == 0:
            others = [other for other in parts if parts[other].n_documents]
            msg = f"no document has a text in {language!r}; there are texts in {', '.join(others) or 'no other language'}."
            raise InputError(msg)
        if len(part.vocabulary) == 0:
            raise InputError(where + _describe_no_words(part.n_documents, analyzer_of(analyzers, language)))


def _describe_no_words(n_documents: int, analyzer: Analyzer) -> str:
    if analyzer == Analyzer():
        return f"there are no words in the {n_documents:,} documents: the texts are empty or have no word long enough."
    limits = [f"min_length={analyzer.min_length}", f"min_df={analyzer.min_df}", f"max_df={analyzer.max_df}"]
    limits += [f"max_features={analyzer.max_features}"] if analyzer.max_features else []
    limits += [f"ngrams={analyzer.ngrams}"] if analyzer.ngrams != (1, 1) else []
    limits += ["the stop words"] if analyzer.stop_words else []
    return f"no words of the {n_documents:,} documents are left with {', '.join(limits)}; relax one of these."
