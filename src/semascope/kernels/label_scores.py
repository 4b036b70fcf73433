"""Which labels a document is likely to have, by a cheap score: the cosine of its words and those of each label."""

from __future__ import annotations

import numpy as np

from semascope.kernels.compile import kernel
from semascope.kernels.label_folding import first_not_below, look_up, settle

PASSES = 10
"""By which it is found what a document has added to its labels; it need not be exact."""


@kernel
def score_labels(
    ends, words, counts, own_ends, own_labels, own_alpha, pair_ends, pair_labels, pair_counts, scale, eta,
    word_weights, squares, n_labels, best, cosines,
):  # fmt: skip
    """Find the labels with the largest cosines for each document.

    The vector of a label has n_kw · g_w, that of a document log(1 + n_w) · g_w, with g the weights of words. What a document
    itself has added to its own labels is taken out first: they are judged nearly as if the model had not seen it.

    Same numbers as tests/reference/label_folding.py::score_labels.

    ends, words, counts       in    entries by document
    own_ends, own_labels      in    labels that each document has taught the model, if any; ascending
    own_alpha    float64[m]   in    prior of each
    pair_ends, pair_labels, pair_counts, scale, eta
                              in    what is known of labels, as `LabelWords` has it
    word_weights float64[v]   in    g
    squares      float64[k]   in    Σ_w (n_kw g_w)² of each label
    n_labels                  in    only the first so many can be found
    best         int32[d, b]  out   the labels, best first; -1 where there are no more that have a word of the document
    cosines      float64[d, b] out
    """
    most_entries = most_labels = 1
    for document in range(len(ends) - 1):
        most_entries = max(most_entries, ends[document + 1] - ends[document])
        most_labels = max(most_labels, own_ends[document + 1] - own_ends[document])
    products, room = (
        np.zeros(len(squares)),
        (np.empty(most_entries * most_labels), np.empty(most_labels), np.empty(most_labels)),
    )
    lengths = np.empty(len(squares))
    met = np.empty(len(squares), np.int32)
    for document in range(len(ends) - 1):
        mine, own = slice(ends[document], ends[document + 1]), slice(own_ends[document], own_ends[document + 1])
        n_met, of_document = _multiply(
            words[mine], counts[mine], pair_ends, pair_labels, pair_counts, word_weights, squares, products, lengths, met
        )
        if own_ends[document + 1] > own_ends[document]:
            _take_out(
                words[mine], counts[mine], own_labels[own], own_alpha[own], pair_ends, pair_labels, pair_counts, scale, eta,
                word_weights, room, products, lengths,
            )  # fmt: skip
        _choose(met[:n_met], products, lengths, of_document, n_labels, best[document], cosines[document])
        products[met[:n_met]] = 0


@kernel
def _multiply(words, counts, pair_ends, pair_labels, pair_counts, word_weights, squares, products, lengths, met):
    """Scalar products of a document with all labels that have a word of it; give how many, and the document's square."""
    n_met, square = 0, 0.0
    for j in range(len(words)):
        weight = word_weights[words[j]]
        of_word = np.log1p(np.float64(counts[j])) * weight
        square += of_word * of_word
        for pair in range(pair_ends[words[j]], pair_ends[words[j] + 1]):
            label = pair_labels[pair]
            if products[label] == 0:
                met[n_met] = label
                lengths[label] = squares[label]
                n_met += 1
            products[label] += of_word * weight * pair_counts[pair] + 1e-300  # not zero again, so that it is met once only
    return n_met, square


@kernel
def _take_out(
    words, counts, labels, alpha, pair_ends, pair_labels, pair_counts, scale, eta, word_weights, room, products, lengths
):  # fmt: skip
    """Take what a document has added to its own labels out of their products and squares."""
    likely, gained, theta = room
    theta = theta[: len(labels)]
    look_up(words, labels, pair_ends, pair_labels, pair_counts, scale, eta, likely)
    settle(counts, likely, alpha, PASSES, -1.0, gained, theta)
    for j in range(len(words)):
        total, weight = 0.0, word_weights[words[j]]
        for i in range(len(labels)):
            total += theta[i] * likely[j * len(labels) + i]
        at, last = pair_ends[words[j]], pair_ends[words[j] + 1]
        for i in range(len(labels)):
            at = first_not_below(pair_labels, labels[i], at, last)
            if at < last and pair_labels[at] == labels[i]:
                n = pair_counts[at]
                left = max(n - counts[j] * theta[i] * likely[j * len(labels) + i] / total, 0.0)
                products[labels[i]] -= np.log1p(np.float64(counts[j])) * weight * weight * (n - left)
                lengths[labels[i]] -= weight * weight * (n * n - left * left)


@kernel
def _choose(met, products, lengths, of_document, n_labels, best, cosines):
    """Keep the labels with the largest cosines, in order; of equal ones, the first that was met."""
    best[:] = -1
    cosines[:] = 0
    n_best = 0
    for label in met:
        if label >= n_labels or products[label] <= 1e-12 or lengths[label] <= 1e-12:
            continue
        cosine = products[label] / np.sqrt(lengths[label] * of_document)
        if n_best == len(best) and cosine <= cosines[n_best - 1]:
            continue
        place = min(n_best, len(best) - 1)
        n_best = min(n_best + 1, len(best))
        while place > 0 and cosines[place - 1] < cosine:
            best[place], cosines[place] = best[place - 1], cosines[place - 1]
            place -= 1
        best[place], cosines[place] = label, cosine
