"""Scans of blocks: the lanes of a segment take the pieces of one block, in the canonical order."""

from __future__ import annotations

from realta.codegen.indices import Index
from realta.codegen.ir import Buffer, Compare, Expr, Load, Var
from realta.codegen.lowered import Argument, Launch, Temporary
from realta.codegen.profile import DeviceProfile
from realta.codegen.singles.scan_order import Order, Scan
from realta.codegen.writer import KernelWriter, both, inside

__all__ = ["write_scan", "write_totals"]


class _Segments:
    """The blocks of all lines, one for each segment of lanes.

    Attributes:
        line: number of the line.
        block: number of the block in it.
        lane: number of the lane in its segment: of the piece that it takes.
        first: first term of the piece.
        where: whether there is such a block.
    """

    def __init__(self, scan: Scan, order: Order, profile: DeviceProfile) -> None:
        self.scan = scan
        self.order = order
        blocks = order.blocks(scan.lines.extent)
        segments = profile.lanes // order.pieces
        count = scan.lines.count * blocks
        self.write = write = KernelWriter(-(-count // segments), profile.lanes)
        number = write.group * segments + write.lane // order.pieces
        self.number = number
        self.lane = write.lane % order.pieces
        self.line, self.block = number // blocks, number % blocks
        self.first = self.block * order.block + self.lane * order.piece
        self.where = inside(number, count)

    def term(self, turn: Index) -> tuple[Index, Expr | None]:
        """A term of the piece, and whether it is there."""
        at = self.first + turn
        return at, both(self.where, inside(at, self.scan.lines.extent))

    def total(self, source: Buffer) -> Var:
        """The combination of the piece's terms."""
        write, scan = self.write, self.scan
        own = write.declare(scan.identity, "run")
        with write.loop(self.order.piece, "term") as turn:
            at, where = self.term(turn)
            term = scan.load(write, source, self.line, at, where)
            write.assign(own, scan.join(own, term))
        return own

    def shared(self, own: Expr) -> Buffer:
        """The totals of all pieces in group memory."""
        write = self.write
        totals = write.allocate(self.scan.dtype, write.lanes, "group", "totals")
        write.store(totals, write.lane, own)
        write.barrier()
        return totals

    def combined(self, totals: Buffer, *, only_earlier: bool) -> Var:
        """The totals of the pieces of the segment combined in order; or of the earlier ones."""
        write, scan = self.write, self.scan
        found = write.declare(scan.identity, "start")
        begin = write.lane // self.order.pieces * self.order.pieces
        with write.loop(self.order.pieces, "piece") as piece:
            where = Compare(piece - self.lane, 0) if only_earlier else None
            default = scan.identity if only_earlier else None
            write.assign(found, scan.join(found, Load(totals, begin + piece, where, default)))
        return found


def write_totals(
    scan: Scan, order: Order, profile: DeviceProfile, x: Argument, totals: Temporary
) -> Launch:
    """The kernel that reduces each block to its total."""
    segments = _Segments(scan, order, profile)
    write = segments.write
    source, target = write.argument(x, "input", "x"), write.argument(totals, "output", "totals")
    pieces = segments.shared(segments.total(source))
    total = segments.combined(pieces, only_earlier=False)
    write.store(target, segments.number, total, both(segments.where, inside(segments.lane, 1)))
    return write.launch(f"scan_{scan.combine}_totals_{scan.lines.extent}")


def write_scan(
    scan: Scan,
    order: Order,
    profile: DeviceProfile,
    x: Argument,
    starts: Temporary | None,
    y: Argument,
) -> Launch:
    """The kernel that scans each block from its start on; without starts a line is one block."""
    segments = _Segments(scan, order, profile)
    write = segments.write
    source = write.argument(x, "input", "x")
    given = None if starts is None else write.argument(starts, "input", "starts")
    target = write.argument(y, "output", "y")
    pieces = segments.shared(segments.total(source))
    offset: Expr = segments.combined(pieces, only_earlier=True)
    if given is not None:
        where = segments.where
        default = None if where is None else scan.identity
        start = write.load(given, segments.number, where, default, "start")
        offset = write.let(scan.join(start, offset), "start")
    else:
        offset = write.let(scan.join(scan.identity, offset), "start")
    own = write.declare(scan.identity, "run")
    with write.loop(order.piece, "term") as turn:
        at, where = segments.term(turn)
        before = write.let(scan.join(offset, own), "before") if scan.before else offset
        term = scan.load(write, source, segments.line, at, where)
        write.assign(own, scan.join(own, term))
        found = (before, write.let(scan.join(offset, own), "sum"))
        scan.store(write, target, (segments.line, at), found, where)
    return write.launch(f"scan_{scan.combine}_blocks_{scan.lines.extent}")
