"""Labeled LDA from a stream, by a particle filter: each particle is one assignment of every token so far to a label.

Particles agree on most counts. A pair of word and label has one base count for all, and where particles differ, a row of
differences, one per particle. A row is created when particles assign a token to different labels, and removed when they agree
again. So resampling copies particles only where they differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semascope.kernels.heldout import mix, uniform
from semascope.kernels.jit import strict_kernel
from semascope.kernels.labeled_gibbs import STEP

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_PAIRS, N_ROWS, N_WORDS, N_DOCUMENTS, N_RESAMPLED = range(5)
"""Indices into `Tables.numbers`."""


class Tables(NamedTuple):
    """Counts of all particles; p is the number of particles.

    buckets  int64[c, 2]    pairs by hash: word · 2^32 + label, or -1, and the index of the pair; c is a power of two
    word     int32[n]       of each pair
    label    int32[n]
    base     float64[n]     tokens assigned to the label, the part common to all particles
    row      int32[n]       index of its row of differences, or -1 if there is none
    differ   float32[r, p]  difference of each particle from the base
    pair     int32[r]       pair of each row
    sizes    float64[k]     tokens of each label, the part common to all
    beside   float64[k, p]  difference of each particle from that
    uneven   bool[k]        whether any differs
    logs     float64[p]     logarithms of the particles' weights, up to a constant
    numbers  int64[5]       pairs, rows, words of the vocabulary, documents, times resampled
    """

    buckets: NDArray[np.int64]
    word: NDArray[np.int32]
    label: NDArray[np.int32]
    base: NDArray[np.float64]
    row: NDArray[np.int32]
    differ: NDArray[np.float32]
    pair: NDArray[np.int32]
    sizes: NDArray[np.float64]
    beside: NDArray[np.float64]
    uneven: NDArray[np.bool_]
    logs: NDArray[np.float64]
    numbers: NDArray[np.int64]


# --- pairs of words and labels ---------------------------------------------------------------------------------------------


@strict_kernel
def pair_of(tables, word, label):
    """Return the index of a pair, adding it if it is new; there must be room."""
    key = (np.int64(word) << 32) | np.int64(label)
    last = len(tables.buckets) - 1
    at = np.int64(mix(np.uint64(key))) & last
    while tables.buckets[at, 0] != key:
        if tables.buckets[at, 0] < 0:
            new = tables.numbers[N_PAIRS]
            tables.buckets[at, 0], tables.buckets[at, 1] = key, new
            tables.word[new], tables.label[new] = word, label
            tables.base[new], tables.row[new] = 0.0, -1
            tables.numbers[N_PAIRS] += 1
            return new
        at = (at + 1) & last
    return tables.buckets[at, 1]


@strict_kernel
def fill_buckets(tables):
    """Insert all pairs into empty buckets; a duplicate pair is inserted once."""
    last = len(tables.buckets) - 1
    for pair in range(tables.numbers[N_PAIRS]):
        key = (np.int64(tables.word[pair]) << 32) | np.int64(tables.label[pair])
        at = np.int64(mix(np.uint64(key))) & last
        while tables.buckets[at, 0] >= 0 and tables.buckets[at, 0] != key:
            at = (at + 1) & last
        tables.buckets[at, 0], tables.buckets[at, 1] = key, pair


@strict_kernel
def has_room(tables, n_pairs):
    """Return whether this many pairs, with differences, can be added."""
    known, rows = tables.numbers[N_PAIRS] + n_pairs, tables.numbers[N_ROWS] + n_pairs
    return known <= len(tables.base) and 2 * known <= len(tables.buckets) and rows <= len(tables.pair)


# --- one document ----------------------------------------------------------------------------------------------------------


@strict_kernel
def learn_document(tables, counts, labels, slots, alpha, eta, published, random, chosen, logs):
    """Learn the tokens of one document, one after the other.

    P(label) ∝ (n_label,word + η) / (n_label + V η) · (n_document,label + α) with the counts of each particle; the weight of the
    particle is multiplied by their sum, over n_document + |labels| α.

    counts       float32[e]     in    of its entries: whole numbers
    labels       int32[l]       in
    slots        int32[e · l]   in    pairs, by entry, then by label
    published                   in    weight by P(word | chosen label), as published, instead of P(word)
    random       uint64         in    random key
    chosen       int16[t, p]    out   label of each token under each particle, as a position in `labels`
    logs         float64[p]     out   Σ log P(word | all before) under each particle
    """
    n_labels, n_particles = len(labels), len(tables.logs)
    n_words_eta = tables.numbers[N_WORDS] * eta
    sums, of_document = np.empty((n_labels, n_particles)), np.zeros((n_labels, n_particles))
    sizes, inverse = np.empty((n_labels, n_particles)), np.empty((n_labels, n_particles))
    for i in range(n_labels):
        for p in range(n_particles):
            sizes[i, p] = tables.sizes[labels[i]] + tables.beside[labels[i], p]
            inverse[i, p] = 1 / (sizes[i, p] + n_words_eta)
    products, factors = np.ones(n_particles), np.ones(n_particles)
    for p in range(n_particles):
        logs[p] = 0.0
    token = 0
    for j in range(len(counts)):
        pairs = slots[j * n_labels : (j + 1) * n_labels]
        for _ in range(int(counts[j])):
            weigh(tables, pairs, of_document, inverse, alpha, eta, sums)
            random = choose(sums, random, chosen[token])
            share = 1 / (token + n_labels * alpha)
            for p in range(n_particles):
                products[p] *= sums[n_labels - 1, p] * share
                if published:
                    i = chosen[token, p]
                    joint = sums[i, p] - sums[i - 1, p] if i > 0 else sums[i, p]
                    factors[p] *= joint / (of_document[i, p] + alpha)
                of_document[chosen[token, p], p] += 1
            add(tables, pairs, labels, chosen[token], sizes, inverse, n_words_eta)
            token += 1
            if token % 8 == 0:  # one logarithm for several factors
                take_logarithms(products, factors, published, logs, tables.logs)
    take_logarithms(products, factors, published, logs, tables.logs)


@strict_kernel
def weigh(tables, pairs, of_document, inverse, alpha, eta, sums):
    """Compute cumulative weights of all labels of a word for each particle."""
    n_particles = sums.shape[1]
    for i in range(len(pairs)):
        base, row = tables.base[pairs[i]] + eta, tables.row[pairs[i]]
        if row < 0:
            for p in range(n_particles):
                sums[i, p] = base * inverse[i, p] * (of_document[i, p] + alpha)
        else:
            for p in range(n_particles):
                sums[i, p] = (base + tables.differ[row, p]) * inverse[i, p] * (of_document[i, p] + alpha)
    for i in range(1, len(pairs)):
        for p in range(n_particles):
            sums[i, p] += sums[i - 1, p]


@strict_kernel
def choose(sums, random, chosen):
    """Draw a label for each particle."""
    n_labels, n_particles = sums.shape
    for p in range(n_particles):
        random += STEP
        limit = uniform(random) * sums[n_labels - 1, p]
        new = 0
        while new < n_labels - 1 and sums[new, p] <= limit:
            new += 1
        chosen[p] = new
    return random


@strict_kernel
def add(tables, pairs, labels, chosen, sizes, inverse, n_words_eta):
    """Assign a token to the label that each particle has chosen."""
    n_particles = len(chosen)
    alike = True
    for p in range(n_particles):
        i = chosen[p]
        alike = alike and i == chosen[0]
        sizes[i, p] += 1
        inverse[i, p] = 1 / (sizes[i, p] + n_words_eta)
    if alike:
        tables.base[pairs[chosen[0]]] += 1
        tables.sizes[labels[chosen[0]]] += 1
        return
    for p in range(n_particles):
        pair = pairs[chosen[p]]
        row = tables.row[pair]
        if row < 0:
            row = np.int32(tables.numbers[N_ROWS])
            tables.numbers[N_ROWS] += 1
            tables.row[pair], tables.pair[row] = row, pair
            for q in range(n_particles):
                tables.differ[row, q] = 0
        tables.differ[row, p] += np.float32(1)
        tables.beside[labels[chosen[p]], p] += 1
        tables.uneven[labels[chosen[p]]] = True


@strict_kernel
def take_logarithms(products, factors, published, logs, weights):
    """Add the logarithms of the accumulated products, and reset these."""
    for p in range(len(logs)):
        log = np.log(products[p])
        logs[p] += log
        weights[p] += np.log(factors[p]) if published else log
        products[p] = factors[p] = 1.0
