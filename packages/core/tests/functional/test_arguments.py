"""Operands: what becomes a tensor, and on which device they meet."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.backend import OpByOpBackend
from realta.backend.reference import ReferenceKernels
from realta.errors import ArgumentError, DeviceError
from realta.plugins import backends, close_devices, register_backend, unregister_backend
from realta.runtime import DeviceInfo


class Apart(OpByOpBackend):
    """The reference backend as two accelerators with memory of their own."""

    name = "apart"
    kernels = ReferenceKernels()

    def probe(self):
        return [DeviceInfo(n, f"apart {n}", kind="accelerator") for n in range(2)]


@pytest.fixture
def apart():
    register_backend(Apart())
    yield "apart:0"
    close_devices()
    unregister_backend("apart")


def test_an_accelerator_takes_numbers_from_the_host(apart):
    x, one = Tensor([1.0, 2.0], device=apart), Tensor(1.0)
    for result in (x + one, one + x, F.where(Tensor(True), x, one), x * 2.5, F.clip(x, one)):
        assert result.device.name == apart
    assert (one + x).tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda x, y, z: x + z, "apart:0 and on reference:0"),
        (lambda x, y, z: z + x, "apart:0 and on reference:0"),
        (lambda x, y, z: x + y, "apart:0 and on apart:1"),
        (lambda x, y, z: F.concat([x, z]), "apart:0 and on reference:0"),
        (lambda x, y, z: F.matmul(z, x), "apart:0 and on reference:0"),
    ],
)
def test_an_accelerator_takes_nothing_else(apart, call, names):
    x, y = Tensor([1.0, 2.0], device=apart), Tensor([1.0, 2.0], device="apart:1")
    with pytest.raises(DeviceError, match=names) as caught:
        call(x, y, Tensor([1.0, 2.0]))
    assert '.to("apart:0")' in caught.value.fix
    assert "test_arguments.py" in caught.value.where


def test_to_moves_in_every_mode(apart):
    x = Tensor([1.0, 2.0])
    expected = [4.0, 6.0]

    def body(t):
        return (t.to(apart) + 1).to("reference:0") * 2

    with realta.lazy():
        pending = body(x)
    for result in (body(x), pending, F.functional(body)(x), realta.compile(body)(x.type)(x)):
        assert result.device.name == "reference:0"
        assert result.tolist() == expected


def test_hosts_mix_on_the_device_of_the_first_operand():
    if "numpy" not in {entry.name for entry in backends()}:
        pytest.skip("there is one host device only")
    x, y = Tensor([1.0], device="numpy:0"), Tensor([2.0], device="reference:0")
    one = Tensor(1.0, device="numpy:0")
    assert (x + y).device.name == "numpy:0"
    assert (y + x).device.name == "reference:0"
    assert (one + y).device.name == "numpy:0"
    assert F.stack([y, x]).device.name == "reference:0"
    assert F.where(Tensor([True]), x, y).device.name == "reference:0"
    assert (x + y).tolist() == [3.0]


def test_the_default_device_decides_each_call():
    if "numpy" not in {entry.name for entry in backends()}:
        pytest.skip("there is one host device only")
    for _ in range(3):
        assert F.zeros(2).device.name == "reference:0"
        with realta.default_device("numpy:0"):
            assert F.zeros(2).device.name == "numpy:0"
            assert F.arange(3).device.name == "numpy:0"
            assert F.add(1, 2).device.name == "numpy:0"
            assert realta.random.uniform().device.name == "numpy:0"
            assert F.ones_like(Tensor(1, device="reference:0")).device.name == "reference:0"
        assert F.arange(3, device="numpy:0").device.name == "numpy:0"


@pytest.mark.parametrize("value", ["text", None, {1: 2}, frozenset()], ids=str)
def test_other_things_are_no_operands(value):
    with pytest.raises(ArgumentError, match="expected a tensor or a number") as caught:
        F.exp(value)
    assert "test_arguments.py" in caught.value.where
    assert "realta.Tensor" in caught.value.fix


def test_arrays_and_numpy_scalars_are_operands():
    assert F.exp(np.zeros(2)).dtype is realta.float64
    assert F.add(np.float32(1), np.float32(2)).dtype is realta.float32
    assert F.concat([np.ones(1), Tensor([1.0])]).tolist() == [1.0, 1.0]
