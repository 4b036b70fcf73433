"""EM for PLSA over dense arrays in log space: slow, and written to be read beside the formulas."""

import numpy as np
from scipy.special import logsumexp, xlogy


def em_dense(counts, theta, topics, beta=1.0, shares=None):
    """One EM iteration; counts (d, v), theta (d, k) = P(z|d), topics (v, k) = P(w|z), shares (k,) = P(z).

    Returns the next theta, the expected counts (v, k) of words and topics, and Σ n log P(w|d) before the iteration; with
    tempering, of what stands in the place of P(w|d).
    """
    with np.errstate(divide="ignore"):
        log_joint = np.log(theta)[:, None, :] + np.log(topics)[None, :, :]  # log P(z|d) P(w|z)
        if beta != 1.0:
            log_joint = beta * log_joint + (1 - beta) * np.log(shares)  # log P(z)^(1-β) [P(z|d) P(w|z)]^β
    log_p = logsumexp(log_joint, axis=2)  # log P(w|d)
    with np.errstate(invalid="ignore"):
        responsibilities = np.exp(log_joint - log_p[:, :, None])  # P(z|w,d)
    expected = np.nan_to_num(counts[:, :, None] * responsibilities)
    new_theta = expected.sum(axis=1)
    lengths = new_theta.sum(axis=1, keepdims=True)
    new_theta = np.divide(new_theta, lengths, out=theta.copy(), where=lengths > 0)
    return new_theta, expected.sum(axis=0), float(xlogy(counts, np.exp(log_p)).sum())


def fit_dense(counts, theta, topics, n_iterations, beta=1.0):
    """Run EM; returns theta, topics and Σ n log P(d, w) before each iteration."""
    shares = np.full(topics.shape[1], 1 / topics.shape[1])
    lengths = counts.sum(axis=1)
    document_part = float(xlogy(lengths, lengths / counts.sum()).sum())
    history = []
    for _ in range(n_iterations):
        theta, expected, log_likelihood = em_dense(counts, theta, topics, beta, shares)
        topics = expected / expected.sum(axis=0)
        shares = expected.sum(axis=0) / expected.sum()
        history.append(log_likelihood + document_part)
    return theta, topics, history


def fold_in_dense(counts, topics, theta, prior, n_passes, beta=1.0, shares=1.0):
    """EM for theta alone, `prior` added to every topic's count."""
    for _ in range(n_passes):
        tempered, powered = theta**beta * shares ** (1 - beta), topics**beta
        p = tempered @ powered.T
        ratio = np.divide(counts, p, out=np.zeros_like(p), where=p > 0)
        mass = tempered * (ratio @ powered)
        total = mass.sum(axis=1, keepdims=True)
        mass = mass + prior
        theta = np.divide(mass, mass.sum(axis=1, keepdims=True), out=theta.copy(), where=total > 0)
    return theta


def heldout_dense(held, topics, theta, background, mix):
    """Σ n log P(w|d) and Σ n over words held out, P mixed with the background."""
    held = np.where(background > 0, held, 0)
    return float(xlogy(held, (1 - mix) * (theta @ topics.T) + mix * background).sum()), float(held.sum())
