"""CVB0 for LDA (Asuncion et al. 2009): EM in which a word does not vote for the topic that it has itself.

P(topic | word, document) is taken ∝ (N_dk − γ_k + α_k) (N_wk − γ_k + η) / (N_k + Vη), where γ is the share of one token that
the counts hold already. Nothing is kept of a token: γ is taken from the counts as they are, γ_k = a_k b_k / Σ a b with the rows
a = N_dk + α_k and b = (N_wk + η) / (N_k + Vη). No more is taken out than was put in: rows stay at least at their priors.

As in em.py a pass goes over a shard by document and then by word, so that large tables are touched once and in order. The pass
by word works γ out again from two numbers kept of each entry. Two entries that share a row are taken at a time.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.compile import inlined, kernel
from semascope.kernels.em import dot, log_part


@kernel
def cvb0_documents(ends, words, counts, rows, alpha, topics, scale, floor, new_rows, inverses, weights):
    """The pass by document: new counts of topics in each document.

    Same numbers as tests/reference/cvb0.py::cvb0_dense (NumPy, written for reading).

    rows       float[d, k]   in   N_dk + α_k
    alpha      float[k]      in
    topics     float[v, k]   in   (N_wk + η) / (N_k + Vη)
    scale      float[k]      in   1 / (N_k + Vη)
    floor      float[k]      in   η / (N_k + Vη)
    new_rows   float[d, k]   out  the next N_dk + α_k
    inverses   float[nnz]    out  1 / Σ a b of each entry
    weights    float[nnz]    out  n over the sum of what its topics are in proportion to

    Returns the sum of n log Σ a b.
    """
    log_likelihood, one = 0.0, rows.dtype.type(1)  # a literal would be of double precision, and all that follows from it
    of_a, of_b = np.empty(rows.shape[1], rows.dtype), np.empty(rows.shape[1], rows.dtype)
    for d in range(ends.shape[0] - 1):
        for k in range(rows.shape[1]):
            new_rows[d, k] = alpha[k]
        j, end = ends[d], ends[d + 1]
        while j + 2 <= end:
            a, b = words[j], words[j + 1]
            total_a, total_b = dot(rows, d, topics, a), dot(rows, d, topics, b)
            inverse_a, inverse_b = one / total_a, one / total_b
            sum_a, sum_b = inverse_a - inverse_a, inverse_b - inverse_b
            for k in range(rows.shape[1]):
                of_a[k] = without_one(rows[d, k], topics[a, k], inverse_a, alpha[k], scale[k], floor[k])
                of_b[k] = without_one(rows[d, k], topics[b, k], inverse_b, alpha[k], scale[k], floor[k])
                sum_a += of_a[k]
                sum_b += of_b[k]
            weights[j], weights[j + 1] = counts[j] / sum_a, counts[j + 1] / sum_b
            inverses[j], inverses[j + 1] = inverse_a, inverse_b
            for k in range(rows.shape[1]):
                new_rows[d, k] += weights[j] * of_a[k] + weights[j + 1] * of_b[k]
            log_likelihood += log_part(counts[j], total_a) + log_part(counts[j + 1], total_b)
            j += 2
        if j < end:
            a = words[j]
            total_a = dot(rows, d, topics, a)
            inverses[j] = one / total_a
            sum_a = total_a - total_a
            for k in range(rows.shape[1]):
                of_a[k] = without_one(rows[d, k], topics[a, k], inverses[j], alpha[k], scale[k], floor[k])
                sum_a += of_a[k]
            weights[j] = counts[j] / sum_a
            for k in range(rows.shape[1]):
                new_rows[d, k] += weights[j] * of_a[k]
            log_likelihood += log_part(counts[j], total_a)
    return log_likelihood


@kernel
def cvb0_words(
    distinct, word_ends, documents, places, inverses, weights, rows, alpha, topics, scale, floor, totals, factor, first, last
):
    """The pass by word: how often each word is expected to come from each topic, added to exact totals.

    distinct … places            in       entries by word, as `by_word` gives them
    inverses, weights            in       what `cvb0_documents` gave
    rows … floor                 in       as there
    totals        int64[v, k]    in, out  expected counts times `factor`, rounded up
    first, last                  in       the distinct words to add
    """
    sums = np.empty(rows.shape[1], rows.dtype)
    for i in range(first, last):
        word = distinct[i]
        for k in range(sums.shape[0]):
            sums[k] = 0
        j, end = word_ends[i], word_ends[i + 1]
        while j + 2 <= end:
            a, b, at_a, at_b = documents[j], documents[j + 1], places[j], places[j + 1]
            inverse_a, inverse_b, weight_a, weight_b = inverses[at_a], inverses[at_b], weights[at_a], weights[at_b]
            for k in range(sums.shape[0]):
                of_a = without_one(rows[a, k], topics[word, k], inverse_a, alpha[k], scale[k], floor[k])
                of_b = without_one(rows[b, k], topics[word, k], inverse_b, alpha[k], scale[k], floor[k])
                sums[k] += weight_a * of_a + weight_b * of_b
            j += 2
        if j < end:
            a, inverse_a, weight_a = documents[j], inverses[places[j]], weights[places[j]]
            for k in range(sums.shape[0]):
                sums[k] += weight_a * without_one(rows[a, k], topics[word, k], inverse_a, alpha[k], scale[k], floor[k])
        for k in range(sums.shape[0]):
            totals[word, k] += np.int64(np.ceil(np.float64(sums[k]) * factor))


@inlined
def without_one(a, b, inverse, alpha, scale, floor):
    """What a topic's share is in proportion to, without the token itself."""
    gamma = a * b * inverse
    return max(a - gamma, alpha) * max(b - gamma * scale, floor)
