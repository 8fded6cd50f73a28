"""Dependence: equal keys only where calls record the same."""

import enum
import functools
from dataclasses import dataclass

import numpy as np
import pytest
import realta
from realta import F, Tensor, nn
from realta.compilation.dependence import Dependence


def key(*values):
    needs = Dependence()
    for value in values:
        needs.add(value)
    return needs.key


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass
class Point:
    x: float
    y: float

    def sum(self):
        return self.x + self.y


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


def closure(value, default=0):
    def function(x, y=default):
        return x, y, value

    return function


EQUAL = {
    "numbers": lambda: (1, 2.5, "a", None, True, b"x"),
    "nan": lambda: float("nan"),
    "containers": lambda: [(1, [2]), {"a": {"b": ()}}],
    "arrays": lambda: np.arange(3),
    "scalars": lambda: np.float32(2),
    "dtypes": lambda: [realta.float32, realta.Device("reference:0"), realta.types.Dim("n + 1")],
    "enums": lambda: Colour.RED,
    "objects": lambda: Point(1.0, 2.0),
    "slots": lambda: Slotted(3),
    "closures": lambda: closure(1),
    "methods": lambda: Point(1.0, 2.0).sum,
    "partials": lambda: functools.partial(closure(1), 2, y=3),
    "modules": lambda: nn.Sequential(nn.LayerNorm(3), F.relu),
    "functions of this library": lambda: F.softmax,
    "types": lambda: [int, np, len, np.add],
}


@pytest.mark.parametrize("kind", EQUAL)
def test_equal(kind, reference):
    make = EQUAL[kind]
    assert key(make()) == key(make())


DIFFERENT = [
    (1, 1.0), (1, True), (0.0, -0.0), (1, "1"), ((1,), [1]), ([1, [2]], [1, 2]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (np.arange(3), np.arange(3.0)),
    (np.zeros((2, 3)), np.zeros((3, 2))), (np.zeros(2), np.float64([0.0, -0.0])),
    (Colour.RED, Colour.BLUE), (Point(1.0, 2.0), Point(1.0, 3.0)), (Slotted(1), Slotted(2)),
    (closure(1), closure(2)), (closure(1), closure(1, 5)), (int, float), (F.relu, F.gelu),
    (object(), object()), ({1, 2}, {1, 2}), (Point(1.0, 2.0), [1.0, 2.0]),
    (functools.partial(len, 1), functools.partial(len, 2)), ((), None), (..., None),
    (slice(1), slice(2)),
]  # fmt: skip


@pytest.mark.parametrize("pair", DIFFERENT, ids=range(len(DIFFERENT)))
def test_different(pair):
    assert key(pair[0]) != key(pair[1])


def test_tensors_count_by_type_and_by_which_are_the_same(reference):
    a, b, c = Tensor([1.0]), Tensor([2.0]), Tensor([1])
    assert key([a, b]) == key([b, a])
    assert key([a, b]) != key([a, a])
    assert key([a, b]) != key([a, c])
    needs = Dependence()
    needs.add([a, {"x": b}, a, c])
    assert [t is u for t, u in zip(needs.tensors, [a, b, c], strict=True)] == [True] * 3


def test_cycles_and_depth(reference):
    first, second = Point(1.0, None), Point(1.0, None)
    first.y, second.y = first, second
    assert key(first) == key(second)
    other = Point(1.0, Point(1.0, None))
    assert key(first) != key(other)
    deep = []
    for _ in range(5000):
        deep = [deep]
    assert len(key(deep)) == 5001


VALUE = 1


def test_globals_of_functions(monkeypatch):
    def uses():
        return [VALUE for _ in range(3)]

    before = key(uses)
    assert before == key(uses)
    monkeypatch.setattr(f"{__name__}.VALUE", 2)
    assert before != key(uses)


def test_globals_of_forward(monkeypatch, reference):
    class Layer(nn.Module):
        def forward(self, x):
            return x * VALUE

    before = key(Layer())
    assert before == key(Layer())
    monkeypatch.setattr(f"{__name__}.VALUE", 2)
    assert before != key(Layer())
