"""Lines of a file from a stored position, optionally following appended lines through rotation."""

from __future__ import annotations

import glob
import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

from semascope.corpus.readers.jsonl import record_in
from semascope.streaming.records import Line, without_bom
from semascope.streaming.source import CHUNK, FILE_POSITION, Position, Say, Source, check_position

SAMPLE_BYTES = 4096
"""Bytes at the beginning of a file and before the read position that identify it."""
PATIENCE = 1.0
"""Seconds without growth before a renamed file is left for its replacement, as its writer may still hold it."""
_POLL_SECONDS = 0.05


class LinesOfFile(Source):
    """Lines of an uncompressed file.

    Files are identified by content, as inodes are reused and copies change them. If the file was renamed by rotation
    (`name.1`), it is found beside the path and read to its end first.

    Parameters
    ----------
    path : path
        The file; with `follow` it need not exist yet.
    before : dict or None
        Position after the lines learned before.
    follow : bool
        Wait for appended lines.
    say : function
        Callback for messages about replaced files.
    """

    def __init__(self, path: Path, before: Position | None, *, follow: bool, say: Say) -> None:
        super().__init__()
        check_position(before, FILE_POSITION, str(path))
        self.path = path
        self.name = str(path)
        self._follow = follow
        self._say = say
        self._file: int | None = None
        self._read_to = 0  # bytes read of the file
        self._taken = 0  # bytes of the lines taken
        self._line = 0
        self._head = self._tail = b""  # the first bytes of the file, and the last that were read
        self._quiet_since = time.monotonic()
        self._open_first(before)

    # --- which file ------------------------------------------------------------------------------------------------------

    def _open_first(self, before: Position | None) -> None:
        beside = self.path.parent.glob(f"{glob.escape(self.path.name)}*") if before else ()
        for path in sorted(beside, key=lambda path: (path != self.path, path)):
            if before and path.is_file() and _matches(path, before):
                self._open(path, before)
                if path != self.path:
                    self._say(f"{self.path}: was rotated to {path.name}, whose rest is read first.")
                return
        if self._follow and not self.path.exists():
            self._say(f"{self.path}: no such file yet; waiting for it.")
            return
        self._open(self.path)
        if before:
            self._say(f"{self.path}: is not the file learned from before; reading it from its start.")

    def _open(self, path: Path, at: Position | None = None) -> None:
        self.close()
        self._file = os.open(path, os.O_RDONLY)
        offset, self._line = (at["offset"], at["line"]) if at else (0, 0)
        if offset and os.pread(self._file, 1, offset - 1) != b"\n" and os.pread(self._file, 1, offset) == b"\n":
            offset += 1  # the last line was taken without its line break, which was written since
        self._seek(offset)

    def _seek(self, offset: int) -> None:
        assert self._file is not None
        size = min(SAMPLE_BYTES, offset)
        self._head, self._tail = os.pread(self._file, size, 0), os.pread(self._file, size, offset - size)
        self._read_to = self._taken = offset
        self._quiet_since = time.monotonic()

    def _was_replaced(self) -> bool:
        """Return whether the path now leads to another file."""
        assert self._file is not None
        with suppress(FileNotFoundError):
            return not os.path.samestat(self.path.stat(), os.fstat(self._file))
        return False

    # --- its bytes -------------------------------------------------------------------------------------------------------

    def _read(self, seconds: float) -> bytes | None:
        if self._file is None:
            if not self.path.exists():
                return _wait(seconds)
            self._open(self.path)
        assert self._file is not None
        if os.pread(self._file, len(self._tail), self._read_to - len(self._tail)) != self._tail:
            return self._restart(seconds)
        chunk = os.pread(self._file, CHUNK, self._read_to)
        if chunk:
            self._read_to += len(chunk)
            self._head = self._head if len(self._head) == SAMPLE_BYTES else (self._head + chunk)[:SAMPLE_BYTES]
            self._tail = (self._tail + chunk)[-SAMPLE_BYTES:]
            self._quiet_since = time.monotonic()
            return chunk
        if self._was_replaced():
            return self._switch_file(seconds)
        return _wait(seconds) if self._follow else None

    def _restart(self, seconds: float) -> bytes:
        """Restart a file that was truncated or rewritten (as by copytruncate), once all its lines are taken."""
        if self._ready:
            return _wait(seconds)
        self._say(f"{self.path}: was truncated or rewritten; reading it again from its start.")
        self._splitter.forget()
        self._line = 0
        self._seek(0)
        return b""

    def _switch_file(self, seconds: float) -> bytes:
        """Switch to the file that replaced this one, once all lines are taken and this one stopped growing."""
        if self._ready or (self._follow and time.monotonic() - self._quiet_since < PATIENCE):
            return _wait(seconds)
        self._ready += self._splitter.finish()
        if not self._ready:
            self._open(self.path)
            self._say(f"{self.path}: was replaced by another file; reading that from its start.")
        return b""

    def _last_line(self) -> list[tuple[Line, int]]:
        """Return a last line without a line break only if it is complete otherwise."""
        rest = without_bom(self._splitter.rest.content)
        if not rest.strip():
            return []
        try:
            record_in(rest)
        except (ValueError, RecursionError):
            self._say(f"{self.path}: the last line is incomplete and left for the next run.")
            return []
        return super()._last_line()

    # --- places in it ----------------------------------------------------------------------------------------------------

    def _advance(self, line: Line, size: int) -> bool:
        self._line += 1
        self._taken += size
        return True

    def _current(self) -> tuple[int, Position]:
        digests = {"read_to": self._read_to, "head": _digest(self._head), "tail": _digest(self._tail)}
        return self._line, {"offset": self._taken, "line": self._line, **digests}

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _matches(path: Path, position: Position) -> bool:
    """Return whether a file is the one of a position, possibly grown since."""
    read_to = position["read_to"]
    size = min(SAMPLE_BYTES, read_to)
    with path.open("rb") as file:
        head = file.read(size)
        file.seek(read_to - size)
        tail = file.read(size)
    return (_digest(head), _digest(tail)) == (position["head"], position["tail"])


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _wait(seconds: float) -> bytes:
    time.sleep(min(seconds, _POLL_SECONDS))
    return b""
