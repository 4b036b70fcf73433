"""Priors of the words in topics: one number for all, and more where somebody knows more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALPHA, ETA = 0.1, 0.03
"""Priors of the topics in a document and of the words in a topic when nobody says any: ``python -m benchmarks lda_priors``
compares them with others on seven collections."""


@dataclass(frozen=True, eq=False)
class WordPrior:
    """η_wk = base + extra_wk, where few words have anything extra.

    base     float         η of every word in every topic
    ends     int64[v + 1]  entries of word w are [ends[w]:ends[w + 1]] of the two others
    topics   int32[n]      topic of each entry, ascending within a word
    extra    float64[n]    what η_wk is above the base
    guides   bool          the extra says which topics are wanted, so that they start from these words
    """

    base: float
    ends: NDArray[np.int64]
    topics: NDArray[np.int32]
    extra: NDArray[np.float64]
    guides: bool = False

    @classmethod
    def flat(cls, base: float, n_words: int) -> Self:
        """The same η for all."""
        return cls(base, np.zeros(n_words + 1, np.int64), np.empty(0, np.int32), np.empty(0))

    @classmethod
    def of_table(cls, table: Any) -> Self:
        """η_wk as given, a row for each word and a column for each topic."""
        dense = np.asarray(table, dtype=np.float64)
        base = float(dense.min())
        above = sp.csr_array(dense - base)
        return cls(base, above.indptr.astype(np.int64), above.indices.astype(np.int32), above.data)

    @property
    def is_flat(self) -> bool:
        return len(self.extra) == 0

    @property
    def words(self) -> NDArray[np.int64]:
        """Word of each entry."""
        return np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))

    def totals(self, languages: NDArray[np.int32], n_languages: int, n_topics: int) -> NDArray[np.float64]:
        """Σ_w η_wk over the words of each language: a row for each language."""
        sizes = np.bincount(languages, minlength=n_languages)
        sums = np.repeat(self.base * sizes[:, None].astype(np.float64), n_topics, axis=1)
        np.add.at(sums, (languages[self.words], self.topics), self.extra)
        return sums
