"""Movement and creation: elements at the right places, attributes checked."""

import numpy as np
import pytest
from realta.errors import ArgumentError, ShapeError
from realta.ops import ConstantData, get_op
from realta.types import Dim, TensorType, float32, int8, int64


def result(name, *types, **attrs):
    op = get_op(name)
    return str(op.result_types(tuple(types), op.make_attrs(attrs))[0])


F = TensorType(float32, (2, 3))


@pytest.mark.parametrize(
    ("start", "stop", "step", "expected"),
    [
        (0, 5, 1, [0, 1, 2, 3, 4]),
        (1, 4, 2, [1, 3]),
        (4, -1, -1, [4, 3, 2, 1, 0]),
        (3, 0, -2, [3, 1]),
        (-1, -1, -1, []),
        (2, 2, 1, []),
        (5, 5, 1, []),
        (4, 4, -3, []),
    ],
)
def test_slice_follows_range(call, start, stop, step, expected):
    found = call("slice", np.arange(5), start=(start,), stop=(stop,), step=(step,))
    assert found.tolist() == expected == list(range(start, stop, step))


def test_slice_agrees_with_pythons_own_slices(call):
    x = np.arange(7)
    ends = (None, -8, -3, 0, 2, 7, 9)
    for start in ends:
        for stop in ends:
            for step in (None, 1, 2, -1, -3):
                low, high, by = slice(start, stop, step).indices(7)
                found = call("slice", x, start=(low,), stop=(high,), step=(by,))
                assert found.tolist() == x[start:stop:step].tolist(), (start, stop, step)


def test_pad_and_concat(call):
    x = np.arange(4).reshape(2, 2)
    padded = call("pad", x, np.array(9), low=(1, 0), high=(0, 2))
    assert padded.tolist() == [[9, 9, 9, 9], [0, 1, 9, 9], [2, 3, 9, 9]]
    assert call("concat", x, x[:, :1], axis=1).tolist() == [[0, 1, 0], [2, 3, 2]]


def test_broadcast_stretches_one_to_none(call):  # S5
    assert call("broadcast", np.ones((2, 1)), shape=(2, 0)).shape == (2, 0)
    assert call("broadcast", np.array(3), shape=(0,)).shape == (0,)


def test_iota_counts_in_the_result_dtype_without_loss(call):  # I9
    found = call("iota", shape=(2, 300), axis=1, dtype=int8, device="")
    assert found[1].tolist() == np.arange(300).astype(np.int8).tolist()
    large = get_op("iota").reference(shape=(2**24 + 4,), axis=0, dtype=float32, device="")
    assert large[-3:].tolist() == [2.0**24, 2.0**24 + 2, 2.0**24 + 4]
    assert call("iota", shape=(3, 2), axis=0, dtype=int64, device="").tolist() == [
        [0, 0], [1, 1], [2, 2],
    ]  # fmt: skip


def test_constant_has_the_type_of_its_value(call):
    value = ConstantData(np.ones((2, 0), np.float16))
    assert call("constant", value=value, device="").dtype == np.float16
    assert result("constant", value=value, device="llvm:0") == "f16[2,0]@llvm:0"


def test_constants_are_not_kept_alive_by_the_registry():
    op = get_op("constant")
    op.result_types((), op.make_attrs({"value": ConstantData(np.ones(7)), "device": ""}))
    assert not op._memo


def test_symbolic_extents_flow_through():
    x = TensorType(float32, ("batch", 4))
    batch = Dim("batch")
    assert result("reshape", x, shape=(batch * 4,)) == "f32[4*batch]"
    assert result("permute", x, axes=(1, 0)) == "f32[4,batch]"
    assert result("broadcast", TensorType(float32, (4,)), shape=(batch, 4)) == "f32[batch,4]"
    assert result("slice", x, start=(0, 1), stop=(batch, 3), step=(1, 1)) == "f32[batch,2]"
    assert result("sum", x, axes=(1,)) == "f32[batch]"
    assert result("concat", x, x, axis=0) == "f32[2*batch,4]"
    assert result("matmul", x, TensorType(float32, (4, 3))) == "f32[batch,3]"


@pytest.mark.parametrize(
    ("name", "types", "attrs", "message"),
    [
        (
            "reshape",
            (F,),
            {"shape": (4,)},
            r"6 elements .* \(2, 3\) do not fill .*\(4,\)",
        ),
        ("permute", (F,), {"axes": (0,)}, r"axes \(0,\) does not name each axis"),
        ("permute", (F,), {"axes": (0, 0)}, r"axes \(0, 0\) names an axis twice"),
        ("permute", (F,), {"axes": (0, 2)}, r"axis 2 is out of range: .* the axes 0 to 1"),
        ("broadcast", (F,), {"shape": (3, 2)}, r"\(2, 3\) does not broadcast to \(3, 2\)"),
        ("broadcast", (F,), {"shape": (3,)}, r"does not broadcast to \(3,\)"),
        ("broadcast", (F,), {"shape": (1, 3)}, r"does not broadcast"),
        (
            "slice",
            (F,),
            {"start": (0,), "stop": (1,), "step": (1,)},
            "1 entries for the 2",
        ),
        (
            "slice",
            (F,),
            {"start": (0, 0), "stop": (2, 4), "step": (1, 1)},
            "stop 4 of axis 1 lies outside 0 to 3",
        ),
        (
            "slice",
            (F,),
            {"start": (0, 3), "stop": (2, -1), "step": (1, -1)},
            "start 3 of axis 1 lies outside -1 to 2",
        ),
        ("concat", (F, TensorType(float32, (3, 3))), {"axis": 1}, "do not join along axis 1"),
        ("concat", (F, TensorType(float32, (3,))), {"axis": 0}, "do not join along axis 0"),
        ("pad", (F, F), {"low": (0, 0), "high": (0, 0)}, "the fill is one value"),
        (
            "pad",
            (F, TensorType(float32, ())),
            {"low": (-1, 0), "high": (0, 0)},
            r"low \(-1, 0\) has a negative entry",
        ),
        ("iota", (), {"shape": (), "axis": 0, "dtype": float32}, r"no axes \(it is 0-d\)"),
    ],
)
def test_bad_shapes_say_what_and_how_to_mend(name, types, attrs, message):
    with pytest.raises(ShapeError, match=message) as caught:
        result(name, *types, **attrs)
    assert caught.value.fix


def test_a_step_of_zero():
    with pytest.raises(ArgumentError, match="step 0 of axis 0 is not a nonzero integer"):
        result("slice", F, start=(0, 0), stop=(2, 3), step=(0, 1))
