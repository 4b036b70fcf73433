"""A hash table of words that grows, as plain arrays.

Words are UTF-8 bytes. A word of up to eight bytes is known by those bytes as one integer, so that most look-ups compare two
integers; longer ones are compared byte by byte in `letters`, where all words lie one after the other. All that is known of a
word fills one cache line.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semascope.kernels.compile import strict_kernel

HEAD = 0  # first eight bytes of the word, the rest zero
HASH = 1
START = 2  # the word is letters[START:START + LENGTH]
LENGTH = 3
TOTAL = 4  # how often it was met
LAST_ROW = 5  # last document it was met in
LAST_AT = 6  # where that document's count of it stands
FIELDS = 8


class WordTable(NamedTuple):
    """Words and how often they were met.

    size      int64[2]     number of words; bytes used in letters
    buckets   int32[b]     open addressing: number of a word, or -1; b is a power of two, at most half full
    records   int64[c, 8]  what is known of each word
    letters   uint8[n]     all words, one after the other
    """

    size: np.ndarray
    buckets: np.ndarray
    records: np.ndarray
    letters: np.ndarray


@strict_kernel
def new_table(capacity):
    """Make an empty table with room for `capacity` words, a power of two."""
    return WordTable(
        np.zeros(2, np.int64),
        np.full(2 * capacity, -1, np.int32),
        np.empty((capacity, FIELDS), np.int64),
        np.empty(8 * capacity, np.uint8),
    )


@strict_kernel
def grown(table, n_bytes):
    """Copy a table into one with room for twice as many words and for `n_bytes` more letters."""
    n_words, used = table.size
    capacity = 2 * table.records.shape[0]
    letters = np.empty(2 * table.letters.shape[0] + n_bytes, np.uint8)
    letters[:used] = table.letters[:used]
    records = np.empty((capacity, FIELDS), np.int64)
    records[:n_words] = table.records[:n_words]
    buckets = np.full(2 * capacity, -1, np.int32)
    mask = buckets.shape[0] - 1
    for word in range(n_words):
        bucket = records[word, HASH] & mask
        while buckets[bucket] >= 0:
            bucket = (bucket + 1) & mask
        buckets[bucket] = word
    return WordTable(table.size, buckets, records, letters)


@strict_kernel
def has_room(size, records, letters, n_bytes):
    """Tell whether one more word of `n_bytes` fits."""
    return size[0] < records.shape[0] and size[1] + n_bytes <= letters.shape[0]


@strict_kernel
def hash_of(head, word, n_bytes):
    """Mix a word's bytes into 64 bits."""
    mixed = (np.uint64(head) ^ np.uint64(n_bytes)) * np.uint64(0x9E3779B97F4A7C15)
    for i in range(8, n_bytes):
        mixed = (mixed ^ np.uint64(word[i])) * np.uint64(0x100000001B3)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    return np.int64(mixed ^ (mixed >> np.uint64(29)))


@strict_kernel
def find(buckets, records, letters, word, n_bytes, head, mixed):
    """Give the number of a word, -1 when the table does not have it, and its bucket."""
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
    """Add a word that `find` did not have and for which there is room; give its number."""
    number, used = size
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
def merge(table, other):
    """Add the words and totals of `other`; give the table (perhaps a new one) and each word's number in it."""
    n_words, n_bytes = other.size
    while table.records.shape[0] < table.size[0] + n_words or table.letters.shape[0] < table.size[1] + n_bytes:
        table = grown(table, n_bytes)
    return table, _merge_into(table.size, table.buckets, table.records, table.letters, other.records[:n_words], other.letters)


@strict_kernel
def _merge_into(size, buckets, records, letters, other_records, other_letters):
    numbers = np.empty(other_records.shape[0], np.int64)
    for i in range(other_records.shape[0]):
        head, mixed = other_records[i, HEAD], other_records[i, HASH]
        start, n_bytes = other_records[i, START], other_records[i, LENGTH]
        word = other_letters[start : start + n_bytes]
        number, bucket = find(buckets, records, letters, word, n_bytes, head, mixed)
        if number < 0:
            number = insert(size, buckets, records, letters, word, n_bytes, head, mixed, bucket)
        records[number, TOTAL] += other_records[i, TOTAL]
        numbers[i] = number
    return numbers
