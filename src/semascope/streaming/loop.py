"""The loop: read lines, learn them, save from time to time, until the source ends or a signal arrives."""

from __future__ import annotations

import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from semascope.corpus.readers.files import open_bytes
from semascope.errors import InputError
from semascope.streaming.durable import DurableStream, Learned
from semascope.streaming.records import StreamFields
from semascope.streaming.source import STANDARD_INPUT, Batch, Packed, Pipe, Say, Source
from semascope.streaming.tail import LinesOfFile

Watch = Callable[[Learned | None], None]
"""Callback invoked after every batch with what was learned, or with None if there were no lines."""


class LineSource(Protocol):
    """Source of lines: a file, a pipe or a queue of posted lines."""

    @property
    def name(self) -> str:
        """Key of its positions."""

    def take(self) -> Batch | None:
        """Wait briefly for lines and return those that arrived; None at the end."""


def run(
    stream: DurableStream,
    source: LineSource,
    fields: StreamFields,
    *,
    save_seconds: float,
    watch: Watch,
    stopped: Callable[[], bool] = lambda: False,
) -> None:
    """Learn all lines of a source as they arrive."""
    while not stopped() and (batch := source.take()) is not None:
        watch(stream.learn(batch, source.name, fields) if batch.lines else None)
        stream.save_if_due(save_seconds)


def check_readable(name: str, *, follow: bool, replayed: bool) -> None:
    """Check that a source can be read in this way, previous anything is created.

    Raises
    ------
    InputError
        If it cannot.
    """
    path = Path(name)
    if name == STANDARD_INPUT or (follow and not path.exists()):
        return
    if stat.S_ISDIR(path.stat().st_mode):
        msg = f"{path}: is a folder; a stream is a file of JSON lines, or standard input (-)."
        raise InputError(msg)
    if replayed and _is_regular(path):
        msg = f"{path}: --replayed is for standard input; in a file the position is known."
        raise InputError(msg)
    if follow and _is_gzipped(path):
        msg = f"{path}: is gzipped, so no lines can be appended to it; omit --follow."
        raise InputError(msg)


@contextmanager
def opened_source(stream: DurableStream, name: str, *, follow: bool, replayed: bool, say: Say) -> Iterator[Source]:
    """Open standard input ("-") or a file at the position to continue from."""
    path = Path(name).absolute()
    if name == STANDARD_INPUT:
        yield Pipe(sys.stdin.buffer, name, stream.position(name) if replayed else None)
    elif path.exists() and not _is_regular(path):
        with path.open("rb", buffering=0) as pipe:
            yield Pipe(pipe, STANDARD_INPUT, stream.position(STANDARD_INPUT) if replayed else None)
    else:
        previous = stream.position(str(path))
        packed = path.exists() and _is_gzipped(path)
        file = Packed(open_bytes(path), str(path), previous) if packed else LinesOfFile(path, previous, follow=follow, say=say)
        with closing(file):
            yield file


def _is_regular(path: Path) -> bool:
    return stat.S_ISREG(path.stat().st_mode)


def _is_gzipped(path: Path) -> bool:
    if not _is_regular(path):
        return False
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


@contextmanager
def asked_to_stop() -> Iterator[Callable[[], bool]]:
    """Defer Ctrl-C and SIGTERM, so that no document is half learned; a second signal stops at once."""
    received: list[int] = []
    previous: dict[signal.Signals, Any] = {}

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)
        signal.signal(number, previous[signal.Signals(number)])

    for one in (signal.SIGINT, signal.SIGTERM):
        previous[one] = signal.signal(one, note)
    try:
        yield lambda: bool(received)
    finally:
        for one, handler in previous.items():
            signal.signal(one, handler)
