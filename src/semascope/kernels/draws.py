"""Sampled assignments of tokens to topics: Gibbs sweeps over documents, and topics drawn from their Dirichlet distributions.

Random numbers are keyed by the sweep and the number of the document, or the topic and the word, so that draws do not depend on
how documents are cut into shards or on which thread draws them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semascope.kernels.compile import kernel, strict_kernel
from semascope.kernels.heldout import mix, uniform
from semascope.kernels.labeled import STEP
from semascope.kernels.lanes import WIDTH, load, spread, store

if TYPE_CHECKING:
    from numpy.typing import NDArray

SINGLE = 256
"""Counts up to here are told one by one, larger ones in bins that grow."""

GROWTH = 1.05
"""How much larger each bin is than the one before."""

SMALLEST_LOG = -87.0
"""Logarithm of the smallest number that single precision holds in full."""


@kernel
def choose_topic(weights, topics, word, running, limit):
    """Sample a topic in proportion to weights × topics[word].

    Products are added up lane by lane, which needs no sum across lanes: lane 0 of all groups comes first, then lane 1, …

    weights  float[1, k']      in   k' is the number of topics, filled up with zeros to whole groups of lanes
    topics   float[v, k']      in   P(word | topic)
    running  float[k' / 8, 8]  out  room to work in
    limit                      in   a random number from 0 to 1

    Returns the topic, or -1 where all products are zero.
    """
    last = len(running) - 1
    sums = spread(running.dtype.type(0))
    for group in range(last + 1):
        sums += load(weights, 0, group * WIDTH) * load(topics, word, group * WIDTH)
        store(running, group, 0, sums)
    total = 0.0
    for lane in range(WIDTH):
        total += running[last, lane]
    if not total > 0:
        return -1
    left, chosen = limit * total, 0
    for lane in range(WIDTH):  # the last lane with anything in it takes what rounding leaves over
        if running[last, lane] > 0:
            chosen = lane
            if left < running[last, lane]:
                break
            left -= running[last, lane]
    low, high = 0, last  # the first group whose sum is above what is left, or where the sum of all is reached
    while low < high:
        middle = (low + high) // 2
        if running[middle, chosen] > left or running[middle, chosen] >= running[last, chosen]:
            high = middle
        else:
            low = middle + 1
    return low * WIDTH + chosen


@kernel
def sweep_documents(ends, words, counts, topics, priors, keys, first_document, chosen, exceeding):
    """Sample the topic of each token given those of the other tokens of its document, in one or more sweeps.

    P(z = k) ∝ (N_dk¬ + α_dk) φ_wk, where ¬ leaves the token out.

    Same numbers as tests/reference/draws.py::sweep_documents.

    ends, words, counts     in       documents; counts are whole numbers
    topics     float[v, k'] in       φ, a row for each word, filled up with zeros to whole groups of lanes
    priors     float[p, k'] in       α, one row for all documents or one for each, likewise
    keys       uint64[s]    in       where the random numbers of each sweep start from
    first_document          in       number of the first document among all
    chosen     int32[t]     in, out  topic of each token: by document, by entry, one after the other; -1 for none yet
    exceeding  int64[b, k + 1]  in, out  how many of N_dk, and at last of |d|, lie beyond each bin's beginning; added to
    """
    weights, running = np.empty((1, topics.shape[1]), topics.dtype), np.empty((topics.shape[1] // WIDTH, WIDTH), topics.dtype)
    of_topic, start = np.empty(topics.shape[1], np.int64), 0
    for d in range(len(ends) - 1):
        prior = priors[d if len(priors) > 1 else 0]
        n_tokens = 0
        for j in range(ends[d], ends[d + 1]):
            n_tokens += int(counts[j])
        of_topic[:] = 0
        for token in range(start, start + n_tokens):
            if chosen[token] >= 0:
                of_topic[chosen[token]] += 1
        for k in range(len(of_topic)):
            weights[0, k] = of_topic[k] + prior[k]
        for sweep in range(len(keys)):
            random, token = mix(mix(keys[sweep]) ^ np.uint64(first_document + d)), start
            for j in range(ends[d], ends[d + 1]):
                for _ in range(int(counts[j])):
                    old = chosen[token]
                    if old >= 0:
                        of_topic[old] -= 1
                        weights[0, old] = of_topic[old] + prior[old]
                    random += STEP
                    new = choose_topic(weights, topics, words[j], running, uniform(random))
                    if new < 0:
                        new = max(old, 0)  # no topic has the word: it stays where it is
                    of_topic[new] += 1
                    weights[0, new] = of_topic[new] + prior[new]
                    chosen[token] = new
                    token += 1
        note_exceeding(of_topic, n_tokens, exceeding)
        start += n_tokens


@kernel
def choose_first(ends, words, counts, topics, shares, keys, first_document, chosen):
    """Choose a first topic for each token by itself: P(z = k) ∝ θ_dk φ_wk.

    Arguments are those of `sweep_documents`, of whose random numbers the first key is taken, and

    shares   float[d, k']  in   θ, filled up with zeros to whole groups of lanes
    """
    running, token = np.empty((topics.shape[1] // WIDTH, WIDTH), topics.dtype), 0
    for d in range(len(ends) - 1):
        random = mix(mix(keys[0]) ^ np.uint64(first_document + d))
        for j in range(ends[d], ends[d + 1]):
            for _ in range(int(counts[j])):
                random += STEP
                chosen[token] = max(choose_topic(shares[d : d + 1], topics, words[j], running, uniform(random)), 0)
                token += 1


@kernel
def note_exceeding(of_topic, n_tokens, exceeding):
    """Add the counts of a document, and at last its length, to the bins: one by one up to SINGLE, then by what lies in each."""
    n_topics = exceeding.shape[1] - 1
    for k in range(n_topics + 1):
        n = of_topic[k] if k < n_topics else n_tokens
        for i in range(min(n, SINGLE, len(exceeding))):
            exceeding[i, k] += 1
        first, size, row = SINGLE, SINGLE * (GROWTH - 1), SINGLE
        while first < n and row < len(exceeding):
            following = first + int(size)
            exceeding[row, k] += min(n, following) - first
            first, size, row = following, size * GROWTH, row + 1


@kernel
def count_assignments(ends, words, counts, chosen, numbers, table):
    """Count how often each word is assigned to each topic.

    numbers  int32[v]     in       row of each word in the table
    table    int32[u, k]  in, out  N_wk, added to
    """
    token = 0
    for j in range(ends[0], ends[len(ends) - 1]):
        row = numbers[words[j]]
        for _ in range(int(counts[j])):
            table[row, chosen[token]] += 1
            token += 1


@strict_kernel
def draw_topics(counts, prior_ends, prior_topics, prior_extra, base, keys, languages, first, last, topics):
    """Draw Gamma(N_wk + η_wk) variates of some words; over their sums they are drawn from Dirichlet distributions.

    Same numbers as tests/reference/draws.py::draw_topics.

    counts                     float[v, k]  in   N_wk
    prior_ends … base                       in   η, as `WordPrior` has it
    keys        uint64[l, k]                in   where the random numbers of each language and topic start from
    languages   int32[v]                    in
    first, last                             in   which words
    topics      float[v, k']                out
    """
    for word in range(first, last):
        at = prior_ends[word]
        for k in range(counts.shape[1]):
            shape = counts[word, k] + base
            if at < prior_ends[word + 1] and prior_topics[at] == k:
                shape += prior_extra[at]
                at += 1
            random = mix(keys[languages[word], k] ^ mix(np.uint64(word) * STEP + np.uint64(1)))
            topics[word, k] = gamma_variate(shape, random)


@strict_kernel
def gamma_variate(shape, random):
    """A Gamma variate; those of small shape by way of logarithms (Ahrens and Dieter 1974; Marsaglia and Tsang 2000)."""
    if shape < 1:
        border = 1 + shape / np.e
        while True:
            random += STEP
            point = border * uniform(random)
            random += STEP
            if point <= 1:
                log = np.log(max(point, 1e-300)) / shape
                if log < SMALLEST_LOG:
                    return 0.0
                value = np.exp(log)
                if uniform(random) <= np.exp(-value):
                    return value
            else:
                value = -np.log((border - point) / shape)
                if uniform(random) <= value ** (shape - 1):
                    return value
    d = shape - 1 / 3
    c = 1 / np.sqrt(9 * d)
    while True:
        random += STEP
        radius = np.sqrt(-2 * np.log(max(uniform(random), 1e-300)))
        random += STEP
        normal = radius * np.cos(2 * np.pi * uniform(random))
        random += STEP
        cube = (1 + c * normal) ** 3
        if cube > 0 and np.log(max(uniform(random), 1e-300)) < normal * normal / 2 + d - d * cube + d * np.log(cube):
            return d * cube


def bin_edges(largest: int) -> NDArray[np.int64]:
    """Return where the bins begin that counts up to the largest need, and where the last one ends."""
    edges, size = list(range(min(largest, SINGLE) + 1)), SINGLE * (GROWTH - 1)
    while edges[-1] < largest:
        edges.append(edges[-1] + int(size))
        size *= GROWTH
    return np.array(edges)
