"""CVB0 for LDA over dense arrays: slow, and written to be read beside the formulas."""

import numpy as np
from scipy.special import xlogy


def cvb0_dense(counts, rows, topics, sums, alpha, eta):
    """One pass; counts (d, v), rows (d, k) = N_dk + α_k, topics (v, k) = N_wk + η_wk, sums (v, k) = N_k + Σ_w η_wk over the
    word's language, alpha (k,), eta the least η.

    Returns the next N_dk and N_wk, and Σ n log P(w | d) before the pass.
    """
    joint = rows[:, None, :] * topics / sums
    gamma = joint / joint.sum(axis=2, keepdims=True)  # one token's share, as the counts have it
    without = np.maximum(rows[:, None, :] - gamma, alpha) * np.maximum(topics - gamma, eta) / sums
    expected = counts[:, :, None] * without / without.sum(axis=2, keepdims=True)
    p = joint.sum(axis=2) / rows.sum(axis=1, keepdims=True)
    return expected.sum(axis=1), expected.sum(axis=0), float(xlogy(counts, p).sum())


def go_on_dense(new, old, momentum):
    """A little ahead in the direction from old to new counts."""
    return np.maximum(new + momentum * (new - old), 0)
