"""Devices, defaults and weak scalars as tensors see them (spec 3)."""

import pickle

import numpy as np
import pytest
import realta
from realta import F, Tensor, lazy
from realta.backend import DeviceInfo, OpByOpBackend
from realta.backend.reference import ReferenceKernels
from realta.errors import DeviceError, ScalarOverflowError
from realta.plugins import close_devices, register_backend, unregister_backend
from realta.realization_context import EagerRealizationContext
from realta.tensor import default_device, default_dtype, defaults, defaults_like
from realta.types import as_dtype


class Other(OpByOpBackend):
    kernels = ReferenceKernels()

    def __init__(self, name, kind):
        self.name = name
        self.kind = kind

    def probe(self):
        return tuple(DeviceInfo(n, f"{self.name} {n}", kind=self.kind) for n in range(2))


@pytest.fixture(autouse=True)
def _others():
    for name, kind in (("host", "host"), ("fast", "accelerator")):
        register_backend(Other(name, kind))
    yield
    for name in ("host", "fast"):
        close_devices(name)
        unregister_backend(name)


def run_modes(build):
    with lazy():
        lazily = build()
    with EagerRealizationContext():
        region = build()
    return [build(), lazily, region]


def test_host_devices_mix_on_the_first_operands_device():
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0], device="host:0")
    for first, second, device in ((x, y, "reference:0"), (y, x, "host:0")):
        for found in run_modes(lambda a=first, b=second: a + b):
            assert found.device.name == device
            assert found.tolist() == [4, 6]


def test_zero_dimensional_host_tensors_go_everywhere():
    x, scale = Tensor([1.0, 2.0], device="fast:0"), Tensor(2.0)
    for build in (lambda: x * scale, lambda: scale * x):
        for found in run_modes(build):
            assert found.device.name == "fast:0"
            assert found.tolist() == [2, 4]


@pytest.mark.parametrize("pair", [("fast:0", "reference:0"), ("fast:0", "fast:1")])
def test_other_devices_do_not_mix(pair, masked):
    first, second = pair
    x, y = Tensor([1.0], device=first), Tensor([1.0], device=second)
    with pytest.raises(DeviceError) as caught:
        x + y
    assert caught.value.what == f"add got tensors on {first} and on {second}"
    assert __file__ in caught.value.where
    assert f'move one of them, as in t.to("{first}")' in caught.value.fix
    assert (x + y.to(first)).item() == 2


def test_to_is_an_op_and_a_graph_with_it_is_cut(each_device):
    x = Tensor([1.0, 2.0])

    def f(x):
        return (x.to("host:0") * 2).to(each_device) + x

    for found in (*run_modes(lambda: f(x)), realta.compile(f)(x.type)(x)):
        assert found.device.name == each_device
        assert found.tolist() == [3, 6]


def test_to_the_same_device_gives_a_new_handle():
    x = Tensor([1.0])
    y = x.to("reference:0")
    y[0] = 5.0
    assert x.item() == 1


def test_default_device_of_creation():
    with default_device("host:1") as device:
        assert str(device) == "host:1"
        made = [Tensor([1.0]), F.zeros((2,)), realta.random.uniform((2,)), F.arange(3)]
        with default_device("host:0"):
            assert Tensor([1.0]).device.name == "host:0"
        assert {t.device.name for t in made} == {"host:1"}
    assert Tensor([1.0]).device.name == "reference:0"
    with default_device("host:1"), lazy():
        t = F.ones((2,))
    assert t.tolist() == [1, 1]
    assert t.device.name == "host:1"


def test_defaults_like_and_defaults():
    x = Tensor([1.0], dtype="float64", device="host:1")
    with defaults_like(x) as (dtype, device):
        assert (dtype, device.name) == (realta.float64, "host:1")
        assert F.zeros((1,)).type is x.type
        assert defaults() == (realta.float64, realta.Device("host:1"))
        assert defaults("float16")[0] is realta.float16
    with default_dtype("bfloat16"):
        assert F.zeros((1,)).dtype is realta.bfloat16
        assert defaults(device="host:0") == (realta.bfloat16, realta.Device("host:0"))


def test_default_device_holds_in_its_thread_and_process_default_everywhere():
    import threading

    found = []
    with default_device("host:1"):
        thread = threading.Thread(target=lambda: found.append(Tensor([1.0]).device.name))
        thread.start()
        thread.join()
    assert found == ["reference:0"]


def test_unpickling_on_a_missing_host_lands_on_cpu_with_one_warning():
    data = pickle.dumps(Tensor([1.0, 2.0], device="host:1"))
    close_devices("host")
    unregister_backend("host")
    with pytest.warns(RuntimeWarning, match="host:1 is not usable here"):
        first = pickle.loads(data)
    second = pickle.loads(data)  # a second warning would be an error
    assert first.tolist() == second.tolist() == [1, 2]
    assert first.device == realta.CPU()


WEAK = [
    ("int8", 1, "int8"), ("int8", True, "int8"), ("uint8", 255, "uint8"), ("int32", 2.0, "float32"),
    ("bfloat16", 0.5, "bfloat16"), ("bfloat16", 3, "bfloat16"), ("bool", 1, "int64"),
    ("bool", True, "bool"), ("bool", 1.5, "float32"), ("float16", np.float64(1.5), "float16"),
    ("float16", np.float32(1.5), "float32"), ("int64", 0.5, "float32"),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "scalar", "result"), WEAK)
def test_weak_scalars_take_the_tensors_dtype(dtype, scalar, result):
    x = Tensor([0, 1]).cast(dtype)
    for found in (*run_modes(lambda: x + scalar), *run_modes(lambda: scalar + x)):
        assert found.dtype is as_dtype(result)


def test_integers_that_do_not_fit_overflow_and_compare_exactly(masked):
    x = Tensor([1, 255], dtype="uint8")
    with pytest.raises(OverflowError) as caught:
        x + 256
    assert isinstance(caught.value, ScalarOverflowError)
    assert "256" in caught.value.what
    assert "add(" in caught.value.where
    assert __file__ in caught.value.where
    assert (x < 256).tolist() == [True, True]
    assert (x == -1).tolist() == [False, False]
    assert (x > 2**70).tolist() == [False, False]


def test_a_changing_number_does_not_recompile():
    x = Tensor([1.0, 2.0])
    programs = realta.plugins.open_device("reference:0").programs
    x * 0.123
    before = programs.stats()
    for n in range(20):
        assert (x * (n + 0.123)).numpy()[0] == np.float32(n + 0.123)
        with lazy():
            y = x * (n + 0.123) + 1
        y.realize()
    assert programs.stats().misses <= before.misses + 1
