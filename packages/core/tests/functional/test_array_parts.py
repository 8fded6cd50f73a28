"""Parts of host tensors are shown; elements out of order move when they are first needed."""

import gc
import pickle
import weakref

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.plugins import open_device
from realta.runtime.deferred import Deferred
from realta.testing import assert_same_bits

LARGE = np.arange(60000.0).reshape(300, 200)
SMALL = np.arange(12.0, dtype=np.float32).reshape(3, 4)


@pytest.fixture(autouse=True)
def _shown(each_device):
    """Devices whose handles are arrays."""
    device = open_device(each_device)
    probe = np.zeros(2, np.float32)
    if getattr(device.session, "adopt", lambda _: None)(probe) is not probe:
        pytest.skip("its handles are no arrays")


MOVED = {
    "columns": lambda t: t[:, 1:3],
    "reversed": lambda t: t[::-1],
    "transposed": lambda t: t.T,
    "strided": lambda t: t[::2],
}
USES = {
    "op": lambda t: (t + 1).numpy() - 1,
    "fast op": lambda t: (t * t).numpy() / np.maximum(t.numpy(), 1e-30),
    "sum": lambda t: np.broadcast_to(F.sum(t).item() * 0, t.shape) + t.numpy(),
    "region": lambda t: F.functional(lambda x: x + 0)(t).numpy(),
    "compiled": lambda t: realta.compile(lambda x: x + 0)(t.type)(t).numpy(),
    "numpy": lambda t: t.numpy(),
    "pickle": lambda t: pickle.loads(pickle.dumps(t)).numpy(),
    "part": lambda t: t[...].numpy(),
    "dlpack": lambda t: np.from_dlpack(t),
    "copy": lambda t: Tensor(t).numpy(),
    "move": lambda t: t.to("reference").numpy(),
    "iteration": lambda t: np.stack([row.numpy() for row in t]),
}


def pending(t):
    """Whether a tensor's elements have yet to move."""
    return type(t._storage.launch) is Deferred


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("move", MOVED)
def test_elements_wait_until_they_are_used(move, size):
    array = SMALL if size == "small" else LARGE
    wanted = MOVED[move](array)
    t = Tensor(array) + 0
    for _ in range(3):  # the first call is traced
        part = MOVED[move](t)
    assert part.is_real
    assert pending(part)
    for use in USES.values():
        part = MOVED[move](t)
        assert part.shape == wanted.shape
        np.testing.assert_allclose(use(part), wanted, rtol=1e-6)
        assert not pending(part)
        assert_same_bits(part, wanted)


def test_a_store_does_not_reach_what_waits():
    t = Tensor(LARGE) + 0
    for _ in range(3):
        waiting = t[:, 1:150], t.T, t[::-1]
    assert all(map(pending, waiting))
    t[0] = -1.0
    t[:, 5] = -2.0
    for part, wanted in zip(waiting, (LARGE[:, 1:150], LARGE.T, LARGE[::-1]), strict=True):
        assert_same_bits(part, np.ascontiguousarray(wanted))
    part = t.T
    part[0] = 5.0
    assert part[0, 0].item() == 5.0
    assert t[1, 0].item() == 200.0


def test_one_element_does_not_keep_all_of_a_tensor():
    t = Tensor(LARGE) + 0
    kept = [t[1, 2], t[3, :4], t[-1][:2]]
    alive = weakref.ref(t._storage)
    del t
    gc.collect()
    assert alive() is None
    assert [x.tolist() for x in kept] == [202.0, [600.0, 601.0, 602.0, 603.0], [59800.0, 59801.0]]


def test_what_moved_lets_go_of_what_it_was_part_of():
    t = Tensor(LARGE) + 0
    part = t[:, 1:150]
    alive = weakref.ref(t._storage)
    del t
    assert alive() is not None
    part.realize()
    gc.collect()
    assert alive() is None


def test_memory_that_moves_is_the_pool_s():
    pool = open_device(Tensor(LARGE).device.name).pool
    t = Tensor(LARGE) + 0
    part = t[:, 1:190]
    before = pool.stats().live
    part.numpy()
    assert pool.stats().live - before >= part.nbytes


def test_inside_contexts_nothing_is_shown():
    t = Tensor(SMALL)
    part = t.T
    with realta.lazy():
        pending_part = part[1:]
        turned = t[::-1]
    assert not pending_part.is_real
    assert_same_bits(pending_part, np.ascontiguousarray(SMALL.T[1:]))
    assert_same_bits(turned, np.ascontiguousarray(SMALL[::-1]))


def test_errors_are_those_of_the_long_way():
    for t in (Tensor(SMALL), Tensor(LARGE) + 0):
        t[0], t[0, 0]
        for key, message in (
            (300, "index 300 is out of bounds"),
            ((0, -201), "index -201"),
            ((0, 0, 0), "too many indices: 3"),
            ((..., ...), "more than one"),
        ):
            with pytest.raises(realta.errors.RealtaError, match=message):
                t[key]
