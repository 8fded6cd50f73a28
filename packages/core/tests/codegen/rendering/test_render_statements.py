"""Loads, stores, loops, folds, barriers and indices of every kind, as the interpreter has them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from realta.codegen.indices import Axis, Position, greatest, least
from realta.codegen.interpreter import interpret
from realta.codegen.ir import Apply, Compare, Const, FromIndex
from realta.codegen.scalar import constant, identity
from realta.codegen.verifier import verify_kernel
from realta.codegen.writer import KernelWriter, both, inside, not_below
from realta.graph import Input
from realta.types import (
    DTYPES,
    DType,
    TensorType,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    uint8,
)

LANES = 16


def argument(write, dtype: DType, size: int, role="input"):
    return write.argument(Input(TensorType(dtype, (size,))), role, "b")


def data(dtype: DType, size: int) -> np.ndarray:
    """Numbers of a type, NaN and zeros among them."""
    rng = np.random.default_rng(size)
    if dtype is bool_:
        return rng.integers(0, 2, size).astype(bool)
    values = rng.integers(0 if dtype.kind == "uint" else -60, 60, size).astype(np.float64)
    if dtype.is_float:
        values = values / 4
        values[::7], values[3::11] = np.nan, -0.0
    return values.astype(np.float32).astype(dtype.numpy)


def check(machine, kernel, inputs, assert_same_bits):
    """Runs a kernel here and there; what it does not write stays."""
    verify_kernel(kernel)
    outs = kernel.buffers[len(inputs) :]
    found, expected = ([np.full(o.size, 7).astype(o.dtype.numpy) for o in outs] for _ in range(2))
    interpret(kernel, [*inputs, *expected])
    machine.run([kernel], [[*inputs, *found]])
    for got, wanted in zip(found, expected, strict=True):
        assert_same_bits(got, wanted, [], kernel.name)


@pytest.mark.parametrize("dtype", [bool_, int8, float16, float32, int64], ids=str)
def test_loads_and_stores_of_every_shape(machine, dtype, assert_same_bits):
    """Neighbours, reversed ones, strides, one for all, any, with lanes switched off or not."""
    size = 200
    write = KernelWriter(3, LANES)
    x = argument(write, dtype, size)
    at = argument(write, int32, 48)
    one = constant(1, dtype)
    lane, flat = write.lane, write.group * LANES + write.lane
    position = Position(write.load(at, flat), size)
    shapes = [
        flat + 3, 100 - flat, flat * 3, write.group + 5, position,
        (flat * 7) % 11, flat // 5, least(flat, 40), greatest(flat, 9), flat % 32 + write.group * 8,
    ]  # fmt: skip
    outs = [argument(write, dtype, size, "output") for _ in range(4 * len(shapes))]
    for number, index in enumerate(shapes):
        plain, masked, few, scattered = outs[4 * number : 4 * number + 4]
        odd = Apply("equal", (FromIndex(lane % 2, int32), Const(1, int32)), bool_)
        write.store(plain, flat, write.load(x, index), streaming=True)
        write.store(masked, flat, write.load(x, index, odd, one), inside(flat, 37))
        write.store(few, flat, write.load(x, index, inside(flat, 41), one), inside(lane, 3))
        where = both(not_below(flat, 2), odd, inside(write.group, 2))
        write.store(scattered, 199 - flat * 3, write.load(x, index), where)
    kernel = write.build("shapes")
    numbers = np.random.default_rng(1).integers(0, size, 48).astype(np.int32)
    check(machine, kernel, [data(dtype, size), numbers], assert_same_bits)


COMBINATIONS = [
    ("add", float32), ("add", float64), ("add", int32), ("add", int8), ("mul", float32),
    ("maximum", float32), ("minimum", float64), ("maximum", uint8), ("logical_and", bool_),
    ("logical_or", bool_), ("bitwise_or", int64),
]  # fmt: skip


@pytest.mark.parametrize("width", [1, 2, 8, 16])
def test_folds(machine, width, assert_same_bits):
    write = KernelWriter(4, LANES)
    flat = write.group * LANES + write.lane
    read = [argument(write, dtype, 64) for _, dtype in COMBINATIONS]
    outs = [argument(write, dtype, 64, "output") for _, dtype in COMBINATIONS]
    firsts = [argument(write, dtype, 64, "output") for _, dtype in COMBINATIONS]
    for (combine, _), x, out, first in zip(COMBINATIONS, read, outs, firsts, strict=True):
        (total,) = write.fold([write.load(x, flat)], combine, width)
        write.store(out, flat, total)
        write.store(first, flat // width, total, inside(write.lane % width, 1))
    kernel = write.build("folds")
    inputs = [data(dtype, 64) for _, dtype in COMBINATIONS]
    check(machine, kernel, inputs, assert_same_bits)


@pytest.mark.parametrize("dtype", [float32, float64, int32, uint8], ids=str)
@pytest.mark.parametrize("width", [4, 16])
def test_folds_of_pairs(machine, dtype, width, assert_same_bits):
    write = KernelWriter(40, LANES)
    flat = write.group * LANES + write.lane
    x = argument(write, dtype, 640)
    for combine in ("argmax", "argmin"):
        value, index = write.fold([write.load(x, flat), FromIndex(flat, int64)], combine, width)
        write.store(argument(write, dtype, 640, "output"), flat, value)
        write.store(argument(write, int64, 640, "output"), flat, index)
    values = data(dtype, 640)
    if dtype.is_float:
        values[300:] = np.where(np.isnan(values[300:]), 0, values[300:])
    check(machine, write.build("pairs"), [values], assert_same_bits)


def test_accumulators_loops_and_conditions(machine, assert_same_bits):
    write = KernelWriter(3, LANES)
    x = argument(write, float32, 3 * 5 * LANES)
    out = argument(write, float32, 3 * LANES, "output")
    count = argument(write, int32, 3 * LANES, "output")
    flat = write.group * LANES + write.lane
    acc = write.declare(identity("add", float32))
    turns = write.declare(Const(0, int32))
    with write.loop(5) as turn:
        value = write.load(x, write.group * (5 * LANES) + turn * LANES + write.lane)
        with write.when(Compare(turn, 3)):
            write.assign(acc, Apply("add", (acc, value), float32))
        (total,) = write.fold([value], "maximum", LANES)
        positive = Apply("greater", (total, Const(0.0, float32)), bool_)
        with write.when(positive):
            write.assign(turns, Apply("add", (turns, Const(1, int32)), int32))
        with write.loop(2, unroll=True) as inner:
            scaled = Apply("mul", (value, constant(0.5, float32)), float32)
            step = Apply("cast", (FromIndex(inner, int32),), float32)
            write.assign(acc, Apply("add", (acc, Apply("mul", (scaled, step), float32)), float32))
    write.store(out, flat, acc)
    write.store(count, flat, turns)
    check(machine, write.build("loops"), [data(float32, 240)], assert_same_bits)


@pytest.mark.parametrize("dtype", [float32, float16, bool_, float64], ids=str)
def test_group_and_lane_memory(machine, dtype, assert_same_bits):
    write = KernelWriter(3, LANES)
    x = argument(write, dtype, 3 * 2 * LANES)
    out = argument(write, dtype, 3 * 2 * LANES, "output")
    other = argument(write, dtype, 3 * 2 * LANES, "output")
    shared = write.allocate(dtype, 2 * LANES, "group")
    own = write.allocate(dtype, 4, "lane")
    base = write.group * (2 * LANES)
    with write.loop(2) as half:
        value = write.load(x, base + half * LANES + write.lane)
        write.store(shared, half * LANES + write.lane, value)
        write.store(own, half, value)
        odd = Apply("equal", (FromIndex(write.lane % 2, int32), Const(1, int32)), bool_)
        write.store(own, half + 2, constant(1, dtype))
        write.store(own, half + 2, value, odd)
    write.barrier()
    with write.loop(2) as half:
        write.store(out, base + half * LANES + write.lane,
                    write.load(shared, 2 * LANES - 1 - half * LANES - write.lane))  # fmt: skip
        write.store(other, base + half * LANES + write.lane, write.load(own, write.lane % 2 + 2))
    check(machine, write.build("memory"), [data(dtype, 96)], assert_same_bits)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_one_lane(machine, dtype, assert_same_bits):
    write = KernelWriter(1, 1)
    x = argument(write, dtype, 4)
    out = argument(write, dtype, 4, "output")
    with write.loop(4) as i:
        write.store(out, i, write.load(x, 3 - i))
    check(machine, write.build("single"), [data(dtype, 4)], assert_same_bits)


def test_indices_beyond_32_bits(machine, assert_same_bits):
    write = KernelWriter(4, LANES)
    out = argument(write, int64, 4 * LANES, "output")
    far = (write.group * LANES + write.lane) * (1 << 33) - (1 << 36)
    write.store(out, write.group * LANES + write.lane, FromIndex(far // 3 + far % 1000003, int64))
    check(machine, write.build("far"), [], assert_same_bits)


def test_names_that_languages_keep_for_themselves(machine, assert_same_bits):
    write = KernelWriter(2, LANES)
    write.fresh = lambda name: name
    x = write.argument(Input(TensorType(float32, (32,))), "input", "global")
    out = write.argument(Input(TensorType(float32, (32,))), "output", "float")
    flat = write.group * LANES + write.lane
    value = write.let(Apply("exp", (write.load(x, flat, name="exp"),), float32), "max")
    write.store(out, flat, Apply("mul", (value, constant(0.0, float32)), float32))
    check(machine, write.build("words"), [np.ones(32, np.float32)], assert_same_bits)


FEW = settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],  # each example is a compilation: shrinking would take minutes
)  # fmt: skip
AXES = (Axis("group", 3), Axis("lane", LANES), Axis("i0", 5))


@st.composite
def indices(draw, depth=3):
    """Index expressions over a group, a lane and a loop."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(AXES)) + draw(st.integers(-3, 3))
    of = draw(indices(depth - 1))
    kind = draw(st.sampled_from("+*/%<>"))
    number = draw(st.integers(1, 20))
    if kind == "+":
        return of + draw(indices(depth - 1)) * draw(st.integers(-4, 4))
    if kind == "*":
        return of * draw(st.integers(-40, 40))
    if kind in "/%":
        return of // number if kind == "/" else of % number
    return least(of, number) if kind == "<" else greatest(of, number)


@FEW
@given(st.lists(indices(), min_size=24, max_size=24))
def test_index_arithmetic(machine, assert_same_bits, exprs):
    write = KernelWriter(3, LANES)
    outs = [argument(write, int64, 3 * 5 * LANES, "output") for _ in exprs]
    with write.loop(5) as turn:
        at = (write.group * 5 + turn) * LANES + write.lane
        for out, index in zip(outs, exprs, strict=True):
            write.store(out, at, FromIndex(index, int64))
    check(machine, write.build("arithmetic"), [], assert_same_bits)


@FEW
@given(st.lists(indices(), min_size=24, max_size=24))
def test_reading_by_any_index(machine, assert_same_bits, exprs):
    write = KernelWriter(3, LANES)
    size = max(index.high - index.low for index in exprs) + 1
    x = argument(write, int32, size)
    outs = [argument(write, int32, 3 * 5 * LANES, "output") for _ in exprs]
    with write.loop(5) as turn:
        at = (write.group * 5 + turn) * LANES + write.lane
        for out, index in zip(outs, exprs, strict=True):
            write.store(out, at, write.load(x, index - index.low))
    numbers = np.arange(size, dtype=np.int32) * 3
    check(machine, write.build("reading"), [numbers], assert_same_bits)
