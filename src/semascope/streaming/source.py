"""Lines as they come: cut out of bytes, gathered into batches, and a place noted where reading can go on."""

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
"""A batch is given when it has so many lines or bytes, or when so much time has passed."""
CHUNK = 1 << 18

Say = Callable[[str], None]
Position = dict[str, Any]

_PLACES: dict[str, Fact] = {"offset": Whole(), "line": Whole(), "read_to": Whole(), "head": Text(), "tail": Text()}
FILE_POSITION = Record(_PLACES)
PIPE_POSITION = Record({"line": Whole(), "crc": Whole()})
"""What positions in files and in pipes are, as models keep them."""


def check_position(position: Position | None, expected: Record, name: str) -> None:
    """Validate a position that a model or a journal notes."""
    if position is not None and (problem := expected.problem(position, "position")):
        msg = f"{name}: the model notes where to go on in it, but that is of no use: {problem}."
        raise FormatError(msg)


class Batch(NamedTuple):
    """Lines that are learned together; none when nothing came.

    lines     in their order
    line      number of the last of them in the source
    position  where to go on after them
    """

    lines: list[Line]
    line: int
    position: Position


class Splitter:
    """Cuts bytes into lines. A line that is too long is never kept whole."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[tuple[Line, int]]:
        """Return the lines that end in these bytes, and how many bytes each has with its end."""
        *ended, rest = chunk.split(b"\n")
        found = []
        for part in ended:
            self._keep(part)
            found.append(self._line(1))
        self._keep(rest)
        return found

    def finish(self) -> list[tuple[Line, int]]:
        """Return the last line, which has no end; nothing when there is none."""
        return [self._line(0)] if self._size else []

    def forget(self) -> None:
        """Forget a line of which only a part came."""
        self._pieces, self._size = [], 0

    @property
    def rest(self) -> Line:
        """What came of a line that has not ended."""
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
    """Where lines come from."""

    name: str
    """What positions in it are kept under."""

    def __init__(self) -> None:
        self._splitter = Splitter()
        self._ready: deque[tuple[Line, int]] = deque()
        self._ended = False

    def take(self) -> Batch | None:
        """Wait a moment for lines and give what came; None when there will be no more."""
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
            if self._passed(line, size):
                lines.append(line)
        return Batch(lines, *self._place())

    def close(self) -> None:  # noqa: B027  (most have nothing to close)
        """Let go of what was opened."""

    @abstractmethod
    def _read(self, seconds: float) -> bytes | None:
        """Return bytes that come within so many seconds, perhaps none; None at the end."""

    @abstractmethod
    def _passed(self, line: Line, size: int) -> bool:
        """Note that a line is taken; False when it was learned before."""

    @abstractmethod
    def _place(self) -> tuple[int, Position]:
        """The number of the last line that was taken, and where to go on after it."""

    def _last_line(self) -> list[tuple[Line, int]]:
        return self._splitter.finish()


class Replayable(Source):
    """Lines that can only be read from their start: of a pipe, or of a file that is packed.

    Where the same lines come again, those learned before are passed over; a checksum tells whether they are the same.

    Parameters
    ----------
    file : binary file
        What to read.
    name : str
        What positions are kept under.
    before : dict, optional
        The position after the lines that are to be passed over.
    """

    def __init__(self, file: IO[bytes], name: str, before: Position | None = None) -> None:
        super().__init__()
        check_position(before, PIPE_POSITION, name)
        self.name = name
        self._file = file
        self._before = before or {"line": 0, "crc": 0}
        self._line = self._crc = 0

    def _passed(self, line: Line, size: int) -> bool:
        self._line += 1
        self._crc = zlib.crc32(line.content + b"\n", self._crc)
        if self._line == self._before["line"] and self._crc != self._before["crc"]:
            msg = f"{self._called}: does not begin with the {self._line:,} lines that were learned from it before."
            raise SourceError(msg)
        return bool(self._line > self._before["line"])

    def _place(self) -> tuple[int, Position]:
        if self._line < self._before["line"]:
            return self._line, self._before
        return self._line, {"line": self._line, "crc": self._crc}

    def _last_line(self) -> list[tuple[Line, int]]:
        last = super()._last_line()
        n_lines = self._line + len(self._ready) + len(last)
        if n_lines < self._before["line"]:
            msg = f"{self._called}: ended after {n_lines:,} lines, but {self._before['line']:,} were learned from it before."
            raise SourceError(msg)
        return last

    @property
    def _called(self) -> str:
        return "standard input" if self.name == STANDARD_INPUT else self.name


STANDARD_INPUT = "-"


class Pipe(Replayable):
    """Lines of standard input, or of a named pipe."""

    def _read(self, seconds: float) -> bytes | None:
        descriptor = self._file.fileno()
        ready, _, _ = select.select([descriptor], [], [], seconds)
        return (os.read(descriptor, CHUNK) or None) if ready else b""


class Packed(Replayable):
    """Lines of a gzipped file, which is whole."""

    def _read(self, seconds: float) -> bytes | None:
        try:
            return self._file.read(CHUNK) or None
        except (EOFError, OSError, zlib.error) as error:
            msg = f"{self.name}: the gzip file is cut short or damaged ({error})."
            raise SourceError(msg) from None

    def close(self) -> None:
        self._file.close()
