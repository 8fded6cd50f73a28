"""Each pointwise function against NumPy in long double, within spec 5a, in all modes."""

import inspect

import ml_dtypes
import numpy as np
import pytest
from realta import F, Tensor
from realta.functional import pointwise
from realta.functional.elementwise import is_elementwise
from realta.ops import OpKind, all_ops, get_op
from realta.ops.tolerances import allowance
from realta.types import BY_NAME, FLOATS, INTEGERS, as_dtype, bool_

from scipy import special  # isort: skip

FLOAT_DTYPES = ("float16", "bfloat16", "float32", "float64")
INT_DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
WIDE = np.longdouble


def floats(dtype: str, *, low=-4.0, high=4.0, seed=0, count=96) -> np.ndarray:
    numpy = BY_NAME[dtype].numpy
    drawn = np.random.default_rng(seed).uniform(low, high, count)
    return drawn.astype(numpy)


def specials(dtype: str) -> np.ndarray:
    numpy = BY_NAME[dtype].numpy
    info = ml_dtypes.finfo(numpy)
    picked = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, float(info.max), float(info.tiny)]
    return np.array(picked).astype(numpy)


def integers(dtype: str, seed=0, count=64) -> np.ndarray:
    info = np.iinfo(dtype)
    edges = np.array([info.min, info.max, 0, 1, 2, 7], dtype)
    drawn = np.random.default_rng(seed).integers(info.min, info.max, count, dtype, endpoint=True)
    return np.concatenate([edges, drawn])


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32).astype(WIDE) if array.dtype.kind == "V" else array.astype(WIDE)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


UNARY = {
    # name: (function in long double, lowest and highest operand)
    "neg": (np.negative, -9, 9),
    "abs": (np.abs, -9, 9),
    "sign": (np.sign, -9, 9),
    "square": (np.square, -9, 9),
    "reciprocal": (np.reciprocal, 0.1, 9),
    "sqrt": (np.sqrt, 0, 9),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.01, 9),
    "floor": (np.floor, -9, 9),
    "ceil": (np.ceil, -9, 9),
    "trunc": (np.trunc, -9, 9),
    "round": (np.rint, -9, 9),
    "exp": (np.exp, -9, 9),
    "expm1": (np.expm1, -4, 4),
    "log": (np.log, 0.01, 9),
    "log1p": (np.log1p, -0.9, 9),
    "log2": (np.log2, 0.01, 9),
    "log10": (np.log10, 0.01, 9),
    "sin": (np.sin, -100, 100),
    "cos": (np.cos, -100, 100),
    "tan": (np.tan, -1.5, 1.5),
    "asin": (np.arcsin, -1, 1),
    "acos": (np.arccos, -1, 1),
    "atan": (np.arctan, -9, 9),
    "sinh": (np.sinh, -4, 4),
    "cosh": (np.cosh, -4, 4),
    "tanh": (np.tanh, -4, 4),
    "asinh": (np.arcsinh, -9, 9),
    "acosh": (np.arccosh, 1, 9),
    "atanh": (np.arctanh, -0.99, 0.99),
    "erf": (lambda x: special.erf(x.astype(np.float64)), -3, 3),
    "relu": (lambda x: np.maximum(x, 0), -4, 4),
    "sigmoid": (sigmoid, -9, 9),
    "silu": (lambda x: x * sigmoid(x), -9, 9),
}
BINARY = {
    "add": (np.add, -9, 9),
    "sub": (np.subtract, -9, 9),
    "mul": (np.multiply, -9, 9),
    "div": (np.divide, 0.1, 9),
    "floor_div": (np.floor_divide, 0.1, 9),
    "mod": (np.mod, 0.1, 9),
    "pow": (np.power, 0.1, 4),
    "maximum": (np.maximum, -9, 9),
    "minimum": (np.minimum, -9, 9),
    "atan2": (np.arctan2, -9, 9),
    "hypot": (np.hypot, -9, 9),
    "copysign": (np.copysign, -9, 9),
    "logaddexp": (np.logaddexp, -9, 9),
}


def close(name: str, result: np.ndarray, operands: list[np.ndarray], expected: np.ndarray) -> None:
    dtype = as_dtype(result.dtype)
    truth = np.asarray(expected, np.float64)
    allowed = allowance(
        get_op(name), [np.asarray(wide(o), np.float64) for o in operands], {}, truth, dtype
    )
    # The oracle in long double is rounded to float64 once; half an ulp of that is nothing here.
    error = np.abs(np.asarray(wide(result) - np.asarray(expected, WIDE), np.float64))
    assert (error <= allowed).all(), (name, dtype, float((error / allowed).max()))


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_unary_floats(modes, name, dtype):
    function, low, high = UNARY[name]
    x = floats(dtype, low=low, high=high)
    x = x[(wide(x) >= low) & (wide(x) <= high)]
    result = modes(getattr(F, name), x)
    assert as_dtype(result.dtype).name == dtype
    assert result.shape == x.shape
    close(name, result, [x], function(wide(x)))


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_binary_floats(modes, name, dtype):
    function, low, high = BINARY[name]
    x, y = (floats(dtype, low=low, high=high, seed=s) for s in (1, 2))
    result = modes(getattr(F, name), x, y)
    assert as_dtype(result.dtype).name == dtype
    if name in ("floor_div", "mod"):
        # NumPy's own algorithm in the dtype itself: a quotient is exact or off by its rounding.
        with np.errstate(all="ignore"):
            exact = np.float32 if as_dtype(result.dtype).is_half else result.dtype
            expected = function(x.astype(exact), y.astype(exact)).astype(result.dtype)
        np.testing.assert_array_equal(wide(result), wide(expected))
        return
    close(name, result, [x, y], function(wide(x), wide(y)))


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_unary_special_values_are_numpys(modes, name, dtype):
    x = specials(dtype)
    function = UNARY[name][0]
    with np.errstate(all="ignore"):
        expected = np.asarray(function(wide(x)), np.float64)
    result = np.asarray(wide(modes(getattr(F, name), x)), np.float64)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))
    infinite = np.isinf(expected)
    # What overflows in the dtype but not in long double may be either.
    np.testing.assert_array_equal(result[infinite], expected[infinite])
    zero = (expected == 0) & (result == 0)
    if name not in ("sign", "abs", "square", "relu"):
        np.testing.assert_array_equal(np.signbit(result[zero]), np.signbit(expected[zero]))


@pytest.mark.parametrize("dtype", INT_DTYPES)
@pytest.mark.parametrize("name", ["neg", "abs", "sign", "square", "relu"])
def test_unary_integers_wrap(modes, name, dtype):
    x = integers(dtype)
    expected = (
        np.maximum(x, 0) if name == "relu" else getattr(np, {"neg": "negative"}.get(name, name))(x)
    )
    result = modes(getattr(F, name), x)
    assert result.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", INT_DTYPES)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "maximum", "minimum"])
def test_binary_integers_wrap(modes, name, dtype):
    x, y = integers(dtype, 1), integers(dtype, 2)[::-1].copy()
    function = {"sub": np.subtract, "mul": np.multiply}.get(name) or getattr(np, name)
    result = modes(getattr(F, name), x, y)
    assert result.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(result, function(x, y))


@pytest.mark.parametrize("dtype", INT_DTYPES)
def test_integer_division_floors_and_by_zero_gives_zero(modes, dtype):
    x, y = integers(dtype, 3), np.random.default_rng(0).integers(0, 5, 70).astype(dtype)
    quotient, rest = modes(lambda a, b: (F.floor_div(a, b), F.mod(a, b)), x, y)
    for n, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        assert quotient[n] == (a // b if b else 0)
        assert rest[n] == (a % b if b else 0)


@pytest.mark.parametrize("dtype", INT_DTYPES)
@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
def test_bits(modes, name, dtype):
    x, y = integers(dtype, 1), integers(dtype, 2)
    np.testing.assert_array_equal(modes(getattr(F, name), x, y), getattr(np, name)(x, y))
    np.testing.assert_array_equal(modes(F.bitwise_not, x), ~x)


@pytest.mark.parametrize("dtype", INT_DTYPES)
def test_shifts(modes, dtype):
    bits = np.iinfo(dtype).bits
    x = integers(dtype)[:40]
    amounts = np.resize(np.array([0, 1, bits - 1, bits, bits + 1, 100]), 40)
    if np.iinfo(dtype).min:
        amounts = np.where(np.arange(40) % 7 == 6, -1, amounts)
    amounts = amounts.astype(dtype)
    left, right = modes(lambda a, b: (F.shift_left(a, b), F.shift_right(a, b)), x, amounts)
    for n, (a, by) in enumerate(zip(x.tolist(), amounts.tolist(), strict=True)):
        if 0 <= by < bits:
            assert left[n] == np.left_shift(x[n], by)
            assert right[n] == a >> by
        else:
            assert left[n] == 0
            assert right[n] == (-1 if a < 0 and by >= bits else 0)


def test_integer_powers():
    assert F.pow(Tensor([-5, -7]), 2).tolist() == [25, 49]
    assert F.pow(Tensor([3], dtype="int8"), 5).tolist() == [-13]
    assert (Tensor([2, 1, -1, -1, 0]) ** Tensor([-1, -3, -3, -2, -1])).tolist() == [0, 1, -1, 1, 0]
    assert (2 ** Tensor([3, 0])).tolist() == [8, 1]
    assert (Tensor([2.0]) ** -1).tolist() == [0.5]
    assert (Tensor([2]) ** -1.0).tolist() == [0.5]


@pytest.mark.parametrize("dtype", FLOAT_DTYPES + INT_DTYPES + ("bool",))
@pytest.mark.parametrize(
    "name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
)
def test_comparisons(modes, name, dtype):
    if dtype == "bool":
        x, y = np.array([True, True, False, False]), np.array([True, False, True, False])
    elif dtype in INT_DTYPES:
        x, y = (
            integers(dtype, 1),
            np.where(np.arange(70) % 3 == 0, integers(dtype, 1), integers(dtype, 2)),
        )
        y = y.astype(dtype)
    else:
        x = np.concatenate([specials(dtype), specials(dtype)])
        y = np.concatenate([specials(dtype), specials(dtype)[::-1]])
    result = modes(getattr(F, name), x, y)
    assert result.dtype == bool
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(result, getattr(np, name)(wide(x), wide(y)))


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_predicates(modes, dtype):
    x = specials(dtype)
    found = modes(lambda t: (F.is_nan(t), F.is_inf(t), F.is_finite(t), F.signbit(t)), x)
    for result, function in zip(found, (np.isnan, np.isinf, np.isfinite, np.signbit), strict=True):
        np.testing.assert_array_equal(result, function(wide(x)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nextafter(modes, dtype):
    x, y = floats(dtype), floats(dtype, seed=5)
    np.testing.assert_array_equal(modes(F.nextafter, x, y), np.nextafter(x, y))


def test_integers_are_finite_and_round_to_themselves():
    big = Tensor([2**60 + 1, -(2**60) - 1])
    for function in (F.floor, F.ceil, F.trunc, F.round):
        assert function(big).dtype.name == "int64"
        assert function(big).tolist() == big.tolist()
    assert F.is_nan(big).tolist() == [False, False]
    assert F.is_inf(big).tolist() == [False, False]
    assert F.is_finite(big).tolist() == [True, True]
    assert F.signbit(big).tolist() == [False, True]


def test_logic_asks_whether_numbers_are_zero(modes):
    x, y = np.array([0.0, 2.0, np.nan, -0.0]), np.array([1, 0, 3, 0])
    found = modes(
        lambda a, b: (
            F.logical_and(a, b),
            F.logical_or(a, b),
            F.logical_xor(a, b),
            F.logical_not(a),
        ),
        x,
        y,
    )
    assert [f.tolist() for f in found] == [
        [False, False, True, False],
        [True, True, True, False],
        [True, True, False, False],
        [True, False, False, True],
    ]


@pytest.mark.parametrize(
    ("x", "y", "shape"),
    [((2, 0), (2, 1), (2, 0)), ((), (0,), (0,)), ((3, 1), (1, 4), (3, 4)), ((2, 3), (3,), (2, 3))],
)
def test_broadcasting(modes, x, y, shape):
    a, b = np.ones(x, np.float32), np.full(y, 2.0, np.float32)
    result = modes(F.add, a, b)
    assert result.shape == shape
    np.testing.assert_array_equal(result, a + b)


@pytest.mark.parametrize("dtype", [*FLOAT_DTYPES, *INT_DTYPES])
def test_clip(modes, dtype):
    numpy = BY_NAME[dtype].numpy
    x = np.array([0, 1, 5, 9, 100]).astype(numpy)
    low, high = np.array(2).astype(numpy), np.array([3, 3, 7, 7, 7]).astype(numpy)
    found = modes(
        lambda t, a, b: (
            F.clip(t, 2, 7), F.clip(t, 2), F.clip(t, max=7), F.clip(t), F.clip(t, a, b),
            F.clip(t, min=a), t.clip(2, b), F.clip(t, 7, 2),
        ),
        x, low, high,
    )  # fmt: skip
    y = wide(x)
    expected = [
        np.clip(y, 2, 7), np.maximum(y, 2), np.minimum(y, 7), y, np.clip(y, 2, wide(high)),
        np.maximum(y, 2), np.clip(y, 2, wide(high)), np.full(5, 2.0),
    ]  # fmt: skip
    for result, wanted in zip(found, expected, strict=True):
        assert result.dtype == numpy
        np.testing.assert_array_equal(wide(result), wanted)


def test_clip_with_bounds_of_another_kind(modes):
    x = np.array([1, 200], np.uint8)
    # No element passes these, so they are no bounds; one that all pass has no result.
    assert modes(lambda t: F.clip(t, -1, 300), x).tolist() == [1, 200]
    for bounds in ((300, None), (None, -1)):
        with pytest.raises(OverflowError):
            F.clip(Tensor(x), *bounds)
    widened = modes(lambda t: F.clip(t, 2.5, None), x)
    assert widened.dtype == np.float32
    assert widened.tolist() == [2.5, 200.0]
    assert np.isnan(modes(lambda t: F.clip(t, 0.0, 1.0), np.array([np.nan], np.float32)))
    assert np.isnan(modes(lambda t: F.clip(t, float("nan")), np.array([1.0], np.float32)))


def test_nan_and_signed_zeros():
    nan = float("nan")
    assert F.sign(Tensor([nan, -0.0, 0.0, -3.0])).numpy().tolist()[1:] == [0.0, 0.0, -1.0]
    assert np.isnan(F.sign(Tensor([nan])).item())
    for x, y in (([1.0, nan], [nan, 1.0]), ([nan, 1.0], [1.0, nan])):
        assert np.isnan(F.maximum(Tensor(x), Tensor(y)).numpy()).all()
        assert np.isnan(F.minimum(Tensor(x), Tensor(y)).numpy()).all()
    zeros = Tensor([0.0, -0.0])
    assert np.signbit(F.maximum(zeros, Tensor([-0.0, 0.0])).numpy()).tolist() == [False, False]
    assert np.signbit(F.minimum(zeros, Tensor([-0.0, 0.0])).numpy()).tolist() == [True, True]
    quotient = F.floor_div(Tensor([1.0, -1.0, 0.0]), 0.0).numpy()
    assert quotient[:2].tolist() == [np.inf, -np.inf]
    assert np.isnan(quotient[2])
    assert np.signbit((-Tensor([0.0])).numpy()).tolist() == [True]
    assert np.signbit((Tensor([-0.0]) * 1.0).numpy()).tolist() == [True]
    assert np.signbit((Tensor([-0.0]) + 0.0).numpy()).tolist() == [False]
    assert np.signbit((Tensor([-0.0]) + -0.0).numpy()).tolist() == [True]


def test_subnormals_are_kept():
    tiny = np.finfo(np.float32).tiny
    assert (Tensor(np.float32(tiny)) / 2).item() == tiny / 2 > 0
    smallest = np.finfo(np.float32).smallest_subnormal
    assert (Tensor(np.float32(smallest)) * 2).item() == 2 * float(smallest)
    assert (Tensor(1e-310, dtype="float64") * 1e100).item() == 1e-310 * 1e100


def test_every_elementwise_op_has_its_function():
    listed = set(F.__all__)
    missing = [op.name for op in all_ops() if is_elementwise(op) and op.name not in listed]
    assert not missing
    assert set(pointwise.__all__) <= listed


def test_functions_carry_their_ops_doc():
    for op in all_ops():
        if op.kind is OpKind.ELEMENTWISE and op.name in pointwise.__all__:
            assert inspect.getdoc(getattr(F, op.name)).startswith(op.doc.split(".")[0])


def test_float_functions_of_integers_give_the_default_float():
    for op in all_ops():
        if op.kind is OpKind.ELEMENTWISE and op.dtypes == FLOATS and len(op.operands) == 1:
            if op.name in (
                "floor",
                "ceil",
                "trunc",
                "round",
                "is_nan",
                "is_inf",
                "is_finite",
                "signbit",
            ):
                continue
            assert getattr(F, op.name)(Tensor([1, 1])).dtype.name == "float32", op.name
    assert INTEGERS.isdisjoint(get_op("exp").dtypes)
    assert bool_ not in get_op("exp").dtypes
    assert F.exp(Tensor([True])).dtype.name == "float32"
