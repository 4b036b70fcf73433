"""Texts to counts: blocks of texts are tokenised on all threads, then all of them get one vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from semascope.corpus.analyze import Analyzer
from semascope.corpus.ngrams import count_ngrams
from semascope.corpus.number import Counted, Words, in_order, number_words, within_limits
from semascope.corpus.pieces import Piece, PieceList, Pieces
from semascope.corpus.wordtable import WordTable
from semascope.errors import InputError
from semascope.machine import usable_cores

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK_CHARACTERS = 1 << 21
"""Text handed to a thread at a time: large enough to be worth it, small enough to stay in the cache."""

BLOCK_TOKENS = 1 << 20
"""Ready-made words put into a piece at a time."""

NEEDS_PYTHON_LOWER = ("Σ", "İ")
"""The two characters whose lower case is not one character of its own: it depends on what follows, or is two."""


def count_texts(texts: Iterable[Sequence[str] | pl.Series], analyzer: Analyzer, pieces: Pieces) -> Counted:
    """Count the words of blocks of texts into `pieces`, and number them, most frequent word first."""
    if analyzer.token_pattern is not None:
        words, tables = _count_tokens(_tokens_by_pattern(texts, analyzer), pieces)
    else:
        words, tables = _count_with_kernel(texts, analyzer, pieces, in_order_of_text=analyzer.ngrams != (1, 1))
    return _with_vocabulary(pieces, words, tables, analyzer)


def count_tokens(documents: Iterable[Sequence[str]], analyzer: Analyzer, pieces: Pieces) -> Counted:
    """Count words that come ready made; the analyzer's stop words, stems and limits apply, its case and pattern do not."""
    return _with_vocabulary(pieces, *_count_tokens(documents, pieces), analyzer)


def words_in_order(
    texts: Sequence[str] | pl.Series, analyzer: Analyzer, wanted: pl.Series
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Give where each text ends, and all words in their order: the number of one that is `wanted`, -1 for any other.

    Stop words and words that are too short take no place; words that limits keep out of a vocabulary do.
    """
    pieces = PieceList()
    if analyzer.token_pattern is not None:
        words, tables = _count_tokens(_tokens_by_pattern([texts], analyzer), pieces)
    else:
        words, tables = _count_with_kernel([texts], analyzer, pieces, in_order_of_text=True)
    new_number, vocabulary = number_words(words, analyzer)
    numbered = pl.DataFrame({"word": wanted, "number": np.arange(len(wanted), dtype=np.int32)})
    joined = vocabulary.rename("word").to_frame().join(numbered, on="word", how="left", maintain_order="left")
    number = joined["number"].fill_null(-1).to_numpy()
    ends, found = [np.zeros(1, np.int64)], [np.empty(0, np.int32)]
    for piece in pieces:
        read = new_number[tables[piece.table][piece.words]]
        kept = read >= 0
        found.append(number[read[kept]])
        ends.append(ends[-1][-1] + np.cumsum(np.append(0, kept))[piece.ends[1:]])
    return np.concatenate(ends), np.concatenate(found)


def _with_vocabulary(pieces: Pieces, words: Words, tables: list[NDArray[np.int64]], analyzer: Analyzer) -> Counted:
    """Stop words out, stems joined, n-grams put together, frequent words first, then limits."""
    new_number, vocabulary = number_words(words, analyzer)
    numbers = [new_number[in_whole] for in_whole in tables]
    if analyzer.ngrams != (1, 1):
        pieces, words = count_ngrams(pieces, numbers, vocabulary, analyzer.ngrams)
        new_number, vocabulary = number_words(words, Analyzer(), unique=False)  # "new york" may be a word already
        numbers = [new_number]
    return within_limits(Counted(pieces, numbers, vocabulary), analyzer)


# --- blocks of texts to rows with numbers of their own -------------------------------------------------------------------


def _count_with_kernel(
    texts: Iterable[Sequence[str] | pl.Series], analyzer: Analyzer, pieces: Pieces, *, in_order_of_text: bool
) -> tuple[Words, list[NDArray[np.int64]]]:
    """Count on all threads, each into a table of its own; give all words, and of each table their numbers among them."""
    letters, threads = analyzer.letters(), usable_cores()
    tables = [WordTable() for _ in range(threads)]
    free: SimpleQueue[int] = SimpleQueue()
    for number in range(threads):
        free.put(number)

    def count(text: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Piece:
        number = free.get()
        try:
            return Piece(number, *tables[number].count(text, offsets, letters, analyzer.min_length, as_read=in_order_of_text))
        finally:
            free.put(number)  # or the others would wait for it in vain

    with ThreadPoolExecutor(threads) as pool:
        for piece in in_order(pool, count, _utf8_blocks(texts, lowercase=analyzer.lowercase), ahead=2 * threads):
            pieces.append(piece)
    whole = tables[0]
    numbers = [np.arange(whole.n_words), *(whole.merge(table) for table in tables[1:])]
    return Words(whole.words(), whole.totals()), numbers


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


def _count_tokens(documents: Iterable[Sequence[str]], pieces: Pieces) -> tuple[Words, list[NDArray[np.int64]]]:
    """Count words that are strings already, by way of a dictionary."""
    numbers: dict[str, int] = {}
    totals = np.zeros(0, dtype=np.int64)
    for block in _blocks_of_documents(documents):
        found = [np.fromiter((numbers.setdefault(t, len(numbers)) for t in tokens), dtype=np.int32) for tokens in block]
        words = np.concatenate([np.empty(0, np.int32), *found])
        ends = np.cumsum([0, *map(len, found)], dtype=np.int64)
        pieces.append(Piece(0, ends, words, np.ones(len(words), dtype=np.int32)))
        in_block = np.bincount(words, minlength=len(numbers))
        in_block[: len(totals)] += totals
        totals = in_block
    return Words(pl.Series("word", list(numbers), dtype=pl.String), totals), [np.arange(len(numbers))]


def _blocks_of_documents(documents: Iterable[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Cut lists of words into blocks of about BLOCK_TOKENS words."""
    block: list[Sequence[str]] = []
    size = 0
    for number, tokens in enumerate(documents):
        if isinstance(tokens, str):
            msg = f"document {number} is a string; from_tokens takes a list of words for each document."
            raise InputError(msg)
        block.append(tokens)
        size += len(tokens)
        if size >= BLOCK_TOKENS:
            yield block
            block, size = [], 0
    yield block
