"""Text to counts: cut UTF-8 text into words and count them per document, in one pass."""

from __future__ import annotations

import numpy as np

from semascope.kernels.compile import strict_kernel
from semascope.kernels.words import LAST_AT, LAST_ROW, TOTAL, find, hash_of, insert


@strict_kernel
def count_while_room(
    text, offsets, letters, min_length, as_read, word, first_row, row, at, filled,
    size, buckets, records, known, row_ends, numbers, counts,
):  # fmt: skip
    """Count words from document `row`, byte `at`, until all are counted or a new word has no room in the table.

    A word is a longest run of characters that `letters` knows, at least `min_length` of them.
    Same numbers as tests/reference/tokens.py::count_words (Python, written for reading).
    The table's arrays never change hands in this loop, which spares Numba its reference counting.

    text … as_read             in       as corpus/wordtable.py::WordTable.count describes them
    word       uint8[n]        scratch  longer than any word
    first_row                  in       documents that were counted into the table before
    size … known               in, out  the table, see kernels/words.py
    row_ends   int64[d + 1]    out      where each document's row ends
    numbers    int32[m]        out      word numbers, in the order of their first use in a document
    counts     int32[m]        out      how often

    Returns the document and byte to go on from, how many entries are filled, and the bytes of the word that had no room.
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
            mixed = hash_of(head, word, n_bytes)
            number, bucket = find(buckets, records, known, word, n_bytes, head, mixed)
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
    """Read from `at` to the end of the next run of letters, into `word`; give where it ended, its bytes and its letters."""
    while at < end and text[at] < 0x80 and letters[text[at]] == 0:
        at += 1
    n_bytes = 0
    n_letters = 0
    while at < end:
        first = text[at]
        if first < 0x80:  # ASCII: nearly always
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
    """Read the code point of two to four bytes at `at`; give what `letters` makes of it, and where the next one starts."""
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
    """Write a code point of two to four bytes at `at`; give where the next one goes."""
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
