import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from realta.errors import ArgumentError, ShapeError
from realta.types import (
    Dim,
    bind_shape,
    broadcast_shapes,
    normalize_axes,
    normalize_axis,
    normalize_axis_order,
    resolve_reshape,
)

n, m = Dim("n"), Dim("m")


@pytest.mark.parametrize(
    ("shapes", "result"),
    [
        ([(2, 0), (2, 1)], (2, 0)),
        ([(), (0,)], (0,)),
        ([(), ()], ()),
        ([], ()),
        ([(3,), (2, 3), (4, 1, 1)], (4, 2, 3)),
        ([(1,), (0,)], (0,)),
        ([(n, 3), (1, 3)], (n, 3)),
        ([(3,), (n, 1)], (n, 3)),
        ([(n,), (n,)], (n,)),
        ([(n + m,), (m + n,)], (n + m,)),
    ],
)
def test_broadcasting(shapes, result):
    assert broadcast_shapes(*shapes) == result


@pytest.mark.parametrize("shapes", [[(2, 0), (2, 3)], [(2,), (3,)], [(n,), (n + 1,)], [(0,), (2,)]])
def test_extents_that_differ_do_not_broadcast(shapes):
    with pytest.raises(ShapeError, match="do not broadcast"):
        broadcast_shapes(*shapes)


def test_the_broadcasting_error_names_the_axis():
    with pytest.raises(ShapeError) as caught:
        broadcast_shapes((2, 0), (5, 2, 3))
    assert str(caught.value) == (
        "the shapes (2, 0) and (5, 2, 3) do not broadcast: axis -1 has the extents 0 and 3\n"
        "  fix: make the extents equal, or one of them 1"
    )


def test_a_name_never_broadcasts_as_one():
    with pytest.raises(ShapeError) as caught:
        broadcast_shapes((n,), (3,))
    assert str(caught.value) == (
        "whether n == 3 depends on what the dimensions are bound to\n"
        "  where: broadcasting (n,) and (3,)\n"
        "  fix: use the same name for dimensions that are equal, or an integer"
    )


SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@given(st.lists(SHAPES, max_size=4))
def test_broadcasting_agrees_with_numpy(shapes):
    try:
        right = np.broadcast_shapes(*shapes)
    except ValueError:
        with pytest.raises(ShapeError):
            broadcast_shapes(*shapes)
    else:
        assert broadcast_shapes(*shapes) == right


def test_axes_count_from_both_ends():
    assert [normalize_axis(a, 3) for a in (0, 2, -1, -3, np.int64(1))] == [0, 2, 2, 0, 1]
    assert normalize_axes(None, 3) == (0, 1, 2)
    assert normalize_axes((), 3) == ()
    assert normalize_axes(-1, 3) == (2,)
    assert normalize_axes([-1, 0], 3) == (0, 2)
    assert normalize_axis_order([-1, 0], 3) == (2, 0)
    assert normalize_axes(None, 0) == ()


@pytest.mark.parametrize(("axis", "rank"), [(3, 3), (-4, 3), (0, 0), (-1, 0), (1, 0)])
def test_axes_out_of_range(axis, rank):
    with pytest.raises(ShapeError, match=f"axis {axis} is out of range"):
        normalize_axis(axis, rank)


def test_the_axis_errors():
    with pytest.raises(ShapeError) as caught:
        normalize_axes(1, 0)
    assert str(caught.value) == (
        "axis 1 is out of range: the tensor has no axes (it is 0-d)\n  fix: give an axis it has"
    )
    with pytest.raises(ShapeError) as caught:
        normalize_axes((0, -2), 2)
    assert str(caught.value) == "axis 0 is named twice in (0, -2)\n  fix: name each axis once"
    for wrong in (True, 1.0, "0", None):
        with pytest.raises(ArgumentError, match="an axis is an integer"):
            normalize_axis(wrong, 2)


@pytest.mark.parametrize(
    ("shape", "new", "result"),
    [
        ((2, 3), (3, 2), (3, 2)),
        ((2, 3), (-1,), (6,)),
        ((), (1, -1), (1, 1)),
        ((0, 4), (2, -1), (2, 0)),
        ((0, 4), (0, 7), (0, 7)),
        ((n, 4, 4), (n, -1), (n, 16)),
        ((n, 4), (-1, 2), (2 * n, 2)),
        ((n, 4), ("2*n", 2), (2 * n, 2)),
        ((n, m), (m, -1), (m, n)),
    ],
)
def test_reshapes(shape, new, result):
    assert resolve_reshape(shape, new) == result


@pytest.mark.parametrize(
    ("shape", "new", "what"),
    [
        ((1, 0, 4), (1, 0, -1), "the extent -1 is not determined"),
        ((2, 3), (4, 2), "6 elements cannot become 8"),
        ((2, 3), (4, -1), "6 elements do not divide by 4"),
        ((2, 3), (-1, -1), "at most one extent may be -1"),
        ((2, 3), (-2, 3), "an extent cannot be negative"),
        ((n, 3), (n + 1, 3), "3\\*n elements cannot become 3\\*n \\+ 3"),
        ((n,), (m,), "depends on what the dimensions are bound to"),
        ((n,), (2, -1), "n elements do not divide by 2"),
        ((2, 2), (True, 4), "True is not an extent"),
    ],
)
def test_reshapes_that_do_not_hold(shape, new, what):
    with pytest.raises(ShapeError, match=what) as caught:
        resolve_reshape(shape, new)
    assert "reshape of" in caught.value.where


def test_binding_names():
    assert bind_shape((n, 3, n + m), {"n": 2, "m": 5}) == (2, 3, 7)
    with pytest.raises(ShapeError) as caught:
        bind_shape((n - 3,), {"n": 1})
    assert str(caught.value) == (
        "the extent n - 3 is -2, and no extent is negative\n"
        "  where: with {'n': 1}\n"
        "  fix: bind the names to other values"
    )
