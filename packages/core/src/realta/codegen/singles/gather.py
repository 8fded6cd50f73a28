"""Gather: elements of an axis by index; where rows are gathered, an index is read once a row."""

from __future__ import annotations

from math import prod

from realta.codegen.indices import Index
from realta.codegen.ir import Expr
from realta.codegen.lower_loops import At
from realta.codegen.lower_maps import Coordinates, flat_of
from realta.codegen.lower_members import zero
from realta.codegen.lowered import Lowered
from realta.codegen.profile import DeviceProfile
from realta.codegen.singles.dense import DenseKernel
from realta.codegen.singles.indexing import counted, position
from realta.fusion import Limits
from realta.graph import Node

__all__ = ["lower_gather"]


def lower_gather(node: Node, profile: DeviceProfile, limits: Limits) -> Lowered:
    """The kernel of ``gather``."""
    x, indices = node.operands
    axis: int = node.attrs["axis"]
    shape = node.type.static_shape
    x_shape, rank = x.type.static_shape, indices.type.rank
    extent, inner = x_shape[axis], prod(x_shape[axis + 1 :])

    def index(full: Coordinates) -> Index:
        return flat_of(full[axis : axis + rank], indices.type.static_shape)

    def base(full: Coordinates) -> Index:
        outer = flat_of(full[:axis], x_shape[:axis])
        return outer * (extent * inner) + flat_of(full[axis + rank :], x_shape[axis + 1 :])

    def dense(full: Coordinates) -> Index:
        return flat_of(full, shape)

    kernel = DenseKernel(shape, {"index": index, "base": base, "dense": dense}, profile)
    writer = kernel.writer
    read = writer.argument(x, "input", "x")
    given = writer.argument(indices, "input", "indices")
    out = writer.argument(node, "output", "out")
    steady: list[Index] = []

    def place(at: At, where: Expr | None) -> Index:
        default = None if where is None else zero(given.dtype)
        found = writer.load(given, at(kernel.place("index")), where, default, "index")
        return position(writer, counted(found, given.dtype, extent), extent)

    def before(at: At) -> None:
        steady.clear()
        if kernel.is_steady("index"):
            steady.append(place(at, None))

    def emit(at: At, where: Expr | None) -> None:
        found = steady[0] if steady else place(at, where)
        default = None if where is None else zero(read.dtype)
        value = writer.load(read, at(kernel.place("base")) + found * inner, where, default)
        writer.store(out, at(kernel.place("dense")), value, where)

    kernel.write(before, emit)
    return Lowered((writer.launch("gather"),), f"{node.type.size} elements by index")
