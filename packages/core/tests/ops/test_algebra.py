"""Algebra: every law that a definition claims holds bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from realta.ops import all_ops, convert, get_op
from realta.types import DTYPES, FLOATS, as_dtype, float32, float64

OPS = [op for op in all_ops() if op.kind.value == "elementwise" and not op.attrs]
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 1.5, 3e38, 1e-40, 7.0, -100.0]


def numbers(dtype):
    if dtype.is_float:
        return convert(np.array(SPECIAL), dtype)
    if dtype.kind == "bool":
        return np.array([True, False])
    info = np.iinfo(dtype.numpy)
    return np.array([0, 1, 2, 7, info.max, info.min, info.max - 1], dtype.numpy)


def assert_same_bits(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    if as_dtype(found.dtype).is_float:
        a, b = convert(found, float64), convert(expected, float64)
        np.testing.assert_array_equal(a, b)
        number = ~np.isnan(a)
        np.testing.assert_array_equal(np.signbit(a[number]), np.signbit(b[number]))
    else:
        np.testing.assert_array_equal(found, expected)


def pairs(x):
    left, right = np.meshgrid(np.arange(x.size), np.arange(x.size))
    return x[left.reshape(-1)], x[right.reshape(-1)]


def dtypes_of(op):
    return [d for d in DTYPES if d in op.dtypes]


def constant(value, like):
    return np.full_like(like, convert(np.array(value), as_dtype(like.dtype)))


@pytest.mark.parametrize("op", [o for o in OPS if o.algebra.commutative], ids=lambda o: o.name)
def test_commutative(op):
    for dtype in dtypes_of(op):
        x, y = pairs(numbers(dtype))
        assert_same_bits(op.reference(x, y), op.reference(y, x))


@pytest.mark.parametrize("op", [o for o in OPS if o.algebra.associative], ids=lambda o: o.name)
def test_associative(op):
    for dtype in dtypes_of(op):
        x, y = pairs(numbers(dtype))
        z = np.roll(x, 5)
        left = op.reference(op.reference(x, y), z)
        assert_same_bits(left, op.reference(x, op.reference(y, z)))


@pytest.mark.parametrize("op", OPS, ids=lambda o: o.name)
def test_units_and_zeros(op):
    for dtype in dtypes_of(op):
        x = numbers(dtype)
        law = op.algebra
        if dtype.kind in law.right_unit:
            assert_same_bits(op.reference(x, constant(law.right_unit[dtype.kind], x)), x)
        if dtype.kind in law.left_unit:
            assert_same_bits(op.reference(constant(law.left_unit[dtype.kind], x), x), x)
        if dtype.kind in law.zero:
            zero = constant(law.zero[dtype.kind], x)
            assert_same_bits(op.reference(x, zero), zero)
            assert_same_bits(op.reference(zero, x), zero)


@pytest.mark.parametrize("op", [o for o in OPS if o.algebra.idempotent], ids=lambda o: o.name)
def test_idempotent(op):
    for dtype in dtypes_of(op):
        x = numbers(dtype)
        if len(op.operands) == 2:
            assert_same_bits(op.reference(x, x), x)
        else:
            once = op.reference(x)
            assert_same_bits(op.reference(once), once)


@pytest.mark.parametrize("op", [o for o in OPS if o.algebra.involution], ids=lambda o: o.name)
def test_involution(op):
    for dtype in dtypes_of(op):
        x = numbers(dtype)
        assert_same_bits(op.reference(op.reference(x)), x)


def test_the_float_unit_of_addition_is_minus_zero(call):
    minus = np.array([-0.0], np.float32)
    assert np.signbit(call("add", minus, minus))
    assert not np.signbit(call("add", minus, -minus))
    assert np.signbit([get_op("add").algebra.right_unit["float"]])


def test_multiplication_has_no_float_zero():
    assert "float" not in get_op("mul").algebra.zero
    assert np.isnan(get_op("mul").reference(np.array([np.inf]), np.array([0.0])))


def test_float_addition_is_not_associative():
    assert not get_op("add").algebra.associative
    assert {float32, float64} <= FLOATS
