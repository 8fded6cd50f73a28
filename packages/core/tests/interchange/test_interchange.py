"""Arrays in and out: what is copied, what is shared, layouts, DLPack."""

import ml_dtypes
import numpy as np
import pytest
import realta
from realta import Tensor
from realta.errors import ArgumentError, DTypeError, ExchangeError
from realta.testing import assert_same_bits
from realta.types import DTYPES

LAYOUTS = {
    "plain": lambda: np.arange(12.0).reshape(3, 4),
    "reversed": lambda: np.arange(12.0).reshape(3, 4)[:, ::-1],
    "transposed": lambda: np.arange(12.0).reshape(3, 4).T,
    "strided": lambda: np.arange(24.0).reshape(3, 8)[:, ::2],
    "repeated": lambda: np.broadcast_to(np.arange(4.0), (3, 4)),
    "0-d": lambda: np.array(3.0),
    "size 1, odd stride": lambda: np.arange(24.0).reshape(3, 8)[1:2, ::8],
    "empty": lambda: np.zeros((0, 3)),
    "big-endian": lambda: np.arange(3.0).astype(">f8"),
}


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


@pytest.fixture(params=["reference:0", "numpy:0"])
def device(request):
    if request.param[:-2] not in {entry.name for entry in realta.backends()}:
        pytest.skip(f"{request.param} is not installed")
    with realta.default_device(request.param):
        yield request.param


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout_comes_in(device, layout):
    array = LAYOUTS[layout]()
    expected = np.ascontiguousarray(array).reshape(array.shape).astype(np.float64)
    for made in (
        realta.from_numpy(array), realta.from_numpy(array, trusted=True), Tensor(array),
        realta.asarray(array), realta.from_numpy(read_only(array.copy())),
    ):  # fmt: skip
        assert_same_bits(made, expected)
        assert made.shape == array.shape
        assert (made + 1).shape == array.shape


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_comes_in_and_goes_out(device, dtype):
    array = np.array([0, 1, 1]).astype(dtype.numpy)
    tensor = realta.from_numpy(array)
    assert tensor.dtype is dtype
    assert_same_bits(tensor.numpy(), array)
    assert_same_bits(np.asarray(tensor), array)


@pytest.mark.parametrize("size", [3, 100_000])
def test_writing_an_array_changes_no_tensor(device, size):
    array = np.zeros(size)
    made = [
        realta.from_numpy(array),
        Tensor(array),
        realta.asarray(array),
        realta.from_dlpack(array),
    ]
    view = array[:]
    view.flags.writeable = False
    # The view is read-only, the memory is not.
    made.append(realta.from_numpy(view))
    array[0] = -1
    assert [t[0].item() for t in made] == [0.0] * 5


def test_trusted_memory_is_shared_where_the_device_can():
    array = np.zeros(4)
    with realta.default_device("reference:0"):
        tensor = realta.from_numpy(array, trusted=True)
        assert np.shares_memory(tensor.numpy(), array)
        assert not tensor.numpy().flags.writeable
        strided = np.zeros(8)[::2]
        assert not np.shares_memory(realta.from_numpy(strided, trusted=True).numpy(), strided)


def test_bytes_are_shared_since_nobody_can_write_them():
    array = np.frombuffer(bytes(32), np.float64)
    tensor = realta.from_numpy(array)
    assert np.shares_memory(tensor.numpy(), array)
    tensor[0] = 5.0
    assert array[0] == 0.0
    assert realta.asarray(array, copy=False).tolist() == [0.0] * 4


def test_no_tensor_is_made_of_other_things():
    with pytest.raises(ArgumentError, match="from_numpy takes a NumPy array, got list") as caught:
        realta.from_numpy([1, 2])
    assert "test_interchange.py" in caught.value.where
    for dtype in (complex, "U3", object, "datetime64[s]"):
        with pytest.raises(DTypeError) as caught:
            realta.from_numpy(np.zeros(2, dtype))
        assert "test_interchange.py" in caught.value.where


class TestAsarray:
    def test_tensors_are_taken_as_they_are(self):
        t = Tensor([1.0, 2.0])
        for copy in (None, True, False):
            same = realta.asarray(t, copy=copy)
            assert same is not t
            same[0] = 9.0
            assert t.tolist() == [1.0, 2.0]
        assert realta.asarray(t, dtype="int8").dtype is realta.int8
        with pytest.raises(ExchangeError, match="needs a copy"):
            realta.asarray(t, dtype="int8", copy=False)
        with realta.lazy():
            pending = t * 2
        assert not realta.asarray(pending).is_real

    def test_copy_false_refuses_what_could_change(self):
        for obj in (np.zeros(2), [1, 2], 3.0):
            with pytest.raises(ExchangeError, match="cannot be shared safely") as caught:
                realta.asarray(obj, copy=False)
            assert "trusted=True" in caught.value.fix
        with pytest.raises(ExchangeError):
            realta.asarray(np.frombuffer(bytes(8), np.float64), dtype="float32", copy=False)

    def test_other_data(self):
        assert realta.asarray([1, 2]).dtype is realta.int64
        assert realta.asarray(2.5).dtype is realta.float32
        assert realta.asarray([1, 2], dtype="float16").tolist() == [1.0, 2.0]


class TestNumpysAsarray:
    """What NumPy 2's ``copy`` means for a tensor."""

    def test_copy_false_and_none_are_views(self):
        t = Tensor([1.0, 2.0])
        for copy in (False, None):
            first, second = np.asarray(t, copy=copy), np.asarray(t, copy=copy)
            assert np.shares_memory(first, second)
            assert not first.flags.writeable

    def test_copy_true_is_a_copy(self):
        t = Tensor([1.0, 2.0])
        array = np.asarray(t, copy=True)
        array[0] = 5.0
        assert t.tolist() == [1.0, 2.0]
        assert np.array(t).flags.writeable

    def test_another_dtype_needs_one(self):
        t = Tensor([1.0, 2.0])
        assert np.asarray(t, dtype=np.float64).dtype == np.float64
        with pytest.raises((ValueError, TypeError), match="without a copy"):
            np.asarray(t, dtype=np.float64, copy=False)

    def test_numpy_and_its_copy(self):
        t = Tensor([1.0, 2.0])
        view, own = t.numpy(), t.numpy(copy=True)
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 5.0
        own[0] = 5.0
        t[0] = 7.0
        assert view.tolist() == [1.0, 2.0]
        assert (
            np.asarray(Tensor(np.array([1.0]).astype(ml_dtypes.bfloat16))).dtype
            == ml_dtypes.bfloat16
        )


class TestDLPack:
    @pytest.mark.parametrize("layout", [k for k in LAYOUTS if k != "big-endian"])
    def test_in(self, device, layout):
        array = LAYOUTS[layout]()
        for copy in (None, True):
            for source in (array, read_only(array.copy())):
                assert_same_bits(
                    realta.from_dlpack(source, copy=copy),
                    np.ascontiguousarray(array).reshape(array.shape),
                )

    @pytest.mark.parametrize("layout", [k for k in LAYOUTS if k != "big-endian"])
    def test_out_and_twice(self, device, layout):
        array = LAYOUTS[layout]()
        tensor = Tensor(array)
        first, second = np.from_dlpack(tensor), np.from_dlpack(tensor)
        assert_same_bits(first, np.ascontiguousarray(array).reshape(array.shape))
        assert_same_bits(second, first)
        tensor_again = realta.from_dlpack(first)
        assert_same_bits(tensor_again, first)

    def test_what_the_producer_marks_read_only_is_shared(self):
        locked, open_ = read_only(np.zeros(4)), np.zeros(4)
        assert np.shares_memory(realta.from_dlpack(locked).numpy(), locked)
        assert not np.shares_memory(realta.from_dlpack(open_).numpy(), open_)
        assert np.shares_memory(realta.from_dlpack(open_, copy=False).numpy(), open_)
        assert not np.shares_memory(realta.from_dlpack(locked, copy=True).numpy(), locked)

    def test_strided_memory_cannot_be_shared(self):
        with pytest.raises(ExchangeError, match="strided or not on the device") as caught:
            realta.from_dlpack(np.zeros((3, 4))[:, ::-1], copy=False)
        assert "test_interchange.py" in caught.value.where

    def test_tensors_are_no_detour(self):
        t = Tensor(np.array([1.0, 2.0]).astype(ml_dtypes.bfloat16))
        assert realta.from_dlpack(t).dtype is realta.bfloat16
        with pytest.raises(ExchangeError, match="bfloat16"):
            np.from_dlpack(t)

    def test_no_producer(self):
        with pytest.raises(ArgumentError, match="list has no __dlpack__"):
            realta.from_dlpack([1, 2])
        with pytest.raises(ExchangeError, match="cannot be imported through DLPack") as caught:
            realta.from_dlpack(np.array(["x"]))
        assert caught.value.__cause__ is not None

    def test_views_hold_the_memory(self):
        array = np.from_dlpack(Tensor(np.arange(1000.0)) * 2)
        others = [Tensor(np.full(1000, -1.0)) for _ in range(4)]
        assert array.tolist() == [2.0 * n for n in range(1000)]
        assert len(others) == 4

    def test_a_legacy_consumer_gets_memory_of_its_own(self):
        t = Tensor([1.0, 2.0])
        capsule = t.__dlpack__()

        class Legacy:
            def __dlpack__(self, **_):
                return capsule

            def __dlpack_device__(self):
                return (1, 0)

        array = np.from_dlpack(Legacy())
        assert not np.shares_memory(array, t.numpy())
        assert t.__dlpack_device__() == (1, 0)
