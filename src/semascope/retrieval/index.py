"""Document index, searched by words, by meaning or by both."""

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
from semascope.retrieval.highlighting import (
    MAX_RELATED,
    MIN_COSINE,
    Highlighter,
    NearestWords,
    characteristic_terms,
    term_weights,
)
from semascope.retrieval.lsa_space import DIMENSIONS, SPACE, LSACosine, space_of
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
    """Document index, searched by words, by meaning or by both.

    Create one with `build`, write it with `save` and read it with `open`. Documents can be added and deleted without
    rebuilding it.

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

    # --- building ----------------------------------------------------------------------------------------------------------

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
            A topic model adds search by topics and improves hybrid search. An LSA model replaces the one that the index would
            fit. The model may have been fitted to other documents if it knows enough words of these.
        path : path, optional
            Directory to save the index to.
        n_dimensions : int, optional
            Number of dimensions of the LSA space that the index fits; 64 by default.
        """
        if n_dimensions is not None and (not is_whole(n_dimensions) or n_dimensions < 1):
            msg = f"n_dimensions must be a whole number of at least 1, but was {n_dimensions!r}."
            raise InputError(msg)
        if not isinstance(corpus, Corpus):
            msg = f"expected a Corpus, found {type(corpus).__name__}; build one from texts with Corpus.from_texts."
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
        """Find the documents that match a query best, or each of several queries.

        Parameters
        ----------
        query : str or sequence of str
            Query text or texts.
        k : int, default=10
            Maximum number of documents.
        by : str, default="hybrid"
            Similarity. "bm25" and "cosine" compare words, "lsa" vectors in the LSA space of the index. "kl", "lda" and
            "fisher" compare topics and need an index with a topic model: "lda" is the query likelihood, "kl" the divergence of
            the words of the query from the document's ("kl-published" is not smoothed), "fisher" a Fisher kernel, with
            variants such as "fisher-iid-dfim-w". "hybrid" fuses words, space and topics.
        where : dict or polars expression, optional
            Filter of documents, such as ``{"label": "earn", "language": "de", "year": (2001, None)}``, with a value, a list of
            values or a pair of limits for each field; or an expression over the fields of documents.
        language : str, optional
            Language of the query if the index has several; a polylingual model also finds documents in the others.
        snippets : bool, default=True
            Whether to find the passage of each document that matches best.

        Returns
        -------
        Hits, or a list of them
            Lists of `Hit`, best first; empty if no document has any word of the query.
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
        """Find the documents most similar to one of the index, excluding itself."""
        _check_k(k)
        number = self.number_of(id)
        queries = Queries(self._document_as_query(number), [[]])
        found = self.rank(queries, k + 1, by=by, where=where)[0]
        others = found.numbers != number
        return self._hits(Ranking(found.numbers[others][:k], found.scores[others][:k]), queries.part(0, 1), [])

    def explain(self, hits: Hits, n: int = 12) -> list[list[str]]:
        """Return the words that each hit has in common with the query.

        Parameters
        ----------
        hits : Hits
            Result of `search` or `similar`; for the latter, the query consists of the characteristic terms of the document.
        n : int, default=12
            Maximum number of words for each document, most frequent first.

        Examples
        --------
        >>> index = Index.build(Corpus.from_texts(["cats purr, cats sleep", "dogs bark"]))
        >>> index.explain(index.search("sleeping cats purr", by="bm25"))
        [['cats', 'purr']]
        """
        if hits.query is None or hits.query.words is not self._words:
            msg = "these hits are from an earlier state of the index; search again."
            raise InputError(msg)
        numbers, known = hits.query.numbers, self._words
        names = known.lexicon.words[numbers].to_list()
        terms = [dict(zip(local[numbers].tolist(), names, strict=True)) for local in known.local]
        return [self._in_common(hit, terms)[:n] for hit in hits]

    def _in_common(self, hit: Hit, numbers: Sequence[Mapping[int, str]]) -> list[str]:
        """Return the words of a query that a document has; `numbers` maps word numbers to words in each segment."""
        segment, place = self._place(self.number_of(hit.id))
        rows = self._segments[segment].corpus.rows
        entries = slice(*rows.ends[place : place + 2])
        counts = zip(rows.words[entries].tolist(), rows.counts[entries].tolist(), strict=True)
        common = {numbers[segment][number]: count for number, count in counts if number in numbers[segment]}
        return sorted(common, key=lambda word: (-common[word], word))

    def matches(self, where: Where) -> int:
        """Return the number of documents that match a filter, as in `search`.

        Examples
        --------
        >>> index = Index.build(Corpus.from_texts(["cats purr", "dogs bark"], ids=["a", "b"]))
        >>> index.matches({"id": ["b", "c"]})
        1
        """
        return int(np.count_nonzero(self._allowed & self._filter_mask(where)))

    def warm_up(self) -> Index:
        """Build the tables that the first search would build."""
        self.search(str(self._words.lexicon.words[0]), k=1)
        return self

    def read(self, texts: Sequence[str], language: str | None = None) -> Queries:
        """Convert texts to queries that can be ranked repeatedly."""
        for text in texts:
            if not isinstance(text, str):
                msg = f"a query must be a text, but was {type(text).__name__}."
                raise InputError(msg)
            if not text.strip():
                msg = "the query is empty; enter some words."
                raise InputError(msg)
        return self._reader.read(texts, language)

    def rank(self, queries: Queries, k: int = 10, *, by: str = DEFAULT, where: Where | None = None) -> list[Ranking]:
        """Return numbers and scores of the best documents of each query; `documents` looks them up."""
        _check_k(k)
        allowed = self._allowed if where is None else self._allowed & self._filter_mask(where)
        return rank_documents(self._similarities[by], queries, len(allowed), allowed, k)

    def related_words(self, query: str, n: int = 20, *, language: str | None = None) -> list[tuple[str, float]]:
        """Return words near a query in LSA space, with their cosines; its own words are excluded."""
        rows = self.read([query], language).rows
        return self._related(rows, n, term_weights(rows, self._words))

    def documents(self, numbers: Sequence[int] | NDArray[Any]) -> pl.DataFrame:
        """Return ids, titles, labels, texts and other fields of documents, by their numbers."""
        return self._documents[np.asarray(numbers, np.int64)]

    def _filter_mask(self, where: Where) -> NDArray[np.bool_]:
        def has_language(language: str) -> NDArray[np.bool_]:
            self._words.lexicon.number_of(language)
            return np.concatenate([segment.has_language(language) for segment in self._segments])

        return filter_mask(self._documents, where, has_language)

    @property
    def _documents(self) -> pl.DataFrame:
        return self._cached("documents", lambda: documents_of([segment.corpus for segment in self._segments]))

    def _place(self, number: int) -> tuple[int, int]:
        """Return the segment of a document, and its number there."""
        segment = int(np.searchsorted(self._borders, number, side="right")) - 1
        return segment, int(number) - int(self._borders[segment])

    @property
    def _similarities(self) -> Similarities:
        arguments = (self._segments, self._alive, self._words, self.space, self.topics)
        return self._cached("similarities", lambda: Similarities(*arguments))

    def _related(self, query: CSR, n: int, own: Collection[str]) -> list[tuple[str, float]]:
        """Return words near a query in LSA space, excluding its own."""
        space = self._similarities["lsa"]
        assert isinstance(space, LSACosine)
        near = self._cached("near", lambda: NearestWords(self.space))
        return near.words(space.vectors(query)[0], n, own)

    def _document_as_query(self, number: int) -> CSR:
        """Return the characteristic terms of a document as a query."""
        segment, place = self._place(number)
        corpus = self._segments[segment].corpus
        part = corpus.filter([place]).reindexed(self._words.lexicon)
        return characteristic_terms(part.rows, self._words)

    def _highlighter(self, query: CSR) -> Highlighter:
        weights = term_weights(query, self._words)

        def near() -> set[str]:
            return {word for word, cosine in self._related(query, MAX_RELATED, weights) if cosine >= MIN_COSINE}

        return Highlighter(weights, near, self._analyzers)

    def _hits(self, ranking: Ranking, query: CSR, unknown: list[str], *, snippets: bool = True) -> Hits:
        highlighter = self._highlighter(query) if snippets else None
        hits = Hits(query=QueryWords(query.words, self._words, unknown))
        for number, score in zip(ranking.numbers.tolist(), ranking.scores.tolist(), strict=True):
            segment, place = self._place(number)
            corpus = self._segments[segment].corpus
            document = corpus.documents.row(place, named=True)
            title, labels = str(document.get("title") or ""), tuple(document["labels"] or ())
            snippet = None if highlighter is None else highlighter.snippet(document.get("text"), corpus.languages[0])
            hits.append(Hit(document["id"], title, score, snippet, labels))
        return hits


def _check_k(k: Any) -> None:
    if not is_whole(k) or k < 1:
        msg = f"k must be a whole number of at least 1, but was {k!r}."
        raise InputError(msg)
