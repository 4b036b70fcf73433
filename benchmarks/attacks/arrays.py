"""Mutations of arrays: numbers, types, shapes and headers of a .npy file."""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

BOMB = "bomb-went-off"
"""A file that is made where somebody unpickles what lies in a directory."""


@dataclass(frozen=True)
class Target:
    """An array to attack.

    content     bytes of its file
    others      paths of the other arrays of the directory
    dimensions  lengths that anything in the directory has
    bomb        where a pickle would write
    """

    content: bytes
    others: Sequence[Path]
    dimensions: Sequence[int]
    bomb: Path

    @property
    def array(self) -> Any:
        """Load the array, to be written over."""
        return np.load(io.BytesIO(self.content), allow_pickle=False)

    @property
    def body(self) -> bytes:
        """Return what follows the header."""
        return self.array.tobytes()


Mutation = Callable[[Target, np.random.Generator], bytes]


def saved(array: Any) -> bytes:
    """Return the file of an array."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def with_header(text: str, body: bytes, version: tuple[int, int] = (1, 0), length: int | None = None) -> bytes:
    """Return a file with any text for its header."""
    header = text.encode("latin1")
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    form = "<H" if version == (1, 0) else "<I"
    size = min(len(header), 2**16 - 1) if version == (1, 0) else len(header)
    return b"\x93NUMPY" + bytes(version) + struct.pack(form, size if length is None else length) + header + body


def header_of(array: Any, **changes: Any) -> str:
    """Return the header that an array has, with changes."""
    known = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape} | changes
    return repr(known)


# --- numbers ---------------------------------------------------------------------------------------------------------------


def _limits(dtype: Any) -> Any:
    return np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype if dtype.kind in "iu" else np.uint8)


def _placed(choose: Callable[[Any, Target], Any]) -> Mutation:
    """Write a value at a place chosen at random."""

    def mutate(target: Target, rng: np.random.Generator) -> bytes:
        array = target.array
        flat = array.reshape(-1)
        if flat.size:
            place = rng.integers(flat.size)
            with np.errstate(over="ignore"):
                flat[place] = np.asarray(choose(flat[place], target)).astype(array.dtype)
        return saved(array)

    return mutate


def _everywhere(change: Callable[[Any, np.random.Generator], Any]) -> Mutation:
    return lambda target, rng: saved(np.ascontiguousarray(change(target.array, rng)))


def _dimension(target: Target, rng: np.random.Generator) -> bytes:
    number = rng.choice(np.array(target.dimensions))
    return _placed(lambda value, _: number)(target, rng)


def _duplicated(array: Any, rng: np.random.Generator) -> Any:
    if len(array):
        array[rng.integers(len(array))] = array[rng.integers(len(array))]
    return array


def _beside(array: Any, rng: np.random.Generator) -> Any:
    """Write a value over the one beside it."""
    flat = array.reshape(-1)
    if flat.size > 1:
        place = rng.integers(flat.size - 1)
        flat[place + 1] = flat[place]
    return array


NUMBERS: dict[str, Mutation] = {
    "minimum": _placed(lambda value, _: _limits(value.dtype).min),
    "maximum": _placed(lambda value, _: _limits(value.dtype).max),
    "minus one": _placed(lambda value, _: -1),
    "own length": _placed(lambda value, target: len(target.array) if target.array.ndim else 1),
    "a dimension": _dimension,
    "negated": _placed(lambda value, _: -(value.astype(np.float64))),
    "all minimum": _everywhere(lambda array, rng: np.full_like(array, _limits(array.dtype).min)),
    "all maximum": _everywhere(lambda array, rng: np.full_like(array, _limits(array.dtype).max)),
    "all zeros": _everywhere(lambda array, rng: np.zeros_like(array)),
    "permuted": _everywhere(lambda array, rng: rng.permutation(array.reshape(-1)).reshape(array.shape)),
    "reversed": _everywhere(lambda array, rng: array.reshape(-1)[::-1].reshape(array.shape)),
    "duplicated row": _everywhere(_duplicated),
    "as its neighbor": _everywhere(_beside),
}

WHOLE_NUMBERS: dict[str, Mutation] = {
    "one more": _placed(lambda value, _: value.astype(np.float64) + 1),
    "one less": _placed(lambda value, _: value.astype(np.float64) - 1),
    "2**31": _placed(lambda value, _: 2**31),
}

BROKEN_NUMBERS: dict[str, Mutation] = {
    "NaN": _placed(lambda value, _: np.nan),
    "infinity": _placed(lambda value, _: np.inf),
    "minus infinity": _placed(lambda value, _: -np.inf),
    "large": _placed(lambda value, _: 1e30),
    "tiny": _placed(lambda value, _: 1e-320),
    "all NaN": _everywhere(lambda array, rng: np.full_like(array, np.nan)),
    "all negative": _everywhere(lambda array, rng: -np.abs(array) - 1),
}


# --- types and shapes ------------------------------------------------------------------------------------------------------

SAME_SIZE = {"f4": "i4", "i4": "f4", "f8": "i8", "i8": "f8", "i2": "f2", "b1": "u1", "u1": "b1"}


def _same_bytes(target: Target, rng: np.random.Generator) -> bytes:
    array = target.array
    return saved(array.view(SAME_SIZE.get(array.dtype.str[1:], "u1")))


def _converted(dtype: str) -> Mutation:
    def mutate(target: Target, rng: np.random.Generator) -> bytes:
        with np.errstate(all="ignore"):
            return saved(target.array.astype(dtype))

    return mutate


TYPES: dict[str, Mutation] = {
    "other type of the same bytes": _same_bytes,
    "big endian": lambda target, rng: saved(target.array.astype(target.array.dtype.newbyteorder(">"))),
    **{f"as {dtype}": _converted(dtype) for dtype in ("i1", "u2", "i8", "u8", "f2", "f8", "c16", "U8", "?")},
}


def _shaped(change: Callable[[Any], Any]) -> Mutation:
    return lambda target, rng: saved(np.ascontiguousarray(change(np.atleast_1d(target.array))))


def _longer(array: Any) -> Any:
    return np.concatenate([array, array[-1:] if len(array) else np.zeros((1, *array.shape[1:]), array.dtype)])


SHAPES: dict[str, Mutation] = {
    "one row fewer": _shaped(lambda array: array[:-1]),
    "one row more": _shaped(_longer),
    "first row gone": _shaped(lambda array: array[1:]),
    "half the rows": _shaped(lambda array: array[: len(array) // 2]),
    "no rows": _shaped(lambda array: array[:0]),
    "another dimension": _shaped(lambda array: array[..., None]),
    "a dimension before": _shaped(lambda array: array[None]),
    "a single number": lambda target, rng: saved(np.zeros((), target.array.dtype)),
}

TWO_WAY_SHAPES: dict[str, Mutation] = {
    "one column fewer": _shaped(lambda array: array[:, :-1]),
    "one column more": _shaped(lambda array: np.concatenate([array, array[:, -1:]], axis=1)),
    "no columns": _shaped(lambda array: array[:, :0]),
    "transposed": _shaped(lambda array: array.T),
    "flattened": _shaped(lambda array: array.reshape(-1)),
}


# --- files -----------------------------------------------------------------------------------------------------------------


def _lying(shape: Callable[[Any], Any]) -> Mutation:
    return lambda target, rng: with_header(header_of(target.array, shape=shape(target.array)), target.body)


def _of_version(version: tuple[int, int]) -> Mutation:
    return lambda target, rng: with_header(header_of(target.array), target.body, version)


def _bomb(target: Target, rng: np.random.Generator) -> bytes:
    class Bomb:
        def __reduce__(self) -> Any:
            return open, (str(target.bomb), "w")

    return with_header(header_of(target.array, descr="|O"), pickle.dumps(Bomb()))


def _flipped(first: Callable[[bytes], int], last: Callable[[bytes], int]) -> Mutation:
    """Flip a bit somewhere between two bytes."""

    def mutate(target: Target, rng: np.random.Generator) -> bytes:
        content = bytearray(target.content)
        start, stop = first(target.content), last(target.content)
        if start < stop:
            content[rng.integers(start, stop)] ^= 1 << rng.integers(8)
        return bytes(content)

    return mutate


def _body_start(content: bytes) -> int:
    return 10 + struct.unpack("<H", content[8:10])[0]


def _swapped(target: Target, rng: np.random.Generator) -> bytes:
    return target.others[rng.integers(len(target.others))].read_bytes() if target.others else b""


def _fortran(target: Target, rng: np.random.Generator) -> bytes:
    return with_header(header_of(target.array, fortran_order=True), target.body)


FILES: dict[str, Mutation] = {
    "header: more rows": _lying(lambda array: (array.shape[0] + 1, *array.shape[1:]) if array.ndim else (2,)),
    "header: fewer rows": _lying(lambda array: (max(array.shape[0] - 1, 0), *array.shape[1:]) if array.ndim else (0,)),
    "header: 2**62 rows": _lying(lambda array: (2**62, *array.shape[1:])),
    "header: 2**31 rows of nothing": _lying(lambda array: (2**31, 0)),
    "header: 2**65 rows": _lying(lambda array: (2**65, *array.shape[1:])),
    "header: minus one row": _lying(lambda array: (-1, *array.shape[1:])),
    "header: shape of texts": _lying(lambda array: ("4",)),
    "header: shape true": _lying(lambda array: True),
    "header: 40 dimensions": _lying(lambda array: (1,) * 40),
    "header: by column": _fortran,
    "header: objects, a pickle": _bomb,
    "header: version 2": _of_version((2, 0)),
    "header: version 3": _of_version((3, 0)),
    "header: version 9.9": _of_version((9, 9)),
    "header: fields": lambda target, rng: with_header(header_of(target.array, descr=[("a", "<f4"), ("b", "<i4")]), target.body),
    "header: of no bytes": lambda target, rng: with_header(header_of(target.array, descr="|V0"), target.body),
    "header: too long": lambda target, rng: with_header(header_of(target.array), target.body, length=2**16 - 1),
    "header: 4 GB long": lambda target, rng: with_header(header_of(target.array), target.body, (2, 0), length=2**32 - 1),
    "header: too short": lambda target, rng: with_header(header_of(target.array), target.body, length=7),
    "header: 9,000 brackets": lambda target, rng: with_header("[" * 9000, target.body),
    "header: 60,000 minus signs": lambda target, rng: with_header("-" * 60_000 + "1", target.body),
    "header: a call": lambda target, rng: with_header(f"open({str(target.bomb)!r}, 'w')", target.body),
    "header: other keys": lambda target, rng: with_header("{'shape': (1,)}", target.body),
    "not an array": lambda target, rng: b"PK\x03\x04" + bytes(60),
    "empty file": lambda target, rng: b"",
    "magic alone": lambda target, rng: target.content[:6],
    "cut in half": lambda target, rng: target.content[: len(target.content) // 2],
    "a byte more": lambda target, rng: target.content + b"\0",
    "a bit of the header": _flipped(lambda content: 0, _body_start),
    "a bit of the body": _flipped(_body_start, len),
    "another field's file": _swapped,
}

ALL: dict[str, Mutation] = {**NUMBERS, **WHOLE_NUMBERS, **BROKEN_NUMBERS, **TYPES, **SHAPES, **TWO_WAY_SHAPES, **FILES}


def names_for(array: Any) -> list[str]:
    """List the mutations that make sense of an array; those of numbers come twice, for they are written at random places."""
    numbers = [*NUMBERS, *(BROKEN_NUMBERS if array.dtype.kind == "f" else WHOLE_NUMBERS)]
    shapes = [*SHAPES, *(TWO_WAY_SHAPES if array.ndim == 2 else ())]
    return [*numbers, *TYPES, *shapes, *FILES]


def dimensions_of(arrays: Mapping[str, Any]) -> list[int]:
    """List the lengths of all arrays, and their neighbors."""
    lengths = {length for array in arrays.values() for length in array.shape}
    return sorted({length + more for length in lengths for more in (-1, 0, 1)})
