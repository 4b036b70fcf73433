"""Variational inference of correlated topic models (Blei and Lafferty 2007): documents' topics are softmax(η), with η normal.

A document's η has a normal posterior with mean λ and variances ν². Given the topics β, the prior N(μ, P⁻¹) and N tokens, the
bound on the log-likelihood, optimized over the topics of tokens and the point of the Taylor expansion, is

    Σ_w n_w log Σ_k e^λ_k β_wk − N log Σ_k e^(λ_k + ν²_k / 2)
    − ½ (λ − μ)ᵀ P (λ − μ) + ½ log |P| + ½ Σ_k (log ν²_k + 1 − P_kk ν²_k)

Each pass over a document's words increases it: ν² by Newton's method on log ν², then λ by one step of Newton's method, halved
until it improves, on a concave function that lies below the bound and touches it at the current λ.

Operations keep their order: where they may be reassociated, loops over topics are vectorized or not by where their arrays lie
in memory, and last digits with them.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import strict_kernel

LARGEST = 32.0
"""Maximum distance of λ from μ in any component: e^32 exceeds any ratio of topics. This bounds the sums of moments."""

MAX_HALVINGS = 20
MAX_NEWTON_STEPS = 10


@strict_kernel
def infer_logistic_normal(
    ends,
    words,
    counts,
    topics,
    mean,
    precision,
    log_determinant,
    max_passes,
    tolerance,
    means,
    variances,
    theta,
    weights,
    moments,
):
    """Infer λ and ν² of every document, until its topics converge.

    Same numbers as tests/reference/logistic_normal.py::infer (NumPy, written for reading).

    topics      float[v, k]      in       P(word | topic)
    mean        float64[k]       in       μ
    precision   float64[k, k]    in       P
    tolerance   float            in       Σ_k |change of softmax(λ)| below which a document has converged
    means       float64[d, k]    in, out  λ
    variances   float64[d, k]    in, out  ν²
    theta       float[d, k]      out      softmax(λ)
    weights     float[nnz]       out      n_w / Σ_k softmax(λ)_k β_wk of each entry
    moments     float64[k+1, k]  in, out  adds Σ_d (λ − μ), and below Σ_d (λ − μ)(λ − μ)ᵀ + diag ν², of nonempty documents

    Returns the sum of the bounds. Empty documents stay at the prior and add nothing.
    """
    n_topics = means.shape[1]
    total = 0.0
    expected, shares, before = np.empty(n_topics), np.empty(n_topics), np.empty(n_topics)
    moved, step, deviation = np.empty(n_topics), np.empty(n_topics), np.empty(n_topics)
    factor = np.empty((n_topics, n_topics))
    for d in range(ends.shape[0] - 1):
        first, last = ends[d], ends[d + 1]
        length = 0.0
        for i in range(first, last):
            length += counts[i]
        if length == 0.0:
            means[d] = mean
            softmax(mean, shares)
            for k in range(n_topics):
                theta[d, k] = shares[k]
            continue
        for k in range(n_topics):
            means[d, k] = min(max(means[d, k], mean[k] - LARGEST), mean[k] + LARGEST)
        for repeat in range(max_passes):
            softmax(means[d], shares)
            if repeat > 0:
                change = 0.0
                for k in range(n_topics):
                    change += abs(shares[k] - before[k])
                if change <= tolerance:
                    break
            before[:] = shares
            responsibilities(words, counts, first, last, topics, shares, expected, weights)
            fit_variances(means[d], variances[d], precision, length)
            newton_step(means[d], variances[d], mean, precision, expected, length, shares, moved, step, deviation, factor)
        softmax(means[d], shares)
        log_likelihood = responsibilities(words, counts, first, last, topics, shares, expected, weights)
        for k in range(n_topics):
            theta[d, k] = shares[k]
            deviation[k] = means[d, k] - mean[k]
        total += log_likelihood + length * log_sum_exp(means[d], variances[d], 0.0)
        total += lower_function(means[d], variances[d], deviation, precision, expected, length) + 0.5 * log_determinant
        for k in range(n_topics):
            total += 0.5 * (np.log(variances[d, k]) + 1.0 - precision[k, k] * variances[d, k]) - expected[k] * means[d, k]
            moments[0, k] += deviation[k]
            moments[k + 1, k] += variances[d, k]
            for j in range(n_topics):
                moments[k + 1, j] += deviation[k] * deviation[j]
    return total


@strict_kernel
def inverse(matrix, inverted):
    """Invert a symmetric positive definite matrix; return the logarithm of its determinant, or NaN if it is not definite.

    Same numbers as ``np.linalg.inv`` and ``np.linalg.slogdet``.

    matrix    float64[n, n]  in
    inverted  float64[n, n]  out
    """
    n = matrix.shape[0]
    factor, column = matrix.copy(), np.empty(n)
    if not factorize(factor):
        return np.nan
    total = 0.0
    for j in range(n):
        total += 2.0 * np.log(factor[j, j])
        column[:] = 0.0
        column[j] = 1.0
        solve(factor, column)
        for i in range(j, n):
            inverted[i, j] = column[i]
            inverted[j, i] = column[i]
    return total


@strict_kernel
def softmax(row, shares):
    """Compute exp(row), normalized."""
    largest, total = row.max(), 0.0
    for k in range(row.shape[0]):
        shares[k] = np.exp(row[k] - largest)
        total += shares[k]
    for k in range(row.shape[0]):
        shares[k] /= total


@strict_kernel
def log_sum_exp(row, variances, half):
    """Compute log Σ_k exp(λ_k + half ν²_k)."""
    largest, total = -np.inf, 0.0
    for k in range(row.shape[0]):
        largest = max(largest, row[k] + half * variances[k])
    for k in range(row.shape[0]):
        total += np.exp(row[k] + half * variances[k] - largest)
    return largest + np.log(total)


@strict_kernel
def responsibilities(words, counts, first, last, topics, shares, expected, weights):
    """Compute the expected count of each topic from the responsibilities. Returns Σ n log P(word)."""
    log_likelihood = 0.0
    expected[:] = 0.0
    for i in range(first, last):
        word, p = words[i], 0.0
        for k in range(shares.shape[0]):
            p += shares[k] * topics[word, k]
        weights[i] = counts[i] / p if p > 0.0 else 0.0
        log_likelihood += counts[i] * np.log(p) if p > 0.0 else 0.0
        weight = np.float64(weights[i])
        for k in range(shares.shape[0]):
            expected[k] += weight * topics[word, k]
    for k in range(shares.shape[0]):
        expected[k] *= shares[k]
    return log_likelihood


@strict_kernel
def fit_variances(row, variances, precision, length):
    """Fit the optimal ν²: 1 / ν²_k = P_kk + N / ζ exp(λ_k + ν²_k / 2), with ζ computed from the last ν²."""
    log_zeta = log_sum_exp(row, variances, 0.5)
    for k in range(row.shape[0]):
        rate, u = length * np.exp(row[k] - log_zeta), np.log(variances[k])
        for _ in range(MAX_NEWTON_STEPS):
            v = np.exp(u)
            expand_vocabulary = rate * v * np.exp(0.5 * v)
            slope = precision[k, k] * v + expand_vocabulary * (1.0 + 0.5 * v)
            change = min(max((1.0 - precision[k, k] * v - expand_vocabulary) / slope, -2.0), 2.0)
            u += change
            if abs(change) < 1e-9:
                break
        variances[k] = np.exp(u)


@strict_kernel
def newton_step(row, variances, mean, precision, expected, length, shares, moved, step, deviation, factor):
    """Update λ by a step of Newton's method, halved until it improves the bound."""
    n_topics, largest, total = row.shape[0], -np.inf, 0.0
    for k in range(n_topics):
        deviation[k] = row[k] - mean[k]
        largest = max(largest, row[k] + 0.5 * variances[k])
    for k in range(n_topics):
        shares[k] = np.exp(row[k] + 0.5 * variances[k] - largest)
        total += shares[k]
    for k in range(n_topics):
        shares[k] /= total
    for k in range(n_topics):
        pulled = 0.0
        for j in range(n_topics):
            pulled += precision[k, j] * deviation[j]
            factor[k, j] = precision[k, j] - length * shares[k] * shares[j]
        factor[k, k] += length * shares[k]
        step[k] = expected[k] - length * shares[k] - pulled
    if not factorize(factor):
        return
    solve(factor, step)
    size = 1.0
    for k in range(n_topics):
        room = LARGEST - deviation[k] if step[k] > 0.0 else LARGEST + deviation[k]
        if abs(step[k]) * size > room:
            size = max(room, 0.0) / abs(step[k])
    now = lower_function(row, variances, deviation, precision, expected, length)
    for _ in range(MAX_HALVINGS):
        for k in range(n_topics):
            moved[k] = row[k] + size * step[k]
            shares[k] = deviation[k] + size * step[k]
        if lower_function(moved, variances, shares, precision, expected, length) >= now:
            row[:] = moved
            return
        size *= 0.5


@strict_kernel
def lower_function(row, variances, deviation, precision, expected, length):
    """Compute the lower function of λ: Σ_k c_k λ_k − N log Σ_k exp(λ_k + ν²_k / 2) − ½ (λ − μ)ᵀ P (λ − μ)."""
    total = -length * log_sum_exp(row, variances, 0.5)
    for k in range(row.shape[0]):
        pulled = 0.0
        for j in range(row.shape[0]):
            pulled += precision[k, j] * deviation[j]
        total += expected[k] * row[k] - 0.5 * deviation[k] * pulled
    return total


@strict_kernel
def factorize(matrix):
    """Replace the lower triangle by its Cholesky factor; return whether there is one."""
    n = matrix.shape[0]
    for i in range(n):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                matrix[i, i] = np.sqrt(total)
            else:
                matrix[i, j] = total / matrix[j, j]
    return True


@strict_kernel
def solve(factor, vector):
    """Replace a vector b by x with L Lᵀ x = b."""
    n = factor.shape[0]
    for i in range(n):
        total = vector[i]
        for k in range(i):
            total -= factor[i, k] * vector[k]
        vector[i] = total / factor[i, i]
    for i in range(n - 1, -1, -1):
        total = vector[i]
        for k in range(i + 1, n):
            total -= factor[k, i] * vector[k]
        vector[i] = total / factor[i, i]
