"""Runs of words as words of their own. A run is known by a pair of numbers: the run without its last word, and that word."""

from __future__ import annotations

import numpy as np

from semascope.kernels.compile import strict_kernel
from semascope.kernels.heldout import mix


@strict_kernel
def number_ngrams(ends, words, new_number, shortest, longest, n_words, buckets, pairs, n_pairs, totals, out_ends, out):
    """Number the runs of `shortest` to `longest` words in documents whose words stand in order.

    Same numbers as tests/reference/ngrams.py::number_ngrams (Python, written for reading).

    ends        int64[d + 1]   in       where each document ends
    words       int32[t]       in       old word numbers
    new_number  int32[v]       in       old number -> new number, -1 for a word to leave out
    n_words     int            in       words are numbered below this, runs from here on
    buckets     int32[b]       in, out  open addressing: number of a pair, or -1; b is a power of two
    pairs       int32[c, 2]    in, out  shorter run and last word; there is room for all that may come
    n_pairs     int            in       pairs known so far
    totals      int64[n + c]   in, out  how often each word and run was met, of the lengths asked for
    out_ends    int64[d + 1]   out      where the runs of each document end
    out         int32[m]       out      their numbers

    Returns the number of pairs known now.
    """
    kept = np.empty(words.shape[0], np.int32)
    filled = 0
    for d in range(ends.shape[0] - 1):
        n_kept = 0
        for j in range(ends[d], ends[d + 1]):
            word = new_number[words[j]]
            if word >= 0:
                kept[n_kept] = word
                n_kept += 1
        for i in range(n_kept):
            run = kept[i]
            if shortest == 1:
                out[filled] = run
                totals[run] += 1
                filled += 1
            for length in range(2, min(longest, n_kept - i) + 1):
                run, n_pairs = find_pair(run, kept[i + length - 1], n_words, buckets, pairs, n_pairs)
                if length >= shortest:
                    out[filled] = run
                    totals[run] += 1
                    filled += 1
        out_ends[d + 1] = filled
    return n_pairs


@strict_kernel
def find_pair(run, word, n_words, buckets, pairs, n_pairs):
    """Give the number of a run and a word as one run, a new one if it was never met, and the number of pairs."""
    mask = np.uint64(buckets.shape[0] - 1)
    bucket = mix(np.uint64(run) << np.uint64(32) | np.uint64(word)) & mask
    while buckets[bucket] >= 0:
        known = buckets[bucket]
        if pairs[known, 0] == run and pairs[known, 1] == word:
            return np.int32(n_words + known), n_pairs
        bucket = (bucket + np.uint64(1)) & mask
    buckets[bucket] = n_pairs
    pairs[n_pairs, 0] = run
    pairs[n_pairs, 1] = word
    return np.int32(n_words + n_pairs), n_pairs + 1


@strict_kernel
def fill_pair_buckets(buckets, pairs, n_pairs):
    """Put all pairs into empty buckets."""
    mask = np.uint64(buckets.shape[0] - 1)
    for known in range(n_pairs):
        bucket = mix(np.uint64(pairs[known, 0]) << np.uint64(32) | np.uint64(pairs[known, 1])) & mask
        while buckets[bucket] >= 0:
            bucket = (bucket + np.uint64(1)) & mask
        buckets[bucket] = known
