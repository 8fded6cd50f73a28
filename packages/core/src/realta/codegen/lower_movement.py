"""Movement groups: stored index maps, constant padding and concatenation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from realta.codegen.indices import Index, greatest, least
from realta.codegen.ir import Expr
from realta.codegen.lower_elementwise import lower_elementwise
from realta.codegen.lower_frame import (
    Frame,
    IndexMap,
    Read,
    make_frame,
    map_of_read,
    map_of_store,
    place_of,
)
from realta.codegen.lower_loops import At, ElementLoops, element_loops, write_element_loops
from realta.codegen.lower_maps import Coordinates, flat_of
from realta.codegen.lower_members import Body, Members, Values
from realta.codegen.lowered import Launch, Lowered
from realta.codegen.profile import DeviceProfile
from realta.codegen.scalar import select
from realta.codegen.writer import KernelWriter, both, inside, not_below
from realta.fusion import Group, Limits
from realta.graph import Node, Value

__all__ = ["lower_movement"]


def lower_movement(group: Group, profile: DeviceProfile, limits: Limits) -> Lowered:
    """The kernels of a ``movement`` group."""
    node = group.nodes[-1]
    if node.op.name == "pad":
        return _lower_pad(group, node, profile)
    if node.op.name == "concat":
        return _lower_concat(group, node, profile, limits)
    return lower_elementwise(group, profile)


def _nothing(at: At) -> None:
    """Nothing holds for a whole row."""


def _lower_pad(group: Group, node: Node, profile: DeviceProfile) -> Lowered:
    members = Members(group)
    x, fill = node.operands
    low = node.attrs["low"]

    def inner(full: Coordinates) -> Index:
        return place_of(x, tuple(c - n for c, n in zip(full, low, strict=True)), group)

    maps: dict[Hashable, IndexMap] = {
        (x, "full"): inner,
        node: map_of_store((node, "full"), group),
    }
    padded = [n for n, d in enumerate(x.type.static_shape) if d != node.type.static_shape[n]]
    maps |= {axis: _coordinate(axis) for axis in padded}
    frame = make_frame(group, maps)
    loops = element_loops(frame, profile)
    writer = KernelWriter(loops.groups, profile.lanes)
    body = Body(writer, members, frame)
    empty, number = x.type.size == 0, members.number(x)
    reads: list[Read] = [] if empty else [(x, "full")]
    body.bind([*reads, (fill, "row")], group.outputs)
    default = members.number(fill)
    if default is None:
        default = writer.load(body.buffer_of(fill), place_of(fill, (), group), name="fill")

    def emit(at: At, where: Expr | None) -> None:
        bounds = []
        for axis in padded:
            coordinate = at(frame.places[axis])
            extent = x.type.static_shape[axis]
            bounds += [not_below(coordinate, low[axis]), inside(coordinate, low[axis] + extent)]
        predicate = both(where, *bounds)
        value = default
        if number is not None:
            value = number if predicate is None else select(predicate, number, default)
        elif not empty:
            index = at(frame.places[x, "full"])
            value = writer.load(body.buffer_of(x), index, predicate, predicate and default)
        writer.store(body.buffer(node), at(frame.places[node]), value, where)

    write_element_loops(writer, frame, loops, profile, _nothing, emit)
    return Lowered((writer.launch("pad"),), f"{frame.rows} elements, {profile.lanes} lanes")


def _coordinate(axis: int) -> IndexMap:
    return lambda full: full[axis]


class _Part:
    """An operand of a concatenation with the loops that copy it."""

    def __init__(self, group: Group, node: Node, value: Value, start: int) -> None:
        self.value = value
        self.group = Group(
            "movement", group.nodes, group.inputs, group.outputs, group.region, value.type.shape,
            (), group.levels,
        )  # fmt: skip
        axis, shape = node.attrs["axis"], node.type.static_shape

        def target(full: Coordinates) -> Index:
            moved = (*full[:axis], full[axis] + start, *full[axis + 1 :])
            return flat_of(moved, shape)

        read: Read = (value, "full")
        maps: dict[Hashable, IndexMap] = {read: map_of_read(read, self.group), node: target}
        self.frame: Frame = make_frame(self.group, maps)


def _lower_concat(group: Group, node: Node, profile: DeviceProfile, limits: Limits) -> Lowered:
    parts = []
    start = 0
    for value in node.operands:
        if value.type.size:
            parts.append(_Part(group, node, value, start))
        start += value.type.static_shape[node.attrs["axis"]]
    most = limits.arguments - 1 if limits.arguments else len(parts)
    launches = [
        _concat_launch(group, node, parts[n : n + most], profile)
        for n in range(0, len(parts), most)
    ]
    return Lowered(tuple(launches), f"{len(parts)} copies, {profile.lanes} lanes")


def _concat_launch(
    group: Group, node: Node, parts: Sequence[_Part], profile: DeviceProfile
) -> Launch:
    """Copies some operands to their places, each by groups of its own."""
    members = Members(group)
    cuts: list[ElementLoops] = [element_loops(part.frame, profile) for part in parts]
    writer = KernelWriter(sum(cut.groups for cut in cuts), profile.lanes)
    body = Body(writer, members, parts[0].frame)
    body.bind([(part.value, "full") for part in parts], group.outputs)
    first = 0
    for part, cut in zip(parts, cuts, strict=True):
        number = greatest(least(writer.group - first, cut.groups - 1), 0)
        mine = both(not_below(writer.group, first), inside(writer.group, first + cut.groups))

        def emit(at: At, where: Expr | None, part: _Part = part) -> None:
            values: Values = {}
            own = Body(writer, members, part.frame)
            own.share(body)
            value = own.operand(part.value, "full", values, at, where)
            writer.store(body.buffer(node), at(part.frame.places[node]), value, where)

        with writer.when(mine):
            write_element_loops(writer, part.frame, cut, profile, _nothing, emit, group=number)
        first += cut.groups
    return writer.launch("concat")
