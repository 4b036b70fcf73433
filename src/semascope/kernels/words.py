"""A hash table of words, as plain arrays that its owner makes and grows.

Words are UTF-8 bytes. A word of up to eight bytes is known by those bytes as one integer, so that most look-ups compare two
integers; longer ones are compared byte by byte in `letters`, where all words lie one after the other. All that is known of a
word fills one cache line.

size      int64[2]     number of words; bytes used in letters
buckets   int32[b]     open addressing: number of a word, or -1; b is a power of two, at most half full
records   int64[c, 8]  what is known of each word, see below
letters   uint8[n]     all words, one after the other
"""

from __future__ import annotations

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


@strict_kernel
def fill_buckets(buckets, records, n_words):
    """Put all words into empty buckets."""
    mask = buckets.shape[0] - 1
    for word in range(n_words):
        bucket = records[word, HASH] & mask
        while buckets[bucket] >= 0:
            bucket = (bucket + 1) & mask
        buckets[bucket] = word


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
    """Add the words and totals of another table, for which there is room; note each word's number in `numbers`."""
    for i in range(numbers.shape[0]):
        head, mixed = other_records[i, HEAD], other_records[i, HASH]
        start, n_bytes = other_records[i, START], other_records[i, LENGTH]
        word = other_letters[start : start + n_bytes]
        number, bucket = find(buckets, records, letters, word, n_bytes, head, mixed)
        if number < 0:
            number = insert(size, buckets, records, letters, word, n_bytes, head, mixed, bucket)
        records[number, TOTAL] += other_records[i, TOTAL]
        numbers[i] = number
