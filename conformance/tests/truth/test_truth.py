"""Truth: values known from elsewhere, and differences from what NumPy would say."""

import math

import numpy as np
import pytest
from realta.ops import all_ops, get_op
from realta.types import TensorType, float16, float32, int8, int32, uint8
from realta_conformance.expected import expect
from realta_conformance.truth import known
from realta_conformance.truth.floats import precise, rational
from realta_conformance.truth.philox import philox_bits, philox_block
from realta_conformance.truth.reductions import dot


def truth(name, *arrays, **attrs):
    types = [TensorType(x.dtype, x.shape) for x in arrays]
    return expect(get_op(name), arrays, types, get_op(name).make_attrs(attrs))[0].rounded()


def test_every_op_is_written_down():
    unknown = [op.name for op in all_ops() if not known(op) and op.samples]
    assert unknown == []


def test_philox_gives_the_published_lanes():
    # Random123's kat_vectors, philox4x32 with 10 rounds
    assert philox_block((0, 0, 0, 0), (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    ones = 0xFFFFFFFF
    lanes = (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
    assert philox_block((ones,) * 4, (ones,) * 2) == lanes


def test_wide_bits_take_two_lanes_low_first():
    state = np.zeros(4, np.uint32)
    from realta.types import uint32, uint64

    narrow = philox_bits(state, shape=(8,), dtype=uint32)
    wide = philox_bits(state, shape=(4,), dtype=uint64)
    assert [int(v) for v in wide] == [
        int(a) | int(b) << 32 for a, b in zip(narrow[::2], narrow[1::2], strict=True)
    ]


def test_precise_agrees_with_known_digits():
    high, low = precise("exp", (np.array([1.0]),), {})
    # e = 2.71828182845904523536028747135266249775724709369995...
    assert high[0] == math.e
    assert low[0] == pytest.approx(1.4456468917292502e-16, rel=1e-9)


def test_floor_division_is_exact_where_float64_rounds():
    x = np.array([3.0 - 2.0**-51])
    y = np.array([1.0 + 2.0**-52])
    assert np.floor(x / y)[0] == 3.0 - 1  # the quotient itself is just below 3
    high, _ = rational("floor_div", np.array([1e308]), np.array([3.0]))
    assert int(high[0]) == float(int(1e308) // 3)


@pytest.mark.parametrize(
    ("x", "y", "quotient", "rest"),
    [(-3, 2, -2, 1), (3, -2, -2, -1), (7, 0, 0, 0), (-128, -1, -128, 0)],
)
def test_integers_floor_and_wrap(x, y, quotient, rest):
    a, b = np.array([x], np.int8), np.array([y], np.int8)
    assert truth("floor_div", a, b).tolist() == [quotient]
    assert truth("mod", a, b).tolist() == [rest]


def test_casts_saturate():
    values = np.array([np.nan, np.inf, -np.inf, 300.7, -1.5], np.float32)
    assert truth("cast", values, dtype=uint8).tolist() == [0, 255, 0, 255, 0]
    assert truth("cast", values, dtype=int8).tolist() == [0, 127, -128, 127, -1]


def test_int64_to_float32_rounds_once():
    value = np.array([2**60 + 2**36 + 1])  # float64 would round the last bit away, then tie to even
    assert truth("cast", value, dtype=float32)[0] == 2.0**60 + 2.0**37


def test_running_sums_of_half_floats_do_not_stall():
    ones = np.ones(5000, np.float16)
    assert truth("cumsum", ones, axis=0)[-1] == 5000
    assert np.cumsum(ones)[-1] == 2048  # NumPy is no oracle here


def test_sorts_are_stable_with_nan_last_both_ways():
    x = np.array([1.0, np.nan, 1.0, -np.inf], np.float32)
    assert truth("argsort", x, axis=0, descending=False).tolist() == [3, 0, 2, 1]
    assert truth("argsort", x, axis=0, descending=True).tolist() == [0, 2, 3, 1]


def test_contractions_of_doubles_are_exact():
    left = np.array([[[1e16, 1.0, -1e16]]])
    right = np.array([[[1.0, 1.0, 1.0]]])
    assert dot(left, right, exact=True)[0, 0, 0] == 1.0


def test_scatter_applies_updates_in_order():
    x, updates = np.zeros(3, np.float32), np.array([1, 2, 3], np.float32)
    indices = np.array([0, 0, -1])
    for reduce, right in (("set", [2, 0, 3]), ("add", [3, 0, 3]), ("max", [2, 0, 3])):
        found = truth("scatter", x, indices, updates, axis=0, reduce=reduce, mode="clip")
        assert found.tolist() == right


def test_an_unknown_op_is_found_by_its_decomposition():
    from realta.ops import define, undefine
    from realta.ops.rules import elementwise

    define(
        "test.twice_plus_one",
        rule=elementwise,
        reference=lambda x: 1 / 0,
        doc="Twice the operand and one more.",
        lowering=lambda emit, x: emit.add(emit.add(x, x), emit.const(1.0, like=x)),
        dtypes=frozenset({float32, float16}),
    )
    try:
        assert truth("test.twice_plus_one", np.array([3.0], np.float32)).tolist() == [7.0]
    finally:
        undefine("test.twice_plus_one")


def test_results_are_rounded_to_their_dtype():
    third = truth("div", np.array([1], np.float16), np.array([3], np.float16))
    assert third[0] == float(np.float16(1 / 3))
    assert truth("mul", np.array([2**20], np.int32), np.array([2**12], np.int32)).tolist() == [0]
    assert int32.bits == 32
