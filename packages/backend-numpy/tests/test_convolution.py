"""Convolutions: blocks by shape alone, the same bits for any layout and threads, in bounds."""

from math import prod

import numpy as np
import pytest
import threadpoolctl
from realta.graph import Builder
from realta.ops import get_op
from realta.ops.tolerances import allowance
from realta.runtime import num_threads, set_num_threads
from realta.types import bfloat16, float16, float32, float64, int8, tensor_type
from realta_numpy import convolution
from realta_numpy.convolution import Convolution, blocks, convolve

OP = get_op("conv_general")


def _attrs(spatial=2, **changed):
    one, none = (1,) * spatial, (0,) * spatial
    plain = {
        "strides": one, "low": none, "high": none, "input_dilation": one, "dilation": one,
        "groups": 1,
    }  # fmt: skip
    return {**plain, **changed}


CASES = {
    "blocks": ((2, 40, 41, 16), (3, 3, 16, 24), _attrs(low=(1, 1), high=(1, 1))),
    "one-block": ((1, 12, 12, 64), (3, 3, 64, 200), _attrs(low=(1, 1), high=(1, 1))),
    "pointwise": ((2, 17, 17, 33), (1, 1, 33, 65), _attrs(strides=(2, 3))),
    "depthwise": ((2, 30, 31, 40), (5, 5, 1, 80), _attrs(low=(2, 2), high=(2, 2), groups=40)),
    "groups": ((1, 33, 34, 12), (3, 3, 4, 9), _attrs(strides=(1, 2), dilation=(2, 1), groups=3)),
    "transposed": (
        (1, 9, 9, 8), (4, 4, 8, 5), _attrs(input_dilation=(2, 2), low=(3, 3), high=(3, 3)),
    ),
    "line": ((3, 5000, 2), (9, 2, 3), _attrs(1, low=(4,), high=(4,))),
    "volume": ((1, 9, 10, 11, 3), (3, 3, 3, 3, 4), _attrs(3, strides=(1, 1, 2))),
    "one-column": ((1, 50, 50, 8), (3, 3, 8, 1), _attrs()),
    "one-row": ((1, 3, 3, 40), (3, 3, 40, 7), _attrs()),
}  # fmt: skip


def _result(x, filter, dtype, attrs):
    types = tensor_type(dtype, x.shape), tensor_type(dtype, filter.shape)
    (type_,) = OP.result_types(types, OP.make_attrs(attrs))
    out = np.empty(type_.static_shape, dtype.numpy)
    convolve(x, filter, dtype, Convolution(**attrs), out)
    return out


def _operands(x, filter, dtype):
    rng = np.random.default_rng(prod(x) + prod(filter))
    return [(rng.standard_normal(shape) * 2).astype(dtype.numpy) for shape in (x, filter)]


@pytest.mark.parametrize("dtype", [float32, float64, float16, bfloat16, int8], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_results_are_within_the_bound(name, dtype):
    *shapes, attrs = CASES[name]
    x, filter = _operands(*shapes, dtype)
    found = _result(x, filter, dtype, attrs)
    if dtype is int8:
        np.testing.assert_array_equal(found, OP.reference(x, filter, **attrs))
        return
    wide = [v.astype(np.float64) for v in (x, filter)]
    expected = OP.reference(*wide, **attrs)
    allowed = allowance(OP, wide, attrs, expected, dtype)
    assert (np.abs(found.astype(np.float64) - expected) <= allowed).all()


@pytest.mark.parametrize("dtype", [float32, float64, float16], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_layout_and_threads_change_no_bit(name, dtype, equal_bits):
    *shapes, attrs = CASES[name]
    x, filter = _operands(*shapes, dtype)
    expected = _result(x, filter, dtype, attrs)
    for left, right in (
        (np.asfortranarray(x), filter), (x, np.asfortranarray(filter)),
        (np.repeat(x, 2, axis=-1)[..., ::2], np.flip(np.flip(filter, 0).copy(), 0)),
    ):  # fmt: skip
        assert equal_bits(_result(left, right, dtype, attrs), expected)
    before = num_threads()
    for count in (1, 2, 5):
        set_num_threads(count)
        try:
            assert equal_bits(_result(x, filter, dtype, attrs), expected), f"{count} threads"
        finally:
            set_num_threads(before)
    for blas in (1, 2, 4):
        with threadpoolctl.threadpool_limits(blas, user_api="blas"):
            assert equal_bits(_result(x, filter, dtype, attrs), expected), f"BLAS on {blas}"


@pytest.mark.parametrize(
    ("extents", "rows"),
    [((2, 40, 41), 256), ((1, 5000), 300), ((7, 3, 3), 20), ((3, 2, 100, 100), 64), ((1, 1), 9)],
)
def test_blocks_cover_every_window_once_in_order(extents, rows):
    seen = np.zeros(extents, int)
    for number, block in enumerate(blocks(extents, rows), 1):
        assert not seen[block].any()
        seen[block] = number
        assert 0 < seen[block].size <= rows
        assert seen[block].flags.c_contiguous or seen[block].size == 1
    flat = seen.ravel()
    assert (np.diff(flat) >= 0).all()
    assert flat[0] == 1


def test_a_block_of_windows_is_as_good_as_all_of_them(monkeypatch):
    *shapes, attrs = CASES["blocks"]
    x, filter = (np.round(v) for v in _operands(*shapes, float32))
    expected = _result(x, filter, float32, attrs)
    monkeypatch.setattr(convolution, "_ROWS", (5, 5))
    np.testing.assert_array_equal(_result(x, filter, float32, attrs), expected)


def test_a_convolution_reads_views_of_its_operands(runner):
    builder = Builder()
    x = builder.input(tensor_type(float32, (2, 3, 8, 9)))
    filter = builder.input(tensor_type(float32, (4, 3, 3, 3)))
    node = builder.conv_general(
        builder.permute(x, axes=(0, 2, 3, 1)), builder.permute(filter, axes=(2, 3, 1, 0)),
        **_attrs(low=(1, 1), high=(1, 1)),
    )  # fmt: skip
    graph = builder.finish(builder.maximum(node, builder.neg(node)))
    rng = np.random.default_rng(3)
    arrays = [rng.integers(-3, 4, v.type.shape).astype(np.float32) for v in graph.inputs]
    expected, _ = runner.both(graph, arrays)
    turned = arrays[0].transpose(0, 2, 3, 1), arrays[1].transpose(2, 3, 1, 0)
    plain = OP.reference(*turned, **_attrs(low=(1, 1), high=(1, 1)))
    np.testing.assert_array_equal(expected[0], np.abs(plain))
