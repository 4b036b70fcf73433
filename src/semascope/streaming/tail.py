"""Lines of a file, from where reading stopped; and those that are appended, through rotation, if it is followed."""

from __future__ import annotations

import glob
import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

from semascope.corpus.readers.jsonl import record_in
from semascope.streaming.records import Line, without_mark
from semascope.streaming.source import CHUNK, FILE_POSITION, Position, Say, Source, check_position

PRINT = 4096
"""Bytes at the beginning of a file, and at the place it was read to, by which it is known again."""
PATIENCE = 1.0
"""Seconds for which a file that was renamed must be quiet before the one in its place is read: its writer may not know yet."""
_LOOK_AGAIN = 0.05


class LinesOfFile(Source):
    """Lines of a file that is not packed.

    Files are known by their contents: inodes are used again, and copies have others. A file that is no longer where it was is
    looked for beside it under a longer name, as rotation gives (`name.1`), and read to its end first.

    Parameters
    ----------
    path : path
        The file; one that is followed may come later.
    before : dict or None
        The position after the lines that were learned before.
    follow : bool
        Wait for lines that are appended.
    say : function
        Told a sentence when the file is not the one that it was.
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
        self._taken = 0  # bytes of the lines that were taken
        self._line = 0
        self._head = self._tail = b""  # the first bytes of the file, and the last that were read
        self._quiet_since = time.monotonic()
        self._open_first(before)

    # --- which file ------------------------------------------------------------------------------------------------------

    def _open_first(self, before: Position | None) -> None:
        beside = self.path.parent.glob(f"{glob.escape(self.path.name)}*") if before else ()
        for path in sorted(beside, key=lambda path: (path != self.path, path)):
            if before and path.is_file() and _is_known(path, before):
                self._open(path, before)
                if path != self.path:
                    self._say(f"{self.path}: is {path.name} now, the rest of which is read first.")
                return
        if self._follow and not self.path.exists():
            self._say(f"{self.path}: there is no such file yet; waiting for it.")
            return
        self._open(self.path)
        if before:
            self._say(f"{self.path}: is another file than the one learned from before; it is read from its start.")

    def _open(self, path: Path, at: Position | None = None) -> None:
        self.close()
        self._file = os.open(path, os.O_RDONLY)
        offset, self._line = (at["offset"], at["line"]) if at else (0, 0)
        if offset and os.pread(self._file, 1, offset - 1) != b"\n" and os.pread(self._file, 1, offset) == b"\n":
            offset += 1  # the last line was taken without its end, which has come since
        self._begin_at(offset)

    def _begin_at(self, offset: int) -> None:
        assert self._file is not None
        size = min(PRINT, offset)
        self._head, self._tail = os.pread(self._file, size, 0), os.pread(self._file, size, offset - size)
        self._read_to = self._taken = offset
        self._quiet_since = time.monotonic()

    def _another_is_there(self) -> bool:
        """Tell whether the path leads to another file now."""
        assert self._file is not None
        with suppress(FileNotFoundError):
            return not os.path.samestat(self.path.stat(), os.fstat(self._file))
        return False

    # --- its bytes -------------------------------------------------------------------------------------------------------

    def _read(self, seconds: float) -> bytes | None:
        if self._file is None:
            if not self.path.exists():
                return _nothing_yet(seconds)
            self._open(self.path)
        assert self._file is not None
        if os.pread(self._file, len(self._tail), self._read_to - len(self._tail)) != self._tail:
            return self._begin_again(seconds)
        chunk = os.pread(self._file, CHUNK, self._read_to)
        if chunk:
            self._read_to += len(chunk)
            self._head = self._head if len(self._head) == PRINT else (self._head + chunk)[:PRINT]
            self._tail = (self._tail + chunk)[-PRINT:]
            self._quiet_since = time.monotonic()
            return chunk
        if self._another_is_there():
            return self._go_over(seconds)
        return _nothing_yet(seconds) if self._follow else None

    def _begin_again(self, seconds: float) -> bytes:
        """Begin again with a file that was emptied or written anew, as rotation by copying does, once all is taken."""
        if self._ready:
            return _nothing_yet(seconds)
        self._say(f"{self.path}: was cut short or written anew; it is read again from its start.")
        self._splitter.forget()
        self._line = 0
        self._begin_at(0)
        return b""

    def _go_over(self, seconds: float) -> bytes:
        """Go over to the file that took the place of this one, once all is taken and this one has been quiet for a while."""
        if self._ready or (self._follow and time.monotonic() - self._quiet_since < PATIENCE):
            return _nothing_yet(seconds)
        self._ready += self._splitter.finish()
        if not self._ready:
            self._open(self.path)
            self._say(f"{self.path}: another file took its place, which is read from its start.")
        return b""

    def _last_line(self) -> list[tuple[Line, int]]:
        """Take a last line without an end only when nothing but its end can be missing."""
        rest = without_mark(self._splitter.rest.content)
        if not rest.strip():
            return []
        try:
            record_in(rest)
        except (ValueError, RecursionError):
            self._say(f"{self.path}: the last line is not complete, and is left for the next time.")
            return []
        return super()._last_line()

    # --- places in it ----------------------------------------------------------------------------------------------------

    def _passed(self, line: Line, size: int) -> bool:
        self._line += 1
        self._taken += size
        return True

    def _place(self) -> tuple[int, Position]:
        prints = {"read_to": self._read_to, "head": _print(self._head), "tail": _print(self._tail)}
        return self._line, {"offset": self._taken, "line": self._line, **prints}

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _is_known(path: Path, position: Position) -> bool:
    """Tell whether a file is the one of a position, perhaps with more at its end."""
    read_to = position["read_to"]
    size = min(PRINT, read_to)
    with path.open("rb") as file:
        head = file.read(size)
        file.seek(read_to - size)
        tail = file.read(size)
    return (_print(head), _print(tail)) == (position["head"], position["tail"])


def _print(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _nothing_yet(seconds: float) -> bytes:
    time.sleep(min(seconds, _LOOK_AGAIN))
    return b""
