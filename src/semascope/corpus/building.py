"""Documents to counts, block by block: what is known of the documents is kept as they come, their words wait in pieces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from semascope.corpus.analyze import Analyzer
from semascope.corpus.analyzers import Analyzers, analyzer_of, analyzers_of
from semascope.corpus.count import count_texts
from semascope.corpus.documents import numbered
from semascope.corpus.lexicon import NAMELESS, said
from semascope.corpus.number import Counted, CountedLanguages, Words, number_words, within_limits
from semascope.corpus.pieces import Piece, PieceFiles, Pieces
from semascope.corpus.read import Documents, read
from semascope.corpus.readers.bunch import is_bunch
from semascope.corpus.readers.counts import CountedDocuments
from semascope.corpus.readers.tables import IN_MEMORY, whole_frame
from semascope.corpus.texts import ByLanguage, as_column, in_column
from semascope.corpus.writing import LAYOUT, CorpusWriter
from semascope.errors import InputError, SourceError
from semascope.storage import writing

if TYPE_CHECKING:
    from numpy.typing import NDArray

Source = Documents | CountedDocuments


def count_source(
    source: Source,
    analyzers: Analyzers,
    pieces: Pieces,
    keep: Callable[[pl.DataFrame], None],
    watch: Callable[[int], None] | None,
    language: str | None = None,
    wanted: Collection[str] | None = None,
) -> CountedLanguages:
    """Go through a source once: hand every block of documents to `keep`, and count their words into `pieces`.

    Plain texts and counts are in `language`; of texts by language those that are `wanted` are counted.
    """
    n_documents = 0

    def kept(block: pl.DataFrame) -> pl.DataFrame:
        nonlocal n_documents
        block = numbered(block, n_documents)
        n_documents += len(block)
        keep(block)
        if watch:
            watch(n_documents)
        return block

    def texts_in(block: pl.DataFrame) -> ByLanguage:
        by_language = in_column(block["text"], language, wanted)
        see_that_there_are_languages(by_language, wanted)
        kept(block.with_columns(as_column(by_language)))
        return by_language

    if isinstance(source, CountedDocuments):
        own = language or NAMELESS[0]
        counted = CountedLanguages({own: _take_counts(source, analyzer_of(analyzers, own), pieces, kept)})
    else:
        counted = count_texts(map(texts_in, source), analyzers, pieces)
    if n_documents == 0:
        raise SourceError(_nothing_in(source))
    if isinstance(source, CountedDocuments) and not any(len(piece.words) for piece in pieces):
        msg = "all counts are zero."
        raise InputError(msg)
    return counted


def _take_counts(
    source: CountedDocuments, analyzer: Analyzer, pieces: Pieces, kept: Callable[[pl.DataFrame], pl.DataFrame]
) -> Counted:
    """Take counts as they are, in the order of the columns; only what the analyzer says of distinct words applies."""
    if analyzer.ngrams != (1, 1):
        msg = "n-grams need texts, but these are counts."
        raise InputError(msg)
    totals: NDArray[Any] = np.zeros(0)
    n_documents = 0
    for block, rows in source:
        n_documents += len(kept(block))
        pieces.append(Piece(0, *rows))
        totals = np.pad(totals, (0, max(int(rows.words.max(initial=-1)) + 1 - len(totals), 0)))
        totals += np.bincount(rows.words, weights=rows.counts, minlength=len(totals))
    words = source.words if source.words is not None else pl.Series("word", [], dtype=pl.String)
    numbers = np.arange(len(words), dtype=np.int32)
    if analyzer.stop_words or analyzer.stemmer or analyzer.max_features:
        totals = np.pad(totals, (0, len(words) - len(totals)))
        numbers, words = number_words(Words(words, totals), analyzer)
    return within_limits(Counted(pieces, [numbers], words, n_documents), analyzer)


def write_corpus(
    source: Source, analyzers: Analyzers, path: Path, watch: Callable[[int], None] | None, language: str | None
) -> None:
    """Build a corpus on disk, block by block."""
    with naming(source), writing(path, LAYOUT) as draft, CorpusWriter(draft) as writer:
        with PieceFiles(draft.folder) as pieces:
            counted = count_source(source, analyzers, pieces, writer.documents, watch, language)
            see_that_there_are_words(counted, analyzers)
            for rows in counted.rows():
                writer.rows(rows)
        lexicon = counted.lexicon
        writer.finish(lexicon, kept_analyzers(source, analyzers, lexicon.languages))


def in_memory(given: Any) -> Documents:
    """Take a frame in memory, or what scikit-learn's loaders of texts give, for a source."""
    if is_bunch(given):
        return read(given)
    whole = whole_frame(given)
    return Documents(IN_MEMORY, lambda bad: iter([whole] if len(whole) else []))


def kept_analyzers(source: Source, analyzers: Analyzers, languages: tuple[str, ...]) -> Analyzers | None:
    """What made words of the texts; of counts, nothing did."""
    return analyzers_of(analyzers, languages) if isinstance(source, Documents) else None


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


def see_that_there_are_languages(by_language: ByLanguage, wanted: Collection[str] | None) -> None:
    """Say that there is nothing to count where texts are in no language at all."""
    if not by_language:
        wanted_here = "" if wanted is None else f" of the vocabulary; there {said(tuple(wanted))}"
        msg = f"no text is in a language{wanted_here}."
        raise InputError(msg)


def see_that_there_are_words(counted: CountedLanguages, analyzers: Analyzers) -> None:
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
