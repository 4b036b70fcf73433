"""EM for PLSA over dense arrays in log space: slow, and written to be read beside the formulas."""

import numpy as np
from scipy.special import logsumexp, xlogy


def em_dense(counts, theta, topics):
    """One EM iteration; counts (d, v), theta (d, k) = P(z|d), topics (v, k) = P(w|z).

    Returns the next theta, the expected counts (v, k) of words and topics, and Σ n log P(w|d) before the iteration.
    """
    with np.errstate(divide="ignore"):
        log_joint = np.log(theta)[:, None, :] + np.log(topics)[None, :, :]  # log P(z|d) P(w|z)
    log_p = logsumexp(log_joint, axis=2)  # log P(w|d)
    with np.errstate(invalid="ignore"):
        responsibilities = np.exp(log_joint - log_p[:, :, None])  # P(z|w,d)
    expected = np.nan_to_num(counts[:, :, None] * responsibilities)
    new_theta = expected.sum(axis=1)
    lengths = new_theta.sum(axis=1, keepdims=True)
    new_theta = np.divide(new_theta, lengths, out=theta.copy(), where=lengths > 0)
    return new_theta, expected.sum(axis=0), float(xlogy(counts, np.exp(log_p)).sum())


def fit_dense(counts, theta, topics, n_iterations):
    """Run EM; returns theta, topics and Σ n log P(d, w) before each iteration."""
    lengths = counts.sum(axis=1)
    document_part = float(xlogy(lengths, lengths / counts.sum()).sum())
    history = []
    for _ in range(n_iterations):
        theta, expected, log_likelihood = em_dense(counts, theta, topics)
        topics = expected / expected.sum(axis=0)
        history.append(log_likelihood + document_part)
    return theta, topics, history


def fold_in_dense(counts, topics, theta, prior, n_passes):
    """EM for theta alone, `prior` added to every topic's count."""
    for _ in range(n_passes):
        p = theta @ topics.T
        ratio = np.divide(counts, p, out=np.zeros_like(p), where=p > 0)
        mass = theta * (ratio @ topics)
        total = mass.sum(axis=1, keepdims=True)
        mass = mass + prior
        theta = np.divide(mass, mass.sum(axis=1, keepdims=True), out=theta.copy(), where=total > 0)
    return theta
