"""Elementwise groups: every lane computes one element at a time, from loads to stores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from realta.codegen.ir import Expr
from realta.codegen.lower_frame import Frame, Place, Read
from realta.codegen.lower_loops import At, element_loops, write_element_loops
from realta.codegen.lower_members import Body, Members, Values
from realta.codegen.lower_transpose import find_tiling, write_tiles
from realta.codegen.lowered import Lowered
from realta.codegen.profile import DeviceProfile
from realta.codegen.writer import KernelWriter
from realta.fusion import Group

__all__ = ["STREAMING_BYTES", "lower_elementwise", "steady_reads"]

STREAMING_BYTES: Final = 8 << 20
"""Outputs of at least so many bytes do not stay in caches anyway."""
_MOST_WIDE: Final = 4
"""Most elements that a lane takes at once: more than four become no single instruction."""
_MOST_OPS: Final = 64
"""Most ops, counted for each of these elements, that are written out for that."""


def lower_elementwise(group: Group, profile: DeviceProfile) -> Lowered:
    """The kernel of an ``elementwise`` group, or of a stored index map."""
    members = Members(group)
    frame = members.frame()
    tiling = find_tiling(members, frame, profile)
    loops = element_loops(frame, profile, _width(members, frame, profile))
    writer = KernelWriter(tiling.groups if tiling else loops.groups, profile.lanes)
    streaming = STREAMING_BYTES if profile.streaming else None
    body = Body(writer, members, frame, streaming)
    body.bind(members.reads, group.outputs)
    if tiling is not None:
        write_tiles(body, tiling, profile)
        return Lowered((writer.launch("transposed"),), tiling.text())
    steady = steady_reads(frame, members, len(frame.kept) - 1 if loops.rows > 1 else 0)
    known: Values = {}

    def before(at: At) -> None:
        known.clear()
        for read in steady:
            body.read(read, known, at, None)

    def emit(at: At, where: Expr | None) -> None:
        values = dict(known)
        body.compute(members.computing, values, at, where)
        for output, source in members.stores:
            body.store(output, source, values, at, where)

    def emit_wide(ats: Sequence[At]) -> None:
        # All loads, then all work, then all stores: neighbours become one instruction.
        parts = [(at, dict(known)) for at in ats]
        for read in members.reads:
            for at, values in parts:
                body.read(read, values, at, None)
        for at, values in parts:
            body.compute(members.computing, values, at)
        for output, source in members.stores:
            for at, values in parts:
                body.store(output, source, values, at)

    write_element_loops(writer, frame, loops, profile, before, emit, emit_wide=emit_wide)
    kind = f"{loops.rows} rows of {loops.inner}" if loops.rows > 1 else f"{loops.inner} elements"
    lanes = f"{profile.lanes} lanes" + (f" of {loops.width}" if loops.width > 1 else "")
    return Lowered((writer.launch("elementwise"),), f"{kind}, {lanes}")


def _width(members: Members, frame: Frame, profile: DeviceProfile) -> int:
    """Neighbouring elements that each lane should take at once."""
    inner = len(frame.kept) - 1
    if profile.realization != "items" or not profile.vector_bytes or inner < 0:
        return 1
    moved = [read for read in members.reads if _lies_along(frame.places[read], inner)]
    sizes = [read[0].type.dtype.itemsize for read in moved]
    sizes += [output.type.dtype.itemsize for output, _ in members.stores]
    if len(moved) < len(members.reads) and not all(
        _is_steady(frame.places[read], inner) for read in members.reads if read not in moved
    ):
        return 1  # each part of a vector would have its own way to its element
    width = min(profile.vector_bytes // max(sizes), _MOST_WIDE)
    while width > 1 and width * len(members.computing) > _MOST_OPS:
        width //= 2
    return max(1, width)


def _lies_along(place: Place, inner: int) -> bool:
    """Whether neighbours of the last loop are neighbours in memory."""
    return place.strides is not None and place.strides[inner] == 1


def _is_steady(place: Place, inner: int) -> bool:
    """Whether a value is the same all along the last loop."""
    return place.strides is not None and place.strides[inner] == 0


def steady_reads(frame: Frame, members: Members, outer: int) -> list[Read]:
    """Reads that are the same all along the loops inside of so many outer ones."""
    found = []
    for read in members.reads:
        strides = frame.places[read].strides
        if strides is not None and not any(strides[outer:]):
            found.append(read)
    return found
