"""Split the tokens of documents into an observed and a held-out part."""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import strict_kernel

MANY = 64

MAX_COUNT = 2**24
"""Above this, single precision cannot represent every integer."""


@strict_kernel
def halve(ends, words, counts, known, first_document, seed):
    """Split the tokens of each document at random into two halves; the first has one fewer if the number is odd.

    Same numbers as tests/reference/heldout.py::halve. A count that is not whole is treated as one token of that weight.
    The split depends only on the seed and the document's index.

    known   bool[v]   in   words to split; the others are left out

    Returns both halves, each as (ends, words, counts); documents with an empty half are empty in both.
    """
    n_documents = ends.shape[0] - 1
    first_ends, second_ends = np.zeros(n_documents + 1, np.int64), np.zeros(n_documents + 1, np.int64)
    first_words, second_words = np.empty(words.shape[0], np.int32), np.empty(words.shape[0], np.int32)
    first_counts, second_counts = np.empty(words.shape[0], np.float32), np.empty(words.shape[0], np.float32)
    a = b = 0
    for d in range(n_documents):
        n_tokens = np.int64(0)
        for j in range(ends[d], ends[d + 1]):
            if known[words[j]]:
                n_tokens += tokens_of(counts[j])
        wanted = n_tokens // 2
        left = n_tokens
        state = mix(mix(np.uint64(seed)) ^ np.uint64(first_document + d))
        for j in range(ends[d], ends[d + 1]):
            if wanted + left == 0 or n_tokens < 2 or not known[words[j]]:
                continue
            n, taken = tokens_of(counts[j]), 0
            for _ in range(n):
                state += np.uint64(0x9E3779B97F4A7C15)
                if uniform(state) * left < wanted:
                    taken += 1
                    wanted -= 1
                left -= 1
            share = counts[j] / n
            if taken > 0:
                first_words[a], first_counts[a] = words[j], taken * share
                a += 1
            if taken < n:
                second_words[b], second_counts[b] = words[j], (n - taken) * share
                b += 1
        first_ends[d + 1], second_ends[d + 1] = a, b
    first = (first_ends, first_words[:a], first_counts[:a])
    return first, (second_ends, second_words[:b], second_counts[:b])


@strict_kernel
def hold_out(ends, words, counts, first_document, seed, share):
    """Choose at random which tokens of each document to hold out; return the number held out of each entry.

    Same numbers as tests/reference/heldout.py::hold_out. A count that is not whole is treated as one token of that weight.
    Whether a token is held out depends only on the seed, the document's index and the word. Of more than MANY tokens of one
    word, the exact fraction is held out, rounded up or down at random.
    """
    held = np.zeros(words.shape[0], np.float32)
    for d in range(ends.shape[0] - 1):
        of_document = mix(mix(np.uint64(seed)) ^ np.uint64(first_document + d))
        for j in range(ends[d], ends[d + 1]):
            state = mix(of_document ^ np.uint64(words[j]))
            n = tokens_of(counts[j])
            taken = np.int64(0)
            if n > MANY:
                taken = np.int64(n * share + uniform(state))
            else:
                for _ in range(n):
                    state += np.uint64(0x9E3779B97F4A7C15)
                    if uniform(state) < share:
                        taken += 1
            held[j] = taken * (counts[j] / n)
    return held


@strict_kernel
def uniform(state):
    """Convert 64 bits to a float in [0, 1)."""
    return np.float64(mix(state) >> np.uint64(11)) * 2.0**-53


@strict_kernel
def tokens_of(count):
    """Return the number of tokens in a count: itself, or one if it is fractional or too large for single precision."""
    if count > MAX_COUNT:
        return np.int64(1)
    whole = np.int64(count)
    return whole if whole == count else np.int64(1)


@strict_kernel
def mix(x):
    """Scramble 64 bits (the finalizer of SplitMix64)."""
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
