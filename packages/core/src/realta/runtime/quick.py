"""Quick call: the shortest way through a program that is one small launch on a host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from realta.runtime.inputs import COPIED_BYTES
from realta.runtime.steps import LaunchStep, Port
from realta.runtime.storage import Storage
from realta.runtime.units import SMALL_BYTES

__all__ = ["Quick", "direct_call", "quick_call"]

Quick = Callable[[Sequence[Any]], "list[Storage] | None"]
"""Runs on inputs that are all as they have to be; None if one is not, and nothing has run."""


def direct_call(step: LaunchStep | None) -> Callable[..., Any] | None:
    """The executable's own ``direct`` where a launch is small and any thread may call it."""
    if step is None or step.guard is not None or step.device.is_async:
        return None
    small = sum([output.nbytes for output in step.outputs]) <= SMALL_BYTES
    return getattr(step.executable, "direct", None) if small else None


def quick_call(step: LaunchStep, ports: Sequence[Port], direct: Callable[..., Any]) -> Quick:
    """The quick call of a program. All it needs is bound here once, not looked up at each run."""
    device = step.device
    counted = step.counted
    adopt = getattr(device.session, "adopt", None)
    expected = [(port.type, port.type.dtype.numpy, port.type.shape) for port in ports]
    arity = len(expected)
    types = [output.type for output in step.outputs]
    only = types[0] if len(types) == 1 else None
    array_type = np.ndarray

    def quick(inputs: Sequence[Any]) -> list[Storage] | None:
        if device.lost is not None or len(inputs) != arity:
            return None
        handles = []
        for value, (type, dtype, shape) in zip(inputs, expected, strict=True):
            if value.__class__ is Storage:
                if value.type is not type or value.launch is not None:
                    return None
                handles.append(value.handle)
            elif (
                adopt is not None
                and value.__class__ is array_type
                and value.dtype == dtype
                and value.shape == shape
                and value.nbytes <= COPIED_BYTES
            ):
                # A copy of our own: a result may be a view of it, and the caller may go on writing.
                handles.append(adopt(value.copy()))
            else:
                return None
        result = direct(*handles)
        device.launched += counted
        if only is not None:
            return [Storage(device, result, only)]
        return [Storage(device, h, t) for h, t in zip(result, types, strict=True)]

    return quick
