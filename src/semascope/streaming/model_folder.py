"""The stream folder beside a model: its lock and the bad lines."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from semascope.errors import FormatError, InputError

BAD_LINES = "bad-lines.jsonl"
LOCK = "lock"


def folder_of(model: Path) -> Path:
    """Return the stream folder of a model."""
    return model.with_name(model.name + ".stream")


def open_own(path: Path, mode: str, buffering: int = -1) -> IO[Any]:
    """Open a file of the folder for writing; reject links and anything that is not a regular file."""

    def open_without_links(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o666)

    encoding = None if "b" in mode else "utf-8"
    try:
        file = open(path, mode, buffering, encoding=encoding, opener=open_without_links)  # noqa: SIM115
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        msg = f"{path}: is a link, which is not followed for writing; remove it to continue."
        raise FormatError(msg) from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        msg = f"{path}: expected a file."
        raise FormatError(msg)
    return file


@contextmanager
def locked(folder: Path, model: Path) -> Iterator[None]:
    """Create the folder and hold its lock, as only one process may learn. The lock ends with the process."""
    import fcntl  # not on Windows

    folder.mkdir(parents=True, exist_ok=True)
    with open_own(folder / LOCK, "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip()
            by = f" (PID {holder})" if holder else ""
            msg = f"{model}: another process{by} is learning from a stream into this model; only one can at a time."
            raise InputError(msg) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


class BadLines:
    """File of unreadable lines, each exactly once.

    Lines added after the last save are truncated first, as recovering the journal adds them again.
    """

    def __init__(self, folder: Path, saved_size: int) -> None:
        self.path = folder / BAD_LINES
        if self._size() > saved_size:
            with open_own(self.path, "a+") as file:
                file.truncate(saved_size)

    def add(self, lines: Sequence[dict[str, Any]]) -> None:
        """Append lines; until `sync` they are safe in the journal."""
        with open_own(self.path, "a+") as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)

    def sync(self) -> int:
        """Sync the lines to disk, and return the size of the file."""
        if not self.path.exists():
            return 0
        with self.path.open("rb") as file:
            os.fsync(file.fileno())
        return self._size()

    def _size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0
