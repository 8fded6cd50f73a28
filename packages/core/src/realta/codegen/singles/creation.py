"""Creation: indices along an axis."""

from __future__ import annotations

from realta.codegen.indices import Index
from realta.codegen.ir import Expr
from realta.codegen.lower_loops import At
from realta.codegen.lower_maps import Coordinates, flat_of
from realta.codegen.lowered import Lowered
from realta.codegen.profile import DeviceProfile
from realta.codegen.scalar import from_index
from realta.codegen.singles.dense import DenseKernel
from realta.fusion import Limits
from realta.graph import Node

__all__ = ["lower_iota"]


def lower_iota(node: Node, profile: DeviceProfile, limits: Limits) -> Lowered:
    """The kernel of ``iota``."""
    axis: int = node.attrs["axis"]
    shape = node.type.static_shape

    def along(full: Coordinates) -> Index:
        return full[axis]

    def dense(full: Coordinates) -> Index:
        return flat_of(full, shape)

    kernel = DenseKernel(shape, {"along": along, "dense": dense}, profile)
    out = kernel.writer.argument(node, "output", "out")

    def emit(at: At, where: Expr | None) -> None:
        value = from_index(at(kernel.place("along")), node.type.dtype)
        kernel.writer.store(out, at(kernel.place("dense")), value, where)

    kernel.write(lambda at: None, emit)
    return Lowered((kernel.writer.launch("iota"),), f"{node.type.size} elements")
