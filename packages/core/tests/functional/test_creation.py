"""Creation: shapes, dtypes, lengths and values, in all modes."""

import math

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType, compile
from realta.errors import ArgumentError, DTypeError, ShapeError
from realta.testing import assert_same_bits
from realta.types import COMPUTABLE, INTEGERS


@pytest.mark.parametrize("dtype", sorted(COMPUTABLE, key=lambda d: d.name), ids=str)
def test_fills(modes, dtype):
    def body():
        return (
            F.zeros((2, 3), dtype=dtype), F.ones(4, dtype=dtype), F.full((), 1, dtype=dtype),
            F.full((2, 0), 1, dtype=dtype), F.empty((2,), dtype=dtype), F.eye(2, dtype=dtype),
        )  # fmt: skip

    found = modes(body)
    expected = [
        np.zeros((2, 3)), np.ones(4), np.array(1), np.ones((2, 0)), np.zeros(2), np.eye(2),
    ]  # fmt: skip
    for result, wanted in zip(found, expected, strict=True):
        assert_same_bits(result, wanted.astype(dtype.numpy))


def test_like(modes):
    x = np.array([[1, 2]], np.int16)
    found = modes(
        lambda t: (F.zeros_like(t), F.ones_like(t), F.full_like(t, 7), F.empty_like(t)), x
    )
    for result, value in zip(found, (0, 1, 7, 0), strict=True):
        assert_same_bits(result, np.full((1, 2), value, np.int16))
    assert F.ones_like(Tensor(x), dtype="bfloat16").dtype is realta.bfloat16
    assert F.full_like(Tensor(x), 2.5, dtype="float32").tolist() == [[2.5, 2.5]]


def test_dtype_of_a_value():
    assert F.full((1,), 3).dtype is realta.int64
    assert F.full((1,), True).dtype is realta.bool_
    assert F.full((1,), 0.5).dtype is realta.float32
    assert F.full((1,), np.int8(3)).dtype is realta.int8
    assert F.full((1,), np.float16(0.5)).dtype is realta.float16
    with realta.default_dtype("float16"):
        assert F.full((1,), 0.5).dtype is realta.float16
        assert F.zeros(1).dtype is realta.float16
        assert F.arange(1.0).dtype is realta.float16
        assert F.full((1,), 3).dtype is realta.int64
    assert F.zeros(1).dtype is realta.float32


def test_floats_are_parameters_of_one_program():
    for value in (0.1, -0.0, 0.25, float("inf"), 1.0, 0.0, 3.5):
        found = F.full((2,), value).numpy()
        assert_same_bits(found, np.full(2, value, np.float32))
    assert np.isnan(F.full((2,), float("nan")).numpy()).all()


@pytest.mark.parametrize("value", [256, -1, 1.5, float("nan")])
def test_a_value_that_the_dtype_cannot_hold(value):
    with pytest.raises((DTypeError, OverflowError)) as caught:
        F.full((2,), value, dtype="uint8")
    assert "test_creation.py" in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: F.zeros((2, -1)), lambda: F.ones(-1), lambda: F.full((-1, 2), 1.0),
        lambda: F.eye(-2), lambda: realta.empty((-3,)), lambda: F.zeros((1.5,)),
        lambda: F.zeros((True,)), lambda: F.zeros((2, None)),
    ],
)  # fmt: skip
def test_extents_are_checked(call):
    with pytest.raises(ShapeError) as caught:
        call()
    assert "test_creation.py" in caught.value.where
    assert caught.value.fix


@pytest.mark.parametrize(
    "given",
    [
        (5,), (0,), (-3,), (2, 5), (5, 2), (0, 5, 2), (5, 0, -2), (0, 1, 0.1), (2.5,), (0, 1, 0.3),
        (1, 2, 0.25), (1.0, 0.0, -0.4), (0.0, 5.0), (3, 3), (-1, 1, 0.5), (0, 10, 3), (10, 0, -3),
        (0.5, 3.0, 0.25), (1.5, 3.0, 0.25), (1.5, 4.0, 0.25), (1.5, 4.0, 0.75),
    ],
)  # fmt: skip
def test_arange_has_numpys_length_and_values(modes, given):
    expected = np.arange(*given)
    result = modes(lambda: F.arange(*given))
    assert result.shape == expected.shape
    whole = all(isinstance(v, int) for v in given)
    assert result.dtype == (np.int64 if whole else np.float32)
    start = given[0] if len(given) > 1 else 0
    step = given[2] if len(given) > 2 else 1
    exact = [start + n * step for n in range(len(expected))]
    np.testing.assert_array_equal(result, np.array(exact, np.float64).astype(result.dtype))


def test_arange_counts_in_integers():
    # Counting in float32 would stop at 2**24.
    assert F.arange(16_777_000, 16_777_300)[-1].item() == 16_777_299
    long = F.arange(16_777_210, 16_777_222, dtype="float32").numpy()
    np.testing.assert_array_equal(long, np.arange(16_777_210, 16_777_222).astype(np.float32))
    assert F.arange(300, dtype="float16").shape == (300,)
    assert F.arange(2**62, 2**62 + 2).tolist() == [2**62, 2**62 + 1]


@pytest.mark.parametrize("given", [(0, 5, 0), (0, math.inf), (math.nan,), (0, "5"), (None, 5)])
def test_arange_refuses(given):
    with pytest.raises(ArgumentError, match="arange"):
        F.arange(*given)


@pytest.mark.parametrize(
    ("start", "stop", "num"), [(0, 1, 5), (1, -1, 4), (0, 1, 1), (2, 3, 0), (0.1, 0.7, 33)]
)
def test_linspace(modes, start, stop, num):
    for endpoint in (True, False):
        result = modes(lambda e=endpoint: F.linspace(start, stop, num, endpoint=e))
        expected = np.linspace(start, stop, num, endpoint=endpoint)
        assert_same_bits(result, expected.astype(np.float32))
    assert F.linspace(0, 10, 3, dtype="int32").tolist() == [0, 5, 10]
    with pytest.raises(ArgumentError, match="-1 values"):
        F.linspace(0, 1, -1)


@pytest.mark.parametrize(
    ("rows", "columns", "k"), [(3, None, 0), (2, 4, 1), (4, 2, -1), (3, 3, 5), (0, 2, 0)]
)
def test_eye(modes, rows, columns, k):
    result = modes(lambda: F.eye(rows, columns, k=k))
    assert_same_bits(result, np.eye(rows, columns, k, dtype=np.float32))


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "bfloat16"])
@pytest.mark.parametrize("k", [-2, -1, 0, 1, 9])
def test_triangles(modes, dtype, k):
    x = np.ones((2, 3, 4)).astype(realta.types.BY_NAME[dtype].numpy)
    lower, upper = modes(lambda t: (F.tril(t, k), F.triu(t, k)), x)
    assert_same_bits(lower, np.where(np.tri(3, 4, k, bool), x, np.zeros_like(x)))
    assert_same_bits(upper, np.where(~np.tri(3, 4, k - 1, bool), x, np.zeros_like(x)))
    with pytest.raises(ShapeError, match="two or more axes"):
        F.tril(F.ones(3))


def test_top_level_functions_are_these():
    for name in ("arange", "empty", "empty_like", "eye", "full", "full_like", "linspace", "ones",
                 "ones_like", "zeros", "zeros_like"):  # fmt: skip
        assert getattr(realta, name) is getattr(F, name)


def test_constant_is_a_tensor():
    assert F.constant([1, 2], dtype="int8").dtype is realta.int8
    assert {realta.int8} <= INTEGERS


def test_creation_touches_no_memory_in_a_lazy_block():
    before = realta.memory_stats("reference:0")
    with realta.lazy():
        big = F.zeros((1 << 20, 1 << 10)) + F.arange(1 << 10, dtype="float32")
    assert not big.is_real
    assert realta.memory_stats("reference:0") == before


def test_a_tensor_is_no_fill_value():
    with pytest.raises(ArgumentError, match="full takes a number"):
        F.full((2,), Tensor([1.0]))


@pytest.mark.parametrize(
    ("start", "shift", "step"), [(0, 0, 1), (3, 0, 1), (0, 1, 3), (10, 0, -2), (-4, 2, 5)]
)
def test_arange_up_to_a_symbolic_extent(start, shift, step):
    body = compile(lambda x: F.arange(start, x.shape[0] + shift, step))
    compiled = body(TensorType("float32", ("n",)))
    for extent in (0, 1, 5, 12):
        wanted = list(range(start, extent + shift, step))
        assert compiled(F.zeros(extent)).tolist() == wanted
