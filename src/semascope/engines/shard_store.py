"""Locals in files: what stays with a shard between iterations, out of memory."""

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
    """A folder for the files of one run; it is gone afterwards, and so are those that killed runs have left beside it."""
    home = Path(parent or tempfile.gettempdir())
    home.mkdir(parents=True, exist_ok=True)
    for left in home.glob(f"{FOLDER}*"):
        with suppress(FileNotFoundError):  # another run may have removed it meanwhile
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
    """The locals of shards, by number, each array in a file of a folder that may be shared by several processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, number: int) -> Locals:
        """Map the arrays of a shard."""
        files = sorted(self._folder.glob(f"*-{number:06d}.npy"))
        return {file.name.rsplit("-", 1)[0]: open_array(file) for file in files}

    def __setitem__(self, number: int, arrays: Locals) -> None:
        """Write the arrays of a shard. What was mapped before stays as it is: the new file takes the place of the old."""
        old = {file.name for file in self._folder.glob(f"*-{number:06d}.npy")}
        for name, array in arrays.items():
            target, fresh = f"{local_name(name, number)}.npy", self._folder / f"{uuid.uuid4().hex}.new"
            with fresh.open("wb") as file:
                np.save(file, array, allow_pickle=False)
            fresh.replace(self._folder / target)
            old.discard(target)
        for left in old:
            (self._folder / left).unlink(missing_ok=True)


AllLocals = dict[int, Locals] | SpilledLocals
"""The locals of shards, by number."""

RowMaker = Callable[[Locals], "NDArray[Any]"]
"""Makes of the locals of a shard one row for each of its documents."""


def local_name(name: str, number: int | str) -> str:
    """Return the name of the file that holds a local array of a shard; with ``*`` the pattern of those of all shards."""
    return f"{name}-{number}" if isinstance(number, str) else f"{name}-{number:06d}"


def save_locals(draft: Draft, shards: Sequence[ShardRef], kept: AllLocals) -> None:
    """Write the locals of some shards."""
    for shard in shards:
        arrays = kept[shard.number]
        for name, array in arrays.items():
            draft.array(local_name(name, shard.number), array)
        draft.facts["locals"] = list(arrays)


def load_locals(directory: Directory, shards: Sequence[ShardRef], kept: AllLocals, problem: LocalProblem) -> None:
    """Read the locals of some shards that `save_locals` wrote, unless there is a problem with any of them."""
    names = directory.facts["locals"]
    for shard in shards:
        sizes = {"shard_documents": shard.n_documents}
        local = {name: np.array(directory.array(local_name(name, shard.number), sizes=sizes)) for name in names}
        if found := problem(shard, local):
            msg = f"{directory.path}: the arrays of shard {shard.number} do not fit together: {found}."
            raise FormatError(msg)
        kept[shard.number] = local


def new_row_file(path: Path, like: NDArray[Any], n_documents: int) -> None:
    """Make a file for the rows of all documents, each as one of `like`."""
    np.lib.format.open_memmap(path, mode="w+", dtype=like.dtype, shape=(n_documents, *like.shape[1:])).flush()


def write_rows(path: Path, shards: Sequence[ShardRef], kept: AllLocals, rows: RowMaker) -> None:
    """Write what `rows` makes of the locals of some shards into a file with the rows of all documents."""
    table = np.load(path, mmap_mode="r+")
    for shard in shards:
        table[shard.first_document : shard.first_document + shard.n_documents] = rows(kept[shard.number])
    table.flush()


def rows_in_file(path: Path, shards: Sequence[ShardRef], kept: AllLocals, rows: RowMaker) -> NDArray[Any]:
    """What `rows` makes of the locals of all shards, mapped from a file; still readable when that is gone."""
    new_row_file(path, rows(kept[shards[0].number]), sum(shard.n_documents for shard in shards))
    write_rows(path, shards, kept, rows)
    return np.asarray(np.load(path, mmap_mode="r"))
