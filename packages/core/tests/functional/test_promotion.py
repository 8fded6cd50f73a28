"""Promotion and weak scalars at the level of functions (spec 3 and 5)."""

import ml_dtypes
import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import DTypeError, ScalarOverflowError
from realta.types import COMPUTABLE, DTYPES, promote


def one(dtype, value=1) -> Tensor:
    return F.full((2,), value, dtype=dtype)


@pytest.mark.parametrize("first", sorted(COMPUTABLE, key=lambda d: d.name), ids=str)
def test_tensors_meet_in_the_lattice(first):
    for second in COMPUTABLE:
        x, y = one(first), one(second)
        try:
            wanted = promote(first, second)
        except DTypeError:
            with pytest.raises(DTypeError, match="no common dtype"):
                F.add(x, y)
            continue
        assert F.add(x, y).dtype is wanted
        assert F.maximum(y, x).dtype is wanted
        assert F.where(Tensor([True, False]), x, y).dtype is wanted
        assert F.concat([x, y]).dtype is wanted
        assert F.equal(x, y).dtype is realta.bool_


@pytest.mark.parametrize(
    ("dtype", "scalar", "wanted"),
    [
        ("int8", 1, "int8"),
        ("uint8", 255, "uint8"),
        ("int32", 2.0, "float32"),
        ("bool", 1, "int64"),
        ("bool", 1.5, "float32"),
        ("bfloat16", 0.5, "bfloat16"),
        ("float16", 3, "float16"),
        ("float64", 0.1, "float64"),
        ("float32", True, "float32"),
        ("int16", True, "int16"),
        ("int64", np.float64(0.5), "float32"),
        ("float32", np.float64(0.1), "float32"),
        ("int8", np.int16(1), "int16"),
        ("float32", np.int64(3), "float32"),
        ("float16", np.float32(0.5), "float32"),
    ],
)
def test_scalars(modes, dtype, scalar, wanted):
    x = np.ones(2).astype(realta.types.BY_NAME[dtype].numpy)
    for call in (
        lambda t: t * scalar,
        lambda t: scalar * t if type(scalar) is not np.float32 else t * scalar,
    ):
        assert realta.types.as_dtype(modes(call, x).dtype).name == wanted


def test_the_default_float_is_what_ints_become():
    x = Tensor([1, 2])
    assert (x * 2.0).dtype is realta.float32
    with realta.default_dtype("float64"):
        # The same call under another default is another program.
        assert (x * 2.0).dtype is realta.float64
        assert (x / 2).dtype is realta.float64
        assert F.sqrt(x).dtype is realta.float64
        assert F.where(x > 1, 1.0, 0.0).dtype is realta.float64
        assert F.mean(x).dtype is realta.float64
    assert (x * 2.0).dtype is realta.float32
    assert F.sqrt(x).dtype is realta.float32


@pytest.mark.parametrize(
    ("dtype", "scalar"), [("uint8", 256), ("uint8", -1), ("int8", 128), ("int64", 2**63)]
)
def test_an_int_that_does_not_fit_is_an_overflow(dtype, scalar):
    with pytest.raises(OverflowError, match=f"the integer {scalar} does not fit {dtype}") as caught:
        one(dtype) + scalar
    assert isinstance(caught.value, ScalarOverflowError)
    assert "test_promotion.py" in caught.value.where


def test_values_that_fit_wrap_around():
    assert (Tensor([200], dtype="uint8") + 128).tolist() == [72]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64", "int64"])
def test_comparisons_with_ints_beyond_the_range_are_exact(modes, dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, 0, info.max], dtype)
    above, below = int(info.max) + 1, int(info.min) - 1
    for scalar, smaller in ((above, True), (below, False)):
        results = modes(
            lambda t, s=scalar: (
                t < s, t <= s, t > s, t >= s, t == s, t != s, s > t, s >= t, s < t, s <= t
            ),
            x,
        )  # fmt: skip
        truths = [smaller, smaller, not smaller, not smaller, False, True] + 2 * [smaller]
        truths += 2 * [not smaller]
        assert [r.tolist() for r in results] == [[t] * 3 for t in truths]


def test_division_of_ints_gives_the_default_float():
    quotient = Tensor([1, 2], dtype="uint8") / 256
    assert quotient.dtype is realta.float32
    assert quotient.tolist() == [1 / 256, 2 / 256]


def test_bools():
    true, false = Tensor([True]), Tensor([False])
    assert (true + true).tolist() == [True]
    assert (true * false).tolist() == [False]
    assert F.sum(Tensor([True, True, False])).item() == 2
    for call in (lambda: true - false, lambda: -true, lambda: F.abs(true), lambda: true // true):
        with pytest.raises(DTypeError, match="not defined for bool"):
            call()


def test_numbers_alone_are_tensors():
    assert F.add(1, 2).dtype is realta.int64
    assert F.add(1, 2.5).item() == 3.5
    assert F.exp(0.0).item() == 1.0
    assert F.logical_or(False, True).item() is True
    assert F.where(Tensor([True, False]), 1, 0).dtype is realta.int64
    assert F.where(Tensor([True, False]), 1.0, 0).dtype is realta.float32
    assert F.where(Tensor([True, False]), True, False).dtype is realta.bool_


def test_arrays_are_tensors_of_their_dtype():
    x = Tensor([1.0, 2.0])
    assert (np.array([1.0, 2.0]) + x).dtype is realta.float64
    assert (x + np.array([1, 2], np.int32)).dtype is realta.float32
    assert (x * np.array([1, 2], ml_dtypes.bfloat16)).dtype is realta.float32
    assert F.add(np.ones(2, np.float32), np.ones(2, np.float32)).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("other", [[1, 2], None, "x", object()])
def test_other_operands_are_refused_by_python(other):
    x = Tensor([1.0, 2.0])
    with pytest.raises(TypeError):
        x + other
    with pytest.raises(TypeError):
        other - x
    assert (x == other) is False


def test_float8_is_for_storage():
    for dtype in DTYPES:
        if dtype in COMPUTABLE:
            continue
        with pytest.raises(DTypeError, match="storage"):
            F.full((2,), 1.0, dtype=dtype) + 1
        assert F.full((2,), 1.0, dtype=dtype).cast("float32").tolist() == [1.0, 1.0]


@pytest.mark.parametrize("scalar", [0.1, -0.0, float("nan"), float("inf"), 1e-300, 1e300])
def test_floats_round_once(modes, scalar):
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        numpy = realta.types.BY_NAME[dtype].numpy
        x = np.array([1.0, -1.0]).astype(numpy)
        result = modes(lambda t: F.where(t > 0, t * 1.0, scalar), x)
        with np.errstate(over="ignore"):
            wanted = np.array([1.0, scalar]).astype(numpy)
        realta.testing.assert_same_bits(result, wanted)
