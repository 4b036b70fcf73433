"""One vocabulary for all: the words of counted pieces get their final numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import polars as pl

from semascope.corpus.analyze import Analyzer
from semascope.corpus.pieces import Piece, Pieces
from semascope.corpus.rows import Rows
from semascope.kernels.rows import renumber
from semascope.machine import usable_cores

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")


class Words(NamedTuple):
    """Distinct words, and how often each was met."""

    words: pl.Series
    totals: NDArray[Any]


@dataclass(frozen=True)
class Counted:
    """Documents that are counted, and the vocabulary that they will have.

    pieces      the rows, with the word numbers of their tables
    numbers     of each table: number of a word -> its number in the vocabulary, -1 for a word that is left out
    vocabulary  the words
    """

    pieces: Pieces
    numbers: list[NDArray[np.int32]]
    vocabulary: pl.Series

    def rows(self) -> Iterator[Rows]:
        """Give the rows over the vocabulary, piece by piece."""
        n_words = len(self.vocabulary)

        def renumbered(piece: Piece) -> Rows:
            return Rows(*renumber(piece.ends, piece.words, piece.counts, self.numbers[piece.table], n_words))

        threads = usable_cores()
        with ThreadPoolExecutor(threads) as pool:
            yield from in_order(pool, renumbered, ((piece,) for piece in self.pieces), ahead=2 * threads)


def in_order(
    pool: ThreadPoolExecutor, task: Callable[..., T], arguments: Iterable[tuple[object, ...]], ahead: int
) -> Iterator[T]:
    """Run a task over arguments on the pool, at most `ahead` of them at once; give the results in order."""
    pending: deque[Future[T]] = deque()
    for argument in arguments:
        pending.append(pool.submit(task, *argument))
        if len(pending) >= ahead:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def number_words(words: Words, analyzer: Analyzer, *, unique: bool = True) -> tuple[NDArray[np.int32], pl.Series]:
    """Number the vocabulary by falling frequency, equals by spelling, so that it depends on the texts alone.

    Stop words get no number, and neither do words that were never met; words of one stem get one, and so do equal words, unless
    they are known to be `unique`. Gives old number -> new number or -1, and the vocabulary.
    """
    frame = pl.DataFrame({"word": words.words, "total": words.totals})
    if unique and not analyzer.stop_words and analyzer.stemmer is None:
        order = frame.with_row_index("old").sort(["total", "word"], descending=[True, False])
        numbers = np.empty(len(frame), dtype=np.int32)
        numbers[order["old"].to_numpy()] = np.arange(len(order), dtype=np.int32)
        return numbers, order["word"]
    if stop := analyzer.stop_set():
        frame = frame.with_columns(word=pl.when(pl.col("word").is_in(list(stop))).then(None).otherwise(pl.col("word")))
    if analyzer.stemmer is not None:
        known = frame["word"].is_not_null()
        stems = iter(analyzer.stems(frame["word"].filter(known).to_list()))
        frame = frame.with_columns(word=pl.Series([next(stems) if k else None for k in known], dtype=pl.String))
    order = frame.drop_nulls().group_by("word").agg(pl.col("total").sum()).filter(pl.col("total") > 0)
    order = order.sort(["total", "word"], descending=[True, False]).with_row_index("number")
    new = frame.join(order, on="word", how="left", maintain_order="left")["number"]
    return new.cast(pl.Int32).fill_null(-1).to_numpy(), order["word"]


def within_limits(counted: Counted, analyzer: Analyzer) -> Counted:
    """Leave out words that are in too few or too many documents, or not among the most frequent."""
    kept = np.ones(len(counted.vocabulary), dtype=bool)
    if analyzer.limits_documents():
        n_documents, in_documents = _documents_with_each_word(counted)
        kept = in_documents >= _as_number(analyzer.min_df, n_documents)
        kept &= in_documents <= _as_number(analyzer.max_df, n_documents)
    if analyzer.max_features is not None:  # words are in the order of their frequency
        kept &= np.cumsum(kept) <= analyzer.max_features
    if kept.all():
        return counted
    final = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    numbers = [np.where(old >= 0, final[old], np.int32(-1)) for old in counted.numbers]
    return replace(counted, numbers=numbers, vocabulary=counted.vocabulary.filter(pl.Series(kept)))


def _documents_with_each_word(counted: Counted) -> tuple[int, NDArray[np.int64]]:
    n_documents, in_documents = 0, np.zeros(len(counted.vocabulary), dtype=np.int64)
    for rows in counted.rows():
        n_documents += len(rows.ends) - 1
        in_documents += np.bincount(rows.words, minlength=len(in_documents))
    return n_documents, in_documents


def _as_number(bound: int | float, n_documents: int) -> float:
    return bound if isinstance(bound, int) else bound * n_documents
