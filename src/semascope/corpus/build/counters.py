"""Counters: blocks of documents become pieces of word counts; at the end, all words get ids of one vocabulary."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import polars as pl

from semascope.corpus.build.spool import Piece, PieceList, Pieces
from semascope.corpus.build.vocabulary import Counted, CountedLanguages, Words, WorkQueue, assign_word_ids, count_ngrams
from semascope.corpus.build.word_table import WordTable
from semascope.corpus.csr import CSR
from semascope.corpus.lexicon import NAMELESS
from semascope.corpus.text.analyzer import Analyzer, Analyzers, analyzer_of
from semascope.corpus.text.multilingual import ByLanguage
from semascope.errors import InputError
from semascope.resources import usable_cores

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK_CHARACTERS = 1 << 21
"""Characters per task of a thread: large enough to be worth it, small enough to stay in the cache."""

BLOCK_TOKENS = 1 << 20
"""Tokens per piece, for documents that come tokenized."""

NEEDS_PYTHON_LOWER = ("Σ", "İ")
"""The two characters without a fixed, single lower-case character: it depends on what follows, or is two."""


def words_in_order(
    texts: Sequence[str] | pl.Series, analyzer: Analyzer, wanted: pl.Series
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the end of each text, and the numbers of all words in reading order: -1 for words not in `wanted`.

    Stop words and words that are too short take no position; words outside a vocabulary's limits do.
    """
    pieces = PieceList()
    with ThreadPoolExecutor(usable_cores()) as pool:
        counter = _counter(analyzer, pieces, pool, in_order=True)
        counter.add(texts)
        words, tables = counter.all_words()
    new_number, vocabulary = assign_word_ids(words, analyzer)
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


# --- counters of documents ----------------------------------------------------------------------------------------------


class CorpusCounter(ABC):
    """Counter of the words of documents, block by block. Limits are applied later."""

    @abstractmethod
    def add(self, content: Any, /) -> None:
        """Add the words of documents."""

    @abstractmethod
    def finish(self) -> CountedLanguages:
        """Return the counts of all that was added, with words numbered by falling frequency."""

    def __enter__(self) -> Self:
        return self

    def __exit__(  # noqa: B027  (most have nothing to release)
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release threads."""


class LanguageCounter(CorpusCounter):
    """Counter of texts, separately for each language; all blocks have the same languages."""

    def __init__(self, analyzers: Analyzers, pieces: Pieces) -> None:
        self._analyzers, self._pieces = analyzers, pieces
        self._counters: dict[str, TextCounter] = {}
        self._n_in_language: Counter[str] = Counter()
        self._pool = ThreadPoolExecutor(usable_cores())

    def add(self, content: ByLanguage, /) -> None:
        for language, (texts, n_documents) in content.items():
            if language not in self._counters:
                own = self._pieces.another() if self._counters else self._pieces
                self._counters[language] = _counter(analyzer_of(self._analyzers, language), own, self._pool)
            self._counters[language].add(texts)
            self._n_in_language[language] += n_documents

    def finish(self) -> CountedLanguages:
        return CountedLanguages({name: counter.finish(self._n_in_language[name]) for name, counter in self._counters.items()})

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._pool.shutdown()


class TokenListCounter(CorpusCounter):
    """Counter of tokenized documents; the analyzer's stop words and stemmer apply, its case and pattern do not."""

    def __init__(self, analyzer: Analyzer, pieces: Pieces) -> None:
        self._counter = TokenCounter(analyzer, pieces)
        self._n_documents = 0

    def add(self, content: Sequence[Sequence[str]], /) -> None:
        self._counter.add(content)
        self._counter.check_words_are_strings(content)
        self._n_documents += len(content)

    def finish(self) -> CountedLanguages:
        return CountedLanguages({NAMELESS[0]: self._counter.finish(self._n_documents)})


class RowCounter(CorpusCounter):
    """Counter of rows that are counts already; only the analyzer's settings for distinct words apply.

    `words` returns the names of the columns once all rows are added.
    """

    def __init__(
        self, analyzers: Analyzers, pieces: Pieces, words: Callable[[], pl.Series | None], language: str | None
    ) -> None:
        self._language = language or NAMELESS[0]
        self._analyzer, self._pieces, self._words = analyzer_of(analyzers, self._language), pieces, words
        if self._analyzer.ngrams != (1, 1):
            msg = "n-grams need texts, but these are counts."
            raise InputError(msg)
        self._totals: NDArray[Any] = np.zeros(0)
        self._n_documents = self._n_entries = 0

    def add(self, content: CSR, /) -> None:
        self._n_documents += len(content.ends) - 1
        self._n_entries += len(content.words)
        self._pieces.append(Piece(0, *content))
        totals = np.pad(self._totals, (0, max(int(content.words.max(initial=-1)) + 1 - len(self._totals), 0)))
        totals += np.bincount(content.words, weights=content.counts, minlength=len(totals))
        self._totals = totals

    def finish(self) -> CountedLanguages:
        if not self._n_entries:
            msg = "all counts are zero."
            raise InputError(msg)
        words = self._words()
        if words is None:
            words = pl.Series("word", [], dtype=pl.String)
        numbers = np.arange(len(words), dtype=np.int32)
        if self._analyzer.stop_words or self._analyzer.stemmer or self._analyzer.max_features:
            totals = np.pad(self._totals, (0, len(words) - len(self._totals)))
            numbers, words = assign_word_ids(Words(words, totals), self._analyzer)
        counted = Counted(self._pieces, [numbers], words, self._n_documents)
        return CountedLanguages({self._language: counted}, of_texts=False)


def _counter(analyzer: Analyzer, pieces: Pieces, pool: ThreadPoolExecutor, *, in_order: bool = False) -> TextCounter:
    """Create a counter; with `in_order`, its rows list every token in reading order."""
    if analyzer.token_pattern is not None:
        return PatternCounter(analyzer, pieces)
    return KernelCounter(analyzer, pieces, pool, in_order=in_order or analyzer.ngrams != (1, 1))


class TextCounter(Protocol):
    """Counter of the texts of one language; rows wait in pieces until all words are known."""

    def add(self, texts: Sequence[str] | pl.Series, /) -> None: ...
    def all_words(self) -> tuple[Words, list[NDArray[np.int64]]]:
        """Return all words, and for each table the numbers of its words among them, once all texts are added."""

    def finish(self, n_documents: int) -> Counted:
        """Return the counts; `n_documents` documents are in this language."""


def _with_vocabulary(
    pieces: Pieces, words: Words, tables: list[NDArray[np.int64]], analyzer: Analyzer, n_documents: int
) -> Counted:
    """Remove stop words, merge stems, build n-grams, and sort words by falling frequency."""
    new_number, vocabulary = assign_word_ids(words, analyzer)
    numbers = [new_number[in_whole] for in_whole in tables]
    if analyzer.ngrams != (1, 1):
        pieces, words = count_ngrams(pieces, numbers, vocabulary, analyzer.ngrams)
        new_number, vocabulary = assign_word_ids(words, Analyzer(), unique=False)  # "new york" may be a word already
        numbers = [new_number]
    return Counted(pieces, numbers, vocabulary, n_documents)


# --- the default token pattern -------------------------------------------------------------------------------------------


class KernelCounter:
    """Counter that runs on the threads of a pool, each with its own table."""

    def __init__(self, analyzer: Analyzer, pieces: Pieces, pool: ThreadPoolExecutor, *, in_order: bool) -> None:
        threads = usable_cores()
        self._analyzer, self._pieces, self._letters, self._in_order = analyzer, pieces, analyzer.letters(), in_order
        self._tables = [WordTable() for _ in range(threads)]
        self._free: SimpleQueue[int] = SimpleQueue()
        for number in range(threads):
            self._free.put(number)
        self._queue = WorkQueue(pool, self._count, ahead=2 * threads)
        self._n_texts = 0

    def add(self, texts: Sequence[str] | pl.Series, /) -> None:
        for block in _small_batches(texts):
            for piece in self._queue.put(*as_utf8(block, self._n_texts, lowercase=self._analyzer.lowercase)):
                self._pieces.append(piece)
            self._n_texts += len(block)

    def _count(self, text: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Piece:
        number = self._free.get()
        try:
            table, min_length = self._tables[number], self._analyzer.min_length
            return Piece(number, *table.count(text, offsets, self._letters, min_length, as_read=self._in_order))
        finally:
            self._free.put(number)  # otherwise the others would wait for it forever

    def all_words(self) -> tuple[Words, list[NDArray[np.int64]]]:
        for piece in self._queue.rest():
            self._pieces.append(piece)
        whole = self._tables[0]
        numbers = [np.arange(whole.n_words), *(whole.merge(table) for table in self._tables[1:])]
        return Words(whole.words(), whole.totals()), numbers

    def finish(self, n_documents: int) -> Counted:
        return _with_vocabulary(self._pieces, *self.all_words(), self._analyzer, n_documents)


def as_utf8(block: list[str], first: int, *, lowercase: bool) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Join texts as UTF-8, and return them with their offsets; lower-casing that is not one to one is done here."""
    encoded = _encode(block, first)
    if lowercase:
        for i, text in enumerate(block):
            if not text.isascii() and any(letter in text for letter in NEEDS_PYTHON_LOWER):
                encoded[i] = text.lower().encode()
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def _small_batches(batch: Sequence[str] | pl.Series) -> Iterator[list[str]]:
    """Split a batch into blocks of about BLOCK_CHARACTERS."""
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


# --- words as strings ----------------------------------------------------------------------------------------------------


class TokenCounter:
    """Counter of words that are strings, by a dictionary."""

    def __init__(self, analyzer: Analyzer, pieces: Pieces) -> None:
        self._analyzer, self._pieces = analyzer, pieces
        self._numbers: dict[str, int] = {}
        self._totals = np.zeros(0, dtype=np.int64)

    def add(self, documents: Iterable[Sequence[str]], /) -> None:
        numbers = self._numbers
        for block in _blocks_of_documents(documents):
            found = [np.fromiter((numbers.setdefault(t, len(numbers)) for t in tokens), dtype=np.int32) for tokens in block]
            words = np.concatenate([np.empty(0, np.int32), *found])
            ends = np.cumsum([0, *map(len, found)], dtype=np.int64)
            self._pieces.append(Piece(0, ends, words, np.ones(len(words), dtype=np.int32)))
            in_block = np.bincount(words, minlength=len(numbers))
            in_block[: len(self._totals)] += self._totals
            self._totals = in_block

    def check_words_are_strings(self, documents: Iterable[Sequence[str]]) -> None:
        """Check the words of counted documents; the error names the first invalid one."""
        odd = next(((word, problem) for word in self._numbers if (problem := _problem_of(word))), None)
        if odd is not None:
            word, problem = odd
            number = next(number for number, tokens in enumerate(documents) if word in tokens)
            msg = f"document {number} has {word!r:.40}, which is {problem}; from_tokens takes strings."
            raise InputError(msg)

    def all_words(self) -> tuple[Words, list[NDArray[np.int64]]]:
        words = pl.Series("word", list(self._numbers), dtype=pl.String)
        return Words(words, self._totals), [np.arange(len(words))]

    def finish(self, n_documents: int) -> Counted:
        return _with_vocabulary(self._pieces, *self.all_words(), self._analyzer, n_documents)


def _problem_of(word: object) -> str | None:
    """Return why a word is invalid, or None."""
    if not isinstance(word, str):
        return f"not a string but {type(word).__name__}"
    return None if word.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in word) else "not valid Unicode"


class PatternCounter:
    """Counter of the matches of a regular expression."""

    def __init__(self, analyzer: Analyzer, pieces: Pieces) -> None:
        self._analyzer, self._tokens = analyzer, TokenCounter(analyzer, pieces)
        self._find_all = re.compile(analyzer.token_pattern or "").findall
        self._n_texts = 0

    def add(self, texts: Sequence[str] | pl.Series, /) -> None:
        self._tokens.add(self._found_in(text) for text in texts)

    def _found_in(self, text: str) -> list[str]:
        _encode([text], self._n_texts)
        self._n_texts += 1
        found = self._find_all(text.lower() if self._analyzer.lowercase else text)
        return [token for token in found if len(token) >= self._analyzer.min_length]

    def all_words(self) -> tuple[Words, list[NDArray[np.int64]]]:
        return self._tokens.all_words()

    def finish(self, n_documents: int) -> Counted:
        return self._tokens.finish(n_documents)


def _blocks_of_documents(documents: Iterable[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Split lists of words into blocks of about BLOCK_TOKENS words."""
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
