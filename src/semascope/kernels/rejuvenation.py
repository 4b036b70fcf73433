"""Documents of a stream that are kept for a while, so that their words can be looked at again when more is known.

A document is open while particles differ in what its words are due to. Once all of them come from one that was there after it,
it is settled: its words are then due to its labels in shares, the same for all particles, which are made better time and again
by what is known of all other words (CVB0; Asuncion et al. 2009). A word that is due to one label alone would hold on to it: its
own label is where it has been met most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semascope.kernels.heldout import mix, uniform
from semascope.kernels.jit import strict_kernel
from semascope.kernels.particle_filter import N_DOCUMENTS, N_RESAMPLED, N_WORDS, has_room, learn_document, pair_of
from semascope.kernels.resampling import copy_particles, draw_ancestors, effective_sample_size, log_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST, OPEN, LAST, TICK, NEW = range(5)
"""Places in `Memory.numbers`."""

GROWTH = 0.2
"""Settled documents are rejuvenated when so many words have come since, as a share of theirs."""

TOKENS, ENTRIES, SLOTS, LABELS = range(4)
"""Columns of `Memory.firsts`."""


class ReplayBuffer(NamedTuple):
    """Documents that are remembered, the oldest first.

    firsts     int64[d + 1, 4]  how many words, entries, pairs and labels there are before each document
    counts     float32[e]       of entries
    slots      int32[s]         pairs: by document, by entry, then by label
    shares     float32[s]       how much of the word is due to the label, of settled documents
    labels     int32[l]
    ticks      int64[d]         when each was learned, in units of forgetting
    open       int16[o, p]      of each word of open documents and each particle, which of the labels it is due to
    ancestors  int16[q, p]      of open documents: the particle after it that each one of now comes from
    numbers    int64[5]         first document, first that is open, last + 1; tick now; words since they were rejuvenated
    """

    firsts: NDArray[np.int64]
    counts: NDArray[np.float32]
    slots: NDArray[np.int32]
    shares: NDArray[np.float32]
    labels: NDArray[np.int32]
    ticks: NDArray[np.int64]
    open: NDArray[np.int16]
    ancestors: NDArray[np.int16]
    numbers: NDArray[np.int64]


@strict_kernel
def copy(source, target):
    """Copy an array; NumPy's way, with its messages for arrays of other sizes, takes long to compile."""
    for i in range(len(source)):
        target[i] = source[i]


@strict_kernel
def can_take(memory, n_tokens, n_entries, n_labels):
    """Whether there is room for one more document."""
    last = memory.numbers[LAST]
    used = memory.firsts[last]
    if last + 1 >= len(memory.firsts) or last - memory.numbers[OPEN] >= len(memory.ancestors):
        return False
    fits = used[ENTRIES] + n_entries <= len(memory.counts)
    fits = fits and used[SLOTS] + n_entries * n_labels <= len(memory.slots) and used[LABELS] + n_labels <= len(memory.labels)
    return fits and open_words(memory) + n_tokens <= len(memory.open)


@strict_kernel
def open_words(memory):
    """Words of open documents."""
    return memory.firsts[memory.numbers[LAST], TOKENS] - memory.firsts[memory.numbers[OPEN], TOKENS]


@strict_kernel
def settled_words(memory):
    """Words of settled documents."""
    return memory.firsts[memory.numbers[OPEN], TOKENS] - memory.firsts[memory.numbers[FIRST], TOKENS]


@strict_kernel
def take(tables, memory, words, counts, labels, n_tokens):
    """Take a document at the end of the memory, open; nothing is chosen for its words yet."""
    last = memory.numbers[LAST]
    used, following = memory.firsts[last], memory.firsts[last + 1]
    at = used[SLOTS]
    for j in range(len(words)):
        memory.counts[used[ENTRIES] + j] = counts[j]
        for i in range(len(labels)):
            memory.slots[at], memory.shares[at] = pair_of(tables, words[j], labels[i]), 0.0
            at += 1
    for i in range(len(labels)):
        memory.labels[used[LABELS] + i] = labels[i]
    following[TOKENS], following[ENTRIES] = used[TOKENS] + n_tokens, used[ENTRIES] + len(words)
    following[SLOTS], following[LABELS] = used[SLOTS] + len(words) * len(labels), used[LABELS] + len(labels)
    memory.ticks[last] = memory.numbers[TICK]
    for p in range(memory.ancestors.shape[1]):
        memory.ancestors[last - memory.numbers[OPEN], p] = p
    memory.numbers[LAST] += 1


@strict_kernel
def converge_buffer(memory, ancestors):
    """After particles took the places of others: settle the documents for which all come from one; those are the oldest."""
    n_particles, n_open = len(ancestors), memory.numbers[LAST] - memory.numbers[OPEN]
    old, settled = np.empty(n_particles, np.int16), 0
    first = memory.firsts[memory.numbers[OPEN], TOKENS]
    for number in range(n_open):
        copy(memory.ancestors[number], old)
        alike = True
        for p in range(n_particles):
            memory.ancestors[number, p] = old[ancestors[p]]
            alike = alike and old[ancestors[p]] == old[ancestors[0]]
        if alike and settled == number:
            share_out(memory, memory.numbers[OPEN] + number, old[ancestors[0]], first)
            settled += 1
    memory.numbers[OPEN] += settled
    passed, left = memory.firsts[memory.numbers[OPEN], TOKENS] - first, open_words(memory)
    for token in range(left if passed > 0 else 0):
        copy(memory.open[token + passed], memory.open[token])
    for number in range(n_open - settled if settled > 0 else 0):
        copy(memory.ancestors[number + settled], memory.ancestors[number])
    return settled


@strict_kernel
def share_out(memory, document, particle, first):
    """Return each word of a document wholly to the label that a particle has chosen for it; `open` begins with word `first`."""
    begin, end = memory.firsts[document], memory.firsts[document + 1]
    n_labels = end[LABELS] - begin[LABELS]
    for slot in range(begin[SLOTS], end[SLOTS]):
        memory.shares[slot] = 0.0
    token, slot = begin[TOKENS] - first, begin[SLOTS]
    for j in range(begin[ENTRIES], end[ENTRIES]):
        for _ in range(int(memory.counts[j])):
            memory.shares[slot + memory.open[token, particle]] += 1 / memory.counts[j]
            token += 1
        slot += n_labels


@strict_kernel
def revisit(tables, memory, document, alpha, eta, keeping):
    """Share out the words of a settled document anew, one entry after the other, by all that particles agree on beside it.

    keeping   in   what a word counts for after one tick
    """
    begin, end = memory.firsts[document], memory.firsts[document + 1]
    labels = memory.labels[begin[LABELS] : end[LABELS]]
    n_labels, n_words_eta = len(labels), tables.numbers[N_WORDS] * eta
    amount = keeping ** (memory.numbers[TICK] - memory.ticks[document])
    sizes, of_document, weights = np.empty(n_labels), np.zeros(n_labels), np.empty(n_labels)
    for i in range(n_labels):
        sizes[i] = tables.sizes[labels[i]] + n_words_eta
    slot = begin[SLOTS]
    for j in range(begin[ENTRIES], end[ENTRIES]):
        for i in range(n_labels):
            of_document[i] += memory.counts[j] * memory.shares[slot + i]
        slot += n_labels
    slot = begin[SLOTS]
    for j in range(begin[ENTRIES], end[ENTRIES]):
        slots, shares = memory.slots[slot : slot + n_labels], memory.shares[slot : slot + n_labels]
        total = 0.0
        for i in range(n_labels):
            own = amount * shares[i]
            known = max(tables.base[slots[i]] - own, 0.0) + eta
            weights[i] = known / (sizes[i] - own) * (max(of_document[i] - shares[i], 0.0) + alpha)
        for i in range(n_labels):
            total += weights[i]
        scale = 1 / total
        for i in range(n_labels):
            share = np.float32(weights[i] * scale)
            more = memory.counts[j] * (np.float64(share) - shares[i])
            tables.base[slots[i]] += amount * more
            sizes[i] += amount * more
            of_document[i] += more
            shares[i] = share
        slot += n_labels
    for i in range(n_labels):
        tables.sizes[labels[i]] = sizes[i] - n_words_eta


@strict_kernel
def share_evenly(tables, memory, document, keeping):
    """Return each word of a settled document to all its labels alike."""
    begin, end = memory.firsts[document], memory.firsts[document + 1]
    labels = memory.labels[begin[LABELS] : end[LABELS]]
    amount, slot = keeping ** (memory.numbers[TICK] - memory.ticks[document]), begin[SLOTS]
    even = np.float32(1 / len(labels))
    for j in range(begin[ENTRIES], end[ENTRIES]):
        for i in range(len(labels)):
            more = amount * memory.counts[j] * (np.float64(even) - memory.shares[slot + i])
            tables.base[memory.slots[slot + i]] += more
            tables.sizes[labels[i]] += more
            memory.shares[slot + i] = even
        slot += len(labels)


@strict_kernel
def rejuvenate(tables, memory, passes, alpha, eta, keeping):
    """Forget what the words of settled documents are due to, and find it anew with all that is known now."""
    for document in range(memory.numbers[FIRST], memory.numbers[OPEN]):
        share_evenly(tables, memory, document, keeping)
    for _ in range(passes):
        for document in range(memory.numbers[FIRST], memory.numbers[OPEN]):
            revisit(tables, memory, document, alpha, eta, keeping)
    memory.numbers[NEW] = 0


@strict_kernel
def resample(tables, memory, n_drawn, most, burst, alpha, eta, keeping, seeds):
    """Let particles take the places of others; look again at documents that are settled thereby, and let go of the oldest.

    n_drawn   in   particles to draw: all, or one for all places
    most      in   words to remember
    burst     in   how often to look
    """
    ancestors = np.empty(len(tables.logs), np.int16)
    draw_ancestors(tables.logs, n_drawn, uniform(seeds[1] ^ np.uint64(tables.numbers[N_RESAMPLED])), ancestors)
    copy_particles(tables, ancestors)
    first = memory.numbers[OPEN]
    converge_buffer(memory, ancestors)
    for document in range(first, memory.numbers[OPEN]):
        if burst > 0:
            share_evenly(tables, memory, document, keeping)
    for _ in range(burst):
        for document in range(first, memory.numbers[OPEN]):
            revisit(tables, memory, document, alpha, eta, keeping)
    end = memory.firsts[memory.numbers[LAST], TOKENS]
    while memory.numbers[FIRST] < memory.numbers[OPEN] and end - memory.firsts[memory.numbers[FIRST], TOKENS] > most:
        memory.numbers[FIRST] += 1


@strict_kernel
def learn_documents(
    tables, memory, ends, words, counts, label_ends, labels, first, last, alpha, eta, published, threshold, most, most_open,
    burst, passes, keeping, seeds, scores,
):  # fmt: skip
    """Learn documents one after the other; documents without words or labels teach nothing.

    ends, words, counts, label_ends, labels   in   documents and their labels, as `Rows` and `LabelRows` have them
    first, last            in    which of them
    threshold              in    resample when the particles are worth no more than this many
    most                   in    words to remember
    most_open              in    words of open documents to remember: when there are more, one particle is drawn for all places
    burst                  in    how often to look again at a document when it is settled
    passes                 in    how often to look at all settled documents when they are rejuvenated
    seeds    uint64[2]     in    of learning, and of particles taking others' places
    scores   float64[2]    out   Σ log P(word | all before), words

    Returns the next document: before the last where there is no room for it.
    """
    n_particles = len(tables.logs)
    logs, before = np.empty(n_particles), np.empty(n_particles)
    for document in range(first, last):
        own = slice(ends[document], ends[document + 1])
        its_counts, its_labels = counts[own], labels[label_ends[document] : label_ends[document + 1]]
        n_entries, n_tokens, largest = len(its_counts), 0, 0
        for j in range(ends[document], ends[document + 1]):
            n_tokens += int(counts[j])
            largest = max(largest, words[j])
        if n_tokens == 0 or len(its_labels) == 0:
            continue
        if not has_room(tables, n_entries * len(its_labels)) or not can_take(memory, n_tokens, n_entries, len(its_labels)):
            return document
        tables.numbers[N_WORDS] = max(tables.numbers[N_WORDS], largest + 1)
        take(tables, memory, words[own], its_counts, its_labels, n_tokens)
        random = mix(mix(seeds[0]) ^ np.uint64(tables.numbers[N_DOCUMENTS]))
        copy(tables.logs, before)
        at, slots = open_words(memory) - n_tokens, memory.firsts[memory.numbers[LAST] - 1, SLOTS]
        learn_document(
            tables, its_counts, its_labels, memory.slots[slots : slots + n_entries * len(its_labels)], alpha, eta, published,
            random, memory.open[at : at + n_tokens], logs,
        )  # fmt: skip
        scores[0] += log_mean(logs, before)
        scores[1] += n_tokens
        tables.numbers[N_DOCUMENTS] += 1
        if len(its_labels) == 1:
            memory.numbers[LAST] -= 1  # there is nothing to share out
        many = open_words(memory) > most_open
        if many or effective_sample_size(tables.logs) <= threshold:
            resample(tables, memory, 1 if many else n_particles, most, burst, alpha, eta, keeping, seeds)
        memory.numbers[NEW] += n_tokens if len(its_labels) > 1 else 0
        if passes > 0 and memory.numbers[NEW] > GROWTH * settled_words(memory):
            rejuvenate(tables, memory, passes, alpha, eta, keeping)
    return last
