"""Fused EM for P(word | document) = Σ_z P(z | document) P(word | z): responsibilities are used at once and never stored.

A pass visits a shard twice. By document: each entry's P(word | document), then the document's new topics. By word: each
word's expected counts, summed in the nearest cache and then added, as integers, to the exact totals, so that the large table
is read once and in order. Entries are processed four at a time, which keeps the row they share in registers.

The parts of a pass are inlined, and rows are addressed by array and index: calls would cost time.

Words that a document cannot have under the model (P = 0, after underflow or without any topic) are ignored.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import inlined, kernel


@kernel
def em_documents(ends, words, counts, theta, topics, kept, new_theta, weights):
    """Run the pass by document: new topics of each document, and the weight n / P(word | document) of each entry.

    Same numbers as tests/reference/plsa.py::em_dense (NumPy, written for reading).

    theta      float[d, k]   in   P(topic | document)
    topics     float[v, k]   in   column z is P(word | topic z)
    kept       float[d, k]   in   row of an empty document
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
    """Run the pass by word: add the expected counts of each word and topic to exact totals.

    Same numbers as tests/reference/plsa.py::em_dense, times the scale and rounded up: EM can never recover from a value
    rounded to zero.

    distinct … places          in       entries by word, from `by_word`
    weights     float[nnz]     in       from `em_documents`
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
    """Infer the topics of new documents under fixed topics: EM on each document until it converges.

    Same numbers as tests/reference/plsa.py::fold_in_dense.

    topics   float[v, k]   in       column z is P(word | topic z), to the power of beta
    beta     float         in       1, or less for tempered EM: P(topic | document) is taken to this power
    factors  float[k]      in       and times these; not used if beta = 1
    theta    float[d, k]   in, out  start and result; a document without known words keeps its start
    prior    float[k]      in       added to the topics' counts in each pass, zeros for maximum likelihood

    A document has converged when no topic changes by more than `tolerance`.
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
            if update_theta(fresh, row, theta, d, prior) <= tolerance:
                break


@kernel
def log_likelihoods(ends, words, counts, topics, theta, totals, tokens):
    """Compute Σ n log P(word | document) and Σ n, over the words of each document in the model's vocabulary.

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
    """Compute Σ n log P(word | document) over held-out tokens, and Σ n; P is mixed with the background.

    Same numbers as tests/reference/plsa.py::heldout_dense.

    held        float[nnz]   in   held-out count of each entry
    background  float[v]     in   P(word) in the observed tokens; words with none there are skipped
    mix         float        in   weight of the background
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
    """Compute the dot product of row i of x and row a of y."""
    total = x[i, 0] * y[a, 0]
    for k in range(1, x.shape[1]):
        total += x[i, k] * y[a, k]
    return total


@inlined
def dot_four(x, i, y, a, b, c, e):
    """Compute the dot products of row i of x and four rows of y."""
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
    """Return the number of tokens of a document."""
    length = counts.dtype.type(0)
    for j in range(first, last):
        length += counts[j]
    return length


@inlined
def weight(count, p):
    """Return n / p, or zero if p is zero."""
    return count / p if p > 0 else p - p


@inlined
def take_logs(total, product, n_a, p_a, n_b, p_b, n_c, p_c, n_e, p_e):
    """Add four times n log p to a total. If all counts are one, as most are, the probabilities are multiplied first, and the
    logarithm of the product is taken only now and then.
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
    """Return n log p, or zero if p is zero."""
    return np.float64(count) * np.log(np.float64(p)) if p > 0 else 0.0


@inlined
def finish(new, old, kept, d):
    """Multiply row d by the old one and normalize it; if its sum is zero, use the row in `kept`."""
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
def update_theta(fresh, row, theta, d, prior):
    """Write new topics to row d; return the largest change."""
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
