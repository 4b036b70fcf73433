"""Locals of shards in files, to save memory between iterations."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.shards import ShardRef
from semascope.engines.base import LocalProblem, Locals
from semascope.errors import FormatError
from semascope.storage import Directory, Draft, open_array

if TYPE_CHECKING:
    from numpy.typing import NDArray


FOLDER = ".semascope-spill-"

A_DAY = 24 * 3600.0


@contextmanager
def spill_folder(parent: Path | None) -> Iterator[Path]:
    """Create a folder for one run and remove it afterwards, along with leftovers of killed runs."""
    home = Path(parent or tempfile.gettempdir())
    home.mkdir(parents=True, exist_ok=True)
    for leftover in home.glob(f"{FOLDER}*"):
        with suppress(FileNotFoundError):  # another run may have removed it meanwhile
            if not _is_used(leftover):
                shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{FOLDER}{platform.node()}-{os.getpid()}-", dir=home) as folder:
        yield Path(folder)


def _is_used(folder: Path) -> bool:
    """Return whether the process that created a folder still runs; on another machine it is assumed to for a day."""
    machine, process, _ = folder.name.removeprefix(FOLDER).rsplit("-", 2)
    if machine == platform.node() and Path("/proc/self").exists():
        return Path(f"/proc/{process}").exists()
    return time.time() - folder.stat().st_mtime < A_DAY


class SpilledLocals:
    """Mapping of shard number to locals, with each array in a file of a folder that processes may share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, number: int) -> Locals:
        """Memory-map the arrays of a shard."""
        files = sorted(self._folder.glob(f"*-{number:06d}.npy"))
        return {file.name.rsplit("-", 1)[0]: open_array(file) for file in files}

    def __setitem__(self, number: int, arrays: Locals) -> None:
        """Write the arrays of a shard. Files are replaced, so arrays already mapped do not change."""
        old = {file.name for file in self._folder.glob(f"*-{number:06d}.npy")}
        for name, array in arrays.items():
            target, fresh = f"{local_name(name, number)}.npy", self._folder / f"{uuid.uuid4().hex}.new"
            with fresh.open("wb") as file:
                np.save(file, array, allow_pickle=False)
            fresh.replace(self._folder / target)
            old.discard(target)
        for leftover in old:
            (self._folder / leftover).unlink(missing_ok=True)


AllLocals = dict[int, Locals] | SpilledLocals
"""Locals of shards by number."""

RowMaker = Callable[[Locals], "NDArray[Any]"]
"""Function that computes one row per document from the locals of a shard."""


def local_name(name: str, number: int | str) -> str:
    """Return the file name of a local array of a shard; with ``*`` the pattern for all shards."""
    return f"{name}-{number}" if isinstance(number, str) else f"{name}-{number:06d}"


def save_locals(draft: Draft, shards: Sequence[ShardRef], kept: AllLocals) -> None:
    """Write the locals of some shards."""
    for shard in shards:
        arrays = kept[shard.number]
        for name, array in arrays.items():
            draft.array(local_name(name, shard.number), array)
        draft.facts["locals"] = list(arrays)


def load_locals(directory: Directory, shards: Sequence[ShardRef], kept: AllLocals, problem: LocalProblem) -> None:
    """Load the locals of some shards written by `save_locals`, and validate them."""
    names = directory.facts["locals"]
    for shard in shards:
        sizes = {"shard_documents": shard.n_documents}
        local = {name: np.array(directory.array(local_name(name, shard.number), sizes=sizes)) for name in names}
        if reason := problem(shard, local):
            msg = f"{directory.path}: the arrays of shard {shard.number} are inconsistent: {reason}."
            raise FormatError(msg)
        kept[shard.number] = local


def new_row_file(path: Path, like: NDArray[Any], n_documents: int) -> None:
    """Create a file for the rows of all documents, with row shape and dtype of `like`."""
    np.lib.format.open_memmap(path, mode="w+", dtype=like.dtype, shape=(n_documents, *like.shape[1:])).flush()


def write_rows(path: Path, shards: Sequence[ShardRef], kept: AllLocals, rows: RowMaker) -> None:
    """Write the rows of some shards to a file with the rows of all documents."""
    table = np.load(path, mmap_mode="r+")
    for shard in shards:
        table[shard.first_document : shard.first_document + shard.n_documents] = rows(kept[shard.number])
    table.flush()


def rows_in_file(path: Path, shards: Sequence[ShardRef], kept: AllLocals, rows: RowMaker) -> NDArray[Any]:
    """Return the rows of all shards, memory-mapped; readable even after the file is removed."""
    new_row_file(path, rows(kept[shards[0].number]), sum(shard.n_documents for shard in shards))
    write_rows(path, shards, kept, rows)
    return np.asarray(np.load(path, mmap_mode="r"))
