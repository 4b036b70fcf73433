"""Replay buffer of a stream: documents that are kept for a while, so that their tokens can be reassigned when more is known.

A document is open while particles differ in its assignments. Once all particles descend from one that came after it, it is
closed: its tokens are then assigned to its labels in fractions, the same for all particles, which are refined repeatedly using
the counts of all other tokens (CVB0; Asuncion et al. 2009). A word that occurs with one label only would stay there: its own
label is where it has most of its counts.
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
"""Indices into `ReplayBuffer.numbers`."""

GROWTH = 0.2
"""Closed documents are rejuvenated when this many tokens have been learned since, as a fraction of theirs."""

TOKENS, ENTRIES, SLOTS, LABELS = range(4)
"""Columns of `ReplayBuffer.firsts`."""


class ReplayBuffer(NamedTuple):
    """Documents of the replay buffer, the oldest first.

    firsts     int64[d + 1, 4]  number of tokens, entries, pairs and labels before each document
    counts     float32[e]       of entries
    slots      int32[s]         pairs: by document, by entry, then by label
    shares     float32[s]       fraction of the word assigned to the label, of closed documents
    labels     int32[l]
    ticks      int64[d]         when each was learned, in ticks of forgetting
    open       int16[o, p]      label of each token of open documents under each particle, as a position among the document's
    ancestors  int16[q, p]      of open documents: the particle after it that each current one descends from
    numbers    int64[5]         first document, first that is open, last + 1; tick now; tokens since the last rejuvenation
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
    """Copy an array; NumPy's way, with its messages for mismatched sizes, takes long to compile."""
    for i in range(len(source)):
        target[i] = source[i]


@strict_kernel
def has_space(memory, n_tokens, n_entries, n_labels):
    """Return whether there is room for one more document."""
    last = memory.numbers[LAST]
    used = memory.firsts[last]
    if last + 1 >= len(memory.firsts) or last - memory.numbers[OPEN] >= len(memory.ancestors):
        return False
    fits = used[ENTRIES] + n_entries <= len(memory.counts)
    fits = fits and used[SLOTS] + n_entries * n_labels <= len(memory.slots) and used[LABELS] + n_labels <= len(memory.labels)
    return fits and open_words(memory) + n_tokens <= len(memory.open)


@strict_kernel
def open_words(memory):
    """Return the number of tokens of open documents."""
    return memory.firsts[memory.numbers[LAST], TOKENS] - memory.firsts[memory.numbers[OPEN], TOKENS]


@strict_kernel
def closed_words(memory):
    """Return the number of tokens of closed documents."""
    return memory.firsts[memory.numbers[OPEN], TOKENS] - memory.firsts[memory.numbers[FIRST], TOKENS]


@strict_kernel
def append_document(tables, memory, words, counts, labels, n_tokens):
    """Append an open document to the buffer; its tokens are not assigned yet."""
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
def close_documents(memory, ancestors):
    """Close the documents for which all particles descend from one after resampling; those are the oldest."""
    n_particles, n_open = len(ancestors), memory.numbers[LAST] - memory.numbers[OPEN]
    old, n_closed = np.empty(n_particles, np.int16), 0
    first = memory.firsts[memory.numbers[OPEN], TOKENS]
    for number in range(n_open):
        copy(memory.ancestors[number], old)
        alike = True
        for p in range(n_particles):
            memory.ancestors[number, p] = old[ancestors[p]]
            alike = alike and old[ancestors[p]] == old[ancestors[0]]
        if alike and n_closed == number:
            assign_closed(memory, memory.numbers[OPEN] + number, old[ancestors[0]], first)
            n_closed += 1
    memory.numbers[OPEN] += n_closed
    passed, left = memory.firsts[memory.numbers[OPEN], TOKENS] - first, open_words(memory)
    for token in range(left if passed > 0 else 0):
        copy(memory.open[token + passed], memory.open[token])
    for number in range(n_open - n_closed if n_closed > 0 else 0):
        copy(memory.ancestors[number + n_closed], memory.ancestors[number])
    return n_closed


@strict_kernel
def assign_closed(memory, document, particle, first):
    """Assign each token of a document fully to the label chosen by a particle; its part of `open` begins at token `first`."""
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
    """Reassign the tokens of a closed document, entry by entry, by the counts common to all particles without the entry itself.

    keeping   in   weight of a token after one tick
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
    """Divide each token of a closed document evenly among its labels."""
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
    """Discard the assignments of closed documents and infer them anew with all current counts."""
    for document in range(memory.numbers[FIRST], memory.numbers[OPEN]):
        share_evenly(tables, memory, document, keeping)
    for _ in range(passes):
        for document in range(memory.numbers[FIRST], memory.numbers[OPEN]):
            revisit(tables, memory, document, alpha, eta, keeping)
    memory.numbers[NEW] = 0


@strict_kernel
def resample(tables, memory, n_drawn, most, burst, alpha, eta, keeping, seeds):
    """Resample the particles; refine the documents that are closed as a result, and drop the oldest.

    n_drawn   in   particles to draw: all, or one for all
    most      in   maximum number of tokens in the buffer
    burst     in   refinement passes
    """
    ancestors = np.empty(len(tables.logs), np.int16)
    draw_ancestors(tables.logs, n_drawn, uniform(seeds[1] ^ np.uint64(tables.numbers[N_RESAMPLED])), ancestors)
    copy_particles(tables, ancestors)
    first = memory.numbers[OPEN]
    close_documents(memory, ancestors)
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
    """Learn documents one after the other; those without words or labels are skipped.

    ends, words, counts, label_ends, labels   in   documents and their labels, as in `CSR` and `LabelRows`
    first, last            in    range of documents
    threshold              in    resample when the effective sample size is at most this
    most                   in    maximum number of tokens in the buffer
    most_open              in    maximum number of tokens of open documents: above it, one particle is drawn to replace all
    burst                  in    refinement passes over a document when it is closed
    passes                 in    passes over all closed documents when they are rejuvenated
    seeds    uint64[2]     in    of learning and of resampling
    scores   float64[2]    out   Σ log P(word | all before), tokens

    Returns the next document: before the last if it does not fit into the buffer.
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
        if not has_room(tables, n_entries * len(its_labels)) or not has_space(memory, n_tokens, n_entries, len(its_labels)):
            return document
        tables.numbers[N_WORDS] = max(tables.numbers[N_WORDS], largest + 1)
        append_document(tables, memory, words[own], its_counts, its_labels, n_tokens)
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
            memory.numbers[LAST] -= 1  # its tokens need no refinement
        many = open_words(memory) > most_open
        if many or effective_sample_size(tables.logs) <= threshold:
            resample(tables, memory, 1 if many else n_particles, most, burst, alpha, eta, keeping, seeds)
        memory.numbers[NEW] += n_tokens if len(its_labels) > 1 else 0
        if passes > 0 and memory.numbers[NEW] > GROWTH * closed_words(memory):
            rejuvenate(tables, memory, passes, alpha, eta, keeping)
    return last
