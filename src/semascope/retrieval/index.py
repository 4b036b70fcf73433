"""Index: documents to be searched by their words, by their meaning, or by both."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from semascope.corpus.corpus import Corpus
from semascope.corpus.csr import CSR
from semascope.errors import InputError
from semascope.models.sklearn_imports import check_is_fitted
from semascope.models.validation import is_whole
from semascope.retrieval.filters import Where, filter_mask
from semascope.retrieval.highlighting import MAX_RELATED, NEAR, Highlighter, Near, characteristic_terms, term_weights
from semascope.retrieval.lsa_space import DIMENSIONS, SPACE, InSpace, space_of
from semascope.retrieval.queries import Queries
from semascope.retrieval.ranking import Ranking, rank_documents
from semascope.retrieval.results import Hit, Hits, QueryWords
from semascope.retrieval.segment_store import SegmentStore, vectors_by
from semascope.retrieval.segments import documents_of
from semascope.retrieval.similarities import DEFAULT, Similarities
from semascope.retrieval.topic_scorers import TOPICS

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Index(SegmentStore):
    """Documents to be searched by their words, by their meaning, or by both.

    Make one with `build`, keep it with `save` and take it up with `open`. Documents are added and deleted without building it
    anew.

    Examples
    --------
    >>> corpus = Corpus.from_texts(["cats purr", "kittens, small cats, purr", "dogs bark"], ids=["a", "b", "c"])
    >>> index = Index.build(corpus)
    >>> index
    <Index: 3 documents, 6 words>
    >>> [hit.id for hit in index.search("the barking of dogs", by="bm25")]
    ['c']
    >>> index.search("kittens", k=1)[0].snippet.marked()
    '«kittens», ‹small› cats, purr'
    """

    # --- making one --------------------------------------------------------------------------------------------------------

    @classmethod
    def build(
        cls, corpus: Corpus, model: Any = None, *, path: str | Path | None = None, n_dimensions: int | None = None
    ) -> Index:
        """Index the documents of a corpus.

        Parameters
        ----------
        corpus : Corpus
            The documents.
        model : TopicModel or LSA, optional
            A topic model adds search by topics, and makes hybrid search better. An LSA model takes the place of the space that
            the index would make for itself. One that was fitted to other documents is used if it knows the words of these.
        path : path, optional
            Write the index there at once.
        n_dimensions : int, optional
            Of the space that the index makes for itself; 64 by default.
        """
        if n_dimensions is not None and (not is_whole(n_dimensions) or n_dimensions < 1):
            msg = f"n_dimensions must be a whole number of at least 1, but was {n_dimensions!r}."
            raise InputError(msg)
        if not isinstance(corpus, Corpus):
            msg = f"an index is made of a corpus, but was given {type(corpus).__name__}; Corpus.from_texts makes one of texts."
            raise InputError(msg)
        if not corpus.n_documents:
            msg = "there are no documents to index."
            raise InputError(msg)
        vectors = vectors_by(model)
        if model is not None and vectors is None:
            msg = f"a model to search by must be a topic model or LSA, but was {type(model).__name__}."
            raise InputError(msg)
        if model is not None:
            check_is_fitted(model, "components_")
        space = model if vectors == SPACE else space_of(corpus, n_dimensions or DIMENSIONS)
        topics = model if vectors == TOPICS else None
        index = cls._of(corpus, space, topics)
        if path is not None:
            index.save(path)
        return index

    # --- searching ---------------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str | Sequence[str],
        k: int = 10,
        *,
        by: str = DEFAULT,
        where: Where | None = None,
        language: str | None = None,
        snippets: bool = True,
    ) -> Any:
        """Find the documents that fit a query best, or each of several queries.

        Parameters
        ----------
        query : str or sequence of str
            What to look for, in any words.
        k : int, default=10
            Most documents to give.
        by : str, default="hybrid"
            "bm25" and "cosine" go by words in common. "lsa" goes by the place in the space of the index. "kl", "lda" and
            "fisher" go by topics, and need an index with a topic model: "lda" is the likelihood of the query, "kl" the
            divergence of its words from the document's ("kl-published" is not smoothed), "fisher" a Fisher kernel, which may
            be told more closely as in "fisher-iid-dfim-w". "hybrid" fuses words, space and topics.
        where : dict or polars expression, optional
            Which documents are wanted: ``{"label": "earn", "language": "de", "year": (2001, None)}``, for example, with a
            value, a list of values or a pair of limits for each field; or an expression over the fields of documents.
        language : str, optional
            The language of the query, where the index has several: documents of others are found by a polylingual model.
        snippets : bool, default=True
            Look for the passage that shows why a document was found.

        Returns
        -------
        Hits, or a list of them
            Lists of `Hit`, best first. A query of which no document has any word finds nothing.
        """
        several = isinstance(query, Iterable) and not isinstance(query, str)
        texts: list[Any] = list(query) if several else [query]
        queries = self.read(texts, language)
        rankings = self.rank(queries, k, by=by, where=where)
        found = [
            self._hits(ranking, queries.part(number, number + 1), queries.unknown[number], snippets=snippets)
            for number, ranking in enumerate(rankings)
        ]
        return found if several else found[0]

    def similar(self, id: str, k: int = 10, *, by: str = DEFAULT, where: Where | None = None) -> Hits:
        """Find the documents that are most like one of the index, itself left out."""
        _check_not_empty(k)
        number = self.number_of(id)
        queries = Queries(self._telling_words(number), [[]])
        found = self.rank(queries, k + 1, by=by, where=where)[0]
        others = found.numbers != number
        return self._hits(Ranking(found.numbers[others][:k], found.scores[others][:k]), queries.part(0, 1), [])

    def explain(self, hits: Hits, n: int = 12) -> list[list[str]]:
        """Return the words that each of the documents that were found has in common with the query.

        Parameters
        ----------
        hits : Hits
            What `search` or `similar` found; of a document that others are like, the words that stand for it are compared.
        n : int, default=12
            Maximum number of words for each document, those it has most often first.

        Examples
        --------
        >>> index = Index.build(Corpus.from_texts(["cats purr, cats sleep", "dogs bark"]))
        >>> index.explain(index.search("sleeping cats purr"))
        [['cats', 'purr']]
        """
        if hits.query is None or hits.query.words is not self._words:
            msg = "these documents were not found in the index as it is now: search again."
            raise InputError(msg)
        numbers, known = hits.query.numbers, self._words
        names = known.lexicon.words[numbers].to_list()
        asked = [dict(zip(local[numbers].tolist(), names, strict=True)) for local in known.local]
        return [self._in_common(hit, asked)[:n] for hit in hits]

    def _in_common(self, hit: Hit, asked: Sequence[Mapping[int, str]]) -> list[str]:
        """Return the words of a query that a document has; `asked` are their numbers in each segment."""
        segment, place = self._place(self.number_of(hit.id))
        rows = self._segments[segment].corpus.rows
        entries = slice(*rows.ends[place : place + 2])
        counts = zip(rows.words[entries].tolist(), rows.counts[entries].tolist(), strict=True)
        common = {asked[segment][number]: count for number, count in counts if number in asked[segment]}
        return sorted(common, key=lambda word: (-common[word], word))

    def matches(self, where: Where) -> int:
        """Return how many documents a filter selects; filters are as in `search`.

        Examples
        --------
        >>> index = Index.build(Corpus.from_texts(["cats purr", "dogs bark"], ids=["a", "b"]))
        >>> index.matches({"id": ["b", "c"]})
        1
        """
        return int(np.count_nonzero(self._allowed & self._wanted(where)))

    def warm_up(self) -> Index:
        """Make the tables that the first search would make."""
        self.search(str(self._words.lexicon.words[0]), k=1)
        return self

    def read(self, texts: Sequence[str], language: str | None = None) -> Queries:
        """Make queries of texts, to be ranked again and again."""
        for text in texts:
            if not isinstance(text, str):
                msg = f"a query must be a text, but was {type(text).__name__}."
                raise InputError(msg)
            if not text.strip():
                msg = "the query is empty: say what to look for."
                raise InputError(msg)
        return self._reader.read(texts, language)

    def rank(self, queries: Queries, k: int = 10, *, by: str = DEFAULT, where: Where | None = None) -> list[Ranking]:
        """Return numbers and scores of the documents that fit each query best; `documents` tells what they are."""
        _check_not_empty(k)
        allowed = self._allowed if where is None else self._allowed & self._wanted(where)
        return rank_documents(self._similarities[by], queries, len(allowed), allowed, k)

    def related_words(self, query: str, n: int = 20, *, language: str | None = None) -> list[tuple[str, float]]:
        """Return words that are near a query in the space of the index, with their cosines; its own words left out."""
        rows = self.read([query], language).rows
        return self._related(rows, n, term_weights(rows, self._words))

    def documents(self, numbers: Sequence[int] | NDArray[Any]) -> pl.DataFrame:
        """Return what is known of documents, by their numbers: ids, titles, labels, texts and other fields."""
        return self._documents[np.asarray(numbers, np.int64)]

    def _wanted(self, where: Where) -> NDArray[np.bool_]:
        def has_language(language: str) -> NDArray[np.bool_]:
            self._words.lexicon.number_of(language)
            return np.concatenate([segment.has_language(language) for segment in self._segments])

        return filter_mask(self._documents, where, has_language)

    @property
    def _documents(self) -> pl.DataFrame:
        return self._made("documents", lambda: documents_of([segment.corpus for segment in self._segments]))

    def _place(self, number: int) -> tuple[int, int]:
        """The segment of a document, and its number there."""
        segment = int(np.searchsorted(self._borders, number, side="right")) - 1
        return segment, int(number) - int(self._borders[segment])

    @property
    def _similarities(self) -> Similarities:
        given = (self._segments, self._alive, self._words, self.space, self.topics)
        return self._made("similarities", lambda: Similarities(*given))

    def _related(self, query: CSR, n: int, own: Collection[str]) -> list[tuple[str, float]]:
        """Words near a query in the space, its own left out."""
        space = self._similarities["lsa"]
        assert isinstance(space, InSpace)
        near = self._made("near", lambda: Near(self.space))
        return near.words(space.place(query)[0], n, own)

    def _telling_words(self, number: int) -> CSR:
        """A document as a query."""
        segment, place = self._place(number)
        corpus = self._segments[segment].corpus
        part = corpus.filter([place]).reindexed(self._words.lexicon)
        return characteristic_terms(part.rows, self._words)

    def _shower(self, query: CSR) -> Highlighter:
        worth = term_weights(query, self._words)

        def near() -> set[str]:
            return {word for word, cosine in self._related(query, MAX_RELATED, worth) if cosine >= NEAR}

        return Highlighter(worth, near, self._analyzers)

    def _hits(self, ranking: Ranking, query: CSR, unknown: list[str], *, snippets: bool = True) -> Hits:
        shower = self._shower(query) if snippets else None
        hits = Hits(query=QueryWords(query.words, self._words, unknown))
        for number, score in zip(ranking.numbers.tolist(), ranking.scores.tolist(), strict=True):
            segment, place = self._place(number)
            corpus = self._segments[segment].corpus
            document = corpus.documents.row(place, named=True)
            title, labels = str(document.get("title") or ""), tuple(document["labels"] or ())
            snippet = None if shower is None else shower.snippet(document.get("text"), corpus.languages[0])
            hits.append(Hit(document["id"], title, score, snippet, labels))
        return hits


def _check_not_empty(k: Any) -> None:
    if not is_whole(k) or k < 1:
        msg = f"at least one document must be asked for, but k was {k!r}."
        raise InputError(msg)
