"""Labeled LDA by Gibbs sampling, written for reading."""

from itertools import product
from math import lgamma

import numpy as np

from semascope.kernels.heldout import mix, uniform


def sample_labels(documents, labels, chosen, n_words, n_labels, alpha, beta, seed):
    """A pass over all words. `documents` are lists of words, `labels` of labels, `chosen` of places in the labels."""
    label_word, sizes = np.zeros((n_labels, n_words)), np.zeros(n_labels)
    for words, mine, places in zip(documents, labels, chosen, strict=True):
        for word, place in zip(words, places, strict=True):
            label_word[mine[place], word] += 1
            sizes[mine[place]] += 1
    log_likelihood = 0.0
    for number, (words, mine, places) in enumerate(zip(documents, labels, chosen, strict=True)):
        random = mix(mix(np.uint64(seed)) ^ np.uint64(number))
        for i, word in enumerate(words):
            label_word[mine[places[i]], word] -= 1
            sizes[mine[places[i]]] -= 1
            others = np.bincount(np.delete(places, i), minlength=len(mine))
            p = (label_word[mine, word] + beta) / (sizes[mine] + n_words * beta) * (others + alpha)
            log_likelihood += np.log(p.sum() / (len(words) - 1 + len(mine) * alpha))
            with np.errstate(over="ignore"):
                random = random + np.uint64(0x9E3779B97F4A7C15)
            places[i] = int(np.searchsorted(np.cumsum(p)[:-1], uniform(random) * p.sum(), side="right"))
            label_word[mine[places[i]], word] += 1
            sizes[mine[places[i]]] += 1
    return log_likelihood


def posterior(documents, labels, n_words, n_labels, alpha, beta):
    """P(assignment | words) of every assignment of labels to words, by enumeration."""
    slots = [(number, word) for number, words in enumerate(documents) for word in words]
    logs = {}
    for places in product(*(range(len(labels[number])) for number, _ in slots)):
        label_word, of_document = np.zeros((n_labels, n_words)), [np.zeros(len(mine)) for mine in labels]
        for (number, word), place in zip(slots, places, strict=True):
            label_word[labels[number][place], word] += 1
            of_document[number][place] += 1
        logs[places] = sum(_polya(row, beta) for row in label_word) + sum(_polya(row, alpha) for row in of_document)
    values = np.array(list(logs.values()))
    p = np.exp(values - values.max())
    return dict(zip(logs, p / p.sum(), strict=True))


def _polya(counts, prior):
    """Log probability of a sequence with these counts under a Dirichlet prior."""
    total = lgamma(len(counts) * prior) - lgamma(counts.sum() + len(counts) * prior)
    return total + sum(lgamma(count + prior) - lgamma(prior) for count in counts)
