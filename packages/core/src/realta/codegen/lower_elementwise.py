"""Elementwise groups: every lane computes one element at a time, from loads to stores."""

from __future__ import annotations

from typing import Final

from realta.codegen.ir import Expr
from realta.codegen.lower_frame import Frame, Read
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


def lower_elementwise(group: Group, profile: DeviceProfile) -> Lowered:
    """The kernel of an ``elementwise`` group, or of a stored index map."""
    members = Members(group)
    frame = members.frame()
    tiling = find_tiling(members, frame, profile)
    loops = element_loops(frame, profile)
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

    write_element_loops(writer, frame, loops, profile, before, emit)
    kind = f"{loops.rows} rows of {loops.inner}" if loops.rows > 1 else f"{loops.inner} elements"
    return Lowered((writer.launch("elementwise"),), f"{kind}, {profile.lanes} lanes")


def steady_reads(frame: Frame, members: Members, outer: int) -> list[Read]:
    """Reads that are the same all along the loops inside of so many outer ones."""
    found = []
    for read in members.reads:
        strides = frame.places[read].strides
        if strides is not None and not any(strides[outer:]):
            found.append(read)
    return found
