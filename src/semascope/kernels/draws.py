"""Sampled topic assignments: Gibbs sweeps over documents, and topics drawn from their Dirichlet distributions.

Random numbers are keyed by the sweep and the document's index, or by the topic and the word. So draws do not depend on the
sharding or on the thread that draws them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semascope.kernels.heldout import mix, uniform
from semascope.kernels.jit import inlined, kernel, strict_kernel
from semascope.kernels.labeled_gibbs import STEP
from semascope.kernels.simd import WIDTH, load, spread, store, total

if TYPE_CHECKING:
    from numpy.typing import NDArray

SINGLE = 256
"""Counts up to this have bins of their own; larger ones share bins of growing width."""

GROWTH = 1.05
"""Growth factor of the bin width."""

MIN_LOG = -87.0
"""Logarithm of the smallest normal number of single precision."""


@kernel
def choose_topic(weights, topics, word, running, limit):
    """Sample a topic in proportion to weights × topics[word].

    Products are accumulated per lane, which avoids sums across lanes: lane 0 of all groups comes first, then lane 1, …

    weights  float[1, k']      in   k' is the number of topics, padded with zeros to whole groups of lanes
    topics   float[v, k']      in   P(word | topic)
    running  float[k' / 8, 8]  out  scratch
    limit                      in   a random number from 0 to 1

    Returns the topic, or -1 if all products are zero.
    """
    last = len(running) - 1
    sums = spread(running.dtype.type(0))
    for group in range(last + 1):
        sums += load(weights, 0, group * WIDTH) * load(topics, word, group * WIDTH)
        store(running, group, 0, sums)
    of_all = 0.0
    for lane in range(WIDTH):
        of_all += running[last, lane]
    if not of_all > 0:
        return -1
    left, chosen = limit * of_all, 0
    for lane in range(WIDTH):  # the last nonempty lane absorbs the rounding error
        if running[last, lane] > 0:
            chosen = lane
            if left < running[last, lane]:
                break
            left -= running[last, lane]
    low, high = 0, last  # bisect for the first group whose cumulative sum exceeds the remainder or equals the total
    while low < high:
        middle = (low + high) // 2
        if running[middle, chosen] > left or running[middle, chosen] >= running[last, chosen]:
            high = middle
        else:
            low = middle + 1
    return low * WIDTH + chosen


@kernel
def sweep_documents(ends, words, counts, topics, priors, keys, first_document, chosen, exceeding, kept, drawn):
    """Resample the topic of each token given those of the other tokens of its document, in one or more sweeps.

    P(z = k) ∝ (N_dk¬ + α_dk) φ_wk, where ¬ excludes the token. The sum has two parts (Yao, Mimno and McCallum, 2009):
    that of N_dk¬ φ_wk runs over the few topics of the document, and that of α_dk φ_wk is the same in all sweeps.
    All topics are visited only if the draw falls into the second part.

    Same numbers as tests/reference/draws.py::sweep_documents.

    ends, words, counts     in       documents; counts are whole numbers
    topics     float[v, k'] in       φ, a row for each word, padded with zeros to whole groups of lanes
    priors     float[p, k'] in       α, one row for all documents or one for each, padded likewise
    keys       uint64[s]    in       random key of each sweep
    first_document          in       global index of the first document
    chosen     int32[t]     in, out  topic of each token: by document, by entry, one after the other; -1 for none yet
    exceeding  int64[b, k + 1]  in, out  how many N_dk, and in the last column |d|, lie beyond the start of each bin; added to
    kept       int64[r]     in       sweeps whose topics are kept, ascending
    drawn      int32[r, t]  out      the topics after these
    """
    n_topics, start = topics.shape[1], 0
    sums, running = np.empty(n_topics), np.empty((n_topics // WIDTH, WIDTH), topics.dtype)
    present, places, numbers = np.empty(n_topics, np.int64), np.full(n_topics, -1), np.empty(n_topics)
    shares = np.full(len(topics), -1, topics.dtype)
    for d in range(len(ends) - 1):
        row, n_tokens, used = d if len(priors) > 1 else 0, 0, 0
        for j in range(ends[d], ends[d + 1]):
            n_tokens += int(counts[j])
            if shares[words[j]] < 0 or len(priors) > 1:
                shares[words[j]] = share_of_prior(priors, row, topics, words[j])
        for token in range(start, start + n_tokens):
            if chosen[token] >= 0:
                used = add_token(chosen[token], present, places, numbers, used)
        row_kept = 0
        for sweep in range(len(keys)):
            random, token = mix(mix(keys[sweep]) ^ np.uint64(first_document + d)), start
            for j in range(ends[d], ends[d + 1]):
                for _ in range(int(counts[j])):
                    old = chosen[token]
                    if old >= 0:
                        used = remove_token(old, present, places, numbers, used)
                    random += STEP
                    new = choose_given(
                        present, numbers, used, priors, row, shares, topics, words[j], sums, running, uniform(random)
                    )
                    chosen[token] = new if new >= 0 else max(old, 0)  # a word without any topic stays where it is
                    used = add_token(chosen[token], present, places, numbers, used)
                    token += 1
            if row_kept < len(kept) and kept[row_kept] == sweep:
                drawn[row_kept, start : start + n_tokens] = chosen[start : start + n_tokens]
                row_kept += 1
        note_exceeding(present, numbers, used, n_tokens, exceeding)
        for place in range(used):
            places[present[place]] = -1
        start += n_tokens


@kernel
def share_of_prior(priors, row, topics, word):
    """Return Σ_k α_k φ_wk."""
    sums = spread(topics.dtype.type(0))
    for group in range(topics.shape[1] // WIDTH):
        sums += load(priors, row, group * WIDTH) * load(topics, word, group * WIDTH)
    return total(sums)


@inlined
def choose_given(present, numbers, used, priors, row, shares, topics, word, sums, running, limit):
    """Sample a topic in proportion to (N_dk + α_dk) φ_wk; -1 where all of it is zero.

    present, numbers, used  in   topics of the document, as in `add_token`
    shares   float[v]       in   Σ_k α_dk φ_wk
    sums     float64[k']    out  scratch, like `running`; the others as in `sweep_documents` and `choose_topic`
    """
    of_document = 0.0
    for place in range(used):
        of_document += numbers[place] * topics[word, present[place]]
        sums[place] = of_document
    left = limit * (of_document + shares[word])
    if left < of_document:
        place = 0
        while place < used - 1 and sums[place] <= left:
            place += 1
        return present[place]
    if not shares[word] > 0:
        return -1
    return choose_topic(priors[row : row + 1], topics, word, running, (left - of_document) / shares[word])


@inlined
def add_token(topic, present, places, numbers, used):
    """Add a token of a topic to the sparse counts of a document.

    present  int64[k]    in, out  topics of the document, unordered
    places   int64[k]    in, out  position of each topic in `present`, or -1
    numbers  float64[k]  in, out  N_dk of these topics
    used                 in       number of topics

    Returns the new number of topics.
    """
    place = places[topic]
    if place >= 0:
        numbers[place] += 1
        return used
    present[used], places[topic], numbers[used] = topic, used, 1
    return used + 1


@inlined
def remove_token(topic, present, places, numbers, used):
    """Remove a token of a topic from a document; a topic that becomes empty is replaced by the last one."""
    place, last = places[topic], used - 1
    numbers[place] -= 1
    if numbers[place] > 0:
        return used
    present[place], numbers[place] = present[last], numbers[last]
    places[present[place]] = place
    places[topic] = -1
    return last


@kernel
def choose_first(ends, words, counts, topics, shares, keys, first_document, chosen):
    """Draw an initial topic for each token independently: P(z = k) ∝ θ_dk φ_wk.

    Arguments are those of `sweep_documents`, with the first of its random keys, and

    shares   float[d, k']  in   θ, padded with zeros to whole groups of lanes
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
def note_exceeding(present, numbers, used, n_tokens, exceeding):
    """Add the topic counts of a document to the bins, and its length to the last column."""
    if len(exceeding) > 0:
        for place in range(used):
            add_count(int(numbers[place]), present[place], exceeding)
        add_count(n_tokens, exceeding.shape[1] - 1, exceeding)


@kernel
def add_count(n, column, exceeding):
    """Add a count to the bins of a column: one by one up to SINGLE, then by the part that lies in each."""
    for i in range(min(n, SINGLE, len(exceeding))):
        exceeding[i, column] += 1
    first, size, row = SINGLE, SINGLE * (GROWTH - 1), SINGLE
    while first < n and row < len(exceeding):
        following = first + int(size)
        exceeding[row, column] += min(n, following) - first
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
    """Draw Gamma(N_wk + η_wk) variates of some words; normalized, they are draws from Dirichlet distributions.

    Same numbers as tests/reference/draws.py::draw_topics.

    counts                     float[v, k]  in   N_wk
    prior_ends … base                       in   η, as in `WordPrior`
    keys        uint64[l, k]                in   random key of each language and topic
    languages   int32[v]                    in
    first, last                             in   range of words
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
    """Draw a Gamma variate; for small shapes through logarithms (Ahrens and Dieter 1974; Marsaglia and Tsang 2000)."""
    if shape < 1:
        border = 1 + shape / np.e
        while True:
            random += STEP
            point = border * uniform(random)
            random += STEP
            if point <= 1:
                log = np.log(max(point, 1e-300)) / shape
                if log < MIN_LOG:
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
    """Return the bin edges needed for counts up to the largest."""
    edges, size = list(range(min(largest, SINGLE) + 1)), SINGLE * (GROWTH - 1)
    while edges[-1] < largest:
        edges.append(edges[-1] + int(size))
        size *= GROWTH
    return np.array(edges)
