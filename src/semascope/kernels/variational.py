"""Variational inference for LDA (Blei, Ng and Jordan 2003), and vectorized special functions."""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import inlined, kernel
from semascope.kernels.plsa import add, add_four, dot, dot_four, length_of


@kernel
def vb_documents(ends, words, counts, alpha, table, smallest, max_passes, tolerance, gamma, shares, weights):
    """Run the E-step: update the topics of each document until they converge.

    Same numbers as tests/reference/variational.py::vb_dense (NumPy, written for reading).

    alpha      float64[k]    in
    table      float[v, k]   in       b, from `word_rows`
    smallest   float         in       log of the smallest entry of a row, relative to its largest
    tolerance  float         in       a document has converged when a pass reassigns at most this fraction of its tokens
    gamma      float[d, k]   in, out  γ
    shares     float[d, k]   out      the a that the last φ was computed from
    weights    float[nnz]    out      n over Σ a b of each entry in the last pass

    Returns the documents' part of the bound, with the last φ and the γ that follows from it:
    Σ_d [Σ_k log Γ(γ_k) − log Γ(Σ γ) + Σ n log Σ_k a b − Σ_k (γ_k − α_k) log a_k]. Together with the words' part,
    −Σ_vk s_vk log b_vk for the expected counts s, the last two terms are −Σ n φ log φ.
    """
    bound, n_topics = 0.0, gamma.shape[1]
    logs, mass = np.empty(n_topics), np.empty((1, n_topics), gamma.dtype)
    for d in range(ends.shape[0] - 1):
        length = length_of(counts, ends[d], ends[d + 1])
        for _ in range(max_passes):
            largest = -np.inf
            for k in range(n_topics):
                logs[k] = digamma(gamma[d, k])
            for k in range(n_topics):
                largest = max(largest, logs[k])
            for k in range(n_topics):
                logs[k] = max(logs[k] - largest, smallest)
                shares[d, k] = exp(logs[k])
            responsibilities(ends, words, counts, d, shares, table, mass, weights)
            change = 0.0
            for k in range(n_topics):
                mass[0, k] *= shares[d, k]
                fresh = alpha[k] + mass[0, k]
                change += abs(fresh - gamma[d, k])
                gamma[d, k] = fresh
            if change <= tolerance * length:
                break
        total = 0.0
        for k in range(n_topics):
            fresh = alpha[k] + mass[0, k]
            total += fresh
            bound += log_gamma(fresh) - mass[0, k] * logs[k]
        bound -= log_gamma(total)
        for j in range(ends[d], ends[d + 1]):
            bound += counts[j] * log(counts[j] / np.float64(weights[j]))
    return bound


@kernel
def e_step_documents(ends, words, counts, alpha, topics, max_passes, tolerance, gamma, shares, weights):
    """Run the E-step with a = γ and b = P(word | topic): stochastic CVB0 (Foulds et al. 2013), without logarithms.

    Same numbers as tests/reference/variational.py::settle_dense; arguments as there. `shares` is γ before the last pass.
    """
    n_topics = gamma.shape[1]
    mass = np.empty((1, n_topics), gamma.dtype)
    for d in range(ends.shape[0] - 1):
        length = length_of(counts, ends[d], ends[d + 1])
        for _ in range(max_passes):
            for k in range(n_topics):
                shares[d, k] = gamma[d, k]
            responsibilities(ends, words, counts, d, shares, topics, mass, weights)
            change = 0.0
            for k in range(n_topics):
                fresh = alpha[k] + mass[0, k] * shares[d, k]
                change += abs(fresh - gamma[d, k])
                gamma[d, k] = fresh
            if change <= tolerance * length:
                break


@kernel
def word_rows(words, topics, sizes, languages, smallest, table, peaks):
    """Compute b = exp(E[log β]) of some words, scaled to a maximum of one. Returns Σ_vk E[log β_vk] over them.

    words      int32[u]       in   rows to compute; the others are not touched
    topics     float[v, k]    in   λ_vk / Σ_v λ_vk, with the sum over the words of a language
    sizes      float64[l, k]  in   Σ_v λ_vk
    languages  int32[v]       in   language of each word
    smallest   float          in   log of the smallest entry
    table      float[v, k]    out  b
    peaks      float64[v]     out  max_k E[log β_vk], the divisors of the rows of b
    """
    n_topics = topics.shape[1]
    logs, of_sizes = np.empty(n_topics), np.empty(sizes.shape)
    for i in range(sizes.shape[0]):
        for k in range(n_topics):
            of_sizes[i, k] = digamma(sizes[i, k])
    total = 0.0
    for v in words:
        largest, i = -np.inf, languages[v]
        for k in range(n_topics):
            logs[k] = digamma(topics[v, k] * sizes[i, k]) - of_sizes[i, k]
        for k in range(n_topics):
            largest = max(largest, logs[k])
            total += logs[k]
        peaks[v] = largest
        for k in range(n_topics):
            table[v, k] = exp(max(logs[k] - largest, smallest))
    return total


@kernel
def new_topics(totals, unit, ends, entries, extra, base, languages, sizes, topics):
    """Compute λ_vk / Σ_v λ_vk, where λ_vk = η_vk + s_vk.

    totals     int64[v, k]    in   s in units of `unit`
    ends … base               in   η, as in a `WordPrior`
    languages  int32[v]       in   language of each word
    sizes      float64[l, k]  in   Σ_v λ_vk
    topics     float[v, k]    out
    """
    n_topics = totals.shape[1]
    row, inverses = np.empty(n_topics), 1.0 / sizes
    for v in range(totals.shape[0]):
        for k in range(n_topics):
            row[k] = totals[v, k] * unit + base
        for j in range(ends[v], ends[v + 1]):
            row[entries[j]] += extra[j]
        i = languages[v]
        for k in range(n_topics):
            topics[v, k] = row[k] * inverses[i, k]


@kernel
def words_part(totals, unit, ends, entries, extra, base, table):
    """Compute the words' part of the bound: Σ_vk [log Γ(λ_vk) − s_vk log b_vk], where λ_vk = η_vk + s_vk.

    totals … base        in   as in `new_topics`
    table   float[v, k]  in   the b that s was computed with
    """
    n_topics, total = totals.shape[1], 0.0
    row = np.empty(n_topics)
    for v in range(totals.shape[0]):
        for k in range(n_topics):
            row[k] = base
        for j in range(ends[v], ends[v + 1]):
            row[entries[j]] += extra[j]
        for k in range(n_topics):
            expected = totals[v, k] * unit
            total += log_gamma(row[k] + expected) - expected * log(table[v, k])
    return total


@kernel
def language_totals(totals, languages, sums):
    """Add each row of the totals to that of its language.

    totals     int64[v, k]   in
    languages  int32[v]      in
    sums       int64[l, k]   in, out
    """
    for v in range(totals.shape[0]):
        i = languages[v]
        for k in range(totals.shape[1]):
            sums[i, k] += totals[v, k]


@kernel
def expected_logs(gamma, sums):
    """Add E[log θ_k] = Ψ(γ_k) − Ψ(Σ γ) of every document.

    gamma  float[d, k]  in
    sums   float64[k]   in, out
    """
    for d in range(gamma.shape[0]):
        total = 0.0
        for k in range(gamma.shape[1]):
            total += gamma[d, k]
        of_total = digamma(total)
        for k in range(gamma.shape[1]):
            sums[k] += digamma(gamma[d, k]) - of_total


# --- parts of a pass -----------------------------------------------------------------------------------------------------


@inlined
def responsibilities(ends, words, counts, d, shares, table, mass, weights):
    """Compute the weight n / Σ a b of each entry and the expected count Σ n b_k / Σ a b of each topic, of one document."""
    for k in range(mass.shape[1]):
        mass[0, k] = 0
    j, end = ends[d], ends[d + 1]
    while j + 4 <= end:
        a, b, c, e = words[j], words[j + 1], words[j + 2], words[j + 3]
        p_a, p_b, p_c, p_e = dot_four(shares, d, table, a, b, c, e)
        w_a, w_b, w_c, w_e = counts[j] / p_a, counts[j + 1] / p_b, counts[j + 2] / p_c, counts[j + 3] / p_e
        add_four(mass, 0, table, w_a, a, w_b, b, w_c, c, w_e, e)
        weights[j], weights[j + 1], weights[j + 2], weights[j + 3] = w_a, w_b, w_c, w_e
        j += 4
    while j < end:
        weights[j] = counts[j] / dot(shares, d, table, words[j])
        add(mass, 0, weights[j], table, words[j])
        j += 1


MANTISSA = 0x000FFFFFFFFFFFFF
EXPONENT_OF_ONE = 0x3FF0000000000000
TWO_TO_52 = 4503599627370496.0  # added to a smaller integer, it leaves that integer in the low bits
BITS_OF_TWO_TO_52 = 0x4330000000000000
LOG_2 = 0.6931471805599453
HALF_LOG_TWO_PI = 0.9189385332046728

SHIFT = 8.0
"""Threshold for the series of digamma and log-gamma; smaller arguments are shifted by their recurrences."""


@inlined
def log(x):
    """Compute log(2^e m) = e log 2 + 2 artanh((m − 1) / (m + 1)), with m between √½ and √2."""
    bits = np.float64(x).view(np.int64)
    e = np.int64((bits >> np.int64(52)) | np.int64(BITS_OF_TWO_TO_52)).view(np.float64) - (TWO_TO_52 + 1023.0)
    m = np.int64((bits & np.int64(MANTISSA)) | np.int64(EXPONENT_OF_ONE)).view(np.float64)
    large = m > 1.4142135623730951
    m = 0.5 * m if large else m
    e = e + 1.0 if large else e
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    high = 1 / 11 + z * (1 / 13 + z * (1 / 15 + z * (1 / 17 + z / 19)))
    series = 1 / 3 + z * (1 / 5 + z * (1 / 7 + z * (1 / 9 + z * high)))
    return e * LOG_2 + 2.0 * (s + s * z * series)


@inlined
def exp(x):
    """Compute exp(n log 2 + r) = 2^n exp(r), with r between ±½ log 2."""
    n = np.floor(x * (1 / LOG_2) + 0.5)
    r = x - n * LOG_2
    high = 1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r / 479001600))))
    series = 1.0 + r * (1.0 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * high))))))
    bits = np.float64(n + (TWO_TO_52 + 1023.0)).view(np.int64)
    return series * np.int64(bits << np.int64(52)).view(np.float64)


@inlined
def digamma(x):
    """Compute Ψ(x) = Ψ(x + 8) − Σ 1 / (x + i), and log y − 1/2y − 1/12y² + … for the rest."""
    large = x > SHIFT * SHIFT
    t = SHIFT * SHIFT if large else np.float64(x)
    a, b, c, d = t * (t + 1.0), (t + 2.0) * (t + 3.0), (t + 4.0) * (t + 5.0), (t + 6.0) * (t + 7.0)
    of_a, of_b, of_c, of_d = 2.0 * t + 1.0, 2.0 * t + 5.0, 2.0 * t + 9.0, 2.0 * t + 13.0  # their derivatives
    lift = ((of_a * b + a * of_b) * (c * d) + (a * b) * (of_c * d + c * of_d)) / ((a * b) * (c * d))
    y = np.float64(x) if large else x + SHIFT
    r = 1.0 / y
    z = r * r
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z / 12))))))
    return log(y) - 0.5 * r - series - (0.0 if large else lift)


@inlined
def log_gamma(x):
    """Compute log Γ(x) = log Γ(x + 8) − log Π (x + i), and Stirling's series for the rest."""
    large = x > SHIFT * SHIFT
    t = SHIFT * SHIFT if large else np.float64(x)
    lift = (t * (t + 1.0)) * ((t + 2.0) * (t + 3.0)) * (((t + 4.0) * (t + 5.0)) * ((t + 6.0) * (t + 7.0)))
    y = np.float64(x) if large else x + SHIFT
    r = 1.0 / y
    z = r * r
    series = r * (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - z * (691 / 360360 - z / 156))))))
    return (y - 0.5) * log(y) - y + HALF_LOG_TWO_PI + series - (0.0 if large else log(lift))
