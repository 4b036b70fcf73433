"""Tokenize and count in one pass: UTF-8 text is split into words, and a hash table assigns ids. N-grams are stored as pairs."""

from __future__ import annotations

import numpy as np

from semascope.kernels.heldout import mix
from semascope.kernels.jit import strict_kernel

HEAD = 0  # first eight bytes of the word, the rest zero
HASH = 1
START = 2  # the word is letters[START:START + LENGTH]
LENGTH = 3
TOTAL = 4  # number of occurrences
LAST_ROW = 5  # last document it occurred in
LAST_AT = 6  # position of its count in that document
FIELDS = 8


@strict_kernel
def fill_buckets(buckets, records, n_words):
    """Insert all words into empty buckets."""
    mask = buckets.shape[0] - 1
    for word in range(n_words):
        bucket = records[word, HASH] & mask
        while buckets[bucket] >= 0:
            bucket = (bucket + 1) & mask
        buckets[bucket] = word


@strict_kernel
def hash_word(head, word, n_bytes):
    """Hash a word's bytes to 64 bits."""
    mixed = (np.uint64(head) ^ np.uint64(n_bytes)) * np.uint64(0x9E3779B97F4A7C15)
    for i in range(8, n_bytes):
        mixed = (mixed ^ np.uint64(word[i])) * np.uint64(0x100000001B3)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    return np.int64(mixed ^ (mixed >> np.uint64(29)))


@strict_kernel
def lookup(buckets, records, letters, word, n_bytes, head, mixed):
    """Return the id of a word, or -1 if it is not in the table, and its bucket."""
    mask = buckets.shape[0] - 1
    bucket = mixed & mask
    while True:
        number = buckets[bucket]
        if number < 0:
            return np.int64(-1), bucket
        if records[number, HEAD] == head and records[number, LENGTH] == n_bytes:
            start = records[number, START]
            i = 8
            while i < n_bytes and letters[start + i] == word[i]:
                i += 1
            if i >= n_bytes:
                return np.int64(number), bucket
        bucket = (bucket + 1) & mask


@strict_kernel
def insert(size, buckets, records, letters, word, n_bytes, head, mixed, bucket):
    """Add a word that `lookup` did not find and for which there is room; return its id."""
    number, used = size[0], size[1]
    buckets[bucket] = number
    records[number, HEAD] = head
    records[number, HASH] = mixed
    records[number, START] = used
    records[number, LENGTH] = n_bytes
    records[number, TOTAL] = 0
    records[number, LAST_ROW] = -1
    for i in range(n_bytes):
        letters[used + i] = word[i]
    size[0] = number + 1
    size[1] = used + n_bytes
    return number


@strict_kernel
def merge_words(size, buckets, records, letters, other_records, other_letters, numbers):
    """Add the words and totals of another table, for which there is room; write each word's id to `numbers`."""
    for i in range(numbers.shape[0]):
        head, mixed = other_records[i, HEAD], other_records[i, HASH]
        start, n_bytes = other_records[i, START], other_records[i, LENGTH]
        word = other_letters[start : start + n_bytes]
        number, bucket = lookup(buckets, records, letters, word, n_bytes, head, mixed)
        if number < 0:
            number = insert(size, buckets, records, letters, word, n_bytes, head, mixed, bucket)
        records[number, TOTAL] += other_records[i, TOTAL]
        numbers[i] = number


@strict_kernel
def count_while_room(
    text, offsets, letters, min_length, as_read, word, first_row, row, at, filled,
    size, buckets, records, known, row_ends, numbers, counts,
):  # fmt: skip
    """Count words from document `row`, byte `at`, until the end or until a new word does not fit into the table.

    A word is a maximal run of characters in `letters`, at least `min_length` long.
    Same numbers as tests/reference/tokenizer.py::count_words (Python, written for reading).
    The table's arrays are never reassigned in this loop, which avoids Numba's reference counting.

    text … as_read             in       as corpus/build/word_table.py::WordTable.count describes them
    word       uint8[n]        scratch  longer than any word
    first_row                  in       number of documents counted into the table before
    size … known               in, out  the table
    row_ends   int64[d + 1]    out      end of each document's row
    numbers    int32[m]        out      word ids, in the order of their first occurrence in a document
    counts     int32[m]        out      their counts

    Returns the document and byte to resume from, the entries filled, and the byte length of the word that did not fit.
    """
    head_bytes = word[:8].view(np.int64)
    while row < offsets.shape[0] - 1:
        end = offsets[row + 1]
        while at < end:
            start = at
            head_bytes[0] = 0
            at, n_bytes, n_letters = next_word(text, at, end, letters, word)
            if n_letters < min_length:
                continue
            head = head_bytes[0]
            mixed = hash_word(head, word, n_bytes)
            number, bucket = lookup(buckets, records, known, word, n_bytes, head, mixed)
            if number < 0:
                if size[0] == records.shape[0] or size[1] + n_bytes > known.shape[0]:
                    return row, start, filled, n_bytes
                number = insert(size, buckets, records, known, word, n_bytes, head, mixed, bucket)
            records[number, TOTAL] += 1
            if records[number, LAST_ROW] == first_row + row and not as_read:
                counts[records[number, LAST_AT]] += 1
            else:
                records[number, LAST_ROW] = first_row + row
                records[number, LAST_AT] = filled
                numbers[filled] = number
                counts[filled] = 1
                filled += 1
        row_ends[row + 1] = filled
        row += 1
        at = end
    return row, at, filled, 0


@strict_kernel
def next_word(text, at, end, letters, word):
    """Read the next run of letters from `at` into `word`; return where it ended, its bytes and its letters."""
    while at < end and text[at] < 0x80 and letters[text[at]] == 0:
        at += 1
    n_bytes = 0
    n_letters = 0
    while at < end:
        first = text[at]
        if first < 0x80:  # ASCII, the common case
            letter = letters[first]
            at += 1
        else:
            letter, at = decode(text, at, letters)
        if letter == 0:
            if n_letters > 0:
                break
        elif letter < 0x80:
            word[n_bytes] = letter
            n_bytes += 1
            n_letters += 1
        else:
            n_bytes = encode(letter, word, n_bytes)
            n_letters += 1
    return at, n_bytes, n_letters


@strict_kernel
def decode(text, at, letters):
    """Decode the code point of two to four bytes at `at`; return its entry in `letters`, and where the next one starts."""
    first = np.uint32(text[at])
    low = np.uint32(0x3F)
    if first < 0xE0:
        point = (first & np.uint32(0x1F)) << 6 | (np.uint32(text[at + 1]) & low)
        at += 2
    elif first < 0xF0:
        point = (first & np.uint32(0x0F)) << 12 | (np.uint32(text[at + 1]) & low) << 6 | (np.uint32(text[at + 2]) & low)
        at += 3
    else:
        point = (first & np.uint32(0x07)) << 18 | (np.uint32(text[at + 1]) & low) << 12
        point |= (np.uint32(text[at + 2]) & low) << 6 | (np.uint32(text[at + 3]) & low)
        at += 4
    if point < letters.shape[0]:
        return letters[point], at
    return np.uint32(0), at


@strict_kernel
def encode(letter, word, at):
    """Write a code point of two to four bytes at `at`; return where the next one goes."""
    if letter < 0x800:
        word[at] = 0xC0 | (letter >> 6)
        word[at + 1] = 0x80 | (letter & 0x3F)
        return at + 2
    if letter < 0x10000:
        word[at] = 0xE0 | (letter >> 12)
        word[at + 1] = 0x80 | ((letter >> 6) & 0x3F)
        word[at + 2] = 0x80 | (letter & 0x3F)
        return at + 3
    word[at] = 0xF0 | (letter >> 18)
    word[at + 1] = 0x80 | ((letter >> 12) & 0x3F)
    word[at + 2] = 0x80 | ((letter >> 6) & 0x3F)
    word[at + 3] = 0x80 | (letter & 0x3F)
    return at + 4


@strict_kernel
def number_ngrams(ends, words, new_number, shortest, longest, n_words, buckets, pairs, n_pairs, totals, out_ends, out):
    """Assign ids to the n-grams of `shortest` to `longest` words in documents stored as token sequences.

    Same numbers as tests/reference/ngrams.py::number_ngrams (Python, written for reading).

    ends        int64[d + 1]   in       end of each document
    words       int32[t]       in       old word ids
    new_number  int32[v]       in       old id -> new id, -1 for a word to leave out
    n_words     int            in       words have ids below this, n-grams from here on
    buckets     int32[b]       in, out  open addressing: id of a pair, or -1; b is a power of two
    pairs       int32[c, 2]    in, out  shorter n-gram and last word; large enough for all that may be added
    n_pairs     int            in       number of pairs so far
    totals      int64[n + c]   in, out  number of occurrences of each word and n-gram, for the requested lengths
    out_ends    int64[d + 1]   out      end of each document's n-grams
    out         int32[m]       out      their ids

    Returns the updated number of pairs.
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
    """Return the id of an n-gram extended by a word, adding it if it is new, and the number of pairs."""
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
    """Insert all pairs into empty buckets."""
    mask = np.uint64(buckets.shape[0] - 1)
    for known in range(n_pairs):
        bucket = mix(np.uint64(pairs[known, 0]) << np.uint64(32) | np.uint64(pairs[known, 1])) & mask
        while buckets[bucket] >= 0:
            bucket = (bucket + np.uint64(1)) & mask
        buckets[bucket] = known
