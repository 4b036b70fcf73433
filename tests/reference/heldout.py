"""Document completion in plain Python: the same random numbers, written to be read."""

import math

import numpy as np

from reference.plsa import fold_in_dense

MASK = 2**64 - 1


def mix(x):
    """The finaliser of SplitMix64."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def halve(counts, known, first_document, seed):
    """Divide rows of a dense matrix of whole counts into two."""
    first, second = np.zeros_like(counts), np.zeros_like(counts)
    for d, row in enumerate(counts):
        tokens = [w for w in np.flatnonzero(row) if known[w] for _ in range(int(row[w]))]
        wanted, left, state = len(tokens) // 2, len(tokens), mix(mix(seed) ^ (first_document + d))
        if len(tokens) < 2:
            continue
        for w in tokens:
            state = (state + 0x9E3779B97F4A7C15) & MASK
            chosen = (mix(state) >> 11) * 2.0**-53 * left < wanted
            (first if chosen else second)[d, w] += 1
            wanted, left = wanted - chosen, left - 1
    return first, second


def hold_out(counts, first_document, seed, share):
    """How many tokens of each entry of a dense matrix of whole counts are held out."""
    held = np.zeros_like(counts)
    for d, w in zip(*np.nonzero(counts), strict=True):
        state = mix(mix(mix(seed) ^ (first_document + int(d))) ^ int(w))
        n = int(counts[d, w])
        if n > 64:
            held[d, w] = int(n * share + (mix(state) >> 11) * 2.0**-53)
            continue
        for _ in range(n):
            state = (state + 0x9E3779B97F4A7C15) & MASK
            held[d, w] += (mix(state) >> 11) * 2.0**-53 < share
    return held


def perplexity(counts, topics, seed, prior=0.1):
    """Perplexity of the second halves, topics estimated on the first with a prior: one number, or one for each topic."""
    alpha = np.full(topics.shape[1], prior)
    return _completed(counts, topics, seed, alpha / alpha.sum(), 0.0, prior=alpha)


def perplexity_without_prior(counts, topics, seed, shares, beta, floor):
    """The same by maximum likelihood: tempered EM from P(z), and P(word | document) mixed with P(word)."""
    return _completed(counts, topics, seed, shares, floor, prior=0.0, beta=beta, shares=shares)


def _completed(counts, topics, seed, start, floor, **settings):
    seen, predicted = halve(counts, topics.any(axis=1), 0, seed)
    theta = np.tile(start, (len(counts), 1))
    p = fold_in_dense(seen, topics, theta, n_passes=30, **settings) @ topics.T
    p = (1 - floor) * p + floor * (topics @ start)
    used = predicted > 0
    return math.exp(-float((predicted[used] * np.log(p[used])).sum()) / predicted.sum())
