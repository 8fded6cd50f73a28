"""Kernels: at every width they give the bits that the interpreter gives where ops are exact."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from realta.backend import Options
from realta.backend.interp import InterpSession
from realta.codegen import CPU_PROFILE
from realta.graph import Builder
from realta.runtime import as_bytes, writable_bytes
from realta.types import (
    BY_NAME,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    tensor_type,
    uint8,
    uint64,
)
from realta_llvm import instructions
from realta_llvm.machine import this_machine
from realta_llvm.session import LLVMSession

WIDTHS = (4, 8, 16)
_interpreter = InterpSession(CPU_PROFILE)
_sessions = [LLVMSession(this_machine(), width) for width in WIDTHS]


def run(session, graph, arrays):
    """The outputs of a graph as arrays."""
    executable = session.compile(graph, Options())
    handles = []
    for array, value in zip(arrays, graph.inputs, strict=True):
        handles.append(session.allocate(array.nbytes))
        session.write(handles[-1], value.type, as_bytes(array))
    outputs = [session.allocate(value.type.nbytes) for value in graph.outputs]
    executable.run(handles, outputs)
    found = []
    for handle, value in zip(outputs, graph.outputs, strict=True):
        found.append(np.empty(value.type.shape, value.type.dtype.numpy))
        session.read(handle, value.type, writable_bytes(found[-1]))
    return found


def same(x, y):
    """Equal bits; one NaN is as good as another."""
    if x.dtype.kind not in "biu":
        with np.errstate(invalid="ignore"):
            x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        nan = np.isnan(x)
        return (nan == np.isnan(y)).all() and (x.view(np.int64) == y.view(np.int64))[~nan].all()
    return (x == y).all()


def check(graph, arrays):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = run(_interpreter, graph, arrays)
    for session in _sessions:
        for wanted, found in zip(expected, run(session, graph, arrays), strict=True):
            assert same(wanted, found), (session.width, wanted, found)


def numbers(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    if dtype is bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype.is_float:
        plain = rng.normal(size=shape) * np.exp2(rng.integers(-6, 7, shape))
        special = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0], shape)
        with np.errstate(all="ignore"):
            return np.where(rng.integers(0, 8, shape) == 0, special, plain).astype(dtype.numpy)
    info = np.iinfo(dtype.numpy)
    plain = rng.integers(info.min, info.max, shape, dtype.numpy, endpoint=True)
    special = rng.choice(np.array([0, 1, info.min, info.max, 2, 7], dtype.numpy), shape)
    return np.where(rng.integers(0, 3, shape) == 0, special, plain)


FLOATS = [float16, bfloat16, float32, float64]
INTEGERS = [int8, uint8, int32, int64, uint64]
BINARY = ["add", "sub", "mul", "maximum", "minimum"]


@pytest.mark.parametrize("count", [1, 5, 16, 40, 1003])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=str)
def test_arithmetic(dtype, count):
    builder = Builder()
    x, y = (builder.input(tensor_type(dtype, (count,))) for _ in range(2))
    found = [getattr(builder, op)(x, y) for op in BINARY]
    found += [builder.neg(x), builder.abs(x), builder.sign(x)] if dtype.kind != "uint" else []
    found += [getattr(builder, op)(x, y) for op in ("less", "equal", "not_equal", "greater_equal")]
    if dtype.is_float:
        found += [builder.div(x, y), builder.sqrt(x), builder.mod(x, y), builder.nextafter(x, y)]
        found += [getattr(builder, op)(x) for op in ("floor", "ceil", "trunc", "round")]
        found += [getattr(builder, op)(x) for op in ("is_nan", "is_inf", "is_finite", "signbit")]
    else:
        names = ("floor_div", "mod", "pow", "shift_left", "shift_right", "bitwise_xor")
        found += [getattr(builder, op)(x, y) for op in names]
    graph = builder.finish(*found)
    check(graph, [numbers(dtype, (count,), 1), numbers(dtype, (count,), 2)])


@pytest.mark.parametrize("source", [bool_, *FLOATS, *INTEGERS], ids=str)
def test_casts(source):
    builder = Builder()
    x = builder.input(tensor_type(source, (83,)))
    targets = [t for t in (bool_, *FLOATS, *INTEGERS) if t is not source]
    graph = builder.finish(*[builder.cast(x, dtype=t) for t in targets])
    check(graph, [numbers(source, (83,))])


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_every_narrow_float_is_read_and_every_tie_is_rounded_to_even(name):
    dtype = BY_NAME[name]
    count = 1 << dtype.bits
    kind = np.uint16 if dtype.bits == 16 else np.uint8
    every = np.arange(count, dtype=kind).view(dtype.numpy)
    builder = Builder()
    x = builder.input(tensor_type(dtype, (count,)))
    wide = builder.input(tensor_type(float32, (count,)))
    graph = builder.finish(builder.cast(x, dtype=float32), builder.cast(wide, dtype=dtype))
    with np.errstate(all="ignore"):
        near = np.sort(every.astype(np.float32))
        between = ((near.astype(np.float64) + np.roll(near, 1)) / 2).astype(np.float32)
    check(graph, [every, between])


def test_float16_without_help_of_the_processor(monkeypatch):
    monkeypatch.setattr(instructions, "_HARDWARE", {})
    test_every_narrow_float_is_read_and_every_tie_is_rounded_to_even("float16")


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("shape", [(3, 7), (33, 65), (2, 1025), (1025, 3), (70, 600)])
def test_reductions(shape, axes):
    builder = Builder()
    x = builder.input(tensor_type(float32, shape))
    n = builder.input(tensor_type(int32, shape))
    found = [getattr(builder, op)(x, axes=axes) for op in ("sum", "prod", "max", "min")]
    found += [builder.sum(n, axes=axes), builder.max(n, axes=axes)]
    found += [builder.any(builder.less(n, builder.neg(n)), axes=axes)]
    if len(axes) == 1:
        found += [builder.argmax(x, axis=axes[0]), builder.argmin(n, axis=axes[0])]
    check(builder.finish(*found), [numbers(float32, shape), numbers(int32, shape)])


def test_movement():
    builder = Builder()
    x = builder.input(tensor_type(float32, (37, 41)))
    n = builder.input(tensor_type(uint8, (37, 41)))
    zero = builder.input(tensor_type(float32, ()))
    found = [
        builder.add(builder.permute(x, axes=(1, 0)), builder.permute(x, axes=(1, 0))),
        builder.permute(n, axes=(1, 0)),
        builder.slice(x, start=(1, 40), stop=(37, -1), step=(2, -3)),
        builder.pad(x, zero, low=(2, 3), high=(1, 20)),
        builder.concat(x, builder.neg(x), axis=1),
        builder.reshape(builder.permute(x, axes=(1, 0)), shape=(37 * 41,)),
        builder.cumsum(x, axis=1, exclusive=False, reverse=True),
    ]
    arrays = [numbers(float32, (37, 41)), numbers(uint8, (37, 41)), np.array(7, np.float32)]
    check(builder.finish(*found), arrays)


def test_indexing():
    builder = Builder()
    x = builder.input(tensor_type(float32, (50, 33)))
    at = builder.input(tensor_type(int64, (70,)))
    updates = builder.input(tensor_type(float32, (70, 33)))
    found = [
        builder.gather(x, at, axis=0),
        builder.gather(x, builder.cast(at, dtype=int32), axis=1),
        builder.scatter(x, at, updates, axis=0, reduce="add", mode="clip"),
        builder.scatter(x, at, updates, axis=0, reduce="set", mode="drop"),
        builder.sort(x, axis=1, descending=False),
        builder.argsort(x, axis=0, descending=True),
    ]
    positions = np.random.default_rng(0).integers(-60, 60, 70)
    arrays = [numbers(float32, (50, 33)), positions, numbers(float32, (70, 33), 3)]
    check(builder.finish(*found), arrays)


UNARY = ["neg", "abs", "floor", "sign", "sqrt", "trunc"]


@st.composite
def graphs(draw):
    """Graphs of exact ops with a reduction somewhere, over a shape that fits no vector."""
    shape = draw(st.sampled_from([(7,), (17, 3), (3, 130), (65, 33)]))
    builder = Builder()
    values = [builder.input(tensor_type(float32, shape)) for _ in range(2)]
    for _ in range(draw(st.integers(1, 7))):
        kind = draw(st.sampled_from(["unary", "binary", "select", "row"]))
        x, y = (draw(st.sampled_from(values)) for _ in range(2))
        if kind == "unary":
            values.append(getattr(builder, draw(st.sampled_from(UNARY)))(x))
        elif kind == "binary":
            values.append(getattr(builder, draw(st.sampled_from([*BINARY, "div"])))(x, y))
        elif kind == "select":
            values.append(builder.select(builder.less(x, y), x, builder.neg(y)))
        else:
            row = getattr(builder, draw(st.sampled_from(["sum", "max"])))(x, axes=(len(shape) - 1,))
            row = builder.reshape(row, shape=(*shape[:-1], 1))
            values.append(builder.sub(x, builder.broadcast(row, shape=shape)))
    return builder.finish(values[-1], values[draw(st.integers(2, len(values) - 1))])


@given(graphs(), st.integers(0, 1000))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_graphs(graph, seed):
    arrays = [numbers(float32, v.type.shape, seed + n) for n, v in enumerate(graph.inputs)]
    check(graph, arrays)


@pytest.mark.parametrize("dtype", [float32, float64], ids=str)
def test_functions_have_the_same_bits_for_numbers_and_for_every_width(dtype):
    names = ["exp", "log", "sin", "cos", "tan", "tanh", "erf", "log1p", "expm1", "sinh", "atan"]
    found = []
    for count in (1, 67):
        builder = Builder()
        x = builder.input(tensor_type(dtype, (count,)))
        graph = builder.finish(*[getattr(builder, name)(x) for name in names])
        x = np.resize(np.array([1.37e5, 0.3, -2.5, 1e-9, 88.0, 3e4, -0.0], dtype.numpy), count)
        found += [[part[0] for part in run(session, graph, [x])] for session in _sessions]
    first = np.array(found[0])
    for other in found[1:]:
        assert same(first, np.array(other))
