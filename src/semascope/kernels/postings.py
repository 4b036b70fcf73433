"""Scores of documents by the words that they share with a query, and top-k selection."""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import kernel, strict_kernel

PIECE = 64
"""Number of scores tested at once for one above the threshold."""


@kernel
def bm25_weights(ends, documents, counts, lengths, rarity, mean_length, saturation, normalization, weights):
    """Compute the contribution of each posting to the score of its document.

    Same numbers as ``rarity * counts / (counts + saturation * (1 - normalization + normalization * lengths / mean_length))``.

    ends           int64[v + 1]   in   postings of word w are [ends[w]:ends[w + 1]] of the others
    documents      int32[nnz]     in
    counts         float32[nnz]   in
    lengths        float32[d]     in   tokens of each document
    rarity         float32[v]     in   of each word
    weights        float32[nnz]   out
    """
    own, by_length = saturation * (1 - normalization), saturation * normalization / mean_length
    for word in range(len(ends) - 1):
        of_word = rarity[word]
        for j in range(ends[word], ends[word + 1]):
            count = counts[j]
            weights[j] = of_word * count / (count + own + by_length * lengths[documents[j]])


@strict_kernel
def add_postings(ends, documents, weights, query_ends, words, factors, first, scores):
    """Add the weights of each document's query words to its score.

    Same numbers as ``scores[:, first:] += queries @ weights``, with queries and weights as sparse matrices.

    ends, documents, weights          in       postings by word
    query_ends   int64[q + 1]         in       words of query i are [query_ends[i]:query_ends[i + 1]] of the two others
    words        int32[m]             in       -1 for a word without postings
    factors      float32[m]           in       factor of the postings of each
    first                             in       column of the first document in `scores`
    scores       float32[q, d]        in, out
    """
    for query in range(len(query_ends) - 1):
        row = scores[query, first:]
        for i in range(query_ends[query], query_ends[query + 1]):
            if words[i] < 0:
                continue
            factor = factors[i]
            for j in range(ends[words[i]], ends[words[i] + 1]):
                row[documents[j]] += factor * weights[j]


@strict_kernel
def best_scores(scores, allowed, least, numbers, best):
    """Select the largest scores, best first, and their documents; ties go to lower ids.

    Scores of at most `least` do not count. The current best are a heap, the worst on top. Same numbers as
    tests/reference/postings.py::best_scores.

    scores      float32[d]     in
    allowed     bool[d]        in   documents to consider; empty for all
    numbers     int32[k]       out
    best        float32[k]     out

    Returns the number of documents selected.
    """
    k, found, worst, n = len(numbers), 0, np.float32(least), len(scores)
    for first in range(0, n, PIECE):
        last = min(first + PIECE, n)
        piece, any_good = scores[first:last], np.int32(last - first < PIECE)
        if not any_good:
            for i in range(PIECE):  # an accumulator as wide as scores, not a bool, so that the loop is vectorized
                any_good |= np.int32(1) if piece[i] > worst else np.int32(0)
        if not any_good:
            continue
        for d in range(first, last):
            if not scores[d] > worst or (len(allowed) and not allowed[d]):
                continue
            if found < k:
                found += 1
                sift_up(best, numbers, found - 1, scores[d], d)
            else:
                sift_down(best, numbers, k, scores[d], d)
            if found == k:
                worst = best[0]
    for size in range(found - 1, 0, -1):  # move the worst to the end, repeatedly
        score, number = best[size], numbers[size]
        best[size], numbers[size] = best[0], numbers[0]
        sift_down(best, numbers, size, score, number)
    return found


@strict_kernel
def sift_up(best, numbers, at, score, number):
    """Append a score to a heap and sift it up."""
    while at > 0:
        above = (at - 1) // 2
        if best[above] < score or (best[above] == score and numbers[above] > number):
            break
        best[at], numbers[at] = best[above], numbers[above]
        at = above
    best[at], numbers[at] = score, number


@strict_kernel
def sift_down(best, numbers, size, score, number):
    """Replace the top of a heap and sift it down."""
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        other = below + 1
        if other < size and (best[other] < best[below] or (best[other] == best[below] and numbers[other] > numbers[below])):
            below = other
        if best[below] > score or (best[below] == score and numbers[below] < number):
            break
        best[at], numbers[at] = best[below], numbers[below]
        at = below
    best[at], numbers[at] = score, number


LANES = 64
"""Number of independent accumulators, so that sums and maxima are vectorized."""


@kernel
def mean_and_largest(scores):
    """Compute mean and maximum of the scores; 0 and 0 if there are none."""
    if len(scores) == 0:
        return np.float64(0), np.float32(0)
    largest, total = np.full(LANES, scores[0]), np.float64(0)
    whole = len(scores) - len(scores) % LANES
    for first in range(0, whole, LANES):
        of_piece = np.float32(0)
        for i in range(LANES):
            score = scores[first + i]
            largest[i] = score if score > largest[i] else largest[i]
            of_piece += score
        total += of_piece
    for d in range(whole, len(scores)):
        largest[0] = max(largest[0], scores[d])
        total += scores[d]
    return total / len(scores), largest.max()


@kernel
def fuse(one, of_one, other, of_other, less):
    """Compute a weighted sum of two scores, in the memory of the first.

    Same numbers as ``of_one * one + of_other * other - less``.
    """
    for d in range(len(one)):
        one[d] = of_one * one[d] + of_other * other[d] - less


@kernel
def likelihoods_of_few(ends, words, counts, lengths, theta, topics, background, asked, often, mu, share, chosen, scores):
    """Compute the query likelihood of some documents: their own words, smoothed, mixed with those of their topics.

    Same numbers as the chosen columns of `semascope.retrieval.likelihood.likelihood_scores`, in single precision.

    ends … counts                    in   entries by document, words ascending
    lengths     float32[d]           in   tokens of each document
    theta       float32[d, k]        in   P(topic | document)
    topics      float32[v, k]        in   P(word | topic)
    background  float32[v]           in   P(word)
    asked       int32[q]             in   words of the query
    often       float32[q]           in   their counts in the query
    chosen      int32[m]             in   documents
    scores      float32[m]           out
    """
    for i in range(len(chosen)):
        d = chosen[i]
        own = share / (lengths[d] + mu)
        first, last = ends[d], ends[d + 1]
        total = 0.0
        for j in range(len(asked)):
            word, expected = asked[j], np.float32(0)
            for z in range(theta.shape[1]):
                expected += theta[d, z] * topics[word, z]
            at, beyond = first, last
            while at < beyond:
                middle = (at + beyond) // 2
                if words[middle] < word:
                    at = middle + 1
                else:
                    beyond = middle
            count = counts[at] if at < last and words[at] == word else np.float32(0)
            p = own * (count + mu * background[word]) + (1 - share) * expected
            if p > 0:
                total += often[j] * np.log(p)
        scores[i] = total
