"""Installing the stand-in: where it is refused and what the environment says about it."""

import os
import shutil
import subprocess
import sys

import pytest
import realta_cuda_emulator as emulator
from realta_cuda_emulator import settings, standin, toolchain
from realta_cuda_emulator.building import driver_library


@pytest.fixture
def fresh(monkeypatch):
    """A process in which nothing is installed, as far as the module knows."""
    monkeypatch.setattr(standin, "_loaded", {})
    for name in ("", "_ORDER", "_STREAMS", "_CHECK", "_ARCH", "_DEVICES", "_MEMORY"):
        monkeypatch.delenv(settings.PREFIX + name, raising=False)


def test_without_a_build_the_error_says_how_to_build(fresh, monkeypatch, tmp_path):
    monkeypatch.setattr(standin, "driver_library", lambda: tmp_path / "libcuda.so.1")
    with pytest.raises(emulator.EmulatorError, match="is not built") as caught:
        emulator.install()
    assert "python -m realta_cuda_emulator build" in caught.value.fix
    assert "nox -s cuda_emulator" in caught.value.fix
    assert "g++" in caught.value.fix


def test_without_gxx_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(toolchain.shutil, "which", lambda name: None)
    toolchain.compiler.cache_clear()
    try:
        with pytest.raises(emulator.EmulatorError, match=r"needs g\+\+") as caught:
            toolchain.compiler()
    finally:
        toolchain.compiler.cache_clear()
    assert "apt-get install g++" in caught.value.fix


@pytest.mark.skipif(not shutil.which("g++"), reason="the emulator needs g++")
def test_a_real_driver_is_not_hidden_unless_forced(fresh, monkeypatch, tmp_path):
    (tmp_path / "libcuda.so.1").write_bytes(b"")
    monkeypatch.setattr(standin, "driver_library", lambda: tmp_path / "libcuda.so.1")
    monkeypatch.setattr(standin, "_NAME", "libcuda-of-no-one.so.1")
    (tmp_path / "libcuda-of-no-one.so.1").write_bytes(b"")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    monkeypatch.setenv(settings.PREFIX, "1")
    with pytest.raises(emulator.EmulatorError, match="there is a real CUDA driver") as caught:
        emulator.install()
    assert "REALTA_CUDA_EMULATE=force" in caught.value.fix
    monkeypatch.setenv(settings.PREFIX, "force")
    with pytest.raises(OSError, match="file too short"):  # it goes on and loads the stand-in
        emulator.install()


def test_a_driver_that_is_loaded_already_is_not_replaced(fresh, started):
    with pytest.raises(emulator.EmulatorError, match="a CUDA driver is loaded already"):
        emulator.install()


def test_nothing_can_be_steered_that_is_not_installed(fresh):
    with pytest.raises(emulator.EmulatorError, match="is not installed"):
        emulator.reset()


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        ({}, {"order": 0}),
        ({"_ORDER": "reversed", "_STREAMS": "lazy"}, {"order": 1, "lazy": 1}),
        ({"_ORDER": "41", "_STREAMS": "skip"}, {"order": 42, "skip": 1}),
        ({"_ARCH": "100", "_DEVICES": "2", "_MEMORY": "1000"},
         {"order": 0, "architecture": 100, "devices": 2, "memory_total": 1000}),
    ],
)  # fmt: skip
def test_what_the_environment_says(fresh, monkeypatch, variables, found):
    for name, value in variables.items():
        monkeypatch.setenv(settings.PREFIX + name, value)
    assert settings.configuration() == found


@pytest.mark.parametrize(
    ("name", "value"), [("_ORDER", "sideways"), ("_STREAMS", "fast"), ("_MEMORY", "-1")]
)
def test_values_that_mean_nothing_are_refused(fresh, monkeypatch, name, value):
    monkeypatch.setenv(settings.PREFIX + name, value)
    with pytest.raises(emulator.EmulatorError) as caught:
        settings.configuration()
    assert caught.value.where == f"environment variable {settings.PREFIX}{name}"
    assert repr(value) in caught.value.what


def test_checks_are_on_or_off(monkeypatch):
    for value, found in (("on", True), ("off", False), ("", False)):
        monkeypatch.setenv("REALTA_CUDA_EMULATE_CHECK", value)
        assert settings.checked() is found
    monkeypatch.setenv("REALTA_CUDA_EMULATE_CHECK", "yes")
    with pytest.raises(emulator.EmulatorError, match="off or on"):
        settings.checked()


PROGRAM = """
import ctypes, realta_cuda_emulator
realta_cuda_emulator.install()
realta_cuda_emulator.install()
library = ctypes.CDLL("libcuda.so.1")
count = ctypes.c_int()
assert library.cuInit(0) == 0 and library.cuDeviceGetCount(ctypes.byref(count)) == 0
from cuda.core import Device
devices = [Device(number) for number in range(count.value)]
print([device.arch for device in devices])
devices[1].set_current()
buffer = devices[1].allocate(64, stream=devices[1].create_stream())
print(buffer.size, devices[1].memory_resource.device_id)
"""


def test_another_process_gets_the_devices_it_asks_for(started):
    variables = {"_ARCH": "75", "_DEVICES": "2"}
    environment = {**os.environ, **{settings.PREFIX + k: v for k, v in variables.items()}}
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=60
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.split("\n")[:2] == ["['75', '75']", "64 1"]
    assert driver_library().name == "libcuda.so.1"


def test_the_command_line(started):
    command = [sys.executable, "-m", "realta_cuda_emulator"]
    found = subprocess.run([*command, "where"], capture_output=True, text=True, timeout=60)
    assert found.stdout.strip() == str(driver_library())
    wrong = subprocess.run([*command, "sanitize", "/none"], capture_output=True, text=True)
    assert wrong.returncode == 1
    assert "no launches are recorded in /none" in wrong.stderr
