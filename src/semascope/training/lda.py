"""What all ways to fit LDA have in common: priors of topics and words, and languages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.shards import Shard, frozen
from semascope.engines.exact import CountTotal
from semascope.training.em import BACKGROUND, EM, StartStats
from semascope.training.priors import WordPrior

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class LDASettings(EM):
    """Settings of an algorithm for LDA and facts of the corpus.

    alpha        prior of the topics in a document, one number or one for each topic; where learning starts
    eta          prior of the words in a topic; where learning starts
    learn_alpha  learn one α for each topic
    learn_eta    learn one η for all words; an informed prior stays as it is
    languages    number of the language of each word; by default there is one
    """

    alpha: float | NDArray[np.float64] = 0.1
    eta: float | WordPrior = 0.01
    learn_alpha: bool = False
    learn_eta: bool = False
    languages: NDArray[np.int32] | None = None

    @property
    def first_alpha(self) -> NDArray[np.float64]:
        """The α that a fit starts with, one for each topic."""
        return np.full(self.n_topics, self.alpha, dtype=np.float64)

    @cached_property
    def prior(self) -> WordPrior:
        """Prior of the words in topics, as given."""
        return self.eta if isinstance(self.eta, WordPrior) else WordPrior.flat(float(self.eta), self.n_words)

    def prior_with(self, base: float) -> WordPrior:
        """Prior of the words in topics, with the base learned meanwhile."""
        return replace(self.prior, base=base)

    def prior_sizes(self, base: float) -> NDArray[np.float64]:
        """Σ_w η_wk over the words of each language, with that base."""
        return self.prior_with(base).totals(self.word_languages, len(self.language_sizes), self.n_topics)

    @cached_property
    def word_languages(self) -> NDArray[np.int32]:
        """Number of each word's language."""
        return frozen(np.zeros(self.n_words, np.int32) if self.languages is None else self.languages, np.int32)

    @cached_property
    def language_sizes(self) -> NDArray[np.int64]:
        """Number of words of each language."""
        return np.bincount(self.word_languages, minlength=1)

    def first_counts(self, stats: StartStats) -> NDArray[Any]:
        """Counts to start from: of seed documents, or of the words that the prior knows, as if each topic had an equal share.

        A start of an informed topic from elsewhere would outweigh its prior.
        """
        assert isinstance(stats.everything, CountTotal)
        topics = EM.start(self, stats).topics
        known = np.bincount(self.prior.topics, self.prior.extra, minlength=self.n_topics)
        topics[:, known > 0] = BACKGROUND * stats.everything.columns_normalised(self.dtype)
        parts = (1 - BACKGROUND) * self.prior.extra / known[self.prior.topics]
        np.add.at(topics, (self.prior.words, self.prior.topics), parts.astype(self.dtype))
        topics *= self.n_tokens / self.n_topics
        return topics


def lengths_of(shard: Shard) -> NDArray[np.float64]:
    """Words of each document."""
    running = np.concatenate([[0.0], np.cumsum(shard.rows.counts, dtype=np.float64)])
    return np.asarray(running[shard.rows.ends[1:]] - running[shard.rows.ends[:-1]])
