"""What Tensor(data) makes of numbers, lists, arrays and tensors (spec 3)."""

import numpy as np
import pytest
import realta
from realta import Tensor, lazy
from realta.errors import ArgumentError, DTypeError, ScalarOverflowError, ShapeError
from realta.types import as_dtype

DTYPES = {
    "ints": ([1, 2], "int64"),
    "bools": ([True, False], "bool"),
    "floats": ([1.5], "float32"),
    "mixed": ([1, 2.5], "float32"),
    "bool and int": ([True, 2], "int64"),
    "nothing": ([], "float32"),
    "int": (3, "int64"),
    "bool": (True, "bool"),
    "float": (3.5, "float32"),
    "range": (range(3), "int64"),
    "tuple": ((1.0, 2.0), "float32"),
    "float64 array": (np.ones(2), "float64"),
    "int8 array": (np.ones(2, np.int8), "int8"),
    "0-d array": (np.array(2.0), "float64"),
    "int8 scalar": (np.int8(3), "int8"),
    "list of int8": ([np.int8(3), np.int8(4)], "int8"),
    "list of weak floats": ([np.float64(1.5)], "float32"),
    "list of arrays": ([np.ones(2), np.zeros(2)], "float64"),
}


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(name):
    data, dtype = DTYPES[name]
    t = Tensor(data)
    assert t.dtype is as_dtype(dtype)
    assert t.shape == np.shape(data)
    np.testing.assert_array_equal(t.numpy(), np.asarray(data))


def test_default_dtype_decides_python_floats_only():
    with realta.default_dtype("bfloat16"):
        assert Tensor([1.5]).dtype is realta.bfloat16
        assert Tensor([]).dtype is realta.bfloat16
        assert Tensor([1]).dtype is realta.int64
        assert Tensor(np.ones(1, np.float32)).dtype is realta.float32


@pytest.mark.parametrize(
    "dtype",
    ["float16", np.float16, realta.float16, np.dtype("float16")],
    ids=["text", "scalar type", "dtype", "NumPy dtype"],
)
def test_dtypes_in_every_spelling(dtype):
    assert Tensor([1, 2], dtype=dtype).dtype is realta.float16


def test_arrays_are_copied_whatever_their_layout():
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    for view in (array, array.T, array[::-1], array[:, ::2], array[::2, ::-1]):
        t = Tensor(view)
        np.testing.assert_array_equal(t.numpy(), view)
        assert not np.shares_memory(t.numpy(), array)
    frozen = array.copy()
    frozen.flags.writeable = False
    assert not np.shares_memory(Tensor(frozen).numpy(), frozen)


def test_from_tensors():
    x = Tensor([1.0, 2.0])
    same = Tensor(x)
    assert same is not x
    assert same.tolist() == [1, 2]
    assert Tensor(x, dtype="int32").dtype is realta.int32
    with lazy() as context:
        y = Tensor(x + 1)
        z = Tensor(y, dtype="float64")
    assert y.state.ctx is context
    assert not z.is_real
    assert z.tolist() == [2, 3]
    assert Tensor([x, x]).tolist() == [[1, 2], [1, 2]]
    y[0] = 5.0
    assert z.tolist() == [2, 3]


WRONG = {
    "ragged": ([[1], [2, 3]], {}, ShapeError, "the nested lists are ragged"),
    "text": ("abc", {}, DTypeError, "a tensor cannot be made from text"),
    "list of text": (["a"], {}, DTypeError, "a tensor cannot be made from text"),
    "none": (None, {}, ArgumentError, "a tensor cannot be made from NoneType"),
    "complex": ([1j], {}, DTypeError, "complex"),
    "object": ([object()], {}, DTypeError, "a tensor cannot be made from object"),
    "text among numbers": ([1, "a"], {}, DTypeError, "a tensor cannot be made from text"),
    "nothing among numbers": ([1.5, None], {}, DTypeError, "a tensor cannot be made from NoneType"),
    "wide": ([2**63], {}, ScalarOverflowError, f"the integer {2**63} does not fit int64"),
    # NumPy makes floats of these two, and objects of the next.
    "wide and negative": ([2**63, -1], {}, ScalarOverflowError, "does not fit int64"),
    "very wide": ([[2**70, 1]], {}, ScalarOverflowError, f"the integer {2**70} does not fit int64"),
    "beyond floats": ([1.5, 2**2000], {}, ScalarOverflowError, "beyond the range of float64"),
    "set": ({1, 2}, {}, ArgumentError, "a tensor cannot be made from set"),
    "fraction": ([1.5], {"dtype": "int32"}, DTypeError, "fractional part do not fit int32"),
    "nan": ([np.nan], {"dtype": "int32"}, DTypeError, "fractional part do not fit int32"),
    "range": ([300], {"dtype": "uint8"}, DTypeError, "numbers from 300 to 300 do not fit uint8"),
    "negative": ([-1], {"dtype": "uint8"}, DTypeError, "numbers from -1 to -1 do not fit uint8"),
    "scalar": (2**63, {}, ScalarOverflowError, "int64"),
    "dtype": ([1], {"dtype": "float33"}, DTypeError, "float33"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_data_says_what_where_and_how_to_mend(name):
    data, options, kind, text = WRONG[name]
    with pytest.raises(kind) as caught:
        Tensor(data, **options)
    assert text in caught.value.what
    assert __file__ in caught.value.where
    assert caught.value.fix


def test_tensor_is_a_function_and_a_module():
    assert realta.tensor([1.0], dtype="float64").dtype is realta.float64
    assert realta.tensor.Tensor is Tensor


def test_wide_ints_have_the_dtype_that_is_asked_for():
    assert Tensor([2**63], dtype="uint64").tolist() == [2**63]
    assert Tensor([2**70, 1], dtype="float32").tolist() == [2.0**70, 1.0]
    assert Tensor([1.5, 2**70]).dtype is as_dtype("float32")
    assert Tensor([np.uint64(2**63)]).dtype is as_dtype("uint64")
    assert Tensor([np.array([2**63], np.uint64)]).tolist() == [[2**63]]
