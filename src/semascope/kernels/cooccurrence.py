"""Counting windows of text: in how many each word is, and in how many two words are together."""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import strict_kernel


@strict_kernel
def count_windows(ends, words, window, tops, place_ends, place_topics, place_ranks, together):
    """Slide a window over each document, and count those that the top words of a topic are in, one by one and two by two.

    Same numbers as tests/reference/cooccurrence.py::count_windows (Python, written for reading). A document of fewer words than the
    window is one window, one without words none. A word that stays in the window costs nothing: what is counted is how long it
    stayed, when it leaves.

    ends           int64[d + 1]     in       where each document ends
    words          int32[t]         in       numbers of top words in their order, -1 for any other word
    window         int              in       words in a window
    tops           int32[k, n]      in       numbers of the top words of each topic, -1 where it has no more
    place_ends     int64[u + 1]     in       where the places of each top word end
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
    """Take note of a word that has come into the window that starts at `start`."""
    if word >= 0:
        inside[word] += 1
        if since[word] < 0:
            since[word] = start


@strict_kernel
def leave(word, start, since, tops, place_ends, place_topics, place_ranks, together):
    """Count the windows that a word was in, with each word of its topics that is there still; `start` is the first without."""
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
