"""Similarities of documents and queries under PLSI on dense arrays, written beside the papers' formulas.

Kernels are made as the paper defines them, from derivatives of the log-likelihood and Fisher's information, with every P(d),
P(z) and P(d|z) in its place. Counts are (d, v), theta (d, k) = P(z|d), topics (v, k) = P(w|z).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

SMALLEST = 1e-100


class Texts(NamedTuple):
    """Documents or queries: counts, p̂(w|d), and the derivatives of log P(d,w) by P(z) and by P(w|z)."""

    counts: np.ndarray
    shares: np.ndarray
    theta: np.ndarray
    by_topic: np.ndarray  # P(w|z) P(d|z) / P(d,w), (d, v, k)
    by_word: np.ndarray  # P(z) P(d|z) / P(d,w), (d, v, k), of the word's own P(w|z); zero for those of other words


def over(numerator, denominator):
    """A fraction, zero where there is nothing to divide by."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    return np.divide(numerator, denominator, out=np.zeros(numerator.shape), where=denominator > 0)


def differentiated(counts, theta, topics, p_topic, n_tokens):
    lengths = counts.sum(axis=1, keepdims=True)
    p_text = np.where(lengths > 0, lengths, 1) / n_tokens  # a text without words needs some P(d); it cancels
    given_topic = over(theta * p_text, p_topic)  # P(d|z)
    joint = (given_topic * p_topic) @ topics.T  # P(d,w)
    known = (joint > SMALLEST * p_text) & (counts > 0)
    per_pair = over(np.where(known[:, :, None], given_topic[:, None, :], 0), joint[:, :, None])  # P(d|z) / P(d,w)
    return Texts(counts, over(counts, lengths), theta, topics[None] * per_pair, p_topic * per_pair)


def scores(texts, p_topic, process):
    """Fisher scores U of whole texts, by P(z) and by P(w|z)."""
    by_topic = np.einsum("dw,dwz->dz", texts.shares, texts.by_topic)
    if process == "hofmann":
        by_topic = over(texts.theta, p_topic)  # assumes that Σ_w p̂(w|d) / P(w|d) P(w|z) is one
    return by_topic, texts.shares[:, :, None] * texts.by_word


def information(texts, p_topic, process):
    """The diagonal of Fisher's information: squares of scores, added up over what was observed."""
    if process == "hofmann":  # documents
        by_topic, by_word = scores(texts, p_topic, process)
        return (by_topic**2).sum(axis=0), (by_word**2).sum(axis=0)
    by_topic, by_word = texts.by_topic, texts.by_word  # pairs of a document and a word
    return np.einsum("dw,dwz->z", texts.counts, by_topic**2), np.einsum("dw,dwz->wz", texts.counts, by_word**2)


def fisher_dense(counts, theta, topics, queries, query_theta, process, kind, floor):
    """K_z and K_w, each (q, d)."""
    theta, query_theta = np.maximum(theta, floor), np.maximum(query_theta, floor)
    n_tokens = max(counts.sum(), 1)
    p_topic = counts.sum(axis=1) @ theta / n_tokens
    documents = differentiated(counts, theta, topics, p_topic, n_tokens)
    asked = differentiated(queries, query_theta, topics, p_topic, n_tokens)
    u_q, v_q = scores(asked, p_topic, process)
    u_d, v_d = scores(documents, p_topic, process)
    g_z, g_w = information(documents, p_topic, process)
    if kind == "ifim":
        g_z, g_w = over(1, p_topic), over(1, topics)  # one for 2√P, by which derivatives are √P times those by P
    return np.einsum("qz,dz,z->qd", u_q, u_d, over(1, g_z)), np.einsum("qwz,dwz,wz->qd", v_q, v_d, over(1, g_w))


def kl_dense(theta, topics, queries, background, smoothing):
    """S_KL, (q, d); smoothing None is as published."""
    shares = over(queries, queries.sum(axis=1, keepdims=True))
    p = theta @ topics.T
    if smoothing is None:
        used = p > 0
    else:
        p = np.maximum((1 - smoothing) * p + smoothing * background, SMALLEST)
        used = np.broadcast_to((background > 0) | (topics > 0).any(axis=1), p.shape)
    terms = xlogy(shares[:, None], np.where(used, p, 1)) - xlogy(shares, shares)[:, None]  # (q, d, v)
    return np.where(used, terms, 0).sum(axis=2)


def likelihood_dense(counts, theta, topics, queries, background, mu, share):
    """Σ_w n(q,w) log(share (n(d,w) + mu P(w)) / (|d| + mu) + (1 - share) P(w|d)), (q, d)."""
    own = over(counts + mu * background, counts.sum(axis=1, keepdims=True) + mu)
    p = np.maximum(share * own + (1 - share) * (theta @ topics.T), SMALLEST)
    known = (background > 0) | (topics > 0).any(axis=1)
    return (queries * known) @ np.log(p).T
