"""Replaced slices: the operand copied, then the value written into it.

A session that may write over the operand leaves out the first launch.
"""

from __future__ import annotations

from realta.codegen.indices import Index
from realta.codegen.ir import Expr
from realta.codegen.lower_loops import At
from realta.codegen.lower_maps import Coordinates, flat_of
from realta.codegen.lower_members import zero
from realta.codegen.lowered import Lowered
from realta.codegen.profile import DeviceProfile
from realta.codegen.singles.dense import DenseKernel, copy_launch
from realta.fusion import Limits
from realta.graph import Node

__all__ = ["lower_update_slice"]


def lower_update_slice(node: Node, profile: DeviceProfile, limits: Limits) -> Lowered:
    """The kernels of ``update_slice``."""
    x, v = node.operands
    shape, part = node.type.static_shape, v.type.static_shape
    copy = copy_launch(x, node, profile)
    if v.type.size == 0:
        return Lowered((copy,), "a copy")
    start, step = node.attrs["start"], node.attrs["step"]

    def target(full: Coordinates) -> Index:
        return flat_of(
            [c * by + first for c, first, by in zip(full, start, step, strict=True)], shape
        )

    def dense(full: Coordinates) -> Index:
        return flat_of(full, part)

    kernel = DenseKernel(part, {"target": target, "dense": dense}, profile)
    read = kernel.writer.argument(v, "input", "value")
    write = kernel.writer.argument(node, "output", "out")

    def emit(at: At, where: Expr | None) -> None:
        default = None if where is None else zero(read.dtype)
        value = kernel.writer.load(read, at(kernel.place("dense")), where, default)
        kernel.writer.store(write, at(kernel.place("target")), value, where)

    kernel.write(lambda at: None, emit)
    update = kernel.writer.launch("update_slice")
    return Lowered((copy, update), f"a copy, then {v.type.size} elements")
