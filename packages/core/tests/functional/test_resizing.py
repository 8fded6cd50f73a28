"""Resizing: values by hand, what stays as it is, dtypes, refusals."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, ShapeError

SQUARE = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32).reshape(1, 1, 2, 2)


@pytest.mark.usefixtures("each_device")
def test_bilinear_by_hand(modes):
    found = modes(lambda t: F.resize(t, (1, 1, 4, 4)), SQUARE)
    assert found[0, 0].tolist() == [
        [1.0, 1.25, 1.75, 2.0], [1.5, 1.75, 2.25, 2.5], [2.5, 2.75, 3.25, 3.5],
        [3.0, 3.25, 3.75, 4.0],
    ]  # fmt: skip
    corners = modes(lambda t: F.resize_linear(t, (1, 1, 3, 3), 1), SQUARE)
    assert corners[0, 0].tolist() == [[1.0, 1.5, 2.0], [2.0, 2.5, 3.0], [3.0, 3.5, 4.0]]
    whole = np.arange(8, dtype=np.float32).reshape(1, 1, 1, 8)
    means = modes(lambda t: F.resize_linear(t, (1, 1, 1, 2), antialias=True), whole)
    first = (0.875 * 1 + 0.875 * 2 + 0.625 * 3 + 0.375 * 4 + 0.125 * 5) / 3.5
    np.testing.assert_allclose(means.ravel(), [first, 7 - first], rtol=1e-6)


@pytest.mark.usefixtures("each_device")
def test_nearest_by_hand(modes):
    found = modes(lambda t: F.resize(t, (1, 1, 4, 3), "nearest"), SQUARE)
    assert found[0, 0].tolist() == [[1.0, 1.0, 2.0]] * 2 + [[3.0, 3.0, 4.0]] * 2
    flags = np.array([True, False, True])
    assert modes(lambda t: F.resize_nearest(t, (6,), 2, 2), flags).tolist() == [
        True, True, False, False, True, True,
    ]  # fmt: skip


@pytest.mark.usefixtures("each_device")
def test_bicubic_by_hand(modes):
    found = modes(lambda t: F.resize(t, (1, 1, 4, 4), "bicubic"), SQUARE)
    assert found[0, 0, 0, 0] == 0.68359375
    np.testing.assert_allclose(found[0, 0] + found[0, 0, ::-1, ::-1], 5, atol=1e-6)


def test_constants_stay_constants(modes):
    x = np.full((1, 2, 7, 5), 3.25, np.float32)
    for resize in (
        lambda t: F.resize_linear(t, (1, 2, 3, 11)),
        lambda t: F.resize_linear(t, (1, 2, 2, 2), antialias=True),
        lambda t: F.resize_bicubic(t, (1, 2, 9, 3)),
    ):
        np.testing.assert_allclose(modes(resize, x), 3.25, rtol=3e-7)


def test_every_axis_may_change_and_none_must(modes):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert modes(lambda t: F.resize_linear(t, (4, 6)), x).shape == (4, 6)
    np.testing.assert_array_equal(modes(lambda t: F.resize_linear(t, (2, 3)), x), x)
    np.testing.assert_array_equal(modes(lambda t: F.resize_nearest(t, (2, 3)), x), x)
    assert modes(lambda t: F.resize_linear(t, (0, 3)), x).shape == (0, 3)
    assert modes(lambda t: F.resize_nearest(t, (0, 3)), x).shape == (0, 3)


def test_dtypes(modes):
    half = modes(lambda t: F.resize_linear(t, (7,)), np.array([0, 1], np.float16))
    assert half.dtype == np.float16
    single = F.resize_linear(Tensor(np.array([0, 1], np.float32)), (7,)).numpy()
    np.testing.assert_array_equal(half, single.astype(np.float16))
    assert F.resize_linear(Tensor(np.array([0, 10])), (4,)).tolist() == [0.0, 2.5, 7.5, 10.0]
    assert str(F.resize_nearest(Tensor(np.array([0, 10])), (4,)).dtype) == "int64"


def test_an_infinity_elsewhere_does_not_spread():
    x = np.array([1.0, 2.0, 3.0, 4.0, np.inf, 5.0, 6.0, 7.0, 8.0], np.float32)
    found = F.resize_linear(Tensor(x), (3,), antialias=True).numpy()
    assert np.isfinite(found[[0, 2]]).all()


def test_a_symbolic_batch_stays_open():
    compiled = realta.compile(lambda x: F.resize(x, (x.shape[0], 1, 3, 3)))(
        realta.TensorType("float32", ("batch", 1, 2, 2))
    )
    for batch in (1, 3):
        x = Tensor(np.repeat(SQUARE, batch, axis=0))
        np.testing.assert_array_equal(compiled(x).numpy(), F.resize(x, (batch, 1, 3, 3)).numpy())


@pytest.mark.parametrize(
    ("error", "function", "shape", "args", "message"),
    [
        (ShapeError, F.resize, (2, 2), ((4, 4),), "resize takes an input of 4 axes (NCHW)"),
        (ShapeError, F.resize_bicubic, (1, 2, 2), ((1, 4, 4),), "takes an input of 4 axes (NCHW)"),
        (ShapeError, F.resize_bicubic, (1, 1, 2, 2), ((1, 2, 4, 4),), "changes batch or channels"),
        (ShapeError, F.resize_linear, (2, 2), ((4,),), "to 1 extents"),
        (ShapeError, F.resize_linear, (2, 2), ((4, -1),), "-1"),
        (ShapeError, F.resize_nearest, (0, 2), ((4, 2),), "axis 0, which is empty, to 4 elements"),
        (ArgumentError, F.resize_linear, (2, 2), ((4, 4), 4), "coordinate_transform_mode=4 is not"),
        (ArgumentError, F.resize_nearest, (2, 2), ((4, 4), 0, -1), "round_mode=-1 is not 0"),
        (ArgumentError, F.resize, (1, 1, 2, 2), ((1, 1, 4, 4), "area"), "no interpolation 'area'"),
    ],
)
def test_refusals(error, function, shape, args, message):
    with pytest.raises(error) as found:
        function(Tensor(np.ones(shape, np.float32)), *args)
    assert message in str(found.value)
    assert found.value.fix
