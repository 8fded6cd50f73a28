"""The kernel interpreter as a device: listed, never chosen for cpu, exact, and it finds races."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.backend.interp import Interp, InterpSession
from realta.codegen import CPU_PROFILE
from realta.errors import ArgumentError
from realta.plugins import close_devices, devices, resolve_device_name
from realta.runtime import resolve_device


@pytest.fixture(autouse=True)
def closed():
    yield
    close_devices("interp")


def test_it_is_listed_and_never_the_default():
    assert "interp:0" in [device.name for device in devices()]
    assert resolve_device_name("cpu") != "interp:0"
    assert resolve_device_name("interp") == "interp:0"


def test_it_computes_in_every_mode():
    x = np.linspace(-3, 3, 60, dtype=np.float32).reshape(4, 15)
    eager = F.softmax(Tensor(x, device="interp") * 2 + 1, axis=1)
    with realta.lazy():
        lazy = F.softmax(Tensor(x, device="interp") * 2 + 1, axis=1)
    shifted = np.exp(2 * x - (2 * x).max(1, keepdims=True))
    assert np.allclose(eager.numpy(), shifted / shifted.sum(1, keepdims=True), atol=1e-6)
    assert (eager.numpy().view(np.int32) == lazy.numpy().view(np.int32)).all()


def test_kernels_are_shown_as_kernel_ir():
    with realta.lazy():
        y = F.exp(Tensor([1.0, 2.0], device="interp")) + 1
    y.numpy()
    programs = resolve_device("interp:0").programs._programs.values()
    (kernel,) = next(iter(programs)).kernels
    assert kernel.name == "exp_add_0"
    assert "exp" in kernel.source
    assert not kernel.host


@pytest.mark.parametrize("name", ["cpu", "gpu"])
def test_both_profiles_can_be_asked_for(monkeypatch, name):
    monkeypatch.setenv("REALTA_INTERP_PROFILE", name)
    session = Interp().open(Interp().probe()[0])
    assert session.profile.name == name
    assert not session.host_contractions
    x = Tensor(np.arange(1000, dtype=np.float32), device="interp")
    assert F.sum(x).item() == 499500


def test_a_profile_that_does_not_exist_is_refused(monkeypatch):
    monkeypatch.setenv("REALTA_INTERP_PROFILE", "tpu")
    with pytest.raises(ArgumentError, match="there is no profile 'tpu'"):
        Interp().open(Interp().probe()[0])


def test_memory_that_the_system_does_not_give_is_out_of_memory():
    with pytest.raises(MemoryError):
        InterpSession(CPU_PROFILE).allocate(1 << 62)
