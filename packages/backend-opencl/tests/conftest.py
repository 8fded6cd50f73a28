"""Shared by the tests of the OpenCL backend: its devices, opened once each, and a cache apart."""

import os

import pytest
from realta.backend import Unavailable
from realta_opencl.backend import OpenCLBackend
from realta_opencl.session import open_session

DEVICES = ("pocl", "intel")
"""Drivers from PyPI, which the checks install; see the extras of the distribution."""
_backend = OpenCLBackend()


@pytest.fixture(autouse=True, scope="session")
def cache_folder(tmp_path_factory):
    """Kernels are kept away from those of the user."""
    before = os.environ.get("REALTA_CACHE_DIR")
    os.environ["REALTA_CACHE_DIR"] = str(tmp_path_factory.mktemp("kernels"))
    yield
    if before is None:
        del os.environ["REALTA_CACHE_DIR"]
    else:
        os.environ["REALTA_CACHE_DIR"] = before


def found_device(alias):
    """The driver's device of that name; skips where there is none, fails where CI must have it."""
    found = _backend._devices()
    missing = found.reason if isinstance(found, Unavailable) else f"there is no {alias} here"
    if not isinstance(found, Unavailable):
        for device in found:
            if alias in device.info.aliases:
                return device
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI needs opencl:{alias}: {missing}")
    pytest.skip(missing)


@pytest.fixture(params=DEVICES)
def found(request):
    """A device as its driver shows it, of each implementation."""
    return found_device(request.param)


@pytest.fixture
def session(found):
    """It, opened."""
    opened = open_session(found.device, found.info.index)
    yield opened
    opened.close()


@pytest.fixture
def copying(found):
    """It, opened as a device with memory of its own is: bytes are copied."""
    opened = open_session(found.device, found.info.index, in_place=False)
    yield opened
    opened.close()


@pytest.fixture(params=[None, False], ids=["in place", "copying"])
def either(found, request):
    """It, opened in both ways."""
    opened = open_session(found.device, found.info.index, in_place=request.param)
    yield opened
    opened.close()
