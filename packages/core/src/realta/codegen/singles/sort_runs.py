"""Sort runs: the elements of short runs ranked by comparing each with each."""

from __future__ import annotations

from realta.codegen.indices import Position
from realta.codegen.ir import Apply, Compare, Const, FromIndex
from realta.codegen.lower_loops import balanced, vectors_of
from realta.codegen.lowered import Launch
from realta.codegen.profile import DeviceProfile
from realta.codegen.scalar import cast, negated
from realta.codegen.singles.sort_items import Item, Items, Sorting
from realta.codegen.writer import KernelWriter, both, inside
from realta.types import bool_, int32

__all__ = ["write_runs"]


def write_runs(
    sorting: Sorting, run: int, profile: DeviceProfile, source: Items, target: Items
) -> Launch:
    """The kernel that sorts runs of a power of two elements; each lane ranks one element."""
    lines = sorting.lines
    padded = vectors_of(lines.extent, run) * run
    vectors = vectors_of(lines.count * padded, profile.lanes)
    cut = balanced(vectors, profile.chunk // (profile.lanes * run))
    write = KernelWriter(cut.groups, profile.lanes)
    given, sorted_ = source.read(write), target.written(write)
    with write.loop(cut.turns, "vector") as turn:
        flat = (write.group * cut.turns + turn) * profile.lanes + write.lane
        line, at = flat // padded, flat % padded
        exists = inside(line, lines.count)
        where = both(exists, inside(at, lines.extent))
        own = given.load(line, at, where)
        begin, number = at // run * run, at % run
        rank = write.declare(Const(0, int32), "rank")
        with write.loop(run, "other") as other:
            # What is beyond the end is not before: it is taken for the element itself, later on.
            there = both(exists, inside(begin + other, lines.extent))
            value = given.load(line, begin + other, there, own).value
            ties = (Compare(other - number, 0), negated(sorting.before(own.value, value)))
            earlier = (sorting.before(value, own.value), Apply("bitwise_and", ties, bool_))
            counted = cast(Apply("bitwise_or", earlier, bool_), bool_, int32)
            write.assign(rank, Apply("add", (rank, counted), int32))
        index = FromIndex(at, sorting.count_type) if sorting.numbered else None
        sorted_.store(line, begin + Position(rank, run), Item(own.value, index), where)
    return write.launch(f"sort_runs_of_{run}")
