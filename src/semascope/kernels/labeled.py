"""Labeled LDA by Gibbs sampling: every word of a document is due to one of its labels.

Of words and labels only the pairs are kept that some document has together: there are far fewer of them than words × labels.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.compile import kernel, strict_kernel
from semascope.kernels.heldout import mix, uniform

STEP = np.uint64(0x9E3779B97F4A7C15)
"""From one number of a random sequence to the next."""


@strict_kernel
def pairs_of_words(word_ends, documents, label_ends, labels, n_labels):
    """Which labels each word meets.

    Same numbers as ``np.unique`` of the labels of all documents that have the word.

    word_ends    int64[u + 1]   in   entries by word, as `by_word` has them
    documents    int32[nnz]     in
    label_ends   int64[d + 1]   in   labels of document i are [label_ends[i]:label_ends[i + 1]] of the next
    labels       int32[m]       in

    Returns where the pairs of each word end int64[u + 1], and their labels int32[p], ascending for each word.
    """
    n_words = len(word_ends) - 1
    met_last = np.full(n_labels, -1, np.int64)
    ends = np.zeros(n_words + 1, np.int64)
    for word in range(n_words):
        n_met = 0
        for j in range(word_ends[word], word_ends[word + 1]):
            document = documents[j]
            for i in range(label_ends[document], label_ends[document + 1]):
                if met_last[labels[i]] != word:
                    met_last[labels[i]] = word
                    n_met += 1
        ends[word + 1] = ends[word] + n_met
    met = np.empty(ends[-1], np.int32)
    met_last[:] = -1
    for word in range(n_words):
        at = ends[word]
        for j in range(word_ends[word], word_ends[word + 1]):
            document = documents[j]
            for i in range(label_ends[document], label_ends[document + 1]):
                if met_last[labels[i]] != word:
                    met_last[labels[i]] = word
                    met[at] = labels[i]
                    at += 1
        met[ends[word] : at].sort()
    return ends, met


@strict_kernel
def slots_of_entries(ends, words, label_ends, labels, word_numbers, pair_ends, pair_labels):
    """For each entry of a document and each of its labels, the number of their pair.

    ends, words                      in   entries by document
    label_ends, labels               in   labels by document
    word_numbers  int32[v]           in   which of the words with pairs each word is
    pair_ends, pair_labels           in   as `pairs_of_words` gives them

    Returns int32[Σ entries × labels of each document], by document, then by entry, then by label.
    """
    n_slots = 0
    for document in range(len(ends) - 1):
        n_slots += (ends[document + 1] - ends[document]) * (label_ends[document + 1] - label_ends[document])
    slots = np.empty(n_slots, np.int32)
    at = 0
    for document in range(len(ends) - 1):
        for j in range(ends[document], ends[document + 1]):
            number = word_numbers[words[j]]
            first, last = pair_ends[number], pair_ends[number + 1]
            for i in range(label_ends[document], label_ends[document + 1]):
                slots[at] = first + np.searchsorted(pair_labels[first:last], labels[i])
                at += 1
    return slots


@kernel
def sample_labels(ends, counts, label_ends, labels, slots, pairs, sizes, alpha, beta, n_words, seed, first_document, chosen):
    """Sample anew which label each word is due to, one after the other, each given all others.

    P(label) ∝ (n_label,word + β) / (n_label + V β) · (n_document,label + α), with counts that leave the word out.

    ends         int64[d + 1]   in       entries by document
    counts       float32[nnz]   in       whole numbers
    label_ends   int64[d + 1]   in       labels by document
    labels       int32[m]       in
    slots        int32[s]       in       as `slots_of_entries` gives them
    pairs        int32[p]       in, out  how often each word is due to each label
    sizes        int64[k]       in, out  how many words are due to each label
    seed         uint64         in       of this pass
    first_document              in       number of the first document among all
    chosen       int32[t]       in, out  of each word, which of the labels of its document: by document, by entry, then one
                                         after the other

    Returns Σ log P(word | all others) before each word was sampled.
    """
    most = 1
    for document in range(len(ends) - 1):
        most = max(most, label_ends[document + 1] - label_ends[document])
    of_document, sums = np.empty(most, np.float64), np.empty(most, np.float64)
    inverse = 1 / (sizes + n_words * beta)
    total_log, likely, n_likely = 0.0, 1.0, 0
    slot = token = 0
    for document in range(len(ends) - 1):
        first_label = label_ends[document]
        n_labels = label_ends[document + 1] - first_label
        if n_labels == 0:
            continue
        n_tokens, last_token = 0, token
        of_document[:n_labels] = 0
        for j in range(ends[document], ends[document + 1]):
            for _ in range(int(counts[j])):
                of_document[chosen[last_token]] += 1
                last_token += 1
        n_tokens = last_token - token
        share = 1 / (n_tokens - 1 + n_labels * alpha) if n_tokens > 1 else 1 / (n_labels * alpha)
        random = mix(mix(np.uint64(seed)) ^ np.uint64(first_document + document))
        for j in range(ends[document], ends[document + 1]):
            for _ in range(int(counts[j])):
                old = chosen[token]
                label = labels[first_label + old]
                pairs[slots[slot + old]] -= 1
                sizes[label] -= 1
                inverse[label] = 1 / (sizes[label] + n_words * beta)
                of_document[old] -= 1
                total = 0.0
                for i in range(n_labels):
                    total += (pairs[slots[slot + i]] + beta) * inverse[labels[first_label + i]] * (of_document[i] + alpha)
                    sums[i] = total
                random += STEP
                limit = uniform(random) * total
                new = 0
                while new < n_labels - 1 and sums[new] <= limit:
                    new += 1
                label = labels[first_label + new]
                pairs[slots[slot + new]] += 1
                sizes[label] += 1
                inverse[label] = 1 / (sizes[label] + n_words * beta)
                of_document[new] += 1
                chosen[token] = new
                token += 1
                likely *= total * share
                n_likely += 1
                if n_likely == 8:  # a logarithm for several at once
                    total_log += np.log(likely)
                    likely, n_likely = 1.0, 0
            slot += n_labels
    return total_log + np.log(likely)


@strict_kernel
def first_labels(ends, counts, label_ends, slots, seed, first_document, chosen, own):
    """Choose a label for each word at random, among those of its document.

    ends, counts, label_ends, slots, seed, first_document   in   as in `sample_labels`
    chosen       int32[t]    out
    own          int32[p]    in, out   how often each word is due to each label
    """
    slot = token = 0
    for document in range(len(ends) - 1):
        n_labels = label_ends[document + 1] - label_ends[document]
        if n_labels == 0:
            continue
        random = mix(mix(np.uint64(seed)) ^ np.uint64(first_document + document))
        for j in range(ends[document], ends[document + 1]):
            for _ in range(int(counts[j])):
                random += STEP
                new = int(uniform(random) * n_labels)
                chosen[token] = new
                own[slots[slot + new]] += 1
                token += 1
            slot += n_labels
