"""Host workers: a small pool of workers that share one task with the thread that called.

NumPy releases the interpreter's lock inside its loops, so row blocks of one kernel run on several
cores. Workers wait on locks, which is the cheapest hand-off Python has; they are started when first
needed, and again after a fork.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import numpy as np

from realta.runtime.threads import num_threads, on_thread_count

__all__ = ["Workers", "workers"]

Task = Callable[[int], None]
"""Called with the number of a share of the work, from 0 to one less than the number of shares."""


class _Worker:
    """One thread that runs one share at a time."""

    __slots__ = ("begin", "done", "error", "share", "task")

    def __init__(self, name: str) -> None:
        self.begin = threading.Lock()
        self.begin.acquire()
        self.done = threading.Lock()
        self.done.acquire()
        self.task: Task | None = None
        self.share = 0
        self.error: BaseException | None = None
        threading.Thread(target=self._loop, name=name, daemon=True).start()

    def _loop(self) -> None:
        np.seterr(all="ignore")  # for this thread only: infinities and NaNs are results
        while True:
            self.begin.acquire()
            task = self.task
            if task is None:
                return
            try:
                task(self.share)
            except BaseException as error:  # handed to the caller, who raises it
                self.error = error
            task = self.task = None  # what it closes over may be a large buffer
            self.done.release()

    def start(self, task: Task, share: int) -> None:
        self.task, self.share, self.error = task, share, None
        self.begin.release()

    def stop(self) -> None:
        self.task = None
        self.begin.release()


class Workers:
    """The caller and ``count - 1`` worker threads.

    One task has the workers at a time; a call that finds them busy runs its shares itself, which
    gives the same bits and cannot deadlock.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._busy = threading.Lock()
        self._threads: list[_Worker] = []

    def run(self, task: Task, shares: int) -> None:
        """Calls ``task(0) ... task(shares - 1)`` on the threads; returns when all are done.

        Raises:
            BaseException: what the first failing share raised, after all have ended.
        """
        extra = min(shares, self.count) - 1
        if extra <= 0 or not self._busy.acquire(blocking=False):
            for share in range(shares):
                task(share)
            return
        try:
            self._run_shared(task, shares, extra)
        finally:
            self._busy.release()

    def _run_shared(self, task: Task, shares: int, extra: int) -> None:
        while len(self._threads) < extra:
            self._threads.append(_Worker(f"realta-host-{len(self._threads) + 1}"))
        step = extra + 1

        def every(first: int) -> None:
            for share in range(first, shares, step):
                task(share)

        used = self._threads[:extra]
        for number, worker in enumerate(used, 1):
            worker.start(every, number)
        error: BaseException | None = None
        try:
            every(0)
        except BaseException as raised:
            error = raised
        for worker in used:
            error = _join(worker, error)
        if error is not None:
            raise error

    def close(self) -> None:
        """Ends the threads; the next task starts new ones."""
        with self._busy:
            for worker in self._threads:
                worker.stop()
            self._threads.clear()


def _join(worker: _Worker, error: BaseException | None) -> BaseException | None:
    """Waits for a worker, through an interrupt too, which is kept: buffers are in use."""
    while True:
        try:
            worker.done.acquire()
        except KeyboardInterrupt as interrupt:
            error = error or interrupt
        else:
            return error or worker.error


_workers: list[Workers] = []
_making = threading.Lock()
_heard: list[bool] = []
"""Whether core tells this module when the number of threads is set."""


def workers() -> Workers:
    """The pool of this process, of as many threads as `realta.set_num_threads` says."""
    if _workers:
        return _workers[0]
    with _making:
        if not _heard:
            on_thread_count(_resize)
            _heard.append(True)
        if not _workers:
            _workers.append(Workers(num_threads()))
    return _workers[0]


def _resize(count: int) -> None:
    with _making:
        old = _workers[:]
        _workers[:] = [Workers(count)]
    for pool in old:
        pool.close()


def _after_fork_in_child() -> None:
    # Threads do not survive a fork, and a lock may have been held by one of them.
    global _making
    count = _workers[0].count if _workers else 0
    _making = threading.Lock()
    _workers[:] = [Workers(count)] if count else []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
