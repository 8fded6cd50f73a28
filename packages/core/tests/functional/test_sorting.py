"""Sorting, selection and one-hot encoding against NumPy, in all modes."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, DTypeError, ShapeError
from realta.types import BY_NAME, as_dtype

DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "int64", "uint8", "uint64", "bool")


def drawn(dtype: str) -> np.ndarray:
    random = np.random.default_rng(0)
    values = random.integers(0, 5, (3, 33))
    x = values.astype(BY_NAME[dtype].numpy)
    if BY_NAME[dtype].is_float:
        x[:, 5] = x[:, 20] = np.nan
        x[:, 6], x[:, 7] = -0.0, np.inf
    return x


def wide(x) -> np.ndarray:
    return np.asarray(x if x.dtype.kind in "biuf" else x.astype(np.float32), np.float64)


def order_of(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """Stable order, NaN last in both directions."""
    keys = np.where(np.isnan(wide(x)), np.inf, -wide(x) if descending else wide(x))
    return np.lexsort((keys, np.isnan(wide(x))), axis=axis)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sort_and_argsort(modes, dtype, descending):
    x = drawn(dtype)
    for axis in (0, 1, -1):
        order, ordered = modes(
            lambda t, a=axis: (
                F.argsort(t, a, descending=descending),
                F.sort(t, a, descending=descending),
            ),
            x,
        )
        expected = order_of(x, axis, descending)
        assert order.dtype == np.int64
        np.testing.assert_array_equal(order, expected)
        assert ordered.dtype == x.dtype
        np.testing.assert_array_equal(wide(ordered), np.take_along_axis(wide(x), expected, axis))


def test_nan_is_last():
    assert F.sort(Tensor([0.77, 0.0, float("nan"), 0.5])).numpy()[:3].tolist() == pytest.approx(
        [0, 0.5, 0.77]
    )
    assert F.argsort(Tensor([float("nan"), 1.0, 2.0]), descending=True).tolist() == [2, 1, 0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [0, 1, 5, 33])
def test_top_and_bottom(modes, dtype, k):
    x = drawn(dtype)
    for function, largest in ((F.top_k, True), (F.bottom_k, False)):
        values, indices = modes(lambda t, f=function: f(t, k), x)
        expected = order_of(x, 1, largest)[:, :k]
        assert as_dtype(values.dtype).name == dtype
        assert indices.dtype == np.int64
        np.testing.assert_array_equal(indices, expected)
        np.testing.assert_array_equal(wide(values), np.take_along_axis(wide(x), expected, 1))
    values, _ = F.top_k(Tensor(x), min(k, 3), axis=0)
    assert values.shape == (min(k, 3), 33)


def test_one_hot(modes):
    x = np.array([[0, 2], [-1, 3]], np.int32)
    result = modes(lambda t: F.one_hot(t, 3), x)
    expected = (x[..., None] == np.arange(3)).astype(np.float32)
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == np.float32
    assert F.one_hot(Tensor(x), 3, dtype="bool").dtype is realta.bool_
    assert F.one_hot(Tensor(1), 2).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("kind", "call", "text"),
    [
        (ArgumentError, lambda t: F.top_k(t, 4), "top_k of 4 elements along an axis of 3"),
        (ArgumentError, lambda t: F.bottom_k(t, -1), "give k from 0 to 3"),
        (ShapeError, lambda t: F.sort(t, 1), "axis 1 is out of range"),
        (ShapeError, lambda t: F.sort(t[0]), "no axes"),
        (DTypeError, lambda t: F.one_hot(t, 2), "one_hot of float32"),
    ],
)
def test_errors(kind, call, text):
    with pytest.raises(kind) as caught:
        call(Tensor([1.0, 2.0, 3.0]))
    assert text in str(caught.value)
    assert "test_sorting.py" in caught.value.where
