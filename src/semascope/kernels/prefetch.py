"""Memory prefetching: the rows that a kernel will read next are loaded while it works on others."""

from __future__ import annotations

from numba import types
from numba.core import cgutils

from semascope.kernels.jit import inlined, intrinsic

ir = cgutils.ir  # type: ignore[attr-defined]

READ, KEEP, DATA = 0, 2, 1
"""Arguments of LLVM's prefetch: for reading, high locality, data cache."""

LINE = 16
"""Single-precision numbers in a cache line."""


@inlined
def prefetch_row(table, row):
    """Prefetch a row of a table."""
    prefetch_columns(table, row, 0, table.shape[1])


@inlined
def prefetch_columns(table, row, first, last):
    """Prefetch some columns of a row."""
    for k in range(first, last, LINE):
        prefetch(table, row, k)


@intrinsic
def prefetch(typing_context, table, row, column):
    """Prefetch the memory around an entry of a table; nothing is read, so an index out of bounds does no harm."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        shape, strides = (cgutils.unpack_tuple(builder, part) for part in (array.shape, array.strides))
        places = [builder.sext(place, ir.IntType(64)) if place.type.width < 64 else place for place in arguments[1:]]
        entry = cgutils.get_item_pointer2(context, builder, array.data, shape, strides, "C", places)
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(ask, [builder.bitcast(entry, byte), *(ir.Constant(number, value) for value in (READ, KEEP, DATA))])
        return context.get_dummy_value()

    return types.void(table, row, column), generate
