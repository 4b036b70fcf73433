"""Label inference: candidate labels by cosine, and folding in with labels.

Operations of folding in keep their order: where they may be reassociated, last digits depend on whether the code was compiled
in the process or loaded from the cache.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import inlined, kernel, strict_kernel


@strict_kernel
def fold_labels(
    ends, words, counts, label_ends, labels, alpha, pair_ends, pair_labels, pair_counts, scale, eta, n_passes, tolerance, theta
):  # fmt: skip
    """Infer P(label | document) by iterating n_k = Σ_w n_w · γ_wk, γ_wk ∝ φ_kw (n_k + α_k), from equal shares.

    Same numbers as tests/reference/label_inference.py::fold_labels.

    ends, words, counts      in    entries by document
    label_ends  int64[d + 1] in    labels by document
    labels      int32[m]     in    ascending in each
    alpha       float64[m]   in    prior of each
    pair_ends, pair_labels, pair_counts, scale, eta
                             in    label counts, as in `LabelCounts`
    n_passes, tolerance      in    stop after so many passes, or when no share of a document changes by more
    theta       float64[m]   out   share of each label, those of a document summing to one
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
        infer_shares(counts[begin:end], likely, alpha[first:last], n_passes, tolerance, gained, mine)


@strict_kernel
def log_likelihood_of_labels(
    ends, words, counts, label_ends, labels, theta, pair_ends, pair_labels, pair_counts, scale, eta, totals, tokens
):  # fmt: skip
    """Compute Σ_w n_w log Σ_k θ_k φ_kw of each document, and Σ_w n_w.

    Same numbers as tests/reference/label_inference.py::log_likelihood_of_labels. Arguments as in `fold_labels`.

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


@strict_kernel
def look_up(words, labels, pair_ends, pair_labels, pair_counts, scale, eta, likely):
    """Compute φ_kw of the words of a document and some labels.

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


@strict_kernel
def infer_shares(counts, likely, alpha, n_passes, tolerance, gained, theta):
    """Infer the shares of labels in one document; arguments as in `fold_labels`.

    likely   float64[≥ n·l]   in    by word, then by label
    gained   float64[≥ l]     out   scratch
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
    """Return the position of the first of some ascending values that is not below the wanted one."""
    while first < last:
        middle = (first + last) // 2
        if values[middle] < wanted:
            first = middle + 1
        else:
            last = middle
    return first


PASSES = 10
"""Tolerance for estimating what a document contributed to its labels, which need not be exact."""


@kernel
def score_labels(
    ends, words, counts, own_ends, own_labels, own_alpha, pair_ends, pair_labels, pair_counts, scale, eta,
    word_weights, squares, n_labels, best, cosines,
):  # fmt: skip
    """Select the labels with the largest cosines for each document.

    The vector of a label has n_kw · g_w, that of a document log(1 + n_w) · g_w, with word weights g. What a document itself
    contributed to its own labels is subtracted first: they are scored nearly as if the model had not seen it.

    Same numbers as tests/reference/label_inference.py::score_labels.

    ends, words, counts       in    entries by document
    own_ends, own_labels      in    labels that the model has learned from each document, if any; ascending
    own_alpha    float64[m]   in    prior of each
    pair_ends, pair_labels, pair_counts, scale, eta
                              in    label counts, as in `LabelCounts`
    word_weights float64[v]   in    g
    squares      float64[k]   in    Σ_w (n_kw g_w)² of each label
    n_labels                  in    only the first this many are candidates
    best         int32[d, b]  out   the labels, best first; padded with -1 if fewer have a word of the document
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
            _subtract_document(
                words[mine], counts[mine], own_labels[own], own_alpha[own], pair_ends, pair_labels, pair_counts, scale, eta,
                word_weights, room, products, lengths,
            )  # fmt: skip
        _keep_best(met[:n_met], products, lengths, of_document, n_labels, best[document], cosines[document])
        products[met[:n_met]] = 0


@kernel
def _multiply(words, counts, pair_ends, pair_labels, pair_counts, word_weights, squares, products, lengths, met):
    """Compute dot products of a document with all labels that share a word; return their number, and the document's square."""
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
            products[label] += of_word * weight * pair_counts[pair] + 1e-300  # nonzero, so that a label is collected once
    return n_met, square


@kernel
def _subtract_document(
    words, counts, labels, alpha, pair_ends, pair_labels, pair_counts, scale, eta, word_weights, room, products, lengths
):  # fmt: skip
    """Subtract a document's contribution to its own labels from their products and squares."""
    likely, gained, theta = room
    theta = theta[: len(labels)]
    look_up(words, labels, pair_ends, pair_labels, pair_counts, scale, eta, likely)
    infer_shares(counts, likely, alpha, PASSES, -1.0, gained, theta)
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
def _keep_best(met, products, lengths, of_document, n_labels, best, cosines):
    """Keep the labels with the largest cosines, in order; ties go to the first one collected."""
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
