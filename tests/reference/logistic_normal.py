"""Variational inference of correlated topic models, document by document, written for reading."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp, softmax


def infer(counts, topics, mean, covariance, means, variances, max_passes, tolerance=0.0):
    """λ, ν², expected counts of words in topics, moments about the mean, and the bound, of rows of counts."""
    precision = np.linalg.inv(covariance)
    means, variances = means.copy(), variances.copy()
    expected, moments, total = np.zeros_like(topics), np.zeros((len(mean) + 1, len(mean))), 0.0
    for d, n in enumerate(counts):
        if not n.any():
            means[d] = mean
            continue
        before = None
        for _ in range(max_passes):
            theta = softmax(means[d])
            if before is not None and abs(theta - before).sum() <= tolerance:
                break
            before = theta
            c = n @ responsibilities(theta, topics)
            variances[d] = best_variances(means[d], variances[d], precision, n.sum())
            means[d] = climbed(means[d], variances[d], mean, precision, c, n.sum())
        r = responsibilities(softmax(means[d]), topics)
        expected += n[:, None] * r
        deviation = means[d] - mean
        moments[0] += deviation
        moments[1:] += np.outer(deviation, deviation) + np.diag(variances[d])
        total += bound(n, topics, mean, precision, means[d], variances[d])
    return means, variances, expected, moments, total


def responsibilities(theta, topics):
    """P(topic | word, document)."""
    joint = theta * topics
    return joint / joint.sum(axis=1, keepdims=True)


def bound(n, topics, mean, precision, means, variances):
    """The bound on log P(document)."""
    deviation = means - mean
    words = n @ np.log(np.exp(means) @ topics.T) - n.sum() * logsumexp(means + variances / 2)
    normal = -0.5 * deviation @ precision @ deviation + 0.5 * np.linalg.slogdet(precision)[1]
    return words + normal + 0.5 * (np.log(variances) + 1 - np.diag(precision) * variances).sum()


def best_variances(means, variances, precision, length):
    """The roots of 1 / ν² = P_kk + N / ζ exp(λ_k + ν² / 2)."""
    rates = length * np.exp(means - logsumexp(means + variances / 2))

    def root(p, rate):
        return np.exp(brentq(lambda u: 1 - p * np.exp(u) - rate * np.exp(u + np.exp(u) / 2), -60, -np.log(p), xtol=1e-13))

    return np.array([root(p, rate) for p, rate in zip(np.diag(precision), rates, strict=True)])


def climbed(means, variances, mean, precision, c, length):
    """A step of Newton's method, halved until it gains."""

    def value(at):
        return c @ at - length * logsumexp(at + variances / 2) - 0.5 * (at - mean) @ precision @ (at - mean)

    p = softmax(means + variances / 2)
    gradient = c - length * p - precision @ (means - mean)
    step = np.linalg.solve(precision + length * (np.diag(p) - np.outer(p, p)), gradient)
    size = 1.0
    while value(means + size * step) < value(means) and size > 1e-6:
        size /= 2
    return means + size * step
