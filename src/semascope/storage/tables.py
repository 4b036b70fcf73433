"""Tables in Arrow files, mapped and validated before anything reads them by their own offsets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from semascope.errors import FormatError
from semascope.storage.layout import Column, Table

if TYPE_CHECKING:
    import polars as pl


def map_table(path: Path) -> Any:
    """Map an Arrow file, which polars itself would copy into memory, and validate all that its buffers say of each other.

    Raises
    ------
    FormatError
        When it is no Arrow file, or offsets, lengths, indices or characters in it are not what they must be.
    """
    import pyarrow as pa

    try:
        table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:200]
        msg = f"{path}: expected a table in Arrow's format, but it cannot be read ({reason})."
        raise FormatError(msg) from None
    return table


def open_table(path: Path) -> pl.DataFrame:
    """Map an Arrow file that this process wrote."""
    import polars as pl

    return pl.DataFrame(map_table(path))


def read_table(path: Path, declared: Table, n_rows: int) -> pl.DataFrame:
    """Map a table, and see that it is what was declared."""
    import polars as pl

    table = map_table(path)
    problem = _problem(table, declared, n_rows)
    if problem:
        msg = f"{path}: {problem}."
        raise FormatError(msg)
    return pl.DataFrame(table)


def _problem(table: Any, declared: Table, n_rows: int) -> str | None:
    names = table.schema.names
    if len(set(names)) < len(names):
        return "expected columns of different names, found two of the same"
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
        return "expected an entry in each row, found none in some"
    return None


def _kind(type_: Any) -> str | None:
    """Return what a column of this type is called in declarations; None for types that no column may have."""
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
