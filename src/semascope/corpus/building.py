"""Documents to counts, block by block: what is known of the documents is kept as they come, their words wait in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from semascope.corpus.analyze import Analyzer
from semascope.corpus.count import count_texts
from semascope.corpus.documents import numbered
from semascope.corpus.number import Counted, Words, number_words, within_limits
from semascope.corpus.pieces import Piece, PieceFiles, Pieces
from semascope.corpus.read import Documents
from semascope.corpus.readers.counts import CountedDocuments
from semascope.corpus.readers.tables import IN_MEMORY, whole_frame
from semascope.corpus.writing import FORMAT, VERSION, CorpusWriter
from semascope.errors import InputError, SourceError
from semascope.storage import writing

if TYPE_CHECKING:
    from numpy.typing import NDArray

Source = Documents | CountedDocuments


def count_source(
    source: Source,
    analyzer: Analyzer,
    pieces: Pieces,
    keep: Callable[[pl.DataFrame], None],
    watch: Callable[[int], None] | None,
) -> Counted:
    """Go through a source once: hand every block of documents to `keep`, and count their words into `pieces`."""
    n_documents = 0

    def kept(block: pl.DataFrame) -> pl.DataFrame:
        nonlocal n_documents
        block = numbered(block, n_documents)
        n_documents += len(block)
        keep(block)
        if watch:
            watch(n_documents)
        return block

    if isinstance(source, CountedDocuments):
        counted = _take_counts(source, analyzer, pieces, kept)
    else:
        texts = (kept(block.with_columns(pl.col("text").fill_null("")))["text"] for block in source)
        counted = count_texts(texts, analyzer, pieces)
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
    for block, rows in source:
        kept(block)
        pieces.append(Piece(0, *rows))
        totals = np.pad(totals, (0, max(int(rows.words.max(initial=-1)) + 1 - len(totals), 0)))
        totals += np.bincount(rows.words, weights=rows.counts, minlength=len(totals))
    words = source.words if source.words is not None else pl.Series("word", [], dtype=pl.String)
    numbers = np.arange(len(words), dtype=np.int32)
    if analyzer.stop_words or analyzer.stemmer or analyzer.max_features:
        totals = np.pad(totals, (0, len(words) - len(totals)))
        numbers, words = number_words(Words(words, totals), analyzer)
    return within_limits(Counted(pieces, [numbers], words), analyzer)


def write_corpus(source: Source, analyzer: Analyzer, path: Path, watch: Callable[[int], None] | None) -> None:
    """Build a corpus on disk, block by block."""
    with naming(source), writing(path, FORMAT, VERSION) as draft, CorpusWriter(draft) as writer:
        with PieceFiles(draft.folder) as pieces:
            counted = count_source(source, analyzer, pieces, writer.documents, watch)
            if len(counted.vocabulary) == 0:
                raise InputError(no_words(writer.n_documents, analyzer))
            for rows in counted.rows():
                writer.rows(rows)
        writer.finish(counted.vocabulary, kept_analyzer(source, analyzer))


def in_memory(frame: Any) -> Documents:
    """Take a frame in memory for a source."""
    whole = whole_frame(frame)
    return Documents(IN_MEMORY, lambda bad: iter([whole] if len(whole) else []))


def kept_analyzer(source: Source, analyzer: Analyzer) -> Analyzer | None:
    """What made words of the texts; of counts, nothing did."""
    return analyzer if isinstance(source, Documents) else None


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


def for_vocabulary(analyzer: Analyzer | None) -> Analyzer:
    """The analyzer to count the words of a given vocabulary with: it is not pruned again."""
    return replace(analyzer or Analyzer(), min_df=1, max_df=1.0, max_features=None)


def _nothing_in(source: Source) -> str:
    if source.bad:
        return f"{source.source}: none of its {len(source.bad):,} records can be read; the first: {source.bad[0]}"
    return f"{source.source}: there are no documents."


def no_words(n_documents: int, analyzer: Analyzer) -> str:
    """Say why no word is left."""
    if analyzer == Analyzer():
        return f"there are no words in the {n_documents:,} documents: the texts are empty or have no word long enough."
    limits = [f"min_length={analyzer.min_length}", f"min_df={analyzer.min_df}", f"max_df={analyzer.max_df}"]
    limits += [f"max_features={analyzer.max_features}"] if analyzer.max_features else []
    limits += [f"ngrams={analyzer.ngrams}"] if analyzer.ngrams != (1, 1) else []
    limits += ["the stop words"] if analyzer.stop_words else []
    return f"no words of the {n_documents:,} documents are left within {', '.join(limits)}: loosen one of these."
