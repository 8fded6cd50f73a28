"""Robust probes of processes: several at once, forked ones, and the cache that they share."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import realta
from realta.errors import DeviceError

from realta_conformance.device import Device
from realta_conformance.opening import is_installed
from realta_conformance.probes.probe import Finding, probe
from realta_conformance.probes.robust_threads import lacks, tensor

_PROCESSES: Final = 4
_PROGRAM: Final = """
import sys
import numpy as np
import realta

def work(x):
    return (x * x + x) * x

x = realta.Tensor(np.arange(24, dtype=np.float32).reshape(4, 6), device=sys.argv[1])
found = realta.compile(work)(x.type)(x).numpy()
eager = work(x).numpy()
sys.exit(0 if found.tobytes() == eager.tobytes() and found[1, 0] == 252 else 3)
"""


def _reason(device: Device) -> str:
    """Why other processes cannot use the device, if they cannot."""
    if device.info.exclusive:
        return "the device is exclusive"
    if not is_installed(device.name):
        return "the backend is registered in this process and not installed"
    return lacks(device)


def _started(device: Device, count: int, folder: str = "") -> list[subprocess.Popen[str]]:
    own = {"REALTA_CACHE": "on", "REALTA_CACHE_DIR": folder} if folder else {}
    return [
        subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, device.name], env={**os.environ, **own},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(count)
    ]  # fmt: skip


def _problem(processes: Sequence[subprocess.Popen[str]]) -> str:
    """What went wrong in the first process that failed."""
    wrong = []
    for process in processes:
        _, text = process.communicate()
        if process.returncode:
            last = (text.strip().splitlines() or ["no message"])[-1]
            wrong.append(f"exit code {process.returncode}: {last}")
    return min(wrong, default="")


@probe("robust")
def processes(device: Device) -> Iterator[Finding]:
    """Processes that use the device at once, beside this one, all compute.

    If this fails, look for files, ports or locks that only one process can have.
    """
    if reason := _reason(device):
        yield Finding(skipped=reason)
        return
    (tensor(device) + 1.0).numpy()
    yield Finding(wrong=_problem(_started(device, 2)))


@probe("robust", unless=lacks)
def forks(device: Device) -> Iterator[Finding]:
    """After a fork the child of a host device computes; that of another gets a named error.

    If this fails on a host, threads or locks of the parent are waited for in the child. On another
    device the runtime was used before the fork and does not survive it: core refuses.
    """
    wanted = (tensor(device) * 2.0).numpy(copy=True)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 4
        try:
            code = _in_child(device, wanted)
        except BaseException:  # nothing of the parent may run in the child
            code = 5
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    told = {0: "", 1: "the child computed something else", 2: "the child got no DeviceError"}
    yield Finding("child", told.get(code, f"the child ended with {code}"))
    same = np.array_equal((tensor(device) * 2.0).numpy(), wanted)
    yield Finding("parent", "" if same else "the parent does not compute any more")


def _in_child(device: Device, wanted: object) -> int:
    try:
        found = (tensor(device) * 2.0).numpy()
    except DeviceError:
        return 0 if device.info.kind != "host" else 1
    if device.info.kind == "accelerator":
        return 2
    return 0 if np.array_equal(found, np.asarray(wanted)) else 1


@probe("robust")
def caches(device: Device) -> Iterator[Finding]:
    """Processes on one empty cache all compute, and one whose entries are corrupt is rebuilt.

    If this fails, write to a file of another name and rename it, and check what is read.
    """
    if reason := _reason(device):
        yield Finding(skipped=reason)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Finding("race", _problem(_started(device, _PROCESSES, folder)))
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        if not files:
            yield Finding("corrupt", skipped="the device keeps nothing on disk")
            return
        for number, path in enumerate(files):
            data = path.read_bytes()
            path.write_bytes(data[: len(data) // 2] if number % 2 else b"\xff" * len(data))
        yield Finding("corrupt", _problem(_started(device, 1, folder)))
        again = realta.Tensor([1.0], device=device.name)
        yield Finding("here", "" if (again + 1.0).tolist() == [2.0] else "wrong values")
