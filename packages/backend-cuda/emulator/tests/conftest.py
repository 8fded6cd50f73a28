"""What tests of the emulator share: a device of cuda.core over the stand-in driver."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

pytest.importorskip("cuda.core", exc_type=ImportError)

import realta_cuda_emulator as emulator
from realta_cuda_emulator.standin import real_driver


class Machine:
    """A device, a stream, and memory, over cuda.core alone."""

    def __init__(self):
        import cuda.core as cc
        from cuda.bindings import driver
        from cuda.core._utils.cuda_utils import CUDAError

        self.cc, self.driver, self.failure = cc, driver, CUDAError
        self.device = cc.Device()
        self.device.set_current()
        self.stream = self.device.create_stream()

    def kernel(self, source, name):
        return self.cc.ObjectCode.from_cubin(emulator.compile(source)).get_kernel(name)

    def empty(self, nbytes, stream=None):
        return self.device.allocate(nbytes, stream=stream or self.stream)

    def upload(self, array, stream=None):
        stream = stream or self.stream
        buffer = self.empty(array.nbytes, stream)
        self.ask("cuMemcpyHtoDAsync", int(buffer.handle), array.ctypes.data, array.nbytes,
                 stream.handle)  # fmt: skip
        return buffer

    def download(self, buffer, like, stream=None):
        found = np.empty_like(like)
        stream = stream or self.stream
        self.ask("cuMemcpyDtoHAsync", found.ctypes.data, int(buffer.handle), found.nbytes,
                 stream.handle)  # fmt: skip
        stream.sync()
        return found

    def ask(self, name, *arguments):
        (status, *values) = getattr(self.driver, name)(*arguments)
        if status != self.driver.CUresult.CUDA_SUCCESS:
            raise self.failure(f"{name}: {status.name}")
        return values

    def launch(self, kernel, grid, block, *arguments, stream=None, shared=0):
        config = self.cc.LaunchConfig(grid=grid, block=block, shmem_size=shared)
        self.cc.launch(stream or self.stream, config, kernel, *arguments)


@pytest.fixture(scope="session")
def started():
    if not shutil.which("g++"):
        pytest.skip("the emulator needs g++, which is not there")
    if not emulator.installed():
        if real_driver():
            pytest.skip("there is a real CUDA driver here, which the emulator would hide")
        from realta_cuda_emulator.building import build

        build()
        emulator.install()
    return Machine()


@pytest.fixture
def machine(started):
    emulator.configure(order="forward", streams="eager")
    yield started
    emulator.reset()
    emulator.configure(order="forward", streams="eager")


@pytest.fixture
def checks(monkeypatch):
    """Kernels that are compiled in a test have each access checked."""
    monkeypatch.setenv("REALTA_CUDA_EMULATE_CHECK", "on")
