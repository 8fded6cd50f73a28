"""Scans: running combinations, reduced first and scanned then, in an order of their own.

The canonical order (spec 5b) depends on the profile's tree and on the extent alone. A line is cut
into blocks of ``tree.block`` terms, and a block into ``tree.lanes`` pieces. In a piece, terms are
combined one after the other from the identity; the results of the pieces are combined one after the
other, which gives each piece its start and the block its total. The totals of the blocks are a line
that is scanned by the same rule, which gives each block its start. An element is
``(start of the block ∘ start of the piece) ∘ running combination in the piece``.

Two schedules keep to it. With many lines each lane takes one and runs along it. With few, the
lanes of a segment take the pieces of a block; one kernel per level reduces blocks to totals, and
one per level, from the top down, scans them.
"""

from __future__ import annotations

from collections.abc import Sequence

from realta.codegen.ir import Const, Expr, compute_type
from realta.codegen.lowered import Argument, Launch, Lowered, Temporary
from realta.codegen.profile import DeviceProfile
from realta.codegen.scalar import identity
from realta.codegen.singles.lines import Lines
from realta.codegen.singles.scan_along import write_lines
from realta.codegen.singles.scan_blocks import write_scan, write_totals
from realta.codegen.singles.scan_order import Order, Scan
from realta.fusion import Limits
from realta.graph import Node

__all__ = ["lower_scan"]

_COMBINE = {"add": "add", "mul": "mul", "max": "maximum", "min": "minimum"}


def lower_scan(node: Node, profile: DeviceProfile, limits: Limits) -> Lowered:
    """The kernels of a scan."""
    scan = _scan_of(node)
    order = Order(profile.tree)
    lines = scan.lines
    many = lines.count >= profile.lanes * profile.workers
    if many or lines.extent <= 2 * order.piece:
        launch = write_lines(scan, order, profile, node.operands[0], node)
        return Lowered((launch,), f"{lines.count} lines, one per lane")
    launches = _block_launches(scan, order, profile, node)
    return Lowered(tuple(launches), f"{lines.count} lines in blocks of {order.block}")


def _scan_of(node: Node) -> Scan:
    attrs = node.attrs
    dtype = compute_type(node.type.dtype)
    combine = _COMBINE[node.op.scalar]
    unit: Expr = identity(combine, dtype)
    if combine == "add":
        unit = Const(0.0 if dtype.is_float else 0, dtype)  # what is seen of it is no −0
    lines = Lines.of(node.type.static_shape, attrs["axis"])
    return Scan(combine, dtype, lines, unit, attrs["exclusive"], attrs["reverse"])


def _block_launches(
    scan: Scan, order: Order, profile: DeviceProfile, node: Node
) -> Sequence[Launch]:
    """Totals of blocks level by level up, then the scans of the levels down."""
    scans = [scan]
    values: list[Argument] = [node.operands[0]]
    up: list[Launch] = []
    while scans[-1].lines.extent > order.block:
        blocks = order.blocks(scans[-1].lines.extent)
        totals = Temporary(len(up), scan.dtype, scan.lines.count * blocks)
        up.append(write_totals(scans[-1], order, profile, values[-1], totals))
        scans.append(scan.starts(blocks))
        values.append(totals)
    down: list[Launch] = []
    starts: Temporary | None = None
    for level in range(len(scans) - 1, 0, -1):
        lines = scans[level].lines
        target = Temporary(len(up) + len(down), scan.dtype, lines.count * lines.extent)
        down.append(write_scan(scans[level], order, profile, values[level], starts, target))
        starts = target
    down.append(write_scan(scan, order, profile, values[0], starts, node))
    return [*up, *down]
