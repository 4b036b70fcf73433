"""Validating strings in Arrow's view layout, one after the other."""

import struct


def wrong_view_plain(content, is_valid, buffers):
    """The first view that is wrong, or -1: 16 bytes each, which hold a string or tell where it is."""
    for i, valid in enumerate(is_valid):
        view = content[16 * i : 16 * i + 16]
        if valid and not _is_right(view, buffers):
            return i
    return -1


def _is_right(view, buffers):
    (length,) = struct.unpack("<i", view[:4])
    if length < 0:
        return False
    if length <= 12:
        return not any(view[4 + length :]) and _is_text(view[4 : 4 + length])
    number, start = struct.unpack("<ii", view[8:])
    if not 0 <= number < len(buffers) or start < 0 or start + length > len(buffers[number]):
        return False
    text = buffers[number][start : start + length]
    return text[:4] == view[4:8] and _is_text(text)


def _is_text(content):
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
