"""CVB0 for LDA over dense arrays: slow, and written to be read beside the formulas."""

import numpy as np
from scipy.special import xlogy


def cvb0_dense(counts, doc_topic, word_topic, alpha, eta):
    """One pass; counts (d, v), doc_topic (d, k) = N_dk, word_topic (v, k) = N_wk, alpha (k,), eta a number.

    Returns the next N_dk and N_wk, and Σ n log P(w | d) before the pass.
    """
    n_words = len(word_topic)
    a, b, total = doc_topic + alpha, word_topic + eta, word_topic.sum(axis=0) + n_words * eta
    joint = a[:, None, :] * b[None, :, :] / total
    gamma = joint / joint.sum(axis=2, keepdims=True)  # one token's share, as the counts have it
    without = np.maximum(a[:, None, :] - gamma, alpha) * np.maximum(b[None, :, :] - gamma, eta) / total
    expected = counts[:, :, None] * without / without.sum(axis=2, keepdims=True)
    p = joint.sum(axis=2) / a.sum(axis=1, keepdims=True)
    return expected.sum(axis=1), expected.sum(axis=0), float(xlogy(counts, p).sum())
