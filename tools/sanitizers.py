"""Sanitizers: conformance kernels as plain C under the address and undefined-behaviour sanitizers.

    python -m tools.sanitizers [--cases N] [--level NAME ...]

Renders the kernels of N cases of each op (2 if left out) in the C dialect, builds them with gcc's
sanitizers, and runs each level in a process of its own, the leader of its own process group. Each
argument of a kernel is copied into a block of just its size, so that one element beyond is found. A
report is shown with the line of the kernel. First it runs kernels that are wrong on purpose, which
must be reported. Without gcc or its sanitizers it says so and exits 0; with CI=true it exits 1.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from realta.backend import CompilationError, KernelSignature
from realta.codegen.dialects import C
from realta.codegen.ir import Buffer
from realta.types import int32
from realta_kernel_example import CSession, KernelExample

from tools.oclgrind import LEVELS, run_chosen

ROOT = Path(__file__).resolve().parent.parent
SANITIZE = (
    "-O1", "-g", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
)  # fmt: skip
MINUTES = 8
SHOWN = 40
WRONG = {
    "heap-buffer-overflow": "x[4 * last_group] = 1;",
    "out of bounds for type": "int32_t y[4] = {0}; for (int i = 0; i <= 4; ++i) y[i] = x[i % 4];"
    " x[0] = y[x[0] & 3];",
    "shift exponent": "x[0] = x[1] << (x[2] + 40);",
    "outside the range of representable values": "x[0] = (int32_t)(x[1] + 1e30);",
}
"""By what has to be reported: the body of a kernel over an array of four."""


def runtime() -> str | None:
    """The library that has to be loaded before everything else, if gcc has it."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return None
    command = [gcc, "-print-file-name=libasan.so"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return found if Path(found).is_absolute() else None


class SanitizedSession(CSession):
    """Kernels built with sanitizers, whose arguments are blocks of just their size.

    Args:
        folder: where the sources stay, so that a report can be shown with its line.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__("gcc")
        self.folder = folder
        self.built = 0

    def build(self, source: str, kernels: Sequence[KernelSignature]) -> Any:
        """A shared library and the signatures of its kernels by name."""
        self.built += 1
        text = self.folder / f"kernels{self.built}.c"
        text.write_text(source)
        library = text.with_suffix(".so")
        files = [str(text), "-o", str(library), "-lm"]
        command = ["gcc", *SANITIZE, *C.options, "-shared", "-fPIC", *files]
        # The compiler itself is not looked at.
        clean = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        done = subprocess.run(command, capture_output=True, text=True, env=clean)
        if done.returncode:
            raise CompilationError(
                "gcc does not compile the kernels", log=done.stderr, source=source
            )
        return ctypes.CDLL(str(library)), {kernel.name: kernel for kernel in kernels}

    def launch(
        self, module: Any, kernel: str, grid: Any, group: Any, args: Any, local_bytes: int
    ) -> None:
        library, signatures = module
        buffers = signatures[kernel].buffers
        sizes = [buffer.size * buffer.dtype.itemsize for buffer in buffers]
        memory = ctypes.CDLL(None)
        memory.malloc.restype = ctypes.c_void_p
        blocks = [ctypes.c_void_p(memory.malloc(ctypes.c_size_t(size))) for size in sizes]
        for block, handle, size in zip(blocks, args, sizes, strict=True):
            ctypes.memmove(block, handle.ctypes.data, size)
        getattr(library, kernel)(*blocks, ctypes.c_int64(0), ctypes.c_int64(grid[0]))
        for block, handle, size, buffer in zip(blocks, args, sizes, buffers, strict=True):
            if buffer.role != "input":
                ctypes.memmove(handle.ctypes.data, block, size)
            memory.free(block)


def run_wrong(folder: Path, body: str) -> int:
    """Runs a kernel that is wrong, in the child process."""
    parameters = "int32_t *restrict x, const int64_t first_group, const int64_t last_group"
    source = f"#include <stdint.h>\nvoid wrong({parameters}) {{ {body} }}\n"
    kernel = KernelSignature("wrong", (Buffer("x", int32, 4, role="output"),), 1, 1, 0)
    session = SanitizedSession(folder)
    module = session.build(source, [kernel])
    session.launch(module, "wrong", (1, 1, 1), (1, 1, 1), [np.zeros(4, np.int32)], 0)
    return 0


def run_level(folder: Path, level: str, count: int) -> int:
    """Runs conformance cases of a level, in the child process."""
    from realta_conformance.device import Device

    backend = KernelExample()
    info = backend.probe()
    assert isinstance(info, tuple)  # noqa: S101
    session = SanitizedSession(folder)
    device = Device("kernel_example:0", backend, info[0], session)
    ran, wrong = run_chosen(device, level, count)
    print(f"level {level}: {ran} cases in {session.built} sources, {wrong} failed", flush=True)
    return 1 if wrong or not ran else 0


def child(library: str, *arguments: str) -> tuple[int, str]:
    """Runs this module in a process group of its own, sanitizers loaded; exit code and output."""
    environment = {
        **os.environ,
        "LD_PRELOAD": library,
        # Python's own memory is not what is looked at.
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "REALTA_CACHE": "off",
    }
    command = [sys.executable, "-m", "tools.sanitizers", *arguments]
    process = subprocess.Popen(
        command, env=environment, cwd=ROOT, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=MINUTES * 60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return 1, f"{output}\nsanitizers: took more than {MINUTES} minutes"
    return process.returncode, output


def line_of(report: str) -> str:
    """The line of the source that a report names first."""
    found = re.search(r"(\S+kernels\d+\.c):(\d+)", report)
    if found is None:
        return ""
    lines = Path(found[1]).read_text().splitlines()
    return f"line {found[2]} of the kernels: {lines[int(found[2]) - 1].strip()}"


def shown(report: str) -> str:
    """The beginning of a report, from where it tells the error on, and the kernel's line."""
    lines = report.splitlines()
    first = next(
        (at for at, line in enumerate(lines) if "ERROR: " in line or "runtime error" in line), 0
    )
    return "\n".join([*lines[first : first + SHOWN], line_of(report)])


def check_detection(library: str, folder: Path) -> bool:
    """Whether what is wrong on purpose is reported."""
    right = True
    for expected, body in WRONG.items():
        code, report = child(library, "--folder", str(folder), "--wrong", body)
        if code == 0 or expected not in report:
            right = False
            print(f"sanitizers: a kernel that is wrong was run, and there was no {expected!r}")
            print(report)
    return right


def check_level(library: str, folder: Path, level: str, cases: int) -> bool:
    """Whether the kernels of a level run without a report."""
    arguments = ("--folder", str(folder), "--run", level, "--cases", str(cases))
    code, report = child(library, *arguments)
    print(report.strip().splitlines()[-1] if code == 0 else shown(report), flush=True)
    return code == 0


def main(arguments: Sequence[str]) -> int:
    """Runs all levels; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=2, help="cases of each op")
    parser.add_argument("--level", action="append", choices=LEVELS, help="all if left out")
    for hidden in ("--folder", "--wrong", "--run"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.wrong:
        return run_wrong(Path(given.folder), given.wrong)
    if given.run:
        return run_level(Path(given.folder), given.run, given.cases)
    library = runtime()
    if library is None:
        needed = os.environ.get("CI") == "true"
        print(f"sanitizers: {'needed in CI and ' if needed else ''}gcc has none; install gcc")
        return int(needed)
    right = True
    for level in ("", *(given.level or LEVELS)):
        with tempfile.TemporaryDirectory(prefix="realta-sanitizers-") as name:
            folder = Path(name)
            if level:
                right = check_level(library, folder, level, given.cases) and right
            else:
                right = check_detection(library, folder)
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
