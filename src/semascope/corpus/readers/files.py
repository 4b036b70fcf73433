"""Text files, plain or gzipped, in any encoding, split into UTF-8 blocks of whole lines."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

import polars as pl

from semascope.errors import InputError, SourceError

BLOCK_BYTES = 1 << 23
MAX_ITEMS = 1 << 16
_BOM = codecs.BOM_UTF8
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SPACES = b" \t\r\n"

POLARS_REFUSES = (pl.exceptions.PolarsError, OSError)
"""Errors of polars for bytes that it cannot parse; OSError if they happen to begin like a compressed file."""

T = TypeVar("T")


@dataclass(frozen=True)
class BadRecords:
    """Handling of records that cannot be read: collected in a list, or an error at the first if there is none."""

    notes: list[str] | None

    def add(self, sentence: str, kind: str = "records") -> None:
        """Record the problem of a record, or raise it."""
        if self.notes is None:
            msg = f"{sentence} Fix it, or skip such {kind} with --skip-bad (skip_bad=True)."
            raise SourceError(msg)
        self.notes.append(sentence)


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, decompressing it if gzipped."""
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if zipped else path.open("rb")  # type: ignore[return-value]


def chunks_of(path: Path) -> Iterator[bytes]:
    """Yield a file's bytes, decompressed, in chunks."""
    try:
        with open_bytes(path) as file:
            while chunk := file.read(BLOCK_BYTES):
                yield chunk
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        msg = f"{path}: the gzip file is cut short or damaged ({error})."
        raise SourceError(msg) from None


def first_bytes(path: Path, size: int = 64) -> bytes:
    """Return the first bytes of a file that are neither a byte order mark nor blank."""
    start = next(chunks_of(path), b"")
    if encoding_by_mark(start):
        start = start.decode("utf-16", "replace").encode(errors="replace")
    return start.removeprefix(_BOM).lstrip(_SPACES)[:size]


def checked_encoding(name: str | None) -> str | None:
    """Validate the name of an encoding; return None for UTF-8, which needs no conversion."""
    if name is None:
        return None
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        info = None
    if info is None or not info._is_text_encoding:
        msg = f"there is no encoding {name!r}; common ones are utf-8, utf-16, latin-1 and cp1252."
        raise InputError(msg)
    return None if info.name in ("utf-8", "utf-8-sig") else info.name


def encoding_of(path: Path, encoding: str | None) -> str | None:
    """Return the given encoding, or UTF-16 if the file begins with its byte order mark."""
    return encoding or encoding_by_mark(next(chunks_of(path), b""))


def encoding_by_mark(content: bytes) -> str | None:
    """Return UTF-16 if the content begins with its byte order mark."""
    return "utf-16" if content.startswith(_UTF_16) else None


def blocks_of_lines(path: Path, encoding: str | None = None) -> Iterator[bytes]:
    """Split a file into UTF-8 blocks of whole lines, without a byte order mark."""
    chunks = chunks_of(path) if encoding is None else _in_utf_8(path, encoding)
    rest: list[bytes] = []
    beginning = True
    for chunk in chunks:
        if beginning:
            chunk, beginning = chunk.removeprefix(_BOM), False
        last = chunk.rfind(b"\n")
        if last < 0:  # a line longer than a block
            rest.append(chunk)
            continue
        yield b"".join([*rest, chunk[: last + 1]])
        rest = [chunk[last + 1 :]]
    end = b"".join(rest)
    if end.strip():
        yield end + b"\n"


def lines_of(path: Path, encoding: str | None = None) -> Iterator[str]:
    """Yield the lines of a file with their ends; bytes that are not UTF-8 become lone surrogates, see `undecodable`."""
    for block in blocks_of_lines(path, encoding_of(path, encoding)):
        yield from text_lines(block)


def text_lines(block: bytes) -> list[str]:
    """Split a block into lines with their ends; only line feeds end lines."""
    lines = block.decode("utf-8", "surrogateescape").split("\n")
    return [line + "\n" for line in lines[:-1]]


def in_blocks(items: Iterable[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """Group items into blocks of bounded size."""
    block: list[T] = []
    filled = 0
    for item in items:
        block.append(item)
        filled += size(item)
        if filled >= BLOCK_BYTES or len(block) >= MAX_ITEMS:
            yield block
            block, filled = [], 0
    if block:
        yield block


def undecodable(text: str) -> str | None:
    """Describe the first byte that is not UTF-8 in a text from `lines_of`; None if there is none."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return not_utf_8(ord(text[error.start]) - 0xDC00, error.start)
    return None


def not_utf_8(byte: int, position: int) -> str:
    """Format the message for a byte that is not UTF-8."""
    what_to_do = "name the encoding with --encoding (encoding=), latin-1 for example"
    return f"not UTF-8 (byte 0x{byte:02x} at position {position}); {what_to_do}"


def decode(content: bytes, encoding: str | None) -> str:
    """Decode bytes; ValueError gives the reason."""
    try:
        return content.decode(encoding or "utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        if encoding is None:
            raise ValueError(not_utf_8(content[error.start], error.start)) from None
        raise ValueError(_not_in(encoding, error)) from None
    except UnicodeError as error:
        raise ValueError(_not_in(str(encoding), error)) from None


def _in_utf_8(path: Path, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for chunk in chunks_of(path):
            yield decoder.decode(chunk).encode(errors="replace")
        yield decoder.decode(b"", final=True).encode(errors="replace")
    except UnicodeError as error:
        msg = f"{path}: {_not_in(encoding, error)}."
        raise SourceError(msg) from None


def _not_in(encoding: str, error: UnicodeError) -> str:
    reason = getattr(error, "reason", str(error))
    return f"not {encoding.upper()} ({reason}); name another encoding with --encoding (encoding=)"
