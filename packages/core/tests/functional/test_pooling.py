"""Pooling: every window against NumPy, ceil mode, padding that never wins, divisors, refusals."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, DTypeError, ShapeError
from realta.types import BY_NAME


def pair(n):
    return (n, n) if isinstance(n, int) else n


def windows(shape, kernel, stride, dilation, padding, ceil_mode):
    """The places of each window of an image, inside of it only, and the shape of the result."""
    lines = []
    for n, extent in enumerate(shape):
        k, s, d, p = (pair(v)[n] for v in (kernel, stride, dilation, padding))
        free = extent + 2 * p - (k - 1) * d - 1
        count = (-(-free // s) if ceil_mode else free // s) + 1
        if ceil_mode and (count - 1) * s >= extent + p:
            count -= 1
        lines.append([[i * s + j * d - p for j in range(k)] for i in range(count)])
    return lines


SIZES = [
    (2, 2, 1, 0, False), ((2, 3), 1, 1, 1, False), (3, 2, 1, 1, True), (3, (3, 2), 2, (1, 2), True),
    (2, 3, 1, 0, True), (3, 4, 1, 1, False), (1, 2, 1, 0, True),
]  # fmt: skip


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_max_pool2d(modes, sizes):
    x = np.random.default_rng(0).normal(size=(2, 7, 8, 3)).astype(np.float32) - 5
    found = modes(lambda t: F.max_pool2d(t, *sizes), x)
    down, across = windows((7, 8), *sizes)
    assert found.shape == (2, len(down), len(across), 3)
    for i, rows in enumerate(down):
        for j, columns in enumerate(across):
            part = x[:, [r for r in rows if 0 <= r < 7]][:, :, [c for c in columns if 0 <= c < 8]]
            np.testing.assert_array_equal(found[:, i, j], part.max(axis=(1, 2)))


@pytest.mark.parametrize("boundary", [True, False])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_avg_pool2d(modes, sizes, boundary):
    x = np.random.default_rng(0).integers(-8, 9, (2, 7, 8, 3)).astype(np.float32)
    found = modes(lambda t: F.avg_pool2d(t, *sizes, count_boundary=boundary), x)
    down, across = windows((7, 8), *sizes)
    border = pair(sizes[3])
    for i, rows in enumerate(down):
        for j, columns in enumerate(across):
            part = x[:, [r for r in rows if 0 <= r < 7]][:, :, [c for c in columns if 0 <= c < 8]]
            counted = part.shape[1] * part.shape[2]
            if boundary:
                counted = sum(r < 7 + border[0] for r in rows) * sum(
                    c < 8 + border[1] for c in columns
                )
            expected = part.sum(axis=(1, 2)) / np.float32(counted)
            np.testing.assert_array_equal(found[:, i, j], expected)


@pytest.mark.usefixtures("each_device")
def test_on_each_device(modes):
    x = np.random.default_rng(1).integers(-9, 9, (1, 9, 9, 4)).astype(np.float32)
    largest = modes(lambda t: F.max_pool2d(t, 3, 2, 1, 1, True), x)
    assert largest.shape == (1, 5, 5, 4)
    assert largest[0, 0, 0].tolist() == x[0, :2, :2].max(axis=(0, 1)).tolist()
    mean = modes(lambda t: F.avg_pool2d(t, 3, 3), x)
    np.testing.assert_array_equal(mean[0, 1, 1], x[0, 3:6, 3:6].sum(axis=(0, 1)) / np.float32(9))


def test_channels_may_come_first():
    x = np.random.default_rng(0).normal(size=(2, 6, 7, 3)).astype(np.float32)
    turned = Tensor(x.transpose(0, 3, 1, 2))
    for pool in (F.max_pool2d, F.avg_pool2d):
        found = pool(turned, 2, 2, input_layout="NCHW").numpy()
        np.testing.assert_array_equal(found.transpose(0, 2, 3, 1), pool(Tensor(x), 2, 2).numpy())


def test_nan_wins_and_padding_never_does(modes):
    x = np.full((1, 3, 3, 1), -7.0, np.float32)
    assert (modes(lambda t: F.max_pool2d(t, 3, 1, 1, 1), x) == -7).all()
    x[0, 1, 1] = np.nan
    assert np.isnan(modes(lambda t: F.max_pool2d(t, 3, 1, 1, 1), x)).all()
    ints = np.full((1, 2, 2, 1), -128, np.int8)
    assert (F.max_pool2d(Tensor(ints), 2, 1, 1, 1).numpy() == -128).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_means_accumulate_wide(modes, dtype):
    x = np.ones((1, 70, 70, 1)).astype(BY_NAME[dtype].numpy)
    assert float(modes(lambda t: F.avg_pool2d(t, 70), x).item()) == 1.0


def test_means_of_integers_are_floats():
    x = Tensor(np.array([0, 100, 200, 123], np.uint8).reshape(1, 2, 2, 1))
    found = F.avg_pool2d(x, 2)
    assert (str(found.dtype), found.item()) == ("float32", 105.75)  # I6


def test_symbolic_extents_stay_open():
    def pooled(x):
        return F.avg_pool2d(F.max_pool2d(x, 2, 2), 2)

    compiled = realta.compile(pooled)(realta.TensorType("float32", ("batch", "h", "w", 2)))
    for shape in ((1, 6, 8, 2), (3, 9, 5, 2)):
        x = Tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32))
        np.testing.assert_array_equal(compiled(x).numpy(), pooled(x).numpy())


@pytest.mark.parametrize("pool", [F.max_pool2d, F.avg_pool2d], ids=["max", "avg"])
@pytest.mark.parametrize(
    ("error", "shape", "args", "message"),
    [
        (ShapeError, (5, 5, 2), (2,), "takes an input of 4 axes (NHWC)"),
        (ShapeError, (1, 5, 5, 2), (6,), "does not fit axis 1"),
        (ShapeError, (1, 5, 5, 2), (6, 1, 1, 0, True), "does not fit axis 1"),
        (ArgumentError, (1, 5, 5, 2), (0,), "kernel_size=0 has a number below 1"),
        (ArgumentError, (1, 5, 5, 2), ((2, 2, 2),), "kernel_size=(2, 2, 2) is not 1 or 2"),
        (ArgumentError, (1, 5, 5, 2), (2, -1), "stride=-1 has a number below 1"),
        (ArgumentError, (1, 5, 5, 2), (2, 1, 1, -1), "padding=-1 has a number below 0"),
        (ArgumentError, (1, 5, 5, 2), (3, 1, 1, 2), "a padding of 2 for a window over 3 elements"),
    ],
)
def test_refusals(pool, error, shape, args, message):
    with pytest.raises(error) as found:
        pool(Tensor(np.ones(shape, np.float32)), *args)
    assert message in str(found.value)
    assert found.value.fix


def test_bools_have_no_largest_window():
    with pytest.raises(DTypeError):
        F.max_pool2d(Tensor(np.ones((1, 2, 2, 1), bool)), 2)
