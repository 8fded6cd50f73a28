"""Functions: within their bounds everywhere, with the same bits in every lane."""

from math import inf, nan

import mpmath
import numpy as np
import pytest
from realta.ops import get_op
from realta.ops.tolerances import allowance, tolerance, ulp
from realta.types import float32, float64
from realta_llvm.functions import FUNCTIONS

BINARY = {"pow", "atan2", "hypot", "logaddexp", "fmod"}
NAMES = [name for name in FUNCTIONS if name != "fmod"]  # which is exact, and no op by itself
DTYPES = {"float32": float32, "float64": float64}
WIDTHS = [1, 4, 8, 16]
# What they are held to, of what spec 5a allows.
PART = 0.8
SPECIAL = [0.0, -0.0, inf, -inf, nan, 1.0, -1.0, 2.0, 0.5, -0.5, 3.0, -3.0, 1.5, -2.5]


def arguments(dtype, count=2000):
    """Numbers of every exponent and both signs, close to 1, around 0, and where results end."""
    rng = np.random.default_rng(3)
    info = np.finfo(dtype)
    exponents = np.arange(info.minexp - info.nmant, info.maxexp)
    every = np.ldexp(rng.uniform(1, 2, exponents.size), exponents)
    near = np.exp2(rng.uniform(-info.nmant, 0, count))
    turns = np.rint(rng.uniform(-60000, 60000, count)) * (np.pi / 2)
    ends = [
        88.72283, 88.72284, -87.33655, -103.97208, 709.782712893384, -708.3964185322641, -745.13,
        info.max, info.tiny, info.smallest_subnormal, 131072.0, 131072.02, 1e22,
    ]  # fmt: skip
    parts = [
        every, -every, 1 + near, 1 - near, -1 + near, near, rng.uniform(-10, 10, count),
        rng.uniform(-1, 1, count), rng.uniform(-110, 95, count), rng.uniform(-750, 715, count),
        turns, ends, SPECIAL,
    ]  # fmt: skip
    with np.errstate(over="ignore"):
        return np.concatenate(parts).astype(dtype)


def pairs(name, dtype, count=3000):
    """Operands of a function of two numbers; every special value with every other."""
    rng = np.random.default_rng(4)
    given = arguments(dtype, 500)
    x, y = rng.choice(given, (2, count))
    special = np.array(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1)
    parts = [(x, y), special]
    if name == "pow":
        close = 1 + rng.uniform(-0.3, 0.3, count)
        base = np.concatenate([np.exp2(rng.uniform(-20, 20, count)), close])
        reach = 0.69 * np.finfo(dtype).maxexp / np.maximum(np.abs(np.log(base)), 1e-6)
        parts += [(base, rng.uniform(-1.02, 1.02, 2 * count) * reach)]
        parts += [(-base[:count], np.rint(rng.uniform(-9, 9, count)))]
    else:
        parts += [(rng.uniform(-4, 4, count), rng.uniform(-4, 4, count))]
    with np.errstate(over="ignore"):
        return [np.concatenate(part).astype(dtype) for part in zip(*parts, strict=True)]


def truth(name, *operands):
    """The right results of float32 operands as float64."""
    with np.errstate(all="ignore"):
        return np.asarray(get_op(name).reference(*[x.astype(np.float64) for x in operands]))


def operands_of(name, dtype):
    return pairs(name, dtype) if name in BINARY else [arguments(dtype)]


def worst(name, got, expected, operands, dtype):
    """The greatest error as a part of what is allowed; what is not finite has to be the same."""
    with np.errstate(all="ignore"):
        rounded = expected.astype(dtype.numpy)
        plain = np.isfinite(rounded) & np.isfinite(got)
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        assert (plain | same).all(), [x[~(plain | same)][:5] for x in (*operands, got, rounded)]
        zero = plain & (rounded == 0) & (got == 0)
        assert (np.signbit(got) == np.signbit(rounded))[zero].all(), operands
        wide = [x.astype(np.float64) for x in operands]
        allowed = allowance(get_op(name), wide, {}, expected, dtype)
        part = np.abs(got.astype(np.float64) - expected) / allowed
    return float(part[plain].max())


@pytest.mark.parametrize("name", NAMES)
def test_float32_is_within_bounds_and_special_values_are_numpys(name, evaluate):
    operands = operands_of(name, np.float32)
    part = worst(name, evaluate(name, 8, *operands), truth(name, *operands), operands, float32)
    assert part < PART


EXACT = {
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "pow": lambda x, y: mpmath.power(x, y),
    "logaddexp": lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)),
}
SAMPLED = 600


@pytest.mark.parametrize("name", NAMES)
def test_float64_is_within_bounds(name, evaluate):
    operands = operands_of(name, np.float64)
    at = np.random.default_rng(5).choice(operands[0].size, SAMPLED, replace=False)
    operands = [x[at] for x in operands]
    got = evaluate(name, 4, *operands)
    expected = truth(name, *operands)
    plain = np.isfinite(got) & np.isfinite(expected)
    if name == "atan2":  # mpmath has no -0
        plain &= (operands[0] != 0) & (operands[1] != 0)
    exact = EXACT.get(name, getattr(mpmath, name, None))
    errors = []
    with mpmath.workdps(40 if name not in ("sin", "cos", "tan") else 360):
        for i in np.flatnonzero(plain):
            right = exact(*[mpmath.mpf(float(x[i])) for x in operands])
            errors.append(float(mpmath.mpf(float(got[i])) - right))
    wide = [x[plain] for x in operands]
    allowed = allowance(get_op(name), wide, {}, expected[plain], float64)
    assert plain.sum() > SAMPLED / 4
    assert (np.abs(errors) / allowed).max() < PART


@pytest.mark.parametrize("name", NAMES)
def test_special_values_of_float64_are_numpys(name, evaluate):
    operands = operands_of(name, np.float64)
    got, expected = evaluate(name, 4, *operands), truth(name, *operands)
    # NumPy's own error is below 4 ulp; the signs of zeros and what is not finite are what counts.
    row = tolerance(get_op(name).tolerance)
    spare = (row.ulp_for(float64) + 4) * ulp(expected, float64) + (1e-15 if row.extra else 0)
    with np.errstate(all="ignore"):
        close = np.abs(got - expected) <= spare
        edge = np.isinf(got) & (np.abs(expected) > np.finfo(np.float64).max * (1 - 1e-15))
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    assert (close | same | edge).all(), [x[~(close | same)][:5] for x in (*operands, got, expected)]
    zero = (got == 0) & (expected == 0)
    assert (np.signbit(got) == np.signbit(expected))[zero].all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_lane_has_the_same_bits_in_every_width_beside_any_neighbours(name, dtype, evaluate):
    operands = operands_of(name, dtype)
    alone = evaluate(name, 1, *operands)
    order = np.random.default_rng(6).permutation(alone.size)
    for width in WIDTHS[1:]:
        mixed = evaluate(name, width, *[x[order] for x in operands])
        assert np.array_equal(mixed, alone[order], equal_nan=True)
        assert (np.signbit(mixed) == np.signbit(alone[order]))[~np.isnan(mixed)].all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_remainder_of_a_division_is_exact(dtype, evaluate):
    x, y = pairs("fmod", dtype)
    with np.errstate(all="ignore"):
        expected = np.fmod(x, y)
    got = evaluate("fmod", 8, x, y)
    assert np.array_equal(got, expected, equal_nan=True)
    assert (np.signbit(got) == np.signbit(expected))[~np.isnan(got)].all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_exponential_of_what_is_not_positive_has_the_same_bits(dtype, evaluate):
    given = arguments(dtype)
    given = given[~(given > 0)]
    short, full = evaluate("exp_not_positive", 8, given), evaluate("exp", 8, given)
    assert np.array_equal(short, full, equal_nan=True)
    assert (full[given < np.log(np.finfo(dtype).tiny)] != 0).any(), "no subnormal result was met"


@pytest.mark.parametrize(("dtype", "places"), [(np.float32, 24), (np.float64, 53)])
def test_no_float_is_too_close_to_a_multiple_of_a_right_angle(dtype, places, evaluate):
    # The multiples that floats come closest to (Muller, Elementary Functions, 2nd ed., 11.1).
    worst_case = {
        np.float32: 16367173 * 2.0**72, np.float64: 6381956970095103 * 2.0**797,
    }[dtype]  # fmt: skip
    given = np.array([worst_case, -worst_case], dtype)
    with mpmath.workdps(400):
        right = [mpmath.cos(mpmath.mpf(float(x))) for x in given]
    for x, y in zip(evaluate("cos", 4, given), right, strict=True):
        assert abs(float((mpmath.mpf(float(x)) - y) / y)) < 2.0 ** (1 - places)
