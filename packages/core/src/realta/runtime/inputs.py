"""Inputs: what a caller passes to a program, checked and brought to where it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from realta.errors import ArgumentError
from realta.graph import Graph
from realta.runtime.launch import Launch
from realta.runtime.steps import Port
from realta.runtime.storage import Storage
from realta.types import TensorType

__all__ = ["input_bytes", "prepared", "unread_launches"]

COPIED_BYTES: Final = 4096
"""Arrays up to this size are copied and adopted, where a session can, rather than written."""


def prepared(inputs: Sequence[Any], ports: Sequence[Port], source: Graph) -> list[Storage]:
    """The inputs as storages on their devices.

    Raises:
        ArgumentError: a wrong number of inputs, or one of a wrong type.
        ExecutionError, IndexBoundsError, RealizationError: one is poisoned or was donated.
        OutOfMemory: a copy does not fit.
    """
    if len(inputs) != len(ports):
        raise ArgumentError(
            f"the graph {source.name!r} takes {len(ports)} input(s), got {len(inputs)}"
        )
    return [_one(n, x, port, source) for n, (x, port) in enumerate(zip(inputs, ports, strict=True))]


def _one(number: int, value: Any, port: Port, source: Graph) -> Storage:
    if isinstance(value, Storage):
        value.check()
        if value.type is not port.type and not _same(value.type, port.type):
            raise _misfit(number, str(value.type), port, source)
        return value if value.device is port.device else port.device.copy(value)
    array = np.asarray(value)
    if array.dtype != port.type.dtype.numpy or array.shape != port.type.shape:
        given = f"an array of {array.dtype} and shape {array.shape}"
        raise _misfit(number, given, port, source)
    if array.nbytes <= COPIED_BYTES:
        return port.device.adopt(array.copy())
    return port.device.upload(array, port.type)


def _same(first: TensorType, second: TensorType) -> bool:
    return first.dtype is second.dtype and first.shape == second.shape


def _misfit(number: int, given: str, port: Port, source: Graph) -> ArgumentError:
    name = source.input_name(source.inputs[number])
    named = f"%{name}" if name else f"number {number}"
    return ArgumentError(
        f"input {named} of the graph {source.name!r} is {port.type}, got {given}",
        fix="cast, reshape or move it before the call",
    )


def input_bytes(value: Any) -> int:
    """Bytes of an input, given as a storage or an array."""
    return value.type.nbytes if isinstance(value, Storage) else int(np.asarray(value).nbytes)


def unread_launches(inputs: Sequence[Storage]) -> list[Launch]:
    """The launches behind inputs whose bounds statuses are unread, each once."""
    found = {id(x.launch): x.launch for x in inputs if x.launch is not None}
    return [launch for launch in found.values() if not launch.known]
