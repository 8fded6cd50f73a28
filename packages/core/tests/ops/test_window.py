"""reduce_window: every window against a loop, what padding holds, NaN, zeros, refusals."""

import itertools
import math

import numpy as np
import pytest
from realta.errors import ArgumentError, ShapeError
from realta.ops import convert, get_op
from realta.types import Dim, TensorType, bfloat16, float16, float32, tensor_type

OP = get_op("reduce_window")
REDUCE = {"add": sum, "mul": math.prod, "max": max, "min": min}


def attrs_of(rank, **changed):
    plain = dict.fromkeys(("window", "strides", "dilation"), (1,) * rank)
    return {**plain, "low": (0,) * rank, "high": (0,) * rank, "reduce": "add", **changed}


@pytest.mark.parametrize("number", range(len(OP.samples)))
def test_every_window_is_reduced(call, number):
    sample, a = OP.samples[number], OP.samples[number].attrs
    x = np.random.default_rng(number).integers(-4, 5, sample.shapes[0])
    found = call("reduce_window", x, **a)
    for place in np.ndindex(*found.shape):
        inside = []
        for offset in itertools.product(*map(range, a["window"])):
            lines = zip(place, offset, a["strides"], a["dilation"], a["low"], strict=True)
            at = [p * s + k * d - low for p, k, s, d, low in lines]
            if all(0 <= i < n for i, n in zip(at, x.shape, strict=True)):
                inside.append(int(x[tuple(at)]))
        if inside:
            assert found[place] == REDUCE[a["reduce"]](inside), place


@pytest.mark.parametrize(
    ("reduce", "dtype", "unit"),
    [
        ("add", np.float32, 0), ("mul", np.float32, 1), ("max", np.float32, -np.inf),
        ("min", np.float64, np.inf), ("max", np.int8, -128), ("min", np.uint8, 255),
        ("max", np.uint16, 0),
    ],
)  # fmt: skip
def test_a_window_of_padding_holds_the_unit(call, reduce, dtype, unit):
    a = attrs_of(1, window=(2,), low=(2,), reduce=reduce)
    found = call("reduce_window", np.array([3, 5], dtype), **a)
    assert found[0] == unit
    assert found[1] == 3


def test_padding_never_wins_over_negative_elements(call):
    x = np.full((2, 2), -5.0, np.float32)
    a = attrs_of(2, window=(2, 2), low=(1, 1), high=(1, 1), reduce="max")
    assert (call("reduce_window", x, **a) == -5).all()


@pytest.mark.parametrize("reduce", ["max", "min"])
def test_nan_wins_and_zeros_are_ordered(call, reduce):
    a = attrs_of(1, window=(2,), reduce=reduce)
    found = call("reduce_window", np.array([1.0, np.nan, -1.0, -0.0, 0.0, -0.0]), **a)
    assert np.isnan(found[:2]).all()
    signs = np.signbit(found[3:]).tolist()
    assert signs == ([False, False] if reduce == "max" else [True, True])


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=str)
def test_halves_accumulate_wide(call, dtype):
    ones = convert(np.ones(4096), dtype)
    found = call("reduce_window", ones, **attrs_of(1, window=(4096,)))
    assert float(found[0]) == 4096


def test_symbolic_extents_are_kept():
    x = tensor_type(float32, (Dim("batch"), Dim("width")))
    attrs = OP.make_attrs(attrs_of(2, window=(1, 3), strides=(1, 2)))
    (found,) = OP.result_types((x,), attrs)
    assert str(found) == "f32[batch,(width + 1)//2 - 1]"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"window": (2,)}, "window has 1 entries for 2 axes"),
        ({"window": (0, 1)}, "window (0, 1) has the entry 0"),
        ({"strides": (1, 0)}, "strides (1, 0) has the entry 0"),
        ({"dilation": (0, 1)}, "dilation (0, 1) has the entry 0"),
        ({"low": (0, -1)}, "low (0, -1) has the entry -1"),
        ({"window": (1, 6)}, "a window of 6 elements does not fit axis 1, which has an extent of"),
        (
            {"window": (1, 4), "dilation": (1, 3), "high": (0, 2)},
            "4 elements, 3 apart, does not fit axis 1, which has an extent of 5 and padding of 0",
        ),
    ],
)  # fmt: skip
def test_refusals(changed, message):
    with pytest.raises(ShapeError) as found:
        OP.result_types((TensorType(float32, (4, 5)),), OP.make_attrs(attrs_of(2, **changed)))
    assert message in str(found.value)
    assert found.value.fix


def test_other_reductions_are_refused():
    with pytest.raises(ArgumentError, match="one of 'add', 'mul', 'max', 'min', got 'mean'"):
        OP.result_types((TensorType(float32, ()),), OP.make_attrs(attrs_of(0, reduce="mean")))
