"""Builder: writes a graph op by op and checks each; the Emitter of decompositions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from realta.errors import RealtaError
from realta.graph.graph import Graph
from realta.graph.values import Input, Node, Region, Value
from realta.ops import ConstantData, OpDef, get_op
from realta.types import TensorType

__all__ = ["Builder", "call_text"]


def call_text(
    op: OpDef, types: Sequence[TensorType], attrs: Mapping[str, Any] | None = None
) -> str:
    """The call as errors show it: ``add(f32[2,3], f32[4])``."""
    shown = [str(t) for t in types]
    shown += [f"{k}={v!r}" for k, v in (attrs or {}).items()]
    return f"{op.name}({', '.join(shown)})"


class Builder:
    """Writes one graph.

    Every op of the registry is a method: ``b.add(x, y)``, ``b.sum(x, axes=(0,))``. Nodes are typed
    and checked at once.

    Args:
        name: name of the graph.
        region: fusion region given to every node.
        where: location given to every node (decompositions pass that of the node they expand).
    """

    def __init__(
        self, name: str = "graph", *, region: Region | None = None, where: Any = None
    ) -> None:
        self.name = name
        self.nodes: list[Node] = []
        self.inputs: list[Value] = []
        self.region = region
        self.where = where

    def input(self, type: TensorType, name: str = "") -> Input:
        """Declares the next parameter."""
        value = Input(type, name)
        self.inputs.append(value)
        return value

    def add_node(
        self,
        op: OpDef,
        operands: tuple[Value, ...],
        attrs: Mapping[str, Any] | None = None,
    ) -> Node:
        """Appends one op.

        Raises:
            ShapeError, DTypeError, ArgumentError: operands do not fit; ``where`` is the call.
        """
        try:
            node = Node(
                op, operands, op.make_attrs(attrs or {}), where=self.where, region=self.region
            )
        except RealtaError as error:
            raise error.at(call_text(op, [v.type for v in operands], attrs)) from None
        self.nodes.append(node)
        return node

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):  # the language asks for what is not there
            raise AttributeError(name)
        op = get_op(name)

        def write(*operands: Value, **attrs: Any) -> Any:
            node = self.add_node(op, operands, attrs)
            return node if len(node.types) == 1 else node.outputs

        return write

    def const(self, value: float, like: Value) -> Value:
        """A constant of ``like``'s dtype, broadcast to its shape."""
        scalar = self.constant(np.asarray(value), dtype=like.type)
        return scalar if not like.type.shape else self.broadcast(scalar, shape=like.type.shape)

    def constant(self, array: Any, dtype: TensorType) -> Value:
        """A literal tensor of the dtype and device of a type."""
        data = ConstantData(np.asarray(array).astype(dtype.dtype.numpy))
        return self.add_node(get_op("constant"), (), {"value": data, "device": dtype.device})

    def type_of(self, value: Value) -> TensorType:
        """The type of a value."""
        return value.type

    def finish(self, *outputs: Value) -> Graph:
        """The graph with these results; nodes that no result needs are kept (`dce` drops them)."""
        return Graph(self.name, self.inputs, outputs, self.nodes)
