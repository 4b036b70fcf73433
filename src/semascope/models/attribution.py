"""Which label each word of a text is due to, and the passage that shows a label best."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from semascope.corpus.passages import Token, passage
from semascope.corpus.shards import frozen
from semascope.kernels.label_folding import fold_labels, look_up
from semascope.training.labelwords import LabelWords

if TYPE_CHECKING:
    from numpy.typing import NDArray

PASSES = 200
TOLERANCE = 1e-6


class Attributed(NamedTuple):
    """A word of a text, from one character up to another, and what it is due to.

    word     as it stands in the text
    label    None for a word that the model does not know, or that is left out
    weight   P(label | word, text)
    """

    word: str
    start: int
    end: int
    label: str | None
    weight: float


def attributed(
    text: str, tokens: Sequence[Token], numbers: NDArray[np.int32], labels: NDArray[np.int32], alpha: float,
    known: LabelWords, names: Sequence[str],
) -> list[Attributed]:  # fmt: skip
    """Tell what each word is due to, among some labels.

    Parameters
    ----------
    numbers : ndarray of int32
        Number of each token's word, -1 for those that the model does not know.
    labels : ndarray of int32
        The labels, ascending.
    """
    weights = weights_of_words(numbers[numbers >= 0], labels, alpha, known)
    best, found, at = weights.argmax(axis=1) if len(labels) else np.zeros(0, np.intp), [], 0
    for token, number in zip(tokens, numbers, strict=True):
        label, weight = None, 0.0
        if number >= 0 and len(labels):
            label, weight, at = names[labels[best[at]]], float(weights[at, best[at]]), at + 1
        found.append(Attributed(text[token.start : token.end], token.start, token.end, label, weight))
    return found


def weights_of_words(
    words: NDArray[np.int32], labels: NDArray[np.int32], alpha: float, known: LabelWords
) -> NDArray[np.float64]:
    """P(label | word, document) of a document's words, one after the other: a row for each, a column for each label."""
    distinct, places, counts = np.unique(words, return_inverse=True, return_counts=True)
    entries = frozen(distinct, np.int32)
    rows = frozen(np.array([0, len(entries)]), np.int64), entries, frozen(counts, np.float32)
    listed, theta = frozen(labels, np.int32), np.empty(len(labels))
    of_label = frozen(np.array([0, len(listed)]), np.int64), listed, frozen(np.full(len(listed), alpha), np.float64)
    fold_labels(*rows, *of_label, *known.for_kernels(), PASSES, TOLERANCE, theta)
    likely = np.empty(len(entries) * len(listed))
    look_up(entries, listed, *known.for_kernels(), likely)
    due = likely.reshape(len(entries), len(listed)) * theta
    weights: NDArray[np.float64] = due / due.sum(axis=1, keepdims=True)
    return weights[places]


def best_passage(
    text: str, tokens: Sequence[Token], numbers: NDArray[np.int32], label: int, known: LabelWords, n_words: int
) -> str:
    """Cut out the passage whose words tell most of a label, by their mean log P(word | label) / P(word)."""
    if not tokens:
        return ""
    telling = _telling(numbers, label, known) if known.n_words else np.zeros(len(numbers))
    sums = np.concatenate([[0.0], np.cumsum(telling)])
    n = min(n_words, len(tokens))
    first = int(np.argmax(sums[n:] - sums[:-n]))
    start, end = passage(text, tokens, first, n)
    before, after = "… " if start > 0 else "", " …" if end < len(text) else ""
    return before + re.sub(r"\s+", " ", text[start:end]).strip() + after


def _telling(numbers: NDArray[np.int32], label: int, known: LabelWords) -> NDArray[np.float64]:
    """Log P(word | label) / P(word) of each word; 0 for one that the model does not know."""
    of_label = np.empty(len(numbers))
    listed = frozen(np.where(numbers < 0, 0, numbers), np.int32)
    look_up(listed, frozen(np.array([label]), np.int32), *known.for_kernels(), of_label)
    of_all = np.add.reduceat(np.append(known.counts, 0.0), known.ends[:-1]) * (np.diff(known.ends) > 0)
    everywhere = (of_all[listed] + known.eta) / (of_all.sum() + known.n_words * known.eta)
    return np.where(numbers >= 0, np.log(of_label / everywhere), 0.0)


def numbers_of(words: Sequence[str], vocabulary: pl.Series) -> NDArray[np.int32]:
    """Number of each token's word, -1 for one that the vocabulary does not have."""
    places = vocabulary.is_in(list({word for word in words if word})).arg_true()
    numbers = dict(zip(vocabulary.gather(places).to_list(), places.to_list(), strict=True))
    return np.array([numbers.get(word, -1) for word in words], np.int32)
