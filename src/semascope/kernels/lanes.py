"""Eight numbers at once: the vector registers of the processor, as a type that kernels can work with.

The compiler makes vector instructions of a loop over a long row by itself. Over short pieces that lie here and there it does
not: it cannot know that what is written in one place is not what is read next in another. With this type it need not know.
"""

from __future__ import annotations

import operator

from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from semascope.kernels.compile import FAST, intrinsic

ir = cgutils.ir  # type: ignore[attr-defined]

WIDTH = 8
"""Numbers in a group of lanes."""

FLAGS = tuple(sorted(FAST))


class LanesType(types.Type):
    """Eight floating-point numbers of a type."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """A vector, as LLVM has it."""

    def __init__(self, manager, lanes):
        super().__init__(manager, lanes, ir.VectorType(manager.lookup(lanes.dtype).get_value_type(), WIDTH))


@intrinsic
def load(typing_context, table, row, column):
    """Eight numbers of a row, from a column on."""

    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], arguments)
        loaded = builder.load(place)
        loaded.align = context.get_abi_sizeof(context.get_value_type(table.dtype))
        return loaded

    return LanesType(table.dtype)(table, row, column), generate


@intrinsic
def store(typing_context, table, row, column, lanes):
    """Write eight numbers into a row, from a column on."""

    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], arguments[:3])
        builder.store(arguments[3], place).align = context.get_abi_sizeof(context.get_value_type(table.dtype))
        return context.get_dummy_value()

    return types.void(table, row, column, lanes), generate


@intrinsic
def spread(typing_context, number):
    """One number in all lanes."""

    def generate(context, builder, signature, arguments):
        vector = ir.VectorType(arguments[0].type, WIDTH)
        undefined, first = ir.Constant(vector, ir.Undefined), ir.Constant(ir.IntType(32), 0)
        one = builder.insert_element(undefined, arguments[0], first)
        return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH))

    return LanesType(number)(number), generate


@intrinsic
def larger(typing_context, a, b):
    """The larger number in each lane."""

    def generate(context, builder, signature, arguments):
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return a(a, b), generate


@intrinsic
def total(typing_context, lanes):
    """Sum of the lanes."""

    def generate(context, builder, signature, arguments):
        (vector,) = arguments
        number = vector.type.element
        short = "f32" if isinstance(number, ir.FloatType) else "f64"
        kind = ir.FunctionType(number, [number, vector.type])
        add = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.fadd.v{WIDTH}{short}")
        return builder.call(add, [ir.Constant(number, -0.0), vector], fastmath=FLAGS)

    return lanes.dtype(lanes), generate


def _place(context, builder, table, arguments):
    """Where the numbers begin, as the address of a vector."""
    array = context.make_array(table)(context, builder, arguments[0])
    shape, strides = (cgutils.unpack_tuple(builder, part) for part in (array.shape, array.strides))
    places = [builder.sext(place, ir.IntType(64)) if place.type.width < 64 else place for place in arguments[1:]]
    entry = cgutils.get_item_pointer2(context, builder, array.data, shape, strides, table.layout, places)
    return builder.bitcast(entry, ir.VectorType(context.get_value_type(table.dtype), WIDTH).as_pointer())


def _add_arithmetic(function, instruction):
    @infer_global(function)
    class LaneByLane(AbstractTemplate):
        def generic(self, arguments, keywords):
            if len(arguments) == 2 and all(isinstance(argument, LanesType) for argument in arguments):
                return signature(arguments[0], *arguments)
            return None

    @lower_builtin(function, LanesType, LanesType)
    def lane_by_lane(context, builder, signature, arguments):
        return getattr(builder, instruction)(*arguments, flags=FLAGS)


for _function, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _add_arithmetic(_function, _instruction)
    _add_arithmetic(getattr(operator, f"i{_function.__name__}"), _instruction)
