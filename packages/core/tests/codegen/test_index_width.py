from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from realta.codegen.index_values import evaluate
from realta.codegen.index_width import index_bits
from realta.codegen.indices import (
    Axis,
    Index,
    Position,
    Sum,
    as_index,
    greatest,
    least,
    parts,
)
from realta.codegen.ir import Buffer, Compare, Const, FromIndex, Kernel, Load, Loop, Store
from realta.types import float32, int64, uint8

GROUP, LANE = Axis("group", 1 << 20), Axis("lane", 256)
LIMIT = 1 << 31
X = Buffer("x", uint8, 1 << 40)
Y = Buffer("y", uint8, 1 << 40, "global", "output")
ONE = Const(1, uint8)


def bits(*body, groups=1 << 20):
    return index_bits(Kernel("k", (X, Y), groups, 256, body))


def stored(index: Index, where=None):
    return Store(Y, index, ONE, where)


def test_small_indices_take_32_bits_whatever_the_memory():
    assert bits(stored(GROUP * 256 + LANE)) == 32


def test_the_largest_index_decides():
    top = LANE * (LIMIT // 256)  # up to LIMIT - LIMIT/256
    room = LIMIT // 256
    assert bits(stored(top + Axis("lane", room) * 1)) == 32
    assert bits(stored(top + room - 1)) == 32
    assert bits(stored(top + room)) == 64
    assert bits(stored(LANE * (1 << 32))) == 64


AXES = {name: np.arange(3, dtype=object).reshape(shape) for name, shape in
        {"i": (3, 1), "j": (1, 3)}.items()}  # fmt: skip
LARGE = st.integers(-(1 << 33), 1 << 33)
DIVISORS = st.sampled_from([2, 3, 1 << 20, 1 << 31, 1 << 32])
INDICES = st.recursive(
    st.one_of(st.sampled_from([Axis("i", 3), Axis("j", 3)]), LARGE.map(as_index)),
    lambda inner: st.one_of(
        st.builds(lambda x, y: x + y, inner, inner),
        st.builds(
            lambda x, n: x * n, inner, st.sampled_from([-1, 2, 1 << 16, 1 << 30, -(1 << 31)])
        ),
        st.builds(lambda x, n: x // n, inner, DIVISORS),
        st.builds(lambda x, n: x % n, inner, DIVISORS),
        st.builds(least, inner, LARGE),
        st.builds(greatest, inner, LARGE),
    ),
    max_leaves=6,
)


@given(INDICES)
def test_nothing_on_the_way_to_a_32_bit_index_wraps(index):
    body = Loop(Axis("i", 3), (Loop(Axis("j", 3), (stored(index),)),))
    if bits(body) == 64:
        return
    for part in parts(index):
        values = [evaluate(part, AXES)]
        if isinstance(part, Sum):
            terms = [evaluate(term, AXES) for term in part.terms]
            values += [sum(some) for r in range(1, len(terms)) for some in combinations(terms, r)]
        for value in values:
            assert np.all(np.abs(np.asarray(value, object)) < LIMIT)


def test_a_sum_is_safe_in_any_order_of_its_terms():
    index = GROUP * 2000 + LANE * (1 << 20) - LIMIT // 2
    assert index.high < LIMIT
    assert bits(stored(index)) == 64


def test_quotients_of_large_numbers_take_64_bits():
    assert bits(stored((GROUP * 5000 + LANE) // 10001)) == 64
    assert bits(stored((GROUP * 5000 + LANE) % 7)) == 64


def test_divisors_count():
    assert bits(Store(Y, LANE, FromIndex(LANE * -1 // (1 << 40), int64))) == 64
    assert bits(Store(Y, LANE, FromIndex(LANE * -1 // 3, int64))) == 32


def test_loads_predicates_iotas_and_loops_count():
    large = GROUP * 4096 + LANE
    assert bits(stored(LANE, Compare(large, 3))) == 64
    assert bits(stored(LANE, Compare(LANE, LIMIT))) == 64
    assert bits(Store(Y, LANE, Load(X, large))) == 64
    assert bits(stored(Position(FromIndex(LANE, int64), LIMIT))) == 64
    assert bits(stored(Position(FromIndex(large, int64), 9))) == 64
    assert bits(stored(Position(FromIndex(LANE, int64), 9))) == 32
    assert bits(Store(Buffer("f", float32, 9), LANE, FromIndex(large, int64))) == 64
    assert bits(Loop(Axis("i", LIMIT), (stored(LANE),))) == 64
    assert bits(Loop(Axis("i", LIMIT - 1), (stored(LANE),))) == 32
    assert bits(Loop(Axis("i", 4), (Loop(Axis("j", 9), (stored(large),)),))) == 64
    assert bits(stored(LANE), groups=LIMIT) == 64
