"""Vocabulary construction: n-grams, pruning, and the final ids of words in counted pieces."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
import polars as pl

from semascope.corpus.build.spool import Piece, Pieces
from semascope.corpus.csr import CSR, hstack
from semascope.corpus.lexicon import Lexicon
from semascope.corpus.text.analyzer import Analyzer
from semascope.errors import InputError
from semascope.kernels.csr import renumber
from semascope.kernels.tokenizer import fill_pair_buckets, number_ngrams
from semascope.resources import usable_cores

if TYPE_CHECKING:
    from numpy.typing import NDArray


T = TypeVar("T")


class Words(NamedTuple):
    """Distinct words and their total counts."""

    words: pl.Series
    totals: NDArray[Any]


@dataclass(frozen=True)
class Counted:
    """Documents counted in one language, and their vocabulary.

    pieces       the rows, with the word numbers of their tables
    numbers      per table: number of a word -> its id in the vocabulary, -1 for a word that is left out
    vocabulary   the words
    n_documents  number of documents in this language, at most the number of rows
    """

    pieces: Pieces
    numbers: list[NDArray[np.int32]]
    vocabulary: pl.Series
    n_documents: int

    def rows(self) -> Iterator[CSR]:
        """Iterate over the rows by vocabulary ids, piece by piece."""
        n_words = len(self.vocabulary)

        def renumbered(piece: Piece) -> CSR:
            return CSR(*renumber(piece.ends, piece.words, piece.counts, self.numbers[piece.table], n_words))

        threads = usable_cores()
        with ThreadPoolExecutor(threads) as pool:
            yield from ordered_map(pool, renumbered, ((piece,) for piece in self.pieces), ahead=2 * threads)


@dataclass(frozen=True)
class CountedLanguages:
    """The same documents, counted in each language.

    of_texts   whether analyzers produced the words
    """

    by_language: Mapping[str, Counted]
    of_texts: bool = True

    @property
    def lexicon(self) -> Lexicon:
        """The words of all languages, one language after the other."""
        return Lexicon.of({language: counted.vocabulary for language, counted in self.by_language.items()})

    def rows(self) -> Iterator[CSR]:
        """Iterate over the rows over all words, piece by piece."""
        parts = list(self.by_language.values())
        if len(parts) == 1:
            return parts[0].rows()
        return hstack([part.rows() for part in parts], [len(part.vocabulary) for part in parts])


class WorkQueue(Generic[T]):
    """Queue of tasks on a pool, with results in order of submission; at most `ahead` are pending."""

    def __init__(self, pool: ThreadPoolExecutor, task: Callable[..., T], ahead: int) -> None:
        self._pool, self._task, self._ahead = pool, task, ahead
        self._pending: deque[Future[T]] = deque()

    def put(self, *arguments: object) -> list[T]:
        """Submit a task; return the oldest result if enough are pending."""
        self._pending.append(self._pool.submit(self._task, *arguments))
        return [self._pending.popleft().result()] if len(self._pending) >= self._ahead else []

    def rest(self) -> Iterator[T]:
        """Yield the remaining results."""
        while self._pending:
            yield self._pending.popleft().result()


def ordered_map(
    pool: ThreadPoolExecutor, task: Callable[..., T], arguments: Iterable[tuple[object, ...]], ahead: int
) -> Iterator[T]:
    """Map a task over arguments on the pool, at most `ahead` at once; yield the results in order."""
    queue = WorkQueue(pool, task, ahead)
    for argument in arguments:
        yield from queue.put(*argument)
    yield from queue.rest()


def assign_word_ids(words: Words, analyzer: Analyzer, *, unique: bool = True) -> tuple[NDArray[np.int32], pl.Series]:
    """Assign word ids by falling frequency, then by spelling, so that they depend on the texts alone.

    Stop words and words without occurrences get no id; words with the same stem share one, as do equal words unless they are
    known to be `unique`. Returns old number -> id or -1, and the vocabulary.
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


def prune(counted: Counted, analyzer: Analyzer) -> Counted:
    """Prune words that are in too few or too many documents, or not among the most frequent."""
    kept = np.ones(len(counted.vocabulary), dtype=bool)
    if analyzer.limits_documents():
        in_documents = _documents_with_each_word(counted)
        kept = in_documents >= _as_number(analyzer.min_df, counted.n_documents)
        kept &= in_documents <= _as_number(analyzer.max_df, counted.n_documents)
    if analyzer.max_features is not None:  # words are sorted by frequency
        kept &= np.cumsum(kept) <= analyzer.max_features
    if kept.all():
        return counted
    final = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    numbers = [np.where(old >= 0, final[old], np.int32(-1)) for old in counted.numbers]
    return replace(counted, numbers=numbers, vocabulary=counted.vocabulary.filter(pl.Series(kept)))


def _documents_with_each_word(counted: Counted) -> NDArray[np.int64]:
    in_documents = np.zeros(len(counted.vocabulary), dtype=np.int64)
    for rows in counted.rows():
        in_documents += np.bincount(rows.words, minlength=len(in_documents))
    return in_documents


def _as_number(bound: int | float, n_documents: int) -> float:
    return bound if isinstance(bound, int) else bound * n_documents


MAX_RUNS = 2**31 - 1


class RunTable:
    """Table of n-grams: single words are numbered below `n_words`, longer n-grams from there on."""

    def __init__(self, n_words: int, capacity: int = 1 << 14) -> None:
        self._n_words = n_words
        self._n_pairs = 0
        self._buckets = np.full(2 * capacity, -1, dtype=np.int32)
        self._pairs = np.empty((capacity, 2), dtype=np.int32)
        self._totals = np.zeros(n_words + capacity, dtype=np.int64)

    def number(self, piece: Piece, new_number: NDArray[np.int32], ngrams: tuple[int, int]) -> Piece:
        """Return the n-grams of a piece whose rows are in reading order."""
        shortest, longest = ngrams
        n_tokens = len(piece.words)
        self._make_room(self._n_pairs + n_tokens * (longest - 1))
        ends, runs = np.zeros_like(piece.ends), np.empty(n_tokens * (longest - shortest + 1), dtype=np.int32)
        self._n_pairs = number_ngrams(
            piece.ends, piece.words, new_number, shortest, longest, self._n_words,
            self._buckets, self._pairs, self._n_pairs, self._totals, ends, runs,
        )  # fmt: skip
        runs = runs[: ends[-1]].copy()
        return Piece(0, ends, runs, np.ones(len(runs), dtype=np.int32))

    def words(self, words: pl.Series) -> Words:
        """Return all words and n-grams in the order of their numbers, with their total counts."""
        longer = pl.DataFrame({"run": self._pairs[: self._n_pairs, 0], "word": self._pairs[: self._n_pairs, 1]})
        longer = longer.with_row_index("number", offset=self._n_words)
        named = [pl.DataFrame({"number": np.arange(self._n_words, dtype=np.uint32), "name": words})]
        endings = named[0].select(word=pl.col("number").cast(pl.Int32), ending=pl.col("name"))
        while len(named[-1]):  # n-grams one word longer each time
            shorter = named[-1].select(run=pl.col("number").cast(pl.Int32), name="name")
            found = longer.join(shorter, on="run").join(endings, on="word")
            named.append(found.select("number", name=pl.col("name") + " " + pl.col("ending")))
        return Words(pl.concat(named).sort("number")["name"], self._totals[: self._n_words + self._n_pairs])

    def _make_room(self, n_pairs: int) -> None:
        if self._n_words + n_pairs > MAX_RUNS:
            msg = "there are more than two billion distinct n-grams; choose shorter ones."
            raise InputError(msg)
        if n_pairs > len(self._pairs):
            capacity = 1 << (n_pairs - 1).bit_length()
            pairs = np.empty((capacity, 2), dtype=np.int32)
            pairs[: self._n_pairs] = self._pairs[: self._n_pairs]
            self._pairs = pairs
            self._totals = np.pad(self._totals, (0, self._n_words + capacity - len(self._totals)))
            self._buckets = np.full(2 * capacity, -1, dtype=np.int32)
            fill_pair_buckets(self._buckets, self._pairs, self._n_pairs)


def count_ngrams(
    pieces: Pieces, numbers: list[NDArray[np.int32]], vocabulary: pl.Series, ngrams: tuple[int, int]
) -> tuple[Pieces, Words]:
    """Count n-grams; return new pieces, numbered by one table, and its words."""
    table, counted = RunTable(len(vocabulary)), pieces.another()
    for piece in pieces:
        counted.append(table.number(piece, numbers[piece.table], ngrams))
    return counted, table.words(vocabulary)
