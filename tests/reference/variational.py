"""Variational inference for LDA over dense arrays: slow, and written to be read beside the formulas."""

import numpy as np
from scipy.special import gammaln, psi, xlogy


def expected_log(rows):
    """E[log x] of x ~ Dirichlet(row), for every row."""
    return psi(rows) - psi(rows.sum(axis=-1, keepdims=True))


def expected_log_topics(lam, languages):
    """E[log β_vk], where the words of each language are a distribution of their own; lam (v, k)."""
    logs = np.empty_like(lam)
    for language in np.unique(languages):
        logs[languages == language] = expected_log(lam[languages == language].T).T
    return logs


def phi_of(gamma, log_topics):
    """φ_dvk ∝ exp(E[log θ_dk] + E[log β_vk])."""
    logs = expected_log(gamma)[:, None, :] + log_topics[None, :, :]
    phi = np.exp(logs - logs.max(axis=2, keepdims=True))
    return phi / phi.sum(axis=2, keepdims=True)


def vb_dense(counts, gamma, lam, alpha, languages, n_passes):
    """So many passes over every document under fixed topics.

    Returns the last φ (d, v, k), the γ it gives, and the expected counts (v, k).
    """
    log_topics = expected_log_topics(lam, languages)
    for _ in range(n_passes):
        phi = phi_of(gamma, log_topics)
        gamma = alpha + (counts[:, :, None] * phi).sum(axis=1)
    return phi, gamma, (counts[:, :, None] * phi).sum(axis=0)


def settle_dense(counts, gamma, topics, alpha, n_passes):
    """The same with γ and P(word | topic) in place of the exponentials; returns γ and the expected counts."""
    for _ in range(n_passes):
        joint = gamma[:, None, :] * topics[None, :, :]
        phi = joint / joint.sum(axis=2, keepdims=True)
        gamma = alpha + (counts[:, :, None] * phi).sum(axis=1)
    return gamma, (counts[:, :, None] * phi).sum(axis=0)


def documents_bound_dense(counts, phi, gamma, lam, alpha, languages):
    """The documents' part of the bound, term by term, under fixed topics."""
    log_theta, log_topics = expected_log(gamma), expected_log_topics(lam, languages)
    documents = gammaln(alpha.sum()) - gammaln(alpha).sum() + ((alpha - 1) * log_theta).sum(axis=1)
    documents += -gammaln(gamma.sum(axis=1)) + gammaln(gamma).sum(axis=1) - ((gamma - 1) * log_theta).sum(axis=1)
    n_phi = counts[:, :, None] * phi
    words = (n_phi * (log_theta[:, None, :] + log_topics[None, :, :])).sum() - xlogy(n_phi, phi).sum()
    return float(documents.sum() + words)


def bound_dense(counts, phi, gamma, lam, alpha, eta, languages):
    """The whole bound, term by term; eta (v, k)."""
    log_topics, topics = expected_log_topics(lam, languages), 0.0
    for language in np.unique(languages):
        own = languages == language
        e, m = eta[own], lam[own]
        topics += (gammaln(e.sum(axis=0)) - gammaln(e).sum(axis=0) + ((e - m) * log_topics[own]).sum(axis=0)).sum()
        topics += (-gammaln(m.sum(axis=0)) + gammaln(m).sum(axis=0)).sum()
    return float(documents_bound_dense(counts, phi, gamma, lam, alpha, languages) + topics)
