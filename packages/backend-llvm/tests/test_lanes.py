"""Lanes: instructions compiled by LLVM compute what they say, for numbers and for vectors."""

import ctypes
import math

import llvmlite.binding as llvm
import numpy as np
import pytest
from realta_llvm.lanes import Lanes
from realta_llvm.text import Body, Module, Value

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()


def run(write, x, y, width):
    """Runs ``write(lanes, x, y)`` over arrays of `width` elements."""
    bits = x.dtype.itemsize * 8
    module = Module()
    body = Body(module)
    body.lines.append("entry:")
    lanes = Lanes(body, bits, width)
    given = [
        body.value(f"load {lanes.float_type}, ptr %{name}, align 4", lanes.float_type)
        for name in "xy"
    ]
    found = write(lanes, *given)
    body.add(f"store {found.type} {found.text}, ptr %out, align 4")
    body.add("ret void")
    text = ["define void @f(ptr %x, ptr %y, ptr %out) {", *body.lines, "}", *module.lines()]
    parsed = llvm.parse_assembly("\n".join(text))
    parsed.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten()
    )
    engine = llvm.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(engine.get_function_address("f"))
    mask = found.type.rpartition(" ")[2].startswith("i")
    out = np.empty(width, f"i{bits // 8}" if mask else x.dtype)
    call(x.ctypes.data, y.ctypes.data, out.ctypes.data)
    return out


NUMBERS = [-2.5, -0.0, 0.0, 0.5, 1.5, 2.5, math.inf, math.nan] * 2
OTHERS = [1.0, 2.0, -0.0, 0.25, 3.0, -1.0, math.inf, 1.0] * 2
FLOATS = {
    "add": (lambda a, x, y: a.add(x, y), lambda x, y: x + y),
    "sub": (lambda a, x, y: a.sub(x, y), lambda x, y: x - y),
    "mul": (lambda a, x, y: a.mul(x, y), lambda x, y: x * y),
    "div": (lambda a, x, y: a.div(x, y), lambda x, y: x / y),
    "neg": (lambda a, x, y: a.neg(x), lambda x, y: -x),
    "abs": (lambda a, x, y: a.abs(x), lambda x, y: np.abs(x)),
    "copysign": (lambda a, x, y: a.copysign(x, y), np.copysign),
    "sqrt": (lambda a, x, y: a.sqrt(x), lambda x, y: np.sqrt(x)),
    "floor": (lambda a, x, y: a.floor(x), lambda x, y: np.floor(x)),
    "ceil": (lambda a, x, y: a.ceil(x), lambda x, y: np.ceil(x)),
    "trunc": (lambda a, x, y: a.trunc(x), lambda x, y: np.trunc(x)),
    "round_even": (lambda a, x, y: a.round_even(x), lambda x, y: np.rint(x)),
    "select": (lambda a, x, y: a.select(a.compare("olt", x, y), x, y),
               lambda x, y: np.where(x < y, x, y)),
    "constant": (lambda a, x, y: a.add(x, a.constant(0.1)), lambda x, y: x + x.dtype.type(0.1)),
    "lookup": (
        lambda a, x, y: a.lookup([1.0, 2.0, 0.1], a.bit_and(a.compare("olt", x, y), a.integer(2))),
        lambda x, y: np.where(x < y, x.dtype.type(0.1), x.dtype.type(1.0)),
    ),
    "when_any": (
        lambda a, x, y: a.when_any(a.compare("ogt", x, a.constant(2.0)), lambda: a.neg(x), x),
        lambda x, y: -x if (x > 2.0).any() else x,
    ),
}  # fmt: skip


@pytest.mark.parametrize("width", [1, 4, 8, 16])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FLOATS)
def test_instructions_on_floats(name, dtype, width):
    write, reference = FLOATS[name]
    x, y = np.array(NUMBERS[-width:], dtype), np.array(OTHERS[-width:], dtype)
    with np.errstate(all="ignore"):
        expected = reference(x, y).astype(dtype)
    found = run(write, x, y, width)
    assert np.array_equal(found, expected, equal_nan=True)
    assert np.array_equal(np.signbit(found), np.signbit(expected)) or np.isnan(expected).any()


def test_fma_rounds_once():
    x = np.full(8, 1 + 2.0**-12, np.float32)
    minus = np.full(8, -(1 + 2.0**-11), np.float32)
    found = run(lambda a, x, y: a.fma(x, x, y), x, minus, 8)
    assert (found == np.float32(2.0**-24)).all()


def test_masks_are_minus_one_or_zero_and_unordered_comparisons_hold_for_nan():
    x = np.array([1, math.nan, 3, 4], np.float64)
    y = np.full(4, 3.5)
    assert run(lambda a, x, y: a.compare("olt", x, y), x, y, 4).tolist() == [-1, 0, -1, 0]
    assert run(lambda a, x, y: a.compare("ult", x, y), x, y, 4).tolist() == [-1, -1, -1, 0]
    both = run(
        lambda a, x, y: a.bit_and(
            a.compare("olt", x, y), a.bit_not(a.compare("oeq", x, a.constant(1.0)))
        ), x, y, 4,
    )  # fmt: skip
    assert both.tolist() == [0, 0, -1, 0]


def test_integers_wrap_shift_and_convert():
    x = np.array([1.0, -1.0, 3.75, -3.75], np.float32)

    def write(a, x, y):
        whole = a.to_integer(x)
        return a.to_float(a.int_sub(a.shift_left(whole, a.integer(2)), a.integer(1)))

    assert run(write, x, x, 4).tolist() == [3.0, -5.0, 11.0, -13.0]
    found = run(lambda a, x, y: a.shift_right(a.as_integer(x), a.integer(31)), x, x, 4)
    assert found.tolist() == [0, 1, 0, 1]
    found = run(lambda a, x, y: a.shift_right_signed(a.as_integer(x), a.integer(31)), x, x, 4)
    assert found.tolist() == [0, -1, 0, -1]
    limits = run(lambda a, x, y: a.int_max(a.as_integer(x), a.integer(-5)), x, x, 4)
    assert limits.tolist()[1] == -5


def test_float64_in_between():
    x = np.array([1.0, 1e-8, 3.0, 0.1], np.float32)

    def write(a, x, y):
        wide = a.wider()
        return a.shorten(wide.sub(wide.add(a.extend(x), wide.constant(1.0)), wide.constant(1.0)))

    expected = (x.astype(np.float64) + 1.0 - 1.0).astype(np.float32)
    assert run(write, x, x, 4).tolist() == expected.tolist()


def test_a_pattern_is_a_float_with_these_bits():
    x = np.zeros(4, np.float32)
    found = run(lambda a, x, y: a.pattern(0x3F800001), x, x, 4)
    assert found.view(np.uint32).tolist() == [0x3F800001] * 4


def test_values_name_their_types():
    assert Value("%x", "<8 x float>").type == "<8 x float>"
    body = Body(Module())
    assert Lanes(body, 64, 2).constant(1.0) == Value(
        "splat (double 0x3FF0000000000000)", "<2 x double>"
    )
