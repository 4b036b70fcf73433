"""Validation of strings in Arrow's view layout: every view must point to existing bytes, and these must be UTF-8."""

from __future__ import annotations

import numpy as np

from semascope.kernels.jit import strict_kernel

INLINE = 12
"""Strings of up to this many bytes are stored in their view; longer ones store a prefix and an address."""

_HIGH_BITS = np.uint64(0x8080808080808080)
_HIGH_BITS_OF_FIRST = np.uint64(0x8080808000000000)


@strict_kernel
def wrong_view(views, halves, content, valid, first, data, number, n_buffers):
    """Return the first invalid view, of the inline ones (with buffer 0) and those in one buffer; -1 if all are valid.

    Same numbers as tests/reference/views.py::wrong_view_plain (Python, written for reading).

    views      int32[n, 4]   in   length; and up to 12 bytes, or the first 4, the index of a buffer, and the offset in it
    halves     uint64[n, 2]  in   the same
    content    uint8[16 n]   in   the same
    valid      uint8[m]      in   validity bit of each row, from bit `first` on; empty if no row is null
    data       uint8[b]      in   the buffer
    number     int           in   index of the buffer
    n_buffers  int           in   upper bound of buffer indices
    """
    for i in range(views.shape[0]):
        if valid.shape[0] and not (valid[(first + i) >> 3] >> ((first + i) & 7)) & 1:
            continue
        length = np.int64(views[i, 0])
        if length < 0:
            return i
        if length <= INLINE:
            if number == 0 and not is_inline(halves[i, 0], halves[i, 1], content, 16 * i + 4, length):
                return i
        elif views[i, 2] != number:
            if views[i, 2] < 0 or views[i, 2] >= n_buffers:
                return i
        else:
            at = np.int64(views[i, 3])
            if at < 0 or at + length > data.shape[0]:
                return i
            for j in range(4):
                if data[at + j] != content[16 * i + 4 + j]:
                    return i
            if not is_utf8(data, at, at + length):
                return i
    return -1


@strict_kernel
def is_inline(first, second, content, start, length):
    """Return whether an inline view is valid: bytes after the string are zero."""
    if length < 4:
        beyond = first >> np.uint64(32 + 8 * length) | second
    else:
        beyond = second >> np.uint64(8 * (length - 4)) if length < INLINE else np.uint64(0)
    if beyond != np.uint64(0):
        return False
    if first & _HIGH_BITS_OF_FIRST | second & _HIGH_BITS == np.uint64(0):
        return True
    return is_utf8(content, start, start + length)


@strict_kernel
def is_utf8(content, start, end):
    """Return whether bytes are valid UTF-8: shortest encodings, no surrogates, nothing beyond the last code point."""
    together = np.uint8(0)
    for j in range(start, end):
        together |= content[j]
    if together < 0x80:  # ASCII, the common case
        return True
    at = start
    while at < end:
        lead = content[at]
        if lead < 0x80:
            at += 1
            continue
        if lead < 0xC2 or lead > 0xF4:
            return False
        n_more = 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
        if at + n_more >= end:
            return False
        low, high = 0x80, 0xBF
        if lead == 0xE0:
            low = 0xA0
        elif lead == 0xED:
            high = 0x9F
        elif lead == 0xF0:
            low = 0x90
        elif lead == 0xF4:
            high = 0x8F
        if content[at + 1] < low or content[at + 1] > high:
            return False
        for j in range(at + 2, at + 1 + n_more):
            if content[j] & 0xC0 != 0x80:
                return False
        at += 1 + n_more
    return True
