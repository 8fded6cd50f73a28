import copy
import pickle

import ml_dtypes
import numpy as np
import pytest
from realta.errors import DTypeError
from realta.types import (
    BY_SHORT,
    COMPUTABLE,
    DTYPES,
    STORAGE_ONLY,
    TensorType,
    as_dtype,
    bfloat16,
    bool_,
    float32,
    int64,
)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_spelling_gives_the_one_object(dtype):
    assert as_dtype(dtype) is dtype
    assert as_dtype(dtype.name) is dtype
    assert as_dtype(dtype.numpy) is dtype
    assert as_dtype(dtype.numpy.type) is dtype
    assert BY_SHORT[dtype.short] is dtype


def test_python_types_numpy_spellings_and_typed_things():
    assert as_dtype(bool) is bool_
    assert as_dtype(int) is int64
    assert as_dtype(float) is float32
    assert as_dtype("f4") is float32
    assert as_dtype(np.dtype(">f4")) is float32
    assert as_dtype(ml_dtypes.bfloat16) is bfloat16
    assert as_dtype(TensorType("bfloat16", (2,))) is bfloat16


@pytest.mark.parametrize("wrong", [None, "float33", "O", "U3", frozenset(), 3, [1.0]], ids=repr)
def test_what_is_no_element_type_is_refused_with_the_list(wrong):
    with pytest.raises(DTypeError) as caught:
        as_dtype(wrong)
    assert "is not an element type" in str(caught.value)
    assert "bfloat16, float32" in caught.value.fix


def test_complex_is_named_as_missing():
    with pytest.raises(DTypeError) as caught:
        as_dtype(np.complex64)
    assert str(caught.value) == (
        "dtype complex64 is complex, and complex numbers are not in this version\n"
        "  fix: keep real and imaginary parts as two tensors or as a last axis of size 2"
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_copies_and_pickles_are_the_same_object(dtype):
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype


def test_widths_and_categories():
    assert [d.bits for d in DTYPES] == [8, 8, 16, 32, 64, 8, 16, 32, 64, 16, 16, 32, 64, 8, 8]
    assert set(DTYPES) == COMPUTABLE | STORAGE_ONLY
    assert {d.name for d in DTYPES if d.is_half} == {
        "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2",
    }  # fmt: skip
    assert not bool_.is_integer
