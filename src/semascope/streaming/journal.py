"""Write-ahead journal of lines.

A journal file begins with `MAGIC`. Each record is a header (length and CRC-32 of the body, record number) and a body: facts
in JSON, then the lines, each preceded by its length. Every record is synced before the next one is written, so only the last
can be torn; that one was never acknowledged and is truncated.
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
"""Flag in the length of a line of which only the beginning is kept."""


class Record(NamedTuple):
    """Lines that are learned together, and facts about their source."""

    number: int
    facts: dict[str, Any]
    lines: list[Line]


class Journal:
    """Records that the saved model has not learned, in files of a folder. Numbers start at 1 and are never reused.

    Parameters
    ----------
    folder : path
        Folder of the files.
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
        """Bytes of records since the journal was last cleared."""
        return self._size

    def recover(self) -> Iterator[Record]:
        """Yield the records that the model has not learned, in order; truncate a torn one at the end.

        Raises
        ------
        FormatError
            If an acknowledged record is damaged or missing.
        """
        paths = self._paths()
        for path in paths:
            for record in _read_records(path, may_be_torn=path == paths[-1]):
                if record.number <= self._learned:
                    continue
                if record.number != self.last + 1:
                    msg = (
                        f"{path}: begins with record {record.number:,}, but the model has learned {self.last:,}: the journal "
                        "belongs to another model, or to a later state of this one; move it away to continue without it."
                    )
                    raise FormatError(msg)
                self.last = record.number
                yield record

    def append(self, facts: dict[str, Any], lines: Sequence[Line]) -> int:
        """Write and sync a record, and return its number."""
        body = _pack(facts, lines)
        number = self.last + 1
        record = _HEADER.pack(len(body), _checksum(number, body), number) + body
        if self._file is None:
            self._file = self._new_file(number)
        end = self._file.tell()
        try:
            _write(self._file, record)
            os.fsync(self._file.fileno())
        except OSError as error:
            self._file.seek(self._file.truncate(end))  # so that recovery finds no torn record
            error.filename = error.filename or self._file.name
            raise
        self.last, self._size = number, self._size + len(record)
        return number

    def clear(self) -> None:
        """Delete all records once the saved model has learned them."""
        self.close()
        for path in self._paths():
            path.unlink()
        self._learned, self._size = self.last, 0

    def close(self) -> None:
        """Close the file; its records stay."""
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
    """Sync the entries of a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(file: FileIO, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]


def _pack(facts: dict[str, Any], lines: Sequence[Line]) -> bytes:
    encoded = json.dumps(facts).encode()
    parts = [_LENGTH.pack(len(encoded)), encoded]
    for line in lines:
        parts += [_LENGTH.pack(len(line.content) | (_TOO_LONG if line.too_long else 0)), line.content]
    return b"".join(parts)


def _unpack(number: int, body: bytes) -> Record:
    """Parse a record; raise ValueError if it is invalid."""
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
        msg = "its facts are not an object"
        raise ValueError(msg)
    return Record(number, facts, parts[1:])


def _checksum(number: int, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(number.to_bytes(8, "little")))


def _read_records(path: Path, *, may_be_torn: bool) -> Iterator[Record]:
    """Yield the records of a file; truncate the last if it is torn."""
    with open_own(path, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        start = file.read(len(MAGIC))
        end = len(start)
        if start != MAGIC:
            if not may_be_torn or not MAGIC.startswith(start.rstrip(b"\0")):
                msg = f"{path}: expected a semascope journal (version 1), but the file begins differently."
                raise FormatError(msg)
            end = 0
        while end and (record := _next_record(file, size)) is not None:
            yield record
            end = file.tell()
        if end == size:
            return
        if not may_be_torn or _whole_record_follows(file, end, size):
            msg = f"{path}: was altered: the record at byte {end:,} is not what was written, and others follow it."
            raise FormatError(msg)
        file.truncate(end)
        os.fsync(file.fileno())
    if not end:
        path.unlink()


def _next_record(file: IO[bytes], size: int) -> Record | None:
    """Return the record that begins here; None if it is torn or missing."""
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
        return _unpack(number, body)
    except (ValueError, RecursionError) as error:
        msg = f"{file.name}: record {number:,} is not a valid journal record ({error})."
        raise FormatError(msg) from None


def _whole_record_follows(file: IO[bytes], end: int, size: int) -> bool:
    """Return whether a whole record follows a broken one, which no crash can have caused."""
    file.seek(end)
    header = file.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return False
    length, _, _ = _HEADER.unpack(header)
    if length > size - file.tell():
        return False
    file.seek(length, os.SEEK_CUR)
    return _next_record(file, size) is not None
