"""Collections with queries and judgements, and how good a ranking of their documents is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from benchmarks import data
from semascope import Analyzer, Corpus, read, read_qrels


@dataclass(frozen=True)
class Searched:
    """Documents, queries over the words of the documents, and which documents are relevant to which query."""

    corpus: Corpus
    queries: Corpus
    qrels: pl.DataFrame

    @classmethod
    def of(cls, name: str) -> Searched:
        """Stemmed, without stop words."""
        home = data.folder(name)
        corpus = Corpus.build(read(home / data.FILE), Analyzer(stop_words="english", stemmer="english"))
        queries = Corpus.build(read(home / "queries.jsonl.gz"), corpus.analyzer, vocabulary=corpus.words)
        return cls(corpus, queries, read_qrels(home / "qrels.txt").filter(pl.col("relevance") > 0))

    def mean_average_precision(self, scores: np.ndarray) -> float:
        """In percent, over queries that have a relevant document; scores have a row for each query."""
        ids = self.corpus.ids.to_numpy()
        relevant = {query: set(part["document"]) for (query,), part in self.qrels.group_by("query")}
        values = []
        for query, row in zip(self.queries.ids, scores, strict=True):
            if query in relevant:
                hit = np.array([name in relevant[query] for name in ids[np.argsort(-row, kind="stable")]])
                precision = np.cumsum(hit) / np.arange(1, len(hit) + 1)
                values.append(precision[hit].sum() / len(relevant[query]))
        return 100 * float(np.mean(values))
