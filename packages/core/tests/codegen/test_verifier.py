import pytest
from realta.codegen.indices import Axis, Number, Position
from realta.codegen.ir import (
    Allocate,
    Apply,
    Assign,
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
from realta.codegen.profile import GPU_PROFILE
from realta.codegen.verifier import verify_kernel
from realta.errors import VerificationError
from realta.types import bool_, float16, float32, int8, int32, int64, uint32

X = Buffer("x", float32, 100)
Y = Buffer("y", float32, 100, "global", "output")
Z = Buffer("z", float16, 100, "global", "output")
GROUP, LANE = Axis("group", 5), Axis("lane", 16)
PLACE = GROUP * 16 + LANE
INSIDE = PLACE  # reaches 79
ONE = Const(1.0, float32)
TRUE = Const(True, bool_)


def kernel(*body, buffers=(X, Y, Z), groups=5, lanes=16):
    return Kernel("k", buffers, groups, lanes, body)


def refused(*body, **fields):
    with pytest.raises(VerificationError) as caught:
        verify_kernel(kernel(*body, **fields))
    return caught.value


def test_right_kernels_hold(column_sums, staged_reverse, racing_reverse):
    for each in (column_sums, staged_reverse, racing_reverse):
        verify_kernel(each)


def test_the_statement_is_underlined():
    body = (Let(Var("a", float32), Load(X, PLACE)), Store(Y, PLACE, Var("b", float32)))
    assert str(refused(*body)) == (
        "'b' of the type float32 is not defined here\n"
        "  where: the kernel 'k'\n"
        "    kernel k: 5 groups of 16 lanes\n"
        "      input x: f32[100]\n"
        "      output y: f32[100]\n"
        "      output z: f16[100]\n"
        "      a: f32 = x[group*16 + lane]\n"
        "      y[group*16 + lane] <- b\n"
        "      ^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  fix: define it before, in this body or around it"
    )


def test_names():
    a = Var("a", float32)
    assert "a second time" in refused(Let(a, ONE), Let(a, ONE)).what
    assert "a second time" in refused(Let(Var("x", float32), ONE)).what
    assert "a second time" in refused(Let(Var("lane", float32), ONE)).what
    assert "not an identifier" in refused(Let(Var("a b", float32), ONE)).what
    inner = Loop(Axis("i", 3), (Let(a, ONE),))
    assert "not defined here" in refused(inner, Store(Y, PLACE, a)).what
    assert "not defined here" in refused(Store(Y, PLACE, Var("a", float32)), Let(a, ONE)).what
    assert "not defined here" in refused(Let(a, ONE), Store(Y, PLACE, Var("a", float16))).what
    local = Buffer("m", float32, 4, "group", "temporary")
    scoped = If(Compare(GROUP, 3), (Allocate(local),))
    assert "not declared here" in refused(scoped, Store(local, Number(0), ONE)).what
    assert "not declared here" in refused(Let(a, Load(Buffer("w", float32, 3), Number(0)))).what
    assert "a second time" in refused(buffers=(X, X)).what


def test_axes():
    assert "no loop over 'i'" in refused(Store(Y, Axis("i", 3), ONE)).what
    loop = Loop(Axis("i", 3), (Store(Y, Axis("i", 4), ONE),))
    assert "no loop over 'i' of extent 4" in refused(loop).what
    assert "no loop over 'lane'" in refused(Store(Y, Axis("lane", 8), ONE)).what
    assert "negative number of turns" in refused(Loop(Axis("i", -1), ())).what


def test_types_of_values():
    n = Const(1, int32)
    assert "add" in refused(Let(Var("a", float32), Apply("add", (ONE, n), float32))).what
    wrong = Apply("less", (ONE, ONE), float32)
    assert "the result of less has the type float32" in refused(Let(Var("a", float32), wrong)).what
    assert "the name has the type int32" in refused(Let(Var("a", int32), ONE)).what
    assert (
        "no instruction 'fma'"
        in refused(Let(Var("a", float32), Apply("fma", (ONE, ONE, ONE), float32))).what
    )
    assert (
        "no instruction 'silu'"
        in refused(Let(Var("a", float32), Apply("silu", (ONE,), float32))).what
    )
    assert "no compute type" in refused(Let(Var("a", float16), Const(1.0, float16))).what
    rounded = Apply("round_to", (ONE,), float32, float32)
    assert "round_to" in refused(Let(Var("a", float32), rounded)).what
    bits = Apply("bitcast", (ONE,), int64)
    assert "cannot be read" in refused(Let(Var("a", int64), bits)).what
    assert (
        "takes 1 operand(s)"
        in refused(Let(Var("a", float32), Apply("round_to", (ONE, ONE), float32, float16))).what
    )
    high = Apply("mul_high", (n, n), int32)
    assert "mul_high" in refused(Let(Var("a", int32), high)).what


@pytest.mark.parametrize(
    "const", [Const(300, int8), Const(1.0, int32), Const(True, int32), Const(1, bool_)]
)
def test_constants_are_python_values_of_their_type(const):
    assert "is no" in refused(Let(Var("a", const.dtype), const)).what


def test_constants_that_hold():
    values = (Const(-128, int8), Const(2**32 - 1, uint32), Const(1, float32), Const(False, bool_))
    verify_kernel(kernel(*[Let(Var(f"a{n}", c.dtype), c) for n, c in enumerate(values)]))


def test_indices_as_values():
    assert "may not fit int8" in refused(Let(Var("a", int8), FromIndex(PLACE * 2, int8))).what
    assert "may not fit" in refused(Let(Var("a", float32), FromIndex(LANE, float32))).what
    verify_kernel(kernel(Let(Var("a", int8), FromIndex(LANE, int8))))


def test_roles_and_predicates():
    assert "is an output and is read" in refused(Let(Var("a", float32), Load(Y, PLACE))).what
    assert "is an input and is written" in refused(Store(X, PLACE, ONE)).what
    assert "an element of y has the type float32" in refused(Store(Y, PLACE, Const(1, int32))).what
    assert "without a default" in refused(Let(Var("a", float32), Load(X, PLACE, TRUE))).what
    assert "condition is of the type float32" in refused(Store(Y, PLACE, ONE, ONE)).what
    verify_kernel(kernel(Store(Z, PLACE, ONE)))  # rounded to float16


def test_variables_are_declared_to_be_changed():
    a = Var("a", float32)
    assert "no declared variable" in refused(Let(a, ONE), Assign(a, ONE)).what
    assert "no declared variable" in refused(Assign(a, ONE)).what
    verify_kernel(kernel(Declare(a, ONE), Loop(Axis("i", 2), (Assign(a, ONE),))))


def test_conditions_are_the_same_in_all_lanes():
    store = (Store(Y, PLACE, ONE),)
    assert "may differ between the lanes" in refused(If(Compare(LANE, 3), store)).what
    loaded = Load(X, LANE)
    named = Let(Var("p", bool_), Apply("is_nan", (loaded,), bool_))
    assert "may differ" in refused(named, If(Var("p", bool_), store)).what
    half = Fold((Var("m", float32),), (loaded,), "maximum", 8)
    test = Apply("is_nan", (Var("m", float32),), bool_)
    assert "may differ" in refused(half, If(test, store)).what
    whole = Fold((Var("m", float32),), (loaded,), "maximum", 16)
    verify_kernel(kernel(whole, If(test, store)))
    verify_kernel(kernel(If(Compare(GROUP, 3), store)))
    uniform = Apply("is_nan", (Load(X, GROUP),), bool_)
    verify_kernel(kernel(If(uniform, store)))


def test_a_variable_that_varies_later_varies_before():
    a = Var("a", int64)
    turn = Loop(
        Axis("i", 3),
        (
            If(Apply("less", (a, Const(2, int64)), bool_), (Store(Y, PLACE, ONE),)),
            Assign(a, FromIndex(LANE, int64)),
        ),
    )
    assert "may differ" in refused(Declare(a, Const(0, int64)), turn).what


def test_folds():
    m = (Var("m", float32),)
    for width in (3, 32, 0):
        assert "do not make up 16 lanes" in refused(Fold(m, (ONE,), "add", width)).what
    assert "no combination 'sub'" in refused(Fold(m, (ONE,), "sub", 16)).what
    assert "combines bools" in refused(Fold(m, (ONE,), "logical_or", 16)).what
    assert "int64 indices" in refused(Fold(m, (ONE,), "argmax", 16)).what
    assert "the fold gives float32" in refused(Fold((Var("m", int32),), (ONE,), "add", 16)).what
    pair = (Var("m", float32), Var("n", int64))
    verify_kernel(kernel(Fold(pair, (ONE, FromIndex(LANE, int64)), "argmin", 4)))


def test_memory_is_allocated_where_it_may_be():
    assert "not global memory" in refused(buffers=(Buffer("m", float32, 4, "group"),)).what
    assert "not allocated by a kernel" in refused(Allocate(Buffer("m", float32, 4))).what
    assert "no elements" in refused(Allocate(Buffer("m", float32, 0, "lane"))).what
    assert "no groups" in refused(groups=0).what


def test_group_memory_fits_the_profile():
    large = Buffer("m", float32, (GPU_PROFILE.scratch_bytes // 4) + 1, "group", "temporary")
    verify_kernel(kernel(Allocate(large)))
    with pytest.raises(VerificationError, match="32772 bytes of group memory"):
        verify_kernel(kernel(Allocate(large)), GPU_PROFILE)


def test_accesses_out_of_range():
    assert refused(Store(Y, PLACE + 21, ONE)).what == (
        "y[group*16 + lane + 21] reaches from 21 to 100, and 'y' has 100 elements"
    )
    assert "reaches from -1" in refused(Store(Y, PLACE - 1, ONE)).what
    assert "reaches" in refused(Store(Y, PLACE * 2, ONE, Compare(PLACE * 2, 101))).what
    at = Position(FromIndex(LANE, int64), 101)
    assert "reaches" in refused(Let(Var("a", float32), Load(X, at))).what


def test_comparisons_prove_accesses_in_range():
    wide = PLACE * 2
    for where in (
        Compare(wide, 100),
        Compare(wide - 1, 99),
        Compare(PLACE, 50),  # twice as much is below 100
        Apply("bitwise_and", (Compare(GROUP, 3), Compare(LANE, 3)), bool_),
    ):
        verify_kernel(kernel(Store(Y, wide, ONE, where)))
    # The least value, by the comparison of what is subtracted.
    verify_kernel(kernel(Store(Y, PLACE - 3, ONE, Compare(2 - PLACE, 0))))
    named = (Let(Var("p", bool_), Compare(wide, 100)), Store(Y, wide, ONE, Var("p", bool_)))
    verify_kernel(kernel(*named))
    verify_kernel(kernel(If(Compare(GROUP, 3), (Store(Y, GROUP * 30 + LANE, ONE),))))
    assert "reaches from 0 to 135" in refused(Store(Y, GROUP * 30 + LANE, ONE)).what


def test_other_conditions_are_trusted():
    where = Apply("is_nan", (Load(X, PLACE),), bool_)
    verify_kernel(kernel(Store(Y, PLACE * 2, ONE, where)))


def test_indices_fit_64_bits():
    huge = LANE * (1 << 60)
    assert "does not fit 64 bits" in refused(Store(Y, huge, ONE, TRUE)).what
