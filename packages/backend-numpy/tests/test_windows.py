"""Windows: the same bits for any layout, tile and thread; NaN, zeros and padding in place."""

import numpy as np
import pytest
from realta.graph import Builder
from realta.runtime import num_threads, set_num_threads
from realta.types import bfloat16, float16, float32, float64, int8, tensor_type
from realta_numpy import windows
from realta_numpy.windows import Windows, reduce_windows

SHAPES = [
    ((2, 9, 11, 5), Windows((1, 3, 3, 1), (1, 2, 2, 1), (0, 1, 1, 0), (0, 1, 1, 0), (1, 1, 1, 1))),
    ((1, 64, 300), Windows((1, 5, 7), (1, 1, 3), (0, 4, 2), (0, 0, 9), (1, 2, 1))),
    ((1025, 3), Windows((100, 1), (3, 1), (99, 0), (0, 0), (1, 1))),
    ((4, 4), Windows((2, 2), (1, 1), (5, 0), (5, 3), (1, 1))),
]


def _result(reduce, x, dtype, where):
    lines = zip(x.shape, where.low, where.high, where.strides, strict=True)
    shape = [
        (low + n + high - where.reach(axis)) // stride + 1
        for axis, (n, low, high, stride) in enumerate(lines)
    ]
    out = np.empty(shape, dtype.numpy)
    reduce_windows(reduce, x, dtype, where, out)
    return out


@pytest.mark.parametrize("dtype", [float32, float64, float16, bfloat16, int8], ids=str)
@pytest.mark.parametrize("reduce", ["add", "mul", "max", "min"])
@pytest.mark.parametrize(("shape", "where"), SHAPES, ids=lambda s: str(s)[:12])
def test_layout_tiles_and_threads_change_no_bit(
    shape, where, reduce, dtype, values, equal_bits, monkeypatch
):
    x = values(shape, dtype, "unit" if reduce == "mul" else "small")
    with np.errstate(all="ignore"):
        expected = _result(reduce, x, dtype, where)
        for given in (
            np.asfortranarray(x),
            np.repeat(x, 2, axis=-1)[..., ::2],
            x[::-1].copy()[::-1],
        ):
            assert equal_bits(_result(reduce, given, dtype, where), expected)
        monkeypatch.setattr(windows, "_TILE", 24)
        before = num_threads()
        for count in (1, 2, 5):
            set_num_threads(count)
            try:
                assert equal_bits(_result(reduce, x, dtype, where), expected), f"{count} threads"
            finally:
                set_num_threads(before)


@pytest.mark.parametrize("dtype", [float32, float64, float16, bfloat16], ids=str)
@pytest.mark.parametrize("kind", ["random", "constant"])
def test_sums_stay_within_the_bound(kind, dtype):
    n = 1025
    x = np.random.default_rng(0).standard_normal(4000)
    if kind == "constant":
        x[:] = 0.1
    x = x.astype(dtype.numpy)
    found = _result("add", x, dtype, Windows((n,), (7,), (0,), (0,), (1,))).astype(np.longdouble)
    view = np.lib.stride_tricks.sliding_window_view(x.astype(np.longdouble), n)[::7]
    exact, size = view.sum(axis=1), np.abs(view).sum(axis=1)
    eps = np.finfo(np.float64 if dtype is float64 else np.float32).eps
    half_ulp = np.abs(exact) * {2: 2.0**-8, 4: 2.0**-24, 8: 2.0**-53}[dtype.itemsize]
    assert (np.abs(found - exact) <= (8 + 2 * np.log2(n)) * eps * size + half_ulp).all()


@pytest.mark.parametrize("dtype", [float16, float32, float64], ids=str)
def test_zeros_are_ordered_and_nan_wins(dtype):
    where = Windows((2,), (1,), (1,), (1,), (1,))
    x = np.array([-0.0, 0.0, -0.0, -0.0, np.nan, -np.inf]).astype(dtype.numpy)
    largest = _result("max", x, dtype, where)
    assert np.signbit(largest[:4]).tolist() == [True, False, False, True]
    assert np.isnan(largest[4:6]).all()
    assert largest[6] == -np.inf
    smallest = _result("min", x, dtype, where)
    assert np.signbit(smallest[:4]).tolist() == [True, True, True, True]
    assert np.isnan(smallest[4:6]).all()


def test_a_window_reads_a_view_of_its_operand(runner):
    builder = Builder()
    x = builder.input(tensor_type(float32, (4, 6)))
    turned = builder.permute(
        builder.slice(x, start=(3, 0), stop=(-1, 6), step=(-1, 2)), axes=(1, 0)
    )
    node = builder.reduce_window(
        turned, window=(2, 2), strides=(1, 1), low=(0, 0), high=(0, 0), dilation=(1, 1),
        reduce="max",
    )  # fmt: skip
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    expected, _ = runner.both(builder.finish(node), [values])
    assert expected[0].tolist() == [[20.0, 14.0, 8.0], [22.0, 16.0, 10.0]]
