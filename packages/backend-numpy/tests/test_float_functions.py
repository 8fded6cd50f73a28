"""Functions of our own on large tiles, where they take other paths than on small ones."""

import numpy as np
import pytest
from realta.graph import Builder
from realta.types import COMPUTABLE, bfloat16, bool_, float16, float32, float64, tensor_type

SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 2.5, -2.5, 1e-45, 3e38])
NUMBERS = (0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan)
SIZES = (33, 5000)


def _spread_special(dtype, count):
    with np.errstate(all="ignore"):
        return np.resize(SPECIAL, count).astype(dtype.numpy)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [float16, bfloat16, float32, float64], ids=str)
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extremes_with_a_known_number(name, dtype, size, runner, equal_bits):
    x = _spread_special(dtype, size)
    type = tensor_type(dtype, x.shape)
    for number in NUMBERS:
        tensors = Builder()
        left, right = tensors.input(type), tensors.input(type)
        expected = runner.run(
            tensors.finish(getattr(tensors, name)(left, right)), [x, np.full_like(x, number)]
        )[0]
        for index, value in enumerate(x[: SPECIAL.size]):
            assert equal_bits(expected[index], _extreme(name, value, np.array(number, x.dtype)[()]))
        for first in (False, True):
            known = Builder()
            operand = known.input(type)
            pair = operand, known.const(number, like=operand)
            graph = known.finish(getattr(known, name)(*(pair[::-1] if first else pair)))
            assert equal_bits(runner.run(graph, [x])[0], expected), (number, first)


def _extreme(name, x, y):
    if np.isnan(x) or np.isnan(y):
        return np.array(np.nan, x.dtype)[()]

    def key(v):
        return float(v), not np.signbit(v)

    return (max if name == "maximum" else min)((x, y), key=key)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extremes_of_zeros_of_both_signs(name, runner, equal_bits):
    rng = np.random.default_rng(0)
    x, y = (rng.choice([0.0, -0.0, 1.0, -1.0], 20_000).astype(np.float32) for _ in range(2))
    builder = Builder()
    left, right = (builder.input(tensor_type(float32, x.shape)) for _ in range(2))
    found = runner.run(builder.finish(getattr(builder, name)(left, right)), [x, y])[0]
    expected = np.array([_extreme(name, a, b) for a, b in zip(x, y, strict=True)])
    assert equal_bits(found, expected)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", sorted(COMPUTABLE, key=lambda d: d.name), ids=str)
def test_select_takes_bits_as_they_are(dtype, size, runner, values, equal_bits):
    domain = "special" if dtype.is_float else "any"
    x, y = values((size,), dtype, domain), values((size,), dtype, domain)[::-1].copy()
    condition = np.random.default_rng(size).random(size) < 0.5
    builder = Builder()
    c = builder.input(tensor_type(bool_, x.shape))
    left, right = (builder.input(tensor_type(dtype, x.shape)) for _ in range(2))
    found = runner.run(builder.finish(builder.select(c, left, right)), [condition, x, y])[0]
    assert equal_bits(found, np.where(condition, x, y))


@pytest.mark.parametrize("size", SIZES)
def test_select_with_numbers(size, runner, values, equal_bits):
    x = values((size,), float32, "special")
    for first in (False, True):
        builder = Builder()
        operand = builder.input(tensor_type(float32, x.shape))
        one = builder.const(1.5, like=operand)
        pair = (one, operand) if first else (operand, one)
        condition = builder.greater(operand, builder.const(0.0, like=operand))
        found = runner.run(builder.finish(builder.select(condition, *pair)), [x])[0]
        arrays = (np.float32(1.5), x) if first else (x, np.float32(1.5))
        with np.errstate(invalid="ignore"):
            assert equal_bits(found, np.where(x > 0, *arrays))


@pytest.mark.parametrize("name", ["atan2", "hypot", "pow", "logaddexp"])
@pytest.mark.parametrize("dtype", [float32, float64], ids=str)
def test_binary_functions_stay_within_their_bounds(name, dtype, runner):
    rng = np.random.default_rng(4)
    count = 40_000
    x, y = (rng.standard_normal(count) * np.exp(rng.uniform(-4, 4, count)) for _ in range(2))
    if name == "pow":
        x, y = np.exp(rng.uniform(-5, 5, count)), rng.uniform(-10, 10, count)
    x, y = x.astype(dtype.numpy), y.astype(dtype.numpy)
    builder = Builder()
    left, right = (builder.input(tensor_type(dtype, x.shape)) for _ in range(2))
    found = runner.run(builder.finish(getattr(builder, name)(left, right)), [x, y])[0]
    wide = np.float64 if dtype is float32 else np.longdouble
    function = {"atan2": np.arctan2, "pow": np.power}.get(name) or getattr(np, name)
    expected = function(x.astype(wide), y.astype(wide))
    eps = np.finfo(dtype.numpy).eps
    unit = np.ldexp(wide(eps), np.frexp(expected)[1] - 1)
    ulps = {"atan2": (6, 3), "hypot": (5, 4), "pow": (16, 8), "logaddexp": (0.5, 0.5)}[name]
    most = ulps[dtype is float64] * unit
    if name == "logaddexp":
        most = most + 4 * eps * (1 + np.maximum(np.abs(x), np.abs(y)))
    assert (np.abs(found.astype(wide) - expected) <= most).all()
