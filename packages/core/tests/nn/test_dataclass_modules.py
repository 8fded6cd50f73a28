"""module_dataclass: modules from their fields."""

import numpy as np
import pytest
from realta import Tensor, nn
from realta.errors import ArgumentError
from realta.testing import assert_same_bits
from realta.tree import flatten


@nn.module_dataclass
class Scale(nn.Module):
    factor: Tensor
    power: int = 1

    def forward(self, x):
        return x * self.factor**self.power


@nn.module_dataclass(repr=True, kw_only=True)
class Shown(nn.Module):
    inner: Scale


def test_fields_are_arguments_and_the_tree():
    module = Scale(Tensor([3.0]), power=2)
    assert module(Tensor([2.0])).tolist() == [18.0]
    assert list(Shown(inner=module).state_dict()) == ["inner.factor"]
    assert repr(module).startswith("Scale(\n  factor: f32[1]")
    assert repr(Shown(inner=module)).startswith("Shown(inner=Scale(")
    with pytest.raises(TypeError):
        Shown(module)


def test_modules_are_compared_by_identity():
    first, second = Scale(Tensor([1.0])), Scale(Tensor([1.0]))
    assert first != second
    assert len({first, second}) == 2


def test_a_module_is_one_leaf_of_a_tree():
    module = Scale(Tensor([1.0]))
    assert flatten([module, 1])[0] == [module, 1]


def test_it_compiles():
    module = Scale(Tensor([3.0]))
    x = Tensor(np.float32([1, 2]))
    assert_same_bits(module.compile(x.type)(x), module(x))


def test_other_classes_are_refused(masked):
    with pytest.raises(ArgumentError) as caught:

        @nn.module_dataclass
        class Plain:
            pass

    assert "module_dataclass is for subclasses of Module, got <class" in str(caught.value)
    assert caught.value.fix == "write class Name(nn.Module), or use dataclasses.dataclass"
