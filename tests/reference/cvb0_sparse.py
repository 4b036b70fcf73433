"""CVB0 over few topics of each document, over dense arrays: slow, and written to be read beside the formulas."""

import numpy as np
from scipy.special import xlogy


def few_dense(counts, kept, now, others, topics, sums, alpha, eta):
    """One pass; counts (d, v), kept (d, k) says which topics are, now (d, k) = N_dk where they are, others (d,) the words
    elsewhere, topics (v, k) = N_wk + η, sums (v, k) = N_k + Σ_w η over the word's language, alpha (k,), eta the least η.

    Returns the next N_dk of all topics, N_wk, and Σ n log P(w | d) before the pass.
    """
    left = np.where(kept, 0, alpha).sum(axis=1)
    factors = 1 + np.divide(others, left, out=np.zeros_like(others), where=left > 0)
    rows = np.where(kept, now + alpha, factors[:, None] * alpha)
    joint = rows[:, None, :] * topics / sums
    gamma = joint / joint.sum(axis=2, keepdims=True)
    without = np.maximum(rows[:, None, :] - gamma, alpha) * np.maximum(topics - gamma, eta) / sums
    parts = np.where(kept[:, None, :], without, joint)  # elsewhere a token is too small a part to be left out of itself
    expected = counts[:, :, None] * parts / parts.sum(axis=2, keepdims=True)
    p = joint.sum(axis=2) / rows.sum(axis=1, keepdims=True)
    return expected.sum(axis=1), expected.sum(axis=0), float(xlogy(counts, p).sum())


def chosen_dense(of_topics, least, width):
    """Which topics are kept: those of groups of `width` in which one has more than `least`."""
    n_topics = of_topics.shape[1]
    groups = np.arange(n_topics) // width
    return np.stack([of_topics[:, groups == group].max(axis=1) > least for group in groups], axis=1)
