"""Shared by the tests of several layers: short ways to write graphs."""

import pytest
from realta.graph import Builder
from realta.types import BY_SHORT, tensor_type


@pytest.fixture
def write():
    """``write(f32=(2, 3), i32=())``: a builder and one input for each dtype with that shape."""

    def start(**types):
        builder = Builder("test")
        inputs = [
            builder.input(tensor_type(BY_SHORT[short], shape), name=f"x{n}")
            for n, (short, shape) in enumerate(types.items())
        ]
        return builder, *inputs

    return start
