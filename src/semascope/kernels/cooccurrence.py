"""Sliding-window counts of words and of word pairs."""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import strict_kernel


@strict_kernel
def count_windows(ends, words, window, tops, place_ends, place_topics, place_ranks, together):
    """Count the sliding windows that contain the top words of a topic, one by one and in pairs.

    Same numbers as tests/reference/cooccurrence.py::count_windows (Python, written for reading). A document shorter than the
    window is one window, an empty one none. A word that stays in the window costs nothing: when it leaves, the number of
    windows it stayed for is added.

    ends           int64[d + 1]     in       end of each document
    words          int32[t]         in       ids of top words in text order, -1 for any other word
    window         int              in       tokens in a window
    tops           int32[k, n]      in       ids of the top words of each topic, padded with -1
    place_ends     int64[u + 1]     in       end of each top word's entries in the next two
    place_topics   int32[m]         in       topics that a top word belongs to
    place_ranks    int32[m]         in       and its rank in them
    together       int64[k, n, n]   in, out  windows with both words of a topic; on the diagonal those with the word

    Returns the number of windows.
    """
    inside = np.zeros(place_ends.shape[0] - 1, np.int64)
    since = np.full(place_ends.shape[0] - 1, -1, np.int64)
    n_windows = 0
    for d in range(ends.shape[0] - 1):
        first, length = ends[d], ends[d + 1] - ends[d]
        if length == 0:
            continue
        slides = max(length - window, 0)
        for j in range(first, ends[d + 1] - slides):
            enter(words[j], 0, inside, since)
        for start in range(1, slides + 1):
            enter(words[first + start + window - 1], start, inside, since)
            word = words[first + start - 1]
            if word >= 0:
                inside[word] -= 1
                if inside[word] == 0:
                    leave(word, start, since, tops, place_ends, place_topics, place_ranks, together)
        for j in range(first + slides, ends[d + 1]):
            word = words[j]
            if word >= 0 and since[word] >= 0:
                inside[word] = 0
                leave(word, slides + 1, since, tops, place_ends, place_topics, place_ranks, together)
        n_windows += slides + 1
    return n_windows


@strict_kernel
def enter(word, start, inside, since):
    """Register a word that has entered the window starting at `start`."""
    if word >= 0:
        inside[word] += 1
        if since[word] < 0:
            since[word] = start


@strict_kernel
def leave(word, start, since, tops, place_ends, place_topics, place_ranks, together):
    """Count the windows that contained a word, with each word of its topics still inside; `start` is the first without it."""
    for place in range(place_ends[word], place_ends[word + 1]):
        topic, rank = place_topics[place], place_ranks[place]
        together[topic, rank, rank] += start - since[word]
        for other_rank in range(tops.shape[1]):
            other = tops[topic, other_rank]
            if other >= 0 and other != word and since[other] >= 0:
                shared = start - max(since[word], since[other])
                together[topic, rank, other_rank] += shared
                together[topic, other_rank, rank] += shared
    since[word] = -1
