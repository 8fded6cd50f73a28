"""Shared parts: large results of moving elements that lie in the operand's memory as they are.

The array that shows the memory keeps the operand's storage alive, so nobody writes there while the
part lives. The part has no buffer of its own, so it is never written to either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from realta.graph import Node
from realta.ops.movement import to_slices
from realta.runtime import Storage

if TYPE_CHECKING:
    from realta.runtime import Program

__all__ = ["shared_part"]

Part = Callable[[Storage], Any]


def shared_part(program: Program) -> Part | None:
    """A function from a storage to a handle on a part of its memory; None where there is none.

    Args:
        program: moves elements of its one input to its one output.
    """
    adopt = getattr(program.device.session, "adopt", None)
    graph = program.source
    if adopt is None or len(graph.inputs) != 1 or program.device.is_async:
        return None
    steps: list[Callable[[Any], Any]] = []
    last: Any = graph.inputs[0]
    for node in graph.nodes:
        step = _step(node)
        if step is None or node.operands != (last,):
            return None
        steps.append(step)
        last = node
    if graph.outputs != (last,) or not _in_order(graph.inputs[0].type, steps):
        return None

    def part(storage: Storage) -> Any:
        array = storage.numpy()
        for step in steps:
            array = step(array)
        return adopt(array)

    return part


def _step(node: Node) -> Callable[[Any], Any] | None:
    if node.op.name == "slice":
        slices = to_slices(node.attrs["start"], node.attrs["stop"], node.attrs["step"])
        shown = (*slices, Ellipsis)  # a 0-d array, not a number
        return lambda x: x[shown]
    if node.op.name == "reshape":
        shape = node.attrs["shape"]
        return lambda x: x.reshape(shape)
    return None


def _in_order(type: Any, steps: list[Callable[[Any], Any]]) -> bool:
    """Whether every step leaves the elements side by side in row-major order."""
    # One element that stands for all: its strides say where the others would be, unseen.
    shape, itemsize = type.static_shape, type.dtype.itemsize
    strides = [itemsize * int(np.prod(shape[n + 1 :])) for n in range(len(shape))]
    probe = np.lib.stride_tricks.as_strided(np.empty(1, type.dtype.numpy), shape, strides)
    for step in steps:
        probe = step(probe)
        if not probe.flags.c_contiguous:
            return False
    return True
