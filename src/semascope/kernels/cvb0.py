"""CVB0 for LDA (Asuncion et al. 2009): EM in which each token is excluded from the counts that determine its own topic.

P(topic | word, document) is taken ∝ (N_dk − γ_k + α_k) (N_wk − γ_k + η) / (N_k + Σ_w η), where γ is the token's own part of
the counts. No γ is stored: it is computed from the current counts, γ_k = a_k b_k / Σ a b with the rows
a = N_dk + α_k and b = (N_wk + η) / (N_k + Σ_w η). No more is subtracted than was added: rows stay at least at their priors.
N_k and Σ_w run over the words of one language, so each language has normalizers of its own.

As in plsa.py, a pass visits a shard by document and then by word, so that large tables are read once and in order. The pass by
word recomputes γ from two numbers stored per entry. Two entries that share a row are processed at a time, while the next rows
are prefetched.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import inlined, kernel
from semascope.kernels.plsa import dot, length_of, log_part
from semascope.kernels.prefetch import prefetch_row

AHEAD = 4
"""Prefetch distance in entries."""


@kernel
def cvb0_documents(
    ends,
    words,
    counts,
    languages,
    theta,
    before,
    momentum,
    held,
    alpha,
    topics,
    scale,
    floor,
    rows,
    new_theta,
    inverses,
    weights,
):
    """Run the pass by document: update the topics of each document.

    Same numbers as tests/reference/cvb0.py::cvb0_dense (NumPy, written for reading).

    languages  int32[v]      in   language id of each word
    theta      float[d, k]   in   P(topic | document) after the last pass
    before     float[d, k]   in   and after the one before
    momentum   float         in   extrapolation factor from `before` to `theta`
    held       float[k]      in   the α included in these
    alpha      float[k]      in   the α to use
    topics     float[v, k]   in   (N_wk + η) / (N_k + Σ_w η)
    scale      float[l, k]   in   1 / (N_k + Σ_w η), a row for each language
    floor      float[l, k]   in   η / (N_k + Σ_w η)
    rows       float[d, k]   out  N_dk + α_k that the pass starts from
    new_theta  float[d, k]   out  next P(topic | document)
    inverses   float[nnz]    out  1 / Σ a b of each entry
    weights    float[nnz]    out  n over the normalizer of its responsibilities

    Returns the sum of n log P(word | document) before the pass.
    """
    log_likelihood, one = 0.0, rows.dtype.type(1)  # a literal would promote all that follows to double precision
    of_a, of_b = np.empty(rows.shape[1], rows.dtype), np.empty(rows.shape[1], rows.dtype)
    held_mass = held.sum()
    for d in range(ends.shape[0] - 1):
        length = length_of(counts, ends[d], ends[d + 1])
        mass = compute_row(rows, d, theta, before, momentum, length + held_mass, held, alpha)
        for k in range(rows.shape[1]):
            new_theta[d, k] = alpha[k]
        j, end = ends[d], ends[d + 1]
        while j + 2 <= end:
            a, b = words[j], words[j + 1]
            lang_a, lang_b = languages[a], languages[b]
            prefetch_two_rows(topics, words, j + AHEAD)
            total_a, total_b = dot_two(rows, d, topics, a, b)
            inverse_a, inverse_b = one / total_a, one / total_b
            sum_a, sum_b = inverse_a - inverse_a, inverse_b - inverse_b
            for k in range(rows.shape[1]):
                of_a[k] = without_one(rows[d, k], topics[a, k], inverse_a, alpha[k], scale[lang_a, k], floor[lang_a, k])
                of_b[k] = without_one(rows[d, k], topics[b, k], inverse_b, alpha[k], scale[lang_b, k], floor[lang_b, k])
                sum_a += of_a[k]
                sum_b += of_b[k]
            weights[j], weights[j + 1] = counts[j] / sum_a, counts[j + 1] / sum_b
            inverses[j], inverses[j + 1] = inverse_a, inverse_b
            for k in range(rows.shape[1]):
                new_theta[d, k] += weights[j] * of_a[k] + weights[j + 1] * of_b[k]
            log_likelihood += log_part(counts[j], total_a) + log_part(counts[j + 1], total_b)
            j += 2
        if j < end:
            a = words[j]
            lang_a = languages[a]
            total_a = dot(rows, d, topics, a)
            inverses[j] = one / total_a
            sum_a = total_a - total_a
            for k in range(rows.shape[1]):
                of_a[k] = without_one(rows[d, k], topics[a, k], inverses[j], alpha[k], scale[lang_a, k], floor[lang_a, k])
                sum_a += of_a[k]
            weights[j] = counts[j] / sum_a
            for k in range(rows.shape[1]):
                new_theta[d, k] += weights[j] * of_a[k]
            log_likelihood += log_part(counts[j], total_a)
        log_likelihood -= log_part(length, mass)
        normalize_row(new_theta, d)
    return log_likelihood


@kernel
def cvb0_words(
    distinct, word_ends, documents, places, inverses, weights, rows, alpha, topics, scale, floor, languages,
    totals, factor, first, last,
):  # fmt: skip
    """Run the pass by word: add the expected counts of each word and topic to exact totals.

    distinct … places            in       entries by word, from `by_word`
    inverses, weights            in       from `cvb0_documents`
    rows … languages             in       as there
    totals        int64[v, k]    in, out  expected counts times `factor`, rounded up
    first, last                  in       the distinct words to add
    """
    sums = np.empty(rows.shape[1], rows.dtype)
    for i in range(first, last):
        word, lang = distinct[i], languages[distinct[i]]
        for k in range(sums.shape[0]):
            sums[k] = 0
        j, end = word_ends[i], word_ends[i + 1]
        while j + 2 <= end:
            a, b, at_a, at_b = documents[j], documents[j + 1], places[j], places[j + 1]
            inverse_a, inverse_b, weight_a, weight_b = inverses[at_a], inverses[at_b], weights[at_a], weights[at_b]
            prefetch_two_rows(rows, documents, j + AHEAD)
            for k in range(sums.shape[0]):
                of_a = without_one(rows[a, k], topics[word, k], inverse_a, alpha[k], scale[lang, k], floor[lang, k])
                of_b = without_one(rows[b, k], topics[word, k], inverse_b, alpha[k], scale[lang, k], floor[lang, k])
                sums[k] += weight_a * of_a + weight_b * of_b
            j += 2
        if j < end:
            a, inverse_a, weight_a = documents[j], inverses[places[j]], weights[places[j]]
            for k in range(sums.shape[0]):
                of_a = without_one(rows[a, k], topics[word, k], inverse_a, alpha[k], scale[lang, k], floor[lang, k])
                sums[k] += weight_a * of_a
        for k in range(sums.shape[0]):
            totals[word, k] += np.int64(np.ceil(np.float64(sums[k]) * factor))


@kernel
def counts_of(totals, unit, counts):
    """Convert exact totals to N_wk."""
    for word in range(totals.shape[0]):
        for k in range(totals.shape[1]):
            counts[word, k] = totals[word, k] * unit


@kernel
def extrapolate(counts, table, momentum, languages, sums, sums_ahead):
    """Extrapolate the counts in the direction of their last change.

    Same numbers as tests/reference/cvb0.py::go_on_dense.

    counts      float[v, k]    in       N_wk after the last pass
    table       float[v, k]    in       N_wk after the pass before
                               out      N_wk + momentum · (N_wk − what it was before), at least 0
    sums        float64[k]     in, out  sums of `counts` are added
    sums_ahead  float64[l, k]  in, out  sums of `ahead` over the words of each language are added
    """
    nothing = momentum - momentum
    for word in range(counts.shape[0]):
        lang = languages[word]
        for k in range(counts.shape[1]):
            table[word, k] = max(counts[word, k] + momentum * (counts[word, k] - table[word, k]), nothing)
            sums[k] += np.float64(counts[word, k])
            sums_ahead[lang, k] += np.float64(table[word, k])


@kernel
def normalize(counts, eta, scale, languages):
    """Convert N_wk to (N_wk + η) / (N_k + Σ_w η), in place."""
    for word in range(counts.shape[0]):
        lang = languages[word]
        for k in range(counts.shape[1]):
            counts[word, k] = (counts[word, k] + eta) * scale[lang, k]


@kernel
def prior_parts(topics, alpha, parts):
    """Compute Σ_k α_k P(word | topic) of each word."""
    for word in range(topics.shape[0]):
        parts[word] = 0
        for k in range(topics.shape[1]):
            parts[word] += alpha[k] * topics[word, k]


# --- parts of a pass -----------------------------------------------------------------------------------------------------


@inlined
def without_one(a, b, inverse, alpha, scale, floor):
    """Compute an unnormalized responsibility, excluding the current token."""
    gamma = a * b * inverse
    return max(a - gamma, alpha) * max(b - gamma * scale, floor)


@inlined
def dot_two(x, i, y, a, b):
    """Compute the dot products of row i of x and two rows of y."""
    zero = x[i, 0] - x[i, 0]
    of_a, of_b = zero, zero
    for k in range(x.shape[1]):
        of_a += x[i, k] * y[a, k]
        of_b += x[i, k] * y[b, k]
    return of_a, of_b


@inlined
def prefetch_two_rows(table, numbers, j):
    """Prefetch the rows of entries j and j + 1, if they exist."""
    if j + 1 < numbers.shape[0]:
        prefetch_row(table, numbers[j])
        prefetch_row(table, numbers[j + 1])


@inlined
def compute_row(rows, d, theta, before, momentum, size, held, alpha):
    """Compute N_dk + α_k of a document's topics, extrapolated in the direction of their last change; return its sum."""
    mass = size - size
    for k in range(rows.shape[1]):
        share = theta[d, k] + momentum * (theta[d, k] - before[d, k])
        rows[d, k] = max(share * size + (alpha[k] - held[k]), alpha[k])
        mass += rows[d, k]
    return mass


@inlined
def normalize_row(rows, d):
    """Normalize a row."""
    total = rows[d, 0] - rows[d, 0]
    for k in range(rows.shape[1]):
        total += rows[d, k]
    for k in range(rows.shape[1]):
        rows[d, k] /= total
