"""Settings shared by all LDA algorithms: priors of topics and words, and languages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from semascope.corpus.shards import Shard, as_read_only
from semascope.training.hyperpriors import ALPHA, ETA, WordPrior
from semascope.training.plsa import EM, StartStats

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class LDASettings(EM):
    """Configuration of an LDA algorithm.

    alpha        prior of the topics in a document, one number or one for each topic; start value if learned
    eta          prior of the words in a topic; start value if learned
    learn_alpha  learn one α for each topic
    learn_eta    learn one η for all words; an informed prior keeps its extra
    languages    language id of each word; by default there is one language
    """

    alpha: float | NDArray[np.float64] = ALPHA
    eta: float | WordPrior = ETA
    learn_alpha: bool = False
    learn_eta: bool = False
    languages: NDArray[np.int32] | None = None

    def sizes(self) -> dict[str, int]:
        return {**super().sizes(), "n_languages": len(self.language_sizes)}

    @property
    def first_alpha(self) -> NDArray[np.float64]:
        """Initial α, one for each topic."""
        return np.full(self.n_topics, self.alpha, dtype=np.float64)

    @cached_property
    def prior(self) -> WordPrior:
        """Initial prior of the words in topics."""
        return self.eta if isinstance(self.eta, WordPrior) else WordPrior.flat(float(self.eta), self.n_words)

    def prior_with(self, base: float) -> WordPrior:
        """Return the prior of the words in topics, with a learned base."""
        return replace(self.prior, base=base)

    def prior_sizes(self, base: float) -> NDArray[np.float64]:
        """Return Σ_w η_wk over the words of each language, with this base."""
        return self.prior_with(base).totals(self.word_languages, len(self.language_sizes), self.n_topics)

    @cached_property
    def word_languages(self) -> NDArray[np.int32]:
        """Language id of each word."""
        return as_read_only(np.zeros(self.n_words, np.int32) if self.languages is None else self.languages, np.int32)

    @cached_property
    def language_sizes(self) -> NDArray[np.int64]:
        """Number of words of each language."""
        return np.bincount(self.word_languages, minlength=1)

    def first_counts(self, stats: StartStats) -> NDArray[Any]:
        """Return initial counts, as if each topic had an equal share of all tokens."""
        topics = EM.init_state(self, stats).topics
        topics *= self.n_tokens / self.n_topics
        return topics

    def _seed_counts(self, shard: Shard, given: NDArray[np.float32]) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """Initialize topics with informed priors from the documents that have their words, and the others at random.

        A document is weighted by the square of the fraction of the words that it has: one of them says little, two or three say
        much. A start from elsewhere would outweigh the prior, and one from the words alone would not attract the documents.
        """
        words, counts = super()._seed_counts(shard, given)
        if not self.prior.guides:
            return words, counts
        n_words, shape = np.bincount(self.prior.topics, minlength=self.n_topics), (self.n_words, self.n_topics)
        parts = sp.csr_array((1 / n_words[self.prior.topics], self.prior.topics, self.prior.ends), shape=shape)
        ends, in_shard, _ = shard.rows
        there = sp.csr_array((np.ones(len(in_shard)), in_shard, ends), shape=(shard.n_documents, self.n_words)) @ parts
        rows = sp.csr_array((given.astype(np.float64), in_shard, ends), shape=(shard.n_documents, self.n_words))
        table = np.zeros((len(shard.by_word.words), self.n_topics), dtype=self.dtype)
        table[np.searchsorted(shard.by_word.words, words)] = counts
        known = n_words > 0
        table[:, known] = (rows.T @ there.power(2)).tocsr()[shard.by_word.words].toarray()[:, known]
        return shard.by_word.words, table
