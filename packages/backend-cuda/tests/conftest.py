"""Shared by the tests of the CUDA backend: a session on the stand-in driver."""

import importlib.util
import os
import shutil

import pytest
from realta.backend import DeviceInfo


@pytest.fixture(scope="session")
def emulator():
    """The emulator, installed in this process; it must be there in CI."""
    missing = ""
    if importlib.util.find_spec("realta_cuda_emulator") is None:
        missing = "realta-cuda-emulator is not installed"
    elif shutil.which("g++") is None:
        missing = "there is no g++"
    if missing:
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    import realta_cuda_emulator

    try:
        realta_cuda_emulator.install()
    except realta_cuda_emulator.EmulatorError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))
    return realta_cuda_emulator


@pytest.fixture
def open_session(emulator, monkeypatch):
    """Opens sessions that are closed at the end, whatever has become of the device."""
    from realta_cuda import emulation
    from realta_cuda.session import open_session as opens

    monkeypatch.setenv(emulation.VARIABLE, "1")
    monkeypatch.setitem(emulation._started, emulation._MODULE, emulator)
    opened = []

    def open_one():
        opened.append(opens(DeviceInfo(0, "emulated", memory_bytes=4 << 30)))
        return opened[-1]

    yield open_one
    emulator.reset()
    emulator.configure(order="forward", streams="eager", fail_launch=0, memory_limit=4 << 30)
    for session in opened:
        session.close()


@pytest.fixture
def session(open_session):
    return open_session()
