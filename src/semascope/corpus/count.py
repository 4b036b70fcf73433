"""Texts to counts: blocks of texts are tokenised on all threads, then all of them get one vocabulary."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import polars as pl

from semascope.corpus.analyze import Analyzer
from semascope.corpus.wordtable import WordTable
from semascope.errors import InputError
from semascope.kernels.rows import renumber
from semascope.machine import usable_cores

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

BLOCK_CHARACTERS = 1 << 21
"""Text handed to a thread at a time: large enough to be worth it, small enough to stay in the cache."""

NEEDS_PYTHON_LOWER = ("Σ", "İ")
"""The two characters whose lower case is not one character of its own: it depends on what follows, or is two."""


class Rows(NamedTuple):
    """Documents as rows of word counts, words in ascending order in each.

    ends     int64[d + 1]   row i is [ends[i]:ends[i + 1]] of the two others
    words    int32[nnz]     word numbers
    counts   float32[nnz]   how often
    """

    ends: NDArray[np.int64]
    words: NDArray[np.int32]
    counts: NDArray[np.float32]


class Words(NamedTuple):
    """Distinct words as met in the texts, and how often each was met."""

    words: pl.Series
    totals: NDArray[np.int64]


class Piece(NamedTuple):
    """Rows of a block whose word numbers are those of one table."""

    table: int
    ends: NDArray[np.int64]
    words: NDArray[np.int32]
    counts: NDArray[np.int32]


def count_texts(texts: Iterable[Sequence[str] | pl.Series], analyzer: Analyzer) -> tuple[Rows, pl.Series]:
    """Count the words of blocks of texts; give the rows and the vocabulary, most frequent word first."""
    threads = usable_cores()
    with ThreadPoolExecutor(threads) as pool:
        if analyzer.token_pattern is not None:
            pieces, words, numbers = _count_tokens(_tokens_by_pattern(texts, analyzer))
        else:
            pieces, words, numbers = _count_with_kernel(texts, analyzer, pool, threads)
        return _assemble(pieces, words, numbers, analyzer, pool)


def count_tokens(documents: Iterable[Sequence[str]], analyzer: Analyzer) -> tuple[Rows, pl.Series]:
    """Count words that come ready made; the analyzer's stop words, stems and limits apply, its case and pattern do not."""
    with ThreadPoolExecutor(usable_cores()) as pool:
        return _assemble(*_count_tokens(documents), analyzer, pool)


# --- blocks of texts to rows with numbers of their own -------------------------------------------------------------------


def _count_with_kernel(
    texts: Iterable[Sequence[str] | pl.Series], analyzer: Analyzer, pool: ThreadPoolExecutor, threads: int
) -> tuple[list[Piece], Words, list[NDArray[np.int64]]]:
    letters = analyzer.letters()
    tables = [WordTable() for _ in range(threads)]
    free: SimpleQueue[int] = SimpleQueue()
    for number in range(threads):
        free.put(number)

    def count(text: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Piece:
        number = free.get()
        rows = tables[number].count(text, offsets, letters, analyzer.min_length)
        free.put(number)
        return Piece(number, *rows)

    blocks = _utf8_blocks(texts, lowercase=analyzer.lowercase)
    pieces = list(_ordered(pool, count, blocks, ahead=2 * threads))
    whole = tables[0]
    numbers = [np.arange(whole.n_words), *(whole.merge(table) for table in tables[1:])]
    return pieces, Words(whole.words(), whole.totals()), numbers


def _ordered(
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


def _utf8_blocks(
    texts: Iterable[Sequence[str] | pl.Series], *, lowercase: bool
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
    """Cut texts into blocks of UTF-8 bytes with the offsets of the documents."""
    first = 0
    for batch in texts:
        for block in _small_batches(batch):
            encoded = _encode(block, first)
            if lowercase:
                for i, text in enumerate(block):
                    if not text.isascii() and any(letter in text for letter in NEEDS_PYTHON_LOWER):
                        encoded[i] = text.lower().encode()
            offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
            np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), out=offsets[1:])
            yield np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets
            first += len(block)


def _small_batches(batch: Sequence[str] | pl.Series) -> Iterator[list[str]]:
    """Cut a batch where about BLOCK_CHARACTERS have come together."""
    block: list[str] = []
    size = 0
    for text in batch:
        block.append(text)
        size += len(text) if isinstance(text, str) else 0
        if size >= BLOCK_CHARACTERS:
            yield block
            block, size = [], 0
    if block:
        yield block


def _encode(block: list[str], first: int) -> list[bytes]:
    try:
        return [text.encode() for text in block]
    except (AttributeError, UnicodeEncodeError):
        for number, text in enumerate(block, start=first):
            if not isinstance(text, str):
                msg = f"text {number} is not a string but {type(text).__name__} ({text!r:.40})."
                raise InputError(msg) from None
            try:
                text.encode()
            except UnicodeEncodeError as error:
                msg = f"text {number} is not valid Unicode: a lone surrogate at character {error.start}."
                raise InputError(msg) from None
        raise


def _tokens_by_pattern(texts: Iterable[Sequence[str] | pl.Series], analyzer: Analyzer) -> Iterator[list[str]]:
    find_all = re.compile(analyzer.token_pattern or "").findall
    for number, text in enumerate(text for batch in texts for text in batch):
        _encode([text], number)
        tokens = find_all(text.lower() if analyzer.lowercase else text)
        yield [token for token in tokens if len(token) >= analyzer.min_length]


def _count_tokens(documents: Iterable[Sequence[str]]) -> tuple[list[Piece], Words, list[NDArray[np.int64]]]:
    numbers: dict[str, int] = {}
    ends, found = [0], []
    for document, tokens in enumerate(documents):
        if isinstance(tokens, str):
            msg = f"document {document} is a string; from_tokens takes a list of words for each document."
            raise InputError(msg)
        found.append(np.fromiter((numbers.setdefault(t, len(numbers)) for t in tokens), dtype=np.int32))
        ends.append(ends[-1] + len(found[-1]))
    words = np.concatenate([*found, np.empty(0, np.int32)])
    totals = np.bincount(words, minlength=len(numbers)).astype(np.int64)
    piece = Piece(0, np.array(ends, dtype=np.int64), words, np.ones(len(words), dtype=np.int32))
    return [piece], Words(pl.Series("word", list(numbers), dtype=pl.String), totals), [np.arange(len(numbers))]


# --- one vocabulary for all ------------------------------------------------------------------------------------------------


def _assemble(
    pieces: list[Piece], words: Words, numbers: list[NDArray[np.int64]], analyzer: Analyzer, pool: ThreadPoolExecutor
) -> tuple[Rows, pl.Series]:
    """Give all rows the numbers of one vocabulary: stop words out, stems joined, frequent words first, then limits."""
    n_documents = sum(len(piece.ends) - 1 for piece in pieces)
    new_number, vocabulary = _number_words(words, analyzer)
    by_table = [new_number[in_whole] for in_whole in numbers]

    def renumbered(piece: Piece) -> Rows:
        return Rows(*renumber(piece.ends, piece.words, piece.counts, by_table[piece.table], len(vocabulary)))

    parts = list(pool.map(renumbered, pieces))
    kept = _within_limits(parts, len(vocabulary), n_documents, analyzer)
    if not kept.all():
        vocabulary, parts = _drop_words(parts, vocabulary, kept, pool)
    return joined(parts), vocabulary


def _number_words(words: Words, analyzer: Analyzer) -> tuple[NDArray[np.int32], pl.Series]:
    """Number the vocabulary by falling frequency, equals by spelling, so that it depends on the texts alone."""
    frame = pl.DataFrame({"word": words.words, "total": words.totals})
    if not analyzer.stop_words and analyzer.stemmer is None:
        order = frame.with_row_index("old").sort(["total", "word"], descending=[True, False])
        numbers = np.empty(len(frame), dtype=np.int32)
        numbers[order["old"].to_numpy()] = np.arange(len(frame), dtype=np.int32)
        return numbers, order["word"]
    if stop := analyzer.stop_set():
        frame = frame.with_columns(word=pl.when(pl.col("word").is_in(list(stop))).then(None).otherwise(pl.col("word")))
    if analyzer.stemmer is not None:
        known = frame["word"].is_not_null()
        stems = iter(analyzer.stems(frame["word"].filter(known).to_list()))
        frame = frame.with_columns(word=pl.Series([next(stems) if k else None for k in known], dtype=pl.String))
    order = frame.drop_nulls().group_by("word").agg(pl.col("total").sum())
    order = order.sort(["total", "word"], descending=[True, False]).with_row_index("number")
    new = frame.join(order, on="word", how="left", maintain_order="left")["number"]
    return new.cast(pl.Int32).fill_null(-1).to_numpy(), order["word"]


def _within_limits(parts: list[Rows], n_words: int, n_documents: int, analyzer: Analyzer) -> NDArray[np.bool_]:
    fewest, most = _documents(analyzer.min_df, n_documents), _documents(analyzer.max_df, n_documents)
    kept = np.ones(n_words, dtype=bool)
    if fewest > 1 or most < n_documents:
        in_documents = np.zeros(n_words, dtype=np.int64)
        for part in parts:
            in_documents += np.bincount(part.words, minlength=n_words)
        kept = (in_documents >= fewest) & (in_documents <= most)
    if analyzer.max_features is not None:  # words are in the order of their frequency
        kept &= np.cumsum(kept) <= analyzer.max_features
    return kept


def _documents(bound: int | float, n_documents: int) -> float:
    return bound if isinstance(bound, int) else bound * n_documents


def _drop_words(
    parts: list[Rows], vocabulary: pl.Series, kept: NDArray[np.bool_], pool: ThreadPoolExecutor
) -> tuple[pl.Series, list[Rows]]:
    new_number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    n_words = int(kept.sum())

    def dropped(part: Rows) -> Rows:
        return Rows(*renumber(part.ends, part.words, part.counts, new_number, n_words))

    return vocabulary.filter(pl.Series(kept)), list(pool.map(dropped, parts))


def joined(parts: Sequence[Rows]) -> Rows:
    """Put rows one after the other."""
    starts = np.cumsum([0, *(part.ends[-1] for part in parts)])
    ends = [part.ends[1:] + start for part, start in zip(parts, starts, strict=False)]
    return Rows(
        np.concatenate([np.zeros(1, np.int64), *ends]),
        np.concatenate([np.empty(0, np.int32), *(part.words for part in parts)]),
        np.concatenate([np.empty(0, np.float32), *(part.counts for part in parts)]),
    )
