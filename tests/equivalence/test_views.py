"""Strings in Arrow's view layout are validated as Arrow itself does in full."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reference.views import wrong_view_plain
from semascope.kernels.views import is_utf8
from semascope.storage.tables import _bytes_of, _validate

TEXTS = st.lists(st.one_of(st.none(), st.text(max_size=40), st.text("abc", max_size=30)), max_size=12)


def altered(texts, places, n_buffers=1):
    """Strings in views, of which some bytes are replaced; their characters stand in so many buffers."""
    array = pa.array(texts, pa.string_view())
    validity, views, *data = (None if buffer is None else bytearray(buffer.to_pybytes()) for buffer in array.buffers())
    data += [bytearray(b"no view leads here") for _ in range(n_buffers - len(data))]
    for which, place, value in places:
        buffer = [views, *data][which % (1 + len(data))]
        if buffer:
            buffer[place % len(buffer)] = value
    buffers = [None if buffer is None else pa.py_buffer(bytes(buffer)) for buffer in (validity, views, *data)]
    return pa.Array.from_buffers(pa.string_view(), len(texts), buffers, null_count=array.null_count)


def is_refused(validate, array):
    try:
        validate(array)
    except (pa.ArrowInvalid, pa.ArrowIndexError):
        return True
    return False


@settings(deadline=None, max_examples=400)
@given(TEXTS, st.lists(st.tuples(st.integers(0, 3), st.integers(0, 500), st.integers(0, 255)), max_size=3), st.integers(1, 3))
@example(["twelve bytes", "thirteen bytes"], [(0, 19, 0x80)], 1)
def test_views_are_refused_just_when_arrow_refuses_them(texts, places, n_buffers):
    array = altered(texts, places, n_buffers)
    by_arrow = is_refused(lambda one: one.validate(full=True), array)
    assert is_refused(lambda one: _validate(pa.table({"word": one})), array) == by_arrow
    _, views, *data = (b"" if buffer is None else buffer.to_pybytes() for buffer in array.buffers())
    assert (wrong_view_plain(views, [text is not None for text in texts], data) >= 0) == by_arrow


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.binary(max_size=8), st.text(max_size=4).map(str.encode)))
@example(b"\xed\xa0\x80")
@example(b"\xf4\x90\x80\x80")
@example(b"\xe0\x9f\xbf")
@example(b"\xf0\x8f\xbf\xbf")
@example(b"\xc1\xbf")
@example(b"ab\xe2\x82")
def test_utf8_is_what_python_decodes(content):
    try:
        content.decode()
        is_text = True
    except UnicodeDecodeError:
        is_text = False
    assert is_utf8(_bytes_of(content), 0, len(content)) == is_text


@pytest.mark.parametrize("first", [0, 1, 9])
def test_views_of_a_slice_are_validated_with_their_nulls(first):
    array = pa.array([None, "a", "beyond twelve bytes", None, "ä" * 9, *[None, "b"] * 5], pa.string_view())[first:]
    _validate(pa.table({"word": array}))


def test_a_count_of_nulls_that_lies_is_refused():
    buffers = pa.array([None, "a", "b"], pa.string_view()).buffers()
    array = pa.Array.from_buffers(pa.string_view(), 3, buffers, null_count=2)
    with pytest.raises(pa.ArrowInvalid):
        _validate(pa.table({"word": array}))


def test_views_with_many_buffers_are_left_to_arrow():
    array = altered(["beyond twelve bytes"], [], n_buffers=80)
    _validate(pa.table({"word": array}))
    assert is_refused(lambda one: _validate(pa.table({"word": one})), altered(["beyond twelve bytes"], [(0, 8, 90)], 80))


def test_views_out_of_line_are_left_to_arrow():
    content = np.frombuffer(b"\0" + pa.array(["a", "b"], pa.string_view()).buffers()[1].to_pybytes(), np.uint8)[1:]
    array = pa.Array.from_buffers(pa.string_view(), 2, [None, pa.py_buffer(content)])
    _validate(pa.table({"word": array}))
