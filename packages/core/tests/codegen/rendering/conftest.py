"""Where rendered kernels are run: the system's C compiler, and every OpenCL platform at hand."""

import ctypes
import os
import shutil
import subprocess
import warnings

import numpy as np
import pytest
from realta.codegen.dialects import OPENCL, C
from realta.codegen.profile import CPU_PROFILE, GPU_PROFILE, LOOP_PROFILE
from realta.codegen.rendering import signature, translation_unit
from realta.ops.conversion import Array

_CI = os.environ.get("CI") == "true"


class Machine:
    """Runs kernels, several of them built at once.

    Attributes:
        profile: what kernels for it are made for.
    """

    def run(self, kernels, arrays):
        """Runs each kernel on its list of arrays, which are changed in place."""
        raise NotImplementedError


class Compiler(Machine):
    profile = LOOP_PROFILE
    dialect = C

    def __init__(self, folder):
        self.folder = folder
        self.count = 0

    def build(self, kernels):
        self.count += 1
        source, library = (self.folder / f"k{self.count}.{end}" for end in ("c", "so"))
        source.write_text(translation_unit(kernels, C, self.profile))
        command = ["gcc", "-O2", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-function",
                   "-Wno-unused-variable", *C.options, "-fPIC", "-shared"]  # fmt: skip
        done = subprocess.run(
            [*command, str(source), "-o", str(library), "-lm"], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[:4000]
        return ctypes.CDLL(str(library))

    def run(self, kernels, arrays):
        library = self.build(kernels)
        for kernel, given in zip(kernels, arrays, strict=True):
            pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in given]
            getattr(library, kernel.name)(
                *pointers, ctypes.c_int64(0), ctypes.c_int64(kernel.groups)
            )


class Device(Machine):
    dialect = OPENCL

    def __init__(self, device, profile):
        import pyopencl

        self.cl = pyopencl
        self.profile = profile
        self.context = pyopencl.Context([device])
        self.queue = pyopencl.CommandQueue(self.context)

    def run(self, kernels, arrays):
        source = translation_unit(kernels, OPENCL, self.profile)
        with warnings.catch_warnings():
            # What a driver's compiler says of its own headers and calls is no error of the source.
            warnings.simplefilter("ignore", self.cl.CompilerWarning)
            program = self.cl.Program(self.context, source).build(list(OPENCL.options))
        flags = self.cl.mem_flags
        for kernel, given in zip(kernels, arrays, strict=True):
            launched = signature(kernel, self.profile)
            call = self.cl.Kernel(program, kernel.name)
            buffers = [
                self.cl.Buffer(
                    self.context, flags.READ_WRITE | flags.COPY_HOST_PTR,
                    hostbuf=a.view(np.uint8) if a.size else np.zeros(1, np.uint8),
                )
                for a in given
            ]  # fmt: skip
            items = launched.items
            call(self.queue, (launched.groups * items,), (items,), *buffers)
            for array, buffer in zip(given, buffers, strict=True):
                if array.size:
                    self.cl.enqueue_copy(self.queue, array.view(np.uint8), buffer)
            self.queue.finish()


def _platforms():
    try:
        import pyopencl
    except ImportError:
        return {}
    names = {"Portable Computing Language": "pocl", "Intel(R) OpenCL": "intel"}
    try:
        return {names.get(p.name, p.name): p.get_devices()[0] for p in pyopencl.get_platforms()}
    except pyopencl.LogicError:  # there is no platform
        return {}


_PLATFORMS = _platforms()
_NARROW_GPU = GPU_PROFILE.replace(lanes=32, tree=GPU_PROFILE.tree)
MACHINES = [
    "c",
    *(f"{name}-{kind}" for name in _PLATFORMS or ("opencl",) for kind in ("cpu", "gpu")),
]


@pytest.fixture(params=MACHINES, scope="session")
def machine(request, tmp_path_factory):
    """Each machine that is there; a C compiler must be in CI."""
    if request.param == "c":
        if shutil.which("gcc") is None:
            if _CI:
                pytest.fail("gcc is missing")
            pytest.skip("gcc is not installed")
        return Compiler(tmp_path_factory.mktemp("kernels"))
    name, kind = request.param.rsplit("-", 1)
    if name not in _PLATFORMS:
        pytest.skip("pyopencl sees no platform")
    return Device(_PLATFORMS[name], CPU_PROFILE if kind == "cpu" else _NARROW_GPU)


def same_bits(found: Array, expected: Array) -> Array:
    """Where two arrays have the same bits; all NaNs are the same."""
    width = f"u{found.dtype.itemsize}"
    equal = found.view(width) == expected.view(width)
    if found.dtype.kind not in "biu":
        with np.errstate(invalid="ignore"):
            equal |= np.isnan(found.astype(np.float64)) & np.isnan(expected.astype(np.float64))
    return equal


@pytest.fixture
def assert_same_bits():
    def check(found, expected, operands=(), what=""):
        wrong = np.flatnonzero(~same_bits(found, expected))
        shown = [(*[o[i] for o in operands], found[i], expected[i]) for i in wrong[:5]]
        assert not wrong.size, f"{what}: {wrong.size} differ, as (operands, got, wanted) {shown}"

    return check
