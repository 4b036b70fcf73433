"""Reading of directories by memory-map, with each block validated on first access."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from semascope.errors import FormatError
from semascope.storage.arrays import Header, MappedArray, check_blocks, map_file, read_header
from semascope.storage.layout import Layout, split_expression
from semascope.storage.manifest import MANIFEST, FileRecord, Manifest, kind_of, read_manifest
from semascope.storage.tables import read_table

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


@dataclass
class Directory:
    """An open directory: its facts, arrays and tables, validated against its layout."""

    path: Path
    manifest: Manifest
    layout: Layout
    _arrays: dict[str, MappedArray] = field(default_factory=dict)
    _mapped: dict[str, tuple[str, FileRecord, NDArray[Any], Header]] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a small pickle: files are mapped again by the reader."""
        return Directory, (self.path, self.manifest, self.layout)

    @property
    def facts(self) -> dict[str, Any]:
        """The facts in the manifest."""
        return self.manifest.facts

    def __contains__(self, file_name: str) -> bool:
        return file_name in self.manifest.files

    def array(
        self, name: str, start: int = 0, stop: int | None = None, *, sizes: Mapping[str, int] | None = None
    ) -> NDArray[Any]:
        """Return rows `start` to `stop` of an array, read-only and without copying.

        `sizes` are those of the array's own dimensions.
        """
        if name not in self._arrays:
            self._arrays[name] = self._map(name, sizes or {})
        return self._arrays[name].part(start, stop)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape in an array's header."""
        return self._content(name)[-1].shape

    def table(self, name: str) -> pl.DataFrame:
        """Open a table by memory-map."""
        declared = self.layout.tables.get(name)
        if declared is None:
            self._refuse(f"a semascope {self.layout.kind} has no table {name!r}")
        path, record = self._file(f"{name}.arrow")
        content = map_file(path)
        check_blocks(path, content, record.crc32)
        return read_table(path, content, declared, self._size(declared.rows))

    def with_layout(self, layout: Layout) -> Directory:
        """Return the directory with another layout, such as that of the specific model; its facts must match."""
        if problem := layout.facts.problem(self.facts, "facts"):
            msg = f"{self.path / MANIFEST}: {problem}."
            raise FormatError(msg)
        return Directory(self.path, self.manifest, layout)

    def _map(self, name: str, sizes: Mapping[str, int]) -> MappedArray:
        declared = self.layout.array(name)
        if declared is None:
            self._refuse(f"a semascope {self.layout.kind} has no array {name!r}")
        path, record, content, header = self._content(name)

        def resolve(dimension: str | int) -> int:
            return dimension if isinstance(dimension, int) else self._size(dimension, sizes)

        rows = None if declared.rows is None else self._pointers(declared.rows)
        total = None if declared.total is None else float(self.facts[declared.total])
        return MappedArray(path, declared, header, content, record, resolve, rows, total)

    def _pointers(self, name: str) -> NDArray[Any]:
        """Map pointers without validation: their use here tolerates any numbers, and they are validated on access."""
        if name not in self._arrays:
            self._arrays[name] = self._map(name, {})
        return self._arrays[name].values

    def _size(self, expression: str, sizes: Mapping[str, int] | None = None) -> int:
        """Return the size of a dimension in this directory."""
        name, more = split_expression(expression)
        if sizes and name in sizes:
            return sizes[name] + more
        if name not in self._sizes:
            self._sizes[name] = self.layout.dimensions[name].size(self)
        return self._sizes[name] + more

    def _file(self, file_name: str) -> tuple[str, FileRecord]:
        """Find a file and check its size; the path is a string, for speed with many files."""
        path = f"{self.path}/{self.manifest.data}/{file_name}"
        record = self.manifest.files.get(file_name)
        if record is None:
            self._refuse(f"expected a file {file_name}, but the manifest lists none")
        try:
            found = os.stat(path)  # noqa: PTH116
        except OSError:
            msg = f"{path}: is missing; expected a file of {record.size:,} bytes."
            raise FormatError(msg) from None
        if not stat.S_ISREG(found.st_mode):  # opening a pipe would block
            msg = f"{path}: expected a file of {record.size:,} bytes, but this is not a regular file."
            raise FormatError(msg)
        if found.st_size != record.size:
            msg = f"{path}: expected {record.size:,} bytes, found {found.st_size:,}: the file was cut short or replaced."
            raise FormatError(msg)
        return path, record

    def _content(self, name: str) -> tuple[str, FileRecord, NDArray[Any], Header]:
        """Open the file of an array by memory-map, and read its header."""
        if name not in self._mapped:
            path, record = self._file(f"{name}.npy")
            content = map_file(path)
            try:
                self._mapped[name] = path, record, content, read_header(path, content)
            except FormatError:
                check_blocks(path, content, record.crc32[:1])  # report accidental damage as such
                raise
        return self._mapped[name]

    def _refuse(self, problem: str) -> NoReturn:
        msg = f"{self.path}: {problem}."
        raise FormatError(msg)


def open_directory(path: str | Path, layout: Layout) -> Directory:
    """Open a directory with the given layout, in its version or an older one.

    Raises
    ------
    FormatError
        If it is missing, truncated, altered, from a newer release or something else. The message names the file.
    """
    path = Path(path)
    directory = Directory(path, read_manifest(path, layout.kind, layout.version), layout).with_layout(layout)
    for file_name in directory.manifest.files:
        directory._file(file_name)  # sizes are checked now, contents on access
    return directory


def is_directory_of(path: str | Path) -> str | None:
    """Return the kind of a semascope directory; None if it is not one."""
    return kind_of(Path(path))
