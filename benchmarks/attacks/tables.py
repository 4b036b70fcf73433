"""Mutations of tables: Arrow files with other columns, rows, types and bytes."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

Mutation = Callable[[bytes, np.random.Generator], bytes]


def read(content: bytes) -> pa.Table:
    """Read a table from the bytes of its file."""
    return pa.ipc.open_file(io.BytesIO(content)).read_all()


def saved(table: pa.Table, compression: str | None = None) -> bytes:
    """Return the file of a table."""
    file = io.BytesIO()
    with pa.ipc.new_file(file, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return file.getvalue()


def _changed(change: Callable[[pa.Table, np.random.Generator], pa.Table]) -> Mutation:
    return lambda content, rng: saved(change(read(content), rng))


def _one_column(change: Callable[[pa.Table, int], pa.ChunkedArray | pa.Array | None]) -> Mutation:
    """Put something else in the place of a column chosen at random."""

    def mutate(table: pa.Table, rng: np.random.Generator) -> pa.Table:
        number = int(rng.integers(table.num_columns))
        column = change(table, number)
        if column is None:
            return table.remove_column(number)
        return table.set_column(number, table.column_names[number], column)

    return _changed(mutate)


def _renamed(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    names = list(table.column_names)
    names[rng.integers(len(names))] = "renamed"
    return table.rename_columns(names)


def _bits(content: bytes, rng: np.random.Generator) -> bytes:
    flipped = bytearray(content)
    flipped[rng.integers(len(flipped))] ^= 1 << rng.integers(8)
    return bytes(flipped)


def _many_bits(content: bytes, rng: np.random.Generator) -> bytes:
    for _ in range(20):
        content = _bits(content, rng)
    return content


def _footer_bits(content: bytes, rng: np.random.Generator) -> bytes:
    """Flip a bit of the footer, where lengths, offsets and types stand."""
    (length,) = struct.unpack("<i", content[-10:-6])
    flipped = bytearray(content)
    flipped[len(content) - 10 - int(rng.integers(max(length, 1)))] ^= 1 << rng.integers(8)
    return bytes(flipped)


def _buffers(table: pa.Table) -> list[pa.Buffer]:
    found = []
    for column in table.columns:
        for chunk in column.chunks:
            found += [buffer for buffer in chunk.buffers() if buffer is not None and buffer.size >= 8]
    return found


def _written_into(change: Callable[[Any, np.random.Generator], None]) -> Mutation:
    """Write into a buffer of the table where it lies in the file: offsets, or the letters of strings."""

    def mutate(content: bytes, rng: np.random.Generator) -> bytes:
        buffers = _buffers(read(content))
        if not buffers:
            return content
        old = buffers[rng.integers(len(buffers))].to_pybytes()
        place, new = content.find(old), bytearray(old)
        change(new, rng)
        return content[:place] + bytes(new) + content[place + len(old) :] if place >= 0 else content

    return mutate


def _offset(new: bytearray, rng: np.random.Generator) -> None:
    place = 8 * int(rng.integers(len(new) // 8))
    new[place : place + 8] = struct.pack("<q", int(rng.choice(np.array([-1, 2**31, 2**40, 2**62, 7]))))


def _small_offset(new: bytearray, rng: np.random.Generator) -> None:
    place = 4 * int(rng.integers(len(new) // 4))
    new[place : place + 4] = struct.pack("<i", int(rng.choice(np.array([-1, 2**31 - 1, 2**20, 0]))))


def _not_utf8(new: bytearray, rng: np.random.Generator) -> None:
    for _ in range(3):
        new[rng.integers(len(new))] = int(rng.choice(np.array([0xFF, 0xC0, 0x80, 0xED])))


def _first_row_again(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    """Return two rows the same words or ids."""
    rows = table.to_pylist()
    if len(rows) > 1:
        rows[-1] = rows[0]
    return pa.Table.from_pylist(rows, table.schema)


def _lists(table: pa.Table, number: int) -> pa.Array:
    return pa.array([[1, 2]] * table.num_rows)


def _deep(table: pa.Table, number: int) -> pa.Array:
    kind = pa.int8()
    for _ in range(60):
        kind = pa.list_(kind)
    return pa.nulls(table.num_rows, kind)


def _wide(content: bytes, rng: np.random.Generator) -> bytes:
    table = read(content)
    more = {f"c{number}": pa.nulls(table.num_rows, pa.int8()) for number in range(2000)}
    return saved(pa.table({**{name: table[name] for name in table.column_names}, **more}))


def _changed_words(make: Callable[[str], str]) -> Mutation:
    """Change every string of a column of strings."""

    def mutate(table: pa.Table, rng: np.random.Generator) -> pa.Table:
        for number, field in enumerate(table.schema):
            if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
                values = [None if one is None else make(one) for one in table[number].to_pylist()]
                return table.set_column(number, field.name, pa.array(values, field.type))
        return table

    return _changed(mutate)


ALL: dict[str, Mutation] = {
    "a bit": _bits,
    "another bit": _bits,
    "twenty bits": _many_bits,
    "a bit of the footer": _footer_bits,
    "another bit of the footer": _footer_bits,
    "an offset of eight bytes": _written_into(_offset),
    "an offset of four bytes": _written_into(_small_offset),
    "not UTF-8": _written_into(_not_utf8),
    "cut in half": lambda content, rng: content[: len(content) // 2],
    "cut anywhere": lambda content, rng: content[: int(rng.integers(len(content)))],
    "not Arrow": lambda content, rng: b"a,b\n1,2\n" * 20,
    "magic alone": lambda content, rng: b"ARROW1\0\0" + bytes(32) + b"ARROW1",
    "footer of 2 GB": lambda content, rng: content[:-10] + struct.pack("<i", 2**31 - 1) + b"ARROW1",
    "footer of minus one byte": lambda content, rng: content[:-10] + struct.pack("<i", -1) + b"ARROW1",
    "empty file": lambda content, rng: b"",
    "column gone": _one_column(lambda table, number: None),
    "column renamed": _changed(_renamed),
    "all columns gone": _changed(lambda table, rng: table.select([])),
    "column of numbers": _one_column(lambda table, number: pa.array(range(table.num_rows))),
    "column of large numbers": _one_column(lambda table, number: pa.array([2**62] * table.num_rows)),
    "column of fractions": _one_column(lambda table, number: pa.array([0.5] * table.num_rows)),
    "column of nothing": _one_column(lambda table, number: pa.nulls(table.num_rows)),
    "column of missing": _one_column(lambda table, number: pa.nulls(table.num_rows, table.schema[number].type)),
    "column of bytes": _one_column(lambda table, number: pa.array([b"\xff\xfe"] * table.num_rows, pa.binary())),
    "column as dictionary": _one_column(lambda table, number: pa.array(["a"] * table.num_rows).dictionary_encode()),
    "column of lists": _one_column(_lists),
    "column of deep lists": _one_column(_deep),
    "column of negative numbers": _one_column(lambda table, number: pa.array([-1] * table.num_rows, pa.int32())),
    "2,000 columns more": _wide,
    "no rows": _changed(lambda table, rng: table.slice(0, 0)),
    "one row fewer": _changed(lambda table, rng: table.slice(0, max(table.num_rows - 1, 0))),
    "one row more": _changed(lambda table, rng: pa.concat_tables([table, table.slice(0, 1)])),
    "a row twice": _changed(_first_row_again),
    "empty words": _changed_words(lambda word: ""),
    "long words": _changed_words(lambda word: word + "x" * 100_000),
    "words of control characters": _changed_words(lambda word: f"\x1b]0;{word}\x07\n\0"),
    "by lz4": lambda content, rng: saved(read(content), "lz4"),
    "by zstd": lambda content, rng: saved(read(content), "zstd"),
    "columns twice": lambda content, rng: saved(_twice(read(content))),
}


def _twice(table: pa.Table) -> pa.Table:
    for name, column in zip(table.column_names, table.columns, strict=True):
        table = table.append_column(name, column)
    return table
