"""Elementwise references: the meanings of spec 5, with their rows of the bug corpus."""

import math

import ml_dtypes
import numpy as np
import pytest
from realta.ops import all_ops, convert, get_op
from realta.ops.tolerances import allowance
from realta.types import FLOATS, INTEGERS, as_dtype, bfloat16, float16, float32, float64

NAN, INF = math.nan, math.inf
FLOAT_DTYPES = sorted(FLOATS, key=lambda d: d.name)
SIGNED = [d for d in sorted(INTEGERS, key=lambda d: d.name) if d.kind == "int"]


def same(found, expected) -> None:
    """Equal values, NaN like NaN, zeros of like sign."""
    wide = convert(np.asarray(found), float64)
    right = np.asarray(expected, np.float64)
    np.testing.assert_array_equal(wide, right)
    ordered = ~np.isnan(right)
    np.testing.assert_array_equal(np.signbit(wide[ordered]), np.signbit(right[ordered]))


@pytest.fixture(params=FLOAT_DTYPES, ids=str)
def floats(request):
    return lambda *values: convert(np.array(values), request.param)


def test_maximum_and_minimum_pass_nan_on_and_order_zeros(call, floats):  # N2, N13
    x, y = floats(1, NAN, -0.0, 0.0, 2), floats(NAN, 1, 0.0, -0.0, 1)
    same(call("maximum", x, y), [NAN, NAN, 0.0, 0.0, 2])
    same(call("minimum", x, y), [NAN, NAN, -0.0, -0.0, 1])


def test_sign_of_nan_is_nan(call, floats):  # N4
    found = convert(call("sign", floats(NAN, -0.0, 0.0, -3, INF)), float64)
    np.testing.assert_array_equal(found, [NAN, 0, 0, -1, 1])


def test_float_floor_division(call, floats):  # N9
    x, y = floats(1, -1, 0, 7, -7, -0.0, INF), floats(0, 0, 0, 2, 2, 1, 1)
    same(call("floor_div", x, y), [INF, -INF, NAN, 3, -4, -0.0, NAN])


def test_float_modulo_has_the_sign_of_the_divisor(call, floats):
    x, y = floats(7, -7, 7, -7, 1, -1, -6), floats(2, 2, -2, -2, 0, INF, 3)
    same(call("mod", x, y), [1, 1, -1, -1, NAN, INF, 0])


def test_floor_division_near_an_integer_is_not_rounded_up(call):
    x, y = np.array([0.3, 1.0], np.float32), np.array([0.1, 0.1], np.float32)
    exact = [math.floor(float(a) / float(b)) for a, b in zip(x, y, strict=True)]
    assert call("floor_div", x, y).tolist() == exact


@pytest.mark.parametrize("dtype", sorted(INTEGERS, key=str), ids=str)
def test_integer_division_floors_and_zero_gives_zero(call, dtype):  # I1, I2, N11
    if dtype.kind == "int":
        x, y = np.array([-3, 3, -3, 2, 0, -1], dtype.numpy), np.array([2, -2, -2, 0, 0, 0])
        y = y.astype(dtype.numpy)
        assert call("floor_div", x, y).tolist() == [-2, -2, 1, 0, 0, 0]
        assert call("mod", x, y).tolist() == [1, -1, -1, 0, 0, 0]
    x, y = np.array([110, 111, 5], dtype.numpy), np.array([55, 55, 0], dtype.numpy)
    assert call("floor_div", x, y).tolist() == [2, 2, 0]
    assert call("mod", x, y).tolist() == [0, 1, 0]


def test_integer_division_is_not_a_float_division(call):  # I2
    assert call("floor_div", np.array([16777217]), np.array([1])).tolist() == [16777217]
    large = np.array([2**62 + 1])
    assert call("floor_div", large, np.array([1])).tolist() == large.tolist()


@pytest.mark.parametrize("dtype", SIGNED, ids=str)
def test_the_lowest_integer_wraps(call, dtype):
    low = np.array([np.iinfo(dtype.numpy).min], dtype.numpy)
    minus_one = np.array([-1], dtype.numpy)
    assert call("floor_div", low, minus_one) == low
    assert call("mod", low, minus_one) == 0
    assert call("neg", low) == low
    assert call("abs", low) == low


@pytest.mark.parametrize("dtype", sorted(INTEGERS, key=str), ids=str)
def test_integer_power_wraps(call, dtype):  # I3
    bits = dtype.bits
    base, exponent = [3, 5, 7, 2, 0, 0], [100, 2, 2, bits - 1, 0, 5]
    found = call("pow", np.array(base, dtype.numpy), np.array(exponent, dtype.numpy))
    expected = [pow(b, e, 1 << bits) for b, e in zip(base, exponent, strict=True)]
    assert [int(v) % (1 << bits) for v in found] == expected


@pytest.mark.parametrize("dtype", SIGNED, ids=str)
def test_negative_integer_exponents(call, dtype):  # I3, I5
    base = np.array([1, -1, -1, 2, 0, -5, -7], dtype.numpy)
    exponent = np.array([-3, -3, -4, -1, -1, 2, 2], dtype.numpy)
    assert call("pow", base, exponent).tolist()[:5] == [1, -1, 1, 0, 0]
    assert call("pow", base, exponent)[5:].tolist() == [25, 49]


@pytest.mark.parametrize("dtype", sorted(INTEGERS, key=str), ids=str)
def test_shifts_have_no_bad_amounts(call, dtype):  # I12
    signed = dtype.kind == "int"
    x = np.array([1, 1, -8 if signed else 8, 8], dtype.numpy)
    amount = np.array([3, dtype.bits, dtype.bits, 1], dtype.numpy)
    assert call("shift_left", x, amount).tolist() == [8, 0, 0, 16]
    assert call("shift_right", x, amount).tolist() == [0, 0, -1 if signed else 0, 4]
    if signed:
        negative = np.array([-1, -5, -1, -128], dtype.numpy)
        assert call("shift_left", x, negative).tolist() == [0] * 4
        assert call("shift_right", x, negative).tolist() == [0] * 4


def test_bool_arithmetic_is_or_and_and(call):  # I16
    x, y = np.array([True, True, False]), np.array([True, False, False])
    assert call("add", x, y).tolist() == [True, True, False]
    assert call("mul", x, y).tolist() == [True, False, False]
    assert call("bitwise_xor", x, y).tolist() == [False, True, False]


def test_comparisons_with_nan(call, floats):  # N15 and its relatives
    x, y = floats(NAN, 1, NAN, -0.0), floats(INF, NAN, NAN, 0.0)
    for name, expected in (
        ("equal", [False, False, False, True]),
        ("not_equal", [True, True, True, False]),
        ("less", [False] * 4),
        ("less_equal", [False, False, False, True]),
        ("greater", [False] * 4),
        ("greater_equal", [False, False, False, True]),
    ):
        assert call(name, x, y).tolist() == expected, name


def test_classes_of_floats(call, floats):
    x = floats(NAN, INF, -INF, 1, -0.0)
    assert call("is_nan", x).tolist() == [True, False, False, False, False]
    assert call("is_inf", x).tolist() == [False, True, True, False, False]
    assert call("is_finite", x).tolist() == [False, False, False, True, True]
    assert call("signbit", x)[1:].tolist() == [False, True, False, True]


def test_rounding_is_half_to_even_and_keeps_minus_zero(call, floats):
    x = floats(0.5, 1.5, -0.5, -0.25, 2.75)
    same(call("round", x), [0, 2, -0.0, -0.0, 3])
    same(call("floor", x), [0, 1, -1, -1, 2])
    same(call("ceil", x), [1, 2, -0.0, -0.0, 3])
    same(call("trunc", x), [0, 1, -0.0, -0.0, 2])


def test_minus_zero_is_kept(call, floats):
    x, zero, one = floats(-0.0), floats(0.0), floats(1.0)
    same(call("neg", zero), [-0.0])
    same(call("add", x, x), [-0.0])
    same(call("add", x, zero), [0.0])
    same(call("mul", x, one), [-0.0])
    same(call("sqrt", x), [-0.0])
    same(call("rsqrt", x), [-INF])


@pytest.mark.parametrize(
    ("dtype", "value", "factor", "expected"),
    [
        (float32, 1.1754944e-38, 0.5, 5.877472e-39),
        (float32, 1.401298464324817e-45, 2.0, 2.802596928649634e-45),
        (float64, 1e-310, 1e100, 1e-210),
        (bfloat16, 2.0**-133, 2.0, 2.0**-132),
        (float16, 2.0**-24, 2.0, 2.0**-23),
    ],
    ids=str,
)
def test_subnormals_are_kept(call, dtype, value, factor, expected):  # N14
    found = call("mul", convert(np.array(value), dtype), convert(np.array(factor), dtype))
    np.testing.assert_allclose(convert(found, float64), expected, rtol=1e-6)


def test_next_float(call, floats):
    x = floats(1, 0, 0, -1, 2, NAN, 1)
    y = floats(2, 1, -1, 0, 2, 1, NAN)
    found = call("nextafter", x, y)
    dtype = as_dtype(found.dtype)
    info = ml_dtypes.finfo(dtype.numpy)
    eps, tiny = float(info.eps), float(info.smallest_subnormal)
    same(found, [1 + eps, tiny, -tiny, -1 + eps / 2, 2, NAN, NAN])


def test_next_bfloat16_steps_through_all_bit_patterns(call):
    upward = np.arange(1, 0x7F80, dtype=np.uint16)  # positive, finite, below infinity
    x = upward.view(ml_dtypes.bfloat16)
    found = call("nextafter", x, np.full_like(x, INF))
    assert (found.view(np.uint16) == upward + 1).all()
    assert (call("nextafter", -x, np.full_like(x, -INF)).view(np.uint16) == upward + 0x8001).all()
    assert (call("nextafter", x, np.full_like(x, 0.0)).view(np.uint16) == upward - 1).all()


def test_logaddexp_of_minus_infinities(call, floats):  # N17
    same(call("logaddexp", floats(-INF, -INF, INF), floats(-INF, 0, INF)), [-INF, 0, INF])


def test_atan2_and_copysign_see_the_sign_of_zero(call, floats):
    found = convert(call("atan2", floats(0.0, -0.0), floats(-1, -1)), float64)
    assert np.signbit(found).tolist() == [False, True]
    same(call("copysign", floats(1, -2), floats(-0.0, 3)), [-1, 2])


def test_hypot_does_not_overflow_on_the_way(call):
    big = np.array([3e38], np.float32)
    assert np.isfinite(call("hypot", big * np.float32(0.5), big * np.float32(0.5)))


def test_half_arithmetic_rounds_once_at_each_op(call):  # P9
    x = convert(np.array([1.0078125]), bfloat16)
    product = call("mul", x, x)
    assert float(product[0]) == 1.015625
    assert float(call("sub", product, call("mul", x, x))[0]) == 0.0


def test_select_ignores_the_other_value(call, floats):
    x, y = floats(NAN, 1), floats(2, NAN)
    same(call("select", np.array([False, True]), x, y), [2, 1])


def test_bitcast_reads_the_bits(call):
    assert call("bitcast", np.array([1.0], np.float32), dtype=as_dtype("uint32")) == [0x3F800000]
    assert call("bitcast", np.array([0x3F80], np.uint16), dtype=bfloat16).astype(float) == [1.0]


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=str)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_half_arithmetic_is_correctly_rounded(call, dtype, name):
    random = np.random.default_rng(3)
    x = convert(random.normal(size=4000) * 4.0 ** random.integers(-6, 6, 4000), dtype)
    y = convert(random.normal(size=4000), dtype)
    exact = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[name]
    wide = exact(convert(x, float64), convert(y, float64))
    same(call(name, x, y), convert(convert(wide, dtype), float64))


INEXACT = [
    op for op in all_ops()
    if op.tolerance in ("exp", "sin", "tan", "erf", "atan2", "pow") and op.primitive
]  # fmt: skip
FINE = np.longdouble if np.finfo(np.longdouble).nmant > 52 else None


@pytest.mark.parametrize("op", [o for o in INEXACT if o.name != "erf"], ids=lambda o: o.name)
@pytest.mark.parametrize("dtype", [float16, bfloat16, float32, float64], ids=str)
def test_functions_keep_the_bounds(op, dtype, tools):
    if dtype is float64 and FINE is None:
        pytest.skip("no type wider than float64 to check against on this platform")
    domain = op.samples[0].domain
    names = (domain,) if isinstance(domain, str) else domain
    arrays = [
        tools.values(names[min(n, len(names) - 1)], (3000,), dtype, seed=n)
        for n in range(len(op.operands))
    ]
    if op.name == "acosh":
        arrays = [convert(convert(arrays[0], float64) + 1.0, dtype)]
    wide_type = FINE if dtype is float64 else np.float64
    found = op.reference(*arrays)
    with np.errstate(all="ignore"):
        right = WIDE[op.name](*(convert(a, float64).astype(wide_type) for a in arrays))
        error = np.abs(convert(found, float64).astype(wide_type) - right).astype(np.float64)
    expected = right.astype(np.float64)
    keep = np.isfinite(error)
    assert keep.mean() > 0.9
    allowed = allowance(op, [tools.as_exact(a) for a in arrays], {}, expected, dtype)
    assert (error[keep] <= allowed[keep]).all()


WIDE = {
    "rsqrt": lambda x: 1 / np.sqrt(x), "exp": np.exp, "expm1": np.expm1, "log": np.log,
    "log1p": np.log1p, "log2": np.log2, "log10": np.log10, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "atan2": np.arctan2, "hypot": np.hypot, "pow": np.power,
}  # fmt: skip


def test_erf_is_that_of_the_c_library(call):
    x = np.concatenate([np.linspace(-7, 7, 5001), [0.0, -0.0, INF, -INF, 1e-300, -1e-20]])
    expected = np.array([math.erf(v) for v in x])
    assert (np.abs(call("erf", x) - expected) <= 2 * np.spacing(np.abs(expected))).all()
    assert np.isnan(call("erf", np.array(NAN)))


def test_no_reference_warns(recwarn):
    special = np.array([NAN, INF, -INF, 0.0, -0.0, 3e38, -1e-40], np.float32)
    for op in all_ops():
        if op.kind.value == "elementwise" and not op.attrs and float32 in op.dtypes:
            count = len(op.operands)
            given = [special] * count if op.name != "select" else [special > 0, special, special]
            op.reference(*given)
    assert not recwarn.list


def test_get_op_names_the_nearest():
    with pytest.raises(NotImplementedError, match="did you mean 'maximum'"):
        get_op("maximun")
