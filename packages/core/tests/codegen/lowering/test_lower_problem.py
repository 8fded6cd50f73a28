"""Convolutions and windows: every sample of their ops, and what follows in the same kernel."""

import numpy as np
import pytest
from realta.graph import Builder
from realta.ops import get_op
from realta.types import float16, float32, int32, tensor_type

CONVOLUTIONS = [s for s in get_op("conv_general").samples if np.prod(s.shapes[0]) < 1000]
WINDOWS = [s for s in get_op("reduce_window").samples if np.prod(s.shapes[0]) < 1000]


def called(name, sample, dtype):
    builder = Builder(name)
    operands = [builder.input(tensor_type(dtype, shape)) for shape in sample.shapes]
    return builder, getattr(builder, name)(*operands, **sample.attrs_for(dtype))


@pytest.mark.parametrize("sample", CONVOLUTIONS, ids=lambda s: s.note or str(s.shapes))
def test_convolutions_of_integers_are_exact(check, sample):
    builder, out = called("conv_general", sample, int32)
    check(builder, out, builder.neg(out))


@pytest.mark.parametrize("sample", CONVOLUTIONS[:4], ids=lambda s: s.note or str(s.shapes))
@pytest.mark.parametrize(("dtype", "tolerance"), [(float32, 1e-4), (float16, 2e-2)], ids=str)
def test_convolutions_of_floats(check, kernels_of, sample, dtype, tolerance):
    builder, out = called("conv_general", sample, dtype)
    after = builder.maximum(out, builder.const(0.0, like=out))
    check(builder, after, tolerance=tolerance)
    assert kernels_of(builder, after) == [["contraction"]]


def test_padding_is_zeros_that_take_part(check):
    sample = next(s for s in CONVOLUTIONS if s.note == "all padding")
    builder, out = called("conv_general", sample, float32)
    arrays = [np.zeros(s, np.float32) for s in sample.shapes]
    arrays[1][...] = np.inf
    check(builder, out, arrays=arrays)


@pytest.mark.parametrize("number", range(len(WINDOWS)))
def test_windows(check, number):
    sample = WINDOWS[number]
    builder, out = called("reduce_window", sample, int32)
    check(builder, out)
    builder, out = called("reduce_window", sample, float16)
    check(builder, out, tolerance=2e-3)


def test_long_windows_are_summed_in_blocks(check):
    builder = Builder("long")
    x = builder.input(tensor_type(float32, (1, 2300)))
    one, none = (1, 1), (0, 0)
    out = builder.reduce_window(
        x, window=(1, 2200), strides=(1, 50), low=none, high=none, dilation=one, reduce="add"
    )
    check(builder, out, arrays=[np.full((1, 2300), 0.1, np.float32)], tolerance=1e-6)
