import copy
import operator
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from realta.errors import ArgumentError, ShapeError
from realta.types import Dim, as_dim, assuming, divide_exactly, smallest

n, m = Dim("n"), Dim("m")


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("batch", "batch"),
        ("n + n", "2*n"),
        ("1 + n", "n + 1"),
        ("m*n - n*m + 3*n*n", "3*n*n"),
        ("(n + 1)*(n - 1)", "n*n - 1"),
        ("(2*n + 1)//2", "n"),
        ("(2*n + 3)%2", "1"),
        ("(n + 4)//2", "n//2 + 2"),
        ("n%4%8", "n%4"),
        ("n//3%2", "(n//3)%2"),
        ("-(n//3)", "-(n//3)"),
        ("n//-2", "-n + n//2"),
        ("min(n, n)", "n"),
        ("min(m, min(n, 4), 7)", "min(4, m, n)"),
        ("max(n, 0)", "n"),
        ("max(n, n + 1)", "n + 1"),
        ("m*(n%3)", "m*(n%3)"),
        ("12//(n + 1)", "12//(n + 1)"),
    ],
)
def test_texts_have_one_canonical_form(written, canonical):
    found = as_dim(written)
    assert str(found) == canonical
    assert str(as_dim(str(found))) == str(found)


def test_what_does_not_depend_on_a_name_is_an_int():
    assert as_dim("2 + 3*4") == 14
    assert type(n - n + 3) is int
    assert n - n + 3 == 3
    assert type(smallest(n, 0)) is int
    with pytest.raises(ShapeError, match="does not depend on a name"):
        Dim("n - n")


def test_arithmetic_takes_ints_on_both_sides():
    assert str(2 * n + 1) == str(1 + n * 2) == "2*n + 1"
    assert str(10 - n) == "-n + 10"
    assert str(7 // (n + 1)) == "7//(n + 1)"
    assert str(7 % (n + 1)) == "7%(n + 1)"
    assert str(n * np.int64(2)) == "2*n"
    assert str(-n) == "-n"
    with pytest.raises(TypeError):
        n + True
    with pytest.raises(TypeError):
        n * 1.5


def test_comparisons_answer_where_the_names_do_not_matter():
    assert n + m == m + n
    assert n != n + 1
    assert n + 1 != 0
    assert n + 1 > 0
    assert n <= n + m
    assert n >= 0
    assert n % 4 < 4
    assert smallest(n, 8) <= 8
    assert n != "n"
    assert n != True  # noqa: E712 - a bool is no extent
    assert hash(n + m) == hash(Dim("m + n"))
    assert len({n + 1: 0, Dim("1 + n"): 1}) == 1


@pytest.mark.parametrize(
    ("left", "sign", "right"),
    [(n, "==", m), (n, "==", 3), (n, "<", m), (n, ">=", 1), (n // 2, "==", n), (n, "!=", 1)],
    ids=str,
)
def test_comparisons_that_depend_on_the_names_raise(left, sign, right):
    signs = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, ">=": operator.ge}
    with pytest.raises(ShapeError, match="depends on what the dimensions are bound to"):
        signs[sign](left, right)


def test_the_undecidable_error_says_how_to_mend_it():
    with pytest.raises(ShapeError) as caught:
        assert n == 2 * m
    assert str(caught.value) == (
        "whether n == 2*m depends on what the dimensions are bound to\n"
        "  fix: use the same name for dimensions that are equal, or an integer"
    )


def test_evaluation():
    dim = Dim("2*n + m//3 - max(n, m)%4")
    assert dim.names == ("m", "n")
    assert dim.evaluate({"n": 5, "m": 10, "k": 0}) == 2 * 5 + 10 // 3 - 10 % 4
    with pytest.raises(ShapeError) as caught:
        dim.evaluate({"n": 5})
    assert str(caught.value) == (
        f"the dimension 'm' is not bound\n  where: in the extent {dim}\n  fix: bind it; bound are n"
    )
    with pytest.raises(ShapeError, match=r"4//n divides by zero"):
        Dim("4//n").evaluate({"n": 0})


@pytest.mark.parametrize(
    "wrong",
    ["", "2n", "n.m", "n/2", "n**2", "f(n)", "min()", "min(n, key=m)", "n if m else 1", "n\n)",
     "1.5", "(" * 300 + "n" + ")" * 300, "True", "min", "[n]", "n\x00"],
)  # fmt: skip
def test_what_is_no_expression_is_refused(wrong):
    with pytest.raises(ShapeError, match="is not an extent"):
        as_dim(wrong)


@pytest.mark.parametrize("wrong", [True, False, 1.0, None, np.bool_(True), (2,)], ids=repr)
def test_what_is_no_integer_is_refused(wrong):
    with pytest.raises(ShapeError, match="is not an extent"):
        as_dim(wrong)


def test_negative_extents_are_refused():
    for wrong in (-1, np.int32(-2), "-1", "-n - 1", -n - 1):
        with pytest.raises(ShapeError, match="an extent cannot be negative"):
            as_dim(wrong)
    assert as_dim(n - 1) is not None
    for zero in ("4//0", "n%0"):
        with pytest.raises(ShapeError, match="divides by zero"):
            as_dim(zero)


def test_integers_of_other_kinds_become_ints():
    assert type(as_dim(np.int64(3))) is int
    assert as_dim(0) == 0


def test_exact_division():
    assert divide_exactly(16 * n, 4) == 4 * n
    assert divide_exactly(n * m * 6, n * 2) == 3 * m
    assert divide_exactly((n + 1) * (m + 2), n + 1) == m + 2
    assert divide_exactly(12, 4) == 3
    assert divide_exactly(0, 4) == 0
    assert divide_exactly(n, 2) is None
    assert divide_exactly(n + 1, n) is None
    assert divide_exactly(7, n) is None
    assert divide_exactly(7, 0) is None


def test_extremes_need_an_extent():
    with pytest.raises(ArgumentError, match="there is no min of nothing"):
        smallest()


def test_copies_and_pickles_are_equal():
    dim = Dim("2*n + m//3")
    assert pickle.loads(pickle.dumps(dim)) == dim
    assert copy.deepcopy(dim) == dim


NAMES = st.sampled_from(["n", "m", "k"])
BINARY = st.sampled_from(["+", "-", "*", "//", "%"])
EXTREME = st.sampled_from(["min", "max"])
EXPRESSIONS = st.recursive(
    NAMES | st.integers(0, 9).map(str),
    lambda inner: st.one_of(
        st.tuples(inner, BINARY, inner).map(lambda t: f"({t[0]}){t[1]}({t[2]})"),
        st.tuples(EXTREME, inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        inner.map(lambda e: f"-({e})"),
    ),
    max_leaves=8,
)  # fmt: skip
BOUND = st.fixed_dictionaries({name: st.integers(0, 12) for name in "nmk"})


def extent(text):
    """The extent of a text, None where it divides by zero or can only be negative."""
    try:
        return as_dim(text)
    except ShapeError:
        return None


def value(text, names):
    try:
        return eval(text, {"min": min, "max": max}, dict(names))
    except ZeroDivisionError:
        return None


@given(EXPRESSIONS, BOUND)
def test_canonical_form_has_the_value_of_what_was_written(text, names):
    dim = extent(text)
    right = value(text, names)
    if dim is None or right is None:
        return
    if isinstance(dim, int):
        assert dim == right
        return
    assert dim.evaluate(names) == right
    low, high = dim.bounds
    assert low <= right <= high
    assert Dim(str(dim)) == dim
    assert str(Dim(str(dim))) == str(dim)


@given(EXPRESSIONS, EXPRESSIONS, BOUND)
def test_decided_comparisons_hold_for_all_values(left, right, names):
    a, b = extent(left), extent(right)
    values = value(left, names), value(right, names)
    if a is None or b is None or None in values:
        return
    for ask in (lambda x, y: x == y, lambda x, y: x < y, lambda x, y: x >= y):
        try:
            answer = ask(a, b)
        except ShapeError:
            continue
        assert answer == ask(*values)


def test_questions_are_answered_by_what_is_assumed_and_noted():
    batch, length = Dim("batch"), Dim("length")
    with assuming({"batch": 3, "length": 4}) as assumed:
        assert not batch == length  # noqa: SIM201
        assert batch < length
        assert batch + 1 == length
        assert batch + 1 > batch  # holds always, so it is no question
    assert list(assumed.guards) == [
        "not (batch) == (length)", "(batch) < (length)", "(batch + 1) == (length)",
    ]  # fmt: skip
    test = assumed.test()
    assert test(batch=3, length=4)
    assert test(batch=7, length=8)
    assert not test(batch=4, length=4)
    assert not test(batch=3, length=5)
    with pytest.raises(ShapeError, match="depends on what"):
        bool(batch == length)


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
@pytest.mark.parametrize("right", [3, 4, 5, "length", "2*length"])
def test_every_comparison_is_that_of_the_numbers(sign, right):
    names = {"batch": 4, "length": 2}
    compare = {
        "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
        "==": operator.eq, "!=": operator.ne,
    }[sign]  # fmt: skip
    batch, other = as_dim("batch"), as_dim(right)
    number = other if isinstance(other, int) else other.evaluate(names)
    with assuming(names) as assumed:
        assert compare(batch, other) is compare(4, number)
        assert compare(other, batch) is compare(number, 4)
    assert assumed.test()(**names)


def test_the_innermost_assumption_counts():
    batch = Dim("batch")
    with assuming({"batch": 3}) as outer:
        with assuming({"batch": 1}) as inner:
            assert batch == 1
        assert batch > 2
    assert list(inner.guards) == ["(batch) == (1)"]
    assert len(outer.guards) == 1
