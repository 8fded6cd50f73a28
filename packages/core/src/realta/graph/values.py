"""Value, Node and Location: what a graph is made of.

A `Node` with one result *is* its `Value`; a node with several results has one `Output` each. Values
refer to their operands only, so a graph is freed with the last handle that needs it and there is no
list of users to keep. Nothing here recurses: a chain of a million nodes is as good as one of three.
"""

from __future__ import annotations

import weakref
from types import CodeType
from typing import Any, Literal, Protocol

from realta.ops import NO_ATTRS, Attributes, OpDef
from realta.records import Record
from realta.types import TensorType

__all__ = [
    "Input", "Location", "Node", "Output", "RecordedNode", "Region", "Value", "live_handles",
]  # fmt: skip


class HasValue(Protocol):
    """What a graph knows about a tensor: a handle whose value may become real."""

    _value: Any


class Value:
    """One tensor-valued result in a graph. Compared by identity.

    Attributes:
        type: its type.
        payload: what it is bound to at run time: the storage of a realized value, or a NumPy array
            of a constant or a scalar parameter; None while it is only a value.
        handles: weak references to the tensors that name it: None, one reference, or a list.
        uses: how many operand slots of recorded nodes read it.
        place: the place of its entry in the trace of the region it belongs to, -1 without one.
    """

    __slots__ = ("handles", "payload", "place", "type", "uses")

    type: TensorType
    payload: Any
    handles: Any
    uses: int
    place: int

    def __init__(self, type: TensorType, payload: Any = None) -> None:
        self.type = type
        self.payload = payload
        self.handles = None
        self.uses = 0
        self.place = -1

    def add_handle(self, reference: weakref.ref[Any]) -> None:
        """Notes one more tensor that names this value."""
        if self.handles is None:
            self.handles = reference
        elif isinstance(self.handles, list):
            self.handles.append(reference)
        else:
            self.handles = [self.handles, reference]


def live_handles(value: Value) -> list[Any]:
    """The tensors alive that name a value."""
    handles = value.handles
    if handles is None:
        return []
    found = handles if isinstance(handles, list) else [handles]
    return [t for t in (r() for r in found) if t is not None]


class Input(Value):
    """A parameter of a graph: a named argument, a captured tensor, or a scalar given at run time.

    Attributes:
        name: name in the printed graph, without the percent sign; empty for an anonymous one.
    """

    __slots__ = ("__weakref__", "name")

    name: str

    def __init__(self, type: TensorType, name: str = "", payload: Any = None) -> None:
        super().__init__(type, payload)
        self.name = name


class Location(Record):
    """A place in the user's program; found from code object and instruction only when shown."""

    __slots__ = ("code", "instruction", "text")

    code: CodeType | None
    instruction: int
    text: str

    def __init__(self, code: CodeType | None, instruction: int, text: str = "") -> None:
        self._set(code, instruction, text)

    @property
    def file(self) -> str:
        """File name as the interpreter knows it."""
        return self.code.co_filename if self.code else self.text.rpartition(":")[0]

    @property
    def line(self) -> int:
        """Line number, 0 if unknown."""
        if self.code is None:
            tail = self.text.rpartition(":")[2]
            return int(tail) if tail.isdigit() else 0
        index = self.instruction // 2
        for n, position in enumerate(self.code.co_positions()):
            if n == index:
                return position[0] or self.code.co_firstlineno
        return self.code.co_firstlineno

    def __str__(self) -> str:
        return self.text or f"{self.file}:{self.line}"


class Region(Record):
    """A region that bounds fusion; compared by identity.

    Args:
        name: what it is called in `explain` and in errors.
        fuse: whether its ops may, must or must never share kernels.
        numerics: ``"exact"`` or ``"fast"``.
        location: where it was opened.
    """

    __slots__ = ("name", "fuse", "numerics", "location")  # noqa: RUF023  as arguments

    name: str
    fuse: Literal["may", "must", "never"]
    numerics: Literal["exact", "fast"]
    location: Location | None

    def __init__(
        self,
        name: str,
        fuse: Literal["may", "must", "never"] = "may",
        numerics: Literal["exact", "fast"] = "exact",
        location: Location | None = None,
    ) -> None:
        self._set(name, fuse, numerics, location)

    __eq__ = object.__eq__
    __hash__ = object.__hash__


class Node(Value):
    """One op applied to operands. With one result it is that value; else see `outputs`.

    Attributes:
        op: the op's definition.
        operands: values it reads.
        attrs: its attributes, all present.
        types: the types of its results.
        outputs: its results as values (``(self,)`` for a single one).
        where: ``(code, instruction)`` of the user's call, or a Location, or None.
        region: the fusion region it was recorded in, or None.
    """

    __slots__ = ("_outputs", "attrs", "op", "operands", "region", "types", "where")

    op: OpDef
    operands: tuple[Value, ...]
    attrs: Attributes
    types: tuple[TensorType, ...]
    where: Any
    region: Region | None

    def __init__(
        self,
        op: OpDef,
        operands: tuple[Value, ...],
        attrs: Attributes = NO_ATTRS,
        *,
        types: tuple[TensorType, ...] | None = None,
        where: Any = None,
        region: Region | None = None,
    ) -> None:
        self.op = op
        self.operands = operands
        self.attrs = attrs
        if types is None:
            types = op.result_types(tuple([v.type for v in operands]), attrs)
        self.types = types
        self.type = types[0] if types else _NO_TYPE
        self.payload = None
        self.handles = None
        self.where = where
        self.region = region
        self.uses = 0
        self.place = -1
        self._outputs: tuple[Value, ...] | None = None

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The results in order."""
        if len(self.types) == 1:
            return (self,)
        if self._outputs is None:
            self._outputs = tuple(Output(self, n) for n in range(len(self.types)))
        return self._outputs

    @property
    def location(self) -> Location | None:
        """Where in the user's program it was recorded."""
        where = self.where
        if where is None or isinstance(where, Location):
            return where
        return Location(*where)


class RecordedNode(Node):
    """A node of one or two operands as the hot path of tracing records it.

    The garbage collector looks at every object that refers to others, again and again while a graph
    grows; so this one keeps its operands and its place in slots of its own, not in tuples.

    Attributes:
        first: the first operand.
        second: the second one, None for an op of one operand.
        code: code object of the user's call, or None if `instruction` is what ``where`` gives.
        instruction: the instruction in it.
    """

    __slots__ = ("code", "first", "instruction", "second")

    attrs = NO_ATTRS
    first: Value
    second: Value | None
    code: CodeType | None
    instruction: Any

    @property
    def operands(self) -> tuple[Value, ...]:  # type: ignore[override]
        """The values it reads."""
        second = self.second
        return (self.first,) if second is None else (self.first, second)

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The result."""
        return (self,)

    @property
    def where(self) -> Any:
        """``(code, instruction)`` of the user's call, or a Location, or None."""
        code = self.code
        return self.instruction if code is None else (code, self.instruction)

    @where.setter
    def where(self, where: Any) -> None:
        self.code, self.instruction = None, where


class Output(Value):
    """One of several results of a node."""

    __slots__ = ("index", "node")

    node: Node
    index: int

    def __init__(self, node: Node, index: int) -> None:
        super().__init__(node.types[index])
        self.node = node
        self.index = index


_NO_TYPE = TensorType("bool", (0,))


def node_of(value: Value) -> Node | None:
    """The node that makes a value, None for an input."""
    if isinstance(value, Node):
        return value
    return value.node if isinstance(value, Output) else None
