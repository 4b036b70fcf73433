"""Tables in Arrow files, memory-mapped and validated before their offsets are used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.errors import FormatError
from semascope.storage.arrays import map_file
from semascope.storage.layout import Column, Table

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


_MAX_BUFFERS = 64
"""Maximum number of character buffers for the kernel, which passes over the views once per buffer; Arrow handles more."""


def table_in(content: NDArray[np.uint8], path: str | Path) -> Any:
    """Open the table in a mapped Arrow file, which polars would copy, and validate its buffers.

    Raises
    ------
    FormatError
        If it is not an Arrow file, or has invalid offsets, lengths, indices or characters.
    """
    import pyarrow as pa

    try:
        table = pa.ipc.open_file(pa.py_buffer(content)).read_all()
        _validate(table)
    except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:200]
        msg = f"{path}: expected a table in Arrow's format, but it cannot be read ({reason})."
        raise FormatError(msg) from None
    return table


def _validate(table: Any) -> None:
    """Validate a table in full, by Arrow except for string views, where Arrow is slower than all the rest of a model."""
    from pyarrow import types

    table.validate()
    for column in table.columns:
        for chunk in column.chunks:
            if types.is_string_view(chunk.type) and _fits_kernel(chunk.buffers()):
                _validate_views(chunk)
            else:
                chunk.validate(full=True)


def _fits_kernel(buffers: Sequence[Any]) -> bool:
    """Return whether the kernel can validate views: they are aligned, and there are few buffers."""
    return len(buffers) <= _MAX_BUFFERS and buffers[1] is not None and buffers[1].address % 16 == 0


def _validate_views(chunk: Any) -> None:
    """Check that views are within their buffers, and UTF-8. Buffer sizes are already validated."""
    import pyarrow as pa

    from semascope.kernels.views import wrong_view  # imports Numba, which commands that read no table do without

    validity, views, *data = chunk.buffers()
    content = _bytes_of(views)[16 * chunk.offset : 16 * (chunk.offset + len(chunk))]
    halves = content.view(np.uint64).reshape(-1, 2)
    valid = _bytes_of(validity)
    n_nulls = len(chunk) - int(np.unpackbits(valid, bitorder="little")[chunk.offset :][: len(chunk)].sum()) if len(valid) else 0
    if chunk.null_count != n_nulls:
        msg = f"expected {chunk.null_count:,} strings that are null, found {n_nulls:,}"
        raise pa.ArrowInvalid(msg)
    for number, buffer in enumerate(data or [None]):
        wrong = wrong_view(
            content.view(np.int32).reshape(-1, 4), halves, content, valid, chunk.offset, _bytes_of(buffer), number, len(data)
        )
        if wrong >= 0:
            msg = f"string {wrong:,} is out of bounds or not UTF-8"
            raise pa.ArrowInvalid(msg)


def _bytes_of(buffer: Any) -> NDArray[np.uint8]:
    return np.frombuffer(b"" if buffer is None else buffer, np.uint8)


def open_table(path: Path) -> pl.DataFrame:
    """Open an Arrow file that this process wrote, by memory-map."""
    import polars as pl

    return pl.DataFrame(table_in(map_file(path), path))


def read_table(path: str | Path, content: NDArray[np.uint8], declared: Table, n_rows: int) -> pl.DataFrame:
    """Read a table from a mapped file, and validate it against its declaration."""
    import polars as pl

    table = table_in(content, path)
    problem = _problem(table, declared, n_rows)
    if problem:
        msg = f"{path}: {problem}."
        raise FormatError(msg)
    return pl.DataFrame(table)


def _problem(table: Any, declared: Table, n_rows: int) -> str | None:
    names = table.schema.names
    if len(set(names)) < len(names):
        return "expected distinct column names, found a duplicate"
    for name, column in declared.columns.items():
        if column.required and name not in names:
            return f"expected a column {name!r}, found none"
    if table.num_rows != n_rows:
        return f"expected {n_rows:,} rows, found {table.num_rows:,}"
    for name in names:
        expected = declared.columns.get(name, declared.others)
        if expected is None:
            return f"expected the columns {', '.join(declared.columns)}, found another, {name[:40]!r}"
        if wrong := _column_problem(table.column(name), expected):
            return f"column {name[:40]!r}: {wrong}"
    return None


def _column_problem(column: Any, declared: Column) -> str | None:
    if _kind(column.type) not in declared.kinds and "plain" not in declared.kinds:
        return f"expected {' or '.join(declared.kinds)}, found {str(column.type)[:80]}"
    if _kind(column.type) is None:
        return f"expected text, numbers, dates or lists of text, found {str(column.type)[:80]}"
    if not declared.nullable and column.null_count:
        return "expected no missing entries, found some"
    return None


def _kind(type_: Any) -> str | None:
    """Return the declared kind of a column type; None for types that are not allowed."""
    from pyarrow import types

    def is_text(of: Any) -> bool:
        return bool(types.is_string(of) or types.is_large_string(of) or types.is_string_view(of))

    if is_text(type_):
        return "string"
    if (types.is_list(type_) or types.is_large_list(type_)) and is_text(type_.value_type):
        return "strings"
    if types.is_struct(type_) and all(is_text(type_.field(i).type) for i in range(type_.num_fields)):
        return "by_language" if len({type_.field(i).name for i in range(type_.num_fields)}) == type_.num_fields else None
    plain = (types.is_boolean, types.is_integer, types.is_floating, types.is_temporal, types.is_null)
    return "plain" if any(holds(type_) for holds in plain) else None
