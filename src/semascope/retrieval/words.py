"""The words of all segments together, and how common they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from semascope.corpus.lexicon import NAMELESS, Lexicon
from semascope.corpus.shards import frozen
from semascope.retrieval.segments import Segment

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Words:
    """Words of an index, with what is known of them in all documents that were not deleted.

    lexicon      the words of the first segment, then those that later ones brought, then those that only models know
    local        of each segment, the number there of each word, -1 where it does not have it
    documents    int64[v], documents that have the word
    n_documents  documents in all
    n_tokens     their words in all
    """

    lexicon: Lexicon
    local: list[NDArray[np.int32]]
    documents: NDArray[np.int64]
    n_documents: int
    n_tokens: float

    @property
    def mean_length(self) -> float:
        """Words of a document, in the mean."""
        return self.n_tokens / max(self.n_documents, 1)

    @classmethod
    def of(cls, segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]], more: Sequence[Lexicon] = ()) -> Words:
        """Put the words of segments together, and more words that queries may have: those of models."""
        lexicon = _together([*(segment.corpus.lexicon for segment in segments), *more])
        local = [frozen(lexicon.numbers_in(segment.corpus.lexicon), np.int32) for segment in segments]
        documents, n_tokens = np.zeros(len(lexicon), np.int64), 0.0
        for segment, kept, numbers in zip(segments, alive, local, strict=True):
            counted = np.diff(segment.postings.ends)
            for deleted in np.flatnonzero(~kept):
                first, last = segment.corpus.rows.ends[deleted : deleted + 2]
                counted[segment.corpus.rows.words[first:last]] -= 1
            has = numbers >= 0
            documents[has] += np.maximum(counted[numbers[has]], 0)  # postings of unknown origin need not be those of the rows
            n_tokens += float(np.sum(segment.lengths[kept], dtype=np.float64))
        return cls(lexicon, local, documents, int(sum(np.sum(kept) for kept in alive)), n_tokens)


def _together(lexicons: Sequence[Lexicon]) -> Lexicon:
    """The words of the first lexicon, then those of the others that are new; languages are those of all.

    One language without a name may be any one language, where there are no more.
    """
    languages = tuple(dict.fromkeys(language for lexicon in lexicons for language in lexicon.languages))
    if len(languages) == 2 and NAMELESS[0] in languages and all(len(lexicon.languages) == 1 for lexicon in lexicons):
        languages = tuple(language for language in languages if language != NAMELESS[0])
    numbers = {NAMELESS[0]: 0} | {language: number for number, language in enumerate(languages)}
    tables = []
    for lexicon in lexicons:
        of_word = np.array([numbers[language] for language in lexicon.languages])[lexicon.of_word]
        tables.append(pl.DataFrame({"word": lexicon.words, "language": of_word}))
    table = pl.concat(tables).unique(maintain_order=True)
    return Lexicon(table["word"], languages, frozen(table["language"].to_numpy(), np.int32))
