"""gensim's bags of words in memory: each document is a list of (word number, count) pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.readers.counts import MAX_NUMBER, CountOptions, Entries, Stream, valid_counts
from semascope.corpus.readers.files import BadRecords
from semascope.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

BAGS = "the bags of words"
MAX_DOCUMENTS = 1 << 14
"""Maximum number of documents per block."""


def materialize_bags(source: Iterable[Any]) -> Iterable[Any]:
    """Return documents that can be iterated repeatedly; one-shot iterators are read into memory."""
    if hasattr(source, "shape"):
        msg = f"{BAGS}: expected lists of pairs, found a matrix; use Corpus.from_matrix."
        raise SourceError(msg)
    return list(source) if iter(source) is source else source


def open_bags(source: Iterable[Any], options: CountOptions, bad: BadRecords) -> Stream:
    """Open documents that are lists of pairs; re-iterable sources are streamed."""
    words = options.words()
    if words is None and hasattr(source, "id2word") and source.id2word is not None:  # a corpus with its dictionary
        words = CountOptions(source.id2word).words()
    stream = Stream(n_words=0 if words is None else len(words), words=words)
    stream.blocks = _blocks(source, stream, MAX_NUMBER if words is None else len(words) - 1, bad)
    return stream


def _blocks(source: Iterable[Any], stream: Stream, last_word: int, bad: BadRecords) -> Iterator[Entries]:
    documents, n_given = iter(source), 0
    while block := list(islice(documents, MAX_DOCUMENTS)):
        checked = _pairs_of(block, last_word)
        if checked is None:
            block = [document for number, document in enumerate(block, n_given) if _is_good(document, number, last_word, bad)]
            checked = _pairs_of(block, last_word)
        n_given += MAX_DOCUMENTS
        assert checked is not None
        rows = np.repeat(np.arange(len(block)), [len(document) for document in block]) + stream.n_rows
        numbers = checked[:, 0].astype(np.int64)
        stream.n_rows += len(block)
        if stream.words is None:
            stream.n_words = max(stream.n_words, int(numbers.max(initial=-1)) + 1)
        yield Entries(rows, numbers, checked[:, 1].copy())


def _pairs_of(documents: list[Any], last_word: int) -> NDArray[np.float64] | None:
    """Return the concatenated pairs of documents; None if anything is invalid."""
    try:
        pairs = np.array(list(chain.from_iterable(documents)), dtype=np.float64)
        if sum(map(len, documents)) != len(pairs):
            return None
    except (TypeError, ValueError):
        return None
    if pairs.size == 0:
        return np.empty((0, 2))
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        return None
    numbers, counts = pairs.T
    good = (numbers >= 0) & (numbers <= last_word) & (numbers == np.floor(numbers)) & valid_counts(counts)
    return pairs if bool(np.all(good)) else None


def _is_good(document: Any, number: int, last_word: int, bad: BadRecords) -> bool:
    """Return whether a document is valid; record the problem if not."""
    if _pairs_of([document], last_word) is not None:
        return True
    what = "expected pairs of a word's number and its count"
    if isinstance(document, str):
        msg = f"{BAGS}: document {number} is a text; Corpus.from_texts takes texts, Corpus.from_tokens lists of words."
        raise SourceError(msg)
    if isinstance(document, Iterable):
        wrong = next((pair for pair in document if _pairs_of([[pair]], last_word) is None), None)
        bounds = f"; the vocabulary has numbers from 0 to {last_word:,}" if last_word < MAX_NUMBER else ""
        what = f"{what}, found {str(wrong)[:60]}{bounds}"
    bad.add(f"{BAGS}, document {number}: {what}.")
    return False
