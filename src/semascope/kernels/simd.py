"""SIMD type for kernels: eight numbers, or groups of eight, in vector registers.

The compiler vectorizes a loop over a long row by itself, but not over short scattered pieces: it cannot rule out that a write
aliases the next read. With this type it need not.
"""

from __future__ import annotations

import operator

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from semascope.kernels.jit import FAST, intrinsic

ir = cgutils.ir  # type: ignore[attr-defined]

WIDTH = 8
"""Numbers in a group of lanes."""

TO_INTEGER = 1.5 * 2.0**52
"""Added to a number of at most 2^51, it leaves the nearest integer in the low bits: the fastest conversion."""

BITS_OF_IT = int(np.array([TO_INTEGER]).view(np.int64)[0])

FLAGS = tuple(sorted(FAST))


class LanesType(types.Type):
    """Type of groups of eight floating-point numbers."""

    def __init__(self, dtype, groups=1):
        self.dtype, self.groups = dtype, groups
        super().__init__(name=f"Lanes({dtype}, {groups})")


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """LLVM representation of lanes: one vector, or an array of several."""

    def __init__(self, manager, lanes):
        vector = ir.VectorType(manager.lookup(lanes.dtype).get_value_type(), WIDTH)
        super().__init__(manager, lanes, vector if lanes.groups == 1 else ir.ArrayType(vector, lanes.groups))


def _create_load(groups):
    """Create an intrinsic that loads this many groups of lanes."""

    @intrinsic
    def load_lanes(typing_context, table, row, column):
        def generate(context, builder, signature, arguments):
            places = _addresses(context, builder, signature.args[0], arguments, groups)
            return _join_groups(builder, [_load(builder, *place) for place in places])

        return LanesType(table.dtype, groups)(table, row, column), generate

    return load_lanes


load, load_three, load_six = _create_load(1), _create_load(3), _create_load(6)
"""Load eight numbers of a row, from a column on; or three or six times as many."""


def _create_spread(groups):
    """Create an intrinsic that broadcasts a number to this many groups of lanes."""

    @intrinsic
    def spread_number(typing_context, number):
        def generate(context, builder, signature, arguments):
            return _join_groups(builder, [_spread(builder, arguments[0])] * groups)

        return LanesType(number, groups)(number), generate

    return spread_number


spread, spread_three, spread_six = _create_spread(1), _create_spread(3), _create_spread(6)
"""Broadcast a number to all lanes of one group, three or six."""


@intrinsic
def store(typing_context, table, row, column, lanes):
    """Write lanes to a row, from a column on."""

    def generate(context, builder, signature, arguments):
        *where, numbers = arguments
        places = _addresses(context, builder, signature.args[0], where, lanes.groups)
        for (place, align), group in zip(places, _groups(builder, numbers), strict=True):
            builder.store(group, place).align = align
        return context.get_dummy_value()

    return types.void(table, row, column, lanes), generate


@intrinsic
def add_rounded(typing_context, table, row, column, lanes, scale):
    """Add lanes, times a scale and rounded, to integers of a row; they may be 2^51 at most."""

    def generate(context, builder, signature, arguments):
        *where, numbers, factor = arguments
        integers, doubles = (ir.VectorType(kind, WIDTH) for kind in (ir.IntType(64), ir.DoubleType()))
        places = _addresses(context, builder, signature.args[0], where, lanes.groups)
        for (place, align), group in zip(places, _groups(builder, numbers), strict=True):
            wide = group if group.type == doubles else builder.fpext(group, doubles)
            scaled = builder.fmul(wide, _spread(builder, factor), flags=FLAGS)
            bits = builder.bitcast(builder.fadd(scaled, ir.Constant(doubles, [TO_INTEGER] * WIDTH), flags=FLAGS), integers)
            rounded = builder.sub(bits, ir.Constant(integers, [BITS_OF_IT] * WIDTH))
            builder.store(builder.add(_load(builder, place, align), rounded), place).align = align
        return context.get_dummy_value()

    return types.void(table, row, column, lanes, scale), generate


@intrinsic
def larger(typing_context, a, b):
    """Return the larger number in each lane."""

    def generate(context, builder, signature, arguments):
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return a(a, b), generate


@intrinsic
def total(typing_context, lanes):
    """Return the sum of the lanes."""

    def generate(context, builder, signature, arguments):
        (vector,) = arguments
        number = vector.type.element
        short = "f32" if isinstance(number, ir.FloatType) else "f64"
        kind = ir.FunctionType(number, [number, vector.type])
        add = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.fadd.v{WIDTH}{short}")
        return builder.call(add, [ir.Constant(number, -0.0), vector], fastmath=FLAGS)

    return lanes.dtype(lanes), generate


def _addresses(context, builder, table, arguments, groups):
    """Return the vector addresses of consecutive groups of numbers, and their alignment."""
    if table.layout != "C":
        msg = f"numbers of a row must be contiguous, but the memory layout of the table is {table.layout!r}"
        raise TypingError(msg)
    array = context.make_array(table)(context, builder, arguments[0])
    shape, strides = (cgutils.unpack_tuple(builder, part) for part in (array.shape, array.strides))
    row, column = (builder.sext(at, ir.IntType(64)) if at.type.width < 64 else at for at in arguments[1:])
    number = context.get_value_type(table.dtype)
    align = context.get_abi_sizeof(number)
    for group in range(groups):
        at = [row, builder.add(column, ir.Constant(column.type, group * WIDTH))]
        entry = cgutils.get_item_pointer2(context, builder, array.data, shape, strides, table.layout, at)
        yield builder.bitcast(entry, ir.VectorType(number, WIDTH).as_pointer()), align


def _load(builder, place, align):
    loaded = builder.load(place)
    loaded.align = align
    return loaded


def _spread(builder, number):
    vector = ir.VectorType(number.type, WIDTH)
    undefined, first = ir.Constant(vector, ir.Undefined), ir.Constant(ir.IntType(32), 0)
    one = builder.insert_element(undefined, number, first)
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH))


def _groups(builder, lanes):
    """Return the vectors of lanes."""
    if isinstance(lanes.type, ir.VectorType):
        return [lanes]
    return [builder.extract_value(lanes, group) for group in range(lanes.type.count)]


def _join_groups(builder, groups):
    """Combine vectors to lanes."""
    if len(groups) == 1:
        return groups[0]
    lanes = ir.Constant(ir.ArrayType(groups[0].type, len(groups)), ir.Undefined)
    for number, group in enumerate(groups):
        lanes = builder.insert_value(lanes, group, number)
    return lanes


def _add_arithmetic(function, instruction):
    """Register an arithmetic operator on lanes; one group is broadcast against several."""

    @infer_global(function)
    class LaneByLane(AbstractTemplate):
        def generic(self, arguments, keywords):
            if len(arguments) == 2 and all(isinstance(argument, LanesType) for argument in arguments):
                return signature(max(arguments, key=lambda lanes: lanes.groups), *arguments)
            return None

    @lower_builtin(function, LanesType, LanesType)
    def lane_by_lane(context, builder, signature, arguments):
        many = signature.return_type.groups
        ones, others = (_groups(builder, lanes) for lanes in arguments)
        pairs = zip(*(found * (many // len(found)) for found in (ones, others)), strict=True)
        return _join_groups(builder, [getattr(builder, instruction)(*pair, flags=FLAGS) for pair in pairs])


for _function, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _add_arithmetic(_function, _instruction)
    _add_arithmetic(getattr(operator, f"i{_function.__name__}"), _instruction)
