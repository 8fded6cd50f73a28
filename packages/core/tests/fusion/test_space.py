import pytest
from realta.fusion.space import Space, extents_of, level_of_view
from realta.types import TensorType

ROWS = Space("row", (4, 8), (1,))


def chain(builder, value, *steps):
    views = []
    for name, attrs in steps:
        value = getattr(builder, name)(value, **attrs)
        views.append(value)
    return views


@pytest.mark.parametrize(
    ("shape", "level"), [((4, 8), "full"), ((4,), "row"), ((4, 1), "row"), ((8,), None)]
)
def test_levels_by_shape(shape, level):
    assert ROWS.level(shape) == level


def test_without_reductions_there_is_one_level():
    assert Space("elementwise", (4, 8)).level((4,)) is None


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (ROWS, ROWS, ROWS),
        (ROWS, Space("row", (4, 8), (0,)), None),
        (ROWS, Space("elementwise", (4, 8)), ROWS),
        (Space("elementwise", (4,)), ROWS, ROWS),
        (Space("elementwise", (8,)), ROWS, None),
        (Space("elementwise", (8,)), Space("elementwise", (8,)), Space("elementwise", (8,))),
        (Space("contraction", (8,)), Space("elementwise", (8,)), Space("contraction", (8,))),
        (Space("contraction", (8,)), Space("contraction", (8,)), None),
        (Space("single", (8,)), Space("elementwise", (8,)), None),
        (Space("elementwise", (8,)), Space("movement", (8,)), None),
    ],
)
def test_loops_that_serve_two_kernels(one, other, both):
    assert one.with_other(other) == both


@pytest.mark.parametrize(
    ("source", "steps", "level"),
    [
        ((4,), [("reshape", {"shape": (4, 1)})], "row"),
        ((4,), [("reshape", {"shape": (4, 1)}), ("broadcast", {"shape": (4, 8)})], "full"),
        ((4, 1), [("broadcast", {"shape": (4, 8)})], "full"),
        ((4, 1), [("reshape", {"shape": (4,)})], "row"),
        ((4,), [("reshape", {"shape": (2, 2)})], None),
        ((4,), [("reshape", {"shape": (1, 4)}), ("broadcast", {"shape": (8, 4)})], None),
        ((4, 8), [("permute", {"axes": (1, 0)})], None),
        ((4,), [("slice", {"start": (3,), "stop": (-1,), "step": (-1,)})], None),
        ((4,), [("barrier", {})], None),
    ],
)
def test_index_maps_over_rows(write, source, steps, level):
    b, x = write(f32=source)
    assert level_of_view(ROWS, source, chain(b, x, *steps)) == level


def test_rows_of_a_square_are_not_columns(write):
    square = Space("row", (4, 4), (1,))
    b, x = write(f32=(4,))
    assert level_of_view(square, (4,), chain(b, x, ("broadcast", {"shape": (4, 4)}))) is None
    turned = chain(
        b, x, ("reshape", {"shape": (4, 1)}), ("broadcast", {"shape": (4, 4)}),
        ("permute", {"axes": (1, 0)}),
    )  # fmt: skip
    assert level_of_view(square, (4,), turned) is None


def test_leading_reduced_axes_need_no_reshape(write):
    b, x = write(f32=(8,))
    views = chain(b, x, ("broadcast", {"shape": (4, 8)}))
    assert level_of_view(Space("row", (4, 8), (0,)), (8,), views) == "full"


def test_symbolic_extents_are_compared_by_their_text():
    assert extents_of(TensorType("float32", ("batch", 4))) == ("batch", 4)
