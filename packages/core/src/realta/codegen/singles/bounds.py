"""Bounds: the first index that is out of bounds, found by the least number among the wrong ones."""

from __future__ import annotations

from realta.codegen.indices import Index, Position
from realta.codegen.ir import Apply, Buffer, Const, Expr, FromIndex, Load
from realta.codegen.lower_loops import balanced, vectors_of
from realta.codegen.lowered import Argument, Launch, Lowered, Temporary
from realta.codegen.profile import DeviceProfile
from realta.codegen.scalar import cast, select
from realta.codegen.writer import KernelWriter, inside
from realta.fusion import Limits
from realta.graph import Node
from realta.types import bool_, int32, int64

__all__ = ["lower_check_bounds"]


def lower_check_bounds(node: Node, profile: DeviceProfile, limits: Limits) -> Lowered:
    """The kernels of ``check_bounds``: the least wrong number of each group, then of all."""
    size = int(node.operands[0].type.size)
    cut = balanced(max(1, vectors_of(size, profile.lanes)), profile.chunk // profile.lanes)
    if cut.groups == 1:
        return Lowered((_report(node, profile, None),), f"{size} indices, one group")
    least = Temporary(0, int64, cut.groups)
    write = KernelWriter(cut.groups, profile.lanes)
    indices = write.argument(node.operands[0], "input", "indices")
    found = write.argument(least, "output", "first")
    first = _first_wrong(write, node, indices, write.group * cut.turns, cut.turns)
    write.store(found, write.group, first, inside(write.lane, 1))
    launches = (write.launch("wrong_indices"), _report(node, profile, least))
    return Lowered(launches, f"{size} indices, {cut.groups} groups")


def _report(node: Node, profile: DeviceProfile, least: Temporary | None) -> Launch:
    """One group that writes the status."""
    size = int(node.operands[0].type.size)
    write = KernelWriter(1, profile.lanes)
    indices = write.argument(node.operands[0], "input", "indices") if size else None
    given: Argument | None = least
    source = write.argument(given, "input", "first") if given is not None else None
    status = write.argument(node, "output", "status")
    none = Const(size, int64)
    first: Expr = none
    if source is not None:
        first = _least(write, source, none)
    elif indices is not None:
        first = _first_wrong(write, node, indices, write.group, vectors_of(size, profile.lanes))
    words: list[Expr] = [Const(-1, int32)] * 4
    if indices is not None:
        wrong = write.let(Apply("less", (first, none), bool_), "wrong")
        element = Load(indices, Position(first, size), wrong, Const(0, indices.dtype))
        value = write.let(cast(element, indices.dtype, int64), "index")
        high = Apply("shift_right", (value, Const(32, int64)), int64)
        axis = Const(node.attrs["axis"], int32)
        shown = (Const(0, int32), axis, cast(value, int64, int32), cast(high, int64, int32))
        words = [select(wrong, word, Const(-1, int32)) for word in shown]
    for number, word in enumerate(words):
        write.store(status, number, word, inside(write.lane, 1))
    return write.launch("bounds_status")


def _first_wrong(
    write: KernelWriter, node: Node, indices: Buffer, first: Index, turns: int
) -> Expr:
    """The least number of an index out of bounds among some vectors; the size if there is none."""
    extent, size = node.attrs["extent"], indices.size
    found = write.declare(Const(size, int64), "first")
    with write.loop(turns, "vector") as turn:
        place = (first + turn) * write.lanes + write.lane
        where = inside(place, size)
        # Of two values the right one is compared, in 64 bits: an extent may not fit 32.
        value = write.load(indices, place, where, where and Const(0, indices.dtype), "index")
        value = write.let(cast(value, indices.dtype, int64), "index")
        low = Apply("less", (value, Const(-extent, int64)), bool_)
        high = Apply("greater_equal", (value, Const(extent, int64)), bool_)
        wrong: Expr = Apply("bitwise_or", (low, high), bool_)
        if where is not None:
            wrong = Apply("bitwise_and", (wrong, where), bool_)
        number = select(wrong, FromIndex(place, int64), Const(size, int64))
        write.assign(found, Apply("minimum", (found, number), int64))
    return write.fold([found], "minimum", write.lanes, "first")[0]


def _least(write: KernelWriter, source: Buffer, none: Expr) -> Expr:
    """The least of the groups' numbers."""
    found = write.declare(none, "first")
    with write.loop(vectors_of(source.size, write.lanes), "vector") as turn:
        place = turn * write.lanes + write.lane
        where = inside(place, source.size)
        number = write.load(source, place, where, where and none, "number")
        write.assign(found, Apply("minimum", (found, number), int64))
    return write.fold([found], "minimum", write.lanes, "first")[0]
