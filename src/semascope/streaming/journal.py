"""The journal: lines on disk before they are learned.

A journal file begins with `MAGIC`. Each record is a header (bytes of the body, their CRC-32, the record's number), and the
body: facts in JSON, then the lines, each with its length before it. A record is synced before the next one is begun, so that
only the last can be torn; it was never acknowledged then, and is cut off.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from io import FileIO
from pathlib import Path
from typing import IO, Any, NamedTuple

from semascope.errors import FormatError
from semascope.streaming.model_folder import open_own
from semascope.streaming.records import Line

MAGIC = b"semascope journal 1\n"
_HEADER = struct.Struct("<IIQ")
_LENGTH = struct.Struct("<I")
_TOO_LONG = 1 << 31
"""Set in the length of a line of which only the beginning is there."""


class Record(NamedTuple):
    """What is learned at a time: lines, and facts on where they came from."""

    number: int
    facts: dict[str, Any]
    lines: list[Line]


class Journal:
    """Records that the saved model has not learned, in files of a folder; they are numbered from 1 on and never again.

    Parameters
    ----------
    folder : path
        Where the files are.
    learned : int
        Number of the last record that the saved model has learned.
    """

    def __init__(self, folder: Path, learned: int) -> None:
        self.folder = folder
        self.last = learned
        self._learned = learned
        self._file: FileIO | None = None
        self._size = 0

    @property
    def size(self) -> int:
        """Bytes of records since the journal began anew."""
        return self._size

    def recover(self) -> Iterator[Record]:
        """Return the records that the model has not learned, in order, and cut off a torn one at the end.

        Raises
        ------
        FormatError
            When a record that was whole is damaged or missing.
        """
        paths = self._paths()
        for path in paths:
            for record in _records_of(path, may_be_torn=path == paths[-1]):
                if record.number <= self._learned:
                    continue
                if record.number != self.last + 1:
                    msg = (
                        f"{path}: begins with record {record.number:,}, but the model has learned {self.last:,}: the journal "
                        "is that of another model, or of a later state of this one; move it away to go on without it."
                    )
                    raise FormatError(msg)
                self.last = record.number
                yield record

    def append(self, facts: dict[str, Any], lines: Sequence[Line]) -> int:
        """Put a record on disk and give its number; when this returns, no crash can take it away."""
        body = _packed(facts, lines)
        number = self.last + 1
        record = _HEADER.pack(len(body), _checksum(number, body), number) + body
        if self._file is None:
            self._file = self._new_file(number)
        end = self._file.tell()
        try:
            _write(self._file, record)
            os.fsync(self._file.fileno())
        except OSError as error:
            self._file.seek(self._file.truncate(end))  # what is cut off here need not be found torn later
            error.filename = error.filename or self._file.name
            raise
        self.last, self._size = number, self._size + len(record)
        return number

    def begin_anew(self) -> None:
        """Forget all records: the saved model has learned them."""
        self.close()
        for path in self._paths():
            path.unlink()
        self._learned, self._size = self.last, 0

    def close(self) -> None:
        """Close the file; what is in it stays."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _paths(self) -> list[Path]:
        return sorted(self.folder.glob("journal-*"), key=lambda path: (len(path.name), path.name))

    def _new_file(self, number: int) -> FileIO:
        path = self.folder / f"journal-{number:09d}"
        file: FileIO = open_own(path, "wb", buffering=0)  # type: ignore[assignment]
        try:
            _write(file, MAGIC)
            sync_folder(self.folder)
        except OSError as error:
            file.close()
            path.unlink()
            error.filename = error.filename or str(path)
            raise
        return file


def sync_folder(folder: Path) -> None:
    """Have the operating system put the entries of a folder on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(file: FileIO, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]


def _packed(facts: dict[str, Any], lines: Sequence[Line]) -> bytes:
    said = json.dumps(facts).encode()
    parts = [_LENGTH.pack(len(said)), said]
    for line in lines:
        parts += [_LENGTH.pack(len(line.content) | (_TOO_LONG if line.too_long else 0)), line.content]
    return b"".join(parts)


def _unpacked(number: int, body: bytes) -> Record:
    """Take a record apart; ValueError when it is none."""
    parts, at = [], 0
    while at < len(body):
        (length,) = _LENGTH.unpack(body[at : at + _LENGTH.size].ljust(_LENGTH.size, b"\xff"))
        start, at = at + _LENGTH.size, at + _LENGTH.size + (length & ~_TOO_LONG)
        parts.append(Line(body[start:at], bool(length & _TOO_LONG)))
    if at > len(body) or not parts:
        msg = "its lines do not add up"
        raise ValueError(msg)
    facts = json.loads(parts[0].content)
    if not isinstance(facts, dict):
        msg = "its facts are no object"
        raise ValueError(msg)
    return Record(number, facts, parts[1:])


def _checksum(number: int, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(number.to_bytes(8, "little")))


def _records_of(path: Path, *, may_be_torn: bool) -> Iterator[Record]:
    """Return the records of a file; cut off the last where it is torn."""
    with open_own(path, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        start = file.read(len(MAGIC))
        end = len(start)
        if start != MAGIC:
            if not may_be_torn or not MAGIC.startswith(start.rstrip(b"\0")):
                msg = f"{path}: expected a semascope journal (version 1), but the file begins otherwise."
                raise FormatError(msg)
            end = 0
        while end and (record := _next_record(file, size)) is not None:
            yield record
            end = file.tell()
        if end == size:
            return
        if not may_be_torn or _goes_on(file, end, size):
            msg = f"{path}: was altered: the record at byte {end:,} is not what was written, and others follow it."
            raise FormatError(msg)
        file.truncate(end)
        os.fsync(file.fileno())
    if not end:
        path.unlink()


def _next_record(file: IO[bytes], size: int) -> Record | None:
    """Return the record that begins here; None when it is torn, or when there is no other."""
    header = file.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    length, checksum, number = _HEADER.unpack(header)
    if length > size - file.tell():
        return None
    body = file.read(length)
    if _checksum(number, body) != checksum:
        return None
    try:
        return _unpacked(number, body)
    except (ValueError, RecursionError) as error:
        msg = f"{file.name}: record {number:,} is none of a semascope journal ({error})."
        raise FormatError(msg) from None


def _goes_on(file: IO[bytes], end: int, size: int) -> bool:
    """Tell whether a whole record follows one that is not: it was no crash then that spoiled it."""
    file.seek(end)
    header = file.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return False
    length, _, _ = _HEADER.unpack(header)
    if length > size - file.tell():
        return False
    file.seek(length, os.SEEK_CUR)
    return _next_record(file, size) is not None
