"""Sources of lines: bytes split into lines, batched, with a position to continue from."""

from __future__ import annotations

import os
import select
import time
import zlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import IO, Any, NamedTuple

from semascope.errors import FormatError, SourceError
from semascope.storage.facts import Fact, Record, Text, Whole
from semascope.streaming.records import KEPT_OF_LONGER, MAX_LINE_LENGTH, Line

MAX_LINES = 256
MAX_BYTES = 1 << 24
MAX_SECONDS = 0.25
"""Limits of a batch in lines, bytes and seconds."""
CHUNK = 1 << 18

Say = Callable[[str], None]
Position = dict[str, Any]

_FILE_FIELDS: dict[str, Fact] = {"offset": Whole(), "line": Whole(), "read_to": Whole(), "head": Text(), "tail": Text()}
FILE_POSITION = Record(_FILE_FIELDS)
PIPE_POSITION = Record({"line": Whole(), "crc": Whole()})
"""Schemas of positions in files and in pipes, as stored in models."""


def check_position(position: Position | None, expected: Record, name: str) -> None:
    """Validate a position stored in a model or a journal."""
    if position is not None and (problem := expected.problem(position, "position")):
        msg = f"{name}: the position that the model stores for this source is invalid: {problem}."
        raise FormatError(msg)


class Batch(NamedTuple):
    """Lines that are learned together, possibly none.

    lines     the lines in order
    line      number of the last one in the source
    position  position after them
    """

    lines: list[Line]
    line: int
    position: Position


class Splitter:
    """Splitter of bytes into lines. Lines that are too long are not kept whole."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[tuple[Line, int]]:
        """Return the lines that end in these bytes, each with its size including the line break."""
        *complete, rest = chunk.split(b"\n")
        found = []
        for part in complete:
            self._keep(part)
            found.append(self._line(1))
        self._keep(rest)
        return found

    def finish(self) -> list[tuple[Line, int]]:
        """Return the last line if it has no line break."""
        return [self._line(0)] if self._size else []

    def forget(self) -> None:
        """Discard an incomplete line."""
        self._pieces, self._size = [], 0

    @property
    def rest(self) -> Line:
        """Incomplete line so far."""
        return Line(b"".join(self._pieces), self._size > MAX_LINE_LENGTH)

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= MAX_LINE_LENGTH:
            self._pieces.append(part)
        else:
            self._pieces = [b"".join([*self._pieces, part])[:KEPT_OF_LONGER]]

    def _line(self, end: int) -> tuple[Line, int]:
        line, size = self.rest, self._size + end
        self.forget()
        return line, size


class Source(ABC):
    """Source of lines."""

    name: str
    """Key of its positions."""

    def __init__(self) -> None:
        self._splitter = Splitter()
        self._ready: deque[tuple[Line, int]] = deque()
        self._ended = False

    def take(self) -> Batch | None:
        """Wait briefly for lines and return those that arrived; None at the end."""
        until = time.monotonic() + MAX_SECONDS
        while not self._ended and len(self._ready) < MAX_LINES and (left := until - time.monotonic()) > 0:
            chunk = self._read(left)
            if chunk is None:
                self._ended = True
                self._ready += self._last_line()
            else:
                self._ready += self._splitter.feed(chunk)
        if self._ended and not self._ready:
            return None
        lines: list[Line] = []
        n_bytes = 0
        while self._ready and len(lines) < MAX_LINES and n_bytes < MAX_BYTES:
            line, size = self._ready.popleft()
            n_bytes += size
            if self._advance(line, size):
                lines.append(line)
        return Batch(lines, *self._current())

    def close(self) -> None:  # noqa: B027  (most have nothing to close)
        """Close the source."""

    @abstractmethod
    def _read(self, seconds: float) -> bytes | None:
        """Return the bytes that arrive within `seconds`, possibly none; None at the end."""

    @abstractmethod
    def _advance(self, line: Line, size: int) -> bool:
        """Advance over a line; return False if it was learned before."""

    @abstractmethod
    def _current(self) -> tuple[int, Position]:
        """Return the number of the last line taken, and the position after it."""

    def _last_line(self) -> list[tuple[Line, int]]:
        return self._splitter.finish()


class Replayable(Source):
    """Source that can only be read from its start: a pipe or a gzipped file.

    If the same lines are replayed, those learned before are skipped; a checksum verifies that they are the same.

    Parameters
    ----------
    file : binary file
        File to read.
    name : str
        Key of its positions.
    before : dict, optional
        Position after the lines to skip.
    """

    def __init__(self, file: IO[bytes], name: str, before: Position | None = None) -> None:
        super().__init__()
        check_position(before, PIPE_POSITION, name)
        self.name = name
        self._file = file
        self._before = before or {"line": 0, "crc": 0}
        self._line = self._crc = 0

    def _advance(self, line: Line, size: int) -> bool:
        self._line += 1
        self._crc = zlib.crc32(line.content + b"\n", self._crc)
        if self._line == self._before["line"] and self._crc != self._before["crc"]:
            msg = f"{self._display_name}: does not begin with the {self._line:,} lines that were learned before."
            raise SourceError(msg)
        return bool(self._line > self._before["line"])

    def _current(self) -> tuple[int, Position]:
        if self._line < self._before["line"]:
            return self._line, self._before
        return self._line, {"line": self._line, "crc": self._crc}

    def _last_line(self) -> list[tuple[Line, int]]:
        last = super()._last_line()
        n_lines = self._line + len(self._ready) + len(last)
        if n_lines < self._before["line"]:
            msg = f"{self._display_name}: ended after {n_lines:,} lines, but {self._before['line']:,} were learned before."
            raise SourceError(msg)
        return last

    @property
    def _display_name(self) -> str:
        return "standard input" if self.name == STANDARD_INPUT else self.name


STANDARD_INPUT = "-"


class Pipe(Replayable):
    """Lines of standard input or a named pipe."""

    def _read(self, seconds: float) -> bytes | None:
        descriptor = self._file.fileno()
        ready, _, _ = select.select([descriptor], [], [], seconds)
        return (os.read(descriptor, CHUNK) or None) if ready else b""


class Packed(Replayable):
    """Lines of a complete gzipped file."""

    def _read(self, seconds: float) -> bytes | None:
        try:
            return self._file.read(CHUNK) or None
        except (EOFError, OSError, zlib.error) as error:
            msg = f"{self.name}: the gzip file is cut short or damaged ({error})."
            raise SourceError(msg) from None

    def close(self) -> None:
        self._file.close()
