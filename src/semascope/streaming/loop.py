"""The loop: take lines, learn them, save now and then, until there are no more or somebody asks to stop."""

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
"""Called again and again, with what has just been learned for good, or with None when there was nothing."""


class LineSource(Protocol):
    """What gives lines to learn: a file or a pipe, or a queue of what is posted."""

    @property
    def name(self) -> str:
        """What positions in it are kept under."""

    def take(self) -> Batch | None:
        """Wait a moment for lines and return what came; None when there will be no more."""


def run(
    stream: DurableStream,
    source: LineSource,
    fields: StreamFields,
    *,
    save_seconds: float,
    watch: Watch,
    stopped: Callable[[], bool] = lambda: False,
) -> None:
    """Learn all lines of a source as they come."""
    while not stopped() and (batch := source.take()) is not None:
        watch(stream.learn(batch, source.name, fields) if batch.lines else None)
        stream.save_if_due(save_seconds)


def check_readable(name: str, *, follow: bool, replayed: bool) -> None:
    """Refuse a source that cannot be read in this way, before anything is made.

    Raises
    ------
    InputError
        The sentence says why.
    """
    path = Path(name)
    if name == STANDARD_INPUT or (follow and not path.exists()):
        return
    if stat.S_ISDIR(path.stat().st_mode):
        msg = f"{path}: is a folder; a stream is a file of JSON lines, or standard input (-)."
        raise InputError(msg)
    if replayed and _is_plain(path):
        msg = f"{path}: --replayed is for standard input; of a file it is known where to go on."
        raise InputError(msg)
    if follow and _is_packed(path):
        msg = f"{path}: is gzipped, so nothing can be appended that could be followed; leave --follow out."
        raise InputError(msg)


@contextmanager
def opened_source(stream: DurableStream, name: str, *, follow: bool, replayed: bool, say: Say) -> Iterator[Source]:
    """Open standard input ("-") or a file where reading is to go on."""
    path = Path(name).absolute()
    if name == STANDARD_INPUT:
        yield Pipe(sys.stdin.buffer, name, stream.position(name) if replayed else None)
    elif path.exists() and not _is_plain(path):
        with path.open("rb", buffering=0) as pipe:
            yield Pipe(pipe, STANDARD_INPUT, stream.position(STANDARD_INPUT) if replayed else None)
    else:
        before = stream.position(str(path))
        packed = path.exists() and _is_packed(path)
        file = Packed(open_bytes(path), str(path), before) if packed else LinesOfFile(path, before, follow=follow, say=say)
        with closing(file):
            yield file


def _is_plain(path: Path) -> bool:
    return stat.S_ISREG(path.stat().st_mode)


def _is_packed(path: Path) -> bool:
    if not _is_plain(path):
        return False
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


@contextmanager
def asked_to_stop() -> Iterator[Callable[[], bool]]:
    """Note Ctrl-C and SIGTERM rather than being stopped by them, so that no document is half learned; a second one stops."""
    asked: list[int] = []
    before: dict[signal.Signals, Any] = {}

    def note(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        signal.signal(number, before[signal.Signals(number)])

    for one in (signal.SIGINT, signal.SIGTERM):
        before[one] = signal.signal(one, note)
    try:
        yield lambda: bool(asked)
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
