"""Labeled LDA from a stream, by several particles at once: each is a guess which label every word so far is due to.

Particles agree on most of what they know. Of a pair of word and label there is one count for all, and where they differ a row
of differences, one for each particle. Such a row is written when a word is due to different labels for different particles, and
goes when they agree again. So a particle that takes the place of another is copied where they differ, and nowhere else.
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
"""Places in `Tables.numbers`."""


class Tables(NamedTuple):
    """What particles know; p is the number of particles.

    buckets  int64[c, 2]    pairs by hash: word · 2^32 + label, or -1, and the number of the pair; c is a power of two
    word     int32[n]       of each pair
    label    int32[n]
    base     float64[n]     words due to the label, as far as all particles agree
    row      int32[n]       row of its differences, or -1 where there are none
    differ   float32[r, p]  what each particle has beside the base
    pair     int32[r]       pair of each row
    sizes    float64[k]     words of each label, as far as all agree
    beside   float64[k, p]  what each particle has beside that
    uneven   bool[k]        whether any has
    logs     float64[p]     logarithms of the weights of the particles, up to a constant
    numbers  int64[5]       pairs, rows, words of the vocabulary, documents, how often particles took others' places
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
    """Number of a pair, which joins the table if it is new; there must be room."""
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
    """Enter all pairs into empty buckets; a pair that stands twice is entered once."""
    last = len(tables.buckets) - 1
    for pair in range(tables.numbers[N_PAIRS]):
        key = (np.int64(tables.word[pair]) << 32) | np.int64(tables.label[pair])
        at = np.int64(mix(np.uint64(key))) & last
        while tables.buckets[at, 0] >= 0 and tables.buckets[at, 0] != key:
            at = (at + 1) & last
        tables.buckets[at, 0], tables.buckets[at, 1] = key, pair


@strict_kernel
def has_room(tables, n_pairs):
    """Whether so many pairs may join, and differ."""
    known, rows = tables.numbers[N_PAIRS] + n_pairs, tables.numbers[N_ROWS] + n_pairs
    return known <= len(tables.base) and 2 * known <= len(tables.buckets) and rows <= len(tables.pair)


# --- one document ----------------------------------------------------------------------------------------------------------


@strict_kernel
def learn_document(tables, counts, labels, slots, alpha, eta, published, random, chosen, logs):
    """Learn the words of one document, one after the other.

    P(label) ∝ (n_label,word + η) / (n_label + V η) · (n_document,label + α) with the counts of each particle; the weight of the
    particle is multiplied by their sum, over n_document + |labels| α.

    counts       float32[e]     in    of its entries: whole numbers
    labels       int32[l]       in
    slots        int32[e · l]   in    pairs, by entry, then by label
    published                   in    weigh by P(word | chosen label), as published, in place of P(word)
    random       uint64         in    where its random numbers start from
    chosen       int16[t, p]    out   of each word and particle, which of the labels
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
            if token % 8 == 0:  # a logarithm for several at once
                take_logarithms(products, factors, published, logs, tables.logs)
    take_logarithms(products, factors, published, logs, tables.logs)


@strict_kernel
def weigh(tables, pairs, of_document, inverse, alpha, eta, sums):
    """Weights of all labels of a word for each particle, added up one after the other."""
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
    """Add a word to the label that each particle has chosen for it."""
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
    """Add the logarithms of what was multiplied, and begin anew."""
    for p in range(len(logs)):
        log = np.log(products[p])
        logs[p] += log
        weights[p] += np.log(factors[p]) if published else log
        products[p] = factors[p] = 1.0
