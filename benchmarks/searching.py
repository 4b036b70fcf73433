"""Collections with queries and judgments, and how good a ranking of their documents is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from benchmarks import data
from semascope import Analyzer, Corpus, read, read_qrels

COLLECTIONS = ("ir/cacm", "ir/cran", "ir/time", "ir/cisi", "ir/med")
RECALLS = np.linspace(0, 1, 11)
"""Where curves of precision against recall are looked at, as trec_eval does."""


@dataclass(frozen=True)
class Searched:
    """Documents, queries over the words of the documents, and which documents are relevant to which query.

    Rankings are judged as trec_eval does: of documents with the same score the last in the alphabet comes first, and relevant
    documents that are not in the collection count as not found.
    """

    corpus: Corpus
    queries: Corpus
    qrels: pl.DataFrame

    @classmethod
    def of(cls, name: str, fields: tuple[str, ...] = ("text",), *, only_with_text: bool = False) -> Searched:
        """Stemmed, without stop words. A document is some of its fields; those whose text is empty may be left out."""
        home = data.folder(name)
        documents = read(home / data.FILE, text=fields)
        if only_with_text:
            texts = read(home / data.FILE).frame()["text"]
            documents = read(documents.frame().filter(texts.fill_null("").str.strip_chars() != ""))
        corpus = Corpus.build(documents, Analyzer(stop_words="english", stemmer="english"))
        queries = Corpus.build(read(home / "queries.jsonl.gz"), corpus.analyzer, vocabulary=corpus.words)
        return cls(corpus, queries, read_qrels(home / "qrels.txt").filter(pl.col("relevance") > 0))

    def mean_average_precision(self, scores: np.ndarray) -> float:
        """In percent, over queries that have a relevant document; scores have a row for each query."""
        return 100 * float(np.mean(self.average_precisions(scores)))

    def average_precisions(self, scores: np.ndarray) -> np.ndarray:
        """Give the average precision of each query that has a relevant document."""
        found = zip(self._ranks_of_relevant(scores), self._judged, strict=True)
        return np.array([np.sum(np.arange(1, len(ranks) + 1) / ranks) / judged.n_relevant for ranks, judged in found])

    def precision_at_recalls(self, scores: np.ndarray) -> np.ndarray:
        """Give the best precision at or beyond each of eleven recalls, in percent; means over queries."""
        curves = []
        for ranks, judged in zip(self._ranks_of_relevant(scores), self._judged, strict=True):
            found = np.arange(1, len(ranks) + 1)
            precision = np.append(np.maximum.accumulate((found / ranks)[::-1])[::-1], 0.0)
            curves.append(precision[np.searchsorted(found, RECALLS * judged.n_relevant - 1e-9)])
        return 100 * np.mean(curves, axis=0)

    def _ranks_of_relevant(self, scores: np.ndarray) -> list[np.ndarray]:
        """Ranks of the relevant documents that there are, ascending, for each query that is judged."""
        found = []
        for judged in self._judged:
            row = scores[judged.row, self._order]
            own = row[judged.places, None]
            before = (row > own) | ((row == own) & (np.arange(len(row)) < judged.places[:, None]))
            found.append(np.sort(1 + before.sum(axis=1)))
        return found

    @cached_property
    def _order(self) -> np.ndarray:
        """Numbers of the documents, the last in the alphabet first."""
        return np.argsort(self.corpus.ids.to_numpy())[::-1]

    @cached_property
    def _judged(self) -> list[_Judged]:
        relevant = {query: part["document"].unique() for (query,), part in self.qrels.group_by("query")}
        ids = self.corpus.ids.to_numpy()[self._order]
        return [
            _Judged(row, np.flatnonzero(np.isin(ids, relevant[query].to_numpy())), len(relevant[query]))
            for row, query in enumerate(self.queries.ids)
            if query in relevant
        ]


@dataclass(frozen=True)
class _Judged:
    """A query that has relevant documents: its number, their places in the order for ties, and how many there should be."""

    row: int
    places: np.ndarray
    n_relevant: int
