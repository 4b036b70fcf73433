"""Collapsed Gibbs sampling for Labeled LDA: every token is assigned to one of the document's labels.

Only pairs of words and labels that occur together in some document are stored: far fewer than words × labels.
"""

from __future__ import annotations

import numpy as np

from semascope.kernels.heldout import mix, uniform
from semascope.kernels.jit import kernel, strict_kernel

STEP = np.uint64(0x9E3779B97F4A7C15)
"""Increment between consecutive states of a random sequence."""


@strict_kernel
def pairs_of_words(word_ends, documents, label_ends, labels, n_labels, n_open):
    """Find the labels that each word occurs with.

    Same numbers as ``np.unique`` of the labels of all documents that have the word.

    word_ends    int64[u + 1]   in   entries by word, from `by_word`
    documents    int32[nnz]     in
    label_ends   int64[d + 1]   in   labels of document i are [label_ends[i]:label_ends[i + 1]] of the next
    labels       int32[m]       in
    n_open                      in   labels that an unlabeled document may use: all of them, or 0 to leave it out

    Returns the end of each word's pairs int64[u + 1], and their labels int32[p], ascending for each word.
    """
    n_words = len(word_ends) - 1
    met_last = np.full(n_labels, -1, np.int64)
    met = np.empty(n_labels, np.int32)
    ends = np.zeros(n_words + 1, np.int64)
    for word in range(n_words):
        mine = documents[word_ends[word] : word_ends[word + 1]]
        ends[word + 1] = ends[word] + _collect_labels(word, mine, label_ends, labels, n_open, met_last, met)
    every = np.empty(ends[-1], np.int32)
    met_last[:] = -1
    for word in range(n_words):
        mine = documents[word_ends[word] : word_ends[word + 1]]
        n_met = _collect_labels(word, mine, label_ends, labels, n_open, met_last, met)
        met[:n_met].sort()
        every[ends[word] : ends[word + 1]] = met[:n_met]
    return ends, every


@strict_kernel
def _collect_labels(word, documents, label_ends, labels, n_open, met_last, met):
    """Collect the distinct labels of some documents; return their number.

    met_last   int64[k]   in, out   last word that each label was collected for
    met        int32[k]   out       the labels
    """
    n_met = 0
    for document in documents:
        first, last = label_ends[document], label_ends[document + 1]
        if first == last and n_open > 0:
            for label in range(n_open):
                met[label] = label
            return n_open
        for i in range(first, last):
            if met_last[labels[i]] != word:
                met_last[labels[i]] = word
                met[n_met] = labels[i]
                n_met += 1
    return n_met


@strict_kernel
def slots_of_entries(ends, words, label_ends, labels, word_numbers, pair_ends, pair_labels, n_open):
    """Find the pair index of each entry and each label of its document.

    For an unlabeled document, which may use all labels, this is the pair index of each entry with the first label: the others
    follow.

    ends, words                      in   entries by document
    label_ends, labels               in   labels by document
    word_numbers  int32[v]           in   index of each word among those with pairs
    pair_ends, pair_labels, n_open   in   as in `pairs_of_words`

    Returns int32[Σ entries × labels of each document], by document, then by entry, then by label.
    """
    n_slots = 0
    for document in range(len(ends) - 1):
        n_labels = label_ends[document + 1] - label_ends[document]
        n_slots += (ends[document + 1] - ends[document]) * (n_labels if n_labels else min(n_open, 1))
    slots = np.empty(n_slots, np.int32)
    at = 0
    for document in range(len(ends) - 1):
        open_to_all = label_ends[document + 1] == label_ends[document] and n_open > 0
        for j in range(ends[document], ends[document + 1]):
            number = word_numbers[words[j]]
            first, last = pair_ends[number], pair_ends[number + 1]
            if open_to_all:
                slots[at] = first
                at += 1
            for i in range(label_ends[document], label_ends[document + 1]):
                slots[at] = first + np.searchsorted(pair_labels[first:last], labels[i])
                at += 1
    return slots


@kernel
def sample_labels(
    ends, counts, label_ends, labels, slots, pairs, sizes, alpha, beta, n_words, seed, first_document, chosen, n_open
):  # fmt: skip
    """Resample the label of each token in turn, given all others.

    P(label) ∝ (n_label,word + β) / (n_label + V β) · (n_document,label + α), with counts that exclude the token.

    ends         int64[d + 1]   in       entries by document
    counts       float32[nnz]   in       whole numbers
    label_ends   int64[d + 1]   in       labels by document
    labels       int32[m]       in
    slots        int32[s]       in       from `slots_of_entries`
    pairs        int32[p]       in, out  tokens of each word assigned to each label
    sizes        int64[k]       in, out  tokens assigned to each label
    seed         uint64         in       of this pass
    first_document              in       global index of the first document
    chosen       int32[t]       in, out  of each token, the position of its label among those of its document: by document, by
                                         entry, one after the other
    n_open                      in       as in `pairs_of_words`

    Returns Σ log P(word | all others) before each token was sampled.
    """
    most = max(n_open, 1)
    for document in range(len(ends) - 1):
        most = max(most, label_ends[document + 1] - label_ends[document])
    of_document, sums = np.empty(most, np.float64), np.empty(most, np.float64)
    with_word, without = np.empty(most, np.float64), np.empty(most, np.float64)
    every = np.arange(n_open).astype(np.int32)
    total_log = 0.0
    slot = token = 0
    for document in range(len(ends) - 1):
        first, last = label_ends[document], label_ends[document + 1]
        open_to_all = first == last
        if open_to_all and n_open == 0:
            continue
        mine = every if open_to_all else labels[first:last]
        own, step = counts[ends[document] : ends[document + 1]], 1 if open_to_all else len(mine)
        n_tokens = 0
        for count in own:
            n_tokens += int(count)  # a sum in single precision would lose some of a large number
        of_document[: len(mine)] = 0
        for i in range(token, token + n_tokens):
            of_document[chosen[i]] += 1
        for i in range(len(mine)):
            _update_count(i, 0, mine, sizes, of_document, with_word, without, alpha, beta, n_words)
        random = mix(mix(np.uint64(seed)) ^ np.uint64(first_document + document))
        share = 1 / (max(n_tokens - 1, 0) + len(mine) * alpha)
        total_log += _sample_document(
            own, mine, slots[slot : slot + len(own) * step], open_to_all, pairs, sizes, alpha, beta, n_words, random, share,
            of_document, with_word, without, sums, chosen[token : token + n_tokens],
        )  # fmt: skip
        token += n_tokens
        slot += len(own) * step
    return total_log


@kernel
def _sample_document(
    counts, labels, slots, open_to_all, pairs, sizes, alpha, beta, n_words, random, share, of_document, with_word, without,
    sums, chosen,
):  # fmt: skip
    """Resample the tokens of one document; arguments as in `sample_labels`.

    Most tokens keep their label. So the token is excluded from the factors of its label, not from the counts, and nothing is
    written or divided until one moves.

    random                            in       random key of the document
    share                             in       1 / (its tokens but one + its labels × α)
    of_document          float64[l]   in, out  its tokens assigned to each of its labels
    with_word, without   float64[l]   in, out  as in `_update_count`
    sums                 float64[l]   out      scratch
    """
    n_labels, token = len(labels), 0
    total_log, likely, n_likely = 0.0, 1.0, 0
    for j in range(len(counts)):
        mine = slots[j : j + 1] if open_to_all else slots[j * n_labels : (j + 1) * n_labels]
        for _ in range(int(counts[j])):
            old = np.int64(chosen[token])
            total = 0.0
            if open_to_all:
                for i in range(n_labels):
                    total += (pairs[mine[0] + i] - (i == old) + beta) * (without[i] if i == old else with_word[i])
                    sums[i] = total
            else:
                for i in range(n_labels):
                    total += (pairs[mine[i]] - (i == old) + beta) * (without[i] if i == old else with_word[i])
                    sums[i] = total
            random += STEP
            limit = uniform(random) * total
            new = 0
            for i in range(n_labels - 1):  # no early exit: counting is cheaper than a branch that is hard to predict
                new += sums[i] <= limit
            if new != old:
                pairs[mine[0] + old if open_to_all else mine[old]] -= 1
                pairs[mine[0] + new if open_to_all else mine[new]] += 1
                _update_count(old, -1, labels, sizes, of_document, with_word, without, alpha, beta, n_words)
                _update_count(new, 1, labels, sizes, of_document, with_word, without, alpha, beta, n_words)
                chosen[token] = new
            token += 1
            likely *= total * share
            n_likely += 1
            if n_likely == 8:  # one logarithm for several factors
                total_log += np.log(likely)
                likely, n_likely = 1.0, 0
    return total_log + np.log(likely)


@kernel
def _update_count(place, by, labels, sizes, of_document, with_word, without, alpha, beta, n_words):
    """Change the number of tokens assigned to a label of a document, and its factor (n_document,label + α) / (n_label + V β).

    place                 in       position among the labels of the document
    by                    in       number of tokens to add
    with_word  float64[l] in, out  factors with all tokens
    without    float64[l] in, out  factors without one token of this label
    """
    label = labels[place]
    sizes[label] += by
    of_document[place] += by
    with_word[place] = (of_document[place] + alpha) / (sizes[label] + n_words * beta)
    without[place] = (of_document[place] - 1 + alpha) / (sizes[label] - 1 + n_words * beta)


@strict_kernel
def draw_first_labels(ends, counts, label_ends, slots, seed, first_document, chosen, own, n_open):
    """Choose a label for each token at random, among those of its document.

    ends, counts, label_ends, slots, seed, first_document, n_open   in   as in `sample_labels`
    chosen       int32[t]    out
    own          int32[p]    in, out   tokens of each word assigned to each label
    """
    slot = token = 0
    for document in range(len(ends) - 1):
        n_labels = label_ends[document + 1] - label_ends[document]
        open_to_all = n_labels == 0
        n_choices = n_open if open_to_all else n_labels
        if n_choices == 0:
            continue
        random = mix(mix(np.uint64(seed)) ^ np.uint64(first_document + document))
        for j in range(ends[document], ends[document + 1]):
            for _ in range(int(counts[j])):
                random += STEP
                new = int(uniform(random) * n_choices)
                chosen[token] = new
                own[slots[slot] + new if open_to_all else slots[slot + new]] += 1
                token += 1
            slot += 1 if open_to_all else n_labels
