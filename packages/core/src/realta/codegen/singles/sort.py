"""Sort: runs are ranked by counting, then merged two and two until a line is one run.

Stable, and NaN comes last in both directions (spec 5). All control flow is uniform: a lane of a
merge finds where its piece of the result begins by a binary search with a fixed number of steps
(Green, McColl and Bader, "GPU merge path", ICS 2012), then takes a fixed number of elements from
the two runs, each time the one that comes first.
"""

from __future__ import annotations

from typing import Final

from realta.codegen.lowered import Lowered, Temporary
from realta.codegen.profile import DeviceProfile
from realta.codegen.singles.lines import Lines
from realta.codegen.singles.sort_items import Items, Sorting
from realta.codegen.singles.sort_merge import write_merge
from realta.codegen.singles.sort_runs import write_runs
from realta.fusion import Limits
from realta.graph import Node

__all__ = ["lower_sort"]

_RUN: Final = 32
"""Elements of a run that is ranked by comparing each with each; a power of two."""


def lower_sort(node: Node, profile: DeviceProfile, limits: Limits) -> Lowered:
    """The kernels of ``sort`` and ``argsort``."""
    lines = Lines.of(node.type.static_shape, node.attrs["axis"])
    x = node.operands[0]
    numbered = node.op.name == "argsort"
    sorting = Sorting(lines, x.type.dtype, numbered, node.attrs["descending"])
    # The last pass writes the result: values, or numbers alone.
    result = Items(lines, None, node) if numbered else Items(lines, node, None)
    run = 1
    while run < min(_RUN, lines.extent):
        run *= 2
    between = _pools(sorting)
    target = result if run >= lines.extent else between[0]
    launches = [write_runs(sorting, run, profile, Items(lines, x, None), target)]
    while run < lines.extent:
        source = target
        target = result if 2 * run >= lines.extent else between[len(launches) % 2]
        launches.append(write_merge(sorting, run, profile, source, target))
        run *= 2
    return Lowered(tuple(launches), f"{lines.count} lines, {len(launches) - 1} merges")


def _pools(sorting: Sorting) -> tuple[Items, Items]:
    """Two places between which the elements go to and fro."""
    dense = sorting.lines.dense
    size = dense.count * dense.extent

    def items(first: int) -> Items:
        values = Temporary(first, sorting.dtype, size)
        numbers = Temporary(first + 1, sorting.count_type, size)
        return Items(dense, values, numbers if sorting.numbered else None)

    return items(0), items(2)
