"""Files that grow while they are written: nothing has to be in memory whole."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


class GrowingArray:
    """A one-dimensional .npy file that is appended to; its header is put right at the end."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self._dtype = np.dtype(dtype)
        self._length = 0
        self._file: BinaryIO = path.open("wb")
        self._write_header()

    def append(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        values = np.ascontiguousarray(values, dtype=self._dtype)
        self._file.write(values.data)
        self._length += len(values)

    def _write_header(self) -> None:
        # NumPy leaves room in the header for the length to grow, so that it can be written over.
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
    """An Arrow file that frames with the same columns are appended to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: Any = None

    def append(self, frame: pl.DataFrame) -> None:
        """Add the rows of a frame at the end."""
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
