import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from realta.graph import Builder, Node
from realta.passes import Canonicalize, evaluate_graph
from realta.types import BY_SHORT, tensor_type


def simplified(builder, *values):
    return Canonicalize().run(builder.finish(*values)).outputs


@pytest.mark.parametrize(
    ("narrow", "wide", "gone"),
    [
        ("f16", "f32", True), ("bf16", "f32", True), ("f32", "f64", True), ("f32", "f16", False),
        ("f16", "bf16", False), ("bf16", "f16", False), ("i8", "i32", True), ("u8", "i16", True),
        ("u8", "i8", False), ("i8", "u8", False), ("i8", "u32", False), ("i32", "f32", False),
        ("i32", "f64", True), ("i64", "f64", False), ("i16", "f32", True), ("u16", "f16", False),
        ("i8", "bf16", True), ("u8", "bf16", True), ("i16", "bf16", False), ("bool", "i8", True),
        ("bool", "f16", True), ("f32", "i64", False), ("i8", "bool", False),
    ],
)  # fmt: skip
def test_there_and_back_is_nothing_only_where_nothing_is_lost(write, narrow, wide, gone):
    b, x = write(**{narrow: (3,)})
    there = b.cast(x, dtype=BY_SHORT[wide])
    (output,) = simplified(b, b.cast(there, dtype=x.type.dtype))
    assert (output is x) is gone


def test_a_slice_of_everything_is_the_value_but_a_reversal_is_not(write):
    b, x = write(f32=(4,))
    whole = b.slice(x, start=(0,), stop=(4,), step=(1,))
    reverse = b.slice(x, start=(3,), stop=(-1,), step=(-1,))
    outputs = simplified(b, whole, reverse)
    assert outputs[0] is x
    assert outputs[1] is reverse


def test_concat_leaves_out_what_is_empty(write):
    b, x = write(f32=(2, 3))
    empty = b.slice(x, start=(0, 0), stop=(0, 3), step=(1, 1))
    one, several, none = (
        b.concat(x, empty, axis=0), b.concat(x, empty, x, axis=0), b.concat(empty, empty, axis=0),
    )  # fmt: skip
    outputs = simplified(b, one, several, none)
    assert outputs[0] is x or outputs[0].operands == (x,)
    assert outputs[1].operands == (x, x)
    assert len(outputs[2].operands) == 2


def test_select_between_equals_is_the_value(write):
    b, x, m = write(f32=(3,), bool=(3,))
    assert simplified(b, b.select(m, x, x)) == (x,)


def test_rearranged_scalars_stay_broadcasts_of_the_scalar(write):
    b, x = write(f32=())
    wide = b.broadcast(x, shape=(2, 3))
    values = (
        b.reshape(wide, shape=(6,)),
        b.permute(wide, axes=(1, 0)),
        b.slice(wide, start=(0, 1), stop=(2, 3), step=(1, 1)),
    )
    for output in simplified(b, *values):
        assert (output.op.name, output.operands) == ("broadcast", (x,))


@st.composite
def ranges(draw, extent):
    """Start, stop and step of a slice of an axis, as its attributes have them."""
    step = draw(st.sampled_from([-3, -2, -1, 1, 2, 3]))
    start, stop, step = slice(
        draw(st.none() | st.integers(0, extent)), draw(st.none() | st.integers(0, extent)), step
    ).indices(extent)
    if step > 0:
        return start, max(start, stop), step
    return start, min(start, stop), step


@given(st.data())
def test_slices_of_slices_compose(data):
    builder = Builder()
    x = builder.input(tensor_type(BY_SHORT["i32"], (7,)))
    value, extent = x, 7
    for _ in range(3):
        start, stop, step = data.draw(ranges(extent))
        value = builder.slice(value, start=(start,), stop=(stop,), step=(step,))
        extent = len(range(start, stop, step))
    graph = builder.finish(value)
    result = Canonicalize().run(graph)
    array = np.arange(7, dtype=np.int32)
    assert np.array_equal(*evaluate_graph(graph, [array]), *evaluate_graph(result, [array]))
    if isinstance(result.outputs[0], Node):
        assert result.outputs[0].operands == (x,)


def test_a_store_of_all_of_a_tensor_is_what_is_stored(write):
    b, x, y = write(f32=(4,), f64=(2,))
    value = b.exp(x)
    same = b.update_slice(x, value, start=(0,), stop=(4,), step=(1,))
    turned = b.update_slice(x, value, start=(3,), stop=(-1,), step=(-1,))
    graph = Canonicalize().run(b.finish(same, turned, y))
    assert graph.outputs[0] is value
    assert graph.outputs[1].op.name == "update_slice"
