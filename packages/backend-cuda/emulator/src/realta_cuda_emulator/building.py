"""Building: the stand-in driver library and the runners that sanitizers watch.

``python -m realta_cuda_emulator build`` calls `build`; it takes about half a minute, once.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Final

from realta_cuda_emulator.errors import EmulatorError
from realta_cuda_emulator.toolchain import NATIVE, compiler, digest, folder, identity, run, store

__all__ = ["HOW", "SANITIZERS", "build", "cuda_header", "driver_library", "runner_program"]

HOW: Final = (
    "run `python -m realta_cuda_emulator build`, or `nox -s cuda_emulator` in a checkout of "
    "realta; it needs g++ and takes about half a minute, once"
)
"""How to build the emulator."""
SANITIZERS: Final = {
    "address": ("EMU_ADDRESS", "-lasan"),
    "thread": ("EMU_THREAD", "-ltsan"),
}
"""By sanitizer, the macro that tells the scheduler of it and the library that it is."""
_LIBRARY: Final = "libcuda.so.1"
_RUNTIME: Final = ("scheduler", "memory")
_DRIVER: Final = (
    "driver", "driver_device", "driver_streams", "driver_memory", "driver_modules",
    "driver_graphs", "driver_record", "checks", *_RUNTIME,
)  # fmt: skip
_FLAGS: Final = (
    "-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-Wall", "-Wextra",
)  # fmt: skip
# ThreadSanitizer would see the scheduler's use of these functions.
_PLAIN: Final = ("-fno-builtin-memcpy", "-fno-builtin-memset", "-fno-tree-loop-distribute-patterns")


def cuda_header() -> Path:
    """The folder of ``cuda.h``, from the distribution nvidia-cuda-runtime.

    Raises:
        EmulatorError: it is not installed.
    """
    try:
        files = metadata.files("nvidia-cuda-runtime") or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "cuda.h":
            return Path(str(file.locate())).parent
    raise EmulatorError(
        "the emulator of CUDA is built against cuda.h, which is not there",
        where="distribution nvidia-cuda-runtime",
        fix="pip install 'nvidia-cuda-runtime>=13,<14'",
    )


def driver_library() -> Path:
    """Where the stand-in driver is once it is built; it may not be there.

    Raises:
        EmulatorError: g++ or cuda.h is missing.
    """
    return folder() / _key() / _LIBRARY


def runner_program(sanitizer: str) -> Path:
    """Where the program is that runs a kernel under a sanitizer, once it is built."""
    return folder() / _key() / f"runner-{sanitizer}"


def build() -> Path:
    """Builds what is not built yet; the path of the stand-in driver.

    Raises:
        EmulatorError: g++ or cuda.h is missing, or g++ fails.
    """
    library = driver_library()
    with tempfile.TemporaryDirectory(prefix="realta-cuda-emulator-") as name:
        if not library.exists():
            store(library, _driver(Path(name)).read_bytes())
        for sanitizer in SANITIZERS:
            program = runner_program(sanitizer)
            if not program.exists():
                store(program, _runner(Path(name), sanitizer).read_bytes())
    return library


@lru_cache(maxsize=1)
def _key() -> str:
    """What the libraries are made from."""
    sources = [path.read_bytes() for path in sorted(NATIVE.iterdir()) if path.is_file()]
    header = (cuda_header() / "cuda.h").read_bytes()
    return digest(identity(), header, Path(__file__).read_bytes(), *sources)


def _driver(scratch: Path) -> Path:
    missing = scratch / "missing.cpp"
    missing.write_text("\n".join(_missing_functions()), encoding="utf-8")
    flags = [*_FLAGS, "-isystem", str(cuda_header()), "-I", str(NATIVE)]
    sources = [*(NATIVE / f"{name}.cpp" for name in _DRIVER), missing]
    objects = _compile(scratch, sources, flags)
    library = scratch / _LIBRARY
    link = ["-shared", "-Wl,-soname," + _LIBRARY, "-o", str(library), *map(str, objects), "-ldl"]
    run([compiler(), *link], "the stand-in driver cannot be linked")
    return library


def _runner(scratch: Path, sanitizer: str) -> Path:
    macro, library = SANITIZERS[sanitizer]
    sources = [NATIVE / f"{name}.cpp" for name in ("runner", "scheduler")]
    objects = _compile(scratch, sources, [*_FLAGS, *_PLAIN, f"-D{macro}", "-I", str(NATIVE)])
    program = scratch / f"runner-{sanitizer}"
    link = ["-rdynamic", "-Wl,--no-as-needed", "-o", str(program), *map(str, objects)]
    link += [library, "-lubsan", "-ldl", "-lm"]
    run([compiler(), *link], f"the runner for the sanitizer {sanitizer} cannot be linked")
    return program


def _compile(scratch: Path, sources: list[Path], flags: list[str]) -> list[Path]:
    def one(source: Path) -> Path:
        made = scratch / f"{source.stem}.o"
        command = [compiler(), *flags, "-c", str(source), "-o", str(made)]
        run(command, f"{source.name} cannot be compiled")
        return made

    with ThreadPoolExecutor(max_workers=2) as workers:
        return list(workers.map(one, sources))


def _missing_functions() -> Iterator[str]:
    """A function for each name in cuda.h, for those that the driver has no other for."""
    text = (cuda_header() / "cuda.h").read_text(encoding="utf-8")
    names = sorted(set(re.findall(r"CUresult\s+CUDAAPI\s+(cu\w+)\s*\(", text)))
    yield '#include <stdio.h>\n#include "driver.h"\nnamespace emu {'
    yield "static CUresult missing(const char *name) {"
    yield '    fprintf(stderr, "realta-cuda-emulator: the stand-in driver has no %s\\n", name);'
    yield "    return CUDA_ERROR_NOT_SUPPORTED;\n}"
    for name in names:
        yield f'static CUresult no_{name}() {{ return missing("{name}"); }}'
    yield "extern const Entry missing_entries[] = {"
    for name in names:
        yield f'    {{"{name}", (void *)no_{name}}},'
    yield "    {nullptr, nullptr}};\n}"
