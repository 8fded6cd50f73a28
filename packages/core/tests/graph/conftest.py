"""Graphs that several tests look at."""

import pytest
from realta.graph import Builder, Graph
from realta.types import TensorType


@pytest.fixture
def linear() -> Graph:
    """The example of the spec."""
    b = Builder("linear")
    x = b.input(TensorType("float32", ("batch", 4)), "x")
    w = b.input(TensorType("float32", (3, 4)), "w")
    bias = b.input(TensorType("float32", (3,)), "b")
    y = b.matmul(x, b.permute(w, axes=(1, 0)))
    return b.finish(b.add(y, b.broadcast(bias, shape=y.type.shape)))


@pytest.fixture
def chain() -> Graph:
    """300 000 ops, each reading the one before."""
    b = Builder("chain")
    value = b.input(TensorType("float32", (4,)), "x")
    for _ in range(300_000):
        value = b.sin(value)
    return b.finish(value)
