"""Scan order: what is scanned, and how a line is cut into blocks and pieces."""

from __future__ import annotations

from realta.codegen.indices import Index
from realta.codegen.ir import Buffer, Expr, Tree
from realta.codegen.scalar import combined, identity
from realta.codegen.singles.lines import Lines
from realta.codegen.writer import KernelWriter, both, inside
from realta.records import Record
from realta.types import DType

__all__ = ["Order", "Scan"]


class Order(Record):
    """The canonical order of scans of a profile with this tree; see `realta.codegen.singles.scan`.

    Args:
        tree: its lanes are the pieces of a block.
    """

    __slots__ = ("tree",)

    tree: Tree

    def __init__(self, tree: Tree) -> None:
        self._set(tree)

    @property
    def block(self) -> int:
        """Terms of a block."""
        return self.tree.block

    @property
    def pieces(self) -> int:
        """Pieces of a block."""
        return self.tree.lanes

    @property
    def piece(self) -> int:
        """Terms of a piece."""
        return self.tree.block // self.tree.lanes

    def blocks(self, extent: int) -> int:
        """Blocks of a line."""
        return -(-extent // self.block)


class Scan(Record):
    """A scan of lines.

    Args:
        combine: the instruction that combines two terms.
        dtype: type that it is computed in.
        lines: where the terms are, and the results.
        unit: the first result of an exclusive scan.
        exclusive: whether a result leaves out its own term.
        reverse: whether lines run from their ends.
        before: whether a result is what its own term is combined with (the start of a block); that
            is `exclusive` but for the order of combination and the first result.
    """

    __slots__ = ("before", "combine", "dtype", "exclusive", "lines", "reverse", "unit")

    combine: str
    dtype: DType
    lines: Lines
    unit: Expr
    exclusive: bool
    reverse: bool
    before: bool

    def __init__(
        self, combine: str, dtype: DType, lines: Lines, unit: Expr, exclusive: bool, reverse: bool,
        before: bool = False,
    ) -> None:  # fmt: skip
        self._set(before, combine, dtype, exclusive, lines, reverse, unit)

    def starts(self, blocks: int) -> Scan:
        """The scan of the blocks' totals that gives their starts."""
        lines = Lines(self.lines.count, blocks, 1)
        return Scan(self.combine, self.dtype, lines, self.unit, False, False, before=True)

    @property
    def identity(self) -> Expr:
        """What changes no term it is combined with, not even a −0."""
        return identity(self.combine, self.dtype)

    def join(self, x: Expr, y: Expr) -> Expr:
        """Two terms combined."""
        return combined(self.combine, x, y)

    def place(self, line: Index, term: Index) -> Index:
        """Where a term of a line is, counted in the direction of the scan."""
        return self.lines.place(line, self.lines.extent - 1 - term if self.reverse else term)

    def load(
        self, write: KernelWriter, x: Buffer, line: Index, term: Index, where: Expr | None
    ) -> Expr:
        """A term; the identity where a condition does not hold."""
        default = None if where is None else self.identity
        return write.load(x, self.place(line, term), where, default, "term")

    def store(
        self,
        write: KernelWriter,
        y: Buffer,
        at: tuple[Index, Index],
        found: tuple[Expr, Expr],
        where: Expr | None,
    ) -> None:
        """Stores the result of a term, at a line and a number.

        Args:
            write: the kernel.
            y: where results go.
            at: the line and the number of the term.
            found: what the term is combined with, and the combination.
            where: a condition of the line and the term.
        """
        line, term = at
        before, after = found
        if self.before:
            write.store(y, self.place(line, term), before, where)
            return
        if not self.exclusive:
            write.store(y, self.place(line, term), after, where)
            return
        if self.lines.extent > 1:
            later = inside(term, self.lines.extent - 1)
            write.store(y, self.place(line, term + 1), after, both(where, later))
        first = both(where, inside(term, 1))
        write.store(y, self.place(line, term), self.unit, first)
