"""Folding in with labels, written for reading."""

import numpy as np


def phi(known):
    """P(word | label): a row for each label."""
    counts = np.zeros((len(known.sizes), len(known.ends) - 1))
    for word in range(counts.shape[1]):
        mine = slice(*known.ends[word : word + 2])
        counts[known.labels[mine], word] = known.counts[mine]
    return (counts + known.eta) / (known.sizes[:, None] + counts.shape[1] * known.eta)


def fold_labels(counts, labels, alpha, known, n_passes):
    """Shares of the labels of one document, given its counts of all words."""
    table, theta = phi(known)[labels], np.full(len(labels), 1 / len(labels))
    for _ in range(n_passes):
        due = table * theta[:, None]
        due = due / due.sum(axis=0)
        theta = (due @ counts + alpha) / (counts.sum() + alpha.sum())
    return theta


def log_likelihood_of_labels(counts, labels, theta, known):
    """Σ n log P(word | document) of one document."""
    return counts @ np.log(theta @ phi(known)[labels])


def score_labels(counts, own, alpha, known, weights):
    """Cosine of one document and every label, as if the model had not learned its `own` labels from it."""
    pairs = phi(known) * (known.sizes[:, None] + len(counts) * known.eta) - known.eta
    if own:
        theta = fold_labels(counts, own, alpha, known, 10)
        due = phi(known)[own] * theta[:, None]
        pairs[own] = np.maximum(pairs[own] - counts * due / due.sum(axis=0), 0)
    labels, document = pairs * weights, np.log1p(counts) * weights
    lengths = np.linalg.norm(labels, axis=1) * np.linalg.norm(document)
    return np.divide(labels @ document, lengths, out=np.zeros(len(labels)), where=lengths > 1e-9)
