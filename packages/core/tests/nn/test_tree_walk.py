"""Buffers: tensors of a module that are no parameters."""

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType, nn
from realta.errors import ArgumentError
from realta.testing import assert_same_bits


class Counter(nn.Module):
    """Adds up what it sees."""

    def __init__(self):
        self.scale = Tensor([2.0])
        self.register_buffer("total", F.zeros(1))
        self.register_buffer("calls", F.zeros((), dtype="int64"), persistent=False)

    def forward(self, x):
        self.total[...] = self.total + x * self.scale
        self.calls[...] = self.calls + 1
        return self.total * 1


def test_buffers_are_no_parameters_and_persistent_ones_belong_to_the_state():
    outer = nn.Module()
    outer.inner = Counter()
    assert [name for name, _ in outer.parameters] == ["inner.scale"]
    assert [name for name, _ in outer.buffers] == ["inner.total", "inner.calls"]
    assert [name for name, _ in outer.inner.local_parameters] == ["scale"]
    assert list(outer.state_dict()) == ["inner.scale", "inner.total"]
    outer.load_state_dict({"inner.scale": np.float32([3]), "inner.total": np.float32([4])})
    assert outer.inner.total.tolist() == [4]
    with pytest.raises(ArgumentError, match="unknown"):
        outer.load_state_dict({**outer.state_dict(), "inner.calls": 1})


def test_maps_leave_buffers_and_moves_take_them():
    module = Counter().map_parameters(lambda name, p: p * 0)
    module.register_buffer("ones", F.ones(2))
    assert module.scale.tolist() == [0]
    assert module.ones.tolist() == [1, 1]
    with realta.lazy():
        module = Counter()
    module.to("reference:0")
    assert not module.total.is_real


def test_a_compiled_call_moves_buffers(each_device):
    module = Counter()
    compiled = module.compile(TensorType("float32", (1,)))
    x = Tensor([1.5])
    assert [compiled(x).tolist() for _ in range(3)] == [[3.0], [6.0], [9.0]]
    assert (module.total.tolist(), module.calls.item()) == ([9.0], 3)
    module.total[...] = 1.0
    assert compiled(x).tolist() == [4.0]
    assert_same_bits(module(x), np.float32([7.0]))


def test_unrealized_buffers_are_stored_to_as_well():
    with realta.lazy():
        module = Counter()
    compiled = module.compile(TensorType("float32", (1,)))
    assert not module.total.is_real
    assert compiled(Tensor([1.0])).tolist() == [2.0]
    assert compiled(Tensor([1.0])).tolist() == [4.0]
    assert module.calls.item() == 2


def test_a_buffer_may_be_replaced_by_another_tensor():
    module = Counter()
    module.total = Tensor([5.0])
    assert list(dict(module.buffers)) == ["total", "calls"]
    module.total = None
    assert list(dict(module.buffers)) == ["calls"]


@pytest.mark.parametrize(("name", "value"), [("a.b", Tensor([1.0])), ("a", 1.0)])
def test_wrong_buffers(name, value, masked):
    with pytest.raises(ArgumentError) as caught:
        nn.Module().register_buffer(name, value)
    assert masked(caught.value) == (
        f"a buffer has the name of an attribute and is a tensor, got {name!r} and "
        f"{type(value).__name__}\n"
        "  where: register_buffer of Module at HERE\n"
        '  fix: write self.register_buffer("mean", realta.zeros(3))'
    )


def test_the_device_of_a_module():
    assert nn.Linear(1, 1, device="reference:0").device == realta.Device("reference:0")
    assert nn.Module().device == realta.Device("reference:0")
