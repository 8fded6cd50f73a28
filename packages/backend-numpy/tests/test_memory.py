"""Blocks are aligned, of the size asked for, and refused politely."""

import gc
import weakref

import numpy as np
import pytest
from realta.errors import OutOfMemory
from realta.types import float32, tensor_type
from realta_numpy.memory import ALIGNMENT, allocate_block, as_bytes, typed
from realta_numpy.scratch import borrowed, thread_scratch
from realta_numpy.temporaries import Temporaries


def _address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("nbytes", [0, 1, 63, 64, 65, 1000, 1 << 20, (4 << 20) - 1])
def test_blocks_are_aligned_to_64_bytes(nbytes):
    block = allocate_block(nbytes)
    assert block.nbytes == nbytes
    assert nbytes == 0 or _address(block) % ALIGNMENT == 0
    block[:] = 7


@pytest.mark.parametrize("nbytes", [4 << 20, (40 << 20) + 3])
def test_large_blocks_lie_on_huge_pages(nbytes):
    block = allocate_block(nbytes)
    assert block.nbytes == nbytes
    assert _address(block) % (2 << 20) == 0
    block[0] = block[-1] = 7


@pytest.mark.parametrize("nbytes", [1 << 55, 1 << 62, 1 << 64])
def test_impossible_blocks_are_refused_with_numbers(nbytes):
    with pytest.raises(OutOfMemory, match=str(nbytes)):
        allocate_block(nbytes)


def test_a_block_goes_with_its_last_view():
    block = allocate_block(8 << 20)
    gone = weakref.ref(block.base)
    view = typed(block, (16,), np.dtype(np.float32))
    del block
    view[:] = 1
    assert gone() is not None
    del view
    gc.collect()
    assert gone() is None


def test_typed_gives_back_an_array_that_fits():
    array = np.zeros((2, 3), np.float32)
    assert typed(array, (2, 3), array.dtype) is array
    assert typed(array, (6,), array.dtype).shape == (6,)
    assert as_bytes(array, 24).nbytes == 24


def test_a_session_reads_writes_copies_and_views(session):
    type = tensor_type(float32, (2, 3))
    source, target = session.allocate(24), session.allocate(24)
    data = np.arange(6, dtype=np.float32)
    session.write(source, type, memoryview(data.view(np.uint8)))
    data[:] = -1  # the source of a write may be used again
    session.copy(source, target, type)
    session.write(source, type, memoryview(np.zeros(24, np.uint8)))
    read = bytearray(24)
    session.read(target, type, memoryview(read))
    assert np.frombuffer(read, np.float32).tolist() == [0, 1, 2, 3, 4, 5]
    assert bytes(session.view(target, type)) == bytes(read)
    empty = session.allocate(0)
    nothing = tensor_type(float32, (0, 3))
    session.write(empty, nothing, memoryview(b""))
    session.read(empty, nothing, memoryview(bytearray()))
    session.copy(empty, session.allocate(0), nothing)
    assert bytes(session.view(empty, nothing)) == b""
    session.free(source)


def test_a_session_adopts_row_major_arrays_only(session):
    array = np.zeros((3, 4))
    assert session.adopt(array) is array
    assert session.adopt(array.T) is None
    assert session.adopt(array.astype(">f8")) is None


def test_scratch_is_kept_per_thread():
    block = thread_scratch(1000)
    assert thread_scratch(100) is block
    first = borrowed(0, (10,), np.dtype(np.float32))
    again = borrowed(0, (5,), np.dtype(np.float32))
    other = borrowed(1, (5,), np.dtype(np.float32))
    assert np.shares_memory(first, again)
    assert not np.shares_memory(first, other)


def test_temporaries_are_used_again_up_to_a_limit():
    temporaries = Temporaries(most=10_000)
    block = temporaries.take(5000)
    assert block.nbytes >= 5000
    temporaries.give(block)
    assert temporaries.take(4999) is block
    large = temporaries.take(20_000)
    temporaries.give(large)
    assert temporaries.kept == 0
    temporaries.give(block)
    assert temporaries.kept == block.nbytes
    temporaries.clear()
    assert temporaries.kept == 0
