"""Accuracy probe: the error of every function that rounds, on each machine kernels can run on.

    python -m benchmarks.probes.math_accuracy [ARGUMENTS]

Runs generated kernels on every OpenCL platform, as plain C and through LLVM, and compares with the
C library's long double functions, which gcc and x86-64 have. Prints a table of the worst errors in
ulp, as float32 / float64; a star marks what spec 5a does not allow.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from realta.codegen import CPU_PROFILE, LOOP_PROFILE, KernelWriter, signature, translation_unit
from realta.codegen.dialects import OPENCL, C
from realta.codegen.ir import Kernel
from realta.codegen.scalar import apply_scalar
from realta.graph import Input
from realta.ops import get_op
from realta.ops.tolerances import tolerance, ulp
from realta.plugins import backends, device_info, load_backend
from realta.types import DType, TensorType, float32, float64

__all__ = ["main"]

Array = np.ndarray[Any, np.dtype[Any]]
Run = Callable[[Kernel, list[Array]], None]
UNARY = [
    "rsqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf",
]  # fmt: skip
BINARY = ["pow", "atan2", "hypot"]
FUNCTIONS = [*UNARY, *BINARY]
UNIT = {"asin", "acos", "atanh"}
POSITIVE = {"rsqrt", "log", "log2", "log10"}


def arguments(name: str, dtype: DType, count: int) -> list[Array]:
    """Arguments over the whole range of a function, and close to where it cancels."""
    rng = np.random.default_rng(FUNCTIONS.index(name))
    big = 126 if dtype is float32 else 1022
    signs = rng.choice([-1.0, 1.0], count)
    near = np.exp2(rng.uniform(-30, 0, count))
    if name in BINARY:
        x, y = (np.exp2(rng.uniform(-20, 20, count)) for _ in range(2))
        if name == "pow":
            y = signs * rng.uniform(0, big, count) / np.maximum(np.abs(np.log2(x)), 0.1)
        else:
            x, y = x * signs, y * rng.choice([-1.0, 1.0], count)
        return [x.astype(dtype.numpy), y.astype(dtype.numpy)]
    if name in POSITIVE:
        parts = [np.exp2(rng.uniform(-big, big, count)), rng.uniform(0.5, 2, count)]
    elif name in UNIT:
        parts = [rng.uniform(-1, 1, count), signs * near]
    elif name in ("sin", "cos", "tan"):
        parts = [rng.uniform(-1e5, 1e5, count), rng.uniform(-100, 100, count), signs * near]
    elif name == "acosh":
        parts = [1 + near, np.exp2(rng.uniform(0, big, count))]
    elif name == "log1p":
        parts = [np.exp2(rng.uniform(-30, big, count)), signs * near * 0.999]
    elif name in ("atan", "asinh", "erf"):
        parts = [signs * np.exp2(rng.uniform(-30, 40, count)), rng.uniform(-6, 6, count)]
    else:
        parts = [
            rng.uniform(-0.69 * big, 0.69 * big, count),
            signs * near,
            rng.uniform(-9, 9, count),
        ]
    return [np.concatenate(parts).astype(dtype.numpy)]


def expected(name: str, given: list[Array], folder: Path) -> tuple[Array, Array]:
    """The true values as the sums of two float64."""
    library = folder / "truth.so"
    if not library.exists():
        lines = ["#include <math.h>"]
        for f in FUNCTIONS:
            call = "1 / sqrtl(x[i])" if f == "rsqrt" else f"{f}l(x[i]{', y[i]' * (f in BINARY)})"
            lines.append(
                f"void {f}_(long n, double *x, double *y, double *high, double *low) "
                f"{{ for (long i = 0; i < n; ++i) {{ long double r = {call}; "
                "high[i] = (double)r; low[i] = (double)(r - high[i]); } }"
            )
        (folder / "truth.c").write_text("\n".join(lines))
        command = ["gcc", "-O1", "-shared", "-fPIC", "truth.c", "-o", str(library), "-lm"]
        subprocess.run(command, cwd=folder, check=True)
    wide = [np.ascontiguousarray(x, np.float64) for x in (given[0], given[-1])]
    high, low = np.empty_like(wide[0]), np.empty_like(wide[0])
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*wide, high, low)]
    getattr(ctypes.CDLL(str(library)), f"{name}_")(ctypes.c_long(high.size), *pointers)
    return high, low


def kernel_of(name: str, dtype: DType, size: int) -> Kernel:
    """A kernel of one function."""
    write = KernelWriter(size // 16, 16)
    at = write.group * 16 + write.lane
    count = 2 if name in BINARY else 1
    type = TensorType(dtype, (size,))
    read = [write.argument(Input(type), "input", "x") for _ in range(count)]
    out = write.argument(Input(type), "output", "out")
    write.store(out, at, apply_scalar(name, [write.load(x, at) for x in read], dtype, dtype))
    return write.build("k")


def machines(folder: Path) -> dict[str, Run]:
    """What runs a kernel on arrays, by machine."""
    found: dict[str, Run] = {"gcc": lambda kernel, arrays: run_c(kernel, arrays, folder)}
    if any(entry.name == "llvm" and entry.state == "available" for entry in backends(probe=True)):
        found["realta-llvm"] = run_llvm(load_backend("llvm").open(device_info("llvm:0")))
    try:
        import pyopencl as cl

        for platform in cl.get_platforms():
            device = platform.get_devices()[0]
            found[platform.name.split()[0]] = run_opencl(cl, device)
    except Exception as reason:  # pyopencl's errors share no other class
        sys.stderr.write(f"no OpenCL: {reason}\n")
    return found


def run_c(kernel: Kernel, arrays: list[Array], folder: Path) -> None:
    """Runs a kernel as plain C."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        source, library = Path(place, "k.c"), Path(place, "k.so")
        source.write_text(translation_unit([kernel], C, LOOP_PROFILE))
        command = ["gcc", "-O2", *C.options, "-shared", "-fPIC", str(source), "-o", str(library)]
        subprocess.run([*command, "-lm"], check=True)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
        ends = ctypes.c_int64(0), ctypes.c_int64(kernel.groups)
        ctypes.CDLL(str(library)).k(*pointers, *ends)


def run_llvm(session: Any) -> Run:
    """What runs a kernel through the LLVM backend."""

    def run(kernel: Kernel, arrays: list[Array]) -> None:
        called = signature(kernel, CPU_PROFILE)
        module = session.build(session.source([kernel]), [called])
        handles = [session.adopt(array) for array in arrays]
        session.launch(module, kernel.name, (called.groups, 1, 1), (1, 1, 1), handles, 0)

    return run


def run_opencl(cl: Any, device: Any) -> Run:
    """What runs a kernel on an OpenCL device, as vectors."""
    context = cl.Context([device])
    queue = cl.CommandQueue(context)

    def run(kernel: Kernel, arrays: list[Array]) -> None:
        program = cl.Program(context, translation_unit([kernel], OPENCL, CPU_PROFILE))
        call = cl.Kernel(program.build(list(OPENCL.options)), kernel.name)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers = [cl.Buffer(context, flags, hostbuf=a) for a in arrays]
        groups = signature(kernel, CPU_PROFILE).groups
        call(queue, (groups,), (1,), *buffers)
        cl.enqueue_copy(queue, arrays[-1], buffers[-1])

    return run


def worst(name: str, dtype: DType, run: Run, count: int, folder: Path) -> float:
    """The greatest error in ulp; infinite if a result is finite where it should not be, or not."""
    given = arguments(name, dtype, count)
    size = given[0].size // 16 * 16
    given = [np.ascontiguousarray(x[:size]) for x in given]
    out = np.zeros(size, dtype.numpy)
    run(kernel_of(name, dtype, size), [*given, out])
    high, low = expected(name, given, folder)
    with np.errstate(all="ignore"):
        rounded = high.astype(dtype.numpy)
        error = np.abs((out.astype(np.float64) - high) - low) / ulp(high, dtype)
    plain = np.isfinite(rounded)
    if not np.array_equal(np.isfinite(out), plain):
        return np.inf
    return float(error[plain].max())


def main(count: int = 50000) -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        found = machines(folder)
        print("| function | allowed | " + " | ".join(found) + " |")
        print("|---" * (len(found) + 2) + "|")
        for name in FUNCTIONS:
            row = tolerance(get_op(name).tolerance)
            allowed = [row.ulp_for(dtype) for dtype in (float32, float64)]
            cells = []
            for run in found.values():
                pair = [worst(name, d, run, count, folder) for d in (float32, float64)]
                texts = [
                    f"{e:.2f}{'*' if e > a else ''}" for e, a in zip(pair, allowed, strict=True)
                ]
                cells.append(" / ".join(texts))
            print(f"| {name} | {allowed[0]:g} / {allowed[1]:g} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
