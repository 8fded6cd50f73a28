import gc
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from realta.errors import OutOfMemory
from realta.runtime import Pool, size_class


class Session:
    def __init__(self, capacity=None):
        self.capacity = capacity
        self.held = 0
        self.made = 0
        self.freed = 0

    def allocate(self, nbytes):
        if self.capacity is not None and self.held + nbytes > self.capacity:
            raise MemoryError
        self.held += nbytes
        self.made += 1
        return bytearray(nbytes)

    def free(self, handle):
        self.held -= len(handle)
        self.freed += 1


@given(st.integers(min_value=513, max_value=1 << 48))
def test_a_size_class_wastes_at_most_an_eighth(nbytes):
    size = size_class(nbytes)
    assert nbytes <= size <= nbytes * 1.125
    assert size_class(size) == size


@given(st.integers(min_value=0, max_value=512))
def test_small_size_classes_are_multiples_of_64(nbytes):
    size = size_class(nbytes)
    assert nbytes <= size < nbytes + 64
    assert size % 64 == 0


@given(st.integers(min_value=0, max_value=1 << 40), st.integers(min_value=0, max_value=1 << 40))
def test_size_classes_are_ordered(first, second):
    low, high = sorted((first, second))
    assert size_class(low) <= size_class(high)


def test_a_buffer_given_back_is_used_again():
    session = Session()
    pool = Pool(session, "test:0")
    block = pool.acquire(1000)
    handle = block.handle
    del block
    assert pool.acquire(1010).handle is handle
    assert session.made == 1
    assert pool.stats().reuses == 1


def test_a_buffer_in_use_is_not_given_out_again():
    pool = Pool(Session(), "test:0")
    first, second = pool.acquire(1000), pool.acquire(1000)
    assert first.handle is not second.handle


def test_stats_count_live_pooled_and_peak():
    pool = Pool(Session(), "test:0", limit=10_000)
    first, second = pool.acquire(1024), pool.acquire(2048)
    assert (pool.stats().live, pool.stats().pooled, pool.stats().blocks) == (3072, 0, 2)
    del second
    stats = pool.stats()
    assert (stats.live, stats.pooled, stats.peak, stats.limit) == (1024, 2048, 3072, 10_000)
    pool.reset_peak()
    assert pool.stats().peak == 1024
    del first


def test_trim_frees_what_is_pooled_only():
    session = Session()
    pool = Pool(session, "test:0")
    kept = pool.acquire(1024)
    pool.acquire(2048)
    assert pool.trim() == 2048
    assert (session.held, session.freed) == (1024, 1)
    assert pool.stats().live == 1024
    del kept


def test_a_zero_byte_buffer_is_legal():
    pool = Pool(Session(), "test:0")
    assert pool.acquire(0).nbytes == 0


def test_pooled_buffers_make_room_for_a_larger_one_under_the_limit():
    pool = Pool(Session(), "test:0", limit=1 << 20)
    pool.acquire(1 << 19)
    block = pool.acquire(3 << 18)
    assert block.nbytes == 3 << 18
    assert pool.stats().pooled == 0


def test_out_of_memory_tells_every_number():
    pool = Pool(Session(), "test:0", limit=8 << 20)
    held = [pool.acquire(2 << 20, "f32[524288]"), pool.acquire(2 << 20, "f32[524288]")]
    pool.acquire(1 << 20, "f32[262144]")
    with pytest.raises(OutOfMemory) as caught:
        pool.acquire(1 << 30, "f32[268435456]")
    assert str(caught.value) == (
        "out of memory on test:0: requested 1.0 GiB, live 4.0 MiB, pooled 1.0 MiB, limit 8.0 MiB\n"
        "  where: allocating f32[268435456]\n"
        "  fix: free tensors, compute in smaller parts, or raise REALTA_MEMORY_LIMIT; "
        "largest live: 2 x f32[524288] (2.0 MiB)"
    )
    assert pool.acquire(64).nbytes == 64
    del held


def test_a_failed_request_leaves_the_counts_as_they_were():
    pool = Pool(Session(capacity=4096), "test:0")
    block = pool.acquire(1024)
    before = pool.stats()
    with pytest.raises(OutOfMemory, match=r"requested 8\.0 KiB"):
        pool.acquire(8192)
    after = pool.stats()
    assert (after.live, after.blocks, after.allocations) == (before.live, 1, 1)
    del block


def test_the_device_is_asked_again_after_a_trim():
    session = Session(capacity=4096)
    pool = Pool(session, "test:0")
    pool.acquire(2048)
    assert pool.acquire(3072).nbytes == 3072
    assert session.freed == 1


def test_garbage_is_collected_before_a_request_fails():
    pool = Pool(Session(), "test:0", limit=4096)
    cycle = [pool.acquire(4096)]
    cycle.append(cycle)
    del cycle
    assert pool.acquire(4096).nbytes == 4096


def test_any_error_of_the_session_leaves_the_counts_as_they_were():
    session = Session()
    pool = Pool(session, "test:0")
    session.allocate = lambda nbytes: 1 / 0
    with pytest.raises(ZeroDivisionError):
        pool.acquire(100)
    assert pool.stats().live == 0


def test_a_finalizer_may_give_back_while_the_lock_is_held():
    pool = Pool(Session(), "test:0")
    block = pool.acquire(100)
    with pool._lock:
        thread = threading.Thread(target=lambda: pool.give_back(block.handle, block.nbytes))
        thread.start()
        thread.join(5)
        assert not thread.is_alive()


def test_a_session_that_raises_when_freeing_breaks_nothing():
    session = Session()
    pool = Pool(session, "test:0")
    session.free = lambda handle: 1 / 0
    pool.acquire(100)
    assert pool.trim() == 128


def test_a_session_without_fixed_buffers_gets_its_handles_back_at_once():
    session = Session()
    session.pooled = False
    pool = Pool(session, "test:0")
    pool.acquire(100)
    assert session.freed == 1
    assert (pool.stats().live, pool.stats().pooled) == (0, 0)


def test_many_acquisitions_leave_the_counts_flat():
    session = Session()
    pool = Pool(session, "test:0")
    for n in range(20_000):
        pool.acquire(64 + n % 7 * 64)
    gc.collect()
    stats = pool.stats()
    assert (stats.live, stats.blocks) == (0, 0)
    assert session.made == 7
    assert stats.pooled == sum(64 + n * 64 for n in range(7))


def test_threads_share_a_pool_without_sharing_a_buffer():
    pool = Pool(Session(), "test:0")
    clashes = []

    def work(mark):
        for _ in range(300):
            block = pool.acquire(64)
            block.handle[:] = bytes([mark]) * 64
            if set(block.handle) != {mark}:
                clashes.append(mark)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert clashes == []
    assert pool.stats().live == 0


def test_what_comes_back_after_close_is_forgotten():
    session = Session()
    pool = Pool(session, "test:0")
    block = pool.acquire(100)
    pool.close()
    del block
    assert pool.stats().pooled == 0
