"""Fisher kernel: sums over the words shared by queries and documents under a topic model.

Postings come from `by_word`, with their weights in the same order, so that all reads except a document's topics are sequential.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import kernel
from semascope.kernels.plsa import dot, dot_four


@kernel
def add_information(distinct, word_ends, documents, weights, theta, sums):
    """Add the documents' information about each P(word | topic): the sum of weight · P(topic | document)².

    Same numbers as the diagonals in tests/reference/fisher.py::information.

    distinct … documents          in       entries by word, from `by_word`
    weights    float64[nnz]       in       of the entries, by word
    theta      float64[d, k]      in       P(topic | document)
    sums       float64[v, k]      in, out
    """
    for i in range(len(distinct)):
        word = distinct[i]
        for j in range(word_ends[i], word_ends[i + 1]):
            d, w = documents[j], weights[j]
            for k in range(theta.shape[1]):
                sums[word, k] += w * (theta[d, k] * theta[d, k])


@kernel
def add_shared_words(ends, words, ratios, theta, metric, numbers, word_ends, documents, own_ratios, own_theta, scores):
    """Add the word part of a Fisher kernel: Σ_w r(d,w) r(q,w) Σ_z P(z|d) P(z|q) m(w,z).

    Same numbers as the part of P(word | topic) in tests/reference/fisher.py::fisher_dense. A word's topics are weighted
    for the query once; then each document with the word costs one product of two rows.

    ends, words                   in       entries by query
    ratios      float64[m]        in       r of these
    theta       float64[q, k]     in       P(topic | query)
    metric      float64[v, k]     in       m
    numbers     int64[m]          in       index of each entry's word among the documents' distinct words, or -1
    word_ends, documents          in       entries by word, from `by_word`
    own_ratios  float64[nnz]      in       r of these
    own_theta   float64[d, k]     in       P(topic | document)
    scores      float64[q, d]     in, out
    """
    row = np.empty((1, theta.shape[1]), np.float64)
    for q in range(len(ends) - 1):
        for i in range(ends[q], ends[q + 1]):
            if numbers[i] < 0:
                continue
            for k in range(row.shape[1]):
                row[0, k] = ratios[i] * theta[q, k] * metric[words[i], k]
            j, end = word_ends[numbers[i]], word_ends[numbers[i] + 1]
            while j + 4 <= end:
                a, b, c, e = documents[j], documents[j + 1], documents[j + 2], documents[j + 3]
                of_a, of_b, of_c, of_e = dot_four(row, 0, own_theta, a, b, c, e)
                scores[q, a] += own_ratios[j] * of_a
                scores[q, b] += own_ratios[j + 1] * of_b
                scores[q, c] += own_ratios[j + 2] * of_c
                scores[q, e] += own_ratios[j + 3] * of_e
                j += 4
            while j < end:
                scores[q, documents[j]] += own_ratios[j] * dot(row, 0, own_theta, documents[j])
                j += 1


@kernel
def add_entries(numbers, word_ends, documents, weights, first, table):
    """Add the weights of entries to a table of some words × a range of documents.

    Same numbers as ``table += W[first : first + n, words].T``, where W has the weights of the entries and zeros elsewhere.

    numbers    int64[u]           in       index of each row's word among the distinct words, or -1
    word_ends, documents          in       entries by word, from `by_word`
    weights    float64[nnz]       in       of the entries, by word
    first      int                in       document of the first column
    table      float64[u, n]      in, out
    """
    for i in range(len(numbers)):
        if numbers[i] < 0:
            continue
        start, stop = word_ends[numbers[i]], word_ends[numbers[i] + 1]
        j = start + np.searchsorted(documents[start:stop], first)
        while j < stop and documents[j] < first + table.shape[1]:
            table[i, documents[j] - first] += weights[j]
            j += 1
