"""Spools of pieces: counted blocks of documents that await their final word ids, in memory or in a file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Piece(NamedTuple):
    """Rows of a block, with word numbers of one table in any order; a row may repeat a word."""

    table: int
    ends: NDArray[np.int64]
    words: NDArray[np.int32]
    counts: NDArray[Any]


class Pieces(Protocol):
    """Spool of pieces: append-only, and iterable any number of times."""

    def append(self, piece: Piece, /) -> None: ...
    def __iter__(self) -> Iterator[Piece]: ...
    def another(self) -> Pieces:
        """Create an empty spool of the same kind."""


class PieceList(list[Piece]):
    """Pieces in memory, dropped at the end of the context."""

    def __init__(self) -> None:
        super().__init__()
        self._others: list[PieceList] = []

    def another(self) -> PieceList:
        self._others.append(PieceList())
        return self._others[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for other in self._others:
            other.__exit__(kind, error, trace)
        self.clear()


class PieceFiles:
    """Pieces in anonymous files of a folder, removed at the end of the context or the process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed when the context ends)
        self._length = 0
        self._others: list[PieceFiles] = []

    def append(self, piece: Piece, /) -> None:
        self._file.seek(self._length)
        for part in piece:
            np.save(self._file, part, allow_pickle=False)
        self._length = self._file.tell()

    def __iter__(self) -> Iterator[Piece]:
        self._file.seek(0)
        while self._file.tell() < self._length:
            table, *arrays = (np.load(self._file, allow_pickle=False) for _ in Piece._fields)
            yield Piece(int(table), *arrays)

    def another(self) -> PieceFiles:
        self._others.append(PieceFiles(self._folder))
        return self._others[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for other in self._others:
            other.__exit__(kind, error, trace)
        self._file.close()
