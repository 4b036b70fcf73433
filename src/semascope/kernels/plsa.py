"""Fused EM for P(word | document) = Σ_z P(z | document) P(word | z): responsibilities are used at once and never stored.

A pass goes over a shard twice. By document: each entry's P(word | document), then the document's new topics. By word: each
word's expected counts, added up in the nearest cache and then, as integers, to the exact totals, so that the large table is
touched once and in order. Four entries are taken at a time, which keeps the row they share in registers.

The parts of a pass are written out where they are used, and rows are named by array and number: calls would cost time.

Words that a document cannot have under the model (P = 0, after underflow or for a word no topic knows) take no part.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import inlined, kernel


@kernel
def em_documents(ends, words, counts, theta, topics, kept, new_theta, weights):
    """The pass by document: new topics of each document, and the weight n / P(word | document) of each entry.

    Same numbers as tests/reference/plsa.py::em_dense (NumPy, written for reading).

    theta      float[d, k]   in   P(topic | document)
    topics     float[v, k]   in   column z is P(word | topic z)
    kept       float[d, k]   in   what a document without words is to have
    new_theta  float[d, k]   out  next P(topic | document)
    weights    float[nnz]    out

    Returns the sum of n log P(word | document) before the pass.
    """
    log_likelihood, product = 0.0, 1.0
    for d in range(ends.shape[0] - 1):
        for k in range(theta.shape[1]):
            new_theta[d, k] = 0
        j, end = ends[d], ends[d + 1]
        while j + 4 <= end:
            a, b, c, e = words[j], words[j + 1], words[j + 2], words[j + 3]
            p_a, p_b, p_c, p_e = dot_four(theta, d, topics, a, b, c, e)
            w_a, w_b = weight(counts[j], p_a), weight(counts[j + 1], p_b)
            w_c, w_e = weight(counts[j + 2], p_c), weight(counts[j + 3], p_e)
            add_four(new_theta, d, topics, w_a, a, w_b, b, w_c, c, w_e, e)
            weights[j], weights[j + 1], weights[j + 2], weights[j + 3] = w_a, w_b, w_c, w_e
            log_likelihood, product = take_logs(
                log_likelihood, product,
                counts[j], p_a, counts[j + 1], p_b, counts[j + 2], p_c, counts[j + 3], p_e,
            )  # fmt: skip
            j += 4
        while j < end:
            p = dot(theta, d, topics, words[j])
            weights[j] = weight(counts[j], p)
            add(new_theta, d, weights[j], topics, words[j])
            log_likelihood += log_part(counts[j], p)
            j += 1
        finish(new_theta, theta, kept, d)
    return log_likelihood + np.log(product)


@kernel
def em_words(distinct, word_ends, documents, places, weights, theta, topics, totals, scale, first, last):
    """The pass by word: how often each word is expected to come from each topic, added to exact totals.

    Same numbers as tests/reference/plsa.py::em_dense, times the scale and rounded up: what is rounded to zero EM would never
    leave again.

    distinct … places          in       entries by word, as `by_word` gives them
    weights     float[nnz]     in       what `em_documents` gave
    theta       float[d, k]    in       P(topic | document), before the pass
    topics      float[v, k]    in       column z is P(word | topic z)
    totals      int64[v, k]    in, out  expected counts times `scale`
    first, last                in       the distinct words to add
    """
    sums = np.empty((1, theta.shape[1]), theta.dtype)
    for i in range(first, last):
        for k in range(sums.shape[1]):
            sums[0, k] = 0
        j, end = word_ends[i], word_ends[i + 1]
        while j + 4 <= end:
            w_a, w_b = weights[places[j]], weights[places[j + 1]]
            w_c, w_e = weights[places[j + 2]], weights[places[j + 3]]
            a, b, c, e = documents[j], documents[j + 1], documents[j + 2], documents[j + 3]
            add_four(sums, 0, theta, w_a, a, w_b, b, w_c, c, w_e, e)
            j += 4
        while j < end:
            add(sums, 0, weights[places[j]], theta, documents[j])
            j += 1
        word = distinct[i]
        for k in range(sums.shape[1]):
            totals[word, k] += np.int64(np.ceil(np.float64(sums[0, k] * topics[word, k]) * scale))


@kernel
def fold_in(ends, words, counts, topics, theta, beta, factors, prior, max_passes, tolerance):
    """Topics of new documents under fixed topics: each document's own EM, until it settles.

    Same numbers as tests/reference/plsa.py::fold_in_dense.

    topics   float[v, k]   in       column z is P(word | topic z), to the power of beta
    beta     float         in       1, or less for tempered EM: P(topic | document) is taken to this power
    factors  float[k]      in       and times these; with beta = 1 they are not used
    theta    float[d, k]   in, out  start and result; a document without known words keeps its start
    prior    float[k]      in       added to the topics' counts in each pass, zeros for maximum likelihood

    A document has settled when no topic moves by more than `tolerance`.
    """
    fresh, row = np.empty((1, theta.shape[1]), theta.dtype), np.empty((1, theta.shape[1]), theta.dtype)
    for d in range(ends.shape[0] - 1):
        for _ in range(max_passes):
            for k in range(fresh.shape[1]):
                fresh[0, k] = 0
                row[0, k] = theta[d, k] if beta == 1 else theta[d, k] ** beta * factors[k]
            j, end = ends[d], ends[d + 1]
            while j + 4 <= end:
                a, b, c, e = words[j], words[j + 1], words[j + 2], words[j + 3]
                p_a, p_b, p_c, p_e = dot_four(row, 0, topics, a, b, c, e)
                w_a, w_b = weight(counts[j], p_a), weight(counts[j + 1], p_b)
                w_c, w_e = weight(counts[j + 2], p_c), weight(counts[j + 3], p_e)
                add_four(fresh, 0, topics, w_a, a, w_b, b, w_c, c, w_e, e)
                j += 4
            while j < end:
                add(fresh, 0, weight(counts[j], dot(row, 0, topics, words[j])), topics, words[j])
                j += 1
            if converge_documents(fresh, row, theta, d, prior) <= tolerance:
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
            p = dot(theta, d, topics, words[j])
            totals[d] += log_part(counts[j], p)
            if p > 0:
                tokens[d] += counts[j]


@kernel
def heldout_likelihood(ends, words, held, topics, theta, background, mix):
    """Sum of n log P(word | document) over words that were held out, and of n; P is mixed with the background.

    Same numbers as tests/reference/plsa.py::heldout_dense.

    held        float[nnz]   in   how often each word was held out
    background  float[v]     in   P(word) in what is learned from; words that have none there are passed over
    mix         float        in   share of the background
    """
    total, tokens = 0.0, 0.0
    for d in range(ends.shape[0] - 1):
        for j in range(ends[d], ends[d + 1]):
            if held[j] > 0 and background[words[j]] > 0:
                p = dot(theta, d, topics, words[j])
                total += held[j] * np.log((1 - mix) * np.float64(p) + mix * background[words[j]])
                tokens += held[j]
    return total, tokens


# --- parts of a pass -----------------------------------------------------------------------------------------------------


@inlined
def dot(x, i, y, a):
    """Row i of x times row a of y."""
    total = x[i, 0] * y[a, 0]
    for k in range(1, x.shape[1]):
        total += x[i, k] * y[a, k]
    return total


@inlined
def dot_four(x, i, y, a, b, c, e):
    """Row i of x times four rows of y."""
    zero = x[i, 0] - x[i, 0]
    p_a, p_b, p_c, p_e = zero, zero, zero, zero
    for k in range(x.shape[1]):
        p_a += x[i, k] * y[a, k]
        p_b += x[i, k] * y[b, k]
        p_c += x[i, k] * y[c, k]
        p_e += x[i, k] * y[e, k]
    return p_a, p_b, p_c, p_e


@inlined
def add(to, i, w, x, a):
    """Add row a of x, weighted, to row i."""
    for k in range(to.shape[1]):
        to[i, k] += w * x[a, k]


@inlined
def add_four(to, i, x, w_a, a, w_b, b, w_c, c, w_e, e):
    """Add four rows of x, weighted, to row i."""
    for k in range(to.shape[1]):
        to[i, k] += (w_a * x[a, k] + w_b * x[b, k]) + (w_c * x[c, k] + w_e * x[e, k])


@inlined
def length_of(counts, first, last):
    """Words of a document."""
    length = counts.dtype.type(0)
    for j in range(first, last):
        length += counts[j]
    return length


@inlined
def weight(count, p):
    """n / p, or nothing where p is zero."""
    return count / p if p > 0 else p - p


@inlined
def take_logs(total, product, n_a, p_a, n_b, p_b, n_c, p_c, n_e, p_e):
    """Add four times n log p to a total. Where all counts are one, as most are, by way of a product whose logarithm is taken
    only now and then.
    """
    four = np.float64(p_a) * np.float64(p_b) * np.float64(p_c) * np.float64(p_e)
    if n_a == 1 and n_b == 1 and n_c == 1 and n_e == 1 and four > 1e-140:
        product *= four
        if product < 1e-140:
            total += np.log(product)
            product = 1.0
    else:
        total += log_part(n_a, p_a) + log_part(n_b, p_b) + log_part(n_c, p_c) + log_part(n_e, p_e)
    return total, product


@inlined
def log_part(count, p):
    """n log p, or nothing where p is zero."""
    return np.float64(count) * np.log(np.float64(p)) if p > 0 else 0.0


@inlined
def finish(new, old, kept, d):
    """Row d times the old one, to sum one; with nothing to sum, the row that is kept."""
    total = new[d, 0] - new[d, 0]
    for k in range(new.shape[1]):
        new[d, k] *= old[d, k]
        total += new[d, k]
    if total > 0:
        for k in range(new.shape[1]):
            new[d, k] /= total
    else:
        for k in range(new.shape[1]):
            new[d, k] = kept[d, k]


@inlined
def converge_documents(fresh, row, theta, d, prior):
    """Put new topics into row d; give the largest change."""
    total = fresh[0, 0] - fresh[0, 0]
    for k in range(theta.shape[1]):
        fresh[0, k] *= row[0, k]
        total += fresh[0, k]
    if not total > 0:
        return total
    for k in range(theta.shape[1]):
        fresh[0, k] += prior[k]
        total += prior[k]
    largest = total - total
    for k in range(theta.shape[1]):
        value = fresh[0, k] / total
        largest = max(largest, abs(value - theta[d, k]))
        theta[d, k] = value
    return largest
