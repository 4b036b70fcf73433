"""Windows of a corpus, and which words stand in them together: whole documents, or runs of words that slide over the texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semascope.corpus.analyze import Analyzer
from semascope.corpus.corpus import Corpus
from semascope.corpus.count import words_in_order
from semascope.corpus.shards import frozen
from semascope.kernels.windows import count_windows

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

SLIDING = 110
"""Words in a window that slides: what Röder et al. found best for c_v."""
WHOLE_DOCUMENT = 2**62
TEXTS_AT_ONCE = 1 << 14
"""Documents whose texts are read into memory at a time."""


class Together(NamedTuple):
    """What windows have of the top words of topics.

    n_windows   number of windows
    tops        int32[k, n]      numbers of the top words, -1 where a topic has no more
    windows     int64[k, n, n]   windows with both words; on the diagonal those with the word
    """

    n_windows: int
    tops: NDArray[np.int32]
    windows: NDArray[np.int64]


class Windowed(NamedTuple):
    """Documents of which only the words looked for matter.

    ends     int64[d + 1]   where each document ends
    words    int32[t]       numbers among the words looked for, -1 for any other
    window   int            how many words are a window
    """

    ends: NDArray[np.int64]
    words: NDArray[np.int32]
    window: int


def count_together(top: NDArray[np.int32], blocks: Iterable[Windowed]) -> Together:
    """Count the windows that the top words of each topic are in; blocks number the distinct ones in ascending order."""
    words, number = np.unique(top, return_inverse=True)
    tops = frozen(number.reshape(top.shape) - int(-1 in words), np.int32)  # -1 stays -1
    topics, ranks = np.nonzero(tops >= 0)
    order = np.argsort(tops[topics, ranks], kind="stable")
    ends = np.searchsorted(tops[topics, ranks][order], np.arange(tops.max(initial=-1) + 2))
    places = frozen(ends, np.int64), frozen(topics[order], np.int32), frozen(ranks[order], np.int32)
    together = np.zeros((*tops.shape, tops.shape[1]), dtype=np.int64)
    n_windows = sum(
        count_windows(frozen(block.ends, np.int64), frozen(block.words, np.int32), block.window, tops, *places, together)
        for block in blocks
    )
    return Together(n_windows, top, together)


def documents_as_windows(corpus: Corpus, words: NDArray[np.int32]) -> Iterator[Windowed]:
    """Take each document for a window."""
    number = np.full(corpus.n_words, -1, dtype=np.int32)
    number[words] = np.arange(len(words))
    for shard in corpus.shards():
        rows = shard.open().rows
        yield Windowed(rows.ends, number[rows.words], WHOLE_DOCUMENT)


def sliding_windows(corpus: Corpus, words: NDArray[np.int32], window: int = SLIDING) -> Iterator[Windowed]:
    """Slide windows over the texts, if there are any; otherwise take documents for windows."""
    readable = _readable(corpus)
    if readable is None:
        yield from documents_as_windows(corpus, words)
        return
    texts, analyzer = readable
    wanted = corpus.words.gather(words)
    for first in range(0, len(texts), TEXTS_AT_ONCE):
        block = texts.slice(first, TEXTS_AT_ONCE).fill_null("")
        yield Windowed(*words_in_order(block, analyzer, wanted), window)


def slides_over_texts(corpus: Corpus) -> bool:
    """Tell whether c_v has texts to slide windows over."""
    return _readable(corpus) is not None


def _readable(corpus: Corpus) -> tuple[pl.Series, Analyzer] | None:
    """Give the texts and what made words of them, if they are in one language and words are counted one by one."""
    texts, analyzer = corpus.texts, corpus.analyzer
    if texts is None or len(corpus.languages) > 1 or not isinstance(analyzer, Analyzer) or analyzer.ngrams != (1, 1):
        return None
    return texts, analyzer
