"""Members: what the ops of a group read, and the statements that compute them in a kernel."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from math import prod
from typing import Any

from realta.codegen.indices import Index
from realta.codegen.ir import Buffer, Const, Expr, compute_type
from realta.codegen.lower_frame import (
    Frame,
    IndexMap,
    Place,
    Read,
    Span,
    make_frame,
    map_of_read,
    map_of_store,
    source_of,
)
from realta.codegen.lower_maps import VIEWS
from realta.codegen.scalar import apply_node, constant
from realta.codegen.writer import KernelWriter
from realta.fusion import Group
from realta.graph import Node, Value
from realta.ops import OpKind
from realta.types import DType

__all__ = ["Body", "Members", "Values", "zero"]

Values = dict[Any, Expr]
"""Values known at some point of a kernel: of members, and of reads."""


def zero(dtype: DType) -> Expr:
    """What a predicated load of a storage type gives where nothing is read."""
    register = compute_type(dtype)
    if register.is_float:
        return Const(0.0, register)
    return Const(0 if register.is_integer else False, register)


class Members:
    """The members of a group.

    Args:
        group: the group.

    Attributes:
        computing: members that compute, operands first.
        reads: what they read from memory, and in which loops.
        stores: outputs with the values whose elements they are.
    """

    def __init__(self, group: Group) -> None:
        self.group = group
        self.inside = set(group.nodes)
        self.computing = [n for n in group.nodes if self._computes(n)]
        self._shown_rows: set[Value] = set()
        sources = [(v, group.source(v)) for v in group.outputs]
        self.stores = [(v, s if self.is_member(s) else v) for v, s in sources]
        elements = prod(d for d in group.shape if isinstance(d, int))
        # Index maps over other kernels' values may be stored row by row as well.
        self._shown_rows |= {
            s for _, s in self.stores if not self.is_member(s) and s.type.size != elements
        }
        self.reads = self.reads_of(self.computing)
        for _, value in self.stores:
            if not self.is_member(value) and self.number(value) is None:
                self.reads.setdefault(self.read_of(value))

    def _computes(self, node: Node) -> bool:
        return node.op.name not in VIEWS and node.op.kind is not OpKind.CREATION

    def is_member(self, value: Value) -> bool:
        """Whether a value is computed in the group."""
        return isinstance(value, Node) and self.group.levels.get(value, "view") != "view"

    def is_row(self, value: Value) -> bool:
        """Whether a member, or what is stored, has one element per row."""
        if value in self._shown_rows:
            return True
        return isinstance(value, Node) and self.group.levels.get(value) == "row"

    def span(self, node: Node) -> Span:
        """The loops in which a member reads its operands."""
        return "row" if self.is_row(node) and node.op.kind is not OpKind.REDUCE else "full"

    def resolved(self, value: Value) -> Value:
        """The computing member that a value shows, or the value that is read or known."""
        while self.is_member(value) and isinstance(value, Node) and value.op.name in VIEWS:
            value = value.operands[0]
        return value

    def number(self, value: Value) -> Expr | None:
        """The literal that a value is everywhere; None if it is read or computed."""
        source, _ = source_of(value, self.group)
        if not isinstance(source, Node) or source.op.name != "constant":
            return None
        if source not in self.inside:
            return None
        return constant(source.attrs["value"].array.reshape(()), source.type.dtype)

    def reads_of(self, nodes: Iterable[Node]) -> dict[Read, None]:
        """What some members read from memory."""
        found: dict[Read, None] = {}
        for node in nodes:
            for operand in node.operands:
                value = self.resolved(operand)
                if not self.is_member(value) and self.number(value) is None:
                    found.setdefault((value, self.span(node)))
        return found

    def sources_of(self, nodes: Iterable[Node]) -> set[Value]:
        """The stored values that some members read."""
        return {source_of(value, self.group)[0] for value, _ in self.reads_of(nodes)}

    def read_of(self, value: Value) -> Read:
        """A stored member as something that lies along the loops."""
        return (value, "row" if self.is_row(value) else "full")

    def frame(self) -> Frame:
        """The loops of the group; places of reads by read, those of outputs by output."""
        maps: dict[Hashable, IndexMap] = {r: map_of_read(r, self.group) for r in self.reads}
        for output, source in self.stores:
            maps[output] = map_of_store(self.read_of(source), self.group)
        return make_frame(self.group, maps)


class Body:
    """Writes the members of a group into a kernel.

    Args:
        writer: the kernel.
        members: the group's members.
        frame: the group's loops.
        streaming: bytes from which an output is stored past the caches; None: never.
    """

    def __init__(
        self, writer: KernelWriter, members: Members, frame: Frame, streaming: int | None = None
    ) -> None:
        self.writer = writer
        self.members = members
        self.frame = frame
        self.streaming = streaming
        self._buffers: dict[Value, Buffer] = {}

    def bind(self, reads: Iterable[Read], outputs: Iterable[Value]) -> None:
        """Makes buffers of what is read, and of outputs."""
        for value, _ in reads:
            source, _ = source_of(value, self.members.group)
            if source not in self._buffers and self.members.number(value) is None:
                self._buffers[source] = self.writer.argument(source, "input", "in")
        for value in outputs:
            self._buffers[value] = self.writer.argument(value, "output", "out")

    def share(self, other: Body) -> None:
        """Takes the buffers of another body of the same kernel."""
        self._buffers = other._buffers

    def buffer(self, value: Value) -> Buffer:
        """The buffer of a stored value or an output."""
        return self._buffers[value]

    def buffer_of(self, value: Value) -> Buffer:
        """The buffer that a value is read from, through index maps."""
        return self._buffers[source_of(value, self.members.group)[0]]

    def read(
        self, read: Read, values: Values, at: Callable[[Place], Index], where: Expr | None
    ) -> Expr:
        """A stored value's element, loaded once."""
        if read not in values:
            buffer = self.buffer_of(read[0])
            default = None if where is None else zero(buffer.dtype)
            values[read] = self.writer.load(buffer, at(self.frame.places[read]), where, default)
        return values[read]

    def operand(
        self,
        value: Value,
        span: Span,
        values: Values,
        at: Callable[[Place], Index],
        where: Expr | None = None,
    ) -> Expr:
        """The value of an operand: computed before, a literal, or loaded."""
        value = self.members.resolved(value)
        if value in values:
            return values[value]
        number = self.members.number(value)
        return number or self.read((value, span), values, at, where)

    def compute(
        self,
        nodes: Iterable[Node],
        values: Values,
        at: Callable[[Place], Index],
        where: Expr | None = None,
    ) -> None:
        """Computes elementwise members, operands first, and notes their values."""
        for node in nodes:
            if node in values:
                continue
            span = self.members.span(node)
            operands = [self.operand(v, span, values, at, where) for v in node.operands]
            values[node] = self.writer.let(apply_node(node, operands), node.op.scalar)

    def store(
        self,
        output: Value,
        source: Value,
        values: Values,
        at: Callable[[Place], Index],
        where: Expr | None = None,
    ) -> None:
        """Stores an element of an output."""
        read = self.members.read_of(source)
        value = self.operand(*read, values, at, where)
        index = at(self.frame.places[output])
        self.writer.store(self._buffers[output], index, value, where, self._streams(output))

    def _streams(self, output: Value) -> bool:
        if self.streaming is None:
            return False
        return prod(output.type.static_shape) * output.type.dtype.itemsize >= self.streaming
