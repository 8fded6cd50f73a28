"""Array parts: parts of tensors whose handles are NumPy arrays, shown rather than computed.

What a session took over or made itself is no buffer of the pool, so nobody ever writes to it, and
an array that shows a part of it may stand for a tensor. Where the part's elements do not lie side
by side in row-major order they are moved when they are first computed with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from realta.graph import Graph, Node
from realta.ops.movement import to_slices
from realta.runtime import Storage, resolve_device
from realta.runtime.deferred import Deferred
from realta.runtime.units import SMALL_BYTES
from realta.tensor import Tensor
from realta.types import Shape, TensorType

if TYPE_CHECKING:
    from realta.runtime import OpenDevice

__all__ = [
    "IN_ORDER",
    "ArrayParts",
    "Show",
    "array_parts",
    "deferred_tensor",
    "lies_in_order",
    "showing",
]

_new: Final = object.__new__
_MOST_SHAPES: Final = 256

Show = Callable[[Any], Any]


class ArrayParts:
    """What is known of parts of tensors of one type.

    Attributes:
        device: where they live.
        shape: the shape of an array that is a handle of that type.
        is_small: whether such tensors are handled as bare arrays.
        element: the type of one element.
        types: the types of parts, by shape.
    """

    __slots__ = ("device", "element", "is_small", "shape", "type", "types")

    def __init__(self, type: TensorType, device: OpenDevice) -> None:
        self.type = type
        self.device = device
        self.shape = type.static_shape
        self.is_small = type.nbytes <= SMALL_BYTES
        self.element = type.with_shape(())
        self.types: dict[Shape, TensorType] = {}

    def type_of(self, shape: Shape) -> TensorType:
        """The type of a part of that shape."""
        found = self.types.get(shape)
        if found is None:
            if len(self.types) >= _MOST_SHAPES:
                self.types.clear()
            found = self.types[shape] = self.type.with_shape(shape)
        return found


def array_parts(type: TensorType) -> ArrayParts | None:
    """What is known of parts of tensors of a type; None where handles are no arrays."""
    if not type.is_static:
        return None
    device = resolve_device(type.device)
    adopt = getattr(device.session, "adopt", None)
    if adopt is None or device.is_async:
        return None
    probe = np.zeros(2, type.dtype.numpy)
    return ArrayParts(type, device) if adopt(probe) is probe else None


def deferred_tensor(type: TensorType, device: OpenDevice, launch: Deferred, source: Any) -> Tensor:
    """A real tensor whose elements are moved when they are first needed.

    Args:
        type: its type.
        device: where it lives.
        launch: moves them.
        source: what it moves them from.
    """
    storage = _new(Storage)
    storage.device, storage.handle, storage.type, storage.launch = device, source, type, launch
    storage.block = storage.array = None
    result = _new(Tensor)
    result._held, result._type = storage, type
    result._value = result._context = None
    return result


def _in_order(part: Any) -> tuple[Any, None]:
    return part.copy(), None


IN_ORDER: Final = Deferred(_in_order)
"""Moves what a small array shows."""


def showing(graph: Graph) -> list[Show] | None:
    """Functions that one after the other show what a graph makes of its one input's array.

    Returns:
        None for a graph that does more than move elements.
    """
    if len(graph.inputs) != 1:
        return None
    steps: list[Show] = []
    last: Any = graph.inputs[0]
    for node in graph.nodes:
        step = _step(node)
        if step is None or node.operands != (last,):
            return None
        steps.append(step)
        last = node
    return steps if graph.outputs == (last,) else None


def _step(node: Node) -> Show | None:
    attrs = node.attrs
    if node.op.name == "slice":
        # The ellipsis makes it an array, also where there are no axes.
        shown = (*to_slices(attrs["start"], attrs["stop"], attrs["step"]), Ellipsis)
        return itemgetter(shown)
    if node.op.name == "reshape":
        target = attrs["shape"]
        return lambda x: x.reshape(target)
    if node.op.name == "permute":
        axes = attrs["axes"]
        if axes == tuple(range(len(axes)))[::-1]:
            return attrgetter("T")
        return lambda x: x.transpose(axes)
    if node.op.name == "broadcast":
        shape = attrs["shape"]
        return lambda x: np.broadcast_to(x, shape)
    return None


def lies_in_order(type: TensorType, steps: Sequence[Show]) -> bool:
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
