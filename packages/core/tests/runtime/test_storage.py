import gc

import numpy as np
import pytest
from realta.errors import ExecutionError, RealizationError
from realta.runtime import poisoned_storage, references, uniquely_held
from realta.types import DTYPES, bfloat16, float32, tensor_type


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
def test_values_come_back_as_they_were(bytes_device, dtype, shape):
    device, _ = bytes_device()
    array = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype.numpy)
    storage = device.upload(array)
    assert storage.type is tensor_type(dtype, shape, "bytes:0")
    for read in (storage.numpy(), storage.copy_to_host()):
        assert read.dtype == dtype.numpy
        assert read.shape == shape
        assert read.tobytes() == array.tobytes()


def test_an_array_in_any_layout_is_read_in_logical_order(bytes_device):
    device, _ = bytes_device()
    array = np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)[::-1]
    assert np.array_equal(device.upload(array).numpy(), array)


def test_numpy_is_a_read_only_view_of_the_buffer(bytes_device):
    device, _ = bytes_device()
    storage = device.upload(np.ones(3, np.float32))
    view = storage.numpy()
    assert np.shares_memory(view, storage.handle.data)
    assert not view.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.flags.writeable = True


def test_a_view_keeps_the_buffer_from_being_used_again(bytes_device):
    device, _ = bytes_device()
    storage = device.upload(np.ones(3, np.float32))
    view = storage.numpy()[1:].reshape(-1)
    del storage
    gc.collect()
    other = device.upload(np.zeros(3, np.float32))
    assert view.tolist() == [1, 1]
    assert device.pool.stats().blocks == 2
    del view
    assert device.pool.stats().blocks == 1
    del other


def test_a_view_counts_as_a_holder(bytes_device):
    device, _ = bytes_device()
    storage = device.upload(np.ones(3, bfloat16.numpy))
    assert uniquely_held(storage)
    view = storage.numpy()
    assert not uniquely_held(storage)
    del view
    assert uniquely_held(storage)


def test_references_are_those_besides_the_call(bytes_device):
    device, _ = bytes_device()
    storage = device.upload(np.ones(3, np.float32))
    assert references(storage) == 1
    others = [storage, storage]
    assert references(storage) == 3
    assert not uniquely_held(storage, 2)
    assert uniquely_held(storage, 3)
    del others


def test_a_copy_is_writable_and_separate(bytes_device):
    device, _ = bytes_device()
    storage = device.upload(np.ones(3, np.float32))
    copy = storage.copy_to_host()
    copy[:] = 7
    assert storage.numpy().tolist() == [1, 1, 1]


def test_a_session_without_views_is_read(bytes_device):
    device, session = bytes_device()
    session.view = lambda handle, type: None
    storage = device.upload(np.array([1.0, 2.0], np.float32))
    array = storage.numpy()
    assert array.tolist() == [1, 2]
    assert not array.flags.writeable


def test_a_donated_storage_raises_and_its_buffer_lives_on(bytes_device):
    device, _ = bytes_device()
    storage = device.upload(np.array([1.0, 2.0], np.float32))
    moved = storage.donate()
    assert moved.numpy().tolist() == [1, 2]
    with pytest.raises(RealizationError) as caught:
        storage.numpy()
    assert str(caught.value) == (
        "this tensor was donated to a call, so its memory belongs to that call's results\n"
        "  fix: pass a copy, or leave it out of donate="
    )


def test_a_poisoned_storage_raises_its_error_at_every_wait():
    error = ExecutionError("it broke", where="add(f32[3]) at here.py:1", fix="mend it")
    storage = poisoned_storage(tensor_type(float32, (3,), "bytes:0"), error)
    for use in (storage.wait, storage.check, storage.numpy, storage.copy_to_host):
        with pytest.raises(ExecutionError) as caught:
            use()
        assert str(caught.value) == str(error)
        assert caught.value is not error
    assert storage.error is not None
    assert storage.error.__traceback__ is None


def test_a_kept_error_keeps_its_kind_and_cause():
    cause = ValueError("inner")
    error = ExecutionError("it broke")
    error.__cause__ = cause
    storage = poisoned_storage(tensor_type(float32, (3,)), error)
    with pytest.raises(ExecutionError) as caught:
        storage.wait()
    assert caught.value.__cause__ is cause


def test_storages_are_copied_within_and_between_devices(bytes_device):
    first, _ = bytes_device()
    second, _ = bytes_device(name="others")
    storage = first.upload(np.array([1.0, 2.0], np.float32))
    same, moved = first.copy(storage), second.copy(storage)
    assert same.handle is not storage.handle
    assert moved.type.device == "others:0"
    assert same.numpy().tolist() == moved.numpy().tolist() == [1, 2]
