import threading
from types import SimpleNamespace

import pytest
from realta.errors import BackendNotFound, DTypeError
from realta.plugins import (
    Device,
    current_device,
    current_dtype,
    default_device,
    default_dtype,
    defaults,
    defaults_like,
    resolve_device_name,
    set_default_device,
    set_default_dtype,
)
from realta.types import bfloat16, float16, float32, float64, int32


@pytest.fixture(autouse=True)
def unset():
    yield
    set_default_device(None)
    set_default_dtype(None)


def test_without_a_choice_it_is_cpu_and_float32():
    assert current_device() == resolve_device_name("cpu")
    assert current_dtype() is float32


def test_the_innermost_choice_counts(monkeypatch):
    monkeypatch.setenv("REALTA_DEVICE", "reference")
    assert current_device() == "reference:0"
    with default_device("reference:0") as device, default_dtype("float64") as dtype:
        assert (device, dtype) == (Device("reference"), float64)
        assert (current_device(), current_dtype()) == ("reference:0", float64)
        with default_dtype(bfloat16):
            assert current_dtype() is bfloat16
        assert current_dtype() is float64
    assert current_dtype() is float32


def test_process_wide_choices_are_below_blocks_and_above_the_environment(monkeypatch):
    monkeypatch.setenv("REALTA_DEVICE", "no-such-device")
    set_default_device(Device("reference"))
    set_default_dtype(float16)
    assert (current_device(), current_dtype()) == ("reference:0", float16)
    with default_dtype(float64):
        assert current_dtype() is float64
    found = []
    thread = threading.Thread(target=lambda: found.append(current_dtype()))
    thread.start()
    thread.join()
    assert found == [float16]


def test_a_block_does_not_reach_other_threads():
    found = []
    with default_dtype(float64):
        thread = threading.Thread(target=lambda: found.append(current_dtype()))
        thread.start()
        thread.join()
    assert found == [float32]


def test_a_block_that_an_exception_leaves_is_undone():
    with pytest.raises(ZeroDivisionError), default_dtype(float64):
        raise ZeroDivisionError
    assert current_dtype() is float32


def test_defaults_fill_in_what_is_not_given():
    with default_dtype(float64), default_device("reference"):
        assert defaults() == (float64, Device("reference"))
        assert defaults(int32) == (int32, Device("reference"))


def test_defaults_like_takes_both_from_a_tensor():
    tensor = SimpleNamespace(dtype=float16, device=Device("reference"))
    with defaults_like(tensor) as found:
        assert found == (float16, Device("reference"))
        assert (current_dtype(), current_device()) == (float16, "reference:0")


@pytest.mark.parametrize("dtype", ["int32", "bool"])
def test_only_floats_can_be_the_default(dtype):
    for choose in (set_default_dtype, lambda d: default_dtype(d).__enter__()):
        with pytest.raises(DTypeError) as caught:
            choose(dtype)
        assert str(caught.value) == (
            f"the default dtype is a floating-point one, got {dtype}\n"
            "  fix: pass dtype= to the creation function for integers and bools"
        )


def test_an_unknown_default_device_is_refused_at_once():
    with pytest.raises(BackendNotFound, match="'nowhere'"):
        set_default_device("nowhere")
