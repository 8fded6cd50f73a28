import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from realta.codegen.indices import Axis, Number, Position
from realta.codegen.instructions import perform
from realta.codegen.interpreter import interpret, interpret_lowered
from realta.codegen.ir import (
    Allocate,
    Apply,
    Assign,
    Barrier,
    Buffer,
    Compare,
    Const,
    Declare,
    Fold,
    FromIndex,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Store,
    Var,
)
from realta.codegen.lowered import Launch, Lowered, Temporary
from realta.codegen.verifier import verify_kernel
from realta.errors import ArgumentError, ExecutionError
from realta.graph import Input
from realta.types import (
    TensorType,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    uint16,
    uint32,
    uint64,
)

GROUPS, LANES = 3, 8
GROUP, LANE = Axis("group", GROUPS), Axis("lane", LANES)
PLACE = GROUP * LANES + LANE
X = Buffer("x", int32, 24)
Y = Buffer("y", int32, 24, "global", "output")
T = Buffer("t", int32, 24, "global", "temporary")
SHARED = Buffer("m", int32, LANES, "group", "temporary")
OWN = Buffer("m", int32, 4, "lane", "temporary")
A = Var("a", int32)
ONE = Const(1, int32)


def run(*body, buffers=(X, Y), arrays=None):
    kernel = Kernel("k", buffers, GROUPS, LANES, body)
    verify_kernel(kernel)
    arrays = arrays or [np.arange(b.size, dtype=b.dtype.numpy) for b in buffers]
    interpret(kernel, arrays)
    return arrays[-1]


def fault(*body, **fields):
    with pytest.raises(ExecutionError) as caught:
        run(*body, **fields)
    return caught.value


def number(index, dtype=int32):
    return FromIndex(index, dtype)


# -- what statements mean -------------------------------------------------------------------------


def test_sums_of_halves(column_sums):
    x, y = np.arange(37, dtype=np.float16), np.zeros(2, np.float32)
    interpret(column_sums, [x, y])
    assert y.tolist() == [276, 390]


def test_group_memory(staged_reverse):
    x, y = np.arange(24, dtype=np.int32), np.zeros(24, np.int32)
    interpret(staged_reverse, [x, y])
    assert np.array_equal(y, x.reshape(3, 8)[:, ::-1].reshape(-1))


def test_predicated_loads_and_stores():
    inside = Compare(PLACE, 10)
    load = Load(X, PLACE, inside, Const(-1, int32))
    assert run(Store(Y, PLACE, load)).tolist() == [*range(10), *[-1] * 14]
    stored = run(Store(Y, PLACE, Const(7, int32), inside))
    assert stored.tolist() == [7] * 10 + list(range(10, 24))


def test_a_predicated_access_touches_no_memory():
    load = Load(X, PLACE + 20, Compare(PLACE + 20, 24), ONE)
    assert run(Store(Y, PLACE, load))[:5].tolist() == [20, 21, 22, 23, 1]


def test_loops_and_variables():
    body = (
        Declare(A, Const(0, int32)),
        Loop(Axis("i", 5), (Assign(A, Apply("add", (A, number(Axis("i", 5))), int32)),)),
        Store(Y, PLACE, A),
    )
    assert set(run(*body).tolist()) == {10}


def test_conditions_of_groups():
    body = (
        Declare(A, Const(0, int32)),
        If(
            Compare(GROUP, 2),
            (
                Assign(A, number(GROUP + 5)),
                If(Apply("equal", (A, Const(6, int32)), bool_), (Assign(A, Const(9, int32)),)),
            ),
        ),
        Store(Y, PLACE, A),
    )
    assert run(*body).reshape(GROUPS, LANES)[:, 0].tolist() == [5, 9, 0]


def test_a_condition_that_does_not_hold_guards_accesses():
    far = Load(X, GROUP * 24 + LANE)
    body = (If(Compare(GROUP, 1), (Let(A, far), Store(Y, PLACE, A))),)
    assert run(*body).tolist() == list(range(24))


def test_folds_halve():
    """(0 + 4) + (2 + 6) + ((1 + 5) + (3 + 7)), which float32 can tell from other orders."""
    x = Buffer("x", float32, 24)
    y = Buffer("y", float32, 24, "global", "output")
    values = np.random.default_rng(0).standard_normal(24).astype(np.float32) * 10.0 ** np.arange(24)
    values = values.astype(np.float32)
    total = Var("s", float32)
    body = (Fold((total,), (Load(x, PLACE),), "add", 8), Store(y, PLACE, total))
    found = run(*body, buffers=(x, y), arrays=[values, np.zeros(24, np.float32)])
    for group, row in zip(found.reshape(3, 8), values.reshape(3, 8), strict=True):
        four = row[:4] + row[4:]
        two = four[:2] + four[2:]
        assert np.array_equal(group, np.full(8, two[0] + two[1]))


def test_folds_of_segments():
    total = Var("s", int32)
    body = (Fold((total,), (Load(X, PLACE),), "maximum", 4), Store(Y, PLACE, total))
    assert run(*body).tolist() == [3] * 4 + [7] * 4 + [11] * 4 + [15] * 4 + [19] * 4 + [23] * 4


@pytest.mark.parametrize("combine", ["argmax", "argmin"])
def test_folds_of_values_and_indices(combine):
    x = Buffer("x", float32, 24)
    y = Buffer("y", int64, 24, "global", "output")
    nan, inf = np.nan, np.inf
    rows = [
        [1, 3, 3, 0, 0, 3, 1, 1],
        [0, nan, 1, nan, 5, 5, 5, 5],
        [0.0, -0.0] + [-inf] * 3 + [inf] * 3,
    ]
    pair = (Var("v", float32), Var("n", int64))
    body = (Fold(pair, (Load(x, PLACE), number(LANE, int64)), combine, 8), Store(y, PLACE, pair[1]))
    values = np.array(rows, np.float32)
    found = run(*body, buffers=(x, y), arrays=[values.reshape(-1), np.zeros(24, np.int64)])
    assert np.array_equal(found.reshape(3, 8)[:, 3], getattr(np, combine)(values, axis=1))


def test_memory_of_lanes():
    i = Axis("i", 4)
    body = (
        Allocate(OWN),
        Loop(i, (Store(OWN, i, number(i * 10 + LANE)),)),
        Store(Y, PLACE, Load(OWN, Number(2))),
    )
    assert run(*body)[:8].tolist() == list(range(20, 28))


def test_stores_round_and_loads_widen():
    x, y = Buffer("x", bfloat16, 24), Buffer("y", float16, 24, "global", "output")
    third = Apply("div", (Load(x, PLACE), Const(3.0, float32)), float32)
    values = np.arange(24).astype(bfloat16.numpy)
    found = run(Store(y, PLACE, third), buffers=(x, y), arrays=[values, np.zeros(24, np.float16)])
    assert np.array_equal(found, (values.astype(np.float32) / np.float32(3)).astype(np.float16))


def test_positions_read_where_data_says():
    at = Position(Load(X, PLACE), 24)
    order = np.random.default_rng(1).permutation(24).astype(np.int32)
    z = Buffer("z", int32, 24)
    body = (Store(Y, PLACE, Load(z, at)),)
    arrays = [order, np.arange(24, dtype=np.int32) * 2, np.zeros(24, np.int32)]
    assert np.array_equal(run(*body, buffers=(X, z, Y), arrays=arrays), order * 2)


# -- instructions ---------------------------------------------------------------------------------


def performed(op, dtype, *values, target=None):
    operands = tuple(Const(0, {"b": bool_}.get(v.dtype.kind) or _dtype(v)) for v in values)
    return perform(Apply(op, operands, dtype, target), *values)


def _dtype(array):
    names = {"float32": float32, "float64": float64, "int32": int32, "int64": int64,
             "uint16": uint16, "uint32": uint32, "uint64": uint64}  # fmt: skip
    return names[array.dtype.name]


@given(st.lists(st.tuples(*[st.integers(0, 2**64 - 1)] * 2), min_size=1))
def test_the_upper_half_of_products(pairs):
    x, y = (np.array(side, np.uint64) for side in zip(*pairs, strict=True))
    exact = [int(a) * int(b) >> 64 for a, b in zip(x, y, strict=True)]
    assert performed("mul_high", uint64, x, y).tolist() == exact
    x, y = x.astype(np.uint32), y.astype(np.uint32)
    exact = [int(a) * int(b) >> 32 for a, b in zip(x, y, strict=True)]
    assert performed("mul_high", uint32, x, y).tolist() == exact


def test_casts_by_way_of_narrow_types_round_once():
    x = np.array([1 + 2**-11 + 2**-40, -(2.0**20)])
    assert performed("cast", float32, x, target=float16).tolist() == [1 + 2**-10, -np.inf]
    assert performed("cast", int8, np.array([300.7, np.nan], np.float32)).tolist() == [127, 0]
    x = np.array([0.1], np.float32)
    assert performed("round_to", float32, x, target=float16) == np.float16(0.1)


def test_bits_of_narrow_types():
    half = np.array([1.5, -0.0], np.float32)
    bits = performed("bitcast", uint16, half, target=float16)
    assert bits.tolist() == [0x3E00, 0x8000]
    assert performed("bitcast", float32, bits, target=float16).tolist() == [1.5, 0]
    assert performed("bitcast", uint32, half).tolist() == [0x3FC00000, 0x80000000]


# -- what must not happen -------------------------------------------------------------------------


def test_accesses_out_of_range_are_underlined():
    trusted = Apply("less", (Load(X, PLACE), Const(99, int32)), bool_)
    error = fault(Store(Y, PLACE + 1, ONE, trusted))
    assert str(error) == (
        "y[24] is out of range: y has 24 elements\n"
        "  where: the kernel 'k'\n"
        "    kernel k: 3 groups of 8 lanes\n"
        "      input x: i32[24]\n"
        "      output y: i32[24]\n"
        "      y[group*8 + lane + 1] <- i32(1) where less(x[group*8 + lane], i32(99))\n"
        "      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  fix: predicate the access, or mend its index"
    )
    error = fault(Store(Y, PLACE, Load(X, PLACE - 1, trusted, ONE)))
    assert "x[-1] is out of range" in error.what


def test_a_missing_barrier_is_a_race(racing_reverse):
    with pytest.raises(ExecutionError, match="written by another lane with no barrier between"):
        interpret(racing_reverse, [np.zeros(24, np.int32), np.zeros(24, np.int32)])


def test_writing_what_another_lane_may_still_read_is_a_race():
    reverse = (Let(A, Load(SHARED, 7 - LANE)), Store(Y, PLACE, A))
    first = (Allocate(SHARED), Store(SHARED, LANE, ONE), Barrier(), *reverse)
    again = Store(SHARED, LANE, ONE)
    run(*first, Barrier(), again)
    assert "is read by another lane with no barrier" in fault(*first, again).what


def test_every_lane_reading_one_element_counts_as_several():
    first = (Allocate(SHARED), Store(SHARED, LANE, ONE), Barrier(), Let(A, Load(SHARED, Number(0))))
    assert "is read by another lane" in fault(*first, Store(SHARED, LANE, ONE)).what


def test_what_several_lanes_did_counts_against_each_of_them():
    """Also against the one that did it last."""
    last = Compare(7 - LANE, 1)
    read = (Allocate(SHARED), Store(SHARED, LANE, ONE), Barrier(), Let(A, Load(SHARED, Number(0))))
    assert "is read by another lane" in fault(*read, Store(SHARED, Number(0), ONE, last)).what
    written = (Allocate(SHARED), Store(SHARED, Number(0), ONE))
    other = Store(SHARED, Number(0), number(LANE), last)
    assert "values differ" in fault(*written, other).what
    run(*written, Barrier(), other)


def test_memory_of_the_next_turn_is_the_same_memory():
    turn = (
        Allocate(SHARED),
        Store(SHARED, LANE, ONE),
        Barrier(),
        Let(A, Load(SHARED, 7 - LANE)),
        Store(Y, PLACE, A),
    )
    run(Loop(Axis("i", 2), (*turn, Barrier())))
    assert "is read by another lane" in fault(Loop(Axis("i", 2), turn)).what


def test_what_a_lane_wrote_itself_it_may_read():
    run(Allocate(SHARED), Store(SHARED, LANE, ONE), Store(Y, PLACE, Load(SHARED, LANE)))


def test_lanes_that_write_different_values_to_one_element():
    assert "values differ" in fault(Store(Y, GROUP, number(LANE))).what
    assert "values differ" in fault(Store(Y, LANE, number(GROUP))).what
    assert "values differ" in fault(Store(Y, LANE, ONE), Store(Y, 7 - LANE, number(LANE))).what
    run(Store(Y, GROUP, number(GROUP)))
    run(Store(Y, PLACE, ONE), Store(Y, PLACE, number(LANE)))  # a lane may change its mind


def test_zeros_of_different_sign_differ():
    y = Buffer("y", float32, 24, "global", "output")
    zero = Apply("mul", (Apply("cast", (number(LANE),), float32), Const(0.0, float32)), float32)
    sign = Apply("cast", (Apply("sub", (number(LANE), Const(4, int32)), int32),), float32)
    value = Apply("copysign", (zero, sign), float32)
    assert "values differ" in fault(Store(y, GROUP, value), buffers=(y,)).what


def test_temporaries_are_read_in_the_launch_that_writes_them_by_the_writer_alone():
    assert (
        "in the same launch"
        in fault(Store(T, PLACE, ONE), Store(Y, PLACE, Load(T, 23 - PLACE)), buffers=(T, Y)).what
    )
    assert (
        "in the same launch"
        in fault(Store(Y, PLACE, Load(T, 23 - PLACE)), Store(T, PLACE, ONE), buffers=(T, Y)).what
    )
    run(Store(T, PLACE, ONE), Store(Y, PLACE, Load(T, PLACE)), buffers=(T, Y))


def test_undefined_memory():
    assert (
        "m[2] is read before it is written"
        in fault(
            Allocate(OWN), Store(OWN, Number(1), ONE), Store(Y, PLACE, Load(OWN, Number(2)))
        ).what
    )
    turn = (
        Allocate(OWN),
        If(Compare(Axis("i", 2), 1), (Store(OWN, Number(0), ONE),)),
        Store(Y, PLACE, Load(OWN, Number(0))),
    )
    assert "before it is written" in fault(Loop(Axis("i", 2), turn)).what


def test_positions_keep_their_promise():
    at = Position(Load(X, PLACE), 23)
    assert "promised to be below 23 and is 23" in fault(Store(Y, PLACE, Load(X, at))).what
    guarded = Load(X, at, Compare(PLACE, 23), ONE)
    run(Store(Y, PLACE, guarded))


def test_conditions_that_differ_between_lanes():
    body = (If(Compare(LANE, 3), (Store(Y, PLACE, ONE),)),)
    kernel = Kernel("k", (Y,), GROUPS, LANES, body)
    with pytest.raises(ExecutionError, match="differs between the lanes"):
        interpret(kernel, [np.zeros(24, np.int32)])


def test_arrays_fit_the_buffers(staged_reverse):
    x = np.zeros(24, np.int32)
    with pytest.raises(ArgumentError, match="2 buffers, got 1"):
        interpret(staged_reverse, [x])
    with pytest.raises(ArgumentError, match=r"y0 of reverse is int32\[24\], got an array float32"):
        interpret(staged_reverse, [x, np.zeros(24, np.float32)])
    with pytest.raises(ArgumentError, match="one-dimensional"):
        interpret(staged_reverse, [x, x.reshape(4, 6)])


# -- several launches -----------------------------------------------------------------------------


def launches(*, last=24):
    x, y, t = (
        Input(TensorType(int32, (4, 6))),
        Input(TensorType(int32, (2, 12))),
        Temporary(0, int32, 24),
    )
    first = Kernel("first", (X, T), GROUPS, LANES, (Store(T, PLACE, Load(X, 23 - PLACE)),))
    read = (Store(Y, PLACE, Load(T, 23 - PLACE), Compare(PLACE, last)),)
    return (
        x,
        y,
        Lowered(
            (Launch(first, (x, t)), Launch(Kernel("second", (T, Y), GROUPS, LANES, read), (t, y))),
            "",
        ),
    )


def test_launches_see_what_earlier_ones_wrote():
    x, y, lowered = launches()
    given = np.arange(24, dtype=np.int32).reshape(4, 6)
    found = interpret_lowered(lowered, {x: given})
    assert list(found) == [y]
    assert np.array_equal(found[y], given.reshape(2, 12))


def test_outputs_are_written_in_full():
    x, _, lowered = launches(last=20)
    with pytest.raises(ExecutionError, match="element 20 of an output is never written"):
        interpret_lowered(lowered, {x: np.zeros((4, 6), np.int32)})


def test_inputs_are_not_forgotten():
    _, _, lowered = launches()
    with pytest.raises(ArgumentError, match="the input x of first is missing"):
        interpret_lowered(lowered, {})
