"""Profiler: what ran inside a ``with profile()`` block, with times and bytes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from realta.runtime.contract import KernelReport
from realta.runtime.device import OpenDevice, open_devices, synchronize
from realta.runtime.hooks import (
    CompileEvent,
    ExecuteEvent,
    add_compile_wrapper,
    add_execute_wrapper,
    remove_wrapper,
)
from realta.runtime.units import format_bytes

__all__ = ["KernelTime", "Profile", "RunRecord", "profile"]


class KernelTime(NamedTuple):
    """How long a kernel took on its device, by the device's own clock.

    Args:
        device: where it ran.
        kernel: its name.
        seconds: from its start to its end.
    """

    device: str
    kernel: str
    seconds: float


class RunRecord(NamedTuple):
    """One run of a program.

    Args:
        device: where it ran.
        name: name of its graph.
        kernels: its kernels.
        seconds: wall-clock time of the call; on a device that returns early, of the launch.
        bytes_in: bytes of its inputs.
        bytes_out: bytes of its outputs.
    """

    device: str
    name: str
    kernels: tuple[KernelReport, ...]
    seconds: float
    bytes_in: int
    bytes_out: int


class Profile:
    """What ran: in order, one record a run.

    Attributes:
        runs: every run of a program.
        kernel_times: every kernel of the devices that were open at the start and have a clock.
        compiles: programs compiled.
        compile_seconds: time that took.
        seconds: time of the whole block.
    """

    __slots__ = ("compile_seconds", "compiles", "kernel_times", "runs", "seconds")

    def __init__(self) -> None:
        self.runs: list[RunRecord] = []
        self.kernel_times: list[KernelTime] = []
        self.compiles = 0
        self.compile_seconds = 0.0
        self.seconds = 0.0

    @property
    def kernels(self) -> int:
        """Kernels run, counting each time."""
        return sum(len(run.kernels) for run in self.runs)

    def to_dict(self) -> dict[str, Any]:
        """The profile as plain data."""
        return {
            "seconds": self.seconds,
            "compiles": self.compiles,
            "compile_seconds": self.compile_seconds,
            "kernels": self.kernels,
            "runs": [
                {
                    "device": run.device, "name": run.name, "seconds": run.seconds,
                    "bytes_in": run.bytes_in, "bytes_out": run.bytes_out,
                    "kernels": [kernel.name for kernel in run.kernels],
                }
                for run in self.runs
            ],
            "kernel_times": [timed._asdict() for timed in self.kernel_times],
        }  # fmt: skip

    def __str__(self) -> str:
        head = (
            f"{len(self.runs)} run(s), {self.kernels} kernel(s), {self.compiles} compiled, "
            f"{self.seconds * 1e3:.2f} ms in all, {self.compile_seconds * 1e3:.2f} ms compiling"
        )
        lines = [head]
        for run in self.runs:
            names = ", ".join(kernel.name for kernel in run.kernels) or "nothing launched"
            lines.append(
                f"  {run.seconds * 1e3:9.3f} ms  {run.device}  {run.name}: {names}  "
                f"({format_bytes(run.bytes_in)} in, {format_bytes(run.bytes_out)} out)"
            )
        totals: dict[tuple[str, str], list[float]] = {}
        for timed in self.kernel_times:
            totals.setdefault((timed.device, timed.kernel), []).append(timed.seconds)
        lines += [
            f"  {sum(times) * 1e3:9.3f} ms  {device}  {kernel} x {len(times)}, on the device"
            for (device, kernel), times in totals.items()
        ]
        return "\n".join(lines)


@contextmanager
def profile() -> Iterator[Profile]:
    """Collects every run in the block, in all threads."""
    found = Profile()

    def execute(event: ExecuteEvent, call: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        try:
            return call()
        finally:
            seconds = time.perf_counter() - start
            found.runs.append(
                RunRecord(
                    event.device,
                    event.name,
                    event.kernels,
                    seconds,
                    event.bytes_in,
                    event.bytes_out,
                )
            )

    def compile(event: CompileEvent, call: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        try:
            return call()
        finally:
            found.compiles += 1
            found.compile_seconds += time.perf_counter() - start

    add_execute_wrapper(execute)
    add_compile_wrapper(compile)
    clocks = [device for device in open_devices() if hasattr(device.session, "start_timing")]
    _open_clocks(found, clocks)
    start = time.perf_counter()
    try:
        yield found
        synchronize()
    finally:
        found.seconds = time.perf_counter() - start
        _close_clocks(found, clocks)
        remove_wrapper(execute)
        remove_wrapper(compile)


_profiles: Final[list[Profile]] = []
"""The blocks that are open. A device has one clock, which tells all of them."""


def _open_clocks(found: Profile, devices: list[OpenDevice]) -> None:
    if not _profiles:
        for device in devices:
            device.session.start_timing()  # type: ignore[attr-defined]
    _profiles.append(found)


def _close_clocks(found: Profile, devices: list[OpenDevice]) -> None:
    for device in devices:
        if device.lost is not None:
            continue
        session: Any = device.session
        times = [KernelTime(device.name, *timed) for timed in session.stop_timing()]
        for profile in _profiles:
            profile.kernel_times += times
        if len(_profiles) > 1:
            session.start_timing()
    _profiles.remove(found)
