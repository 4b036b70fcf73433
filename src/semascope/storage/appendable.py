"""Append-only files, written without holding the whole in memory."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


class GrowingArray:
    """Append-only, one-dimensional .npy file; its header is corrected at the end."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self._dtype = np.dtype(dtype)
        self._length = 0
        self._file: BinaryIO = path.open("wb")
        self._write_header()

    def append(self, values: NDArray[Any]) -> None:
        """Append values."""
        values = np.ascontiguousarray(values, dtype=self._dtype)
        self._file.write(values.data)
        self._length += len(values)

    def _write_header(self) -> None:
        # NumPy pads the header so that a larger length fits when it is overwritten.
        header = {"descr": np.lib.format.dtype_to_descr(self._dtype), "fortran_order": False, "shape": (self._length,)}
        np.lib.format.write_array_header_1_0(self._file, header)

    def __enter__(self) -> GrowingArray:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._file:
            if kind is None:
                self._file.seek(0)
                self._write_header()


class GrowingTable:
    """Append-only Arrow file for frames with the same columns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: Any = None

    def append(self, frame: pl.DataFrame) -> None:
        """Append the rows of a frame."""
        import polars as pl
        import pyarrow as pa

        table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        if self._writer is None:
            self._writer = pa.ipc.new_file(str(self._path), table.schema)
        self._writer.write_table(table)

    def __enter__(self) -> GrowingTable:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._writer is not None:
            self._writer.close()
