"""Fused EM for P(word | document) = Σ_z P(z | document) P(word | z): responsibilities are used at once and never stored.

A pass goes over a shard twice. By document: each entry's P(word | document), then the document's new topics. By word: each
word's expected counts, added up in the nearest cache and then, as integers, to the exact totals, so that the large table is
touched once and in order. Four entries are taken at a time, which keeps the row they share in registers.

Words that a document cannot have under the model (P = 0, after underflow or for a word no topic knows) take no part.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.compile import kernel


@kernel
def em_documents(ends, words, counts, theta, topics, new_theta, weights):
    """The pass by document: new topics of each document, and the weight n / P(word | document) of each entry.

    Same numbers as tests/reference/em.py::em_dense (NumPy, written for reading).

    theta      float[d, k]   in   P(topic | document)
    topics     float[v, k]   in   column z is P(word | topic z)
    new_theta  float[d, k]   out  next P(topic | document); a document without words keeps what it has
    weights    float[nnz]    out

    Returns the sum of n log P(word | document) before the pass.
    """
    log_likelihood = 0.0
    for d in range(ends.shape[0] - 1):
        old, new = theta[d], new_theta[d]
        clear(new)
        j, end = ends[d], ends[d + 1]
        while j + 4 <= end:
            a, b, c, e = topics[words[j]], topics[words[j + 1]], topics[words[j + 2]], topics[words[j + 3]]
            p_a, p_b, p_c, p_e = dot_four(old, a, b, c, e)
            w_a, w_b = weight(counts[j], p_a), weight(counts[j + 1], p_b)
            w_c, w_e = weight(counts[j + 2], p_c), weight(counts[j + 3], p_e)
            add_four(new, w_a, a, w_b, b, w_c, c, w_e, e)
            weights[j], weights[j + 1], weights[j + 2], weights[j + 3] = w_a, w_b, w_c, w_e
            log_likelihood += log_part(counts[j], p_a) + log_part(counts[j + 1], p_b)
            log_likelihood += log_part(counts[j + 2], p_c) + log_part(counts[j + 3], p_e)
            j += 4
        while j < end:
            row = topics[words[j]]
            p = dot(old, row)
            weights[j] = weight(counts[j], p)
            add(new, weights[j], row)
            log_likelihood += log_part(counts[j], p)
            j += 1
        finish(new, old)
    return log_likelihood


@kernel
def em_words(distinct, word_ends, documents, places, weights, theta, topics, totals, scale, first, last):
    """The pass by word: how often each word is expected to come from each topic, added to exact totals.

    Same numbers as tests/reference/em.py::em_dense, times the scale and rounded.

    distinct … places          in       entries by word, as `by_word` gives them
    weights     float[nnz]     in       what `em_documents` gave
    theta       float[d, k]    in       P(topic | document), before the pass
    topics      float[v, k]    in       column z is P(word | topic z)
    totals      int64[v, k]    in, out  expected counts times `scale`
    first, last                in       the distinct words to add
    """
    sums = np.empty(theta.shape[1], theta.dtype)
    for i in range(first, last):
        clear(sums)
        j, end = word_ends[i], word_ends[i + 1]
        while j + 4 <= end:
            add_four(
                sums,
                weights[places[j]], theta[documents[j]],
                weights[places[j + 1]], theta[documents[j + 1]],
                weights[places[j + 2]], theta[documents[j + 2]],
                weights[places[j + 3]], theta[documents[j + 3]],
            )  # fmt: skip
            j += 4
        while j < end:
            add(sums, weights[places[j]], theta[documents[j]])
            j += 1
        topic, total = topics[distinct[i]], totals[distinct[i]]
        for k in range(sums.shape[0]):
            total[k] += np.int64(np.float64(sums[k] * topic[k]) * scale + 0.5)


@kernel
def fold_in(ends, words, counts, topics, theta, prior, max_passes, tolerance):
    """Topics of new documents under fixed topics: each document's own EM, until it settles.

    Same numbers as tests/reference/em.py::fold_in_dense.

    topics   float[v, k]   in       column z is P(word | topic z)
    theta    float[d, k]   in, out  start and result; a document without known words keeps its start
    prior    float         in       added to every topic's count in each pass, 0 for maximum likelihood

    A document has settled when no topic moves by more than `tolerance`.
    """
    fresh = np.empty(theta.shape[1], theta.dtype)
    for d in range(ends.shape[0] - 1):
        row = theta[d]
        for _ in range(max_passes):
            clear(fresh)
            for j in range(ends[d], ends[d + 1]):
                topic = topics[words[j]]
                add(fresh, weight(counts[j], dot(row, topic)), topic)
            largest_move = settle(fresh, row, prior)
            if largest_move <= tolerance:
                break


@kernel
def log_likelihoods(ends, words, counts, topics, theta, totals, tokens):
    """Sum of n log P(word | document), and of n, over the words of each document that the model knows.

    totals   float64[d]  out
    tokens   float64[d]  out
    """
    for d in range(ends.shape[0] - 1):
        totals[d] = 0.0
        tokens[d] = 0.0
        for j in range(ends[d], ends[d + 1]):
            p = dot(theta[d], topics[words[j]])
            totals[d] += log_part(counts[j], p)
            if p > 0:
                tokens[d] += counts[j]


@kernel
def dot(x, y):
    total = x[0] * y[0]
    for k in range(1, x.shape[0]):
        total += x[k] * y[k]
    return total


@kernel
def dot_four(x, a, b, c, e):
    p_a, p_b, p_c, p_e = x[0] * a[0], x[0] * b[0], x[0] * c[0], x[0] * e[0]
    for k in range(1, x.shape[0]):
        p_a += x[k] * a[k]
        p_b += x[k] * b[k]
        p_c += x[k] * c[k]
        p_e += x[k] * e[k]
    return p_a, p_b, p_c, p_e


@kernel
def add(to, w, x):
    for k in range(to.shape[0]):
        to[k] += w * x[k]


@kernel
def add_four(to, w_a, a, w_b, b, w_c, c, w_e, e):
    for k in range(to.shape[0]):
        to[k] += (w_a * a[k] + w_b * b[k]) + (w_c * c[k] + w_e * e[k])


@kernel
def clear(row):
    for k in range(row.shape[0]):  # a loop compiles in a tenth of the time of a slice assignment
        row[k] = 0


@kernel
def weight(count, p):
    """n / p, or nothing where p is zero."""
    return count / p if p > 0 else p - p


@kernel
def log_part(count, p):
    return np.float64(count) * np.log(np.float64(p)) if p > 0 else 0.0


@kernel
def finish(new, old):
    """Times the old topics, to sum one; with nothing to sum, the old ones."""
    total = new[0] * old[0]
    new[0] = total
    for k in range(1, new.shape[0]):
        new[k] *= old[k]
        total += new[k]
    if total > 0:
        for k in range(new.shape[0]):
            new[k] /= total
    else:
        for k in range(new.shape[0]):
            new[k] = old[k]


@kernel
def settle(fresh, row, prior):
    """Put new topics into `row`; give the largest change."""
    total = fresh[0] - fresh[0]
    for k in range(row.shape[0]):
        fresh[k] = fresh[k] * row[k]
        total += fresh[k]
    if not total > 0:
        return total
    total += prior * row.shape[0]
    largest = total - total
    for k in range(row.shape[0]):
        value = (fresh[k] + prior) / total
        largest = max(largest, abs(value - row[k]))
        row[k] = value
    return largest
