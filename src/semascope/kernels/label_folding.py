"""Folding in with labels: how much of a document is due to each of a few labels, with their words held fixed."""

from __future__ import annotations

import numpy as np

from semascope.kernels.compile import inlined, kernel


@kernel
def fold_labels(
    ends, words, counts, label_ends, labels, alpha, pair_ends, pair_labels, pair_counts, scale, eta, n_passes, tolerance, theta
):  # fmt: skip
    """P(label | document) by passes of n_k = Σ_w n_w · γ_wk, γ_wk ∝ φ_kw (n_k + α_k), from even shares.

    Same numbers as tests/reference/label_folding.py::fold_labels.

    ends, words, counts      in    entries by document
    label_ends  int64[d + 1] in    labels by document
    labels      int32[m]     in    ascending in each
    alpha       float64[m]   in    prior of each
    pair_ends, pair_labels, pair_counts, scale, eta
                             in    what is known of labels, as `LabelWords` has it
    n_passes, tolerance      in    stop after so many, or when no share of a document changes by more
    theta       float64[m]   out   share of each label, those of a document adding up to one
    """
    most_entries = most_labels = 1
    for document in range(len(ends) - 1):
        most_entries = max(most_entries, ends[document + 1] - ends[document])
        most_labels = max(most_labels, label_ends[document + 1] - label_ends[document])
    likely, gained = np.empty(most_entries * most_labels), np.empty(most_labels)
    for document in range(len(ends) - 1):
        first, last = label_ends[document], label_ends[document + 1]
        mine = theta[first:last]
        begin, end = ends[document], ends[document + 1]
        look_up(words[begin:end], labels[first:last], pair_ends, pair_labels, pair_counts, scale, eta, likely)
        settle(counts[begin:end], likely, alpha[first:last], n_passes, tolerance, gained, mine)


@kernel
def log_likelihood_of_labels(
    ends, words, counts, label_ends, labels, theta, pair_ends, pair_labels, pair_counts, scale, eta, totals, tokens
):  # fmt: skip
    """Σ_w n_w log Σ_k θ_k φ_kw of each document, and Σ_w n_w.

    Same numbers as tests/reference/label_folding.py::log_likelihood_of_labels. Arguments as in `fold_labels`.

    totals   float64[d]   out
    tokens   float64[d]   out
    """
    most = 1
    for document in range(len(ends) - 1):
        n_entries, n_labels = ends[document + 1] - ends[document], label_ends[document + 1] - label_ends[document]
        most = max(most, n_entries * n_labels)
    likely = np.empty(most)
    for document in range(len(ends) - 1):
        first, last = label_ends[document], label_ends[document + 1]
        begin, end = ends[document], ends[document + 1]
        look_up(words[begin:end], labels[first:last], pair_ends, pair_labels, pair_counts, scale, eta, likely)
        total = n_tokens = 0.0
        at = 0
        for j in range(begin, end):
            p_word = 0.0
            for i in range(first, last):
                p_word += theta[i] * likely[at]
                at += 1
            total += counts[j] * np.log(p_word)
            n_tokens += counts[j]
        totals[document], tokens[document] = total, n_tokens


@kernel
def look_up(words, labels, pair_ends, pair_labels, pair_counts, scale, eta, likely):
    """φ_kw of the words of a document and some labels.

    words    int32[n]       in
    labels   int32[l]       in    ascending
    likely   float64[≥ n·l] out   by word, then by label
    """
    n_labels = len(labels)
    for j in range(len(words)):
        at, last = pair_ends[words[j]], pair_ends[words[j] + 1]
        for i in range(n_labels):
            at = first_not_below(pair_labels, labels[i], at, last)
            n = pair_counts[at] if at < last and pair_labels[at] == labels[i] else 0.0
            likely[j * n_labels + i] = (n + eta) * scale[labels[i]]


@kernel
def settle(counts, likely, alpha, n_passes, tolerance, gained, theta):
    """Find the shares of labels in one document; arguments as in `fold_labels`.

    likely   float64[≥ n·l]   in    by word, then by label
    gained   float64[≥ l]     out   room to work in
    """
    n_labels = len(theta)
    n_tokens, prior = 0.0, 0.0
    for j in range(len(counts)):
        n_tokens += counts[j]
    for i in range(n_labels):
        prior += alpha[i]
        theta[i] = 1.0 / n_labels
    for _ in range(n_passes):
        gained[:n_labels] = 0
        for j in range(len(counts)):
            p_word, at = 0.0, j * n_labels
            for i in range(n_labels):
                p_word += theta[i] * likely[at + i]
            weight = counts[j] / p_word
            for i in range(n_labels):
                gained[i] += weight * likely[at + i]
        change = 0.0
        for i in range(n_labels):
            new = (theta[i] * gained[i] + alpha[i]) / (n_tokens + prior)
            change = max(change, abs(new - theta[i]))
            theta[i] = new
        if change <= tolerance:
            break


@inlined
def first_not_below(values, wanted, first, last):
    """Place of the first of some ascending values that is not below the wanted one."""
    while first < last:
        middle = (first + last) // 2
        if values[middle] < wanted:
            first = middle + 1
        else:
            last = middle
    return first
