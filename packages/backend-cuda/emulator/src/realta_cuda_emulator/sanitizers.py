"""Sanitizers: a launch in a process of its own, which a sanitizer of the compiler watches.

``address`` is AddressSanitizer with UndefinedBehaviorSanitizer; ``thread`` is ThreadSanitizer, once
with blocks in order, which leaves races inside of blocks, and once without, which leaves those
between blocks. They are a second opinion on what `realta_cuda_emulator.settings` lets each launch
be checked for in the process itself.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from realta_cuda_emulator.building import HOW, runner_program
from realta_cuda_emulator.compiling import compile_image
from realta_cuda_emulator.errors import EmulatorError
from realta_cuda_emulator.toolchain import clean_environment

__all__ = ["PASSES", "Pass", "Verdict", "launch_file", "watch"]

_OPTIONS: Final = {
    "ASAN_OPTIONS": "detect_leaks=0:exitcode=66:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=66",
    "TSAN_OPTIONS": "halt_on_error=1:exitcode=66:report_thread_leaks=0:history_size=0",
}
_TIMEOUT: Final = 120


class Pass(NamedTuple):
    """A way to watch a launch.

    Args:
        sanitizer: ``address`` or ``thread``.
        unordered: whether blocks are taken to run at the same time; shared memory is exempt then.
    """

    sanitizer: str
    unordered: bool


PASSES: Final = {
    "address": Pass("address", False),
    "thread": Pass("thread", False),
    "thread between blocks": Pass("thread", True),
}
"""All of them, by name."""


class Verdict(NamedTuple):
    """What a sanitizer says.

    Args:
        clean: whether it finds nothing.
        report: what it finds.
        launch: the launch with what the kernel left in its buffers.
    """

    clean: bool
    report: str
    launch: bytes


def watch(source: str, kernel: str, launch: bytes, how: Pass) -> Verdict:
    """Runs a launch under a sanitizer.

    Args:
        source: CUDA C++.
        kernel: the name of the kernel.
        launch: what `launch_file` gives, or a file that the stand-in driver recorded.
        how: which sanitizer.

    Raises:
        EmulatorError: the runner is not built, or the launch does not fit the kernel.
    """
    program = runner_program(how.sanitizer)
    if not program.exists():
        raise EmulatorError("the emulator of CUDA is not built", where=str(program), fix=HOW)
    image = compile_image(source, sanitizer=how.sanitizer)
    with tempfile.TemporaryDirectory(prefix="realta-cuda-") as scratch:
        paths = [Path(scratch) / name for name in ("kernel.so", "launch")]
        paths[0].write_bytes(image)
        paths[1].write_bytes(_marked(launch, how.unordered))
        command = [*_fixed_addresses(), str(program), str(paths[0]), kernel, str(paths[1])]
        try:
            found = subprocess.run(
                command, capture_output=True, text=True, errors="replace", check=False,
                timeout=_TIMEOUT, env={**clean_environment(), **_OPTIONS},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Verdict(False, f"it takes longer than {_TIMEOUT} seconds", launch)
        if found.returncode == 3:
            raise EmulatorError(
                found.stderr.strip(), where=kernel, fix="give each parameter an argument"
            )
        return Verdict(found.returncode == 0, found.stderr, paths[1].read_bytes())


def launch_file(
    grid: Sequence[int],
    block: Sequence[int],
    arguments: Sequence[tuple[str, bytes]],
    *,
    order: int = 0,
    shared: int = 0,
) -> bytes:
    """A launch as runners read it.

    Args:
        grid: how many blocks there are, along up to three axes.
        block: how many threads a block has.
        arguments: ``("b", contents)`` for a buffer, ``("s", bytes)`` for a value.
        order: of threads: 0 forward, 1 reversed, else a seed.
        shared: bytes of memory for ``extern __shared__``.
    """
    sizes = [*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3], shared, order, 0, len(arguments)]
    parts = [" ".join(map(str, sizes)).encode() + b"\n"]
    for kind, data in arguments:
        parts += [kind.encode(), struct.pack("<Q", len(data)), data]
    return b"".join(parts)


def _marked(launch: bytes, unordered: bool) -> bytes:
    head, _, rest = launch.partition(b"\n")
    words = head.split()
    words[8] = b"1" if unordered else b"0"
    return b" ".join(words) + b"\n" + rest


def _fixed_addresses() -> list[str]:
    """ThreadSanitizer knows where memory is; the kernel's random addresses may not fit."""
    program = shutil.which("setarch")
    return [program, os.uname().machine, "-R"] if program else []
