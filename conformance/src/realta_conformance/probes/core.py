"""Core probes: what a session promises beyond the results of single ops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from realta.graph import Builder, Graph
from realta.ops import get_op
from realta.types import TensorType, as_dtype

from realta_conformance.device import Device
from realta_conformance.probes.memory import resident_bytes
from realta_conformance.probes.probe import Finding, probe

_FLOAT32: Final = as_dtype("float32")
_TURNS: Final = 48
_SIZE: Final = 1 << 20
_ALLOWED: Final = _TURNS * _SIZE * 4 // 3


def _adds(device: Device) -> bool:
    return _FLOAT32 in device.capabilities.ops.get("add", frozenset())


def _sum_of_two(size: int, chain: int = 1) -> Graph:
    builder = Builder("probe")
    x = builder.input(TensorType(_FLOAT32, (size,)), "x")
    y = builder.input(TensorType(_FLOAT32, (size,)), "y")
    value = x
    for _ in range(chain):
        value = builder.add(value, y)
    return builder.finish(value)


@probe("core")
def temporaries(device: Device) -> Iterator[Finding]:
    """Running the same executable again and again needs no more memory than running it once.

    If this fails, check that what a run allocates for itself is freed when the run is over.
    """
    before = resident_bytes()
    if before is None or not _adds(device):
        yield Finding(skipped="no add for float32, or the system does not tell memory use")
        return
    type_ = TensorType(_FLOAT32, (_SIZE,))
    executable = device.compile(_sum_of_two(_SIZE, chain=3))
    array = np.ones(_SIZE, np.float32)
    inputs = [device.upload(array, type_) for _ in range(2)]
    device.free(device.run(executable, inputs, [type_]))
    before = resident_bytes() or 0
    for _ in range(_TURNS):
        device.free(device.run(executable, inputs, [type_]))
    grown = (resident_bytes() or 0) - before
    device.free(inputs)
    executable.close()
    wrong = "" if grown < _ALLOWED else f"{_TURNS} runs left {grown >> 20} MiB behind"
    yield Finding(wrong=wrong)


@probe("core")
def outputs_twice(device: Device) -> Iterator[Finding]:
    """A graph may return an input, and one value twice; every result is a tensor of its own.

    If this fails, check that outputs are copied where the same value is wanted more than once.
    """
    if not _adds(device):
        yield Finding(skipped="no add for float32")
        return
    type_ = TensorType(_FLOAT32, (17,))
    builder = Builder("probe")
    x = builder.input(type_, "x")
    double = builder.add(x, x)
    executable = device.compile(builder.finish(double, x, double))
    array = np.arange(17, dtype=np.float32)
    handle = device.upload(array, type_)
    outputs = device.run(executable, [handle], [type_] * 3)
    wanted = [2 * array, array, 2 * array]
    wrong = [n for n in range(3) if not np.array_equal(device.read(outputs[n], type_), wanted[n])]
    yield Finding("values", f"output {wrong[0]} is wrong" if wrong else "")
    for n, output in enumerate(outputs):
        device.write(output, type_, np.full(17, 100.0 + n, np.float32))
    kept = [
        np.array_equal(device.read(o, type_), np.full(17, 100.0 + n)) for n, o in enumerate(outputs)
    ]
    same = np.array_equal(device.read(handle, type_), array)
    wrong_text = "" if all(kept) and same else "two of them, or one and the input, share memory"
    yield Finding("separate", wrong_text)
    device.free([handle, *outputs])
    executable.close()


@probe("core")
def dead_code(device: Device) -> Iterator[Finding]:
    """Nodes that no output needs do no harm.

    If this fails, check that compiling walks the nodes and not the outputs' operands only.
    """
    if not _adds(device):
        yield Finding(skipped="no add for float32")
        return
    type_ = TensorType(_FLOAT32, (5,))
    builder = Builder("probe")
    x = builder.input(type_, "x")
    builder.input(type_, "unused")
    builder.add(x, x)
    kept = builder.add_node(get_op("add"), (x, x))
    executable = device.compile(builder.finish(kept))
    inputs = [device.upload(np.ones(5, np.float32), type_) for _ in range(2)]
    outputs = device.run(executable, inputs, [type_])
    right = np.array_equal(device.read(outputs[0], type_), np.full(5, 2, np.float32))
    device.free([*inputs, *outputs])
    executable.close()
    yield Finding(wrong="" if right else "the result is wrong")
