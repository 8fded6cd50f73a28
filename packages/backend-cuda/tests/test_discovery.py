"""Discovery: what is said where there is no driver, no device, or none that can be used."""

import ctypes
import subprocess
import sys

import pytest
from realta.backend import ArgumentError, BackendUnavailable, DeviceInfo, Unavailable
from realta_cuda import CudaBackend, discovery, driver, emulation
from realta_cuda.driver import DeviceFacts, Driver, load_driver

CAPABILITY = {75: 9, 76: 0}


class FakeLibrary:
    """The driver as ctypes shows it, with what the tests need of it."""

    def __init__(self, version=13000, init=0, devices=(("NVIDIA H100 PCIe", 80 << 30, (9, 0)),)):
        self.version = version
        self.init = init
        self.known = devices
        self.functions = {
            name: ctypes.CFUNCTYPE(ctypes.c_int, *types)(getattr(self, name))
            for name, types in {
                "cuDeviceGetCount": (ctypes.c_void_p,),
                "cuDeviceGet": (ctypes.c_void_p, ctypes.c_int),
                "cuDeviceGetName": (ctypes.c_void_p, ctypes.c_int, ctypes.c_int),
                "cuDeviceTotalMem": (ctypes.c_void_p, ctypes.c_int),
                "cuDeviceGetUuid": (ctypes.c_void_p, ctypes.c_int),
                "cuDeviceGetAttribute": (ctypes.c_void_p, ctypes.c_int, ctypes.c_int),
            }.items()
        }

    def cuDriverGetVersion(self, at):
        at._obj.value = self.version
        return 0

    def cuInit(self, flags):
        return self.init

    def cuGetProcAddress_v2(self, name, at, version, flags, status):
        at._obj.value = ctypes.cast(self.functions[name.decode()], ctypes.c_void_p).value
        return 0

    def cuDeviceGetCount(self, at):
        ctypes.c_int.from_address(at).value = len(self.known)
        return 0

    def cuDeviceGet(self, at, index):
        ctypes.c_int.from_address(at).value = index
        return 0

    def cuDeviceGetName(self, at, size, device):
        name = self.known[device][0].encode()
        ctypes.memmove(at, name + b"\0", len(name) + 1)
        return 0

    def cuDeviceTotalMem(self, at, device):
        ctypes.c_size_t.from_address(at).value = self.known[device][1]
        return 0

    def cuDeviceGetUuid(self, at, device):
        ctypes.memmove(at, bytes(range(16)), 16)
        return 0

    def cuDeviceGetAttribute(self, at, number, device):
        ctypes.c_int.from_address(at).value = self.known[device][2][number == 76]
        return 0


@pytest.fixture
def library(monkeypatch):
    """Puts a library in the driver's place."""
    monkeypatch.delenv(emulation.VARIABLE, raising=False)

    def put(found):
        def load(name):
            if found is None:
                raise OSError(name)
            return found

        monkeypatch.setattr(driver.ctypes, "CDLL", load)

    return put


def test_without_a_driver_the_reason_and_what_to_install(library):
    library(None)
    found = CudaBackend().probe()
    assert isinstance(found, Unavailable)
    assert "there is no CUDA driver here" in found.reason
    assert "version 580 or newer" in found.fix
    assert "realta-opencl" in found.fix


def test_opening_without_a_driver_says_the_same(library):
    library(None)
    with pytest.raises(BackendUnavailable, match=r"no CUDA driver here[\s\S]*where: cuda:3"):
        CudaBackend().open(DeviceInfo(3, "gone"))


@pytest.mark.parametrize(
    ("fake", "reason", "fix"),
    [
        (FakeLibrary(version=12040), "for CUDA 12.4, and kernels are compiled for CUDA 13", "580"),
        (FakeLibrary(init=100), "shows no device (CUDA_ERROR_NO_DEVICE)", "CUDA_VISIBLE_DEVICES"),
        (FakeLibrary(devices=()), "shows no device (CUDA_ERROR_NO_DEVICE)", "--gpus all"),
        (FakeLibrary(init=803), "does not start (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)", "nvidia-smi"),
        (FakeLibrary(init=77), "does not start (error 77)", "nvidia-smi"),
        (
            FakeLibrary(devices=(("GTX 1080", 8 << 30, (6, 1)),)),
            "there is only GTX 1080 (sm_61)",
            "pip install realta-opencl",
        ),
    ],
    ids=["old", "no device", "none visible", "mismatch", "unknown", "old device"],
)
def test_a_driver_that_cannot_be_used(library, fake, reason, fix):
    library(fake)
    found = CudaBackend().probe()
    assert isinstance(found, Unavailable)
    assert reason in found.reason
    assert fix in found.fix


def test_the_devices_of_a_driver(library):
    library(FakeLibrary())
    assert isinstance(load_driver(), Driver)
    (info,) = CudaBackend().probe()
    assert info == DeviceInfo(
        0,
        "NVIDIA H100 PCIe (sm_90)",
        uid="gpu-000102030405060708090a0b0c0d0e0f",
        aliases=("sm_90", "nvidia", "h100", "pcie"),
        kind="accelerator",
        memory_bytes=80 << 30,
    )


def test_old_devices_are_left_out_and_the_others_keep_their_numbers(library):
    library(FakeLibrary(devices=(("old", 1, (6, 1)), ("new", 2, (12, 0)))))
    assert [(info.index, info.name) for info in CudaBackend().probe()] == [(1, "new (sm_120)")]


def test_missing_libraries_are_named(library, monkeypatch):
    library(FakeLibrary())
    monkeypatch.setattr(
        discovery.importlib.util, "find_spec", lambda name: None if "core" in name else object()
    )
    found = CudaBackend().probe()
    assert isinstance(found, Unavailable)
    assert found.reason == "cuda-core cannot be imported"
    assert found.fix == "pip install --upgrade realta-cuda"


def test_the_driver_is_asked_once(library):
    library(None)
    backend = CudaBackend()
    first = backend.probe()
    library(FakeLibrary())
    assert backend.probe() is first


@pytest.mark.parametrize("command", ["import realta_cuda", "import realta; realta.devices()"])
def test_importing_and_listing_touch_no_library_of_nvidia(command):
    program = f"{command}\nimport sys\nprint([n for n in sys.modules if n.startswith('cuda')])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


# -- emulation ------------------------------------------------------------------------------------


def test_emulation_without_the_emulator_says_how_to_build_it(library, monkeypatch):
    library(None)
    monkeypatch.setenv(emulation.VARIABLE, "1")
    monkeypatch.setattr(emulation, "_started", {})
    monkeypatch.setattr(emulation.importlib.util, "find_spec", lambda name: None)
    found = CudaBackend().probe()
    assert isinstance(found, Unavailable)
    assert "realta-cuda-emulator is not installed" in found.reason
    assert "nox -s cuda_emulator" in found.fix
    assert "g++" in found.fix


def test_emulation_beside_a_driver_is_refused(library, monkeypatch):
    library(FakeLibrary())
    monkeypatch.setenv(emulation.VARIABLE, "1")
    monkeypatch.setattr(emulation, "_started", {})
    found = CudaBackend().probe()
    assert isinstance(found, Unavailable)
    assert "this machine has a CUDA driver" in found.reason
    assert "REALTA_CUDA_EMULATE=force" in found.fix


def test_an_emulator_that_does_not_start_is_a_reason(library, monkeypatch):
    class Broken:
        @staticmethod
        def install():
            raise RuntimeError("there is no g++")

    library(None)
    monkeypatch.setenv(emulation.VARIABLE, "1")
    monkeypatch.setattr(emulation, "_started", {})
    monkeypatch.setattr(emulation.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(emulation.importlib, "import_module", lambda name: Broken)
    found = CudaBackend().probe()
    assert isinstance(found, Unavailable)
    assert "RuntimeError: there is no g++" in found.reason


def test_other_values_of_the_variable_are_refused(monkeypatch):
    monkeypatch.setenv(emulation.VARIABLE, "maybe")
    with pytest.raises(ArgumentError, match="0, 1 or force"):
        emulation.wanted()


def test_an_emulated_device_is_a_simulator():
    facts = DeviceFacts(0, "emulated", 1, (9, 0), "00")
    assert discovery._info(facts, emulated=True).kind == "simulator"
    assert discovery._info(facts, emulated=False).kind == "accelerator"
