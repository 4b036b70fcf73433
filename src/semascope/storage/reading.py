"""Reading a directory by memory-map, checking each block the first time it is touched."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.errors import FormatError
from semascope.storage.manifest import BLOCK, Manifest, kind_of, read_manifest

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


@dataclass
class Directory:
    """An opened directory: its facts, arrays and tables."""

    path: Path
    manifest: Manifest
    _checked: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    _arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def facts(self) -> dict[str, Any]:
        """What the writer noted in the manifest."""
        return self.manifest.facts

    def __contains__(self, file_name: str) -> bool:
        return file_name in self.manifest.files

    def array(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Give the rows from `start` to `stop` of an array, read-only and without copying."""
        file_name = f"{name}.npy"
        if name not in self._arrays:
            path = self._file(file_name)
            self._check(path, 0, 1)  # the header
            mapped = np.load(path, mmap_mode="r", allow_pickle=False)
            self._arrays[name] = mapped
        mapped = self._arrays[name]
        rows = mapped[start:stop]
        header = mapped.offset  # type: ignore[attr-defined]
        row_bytes = mapped.strides[0] if mapped.ndim else 0
        first = header + start * row_bytes
        self._check(self._file(file_name), first, first + rows.nbytes)
        return np.asarray(rows)

    def table(self, name: str) -> pl.DataFrame:
        """Give a table, by memory-map."""
        path = self._file(f"{name}.arrow")
        self._check(path, 0, path.stat().st_size)
        return open_table(path)

    def _file(self, file_name: str) -> Path:
        path = self.path / self.manifest.data / file_name
        record = self.manifest.files.get(file_name)
        if record is None:
            msg = f"{self.path}: expected a file {file_name}, but the manifest lists none."
            raise FormatError(msg)
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            msg = f"{path}: is missing; expected a file of {record.size:,} bytes."
            raise FormatError(msg) from None
        if size != record.size:
            msg = f"{path}: expected {record.size:,} bytes, found {size:,}: the file was cut short or replaced."
            raise FormatError(msg)
        return path

    def _check(self, path: Path, first_byte: int, last_byte: int) -> None:
        """Compare the blocks that cover a range of bytes with their checksums, once each."""
        expected = self.manifest.files[path.name].crc32
        checked = self._checked.setdefault(path.name, np.zeros(len(expected), dtype=bool))
        blocks = range(first_byte // BLOCK, min(-(-last_byte // BLOCK), len(expected)))
        if checked[blocks.start : blocks.stop].all():
            return
        with path.open("rb") as file:
            for block in blocks:
                if checked[block]:
                    continue
                file.seek(block * BLOCK)
                if zlib.crc32(file.read(BLOCK)) != expected[block]:
                    msg = f"{path}: was altered: the checksum of bytes {block * BLOCK:,} and on is not the one expected."
                    raise FormatError(msg)
                checked[block] = True


def open_table(path: Path) -> pl.DataFrame:
    """Map an Arrow file; polars itself would copy it into memory."""
    import polars as pl
    import pyarrow as pa

    return pl.DataFrame(pa.ipc.open_file(pa.memory_map(str(path))).read_all())


def open_directory(path: str | Path, kind: str, version: int) -> Directory:
    """Open a directory that should hold `kind`, in `version` or an older one.

    Raises
    ------
    FormatError
        When it is missing, cut short, altered, from a newer release or something else. The sentence names the file.
    """
    path = Path(path)
    directory = Directory(path, read_manifest(path, kind, version))
    for file_name in directory.manifest.files:
        directory._file(file_name)  # sizes are checked now, contents when they are touched
    return directory


def is_directory_of(path: str | Path) -> str | None:
    """Say what kind of semascope directory this is; None when it is none."""
    return kind_of(Path(path))
