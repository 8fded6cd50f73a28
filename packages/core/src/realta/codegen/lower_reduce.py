"""Reductions: ``reduce`` and ``row`` groups, and which schedule each takes.

Terms along the lanes where they are neighbours in memory, results along the lanes where those are;
two launches, or one per walk, where there are fewer rows than groups that the device can run.
"""

from __future__ import annotations

from typing import Final

from realta.codegen.lower_columns import ColumnProgram, column_shape
from realta.codegen.lower_elementwise import STREAMING_BYTES, lower_elementwise
from realta.codegen.lower_frame import Frame
from realta.codegen.lower_members import Body, Members
from realta.codegen.lower_passes import Passes
from realta.codegen.lower_reducer import Reducer
from realta.codegen.lower_rows import RowProgram, RowShape
from realta.codegen.lower_split import lower_in_parts, split_walks
from realta.codegen.lower_staged import Staged, may_stage
from realta.codegen.lower_tree import lane_bytes
from realta.codegen.lowered import Lowered
from realta.codegen.profile import DeviceProfile
from realta.codegen.writer import KernelWriter
from realta.fusion import Group, Limits
from realta.graph import Value

__all__ = ["lower_reduce"]

_SHORT: Final = 8
"""Fewer columns than these do not make a vector worth while."""
_LONG: Final = 4
"""Blocks from which a row is long enough for several groups."""


def lower_reduce(group: Group, profile: DeviceProfile, limits: Limits) -> Lowered:
    """The kernels of a ``reduce`` or ``row`` group with rows."""
    if 0 in group.shape:
        return _lower_nothing(group, profile)
    members = Members(group)
    passes = Passes(members)
    frame = members.frame()
    columns = _prefers_columns(members, frame, passes, profile)
    if _wants_stages(frame, passes, profile, columns=columns):
        if may_stage(members, passes, limits):
            return Staged(group, members, passes, profile).lower(columns=columns)
        parts = split_walks(group)
        if len(parts) > 1 and all(_fits(part, limits) for part in parts):
            return lower_in_parts(group, parts, lambda part: _lower_part(part, profile, limits))
    body_streaming = STREAMING_BYTES if profile.streaming else None
    if columns:
        side_by_side = _side_by_side(passes, frame, profile)
        _keep(passes, frame.terms * profile.lanes, profile)
        shape = column_shape(frame, profile, side_by_side=side_by_side, terms=frame.terms)
        writer = KernelWriter(shape.groups, profile.lanes)
        body = Body(writer, members, frame, body_streaming)
        body.bind(members.reads, group.outputs)
        ColumnProgram(body, passes, shape, profile, frame.terms).write()
        return Lowered((writer.launch("columns"),), f"{frame.rows} columns of {frame.terms}")
    _keep(passes, frame.terms, profile)
    rows = RowShape(frame.rows, frame.terms, profile, _walks(passes))
    writer = KernelWriter(rows.groups, profile.lanes)
    body = Body(writer, members, frame, body_streaming)
    body.bind(members.reads, group.outputs)
    RowProgram(body, passes, rows, profile, frame.terms).write()
    return Lowered((writer.launch("rows"),), f"{frame.rows} rows of {frame.terms}")


def _lower_part(part: Group, profile: DeviceProfile, limits: Limits) -> Lowered:
    if part.kind == "elementwise":
        return lower_elementwise(part, profile)
    return lower_reduce(part, profile, limits)


def _lower_nothing(group: Group, profile: DeviceProfile) -> Lowered:
    """Reductions over no elements: their results are known, what follows is elementwise."""
    axes = set(group.axes)
    shape = tuple(1 if n in axes else d for n, d in enumerate(group.shape))
    rows = Group(
        group.kind, group.nodes, group.inputs, group.outputs, group.region, shape, group.axes,
        group.levels,
    )  # fmt: skip
    members = Members(rows)
    members.stores = [(v, s) for v, s in members.stores if v.type.size]
    passes = Passes(members)
    wanted = [node for nodes in passes.row_nodes for node in nodes]
    members.reads = members.reads_of(wanted)
    frame = members.frame()
    rows_shape = RowShape(frame.rows, 1, profile, ())
    writer = KernelWriter(rows_shape.groups, profile.lanes)
    body = Body(writer, members, frame)
    outputs: list[Value] = [v for v, _ in members.stores]
    body.bind(members.reads, outputs)
    program = RowProgram(body, passes, rows_shape, profile, 1, over_nothing=True)
    program.write()
    return Lowered((writer.launch("rows"),), f"{frame.rows} rows of nothing")


def _prefers_columns(
    members: Members, frame: Frame, passes: Passes, profile: DeviceProfile
) -> bool:
    """Whether results, rather than terms, lie along the lanes."""
    if not frame.kept:
        return False
    if lane_bytes(profile.tree, _walks(passes), frame.terms) > profile.lane_bytes:
        return False
    if frame.terms < profile.tree.lanes // 2 and frame.rows >= frame.terms:
        return True
    votes = 0
    last = len(frame.kept) - 1
    for read in members.reads:
        strides = frame.places[read].strides
        if strides is not None and read[1] == "full":
            votes += (abs(strides[last]) == 1) - (bool(frame.reduced) and abs(strides[-1]) == 1)
    return votes > 0 and frame.kept[-1] >= _SHORT


def _side_by_side(passes: Passes, frame: Frame, profile: DeviceProfile) -> int:
    """Vectors of columns that may be walked at once."""
    walks = _walks(passes)
    if len(walks) != 1 or any(passes.stores):
        return 1
    needed = lane_bytes(profile.tree, walks, frame.terms)
    return profile.lane_bytes // needed if needed else 1


def _walks(passes: Passes) -> list[list[Reducer]]:
    return [[Reducer(node) for node in nodes] for nodes in passes.reductions if nodes]


def _keep(passes: Passes, elements: int, profile: DeviceProfile) -> None:
    """Keeps what is dear to compute again, where groups have memory near by for it."""
    if profile.realization != "items":
        passes.keep_dear(profile.scratch_bytes // (8 * elements))


def _wants_stages(frame: Frame, passes: Passes, profile: DeviceProfile, *, columns: bool) -> bool:
    """Whether rows are long, and too few for the groups that the device runs at once."""
    if frame.terms < _LONG * profile.tree.block:
        return False
    if columns:
        shape = column_shape(frame, profile, side_by_side=1, terms=frame.terms)
        groups = min(shape.groups, shape.outer * shape.pieces)
    else:
        groups = RowShape(frame.rows, frame.terms, profile, _walks(passes)).groups
    return groups < 2 * profile.workers


def _fits(part: Group, limits: Limits) -> bool:
    """Whether a part of a split group keeps to the device's number of arguments."""
    return limits.arguments is None or len(part.inputs) + len(part.outputs) <= limits.arguments
