"""What is known of labels: how often each word is due to each of them.

Of words and labels only the pairs are kept that ever met. P(word | label) = (n + η) / (N + V η), with n the words of the pair,
N those of the label and V the size of the vocabulary; a label of which nothing is known gives every word 1 / V.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semascope.corpus.shards import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LabelWords(NamedTuple):
    """Words and labels.

    ends     int64[v + 1]   pairs of word w are [ends[w]:ends[w + 1]] of the two others
    labels   int32[p]       ascending for each word
    counts   float64[p]     how often the word is due to the label; means of several samples need not be whole
    sizes    float64[k]     words of each label
    eta      prior of the words in a label
    """

    ends: NDArray[np.int64]
    labels: NDArray[np.int32]
    counts: NDArray[np.float64]
    sizes: NDArray[np.float64]
    eta: float

    @classmethod
    def of(
        cls, ends: NDArray[np.int64], labels: NDArray[np.int32], counts: NDArray[np.float64], n: int, eta: float
    ) -> LabelWords:
        """Add up the sizes of `n` labels."""
        sizes = np.bincount(labels, counts, n) if len(labels) else np.zeros(n)
        return cls(frozen(ends, np.int64), frozen(labels, np.int32), frozen(counts, np.float64), frozen(sizes, np.float64), eta)

    @property
    def n_words(self) -> int:
        return len(self.ends) - 1

    @property
    def n_labels(self) -> int:
        return len(self.sizes)

    @property
    def scale(self) -> NDArray[np.float64]:
        """1 / (N + V η) of each label."""
        return frozen(1 / np.maximum(self.sizes + self.n_words * self.eta, 1e-300), np.float64)

    def words(self) -> NDArray[np.int32]:
        """The word of each pair."""
        return np.repeat(np.arange(self.n_words, dtype=np.int32), np.diff(self.ends))

    def dense(self) -> NDArray[np.float32]:
        """P(word | label), one row a label: many numbers where there are many labels."""
        table = np.full((self.n_labels, self.n_words), self.eta, np.float32)
        table[self.labels, self.words()] += self.counts.astype(np.float32)
        return table * self.scale[:, None].astype(np.float32)

    def for_kernels(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64], float]:
        """Give ends, labels, counts, scale and η, as the kernels take them."""
        arrays = frozen(self.ends, np.int64), frozen(self.labels, np.int32), frozen(self.counts, np.float64)
        return *arrays, self.scale, float(self.eta)

    def with_unknown(self, n: int) -> LabelWords:
        """Add labels of which nothing is known."""
        return self._replace(sizes=frozen(np.concatenate([self.sizes, np.zeros(n)]), np.float64)) if n else self
