"""CVB0 over few topics a document: the pass of cvb0.py, with the topics that a document hardly has left out.

A document keeps the topics that it has more than `threshold` words of. In some passes it may take up others: those that its
words are most probable in. All that is left out gets nothing, which is what it would nearly have got.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.compile import kernel
from semascope.kernels.cvb0 import length_of, without_one
from semascope.kernels.em import log_part


@kernel
def choose_topics(
    ends, words, counts, theta, before, momentum, held, alpha, threshold, offered, first, few_ends, few_topics, few_rows, masses
):
    """Choose the topics of each document, from document `first` on, as long as there is room.

    Same topics as tests/reference/cvb0.py::chosen_topics.

    theta … alpha    in       as in `cvb0_documents`
    threshold        in       words of a topic that a document must have to keep it
    offered  int32[v, t]   in       topics that each word is most probable in; none, or some in passes that offer new ones
    few_ends   int64[d + 1]  in, out  topics of document i are [few_ends[i]:few_ends[i + 1]] of the two others
    few_topics uint32[n]     out      ascending within a document
    few_rows   float[n]      out      N_dk + α_k of each
    masses     float[d]      out      sum of N_dk + α_k over all topics, chosen or not

    Returns the document to go on with when there is more room.
    """
    n_topics, held_mass = theta.shape[1], held.sum()
    marked = np.zeros(n_topics, np.bool_)
    for d in range(first, ends.shape[0] - 1):
        place = few_ends[d]
        if place + n_topics > few_topics.shape[0]:
            return d
        size = length_of(counts, ends[d], ends[d + 1]) + held_mass
        for j in range(ends[d], ends[d + 1]):
            for i in range(offered.shape[1]):
                marked[offered[words[j], i]] = True
        masses[d] = 0
        best, most = 0, theta[d, 0]
        for k in range(n_topics):
            share = theta[d, k] + momentum * (theta[d, k] - before[d, k])
            row = max(share * size + (alpha[k] - held[k]), alpha[k])
            masses[d] += row
            if theta[d, k] > most:
                best, most = k, theta[d, k]
            if row - alpha[k] > threshold or marked[k]:
                few_topics[place], few_rows[place] = k, row
                place += 1
                marked[k] = False
        if place == few_ends[d]:
            few_topics[place], few_rows[place] = best, most * size + (alpha[best] - held[best])
            place += 1
        few_ends[d + 1] = place
    return ends.shape[0] - 1


@kernel
def few_documents(
    ends, words, counts, languages, few_ends, few_topics, few_rows, masses, background, alpha, topics, scale, floor,
    new_theta, inverses, weights,
):  # fmt: skip
    """The pass by document over the chosen topics; otherwise as `cvb0_documents`.

    Same numbers as tests/reference/cvb0.py::cvb0_dense with the chosen topics.

    background  float[v]  in  Σ_k α_k P(word | topic): what topics that are left out give to a word, for the log-likelihood
    """
    log_likelihood, one, most = 0.0, few_rows.dtype.type(1), theta_width(few_ends)
    b, of_b = np.empty(most, few_rows.dtype), np.empty(most, few_rows.dtype)
    sums, own = np.empty(most, few_rows.dtype), np.empty(most, few_rows.dtype)
    for d in range(ends.shape[0] - 1):
        start, n = few_ends[d], few_ends[d + 1] - few_ends[d]
        length = length_of(counts, ends[d], ends[d + 1])
        for i in range(n):
            sums[i] = 0
            own[i] = alpha[few_topics[start + i]]
        for j in range(ends[d], ends[d + 1]):
            word, lang = words[j], languages[words[j]]
            total, rest = one - one, background[word]
            for i in range(n):
                b[i] = topics[word, few_topics[start + i]]
                total += few_rows[start + i] * b[i]
                rest -= own[i] * b[i]
            inverse, left = one / total, one - one
            for i in range(n):
                k = few_topics[start + i]
                of_b[i] = without_one(few_rows[start + i], b[i], inverse, own[i], scale[lang, k], floor[lang, k])
                left += of_b[i]
            inverses[j], weights[j] = inverse, counts[j] / left
            for i in range(n):
                sums[i] += weights[j] * of_b[i]
            log_likelihood += log_part(counts[j], total + max(rest, one - one))
        log_likelihood -= log_part(length, masses[d])
        put_few(new_theta, d, alpha, length, few_topics, start, sums, n)
    return log_likelihood


@kernel
def few_words(
    distinct, word_ends, documents, places, inverses, weights, few_ends, few_topics, few_rows, alpha, topics, scale, floor,
    languages, totals, factor, first, last,
):  # fmt: skip
    """The pass by word over the chosen topics; otherwise as `cvb0_words`."""
    sums = np.zeros(topics.shape[1], few_rows.dtype)
    for i in range(first, last):
        word, lang = distinct[i], languages[distinct[i]]
        for j in range(word_ends[i], word_ends[i + 1]):
            d, inverse, weight = documents[j], inverses[places[j]], weights[places[j]]
            for place in range(few_ends[d], few_ends[d + 1]):
                k = few_topics[place]
                of_one = without_one(few_rows[place], topics[word, k], inverse, alpha[k], scale[lang, k], floor[lang, k])
                sums[k] += weight * of_one
        for k in range(sums.shape[0]):
            if sums[k] > 0:
                totals[word, k] += np.int64(np.ceil(np.float64(sums[k]) * factor))
                sums[k] = 0


@kernel
def best_topics(topics, best):
    """The topics that each word is most probable in; ties go to the first.

    best   int32[v, t]   out  in no particular order
    """
    values = np.empty(best.shape[1], topics.dtype)
    for word in range(topics.shape[0]):
        for i in range(best.shape[1]):
            best[word, i], values[i] = i, topics[word, i]
        least = lowest(values)
        for k in range(best.shape[1], topics.shape[1]):
            if topics[word, k] > values[least]:
                best[word, least], values[least] = k, topics[word, k]
                least = lowest(values)


# --- parts of a pass -----------------------------------------------------------------------------------------------------


@kernel
def theta_width(few_ends):
    """The most topics that a document has."""
    most = 1
    for d in range(few_ends.shape[0] - 1):
        most = max(most, few_ends[d + 1] - few_ends[d])
    return most


@kernel
def lowest(values):
    """Where the smallest value is; the last one of equals."""
    least = 0
    for i in range(1, values.shape[0]):
        if values[i] <= values[least]:
            least = i
    return least


@kernel
def put_few(new_theta, d, alpha, length, few_topics, start, sums, n):
    """Put a document's topics into its row, which sums to one."""
    total = alpha.sum() + length
    for k in range(new_theta.shape[1]):
        new_theta[d, k] = alpha[k]
    for i in range(n):
        new_theta[d, few_topics[start + i]] += sums[i]
    for k in range(new_theta.shape[1]):
        new_theta[d, k] /= total
