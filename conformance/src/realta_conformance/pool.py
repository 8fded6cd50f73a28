"""Pool: worker processes that take units in turn.

A worker that dies or hangs is replaced, and the unit it had is split until the guilty case stands
alone: one crash costs one case and never the report.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Final, Literal, Self

from realta.errors import DeviceError

from realta_conformance.device import Description
from realta_conformance.executor import Queue
from realta_conformance.units import Result, Unit, crashed, halves
from realta_conformance.watchdog import DEFAULT_SECONDS, Watchdog

__all__ = ["OPENER", "Pool"]

OPENER: Final = "realta_conformance.opening:open_named"
_GRACE: Final = 5.0


@dataclass(eq=False)
class _Part:
    """A unit, or a part of one whose process did not come back.

    Args:
        order: its place in the queue.
        unit: what is to be performed.
        whole: the part that it was split from.
        result: what its own parts found so far.
        waiting: parts that are not done.
    """

    order: int
    unit: Unit
    whole: _Part | None = None
    result: Result = field(default_factory=Result)
    waiting: int = 0
    reason: tuple[Literal["crash", "hang"], str] = ("crash", "")


class _Worker:
    """One process."""

    def __init__(self, opener: str, name: str, seconds: float, variables: dict[str, str]) -> None:
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        self.source = Connection(ours_in, writable=False)
        self.target = Connection(ours_out, readable=False)
        self.watchdog = Watchdog(seconds)
        fds = (theirs_in, theirs_out, self.watchdog.fd)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "realta_conformance.worker", *map(str, fds), opener, name],
            pass_fds=fds, stdin=subprocess.DEVNULL, stdout=2,
            env={**os.environ, **variables}, process_group=0,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self.part: _Part | None = None

    def opened(self, name: str) -> Description:
        """Waits for the device to be open.

        Raises:
            DeviceError, BackendNotFound: it cannot be opened, or its process died.
        """
        try:
            kind, value = self.source.recv()
        except EOFError:
            kind, value = "died", self.ended()
        if kind == "error":
            raise value
        if kind != "ready":
            raise DeviceError(f"{name} could not be opened: {value}", fix="see `realta doctor`")
        description: Description = value
        return description

    def ended(self) -> str:
        """How the process ended, in words that are the same every time."""
        try:
            code = self.process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self.kill()
            return "the process closed its pipe"
        if code < 0:
            return f"the process was ended by {signal.Signals(-code).name}"
        return f"the process exited with code {code}"

    def kill(self) -> None:
        """Ends the process at once."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """Lets the process end by itself, for a while."""
        self.target.close()
        try:
            self.process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self.kill()
        self.source.close()
        self.watchdog.close()


class Pool:
    """Workers for one device.

    Args:
        name: the device.
        jobs: how many processes.
        opener: ``module:function`` that opens the device by its name in a worker.
        seconds: how long one call of the device may last; 0 for ever.

    Raises:
        DeviceError: the device cannot be opened.
    """

    def __init__(
        self, name: str, jobs: int = 1, *, opener: str = OPENER, seconds: float = DEFAULT_SECONDS
    ) -> None:
        self.name = name
        self._opener = opener
        self._seconds = seconds
        self._queue = Queue()
        self._parts: dict[Unit, _Part] = {}
        self._variables = _variables(jobs)
        self._workers = [self._start()]
        try:
            self._description = self._workers[0].opened(name)
            if not self._description.info.exclusive:
                self._workers += [self._start() for _ in range(jobs - 1)]
                for worker in self._workers[1:]:
                    worker.opened(name)
        except BaseException:
            self.close()
            raise

    def _start(self) -> _Worker:
        return _Worker(self._opener, self.name, self._seconds, self._variables)

    @property
    def description(self) -> Description:
        """The device, as its first worker described it."""
        return self._description

    def submit(self, order: int, unit: Unit) -> None:
        """Queues a unit."""
        self._parts[unit] = _Part(order, unit)
        self._queue.push(order, unit)

    def cancel(self, level: str) -> None:
        """Drops what is queued of a level; what runs is finished, and its result dropped."""
        self._queue.drop(lambda unit: unit.level == level)

    def results(self) -> Iterator[tuple[Unit, Result]]:
        """Performs what is queued, and what is submitted meanwhile, until nothing is left."""
        while True:
            self._feed()
            busy = [worker for worker in self._workers if worker.part is not None]
            if not busy:
                return
            for part, result in self._step(busy):
                yield from self._finish(part, result)

    def _feed(self) -> None:
        for worker in self._workers:
            if worker.part is None and self._queue:
                _, unit = self._queue.pop()
                worker.part = self._parts.pop(unit)
                worker.watchdog.mark("")
                with suppress(BrokenPipeError):  # it died while idle: reading says so
                    worker.target.send(unit)

    def _step(self, busy: list[_Worker]) -> Iterator[tuple[_Part, Result]]:
        """Waits for the next news; gives the parts that are done, and splits those that died."""
        limit = min(worker.watchdog.left() for worker in busy) if self._seconds else None
        ready = set(wait([worker.source for worker in busy], limit))
        for worker in busy:
            if worker.source in ready:
                yield from self._news(worker)
            elif worker.watchdog.overdue:
                phase = worker.watchdog.phase
                # It says where it hangs, for whoever reads along.
                worker.process.send_signal(signal.SIGUSR1)
                wait([worker.source], 1.0)
                worker.kill()
                why = f"no answer from `{phase}` within {self._seconds:g} seconds"
                yield from self._lost(worker, "hang", why)

    def _news(self, worker: _Worker) -> Iterator[tuple[_Part, Result]]:
        try:
            kind, value = worker.source.recv()
        except EOFError:
            yield from self._lost(worker, "crash", worker.ended())
            return
        part = worker.part
        if kind != "done" or part is None:
            raise RuntimeError(f"the suite itself failed in a worker:\n{value}")
        worker.part = None
        yield part, value

    def _lost(
        self, worker: _Worker, check: Literal["crash", "hang"], why: str
    ) -> Iterator[tuple[_Part, Result]]:
        part = worker.part
        worker.close()
        fresh = self._start()
        self._workers[self._workers.index(worker)] = fresh
        fresh.opened(self.name)
        if part is None:
            return
        part.reason = (check, why)
        if len(part.unit.names) < 2:
            yield part, Result([crashed(part.unit, check, why)])
            return
        part.waiting = 2
        for unit in halves(part.unit):
            self._parts[unit] = _Part(part.order, unit, part)
            self._queue.push(part.order, unit)

    def _finish(self, part: _Part, result: Result) -> Iterator[tuple[Unit, Result]]:
        """A part that is done, and whatever that completes."""
        while True:
            part.result.add(result)
            part.result.plan = result.plan
            if part.waiting:
                part.waiting -= 1
                if part.waiting:
                    return
                _tell_company(part)
            if part.whole is None:
                yield part.unit, part.result
                return
            part, result = part.whole, part.result

    def close(self) -> None:
        """Ends the workers."""
        for worker in self._workers:
            if worker.part is not None:
                worker.kill()
            worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _tell_company(part: _Part) -> None:
    """Where no part of it failed so again, the whole of it did."""
    check, why = part.reason
    if any(o.check == check and o.kind == "failed" for o in part.result.outcomes):
        return
    count = len(part.unit.names)
    why = f"{why}; with {count} cases in one go, and with no half of them"
    found = crashed(part.unit, check, why)
    kept = [o for o in part.result.outcomes if o.id != found.id]
    part.result.outcomes = [*kept, found]


def _variables(jobs: int) -> dict[str, Any]:
    """What workers get beside our own environment: each its share of the processors."""
    if jobs == 1 or os.environ.get("REALTA_NUM_THREADS"):
        return {}
    return {"REALTA_NUM_THREADS": str(max(1, len(os.sched_getaffinity(0)) // jobs))}
