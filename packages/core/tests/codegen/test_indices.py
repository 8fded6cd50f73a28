import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from realta.codegen.index_values import evaluate
from realta.codegen.indices import (
    Axis,
    Greatest,
    Index,
    Least,
    Number,
    Position,
    Product,
    Quotient,
    Remainder,
    Sum,
    all_parts,
    axes_of,
    greatest,
    least,
    leaves,
    parts,
    substitute,
)
from realta.codegen.ir import Var
from realta.types import int64

AXES = (Axis("i", 4), Axis("j", 3), Axis("k", 7), Axis("n", 1))
EVERY = {
    axis.name: values
    for axis, values in zip(AXES, np.meshgrid(*[np.arange(a.extent) for a in AXES]), strict=True)
}
FACTORS = st.integers(-9, 9)
DIVISORS = st.integers(1, 12)


class Plain:
    """An index expression beside what plain arithmetic says about it."""

    def __init__(self, index: Index, values):
        self.index, self.values = index, values


def _grown(inner):
    return st.one_of(
        st.builds(lambda x, y: Plain(x.index + y.index, x.values + y.values), inner, inner),
        st.builds(lambda x, y: Plain(x.index - y.index, x.values - y.values), inner, inner),
        st.builds(lambda x, n: Plain(x.index * n, x.values * n), inner, FACTORS),
        st.builds(lambda x, n: Plain(n - x.index, n - x.values), inner, FACTORS),
        st.builds(lambda x, n: Plain(x.index // n, x.values // n), inner, DIVISORS),
        st.builds(lambda x, n: Plain(x.index % n, x.values % n), inner, DIVISORS),
        st.builds(lambda x, n: Plain(least(x.index, n), np.minimum(x.values, n)), inner, FACTORS),
        st.builds(
            lambda x, n: Plain(greatest(x.index, n), np.maximum(x.values, n)), inner, FACTORS
        ),
    )


LEAVES = st.one_of(
    st.sampled_from([Plain(axis, EVERY[axis.name]) for axis in AXES]),
    st.integers(-20, 20).map(lambda n: Plain(Number(n), np.full_like(EVERY["i"], n))),
)
PLAIN = st.recursive(LEAVES, _grown, max_leaves=8)


@given(PLAIN)
def test_simplified_expressions_equal_plain_arithmetic(plain):
    assert np.array_equal(np.broadcast_to(evaluate(plain.index, EVERY), (3, 4, 7, 1)), plain.values)


@given(PLAIN)
def test_every_part_stays_within_its_interval(plain):
    for part in parts(plain.index):
        found = evaluate(part, EVERY)
        assert np.all(found >= part.low)
        assert np.all(found <= part.high)


@given(PLAIN)
def test_expressions_are_pickled_with_their_intervals(plain):
    back = pickle.loads(pickle.dumps(plain.index))
    assert back == plain.index
    assert (back.low, back.high) == (plain.index.low, plain.index.high)


@given(PLAIN, PLAIN)
def test_substitution_equals_evaluation_with_the_replacement(plain, other):
    replaced = substitute(plain.index, {"k": other.index})
    assert np.array_equal(
        np.broadcast_to(evaluate(replaced, EVERY), (3, 4, 7, 1)),
        np.broadcast_to(evaluate(plain.index, {**EVERY, "k": other.values}), (3, 4, 7, 1)),
    )


R, J, K = AXES[:3]


@pytest.mark.parametrize(
    ("found", "simple"),
    [
        (R + R, Product(R, 2)),
        (R * 3 - R * 3, Number(0)),
        ((R * 8 + J) // 8, R),
        ((R * 8 + J) % 8, J),
        ((R * 4 + J) // 8, Quotient(R, 2)),
        ((R * 4 + J) % 8, Sum((Product(Remainder(R, 2), 4), J))),
        ((R * 4 + J + 8) // 4, Sum((R, Number(2)))),
        ((K // 2) // 3, Quotient(K, 6)),
        ((K % 6) % 3, Remainder(K, 3)),
        (K % 7, K),
        (K // 7, Number(0)),
        (K // 1, K),
        (K % 1, Number(0)),
        ((K - 1) // 3, Quotient(Sum((K, Number(2))), 3) - 1),
        (least(K, 6), K),
        (least(K, 0), Number(0)),
        (least(K, 3), Least(K, 3)),
        (greatest(K, 0), K),
        (greatest(K, 6), Number(6)),
        (greatest(K, 3), Greatest(K, 3)),
    ],
)
def test_what_becomes_simpler(found, simple):
    assert found == simple


@pytest.mark.parametrize(
    "make",
    [
        lambda i, j: (i * 4 - j) // 8,
        lambda i, j: (i * 4 - j) % 8,
        lambda i, j: (i * 6 + j * 4 + 1) // 8,
        lambda i, j: (i * 6 + j * 4 + 1) % 8,
        lambda i, j: (i * 6 + j + 3) % 4,
        lambda i, j: i // 2 * 4 + i % 2,
        lambda i, j: i // 2 * 2 + i % 2 * 2,
        lambda i, j: i // 3 * 2 + i % 2,
        lambda i, j: i // 2 * -2 - i % 2,
    ],
    ids=range(9),
)
def test_what_looks_as_if_it_could_be_simpler(make):
    assert np.array_equal(
        np.broadcast_to(evaluate(make(R, J), EVERY), (3, 4, 7, 1)), make(EVERY["i"], EVERY["j"])
    )


def test_a_flat_index_that_is_split_and_put_together_is_itself():
    flat = Axis("flat", 5 * 7 * 4)
    assert flat // 4 * 4 + flat % 4 == flat
    assert ((flat // 28) * 7 + (flat // 4) % 7) * 4 + flat % 4 == flat
    assert flat % 4 * 3 + R - flat % 4 * 3 + flat // 4 * 4 + flat % 4 - R == flat
    assert flat // 4 * 4 + flat % 4 * 2 != flat
    i, j, k = Axis("i", 5), Axis("j", 7), Axis("k", 4)
    flat = (i * 7 + j) * 4 + k
    assert (flat // 28, (flat // 4) % 7, flat % 4) == (i, j, k)


def test_intervals_do_not_wrap():
    huge = Axis("i", 1 << 40) * (1 << 30)
    assert huge.high == ((1 << 40) - 1) << 30
    assert evaluate(huge, {"i": (1 << 40) - 1}) == huge.high
    assert evaluate(least(huge, 1 << 65), {"i": 3}) == 3 << 30


def test_positions_are_evaluated_and_replaced_by_the_caller():
    at = Position(Var("v", int64), 10)
    index = at * 2 + R
    assert (index.low, index.high) == (0, 21)
    assert axes_of(index) == {at, R}
    assert evaluate(index, {"i": 1}, lambda position: 7) == 15
    assert substitute(index, {}, lambda position: J) == J * 2 + R
    assert substitute(index, {"i": 0}) == at * 2
    with pytest.raises(KeyError, match="computed position"):
        evaluate(index, {"i": 1})
    with pytest.raises(KeyError, match="i"):
        evaluate(R + 1, {})


def test_long_chains_do_not_recurse():
    index: Index = Axis("i", 1 << 20)
    for turn in range(2000):
        index = Least(index, (1 << 20) - turn)
    assert len(parts(index)) == 2001
    assert leaves(index) == (Axis("i", 1 << 20),)
    assert evaluate(index, {"i": 5}) == 5


def test_leaves_are_told_once_and_those_of_positions_are_not_entered():
    at = Position(Var("v", int64), 10)
    shared = R // 2
    index = shared * 6 + shared % 3 + at + J
    assert set(leaves(index)) == {R, at, J}
    assert len(leaves(index)) == 3
    assert leaves(Number(3)) == ()


def test_parts_of_several_indices_come_once_with_operands_first():
    axis = Axis("m", 30)
    shared = axis // 2
    found = all_parts((shared * 6, shared % 3, shared))
    assert found == [axis, shared, shared * 6, shared % 3]
