import copy
import gc
import pickle
import sys

import pytest
from realta.errors import DTypeError, ShapeError
from realta.types import Dim, TensorType, float32, tensor_type


def test_equal_types_are_one_object():
    a = TensorType("float32", (2, "n"), "numpy:0")
    assert TensorType(float32, [2, Dim("n")], "numpy:0") is a
    assert tensor_type(float32, (2, Dim("n")), "numpy:0") is a
    assert TensorType("float32", (2, "m"), "numpy:0") is not a
    assert TensorType("float32", (2, "n")) is not a


def test_text():
    assert str(TensorType("bfloat16", (2, 3), "llvm:0")) == "bf16[2,3]@llvm:0"
    assert str(TensorType("bool")) == "bool[]"
    assert repr(TensorType("int8", ("2*n + 1",))) == "i8[2*n + 1]"


def test_sizes():
    assert TensorType("float64", (2, 3)).nbytes == 48
    assert TensorType("float64").size == 1
    assert TensorType("int8", (0, 3)).size == 0
    with pytest.raises(ShapeError) as caught:
        _ = TensorType("float32", ("n", 3)).nbytes
    assert str(caught.value) == (
        "the shape of f32[n,3] is symbolic, so it has no number of elements yet\n"
        "  where: the type f32[n,3]\n"
        "  fix: bind its dimensions by calling the compiled function with real tensors"
    )


def test_changed_parts():
    a = TensorType("float32", (2,), "numpy:0")
    assert str(a.with_shape((3, 1))) == "f32[3,1]@numpy:0"
    assert str(a.with_device("")) == "f32[2]"
    assert str(a.with_dtype(TensorType("int8").dtype)) == "i8[2]@numpy:0"
    assert a.with_shape((2,)) is a


def test_wrong_parts_are_refused():
    with pytest.raises(ShapeError, match="an extent cannot be negative, got -1"):
        TensorType("float32", (2, -1))
    with pytest.raises(DTypeError):
        TensorType("floot", (2,))


def test_copies_and_pickles_are_the_same_object():
    a = TensorType("float32", (2, "n//2"), "numpy:0")
    assert pickle.loads(pickle.dumps(a)) is a
    assert copy.copy(a) is a
    assert copy.deepcopy({"a": [a]})["a"][0] is a


def test_types_that_nobody_uses_are_freed():
    module = sys.modules["realta.types.tensor_type"]
    gc.collect()
    before = len(module._interned)
    types = [TensorType("float32", (7919, k)) for k in range(100)]
    assert len(module._interned) == before + 100
    del types
    gc.collect()
    assert len(module._interned) == before
