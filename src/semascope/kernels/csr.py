"""CSR rows of counts: renumbered, sorted, and transposed to word order."""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import strict_kernel


@strict_kernel
def renumber(row_ends, numbers, counts, new_number, n_words):
    """Map old word ids to new ones, drop words without one (-1), and sort each row by id.

    Entries are distributed over one bucket per word, and the buckets, read in order, fill the rows.
    Same numbers as tests/reference/csr.py::renumber (SciPy, written for reading).

    row_ends    int64[d + 1]   in
    numbers     int32[nnz]     in   old word ids
    counts      number[nnz]    in
    new_number  int32[v]       in   old id -> new id or -1; several may share one

    Returns row ends int64[d + 1], word ids int32[m], counts float32[m].
    """
    n_rows = row_ends.shape[0] - 1
    pile_ends = np.zeros(n_words + 1, np.int64)
    for number in numbers:
        new = new_number[number]
        if new >= 0:
            pile_ends[new + 1] += 1
    for word in range(n_words):
        pile_ends[word + 1] += pile_ends[word]
    kept = pile_ends[n_words]
    pile_row = np.empty(kept, np.int32)
    pile_count = np.empty(kept, np.float32)
    next_in_pile = pile_ends[:-1].copy()
    next_in_row = np.zeros(n_rows + 1, np.int64)
    for row in range(n_rows):
        for j in range(row_ends[row], row_ends[row + 1]):
            new = new_number[numbers[j]]
            if new >= 0:
                at = next_in_pile[new]
                pile_row[at] = row
                pile_count[at] = counts[j]
                next_in_pile[new] = at + 1
                next_in_row[row + 1] += 1
    for row in range(n_rows):
        next_in_row[row + 1] += next_in_row[row]
    row_starts = next_in_row[:-1].copy()
    new_numbers = np.empty(kept, np.int32)
    new_counts = np.empty(kept, np.float32)
    for word in range(n_words):
        for j in range(pile_ends[word], pile_ends[word + 1]):
            row = pile_row[j]
            at = next_in_row[row]
            if at > row_starts[row] and new_numbers[at - 1] == word:
                new_counts[at - 1] += pile_count[j]
            else:
                new_numbers[at] = word
                new_counts[at] = pile_count[j]
                next_in_row[row] = at + 1
    return close_gaps(row_starts, next_in_row, new_numbers, new_counts)


@strict_kernel
def renumber_few(row_ends, numbers, counts, new_number):
    """Renumber few rows over many words: like `renumber`, but each row is sorted on its own.

    Same numbers as tests/reference/csr.py::renumber.
    """
    new_numbers, new_counts = np.empty(len(numbers), np.int32), np.empty(len(numbers), np.float32)
    new_ends = np.zeros(len(row_ends), np.int64)
    at = 0
    for row in range(len(row_ends) - 1):
        first = last = at
        for j in range(row_ends[row], row_ends[row + 1]):
            if new_number[numbers[j]] >= 0:
                new_numbers[at], new_counts[at] = new_number[numbers[j]], counts[j]
                at += 1
        sort_row(new_numbers[first:at], new_counts[first:at])
        for j in range(first + 1, at):
            if new_numbers[j] == new_numbers[last]:
                new_counts[last] += new_counts[j]
            else:
                last += 1
                new_numbers[last], new_counts[last] = new_numbers[j], new_counts[j]
        new_ends[row + 1] = at = min(last + 1, at)
    return new_ends, new_numbers[:at], new_counts[:at]


@strict_kernel
def sort_row(numbers, counts):
    """Sort by id, in place, with decreasing gaps (Shell 1959): rows are short."""
    gap = len(numbers) // 2
    while gap > 0:
        for i in range(gap, len(numbers)):
            number, count, j = numbers[i], counts[i], i
            while j >= gap and numbers[j - gap] > number:
                numbers[j], counts[j] = numbers[j - gap], counts[j - gap]
                j -= gap
            numbers[j], counts[j] = number, count
        gap //= 2


@strict_kernel
def close_gaps(row_starts, row_stops, numbers, counts):
    """Close the gaps that summing duplicates left between rows."""
    n_rows = row_starts.shape[0]
    row_ends = np.zeros(n_rows + 1, np.int64)
    filled = 0
    for row in range(n_rows):
        for j in range(row_starts[row], row_stops[row]):
            numbers[filled] = numbers[j]
            counts[filled] = counts[j]
            filled += 1
        row_ends[row + 1] = filled
    return row_ends, numbers[:filled], counts[:filled]


@strict_kernel
def by_word(ends, words, n_words):
    """Order the entries of a shard by word.

    ends       int64[d + 1]  in   row ends
    words      int32[nnz]    in   ascending in each row

    Returns the distinct words int32[u], their entry ends int64[u + 1], the document int32[nnz] of each entry in this order,
    and its position int32[nnz] in the order by document.
    """
    next_place = np.zeros(n_words + 1, np.int64)
    for word in words:
        next_place[word + 1] += 1
    n_distinct = 0
    for word in range(n_words):
        if next_place[word + 1] > 0:
            n_distinct += 1
    distinct = np.empty(n_distinct, np.int32)
    word_ends = np.zeros(n_distinct + 1, np.int64)
    number = 0
    for word in range(n_words):
        if next_place[word + 1] > 0:
            distinct[number] = word
            word_ends[number + 1] = word_ends[number] + next_place[word + 1]
            number += 1
        next_place[word + 1] += next_place[word]
    documents = np.empty(words.shape[0], np.int32)
    places = np.empty(words.shape[0], np.int32)
    for document in range(ends.shape[0] - 1):
        for j in range(ends[document], ends[document + 1]):
            at = next_place[words[j]]
            documents[at] = document
            places[at] = j
            next_place[words[j]] = at + 1
    return distinct, word_ends, documents, places


@strict_kernel
def in_places(values, places):
    """Return the values at the given positions.

    Same numbers as ``values[places]``, without the GIL.

    values  number[n]   in
    places  int32[m]    in
    """
    found = np.empty(len(places), values.dtype)
    for j in range(len(places)):
        found[j] = values[places[j]]
    return found


@strict_kernel
def facts_of_words(ends, counts):
    """Compute statistics of each word: Σ n, its document frequency, and Σ n log n.

    Same numbers as tests/reference/csr.py::facts_of_words.

    ends    int64[u + 1]   in   entries by word, from `by_word`
    counts  float32[nnz]   in   in that order

    Returns float64[u, 3].
    """
    facts = np.zeros((len(ends) - 1, 3))
    for number in range(len(ends) - 1):
        for j in range(ends[number], ends[number + 1]):
            if counts[j] > 0:
                facts[number, 0] += counts[j]
                facts[number, 1] += 1
                if counts[j] != 1:
                    facts[number, 2] += counts[j] * np.log(np.float64(counts[j]))
    return facts
