"""Memory-mapped arrays: headers are validated at once, entries block by block on first access."""

from __future__ import annotations

import math
import mmap
import os
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from isal.isal_zlib import crc32

from semascope.errors import FormatError
from semascope.storage.layout import ANY, Array
from semascope.storage.manifest import BLOCK, FileRecord

if TYPE_CHECKING:
    from numpy.typing import NDArray

Resolve = Callable[[str | int], int]
"""Function that returns the size of a dimension in a directory."""

_MAGIC = b"\x93NUMPY"
_MAX_HEADER_LENGTH = 1 << 12
_HEADER = re.compile(
    rb"\{'descr': '([<|][a-z][0-9]{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:[0-9]{1,19}, ?)*(?:[0-9]{1,19})?)\), ?\}\s*"
)
"""Headers that NumPy writes for arrays of numbers. Any other header would have to be evaluated."""

_TOTAL_TOLERANCE = 1e-6
"""Relative tolerance of sums, since the stated one was added up in another order."""

_BOOKKEEPING = threading.Lock()

_FEW_BLOCKS = 16
"""Minimum number of blocks worth a second thread."""


@dataclass(frozen=True)
class Header:
    """Header of a .npy file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    column_major: bool
    size: int


def map_file(path: str | Path) -> NDArray[np.uint8]:
    """Map a file into memory, as read-only bytes."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        if not os.fstat(number).st_size:  # an empty file cannot be mapped
            return np.empty(0, np.uint8)
        return np.frombuffer(mmap.mmap(number, 0, access=mmap.ACCESS_READ), np.uint8)
    finally:
        os.close(number)


def read_header(path: str | Path, content: NDArray[np.uint8]) -> Header:
    """Read the header of a .npy file, and check it against the size of the file."""
    start, found, at = content[:_MAX_HEADER_LENGTH].tobytes(), None, 0
    if start.startswith(_MAGIC) and start[6:8] in (b"\x01\x00", b"\x02\x00"):
        width = 2 * start[6]  # bytes of the header's length
        at = 8 + width + int.from_bytes(start[8 : 8 + width], "little")
        found = _HEADER.fullmatch(start, 8 + width, at) if at <= len(start) else None
    if found is None:
        msg = f"{path}: expected an array of numbers as NumPy writes them (.npy, version 1 or 2)."
        raise FormatError(msg)
    shape = tuple(int(length) for length in found[3].split(b",") if length.strip())
    try:
        dtype = np.dtype(found[1].decode())
    except TypeError:
        msg = f"{path}: expected an array of numbers, found the type {found[1].decode()}."
        raise FormatError(msg) from None
    if at + dtype.itemsize * math.prod(shape) != len(content) or at % max(dtype.itemsize, 1) or dtype.hasobject:
        msg = f"{path}: states an array of shape {shape} and type {dtype}, which does not fit a file of {len(content):,} bytes."
        raise FormatError(msg)
    return Header(dtype, shape, found[2] == b"True" and len(shape) > 1, at)


def open_array(path: Path) -> NDArray[Any]:
    """Open an array that this program wrote, by memory-map; NumPy would evaluate the header."""
    content = map_file(path)
    header = read_header(path, content)
    order: Any = "F" if header.column_major else "C"
    return content[header.size :].view(header.dtype).reshape(header.shape, order=order)


def check_blocks(path: str | Path, content: NDArray[np.uint8], expected: Sequence[int]) -> None:
    """Check all blocks of a file against their checksums."""

    def check(block: int) -> None:
        if crc32(content[block * BLOCK : (block + 1) * BLOCK].data) != expected[block]:
            msg = f"{path}: was altered: the checksum of bytes {block * BLOCK:,} and on does not match."
            raise FormatError(msg)

    run_side_by_side(check, range(len(expected)))


def run_side_by_side(check: Callable[[int], None], blocks: Sequence[int]) -> None:
    """Validate blocks, if many on two threads: validation releases the GIL."""
    if len(blocks) < _FEW_BLOCKS:
        for block in blocks:
            check(block)
        return
    half = len(blocks) // 2

    def check_remaining() -> None:
        for block in blocks[half:]:
            check(block)

    rest = _helper().submit(check_remaining)
    try:
        for block in blocks[:half]:
            check(block)
    finally:
        rest.result()


@cache
def _helper() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "validating")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helper.cache_clear)  # threads do not survive a fork


@dataclass
class MappedArray:
    """Memory-mapped array, whose blocks are validated on first access."""

    path: str
    declared: Array
    header: Header
    content: NDArray[np.uint8]
    expected: FileRecord
    resolve: Resolve
    rows: NDArray[np.int64] | None = None
    """The pointers in whose rows entries must ascend."""
    stated_total: float | None = None
    values: NDArray[Any] = field(init=False)
    _checked: NDArray[np.bool_] = field(init=False)
    _total: float = field(default=0.0, init=False)
    _problem: str | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        order: Any = "F" if self.header.column_major else "C"
        self.values = self.content[self.header.size :].view(self.header.dtype).reshape(self.header.shape, order=order)
        self._checked = np.zeros(len(self.expected.crc32), dtype=bool)
        self._check_shape()
        self._low, self._high = self._limit(self.declared.low), self._limit(self.declared.high)

    def part(self, start: int, stop: int | None) -> NDArray[Any]:
        """Return rows of the array, validated, read-only and without copying."""
        if self._problem is not None:
            raise FormatError(self._problem)
        rows = self.values[start:stop] if self.values.ndim else self.values
        first, last = 0, len(self.content)
        if not self.header.column_major and self.values.ndim:
            first = self.header.size + start * self.values.strides[0]
            last = first + rows.nbytes
        self._check(first, last)
        return np.asarray(rows)

    # --- type and shape ------------------------------------------------------------------------------------------------------

    def _check_shape(self) -> None:
        declared, shape, dtype = self.declared, self.header.shape, self.header.dtype
        if dtype.name not in declared.dtypes or not dtype.isnative:
            self._refuse(f"expected numbers of type {' or '.join(declared.dtypes)}, found {dtype.str}")
        if declared.shape is None:
            return
        wanted = tuple(ANY if axis == ANY else self.resolve(axis) for axis in declared.shape)
        fits = len(shape) == len(wanted) and all(axis in (ANY, length) for axis, length in zip(wanted, shape, strict=True))
        is_empty = declared.may_be_empty and len(shape) == len(wanted) and 0 in shape
        if not fits and not is_empty:
            self._refuse(f"expected an array of shape {_format_shape(wanted)}, found {_format_shape(shape)}")

    def _limit(self, limit: float | str | None) -> float | None:
        return self.resolve(limit) if isinstance(limit, str) else limit

    # --- entries -------------------------------------------------------------------------------------------------------------

    def _check(self, first_byte: int, last_byte: int) -> None:
        """Validate the blocks that cover a range of bytes, once each."""
        blocks = range(first_byte // BLOCK, min(-(-last_byte // BLOCK), len(self._checked)))
        if self._checked[blocks.start : blocks.stop].all():
            return
        run_side_by_side(self._check_block, [block for block in blocks if not self._checked[block]])

    def _check_block(self, block: int) -> None:
        content = self.content[block * BLOCK : (block + 1) * BLOCK]
        if crc32(content.data) != self.expected.crc32[block]:
            self._refuse(f"was altered: the checksum of bytes {block * BLOCK:,} and on does not match")
        first = max(block * BLOCK - self.header.size, 0) // self.header.dtype.itemsize
        last = ((block + 1) * BLOCK - self.header.size) // self.header.dtype.itemsize
        entries = self._flat()[first:last]
        if len(entries):
            self._check_range(entries)
            if self.declared.pointers:
                self._check_pointers(first, first + len(entries))
            if self.rows is not None:
                self._check_rows(first, first + len(entries))
        self._mark_checked(block, entries)

    def _flat(self) -> NDArray[Any]:
        """Return all entries in file order."""
        return self.content[self.header.size :].view(self.header.dtype)

    def _check_range(self, entries: NDArray[Any]) -> None:
        entries = entries.view(np.uint8) if entries.dtype == np.bool_ else entries  # a byte may hold other values
        low, high = entries.min(), entries.max()  # NaN if any entry is
        if entries.dtype.kind == "f" and not (np.isfinite(low) and np.isfinite(high)):
            self._refuse("expected finite numbers, found one that is not finite")
        if self._low is not None and low < self._low:
            self._refuse(f"expected no entry below {self._low:,}, found {low:,}")
        if self._high is not None and high > self._high:
            self._refuse(f"expected no entry above {self._high:,}, found {high:,}")

    def _check_pointers(self, first: int, last: int) -> None:
        """Check that entries ascend, across the block boundary too."""
        entries = self.values[max(first - 1, 0) : last]
        if (entries[1:] < entries[:-1]).any():
            self._refuse("expected entries that ascend, found one less than its predecessor")
        if first == 0 and entries[0] != 0:
            self._refuse(f"expected 0 as the first entry, found {entries[0]:,}")
        if last == len(self.values) and entries[-1] != self._high:
            self._refuse(f"expected {self._high:,} as the last entry, found {entries[-1]:,}")

    def _check_rows(self, first: int, last: int) -> None:
        """Check that entries ascend within each row, across the block boundary too."""
        assert self.rows is not None
        first = max(first - 1, 0)
        entries = self.values[first:last]
        starts = self.rows[np.searchsorted(self.rows, first) : np.searchsorted(self.rows, last)] - first
        may_fall = np.zeros(len(entries), dtype=bool)
        may_fall[starts[(starts >= 0) & (starts < len(entries))]] = True  # starts may be out of order if not validated yet
        falls = entries[1:] <= entries[:-1]
        falls &= ~may_fall[1:]
        if falls.any():
            self._refuse("expected entries that ascend within each row, found one that does not")

    def _mark_checked(self, block: int, entries: NDArray[Any]) -> None:
        """Mark a block as valid; once all are, check their sum."""
        sum_here = float(entries.sum(dtype=np.float64)) if self.stated_total is not None and len(entries) else 0.0
        with _BOOKKEEPING:  # several threads may validate one block
            if self._checked[block]:
                return
            self._checked[block] = True
            self._total += sum_here
            is_whole = self._checked.all()
        if self.stated_total is None:
            return
        allowed = _TOTAL_TOLERANCE * max(abs(self.stated_total), 1.0)
        if self._total > self.stated_total + allowed or (is_whole and self._total < self.stated_total - allowed):
            self._refuse(f"expected entries that add up to {self.stated_total:,.1f}, found a sum of {self._total:,.1f}")

    def _refuse(self, problem: str) -> NoReturn:
        """Raise FormatError, now and on every further access."""
        self._problem = f"{self.path}: {problem}."
        raise FormatError(self._problem)


def _format_shape(shape: tuple[str | int, ...]) -> str:
    return f"({', '.join(str(length) for length in shape)})"
