"""Evaluation on a device: one op computed on arrays, for constant folding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from realta.graph import Graph, Input, Node
from realta.runtime.contract import Options
from realta.runtime.device import OpenDevice

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["evaluate_on"]


def evaluate_on(
    device: OpenDevice, node: Node, arrays: tuple[NDArray[Any], ...]
) -> tuple[NDArray[Any], ...]:
    """The results of one op.

    Args:
        device: computes it.
        node: the op with its attributes; its operands tell only their types.
        arrays: values of the operands.

    Raises:
        RealtaError: the device does not take it.
    """
    inputs = tuple([Input(value.type) for value in node.operands])
    copy = Node(node.op, inputs, node.attrs, types=node.types)
    graph = Graph(node.op.name, inputs, copy.outputs, (copy,))
    executable = device.session.compile(graph, Options(name=node.op.name))
    given = [device.upload(a, v.type) for a, v in zip(arrays, inputs, strict=True)]
    results = [device.empty(type) for type in node.types]
    executable.run([x.handle for x in given], [x.handle for x in results])
    found = tuple([x.copy_to_host() for x in results])
    executable.close()
    return found
