"""Scans along lines: each lane runs along one line, in the canonical order."""

from __future__ import annotations

from realta.codegen.indices import Index, Number
from realta.codegen.ir import Buffer, Expr, Var
from realta.codegen.lower_loops import balanced, vectors_of
from realta.codegen.lowered import Argument, Launch
from realta.codegen.profile import DeviceProfile
from realta.codegen.singles.scan_order import Order, Scan
from realta.codegen.writer import KernelWriter, inside

__all__ = ["write_lines"]


def write_lines(
    scan: Scan, order: Order, profile: DeviceProfile, x: Argument, y: Argument
) -> Launch:
    """The kernel in which every lane scans whole lines."""
    lines = scan.lines
    most = profile.chunk // (profile.lanes * lines.extent)
    cut = balanced(vectors_of(lines.count, profile.lanes), most)
    write = KernelWriter(cut.groups, profile.lanes)
    source, target = write.argument(x, "input", "x"), write.argument(y, "output", "y")
    with write.loop(cut.turns, "vector") as turn:
        line = (write.group * cut.turns + turn) * profile.lanes + write.lane
        _Line(write, scan, order, (source, target), line).run()
    return write.launch(f"scan_{scan.combine}_along")


class _Line:
    """One line; a *term* of a level is an element, or a block of the level below."""

    def __init__(
        self,
        write: KernelWriter,
        scan: Scan,
        order: Order,
        buffers: tuple[Buffer, Buffer],
        line: Index,
    ) -> None:
        self.write = write
        self.scan = scan
        self.order = order
        self.source, self.target = buffers
        self.line = line
        self.where = inside(line, scan.lines.count)

    def run(self) -> None:
        level, terms = 0, self.scan.lines.extent
        while terms > self.order.block:
            level, terms = level + 1, self.order.blocks(terms)
        self._block(level, Number(0), terms, self.scan.identity)

    def _span(self, level: int) -> int:
        """Elements of a term."""
        return int(self.order.block**level)

    def _block(self, level: int, first: Index, terms: int, start: Expr) -> Var:
        """Scans a block of terms from an element on; gives its total.

        Statements of terms beyond the end of the line are left out at run time.
        """
        write, scan, piece = self.write, self.scan, self.order.piece
        total = write.declare(scan.identity, "total")
        with write.loop(-(-terms // piece), "piece") as number:
            begin = first + number * (piece * self._span(level))
            with write.when(inside(begin, scan.lines.extent)):
                offset = write.let(scan.join(start, total), "start")
                own = write.declare(scan.identity, "run")
                with write.loop(min(piece, terms), "term") as turn:
                    at = begin + turn * self._span(level)
                    with write.when(inside(at, scan.lines.extent)):
                        self._term(level, at, offset, own)
                write.assign(total, scan.join(total, own))
        return total

    def _term(self, level: int, at: Index, offset: Expr, own: Var) -> None:
        write, scan = self.write, self.scan
        before = scan.join(offset, own)
        if level:
            start = write.let(before, "start")
            term: Expr = self._block(level - 1, at, self.order.block, start)
            write.assign(own, scan.join(own, term))
            return
        term = scan.load(write, self.source, self.line, at, self.where)
        write.assign(own, scan.join(own, term))
        found = (before, write.let(scan.join(offset, own), "sum"))
        scan.store(write, self.target, (self.line, at), found, self.where)
