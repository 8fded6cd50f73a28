"""Moves of elements on the fast path: the same bits as traced, and memory that is shared safely."""

import gc
import pickle

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, IndexBoundsError, RealtaError
from realta.plugins import open_device
from realta.testing import assert_same_bits

SHAPES = [(2, 3, 4), (6, 40, 100)]
"""One whose parts are small, and one whose parts are large enough to share memory."""
CALLS = [
    lambda t: t[0], lambda t: t[-1], lambda t: t[1:], lambda t: t[:, 1:], lambda t: t[..., 0],
    lambda t: t[::-1], lambda t: t[None], lambda t: t[...], lambda t: t[()], lambda t: t[1, 2, 3],
    lambda t: t[1:1], lambda t: t[0, :, None], lambda t: t.reshape(-1),
    lambda t: t.reshape((-1, 2)), lambda t: t.permute([2, 0, 1]), lambda t: t.T,
    lambda t: t.unsqueeze(1), lambda t: t.flatten(),
    lambda t: F.squeeze(t), lambda t: t.moveaxis(0, 2), lambda t: F.flip(t, 1), lambda t: t[1:2],
]  # fmt: skip


@pytest.fixture(autouse=True)
def device(each_device):
    return each_device


@pytest.mark.parametrize("shape", SHAPES, ids=["small", "large"])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_same_bits_as_traced(call, shape, dtype):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    tensors = [F.cast(Tensor(x), dtype), F.cast(Tensor(x), dtype) * 1]
    F.set_fast_path(False)
    expected = call(tensors[0])
    F.set_fast_path(True)
    for _ in range(2):
        for tensor in tensors:
            found = call(tensor)
            assert found.is_real
            assert found.type is expected.type
            assert_same_bits(found, expected)
            assert found is not tensor


def test_arguments_that_are_equal_but_not_the_same():
    t = Tensor(np.arange(6.0).reshape(1, 6))
    for _ in range(3):
        assert t[0].shape == (6,)
        assert t[True].shape == (1, 1, 6)
        assert t[:1].shape == (1, 6)
        assert t.reshape(6).shape == t.reshape((6,)).shape == (6,)
        assert F.unsqueeze(t, 1).shape == (1, 1, 6)
        for wrong in (lambda: t[0.0], lambda: t[:1.0], lambda: F.unsqueeze(t, True)):
            with pytest.raises((ArgumentError, RealtaError)):
                wrong()
        with pytest.raises(IndexBoundsError, match="index 1 is out of bounds"):
            t[1]


def test_a_part_keeps_what_it_read():
    t = Tensor(np.arange(60000.0).reshape(300, 200)) + 0.0
    parts = [t[1:] for _ in range(3)] + [t.reshape(-1)[200:].reshape((299, 200)), t[1:][:][...]]
    kept = np.arange(200.0, 60000.0).reshape(299, 200)
    t[1] = -1.0
    t[5:, 2] = -2.0
    for part in parts:
        assert_same_bits(part, kept)
    part = parts[1]
    part[0] = 7.0
    part[1] = 8.0
    for other in (parts[0], parts[2], parts[3]):
        assert_same_bits(other, kept)
    assert t[1, 0].item() == -1.0
    assert t[2, 0].item() == 400.0


def test_a_part_outlives_what_it_is_part_of():
    t = F.full((300, 200), 3.0, dtype="float64") + 1.0
    part = [t[10:] for _ in range(3)][-1]
    del t
    gc.collect()
    others = [F.full((300, 200), 5.0, dtype="float64") * n for n in range(4)]
    assert (part.numpy() == 4.0).all()
    assert (part + 1).numpy().min() == 5.0
    assert (pickle.loads(pickle.dumps(part)).numpy() == 4.0).all()
    assert len(others) == 4


def test_reading_and_writing_in_turn_copies_nothing(device):
    if not open_device(device).donates:
        pytest.skip("it writes nothing in place")
    t = F.zeros((300, 200), dtype="float64") + 1.0
    for n in range(3):
        part = t[10:]
        del part
        t[n] = 2.0
    pool = open_device(device).pool
    before = pool.stats().allocations
    for n in range(20):
        part = t[10:]
        del part
        t[n] = 2.5
    assert pool.stats().allocations - before <= 1
    assert t[19, 0].item() == 2.5


def test_large_parts_share_memory_where_arrays_are_handles(device):
    if not hasattr(open_device(device).session, "adopt"):
        pytest.skip("its handles are no arrays")
    t = F.zeros((300, 200), dtype="float64") + 1.0
    parts = [(t[1:], t.reshape(-1), t[None], t[:, 1:], t[::-1]) for _ in range(3)][-1]
    shared = [np.shares_memory(p.numpy(), t.numpy()) for p in parts]
    assert shared == [True, True, True, False, False]


def test_an_operand_whose_launch_failed_raises():
    t = Tensor([1.0, 2.0])
    for _ in range(3):
        assert t[1:].tolist() == [2.0]
    bad = F.take(t, Tensor([0, 7]))
    with pytest.raises(IndexBoundsError, match="index 7"):
        bad[1:].numpy()
    with pytest.raises(IndexBoundsError, match="index 7"):
        bad[0].numpy()
    assert realta.Tensor([3.0, 4.0])[1:].tolist() == [4.0]
