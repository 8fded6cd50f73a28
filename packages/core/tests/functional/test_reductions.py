"""Reductions against NumPy over dtypes, shapes and axes, within the bounds, in all modes."""

import math
from itertools import combinations

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, ShapeError
from realta.ops import get_op
from realta.ops.tolerances import allowance
from realta.types import BY_NAME, as_dtype

FLOAT_DTYPES = ("float16", "bfloat16", "float32", "float64")
INT_DTYPES = ("int8", "int32", "int64", "uint8", "uint64")
SHAPE = (3, 1, 17)


def drawn(dtype: str, shape=SHAPE, seed=0) -> np.ndarray:
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.random(shape) < 0.5
    if dtype in FLOAT_DTYPES:
        return random.normal(size=shape).astype(BY_NAME[dtype].numpy)
    return random.integers(0 if dtype[0] == "u" else -9, 10, shape).astype(dtype)


def wide(array) -> np.ndarray:
    found = np.asarray(array)
    return np.asarray(found if found.dtype.kind in "biuf" else found.astype(np.float32), np.float64)


def axes_of(rank: int):
    yield None
    for count in range(rank + 1):
        yield from combinations(range(rank), count)
    yield from (-1, 0, (-1, 0), [1])


def check(name, result, x, axis, expected, **attrs):
    dtype = as_dtype(result.dtype)
    axes = tuple(range(x.ndim)) if axis is None else np.atleast_1d(axis) % max(x.ndim, 1)
    axes = tuple(sorted(int(a) for a in axes))
    allowed = allowance(
        get_op(name), [wide(x)], {"axes": axes, **attrs}, np.asarray(expected), dtype
    )
    assert (np.abs(wide(result) - expected) <= allowed).all(), (name, axis)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
@pytest.mark.parametrize("name", ["sum", "mean", "prod"])
def test_floats(name, dtype, keepdims, modes):
    x = drawn(dtype)
    for axis in axes_of(x.ndim):
        numpy_axis = tuple(axis) if isinstance(axis, list) else axis
        expected = getattr(np, name)(wide(x), axis=numpy_axis, keepdims=keepdims)
        result = modes(lambda t, a=axis: getattr(F, name)(t, a, keepdims=keepdims), x)
        assert result.shape == expected.shape, axis
        assert as_dtype(result.dtype).name == dtype
        if axis == ():
            realta.testing.assert_same_bits(result, x)
        else:
            plain = getattr(np, name)(wide(x), axis=numpy_axis)
            check(name, result.reshape(np.shape(plain)), x, axis, plain)


@pytest.mark.parametrize("dtype", ["bool", *INT_DTYPES])
def test_sums_of_integers_are_wide(modes, dtype):
    x = drawn(dtype)
    wanted = "uint64" if dtype[0] == "u" else "int64"
    for name in ("sum", "prod"):
        for axis in axes_of(x.ndim):
            numpy_axis = tuple(axis) if isinstance(axis, list) else axis
            result = modes(lambda t, n=name, a=axis: getattr(F, n)(t, a), x)
            assert result.dtype == np.dtype(wanted)
            expected = getattr(np, name)(x, axis=numpy_axis, dtype=wanted)
            np.testing.assert_array_equal(result, expected)


def test_dtype_is_what_is_accumulated_in():
    x = Tensor([200, 100], dtype="uint8")
    assert F.sum(x, dtype="uint8").tolist() == 300 - 256
    assert F.sum(x, dtype="float32").dtype is realta.float32
    assert F.mean(Tensor([2**31 - 1] * 2, dtype="int32")).item() == 2147483648.0
    assert F.mean(Tensor([2**31 - 1] * 2, dtype="int32"), dtype="float64").item() == 2147483647.0
    assert F.mean(Tensor([0, 100, 200, 123], dtype="uint8")).item() == 105.75
    assert F.mean(Tensor([2**24 + 1, -(2**24)])).item() == 0.5
    assert F.var(Tensor([2**24 + 1, 2**24])).item() == F.std(Tensor([2**24 + 1, 2**24])).item() ** 2
    assert F.var(Tensor([2**24 + 1, 2**24])).item() == 0.25
    assert F.std(Tensor([0, 100, 200, 123], dtype="uint8")).item() == pytest.approx(
        71.4086, abs=1e-4
    )


@pytest.mark.parametrize("dtype", [*FLOAT_DTYPES, *INT_DTYPES, "bool"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes(modes, name, dtype):
    x = drawn(dtype)
    for axis in axes_of(x.ndim):
        if axis == ():
            continue
        numpy_axis = tuple(axis) if isinstance(axis, list) else axis
        result = modes(lambda t, a=axis: getattr(F, name)(t, axis=a), x)
        assert result.dtype == x.dtype
        np.testing.assert_array_equal(wide(result), getattr(wide(x), name)(axis=numpy_axis))


@pytest.mark.parametrize("dtype", [*FLOAT_DTYPES, *INT_DTYPES, "bool"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_arguments_of_extremes(modes, name, dtype):
    x = drawn(dtype)
    for axis in (None, 0, 1, 2, -1):
        result = modes(lambda t, a=axis: getattr(F, name)(t, a), x)
        assert result.dtype == np.int64
        np.testing.assert_array_equal(result, getattr(np, name)(wide(x), axis=axis))
        kept = getattr(F, name)(Tensor(x), axis, keepdims=True)
        np.testing.assert_array_equal(
            kept.numpy(), getattr(np, name)(wide(x), axis=axis, keepdims=True)
        )


@pytest.mark.parametrize("length", [3, 33, 1000, 5000])
def test_nan_wins_in_extremes(modes, length):
    x = np.random.default_rng(0).normal(size=length).astype(np.float32)
    place = length * 2 // 3
    x[place] = x[-1] = np.nan
    found = modes(lambda t: (F.max(t), F.min(t), F.argmax(t), F.argmin(t)), x)
    assert np.isnan(found[0])
    assert np.isnan(found[1])
    assert found[2] == found[3] == place
    assert F.argmax(Tensor([3.0, np.nan, 1.0, 5.0])).item() == 1
    assert F.argmin(Tensor([1.0, 2.0, np.nan])).item() == 2


def test_the_first_of_equal_extremes_counts():
    assert F.argmax(Tensor([1, 3, 3])).item() == 1
    assert F.argmin(Tensor([2, 1, 1])).item() == 1


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32"])
def test_all_and_any(modes, dtype):
    x = drawn(dtype, (4, 5))
    x[1] = 1
    x[2] = 0
    for axis in (None, 0, 1, (0, 1), ()):
        result = modes(lambda t, a=axis: (F.all(t, a), F.any(t, a)), x)
        np.testing.assert_array_equal(result[0], np.all(x, axis=axis))
        np.testing.assert_array_equal(result[1], np.any(x, axis=axis))
    assert F.any(Tensor([float("nan")])).item() is True


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_variance(modes, dtype):
    x = drawn(dtype, (5, 9))
    for axis in (None, 0, 1, (0, 1)):
        for correction in (0.0, 1.0):
            variance = modes(lambda t, a=axis, c=correction: F.var(t, a, correction=c), x)
            expected = np.var(wide(x), axis=axis, ddof=int(correction))
            check("var", variance, x, axis, expected, correction=correction)
            deviation = modes(lambda t, a=axis, c=correction: F.std(t, a, correction=c), x)
            bits = {"float16": 10, "bfloat16": 7, "float32": 22, "float64": 50}[dtype]
            np.testing.assert_allclose(wide(deviation), np.sqrt(expected), rtol=2.0**-bits)


def test_variance_does_not_cancel():
    x = F.add(F.arange(4, dtype="float32"), 40000.0)
    assert F.var(x).item() == 1.25
    assert F.var(F.full((256,), 1234.0)).item() == 0.0


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_nothing_to_reduce(modes, dtype):
    over, beside = np.ones((2, 0), dtype), np.ones((0, 2), dtype)
    found = modes(
        lambda t: (F.sum(t, 1), F.prod(t, 1), F.any(t, 1), F.all(t, 1), F.mean(t, 1), F.std(t, 1)),
        over,
    )
    assert [f.tolist() for f in found[:4]] == [[0, 0], [1, 1], [False, False], [True, True]]
    assert np.isnan(found[4]).all()
    assert np.isnan(found[5]).all()
    for name in ("sum", "prod", "any", "all", "mean", "std", "max", "argmax"):
        assert modes(lambda t, n=name: getattr(F, n)(t, axis=1), beside).shape == (0,)
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(ShapeError, match=f"{name} over axis 1, which is empty"):
            getattr(F, name)(Tensor(over), axis=1)
    with pytest.raises(ShapeError, match="empty"):
        F.max(F.ones((2, 0, 4)))


def test_zero_dimensional(modes):
    one = np.float32(1.0)
    assert modes(F.sum, one) == 1.0
    assert modes(lambda t: F.sum(t, axis=()), one).shape == ()
    assert modes(lambda t: F.max(t), one) == 1.0
    assert modes(lambda t: F.argmax(t), one) == 0
    with pytest.raises(ShapeError, match="axis 1 is out of range: the tensor has no axes"):
        F.sum(Tensor(1.0), axis=1)


def test_axes_are_checked():
    x = F.ones((2, 3))
    for axis in (2, -3, (0, 2)):
        with pytest.raises(ShapeError, match="out of range"):
            F.sum(x, axis)
    with pytest.raises(ShapeError, match="named twice"):
        F.sum(x, (0, -2))
    with pytest.raises(ArgumentError, match="an axis is an integer"):
        F.sum(x, 0.5)


def test_half_sums_do_not_stall(modes):
    assert modes(F.sum, np.ones(20000, np.float16)) == 20000
    ones = np.ones(70000).astype(BY_NAME["bfloat16"].numpy)
    total, mean = modes(lambda t: (F.sum(t), F.mean(t)), ones)
    assert float(total) == 70144.0
    assert float(mean) == 1.0


def test_long_sums_stay_accurate():
    assert abs(F.sum(F.full((1_000_000,), 0.1)).item() - 100000.0) < 1.0
    assert F.mean(F.ones((2_000_000, 2)), axis=0).tolist() == [1.0, 1.0]


def test_max_of_two(modes):
    x, y = np.array([1.0, 5.0], np.float32), np.array([[3.0], [0.0]], np.float32)
    np.testing.assert_array_equal(modes(F.max, x, y), np.maximum(x, y))
    np.testing.assert_array_equal(modes(F.min, x, y), np.minimum(x, y))
    assert F.max(Tensor(y), 0).tolist() == [3.0]
    with pytest.raises(ArgumentError, match=r"use F\.maximum\(x, 2\.0\)"):
        F.max(Tensor(x), 2.0)
    with pytest.raises(ArgumentError, match="axis twice"):
        F.max(Tensor(y), 0, axis=1)


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_logsumexp(modes, dtype):
    x = drawn(dtype, (4, 33))
    for axis in (None, 0, 1, (0, 1)):
        expected = np.log(np.sum(np.exp(wide(x)), axis=axis))
        result = modes(lambda t, a=axis: F.logsumexp(t, a), x)
        check("logsumexp", result, x, axis, expected)
    assert F.logsumexp(Tensor([-math.inf] * 2)).item() == -math.inf
    assert F.logsumexp(Tensor([1000.0, 1000.0])).item() == pytest.approx(1000 + math.log(2))
    assert F.logsumexp(F.zeros((0,))).item() == -math.inf


def test_lazy_means_of_int_keep_what_float32_would_lose():
    with realta.lazy():
        mean = F.mean(Tensor([2**40, 2**40 + 2]), dtype="float64")
    assert mean.item() == 2**40 + 1
