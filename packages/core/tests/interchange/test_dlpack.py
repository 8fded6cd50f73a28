"""DLPack 1.x both ways: capsules, versions, layouts, and who may write what."""

import copy
import ctypes
import pickle

import numpy as np
import pytest
import realta
from realta import Tensor
from realta.errors import ArgumentError, ExchangeError
from realta.testing import assert_same_bits

strict = pytest.importorskip("array_api_strict")

_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype = ctypes.c_char_p
_name.argtypes = [ctypes.py_object]


class Counted:
    """A producer around an array that remembers how it was asked."""

    def __init__(self, array):
        self.array = array
        self.asked = []

    def __dlpack__(self, **options):
        self.asked.append(options)
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Old(Counted):
    """A producer of DLPack before 1.0."""

    def __dlpack__(self, *, stream=None):
        return self.array.__dlpack__(stream=stream)


BASE = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
LAYOUTS = {
    "whole": BASE,
    "0-d": np.array(2.5, np.float32),
    "0-d with an offset": BASE[2, 1, 3, ...],
    "empty": BASE[:0],
    "empty in the middle": BASE[:, 4:],
    "one element": BASE[1:2, 1:2, 1:2],
    "size 1 with odd strides": BASE[:, ::4][::3],
    "offset": BASE[1:],
    "offset and dense": BASE.reshape(-1)[7:19],
    "steps": BASE[:, ::2, 1::3],
    "negative strides": BASE[::-1, :, ::-1],
    "permuted": BASE.transpose(2, 0, 1),
    "broadcast": np.broadcast_to(BASE[0, 0], (4, 5)),
    "bool": BASE > 30,
    "int8": BASE.astype(np.int8)[:, ::-1],
    "uint64": BASE.astype(np.uint64)[1:],
    "float16": BASE.astype(np.float16)[..., 2],
    "float64": BASE.astype(np.float64),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("copy", [None, True])
def test_in_and_out_again(layout, copy):
    array = LAYOUTS[layout]
    tensor = realta.from_dlpack(Counted(array), copy=copy)
    assert tensor.shape == array.shape
    assert tensor.dtype.numpy == array.dtype
    np.testing.assert_array_equal(tensor.numpy(), array)
    for version in (None, (0, 8), (1, 0), (1, 1), (2, 0)):
        asked = {} if version is None else {"max_version": version}
        capsule = tensor.__dlpack__(dl_device=(1, 0), copy=copy, **asked)
        versioned = version is not None and version >= (1, 0)
        assert _name(capsule) == (b"dltensor_versioned" if versioned else b"dltensor")
    found = np.from_dlpack(tensor)
    np.testing.assert_array_equal(found, array)
    assert found.flags.c_contiguous


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sharing_is_asked_for_or_refused(layout):
    array = LAYOUTS[layout].copy() if layout == "broadcast" else LAYOUTS[layout]
    dense = array.flags.c_contiguous and array.flags.aligned
    if not dense:
        with pytest.raises(ExchangeError, match="strided"):
            realta.from_dlpack(array, copy=False)
        return
    tensor = realta.from_dlpack(array, copy=False)
    assert tensor.size == 0 or np.shares_memory(tensor.numpy(), array)


def test_old_producers_are_copied():
    array = np.arange(4.0)
    tensor = realta.from_dlpack(Old(array))
    array[0] = 9.0
    assert tensor.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_copy_that_is_asked_for_may_be_written():
    tensor = Tensor([1.0, 2.0])
    own = np.from_dlpack(tensor, copy=True)
    own[0] = 5.0
    assert tensor.tolist() == [1.0, 2.0]
    shared = np.from_dlpack(tensor, copy=False)
    assert np.shares_memory(shared, tensor.numpy())
    with pytest.raises(ValueError, match="read-only"):
        shared[0] = 5.0


def test_a_store_leaves_what_was_exported():
    tensor = Tensor([1.0, 2.0])
    shared = np.from_dlpack(tensor)
    tensor[0] = 7.0
    assert shared.tolist() == [1.0, 2.0]
    del tensor
    assert shared.tolist() == [1.0, 2.0]


def test_pending_tensors_are_realized():
    with realta.lazy():
        pending = Tensor([1.0]) + 1
        assert np.from_dlpack(pending).tolist() == [2.0]
    assert pending.is_real


@pytest.mark.parametrize(
    "options",
    [{"dl_device": (2, 0)}, {"dl_device": (1, 1)}, {"stream": 1, "max_version": (1, 0)}],
    ids=["cuda", "a second host", "a stream"],
)
def test_other_devices_and_streams_are_refused(options):
    with pytest.raises(BufferError) as caught:
        Tensor([1.0]).__dlpack__(**options)
    assert isinstance(caught.value, ExchangeError)
    assert "f32[1]" in caught.value.where
    assert caught.value.fix


def test_the_device_of_the_result():
    tensor = realta.from_dlpack(np.ones(2), device="reference:0")
    assert tensor.device.name == "reference:0"
    assert Tensor([1]).__dlpack_device__() == (1, 0)


def test_no_tensor_is_made_of_what_exports_nothing():
    with pytest.raises(ArgumentError, match="__dlpack__"):
        realta.from_dlpack([1.0])


def test_another_library():
    there = strict.from_dlpack(Tensor([[1, 2], [3, 4]]))
    assert (there + 1).shape == (2, 2)
    back = realta.from_dlpack(there)
    assert back.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_copies_and_pickles(make):
    for tensor in (
        Tensor(BASE),
        Tensor(2.5),
        Tensor(np.zeros((0, 3))),
        Tensor(BASE).cast("bfloat16"),
    ):
        same = make(tensor)
        assert same is not tensor
        assert_same_bits(same, tensor)
        if tensor.size:
            same[...] = 0
            assert float(tensor.cast("float32").sum()) != 0.0
    with realta.lazy():
        pending = Tensor([1.0]) + 1
        assert make(pending).tolist() == [2.0]
