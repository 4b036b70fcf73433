"""Atomic writing of directories."""

from __future__ import annotations

import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope import __version__
from semascope.errors import FormatError
from semascope.storage.layout import Layout
from semascope.storage.manifest import MANIFEST, Manifest, block_checksums, kind_of

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


_OURS = re.compile(r"(\.manifest-)?(data|part)-[0-9a-f]{12}")
"""Names created by this module only: nothing else in a directory is ever removed."""


@dataclass
class Draft:
    """Directory being written: data files go into `folder`, facts into the manifest; nothing is visible before the end.

    A directory may have parts, which are directories themselves and persist across versions as long as a version names them.
    """

    folder: Path
    layout: Layout
    facts: dict[str, Any] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)
    _new_parts: list[Path] = field(default_factory=list)

    def part(self, name: str | None = None) -> Path:
        """Keep a part of the last version by name, or add a new part; return the path."""
        name = name or f"part-{uuid.uuid4().hex[:12]}"
        path = self.folder.parent / name
        if not path.exists():
            self._new_parts.append(path)
        self.parts.append(name)
        return path

    def discard(self) -> None:
        """Remove all files written so far."""
        for path in (self.folder, *self._new_parts):
            shutil.rmtree(path, ignore_errors=True)

    def array(self, name: str, values: NDArray[Any]) -> None:
        """Write an array that the layout declares."""
        declared = self.layout.array(name)
        if declared is None or values.dtype.name not in declared.dtypes:
            msg = f"the layout of a semascope {self.layout.kind} declares no array {name!r} of type {values.dtype}."
            raise ValueError(msg)
        np.save(self.folder / f"{name}.npy", np.asarray(values, order="C"), allow_pickle=False)

    def table(self, name: str, frame: pl.DataFrame) -> None:
        """Write a table that the layout declares, uncompressed so that it can be memory-mapped."""
        if name not in self.layout.tables:
            msg = f"the layout of a semascope {self.layout.kind} declares no table {name!r}."
            raise ValueError(msg)
        frame.write_ipc(self.folder / f"{name}.arrow", compression="uncompressed")


@contextmanager
def writing(target: str | Path, layout: Layout) -> Iterator[Draft]:
    """Write a new version of `target`, which replaces the old one when the block ends without an error.

    Raises
    ------
    FormatError
        If `target` is something else, which is never overwritten.
    """
    target = Path(target)
    check_target(target, layout.kind)
    made_here = not target.exists()
    target.mkdir(parents=True, exist_ok=True)
    draft = Draft(target / f"data-{uuid.uuid4().hex[:12]}", layout)
    try:
        draft.folder.mkdir()
        yield draft
        _commit(target, draft)
    except BaseException:
        if not _is_current(target, draft):  # Ctrl-C may come after the commit
            draft.discard()
        if made_here and not any(target.iterdir()):
            target.rmdir()
        raise
    _sync(target)
    _sync(target.parent)
    _remove_stale(target, {draft.folder.name, *draft.parts})


def check_target(target: Path, kind: str) -> None:
    """Check that the target is missing, empty, or an older version of the same kind of directory."""
    if target.is_dir():
        unfinished = all(_OURS.fullmatch(entry.name) for entry in target.iterdir())
        if unfinished or kind_of(target) == kind:
            return
        msg = f"{target}: will not write a semascope {kind} over existing files; give another path or remove them first."
        raise FormatError(msg)
    if target.exists():
        msg = f"{target}: will not write a semascope {kind} over a file; give another path or remove it first."
        raise FormatError(msg)


def _commit(target: Path, draft: Draft) -> None:
    """Sync the data, then replace the manifest atomically."""
    paths = sorted(draft.folder.iterdir())
    for path in paths:
        _sync(path)
    _sync(draft.folder)
    manifest = Manifest(
        kind=draft.layout.kind,
        version=draft.layout.version,
        written_by=f"semascope {__version__}",
        data=draft.folder.name,
        files={path.name: block_checksums(path) for path in paths},
        facts=draft.facts,
    )
    fresh = target / f".manifest-{draft.folder.name}"
    fresh.write_text(manifest.to_json(), encoding="utf-8")
    _sync(fresh)
    fresh.replace(target / MANIFEST)


def _is_current(target: Path, draft: Draft) -> bool:
    manifest = target / MANIFEST
    return manifest.is_file() and json.loads(manifest.read_text(encoding="utf-8"))["data"] == draft.folder.name


def _remove_stale(target: Path, current: set[str]) -> None:
    """Remove the replaced version, and leftovers of crashes."""
    for entry in target.iterdir():
        if entry.name in current or not _OURS.fullmatch(entry.name):
            continue
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Sync a file or a folder's entries to disk."""
    if path.is_dir() and os.name == "nt":  # Windows cannot open folders
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
