"""What is measured on: real collections where they are found, and a corpus that can be made anywhere."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

VARIABLE = "SEMASCOPE_DATA"
FILE = "docs.jsonl.gz"

NEWSGROUPS = "labelled/20newsgroups"
REUTERS = "labelled/reuters21578"
CVE = "scale/cve"
DEBIAN = "poly/debian"

MISSING = (
    f"Set {VARIABLE} to a directory with collections, one JSON object a line with the fields id and text: "
    f"{NEWSGROUPS}/{FILE}, ir/*/{FILE} and so on."
)


class NoDataError(Exception):
    """A collection was not found; the message says what to do."""


def collections() -> list[str]:
    """Names of all collections that are found, ``labelled/20newsgroups`` for example."""
    home = _home()
    found = sorted(path.parent.relative_to(home).as_posix() for path in home.glob(f"*/*/{FILE}"))
    if not found:
        raise NoDataError(f"There is no collection in {home}. {MISSING}")
    return found


def texts(collection: str) -> dict[str, list[str]]:
    """The texts of a collection by language; those that do not say are under ""."""
    by_language: dict[str, list[str]] = {}
    for record in records(collection):
        for language, text in record.get("texts", {"": record.get("text")}).items():
            by_language.setdefault(language, []).append(text or "")
    return by_language


def records(collection: str) -> Iterator[dict]:
    """The documents of a collection with all their fields."""
    with gzip.open(folder(collection) / FILE, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def folder(collection: str) -> Path:
    """Where a collection lies."""
    path = _home() / collection
    if not (path / FILE).exists():
        raise NoDataError(f"{path / FILE} is not there. {MISSING}")
    return path


def _home() -> Path:
    if not os.environ.get(VARIABLE):
        raise NoDataError(MISSING)
    return Path(os.environ[VARIABLE])


def ap89_like(
    n_documents: int = 7_466, n_words: int = 13_379, n_tokens: int = 1_320_000, n_topics: int = 100, seed: int = 1989
) -> sp.csr_array:
    """Make counts of the size of AP89 from a planted topic model; the same arguments give the same matrix.

    Word frequencies fall like Zipf's law, topics are Dirichlet draws around them, documents mix a few topics each and have
    log-normal lengths. Every word is met.
    """
    random = np.random.default_rng(seed)
    frequency = 1 / (np.arange(n_words) + 2.7)
    frequency /= frequency.sum()
    topics = random.gamma(0.01 * n_words * frequency, size=(n_topics, n_words))
    topics = 0.95 * topics / topics.sum(axis=1, keepdims=True) + 0.05 * frequency
    mixtures = random.dirichlet(np.full(n_topics, 0.05), size=n_documents)
    lengths = random.lognormal(0.0, 0.6, n_documents)
    lengths = np.maximum(1, np.round(lengths / lengths.sum() * n_tokens)).astype(np.int64)

    per_topic = random.multinomial(lengths, mixtures)
    documents = np.concatenate([np.repeat(np.arange(n_documents), per_topic[:, topic]) for topic in range(n_topics)])
    words = np.concatenate(
        [
            np.searchsorted(np.cumsum(topic)[:-1], random.random(count), side="right")
            for topic, count in zip(topics, per_topic.sum(axis=0), strict=True)
        ]
    )
    words[random.choice(len(words), n_words, replace=False)] = np.arange(n_words)
    counts = sp.coo_array((np.ones(len(words), np.float32), (documents, words)), shape=(n_documents, n_words)).tocsr()
    counts.sum_duplicates()
    return counts
