"""Why a document was found: its passage with the words of the query, and words that are near it in meaning."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.analyze import Analyzer
from semascope.corpus.analyzers import Analyzers, analyzer_of
from semascope.corpus.lexicon import Lexicon
from semascope.corpus.rows import Rows
from semascope.corpus.shards import frozen
from semascope.models.lsa import LSA
from semascope.retrieval.snippets import Snippet, snippet_of
from semascope.retrieval.space import unit_vectors
from semascope.retrieval.words import Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_RELATED = 40
"""Words near a query that are marked in a snippet."""

NEAR = 0.4
"""The least cosine of words that are called near."""

TELLING = 40
"""Words of a document that stand for it when others like it are looked for."""


class Near:
    """Finds words near a query, in the space of an index."""

    def __init__(self, space: LSA) -> None:
        self._lexicon: Lexicon = space.require_lexicon()
        self._sizes = space.singular_values_.astype(np.float32)
        self._vectors = unit_vectors(space.components_.T * self._sizes)

    def words(self, place: NDArray[np.float32], n: int, without: Collection[str]) -> list[tuple[str, float]]:
        """Give the words nearest to a place in the space, with their cosines."""
        cosines = self._vectors @ unit_vectors(place[None] * self._sizes)[0]
        n_looked_at = min(n + len(without), len(cosines))
        best = np.argpartition(-cosines, n_looked_at - 1)[:n_looked_at]
        best = best[np.lexsort((best, -cosines[best]))]
        found = zip(self._lexicon.words[best].to_list(), cosines[best].tolist(), strict=True)
        return [(word, cosine) for word, cosine in found if word not in without and cosine > 0][:n]


class Shower:
    """Shows documents that were found for a query.

    Parameters
    ----------
    asked : dict of word to float
        The words of the query, and what each is worth.
    near : callable
        Gives words near the query; called when there is a text to mark them in.
    """

    def __init__(self, asked: Mapping[str, float], near: Callable[[], set[str]], analyzers: Analyzers | None) -> None:
        self._asked, self._find_near = asked, near
        self._found: set[str] | None = None
        self._analyzers = analyzers or Analyzer()

    def snippet(self, text: Any, language: str) -> Snippet | None:
        """Give the passage of a text that shows best why it was found; of several languages, that with most of the query."""
        if text is None:
            return None
        if isinstance(text, str):
            return self._of_text(text, language)
        found = [self._of_text(part, language) for language, part in text.items() if part]
        return max(found, key=lambda one: sum(mark.kind == "match" for mark in one.marks), default=None)

    def _of_text(self, text: str, language: str) -> Snippet:
        return snippet_of(text, analyzer_of(self._analyzers, language), self._asked, self._near)

    @property
    def _near(self) -> set[str]:
        if self._found is None:  # a cached property would have all threads wait for each other
            self._found = self._find_near()
        return self._found


def worth_of(query: Rows, words: Words) -> dict[str, float]:
    """The words of a query, and how rare each is."""
    rarity = np.log1p(words.n_documents / np.maximum(words.documents[query.words], 1))
    return dict(zip(words.lexicon.words[query.words].to_list(), rarity.tolist(), strict=True))


def telling_words(row: Rows, words: Words) -> Rows:
    """The words that tell most of a document: those that it has often and others seldom."""
    rarity = np.log1p(words.n_documents / np.maximum(words.documents[row.words], 1))
    chosen = np.sort(np.argsort(-row.counts * rarity, kind="stable")[:TELLING])
    ends = np.array([0, len(chosen)])
    return Rows(frozen(ends, np.int64), frozen(row.words[chosen], np.int32), frozen(row.counts[chosen], np.float32))
