"""Elements that move when they are first needed: once, to memory of their own, in any thread."""

import threading

import numpy as np
import pytest
from realta.errors import OutOfMemory
from realta.plugins import open_device
from realta.runtime import Storage
from realta.runtime.deferred import Deferred, filled
from realta.types import float32, tensor_type

ARRAY = np.arange(6, dtype=np.float32).reshape(2, 3)


def pending(moves, fails=()):
    device = open_device("reference:0")
    failures = list(fails)

    def move(source):
        if failures:
            raise failures.pop()
        moves.append(source)
        made = device.upload(np.ascontiguousarray(source))
        return made.handle, made.block

    shape = (3, 2)
    return Storage(device, ARRAY.T, tensor_type(float32, shape, device.name), None, Deferred(move))


@pytest.mark.parametrize("use", ["wait", "check", "numpy", "copy_to_host", "filled", "shown"])
def test_every_use_moves_once(use):
    moves = []
    storage = pending(moves)
    assert storage.error is None
    assert not moves
    for _ in range(2):
        filled(storage) if use == "filled" else getattr(storage, use)()
        assert len(moves) == 1
    assert storage.launch is None
    assert np.array_equal(storage.numpy(), ARRAY.T)


def test_what_failed_is_tried_again():
    moves = []
    storage = pending(moves, [OutOfMemory("too much")])
    with pytest.raises(OutOfMemory):
        storage.wait()
    assert np.array_equal(storage.numpy(), ARRAY.T)


def test_threads_see_whole_storages():
    for _ in range(20):
        storage = pending([])
        found = []
        threads = [
            threading.Thread(target=lambda: found.append(storage.numpy().copy()))  # noqa: B023
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 4
        assert all(np.array_equal(array, ARRAY.T) for array in found)
