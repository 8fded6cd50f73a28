"""Constants compare bit by bit and cannot be changed."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest
from realta.errors import DTypeError
from realta.ops import ConstantData


def test_equality_is_by_bits_dtype_and_shape():
    assert ConstantData(0.0) == ConstantData(0.0)
    assert ConstantData(0.0) != ConstantData(-0.0)
    assert ConstantData(np.nan) == ConstantData(np.nan)
    assert ConstantData(np.float32(1)) != ConstantData(np.float64(1))
    assert ConstantData(np.zeros((2, 3))) != ConstantData(np.zeros((3, 2)))
    assert ConstantData(1) != 1


def test_equal_constants_hash_and_digest_alike():
    a, b = ConstantData(np.arange(6).reshape(2, 3)), ConstantData(np.arange(6).reshape(2, 3))
    assert hash(a) == hash(b)
    assert a.digest == b.digest
    assert a.digest != ConstantData(np.arange(6).reshape(3, 2)).digest


def test_later_changes_of_the_source_do_not_show():
    source = np.arange(3)
    data = ConstantData(source)
    source[0] = 9
    assert data.array.tolist() == [0, 1, 2]


def test_array_is_read_only_for_good():
    data = ConstantData(np.arange(3))
    with pytest.raises(ValueError, match="read-only"):
        data.array[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        data.array.setflags(write=True)


def test_layout_and_byte_order_are_normal():
    data = ConstantData(np.arange(6, dtype=">i4").reshape(2, 3).T)
    assert data.array.flags.c_contiguous
    assert data.array.dtype.isnative
    assert data.array.tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize("array", [np.zeros((0, 3), ml_dtypes.bfloat16), np.float16(2), True])
def test_pickle_and_copy(array):
    data = ConstantData(array)
    assert pickle.loads(pickle.dumps(data)) == data
    assert copy.deepcopy(data) == data


def test_refuses_what_is_no_element_type():
    with pytest.raises(DTypeError, match="complex"):
        ConstantData(1j)
    with pytest.raises(DTypeError, match="not an element type"):
        ConstantData("text")


def test_repr_shows_the_value_or_the_digest():
    assert repr(ConstantData(np.float32(1.5))) == "ConstantData(f32[] 1.5)"
    many = ConstantData(np.arange(3))
    assert repr(many) == f"ConstantData(i64[3] #{many.digest})"
