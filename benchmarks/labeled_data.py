"""Collections of labeled documents, and how well a model of labels predicts those that were held out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import data
from benchmarks.labeled_worker import ALPHA, ETA
from semascope import Analyzer, Corpus, ThreadEngine
from semascope.corpus.labels import label_shards, names_in, rows_of_labels
from semascope.evaluation.heldout import perplexity_with_labels
from semascope.training.particle_state import LabelCounts

HELD_OUT = 10
"""Every so-manieth document is held out."""


@dataclass(frozen=True)
class Labeled:
    """Documents with labels, in the order of their collection."""

    texts: list[str]
    labels: list[list[str]]
    analyzer: Analyzer

    @cached_property
    def corpus(self) -> Corpus:
        return Corpus.from_texts(self.texts, labels=self.labels, analyzer=self.analyzer)

    def first(self, most: int | None) -> Labeled:
        """Give the first so many documents, or all."""
        return Labeled(self.texts[:most], self.labels[:most], self.analyzer)


def debian() -> Labeled:
    """English descriptions of packages, with their tags."""
    found = [(record["texts"]["en"], record["labels"]) for record in data.records(data.DEBIAN)]
    return _labeled(found, Analyzer(stop_words="english"))


def reuters(split: str | None = None) -> Labeled:
    """News by date, with their topics; those of one part of the ModApte split, or all."""
    records = [record for record in data.records(data.REUTERS) if split in (None, record["split"])]
    return _labeled([(record["text"], record["labels"]) for record in records], Analyzer(min_df=2))


def cve() -> Labeled:
    """Weaknesses of software by date, with their kinds. Free text where a kind should stand is no label."""
    is_kind = re.compile(r"CWE-\d+").fullmatch
    found = [(record["text"], [*filter(is_kind, record["labels"])]) for record in data.records(data.CVE)]
    return _labeled(found, Analyzer(min_df=2))


COLLECTIONS = {"Reuters": reuters, "Debian": debian, "CVE": cve}


def _labeled(found: Sequence[tuple[str, list[str]]], analyzer: Analyzer) -> Labeled:
    kept = [(text, labels) for text, labels in found if labels]
    return Labeled([text for text, _ in kept], [labels for _, labels in kept], analyzer)


@dataclass(frozen=True)
class Split:
    """Documents to learn from, and documents held out, over one vocabulary."""

    train: Corpus
    test: Corpus

    @classmethod
    def of(cls, corpus: Corpus) -> Split:
        is_test = np.arange(corpus.n_documents) % HELD_OUT == HELD_OUT - 1
        return cls(corpus.filter(~is_test), corpus.filter(is_test))

    def facts(self) -> dict[str, Any]:
        return {
            "documents": self.train.n_documents,
            "words": self.train.n_words,
            "tokens": self.train.n_tokens,
            "labels": len(names_in(self.train.labels)),
            "held_out_documents": self.test.n_documents,
        }

    @cached_property
    def _in_training(self) -> Any:
        return np.bincount(self.train.rows.words, minlength=self.train.n_words) > 0

    def perplexity(self, words: LabelCounts, names: Sequence[str]) -> float:
        """Of the documents held out, with their labels; one evaluator for all models and all peers.

        All words of the training part are predicted, also those that a model has not met yet, so that models of few and of
        many documents can be compared.
        """
        unknown = sorted({*names_in(self.test.labels)} - {*names})
        shards = label_shards(self.test.shards(), rows_of_labels(self.test.labels, [*names, *unknown]))
        known = with_words(words, self._in_training).with_unknown(len(unknown))
        return perplexity_with_labels(known, shards, ThreadEngine(), alpha=ALPHA)


def with_words(known: LabelCounts, wanted: Any) -> LabelCounts:
    """Give words of which nothing is known a pair that was never met: the evaluator leaves out words without any."""
    missing = wanted & (np.diff(known.ends) == 0)
    places = known.ends[:-1][missing]
    ends = known.ends + np.concatenate([[0], np.cumsum(missing)])
    labels, counts = np.insert(known.labels, places, 0), np.insert(known.counts, places, 0.0)
    return LabelCounts.of(ends, labels, counts, known.n_labels, known.eta)


def words_of(table: sp.csc_array) -> LabelCounts:
    """Take counts, a row for each label and a column for each word."""
    table.sort_indices()
    return LabelCounts.of(table.indptr, table.indices, table.data, table.shape[0], ETA)
