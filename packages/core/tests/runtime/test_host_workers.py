"""The worker pool: every share once, errors after all have ended, forks, nesting, its size."""

import os
import sys
import threading
import time

import pytest
from realta.runtime import Workers, num_threads, set_num_threads, workers


@pytest.fixture
def pool():
    made = Workers(3)
    yield made
    made.close()


@pytest.mark.parametrize("shares", [0, 1, 2, 3, 7, 100])
def test_every_share_runs_once(pool, shares):
    seen = []
    pool.run(seen.append, shares)
    assert sorted(seen) == list(range(shares))


def test_shares_run_on_several_threads(pool):
    names = set()
    together = threading.Barrier(3, timeout=20)

    def share(number):
        together.wait()
        names.add(threading.current_thread().name)

    pool.run(share, 3)
    assert len(names) == 3


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_error_is_raised_after_all_shares_have_ended(pool, failing):
    ended = []

    def share(number):
        if number == failing:
            raise RuntimeError(f"share {number}")
        time.sleep(0.02)
        ended.append(number)

    with pytest.raises(RuntimeError, match=f"share {failing}"):
        pool.run(share, 3)
    assert sorted(ended) == sorted({0, 1, 2} - {failing})
    pool.run(ended.append, 3)  # the pool is as good as before


def test_a_busy_pool_is_no_deadlock(pool):
    seen = []

    def outer(number):
        pool.run(seen.append, 2)

    pool.run(outer, 3)
    assert sorted(seen) == [0, 0, 0, 1, 1, 1]


def test_an_interrupt_waits_for_the_workers(pool):
    ended = threading.Event()

    def share(number):
        if number == 0:
            raise KeyboardInterrupt
        time.sleep(0.05)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        pool.run(share, 2)
    assert ended.is_set()


def test_a_closed_pool_starts_new_threads():
    pool = Workers(2)
    pool.run(lambda number: None, 2)
    before = threading.active_count()
    pool.close()
    pool.run(lambda number: None, 2)
    assert threading.active_count() <= before + 1
    pool.close()


def test_the_pool_follows_the_number_that_core_sets():
    before = num_threads()
    old = workers()
    try:
        set_num_threads(4)
        assert workers().count == 4
        assert workers() is not old
        seen = []
        workers().run(seen.append, 9)
        assert sorted(seen) == list(range(9))
    finally:
        set_num_threads(before)
    assert workers().count == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_its_own_threads():
    before = num_threads()
    set_num_threads(2)
    try:
        workers().run(lambda number: None, 2)
        child = os.fork()
        if child == 0:
            seen = []
            workers().run(seen.append, 2)
            os._exit(0 if sorted(seen) == [0, 1] else 1)
        ended, status, deadline = 0, 1, time.monotonic() + 30
        while not ended and time.monotonic() < deadline:
            ended, status = os.waitpid(child, os.WNOHANG)
            time.sleep(0.01)
        if not ended:
            os.kill(child, 9)
            os.waitpid(child, 0)
            sys.exit("the child hangs")
        assert os.waitstatus_to_exitcode(status) == 0
    finally:
        set_num_threads(before)
