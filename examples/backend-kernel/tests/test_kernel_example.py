"""The kernel example: its size, that it is found, computes, fuses, and reports what fails."""

import os
import shutil
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest
import realta
import realta_kernel_example
from realta import F
from realta.backend import CompilationError, DeviceInfo, Unavailable

SOURCE = Path(realta_kernel_example.__file__)
DEVICE = DeviceInfo(0, "generated C", kind="host")


@pytest.fixture
def device():
    if realta_kernel_example.compiler() is None:
        if os.environ.get("CI") == "true":
            pytest.fail("a C compiler is missing")
        pytest.skip("there is no C compiler")
    return "kernel_example"


def test_it_has_at_most_150_lines():
    assert len(SOURCE.read_text().splitlines()) <= 150


def test_it_is_found_by_its_entry_point():
    (entry,) = entry_points(group="realta.backends.v1", name="kernel_example")
    assert entry.value == "realta_kernel_example"


def test_it_computes(device):
    x = realta.Tensor(np.arange(40, dtype=np.float32).reshape(5, 8), device=device)
    assert str((x + x).device) == "kernel_example:0"
    assert F.sum(x, axis=1).tolist() == [28.0, 92.0, 156.0, 220.0, 284.0]
    assert F.argmax(x * -1, axis=0).tolist() == [0] * 8


def test_a_region_has_the_bits_of_its_ops(device):
    x = realta.Tensor(np.random.default_rng(0).normal(size=(33, 70)).astype("f4"), device=device)

    def formula(x):
        return F.exp(x * 2.0 + 1.0) / F.sum(F.exp(x), axis=1, keepdims=True)

    fused = F.functional(formula)(x).numpy()
    assert fused.tobytes() == formula(x).numpy().tobytes()


def test_without_a_compiler_it_says_so(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    found = realta_kernel_example.KernelExample().probe()
    assert isinstance(found, Unavailable)
    assert "no C compiler" in found.reason


def test_what_does_not_build_shows_its_source_and_log(device):
    session = realta_kernel_example.KernelExample().open(DEVICE)
    with pytest.raises(CompilationError) as caught:
        session.build("int broken(void) { return nothing; }", [])
    assert "nothing" in caught.value.log
    assert "int broken" in str(caught.value)
