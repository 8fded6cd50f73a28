"""Pairwise sums: each term once, in an order that the number of terms decides, in few roundings."""

import numpy as np
import pytest
from realta_numpy.pairwise import pairwise


def _sum(terms):
    return pairwise(np.add, lambda n: terms[n].copy(), lambda n: terms[n], len(terms))


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 16, 17, 33, 100, 1025])
def test_each_term_is_taken_once(count):
    terms = np.random.default_rng(count).integers(-99, 99, (count, 5))
    before = terms.copy()
    np.testing.assert_array_equal(_sum(terms), terms.sum(axis=0))
    np.testing.assert_array_equal(terms, before)


def test_many_equal_terms_stay_within_the_bound():
    n = 100_000
    found = float(_sum(np.full((n, 1), 0.1, np.float32))[0])
    exact = n * float(np.float32(0.1))
    assert abs(found - exact) <= (8 + 2 * np.log2(n)) * 2.0**-23 * exact
    in_order = float(np.cumsum(np.full(n, 0.1, np.float32))[-1])
    assert abs(in_order - exact) > 20 * abs(found - exact)
