"""Signatures: what a compiled function takes."""

import realta
from realta import Tensor


def test_an_alias_in_a_type_is_the_device_it_stands_for():
    kind = realta.TensorType("float32", (2,), "cpu")
    program = realta.compile(lambda x: x + x)(kind)
    assert program.staged.types[0].device == realta.Device("cpu").name
    assert program(Tensor([1.0, 2.0], device="cpu")).tolist() == [2.0, 4.0]
