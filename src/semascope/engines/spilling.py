"""Locals in files: what stays with a shard between iterations, out of memory."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.engines.base import Locals

if TYPE_CHECKING:
    from numpy.typing import NDArray


FOLDER = ".semascope-spill-"

A_DAY = 24 * 3600.0


@contextmanager
def spill_folder(parent: Path | None) -> Iterator[Path]:
    """A folder for the files of one run; it is gone afterwards, and so are those that killed runs have left beside it."""
    home = Path(parent or tempfile.gettempdir())
    home.mkdir(parents=True, exist_ok=True)
    for left in home.glob(f"{FOLDER}*"):
        if not _is_in_use(left):
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{FOLDER}{platform.node()}-{os.getpid()}-", dir=home) as folder:
        yield Path(folder)


def _is_in_use(folder: Path) -> bool:
    """Whether the process that made a folder is still there; of another machine it is taken to be for a day."""
    machine, process, _ = folder.name.removeprefix(FOLDER).rsplit("-", 2)
    if machine == platform.node() and Path("/proc/self").exists():
        return Path(f"/proc/{process}").exists()
    return time.time() - folder.stat().st_mtime < A_DAY


class SpilledLocals:
    """The locals of shards, by number, each array in a file of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[int, list[str]] = {}

    def __getitem__(self, number: int) -> Locals:
        """Map the arrays of a shard."""
        return {name: np.load(self._file(name, number), mmap_mode="r") for name in self._names[number]}

    def __setitem__(self, number: int, arrays: Locals) -> None:
        """Write the arrays of a shard. What was mapped before stays as it is: the new file takes the place of the old."""
        for name, array in arrays.items():
            fresh = self._folder / f"{local_name(name, number)}.new.npy"
            np.save(fresh, array, allow_pickle=False)
            fresh.replace(self._file(name, number))
        self._names[number] = list(arrays)

    def _file(self, name: str, number: int) -> Path:
        return self._folder / f"{local_name(name, number)}.npy"


def local_name(name: str, number: int) -> str:
    """Name of the file that holds a local array of a shard."""
    return f"{name}-{number:06d}"


def new_row_file(path: Path, like: NDArray[Any], n_documents: int) -> None:
    """Make a file for the rows of all documents, each as one of `like`."""
    np.lib.format.open_memmap(path, mode="w+", dtype=like.dtype, shape=(n_documents, *like.shape[1:])).flush()
