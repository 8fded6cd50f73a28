"""Scans against NumPy over dtypes, axes and directions, in all modes."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError
from realta.ops import get_op
from realta.ops.tolerances import allowance
from realta.testing import assert_same_bits
from realta.types import BY_NAME, as_dtype

FUNCTIONS = {
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "cummax": np.maximum.accumulate,
    "cummin": np.minimum.accumulate,
}


def wide(array) -> np.ndarray:
    return np.asarray(array if array.dtype.kind in "biuf" else array.astype(np.float32), np.float64)


def expected_of(name: str, x: np.ndarray, axis: int, exclusive: bool, reverse: bool) -> np.ndarray:
    turned = np.flip(x, axis) if reverse else x
    found = FUNCTIONS[name](turned, axis=axis)
    if exclusive:
        start = {"cumsum": 0, "cumprod": 1}[name]
        first = np.full_like(np.take(found, [0], axis), start)
        found = np.concatenate([first, np.delete(found, -1, axis)], axis)
    return np.flip(found, axis) if reverse else found


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "int64"]
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_against_numpy(modes, name, dtype):
    numpy = BY_NAME[dtype].numpy
    x = np.random.default_rng(0).uniform(1, 3, (4, 7)).astype(numpy)
    sums = name in ("cumsum", "cumprod")
    for axis in (0, 1, -1):
        for exclusive in (False, True) if sums else (False,):
            for reverse in (False, True):
                options = {"exclusive": exclusive} if sums else {}
                result = modes(
                    lambda t, a=axis, o=options, r=reverse: getattr(F, name)(t, a, reverse=r, **o),
                    x,
                )
                wanted = as_dtype(dtype)
                if sums and not wanted.is_float:
                    wanted = as_dtype("uint64" if wanted.kind == "uint" else "int64")
                assert as_dtype(result.dtype) is wanted
                whole = wide(x) if wanted.is_float else x.astype(result.dtype)
                expected = expected_of(name, whole, axis, exclusive, reverse)
                if not sums or not wanted.is_float:
                    np.testing.assert_array_equal(wide(result), np.asarray(expected, np.float64))
                    continue
                attrs = {"axis": axis % 2, "exclusive": exclusive, "reverse": reverse}
                allowed = allowance(get_op(name), [wide(x)], attrs, expected, wanted)
                assert (np.abs(wide(result) - expected) <= allowed).all()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_flattened_and_empty(modes, name):
    x = np.arange(1.0, 7.0, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(modes(getattr(F, name), x), FUNCTIONS[name](x.reshape(-1)))
    assert modes(lambda t: getattr(F, name)(t, 1), np.ones((2, 0), np.float32)).shape == (2, 0)
    assert modes(getattr(F, name), np.float32(2.0)).tolist() == [2.0]


def test_nan_propagates_in_running_extremes(modes):
    x = np.array([1.0, np.nan, 3.0, 0.0], np.float32)
    for name in ("cummax", "cummin"):
        result = modes(lambda t, n=name: getattr(F, n)(t), x)
        assert result[0] == 1.0
        assert np.isnan(result[1:]).all()


def test_half_scans_do_not_stall():
    assert F.cumsum(F.ones((5000,), dtype="float16"))[-1].item() == 5000
    assert F.cumsum(F.ones((5000,), dtype="bfloat16"))[-1].item() == 4992


def test_dtype_of_a_running_sum():
    x = Tensor([True, True, False])
    assert F.cumsum(x).tolist() == [1, 2, 2]
    assert F.cumsum(x, dtype="float32").dtype is realta.float32


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_cumulative(modes, name):
    x = np.array([[1, 2, 3], [4, 5, 6]], np.int8)
    ours, plain = getattr(F, f"cumulative_{name}"), getattr(np, f"cumulative_{name}")
    for axis in (0, 1, -1):
        for initial in (False, True):
            found = modes(lambda t, a=axis, i=initial: ours(t, axis=a, include_initial=i), x)
            wanted = plain(x.astype(np.int64), axis=axis, include_initial=initial)
            assert_same_bits(found, wanted)
    row = np.array([0.5, 2.0, -1.0], np.float32)
    wanted = plain(row.astype(np.float64), include_initial=True)
    found = modes(lambda t: ours(t, dtype=realta.float64, include_initial=True), row)
    assert_same_bits(found, wanted)
    assert ours(F.zeros(0), include_initial=True).shape == (1,)
    for wrong, text in ((Tensor(x), "of 2 axes"), (Tensor(1.0), "of 0 axes")):
        with pytest.raises(ArgumentError, match=text) as caught:
            ours(wrong)
        assert "test_scans.py" in caught.value.where
