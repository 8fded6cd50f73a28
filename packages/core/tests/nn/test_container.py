"""ModuleList and Sequential: modules by number."""

import copy

import numpy as np
import pytest
from realta import F, Tensor, nn
from realta.testing import assert_same_bits


def test_parameters_are_named_by_position():
    layers = nn.ModuleList([nn.Linear(2, 3), F.relu, nn.Linear(3, 1, bias=False)])
    assert list(layers.state_dict()) == ["0.weight", "0.bias", "2.weight"]
    assert [name for name, _ in layers.children] == ["0", "2"]
    model = nn.Module()
    model.blocks = layers
    assert list(model.state_dict()) == ["blocks.0.weight", "blocks.0.bias", "blocks.2.weight"]


def test_it_is_a_list():
    first, second, third = (nn.Linear(1, 1) for _ in range(3))
    layers = nn.ModuleList([first]).append(second).extend([third])
    assert len(layers) == 3
    assert list(layers) == [first, second, third]
    assert layers[-1] is third
    layers.insert(0, third)
    layers[1] = second
    assert list(layers) == [third, second, second, third]
    assert list(layers.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    del layers[2:]
    assert list(layers) == [third, second]
    with pytest.raises(NotImplementedError):
        layers(Tensor([1.0]))


def test_a_part_shares_its_layers():
    model = nn.Sequential(nn.Linear(3, 2), F.relu, nn.Linear(2, 2))
    head = model[:2]
    assert type(head) is nn.Sequential
    assert head[0] is model[0]
    x = Tensor(np.float32([[1, -2, 3]]))
    assert_same_bits(head(x), F.relu(model[0](x)))
    head.append(F.neg)
    assert len(model) == 3


def test_further_attributes_are_part_of_the_tree():
    class Scaled(nn.Sequential):
        def __init__(self, *layers):
            super().__init__(*layers)
            self.scale = Tensor([2.0])

        def forward(self, x):
            return super().forward(x) * self.scale

    model = Scaled(nn.Linear(1, 1))
    assert list(model.state_dict()) == ["0.weight", "0.bias", "scale"]
    other = copy.deepcopy(model)
    assert other[0] is not model[0]
    assert_same_bits(other(Tensor([[3.0]])), model(Tensor([[3.0]])))
