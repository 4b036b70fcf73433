"""The paper's procedure on dense matrices, written for reading."""

import numpy as np


def amplitudes(counts):
    """Ψ_Q."""
    return np.sqrt(counts / counts.sum())


def truncated(matrix, rank):
    """Ξ: the nearest matrix of a rank."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return (left[:, :rank] * values[:rank]) @ right[:rank]


def estimate(counts, rank):
    """P̂."""
    positive = np.maximum(truncated(amplitudes(counts), rank), 0)
    return positive**2 / (positive**2).sum()


def hellinger(one, other):
    return np.sqrt(((np.sqrt(one) - np.sqrt(other)) ** 2).sum())


def weighted(counts, weighting):
    """The matrix that is decomposed."""
    n_documents = len(counts)
    if weighting == "hellinger":
        return amplitudes(counts)
    if weighting == "counts":
        return counts
    if weighting in ("tfidf", "logtfidf"):
        rarity = np.log((1 + n_documents) / (1 + (counts > 0).sum(axis=0)))
        values = counts * (rarity + 1) if weighting == "tfidf" else np.log1p(counts) * rarity
        sizes = np.linalg.norm(values, axis=1, keepdims=True)
        return values / np.where(sizes > 0, sizes, 1)
    sums = counts.sum(axis=0)
    p = counts / np.where(sums > 0, sums, 1)
    logs = p * np.log(np.where(p > 0, p, 1))
    return np.log1p(counts) * np.where(sums > 0, 1 + logs.sum(axis=0) / np.log(n_documents), 0)
